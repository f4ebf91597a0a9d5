// ProgramAccess: the properties of a program's file access list that the library below is not told, which are the
// connector and the sieve buffer. A list that the program asks of the file must open files as this one was opened.
#pragma once

#include <optional>
#include <string>

#include "hdf5_vol/host/host.hpp"

namespace tailrace::hdf5 {

class ProgramAccess {
 public:
  ProgramAccess(const Host& host, hid_t fapl);

  // Puts it into `fapl`; false on an error.
  bool restore(const Host& host, hid_t fapl) const;

 private:
  std::optional<std::string> words_;  // what the connector is told
  size_t sieve_ = 0;                  // bytes
};

}  // namespace tailrace::hdf5
