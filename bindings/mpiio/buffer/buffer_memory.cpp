#include "mpiio/buffer/buffer_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <utility>

namespace tailrace::mpiio {
namespace {

constexpr uint64_t kLeft = uint64_t{16} << 20;  // bytes of the file system, for the MPI, which has memory there, too
constexpr off_t kLocks = off_t{1} << 40;        // the bytes that are locked, by rank; they lie behind the memory

struct flock byte_of(uint32_t rank) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = kLocks + static_cast<off_t>(rank);
  lock.l_len = 1;
  return lock;
}

// Returns true if the file may grow to that size. To try it would raise a signal.
bool may_have(uint64_t bytes) {
  struct rlimit limit {};
  return ::getrlimit(RLIMIT_FSIZE, &limit) == 0 && (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= bytes);
}

// Returns true if the file is this user's alone, and new or of that size, which it then has.
bool prepare(int descriptor, uint64_t bytes, uint64_t at_once) {
  struct stat found {};
  if (::fstat(descriptor, &found) != 0 || !S_ISREG(found.st_mode) || found.st_uid != ::geteuid() ||
      (found.st_mode & 077) != 0) {
    return false;
  }
  const auto size = static_cast<off_t>(bytes);
  if (found.st_size != 0 && found.st_size != size) return false;
  return ::ftruncate(descriptor, size) == 0 && ::posix_fallocate(descriptor, 0, static_cast<off_t>(at_once)) == 0;
}

}  // namespace

std::unique_ptr<BufferMemory> BufferMemory::open(const std::string& path, uint64_t bytes, uint64_t at_once,
                                                 uint32_t rank) {
  if (!may_have(bytes)) return nullptr;
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (descriptor < 0) return nullptr;
  struct flock lock = byte_of(rank);
  void* mapped = MAP_FAILED;
  if (::fcntl(descriptor, F_OFD_SETLK, &lock) == 0 && prepare(descriptor, bytes, at_once)) {
    mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  }
  if (mapped == MAP_FAILED) {
    ::close(descriptor);
    return nullptr;
  }
  ::madvise(mapped, bytes, MADV_DONTFORK);
  return std::unique_ptr<BufferMemory>(new BufferMemory(descriptor, {static_cast<std::byte*>(mapped), bytes}, rank));
}

BufferMemory::~BufferMemory() {
  ::munmap(bytes_.data(), bytes_.size());
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool BufferMemory::provide(uint64_t begin, uint64_t length) const {
  struct statvfs found {};
  if (::fstatvfs(descriptor_, &found) != 0) return false;
  const bool has_limit = found.f_blocks > 0;
  if (has_limit && found.f_bavail * found.f_bsize < kLeft + length) return false;
  return ::posix_fallocate(descriptor_, static_cast<off_t>(begin), static_cast<off_t>(length)) == 0;
}

// A lock that cannot be asked for counts as held. The own one would not show: a descriptor's locks exclude only those
// of others.
bool BufferMemory::lives(uint32_t rank) const {
  if (rank == rank_) return true;
  struct flock lock = byte_of(rank);
  return ::fcntl(descriptor_, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

void BufferMemory::leave_to_parent() {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

}  // namespace tailrace::mpiio
