// FileRights: what the system grants to the files that a process makes: their mode, their group, and how long they
// may grow.
//
// A server makes files for other processes. It takes their rights over, so that the files are as if the program
// itself had made them.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "base/status.hpp"

namespace tailrace::impl {

struct FileRights {
  mode_t umask = 0;
  gid_t group = 0;          // the effective one
  uint64_t size_limit = 0;  // soft limit of `ulimit -f`, in bytes; RLIM_INFINITY: none

  bool operator==(const FileRights&) const = default;
  // Returns those of this process. Other threads may create files meanwhile.
  static Result<FileRights> own();
  // Gives them to this process, as far as its hard limits allow. Call it while no other thread creates files. Fails
  // if this process may not take the group.
  Status take_over() const;
};

}  // namespace tailrace::impl
