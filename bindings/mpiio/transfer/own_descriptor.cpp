#include "mpiio/transfer/own_descriptor.hpp"

#include <fcntl.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "collective/local_file_system.hpp"

namespace tailrace::mpiio {

OwnDescriptor::~OwnDescriptor() { close(); }

void OwnDescriptor::close() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
  key_ = {};
}

int OwnDescriptor::open(const std::string& path, bool reads, bool writes) {
  descriptor_ = ::open(path.c_str(), (reads && writes ? O_RDWR : writes ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
  if (descriptor_ < 0) return errno;
  key_ = FileKey::of(descriptor_);
  return key_.is_unknown() ? errno : 0;
}

// The MPI has just opened the file, so its descriptor is most likely the one before this one.
bool OwnDescriptor::has_twin() const {
  constexpr int kMost = 1024;
  for (int other = descriptor_ - 1; other >= std::max(descriptor_ - kMost, 0); --other) {
    if (FileKey::of(other).is(key_)) return true;
  }
  return false;
}

bool OwnDescriptor::shares_cache() const {
  struct statfs found {};
  return ::fstatfs(descriptor_, &found) == 0 && collective::is_local_file_system(static_cast<uint32_t>(found.f_type));
}

}  // namespace tailrace::mpiio
