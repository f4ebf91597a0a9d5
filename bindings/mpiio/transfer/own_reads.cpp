#include "mpiio/transfer/own_reads.hpp"

#include <algorithm>

#include "mpiio/pending/pending.hpp"
#include "mpiio/process/process.hpp"
#include "process_client/bytes/extents.hpp"

namespace tailrace::mpiio {

using collective::Source;
using process::bytes_of;
using process::end_of;

namespace {

constexpr uint64_t kAtOnce = uint64_t{4} << 20;  // bytes whose places are listed, or that are packed, at once

// Removes what lies behind the end of the file.
void cut(std::vector<tailrace_extent>& extents, uint64_t size) {
  while (!extents.empty() && extents.back().offset >= size) extents.pop_back();
  if (!extents.empty()) extents.back().length = std::min(extents.back().length, size - extents.back().offset);
}

}  // namespace

Source::End OwnReads::read(MemorySpace& space) {
  const uint64_t most = space.is_plain() ? space.bytes() : kAtOnce;
  Source::End end;
  while (end.bytes < space.bytes() && end.error == 0) {
    const uint64_t begin = end.bytes;
    const uint64_t length = std::min(most, space.bytes() - begin);
    std::vector<tailrace_extent> extents;
    space.find(begin, length, extents);
    std::byte* const plain = space.plain(begin);
    if (plain == nullptr) packed_.resize(std::max<size_t>(packed_.size(), length));
    const Source::End part = read_part(extents, plain != nullptr ? plain : packed_.data());
    if (plain == nullptr) space.store(begin, part.bytes, packed_.data());
    end.bytes += part.bytes;
    end.error = part.error;
    if (part.bytes < length) break;
  }
  return end;
}

Source::End OwnReads::read(uint64_t offset, std::span<std::byte> to) {
  const tailrace_extent extent{offset, to.size()};
  wait_for_others({&extent, 1});
  return reader_.read(offset, to);
}

Source::End OwnReads::read_part(const std::vector<tailrace_extent>& extents, std::byte* out) {
  wait_for_others(extents);
  if (has_own(extents)) {
    const std::optional<tailrace_file> raw = output_.raw();
    const std::optional<uint64_t> bytes = raw ? read_pending(extents, out, *raw) : std::nullopt;
    if (bytes) return {*bytes, 0};
    (void)Pending::instance().flush();  // failures belong to the file
  }
  return reader_.read(extents, out);
}

// Returns true if own writes on their way may change what the file has there: bytes, or zeros before its new end.
bool OwnReads::has_own(std::span<const tailrace_extent> extents) {
  Pending& pending = Pending::instance();
  const uint64_t end = end_of(extents.back());
  if (pending.has(own_.key(), extents[0].offset, end)) return true;
  const uint64_t size = reader_.size();
  return end > size && pending.has(own_.key(), size, UINT64_MAX);
}

// Where the file ends before the bytes do, others may be making it longer.
void OwnReads::wait_for_others(std::span<const tailrace_extent> extents) {
  Pending& pending = Pending::instance();
  pending.wait_for_others(own_.key(), extents);
  if (end_of(extents.back()) > size()) pending.wait_for_others(own_.key());
}

// Returns no number if the server could not read them.
std::optional<uint64_t> OwnReads::read_pending(const std::vector<tailrace_extent>& extents, std::byte* out,
                                               tailrace_file raw) {
  std::vector<tailrace_extent> there = extents;
  cut(there, size());
  if (there.empty()) return 0;
  const Refusal refused = carrier().read(raw, there, out);
  return refused.status == TAILRACE_OK ? std::optional(bytes_of(there)) : std::nullopt;
}

// Returns the size that the file has when the process' own bytes are written.
// Looks at the own bytes first: they may reach the file meanwhile.
uint64_t OwnReads::size() {
  const uint64_t end = Pending::instance().end_of(own_.key());
  return std::max(reader_.size(), end);
}

}  // namespace tailrace::mpiio
