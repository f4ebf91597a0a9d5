#include "place/core/segment.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "base/memory/memory_map.hpp"

namespace tailrace::impl {
namespace {

Result<std::byte*> map_shared(int fd, uint64_t bytes) {
  void* const mapping = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (mapping == MAP_FAILED) {
    return Status(TAILRACE_OUT_OF_MEMORY, fmt::format("shared memory: {} MiB cannot be mapped: {}", bytes >> 20,
                                                      std::generic_category().message(errno)));
  }
  return static_cast<std::byte*>(mapping);
}

// Returns the limit on the size of files (ulimit -f), which also limits shared memory; "" if that is not the cause.
std::string limit_on_files(int error) {
  rlimit limit{};
  if (error != EFBIG || getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return "";
  return fmt::format("; files, and so shared memory, are limited to {} KiB here (ulimit -f)", limit.rlim_cur >> 10);
}

Status no_room(const PrivateDirectory& directory, uint64_t bytes, int error) {
  const Result<uint64_t> left = directory.free_bytes();
  const std::string free = left.ok() ? fmt::format("{} MiB free", left.value() >> 20) : "an unknown size";
  const std::string cause = std::generic_category().message(error) + limit_on_files(error);
  Fault fault;
  fault.code = TAILRACE_OUT_OF_MEMORY;
  fault.operation = "open";
  fault.file = directory.path();
  fault.system_errno = error;
  fault.message =
      error == EFBIG
          ? fmt::format("shared memory: the {} MiB of a client's budget cannot be made in '{}': {}", bytes >> 20,
                        directory.path(), cause)
          : fmt::format("shared memory: found '{}' with {}, expected room for the {} MiB of a client's budget: {}",
                        directory.path(), free, bytes >> 20, cause);
  return Status(std::move(fault));
}

}  // namespace

Result<std::unique_ptr<Segment>> Segment::create(const PrivateDirectory& directory, const std::string& name,
                                                 const ChannelSizes& sizes, uint64_t pool) {
  auto segment = make(directory, name, sizes, pool);
  if (!segment.ok() && segment.status().fault().system_errno != EEXIST) (void)directory.remove_file(name);
  return segment;
}

Result<std::unique_ptr<Segment>> Segment::make(const PrivateDirectory& directory, const std::string& name,
                                               const ChannelSizes& sizes, uint64_t pool) {
  const uint64_t bytes = pool + ChannelMemory(sizes).bytes();
  Result<FileDescriptor> file = directory.open_file(name, O_RDWR | O_CREAT | O_EXCL);
  if (!file.ok()) return file.status();
  // Takes the pages from the system: a full shared memory is told here, not by a signal at the first touch.
  if (const int error = posix_fallocate(file.value().get(), 0, static_cast<off_t>(bytes)); error != 0) {
    return no_room(directory, bytes, error);
  }
  const Result<std::byte*> mapping = map_shared(file.value().get(), bytes);
  if (!mapping.ok()) return mapping.status();
  std::unique_ptr<Segment> segment(new Segment(std::move(file).value(), mapping.value(), sizes, pool));
  if (Status status = segment->guard(); !status.ok()) return status;
  segment->memory_.construct(segment->parts());
  if (const int error = touch(mapping.value(), bytes); error != 0) return no_room(directory, bytes, error);
  return segment;
}

Result<std::unique_ptr<Segment>> Segment::map(FileDescriptor file, const ChannelSizes& sizes, uint64_t pool) {
  const uint64_t bytes = pool + ChannelMemory(sizes).bytes();
  struct stat about {};
  if (fstat(file.get(), &about) != 0) return Status::of_errno("look at", "the client's segment", errno);
  if (static_cast<uint64_t>(about.st_size) != bytes) {
    return Status(TAILRACE_INTERNAL,
                  fmt::format("shared memory: found a segment of {} bytes, expected {}", about.st_size, bytes));
  }
  const Result<std::byte*> mapping = map_shared(file.get(), bytes);
  if (!mapping.ok()) return mapping.status();
  std::unique_ptr<Segment> segment(new Segment(std::move(file), mapping.value(), sizes, pool));
  if (Status status = segment->guard(); !status.ok()) return status;
  if (const int error = touch(mapping.value(), bytes); error != 0) {
    return Status(TAILRACE_OUT_OF_MEMORY, fmt::format("shared memory: {} MiB cannot be touched: {}", bytes >> 20,
                                                      std::generic_category().message(error)));
  }
  return segment;
}

Segment::Segment(FileDescriptor file, std::byte* mapping, const ChannelSizes& sizes, uint64_t pool)
    : file_(std::move(file)),
      not_for_children_(file_.get()),
      mapping_(mapping),
      pool_(pool),
      memory_(sizes),
      channel_(memory_.view(mapping + pool, {mapping, pool})) {
  // Wishes. Huge pages come where the system gives them for shared memory; a child of the application needs none.
  madvise(mapping_, pool_, MADV_HUGEPAGE);
  madvise(mapping_, pool_ + memory_.bytes(), MADV_DONTFORK);
}

Segment::~Segment() {
  guard_.reset();
  if (process_ == process_mark()) munmap(mapping_, pool_ + memory_.bytes());
}

Status Segment::guard() {
  Result<MemoryGuard> guard = MemoryGuard::watch(mapping_, pool_ + memory_.bytes());
  if (!guard.ok()) return guard.status();
  guard_.emplace(std::move(guard).value());
  channel_.lost = guard_->lost();
  return {};
}

}  // namespace tailrace::impl
