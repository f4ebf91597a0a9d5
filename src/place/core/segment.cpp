#include "place/core/segment.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "base/assert.hpp"
#include "base/memory/allocate_file.hpp"
#include "base/memory/available_memory.hpp"
#include "base/memory/touch.hpp"
#include "base/names/counted.hpp"
#include "place/core/shared_room.hpp"

namespace tailrace::impl {
namespace {

Status not_mapped(uint64_t bytes, int error) {
  return Status(TAILRACE_OUT_OF_MEMORY, fmt::format("shared memory: {} MiB cannot be mapped: {}", bytes >> 20,
                                                    std::generic_category().message(error)));
}

// Maps the file from the start of a huge page on, as it may have such pages.
Result<std::byte*> map_shared(int fd, uint64_t bytes) {
  const size_t room = bytes + kHugePage;
  void* const reserved = mmap(nullptr, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) return not_mapped(bytes, errno);
  const auto address = reinterpret_cast<uintptr_t>(reserved);
  const size_t before = (address + kHugePage - 1) / kHugePage * kHugePage - address;
  std::byte* const begin = static_cast<std::byte*>(reserved) + before;
  if (mmap(begin, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED) {
    const int error = errno;
    munmap(reserved, room);
    return not_mapped(bytes, error);
  }
  if (before > 0) munmap(reserved, before);
  munmap(begin + bytes, kHugePage - before);
  return begin;
}

// Returns true if huge pages could not be gathered because a process uses this part at the moment.
bool is_in_use(int error) { return error == EAGAIN || error == EBUSY; }

// Returns errno, or 0.
int take_pages(int fd, std::byte* begin, uint64_t offset, uint64_t bytes) {
  if (!touch_reports_errors()) {
    if (const int error = allocate_file(fd, offset, bytes); error != 0) return error;
  }
  const int error = touch(begin, bytes);
  return error == EFAULT ? ENOSPC : error;  // EFAULT stands for the signal that a write would have ended in
}

// Returns the limit on the size of files (ulimit -f), which also limits shared memory; "" if that is not the cause.
std::string limit_on_files(int error) {
  rlimit limit{};
  if (error != EFBIG || getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return "";
  return fmt::format("; files, and so shared memory, are limited to {} KiB here (ulimit -f)", limit.rlim_cur >> 10);
}

// `promised`: bytes of what is free, to others.
Status no_room(const PrivateDirectory& directory, uint64_t bytes, int error, uint64_t promised = 0) {
  const Result<uint64_t> left = directory.free_bytes();
  std::string free = left.ok() ? fmt::format("{} MiB free", left.value() >> 20) : "an unknown size";
  if (promised > 0) free += fmt::format(" ({} MiB of them for other clients)", promised >> 20);
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

// Reserves nothing: another process may take the room first. take() then reports it.
Status check_room(const PrivateDirectory& directory, uint64_t bytes) {
  const Result<SharedRoom> room = shared_room(directory);
  if (!room.ok()) return room.status();
  const uint64_t promised = room.value().promised;
  if (!room.value().has(bytes)) return no_room(directory, bytes, ENOSPC, promised);
  return check_available(bytes, promised);
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
  const int fd = file.value().get();
  if (Status room = check_room(directory, bytes); !room.ok()) return room;
  if (ftruncate(fd, static_cast<off_t>(bytes)) != 0) return no_room(directory, bytes, errno);
  // The pages of the channel's parts, which are in use from here on.
  if (const int error = allocate_file(fd, pool, bytes - pool); error != 0) return no_room(directory, bytes, error);
  const Result<std::byte*> mapping = map_shared(fd, bytes);
  if (!mapping.ok()) return mapping.status();
  std::unique_ptr<Segment> segment(new Segment(std::move(file).value(), mapping.value(), sizes, pool));
  if (Status status = segment->guard(); !status.ok()) return status;
  segment->memory_.construct(segment->parts());
  return segment;
}

Result<std::unique_ptr<Segment>> Segment::map(FileDescriptor file, const ChannelSizes& sizes, uint64_t pool) {
  const uint64_t bytes = pool + ChannelMemory(sizes).bytes();
  struct stat about {};
  if (fstat(file.get(), &about) != 0) return Status::of_errno("look at", "the client's segment", errno);
  if (static_cast<uint64_t>(about.st_size) != bytes) {
    return Status(TAILRACE_INTERNAL, fmt::format("shared memory: found a segment of {}, expected {}",
                                                 counted(static_cast<uint64_t>(about.st_size), "byte"), bytes));
  }
  const Result<std::byte*> mapping = map_shared(file.get(), bytes);
  if (!mapping.ok()) return mapping.status();
  std::unique_ptr<Segment> segment(new Segment(std::move(file), mapping.value(), sizes, pool));
  if (Status status = segment->guard(); !status.ok()) return status;
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
  toucher_.reset();
  guard_.reset();
  if (process_ == process_mark()) munmap(mapping_, pool_ + memory_.bytes());
}

// On the server's cpu: no process computes there.
void Segment::take_ahead(uint64_t ahead) {
  TAILRACE_REQUIRE(!toucher_);
  toucher_.emplace(pool_,
                   Toucher::Options{.take = [this](size_t offset, size_t size) { return take_part(offset, size); },
                                    .improve = [this] { return gather_later(); },
                                    .unblocked = SIGBUS,
                                    .ahead = ahead});
}

// relaxed, as in take(): a hint that comes late costs time alone, and any value does no harm.
void Segment::follow() {
  const uint64_t used = control().used.load(std::memory_order_relaxed);
  if (!toucher_ || used == used_) return;
  used_ = used;
  toucher_->use(used);
}

// Returns false if those who use the rest are to take it: shared memory is full, or has been cut short.
bool Segment::take_part(size_t offset, size_t size) {
  if (channel_.is_lost()) return false;
  std::byte* const begin = mapping_ + offset;
  if (huge_pages_ && size == kHugePage) {
    const int error = gather_huge_pages(begin, size);
    if (error == 0) return true;
    if (is_in_use(error)) {
      in_use_.push_back(offset);
      rounds_left_ = kGatherRounds;
    }
    huge_pages_ = is_in_use(error);
  }
  return take_pages(file_.get(), begin, offset, size) == 0;
}

// Tries again to gather pages of parts that were in use. A program that writes at once uses parts before the toucher
// comes to them; with small pages, each of their transfers would need many segments, for as long as the program runs.
// Returns false if nothing is left to do.
bool Segment::gather_later() {
  if (channel_.is_lost() || --rounds_left_ < 0) return false;
  std::erase_if(in_use_,
                [this](size_t offset) { return !is_in_use(gather_huge_pages(mapping_ + offset, kHugePage)); });
  return !in_use_.empty();
}

Status Segment::take(const PrivateDirectory& directory, uint64_t offset, uint64_t bytes) {
  const int error = take_pages(file_.get(), mapping_ + offset, offset, bytes);
  if (error != 0) return no_room(directory, pool_, error);
  control().used.store(offset + bytes, std::memory_order_relaxed);
  return {};
}

Status Segment::guard() {
  Result<MemoryGuard> guard = MemoryGuard::watch(mapping_, pool_ + memory_.bytes());
  if (!guard.ok()) return guard.status();
  guard_.emplace(std::move(guard).value());
  channel_.lost = guard_->lost();
  return {};
}

}  // namespace tailrace::impl
