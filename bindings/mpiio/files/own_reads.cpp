#include "mpiio/files/own_reads.hpp"

#include <algorithm>

namespace tailrace::mpiio {

using collective::Source;

namespace {

constexpr uint64_t kAtOnce = uint64_t{4} << 20;  // bytes whose places are listed, or that are packed, at once

uint64_t bytes_of(const std::vector<tailrace_extent>& extents) {
  uint64_t bytes = 0;
  for (const tailrace_extent& extent : extents) bytes += extent.length;
  return bytes;
}

// Removes what lies behind the end of the file.
void cut(std::vector<tailrace_extent>& extents, uint64_t size) {
  while (!extents.empty() && extents.back().offset >= size) extents.pop_back();
  if (!extents.empty()) extents.back().length = std::min(extents.back().length, size - extents.back().offset);
}

}  // namespace

Source::End OwnReads::read(MemorySpace& space, PendingWrites& pending, Output& output) {
  const uint64_t most = space.is_plain() ? space.bytes() : kAtOnce;
  Source::End end;
  while (end.bytes < space.bytes() && end.error == 0) {
    const uint64_t begin = end.bytes;
    const uint64_t length = std::min(most, space.bytes() - begin);
    std::vector<tailrace_extent> extents;
    space.find(begin, length, extents);
    std::byte* const plain = space.plain(begin);
    if (plain == nullptr) packed_.resize(std::max<size_t>(packed_.size(), length));
    const Source::End part = read_part(extents, plain != nullptr ? plain : packed_.data(), pending, output);
    if (plain == nullptr) space.store(begin, part.bytes, packed_.data());
    end.bytes += part.bytes;
    end.error = part.error;
    if (part.bytes < length) break;
  }
  return end;
}

Source::End OwnReads::read_part(const std::vector<tailrace_extent>& extents, std::byte* out, PendingWrites& pending,
                                Output& output) {
  const uint64_t end = extents.back().offset + extents.back().length;
  const std::optional<tailrace_file> raw = output.raw();
  if (raw.has_value() && pending.may_have(extents[0].offset, end)) {
    const uint64_t size = std::max(reader_.size(), pending.end());
    if (const std::optional<uint64_t> bytes = read_pending(extents, out, size, *raw)) return {*bytes, 0};
    carrier().flush();
  }
  return reader_.read(extents, out);
}

// Returns no number if the server could not read them.
std::optional<uint64_t> OwnReads::read_pending(const std::vector<tailrace_extent>& extents, std::byte* out,
                                               uint64_t size, tailrace_file file) {
  std::vector<tailrace_extent> there = extents;
  cut(there, size);
  if (there.empty()) return 0;
  const Refusal refused = carrier().read(file, there, out);
  return refused.status == TAILRACE_OK ? std::optional(bytes_of(there)) : std::nullopt;
}

}  // namespace tailrace::mpiio
