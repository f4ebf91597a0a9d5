// ProgramAccess: the properties of a program's file access list that the connector keeps from the library below: the
// connector itself and the sieve buffer. A list that the program gets from the file must open other files as this one
// was opened.
#pragma once

#include <optional>
#include <string>

#include "hdf5_vol/host/host.hpp"

namespace tailrace::hdf5 {

class ProgramAccess {
 public:
  ProgramAccess(const Host& host, hid_t fapl);

  // Puts the properties into `fapl`; returns false on an error.
  bool restore(const Host& host, hid_t fapl) const;

 private:
  std::optional<std::string> words_;  // the connector's settings, as text
  size_t sieve_ = 0;                  // bytes
};

}  // namespace tailrace::hdf5
