// Takes the memory of a file in shared memory from the system, so that a later write does not lack it.
#pragma once

#include <fcntl.h>

#include <cerrno>
#include <cstdint>

namespace tailrace::impl {

// Returns errno, or 0. A signal ends the system's call, which goes on here.
inline int allocate_file(int fd, uint64_t offset, uint64_t bytes) {
  int error = EINTR;
  while (error == EINTR) error = posix_fallocate(fd, static_cast<off_t>(offset), static_cast<off_t>(bytes));
  return error;
}

}  // namespace tailrace::impl
