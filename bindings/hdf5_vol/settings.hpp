// What stands behind the connector's name, in HDF5_VOL_CONNECTOR or in an access list: "tailrace place=core".
#pragma once

#include <cstdint>
#include <string>

namespace tailrace::hdf5 {

struct Settings {
  std::string config;            // a configuration file of tailrace; then nothing else is given
  std::string place = "thread";  // or "core"
  uint64_t budget = uint64_t{256} << 20;
  uint64_t smallest = 32 << 10;  // bytes; smaller datasets are HDF5's own: carrying would cost more than writing
  uint64_t prefetch = 0;         // bytes that are brought ahead of a sequential reader at most; 0: none
  bool detach = false;           // files that are made have their name when they are whole, some time after close
  bool summary = false;          // says on standard error at the end what was carried

  // The configuration without a file.
  std::string configuration() const;
};

// Words apart by spaces: config=FILE, or place=… and budget=BYTES; and smallest=BYTES, prefetch=BYTES, close=wait or
// close=detach, summary. "" gives the defaults. False if `text` is wrong, and then `why` says what was found and what
// was expected.
bool parse_settings(const std::string& text, Settings& settings, std::string& why);

}  // namespace tailrace::hdf5
