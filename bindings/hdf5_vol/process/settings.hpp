// The settings that stand behind the connector's name, in HDF5_VOL_CONNECTOR or in a file access property list:
// "tailrace place=core".
#pragma once

#include <cstdint>
#include <string>

#include "process_client/client_settings.hpp"

namespace tailrace::hdf5 {

struct Settings {
  process::ClientSettings client;
  uint64_t smallest = 32 << 10;  // bytes; HDF5 keeps smaller datasets: carrying would cost more than writing
  uint64_t prefetch = 0;         // bytes that are prefetched for a sequential reader at most; 0: none
  bool detach = false;           // new files get their name when they are whole, some time after their close
};

// Reads words apart by spaces: config=FILE, or place=… and budget=BYTES; and smallest=BYTES, prefetch=BYTES,
// close=wait or close=detach, summary. "" gives the defaults. Returns false if `text` is wrong; `why` then names what
// was found and what was expected.
bool parse_settings(const std::string& text, Settings& settings, std::string& why);

}  // namespace tailrace::hdf5
