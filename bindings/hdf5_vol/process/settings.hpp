// The settings that follow the connector's name, in HDF5_VOL_CONNECTOR or in a file access property list: "tailrace
// place=core".
#pragma once

#include <cstdint>
#include <string>

#include "process_client/client_settings.hpp"

namespace tailrace::hdf5 {

struct Settings {
  process::ClientSettings client;
  uint64_t smallest = 32 << 10;  // bytes; HDF5 keeps smaller datasets, since carrying them costs more than writing
  uint64_t prefetch = 0;         // most bytes to prefetch for a sequential reader; 0: none
  bool detach = false;           // a new file becomes readable when it is complete, some time after its close
};

// Reads words (process_client/words.hpp): config=FILE, or place=… and budget=SIZE; smallest=SIZE, prefetch=SIZE,
// close=wait or close=detach, summary. "" gives the defaults. Returns false if `text` is wrong; `why` then names what
// was found and what was expected.
bool parse_settings(const std::string& text, Settings& settings, std::string& why);

}  // namespace tailrace::hdf5
