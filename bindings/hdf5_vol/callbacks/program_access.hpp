// What a program's list of properties for opening a file says that the library below is not told: the connector, and
// the sieve buffer. So that a list that is asked of the file is one by which files are opened as this one was.
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
