#include "storage/memory/memory_storage.hpp"

#include <cerrno>

namespace tailrace::impl {
namespace {

constexpr uint32_t kDepth = 64;
constexpr uint32_t kSegments = 1024;

std::span<std::byte> bytes_of(const iovec& segment) {
  return {static_cast<std::byte*>(segment.iov_base), segment.iov_len};
}

}  // namespace

MemoryStorage::MemoryStorage(Doorbell& doorbell)
    : doorbell_(doorbell),
      capabilities_{.name = "memory", .depth = kDepth, .max_segments = kSegments, .scatters = true},
      done_(kDepth) {}

void MemoryStorage::submit(const Transfer& transfer) {
  TAILRACE_REQUIRE(!transfer.direct);
  TAILRACE_REQUIRE(transfer.scattered || transfer.segments.size() <= kSegments);
  int64_t result = 0;
  if (transfer.kind == Transfer::Kind::read) result = read(transfer);
  if (transfer.kind == Transfer::Kind::write) result = write(transfer);
  done_.push({transfer.tag, result});
  doorbell_.ring();
}

int64_t MemoryStorage::read(const Transfer& transfer) const {
  uint64_t at = transfer.offset;
  for (const iovec& segment : transfer.segments) {
    const Result<size_t> count = files_.read(transfer.file, at, bytes_of(segment));
    if (!count.ok()) return -count.status().fault().system_errno;
    at += count.value();
    if (count.value() < segment.iov_len) break;
  }
  return static_cast<int64_t>(at - transfer.offset);
}

// Writes all or nothing: the disk ends only where memory does.
int64_t MemoryStorage::write(const Transfer& transfer) {
  uint64_t at = transfer.offset;
  for (const iovec& segment : transfer.segments) at += segment.iov_len;
  if (at < transfer.offset) return -EFBIG;
  if (const int error = files_.make_room(transfer.file, transfer.offset, at - transfer.offset)) return -error;
  at = transfer.offset;
  for (const iovec& segment : transfer.segments) {
    // There is room.
    if (segment.iov_base != nullptr) (void)files_.write(transfer.file, at, bytes_of(segment));
    at += segment.iov_len;
  }
  return static_cast<int64_t>(at - transfer.offset);
}

size_t MemoryStorage::reap(std::span<Completion> done) {
  size_t count = 0;
  while (count < done.size() && !done_.empty()) done[count++] = done_.pop();
  return count;
}

}  // namespace tailrace::impl
