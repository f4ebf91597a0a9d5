#include "mpiio/buffer/buffer_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <utility>

namespace tailrace::mpiio {
namespace {

constexpr uint64_t kPage = 4096;
constexpr off_t kLocks =
    off_t{1} << 40;  // the bytes of the file that are locked, by rank; they lie behind the memory

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
                                                 uint32_t members, uint32_t rank) {
  const uint64_t size = kPage + bytes;
  if (!may_have(size)) return nullptr;
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (descriptor < 0) return nullptr;
  struct flock lock = byte_of(rank);
  void* mapped = MAP_FAILED;
  if (::fcntl(descriptor, F_OFD_SETLK, &lock) == 0 && prepare(descriptor, size, kPage + at_once)) {
    mapped = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  }
  if (mapped == MAP_FAILED) {
    ::close(descriptor);
    ::unlink(path.c_str());
    return nullptr;
  }
  ::madvise(mapped, size, MADV_DONTFORK);
  // Relaxed: the count alone matters.
  auto& attached = *static_cast<std::atomic<uint32_t>*>(mapped);
  if (attached.fetch_add(1, std::memory_order_relaxed) + 1 == members) ::unlink(path.c_str());
  return std::unique_ptr<BufferMemory>(new BufferMemory(descriptor, {static_cast<std::byte*>(mapped), size}));
}

BufferMemory::BufferMemory(int descriptor, std::span<std::byte> mapped)
    : descriptor_(descriptor), mapped_(mapped), bytes_(mapped.subspan(kPage)) {}

BufferMemory::~BufferMemory() {
  ::munmap(mapped_.data(), mapped_.size());
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool BufferMemory::provide(uint64_t begin, uint64_t length) const {
  return ::posix_fallocate(descriptor_, static_cast<off_t>(kPage + begin), static_cast<off_t>(length)) == 0;
}

// A lock that cannot be asked for counts as held.
bool BufferMemory::lives(uint32_t rank) const {
  struct flock lock = byte_of(rank);
  return ::fcntl(descriptor_, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

void BufferMemory::leave_to_parent() {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

}  // namespace tailrace::mpiio
