#include "engine/execute/transfer_plan.hpp"

#include <algorithm>

namespace tailrace::impl {
namespace {

// Where in the access's memory a file offset lies.
struct Cursor {
  size_t segment = 0;
  uint64_t within = 0;
};

Cursor cursor_at(const Access& access, uint64_t offset) {
  Cursor cursor;
  uint64_t skip = offset - access.extent.offset;
  while (skip >= access.segments[cursor.segment].iov_len) {
    skip -= access.segments[cursor.segment].iov_len;
    ++cursor.segment;
    TAILRACE_ASSERT(cursor.segment < access.segments.size());
  }
  cursor.within = skip;
  return cursor;
}

// Bytes from `offset` that could go direct, were it aligned: 0 unless the run of memory is long and lies in the file
// as in memory.
uint64_t direct_run(const std::byte* memory, uint64_t offset, uint64_t run, const TransferLimits& limits) {
  const uint64_t alignment = limits.direct_alignment;
  if (memory == nullptr || alignment == 0 || run < std::max(limits.direct_from, alignment)) return 0;
  return reinterpret_cast<uintptr_t>(memory) % alignment == offset % alignment ? run : 0;
}

PlannedTransfer plan_run(std::byte* memory, uint64_t offset, uint64_t run, const TransferLimits& limits) {
  const uint64_t alignment = limits.direct_alignment;
  const uint64_t over = offset % alignment;
  PlannedTransfer transfer;
  uint64_t length = 0;
  if (over != 0) {
    length = std::min(alignment - over, run);  // the ragged head
  } else {
    transfer.direct = true;
    length = std::min(run - run % alignment, limits.largest);
  }
  transfer.extent = {offset, length};
  transfer.segments = {{memory, length}};
  return transfer;
}

}  // namespace

PlannedTransfer next_transfer(const Access& access, const Extent& range, const TransferLimits& limits) {
  TAILRACE_REQUIRE(range.length > 0);
  TAILRACE_REQUIRE(range.offset >= access.extent.offset);
  TAILRACE_REQUIRE(range.end() <= access.extent.end());
  Cursor cursor = cursor_at(access, range.offset);
  PlannedTransfer transfer;
  transfer.extent.offset = range.offset;
  while (transfer.extent.end() < range.end() && transfer.segments.size() < limits.max_segments) {
    const iovec& segment = access.segments[cursor.segment];
    auto* memory = static_cast<std::byte*>(segment.iov_base);
    if (memory != nullptr) memory += cursor.within;
    const uint64_t offset = transfer.extent.end();
    const uint64_t run = std::min(segment.iov_len - cursor.within, range.end() - offset);
    if (direct_run(memory, offset, run, limits) > 0) {
      if (transfer.segments.empty()) return plan_run(memory, offset, run, limits);
      break;  // a transfer of its own comes next
    }
    const uint64_t length = std::min(run, limits.largest - transfer.extent.length);
    transfer.segments.push_back({memory, length});
    transfer.extent.length += length;
    if (transfer.extent.length == limits.largest) break;
    ++cursor.segment;
    cursor.within = 0;
  }
  TAILRACE_ASSERT(transfer.extent.length > 0);
  return transfer;
}

}  // namespace tailrace::impl
