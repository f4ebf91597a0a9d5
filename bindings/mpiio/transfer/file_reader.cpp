#include "mpiio/transfer/file_reader.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "process_client/bytes/extents.hpp"

namespace tailrace::mpiio {

using process::end_of;

namespace {

// Bytes that can be copied from the page cache in the time of one system call.
constexpr uint64_t kLargestHole = uint64_t{16} << 10;

}  // namespace

FileReader::~FileReader() {
  if (fresh_ >= 0) ::close(fresh_);
}

// By the descriptor: the name may lead to another file now. The old descriptor stays where there is no other way.
void FileReader::refresh() {
  const std::string same = "/proc/self/fd/" + std::to_string(own_.get());
  const int fresh = ::open(same.c_str(), O_RDONLY | O_CLOEXEC);
  if (fresh < 0) return;
  if (fresh_ >= 0) ::close(fresh_);
  fresh_ = fresh;
}

uint64_t FileReader::size() {
  struct stat found {};
  return ::fstat(descriptor(), &found) == 0 ? static_cast<uint64_t>(found.st_size) : 0;
}

FileReader::End FileReader::read(uint64_t offset, std::span<std::byte> to) {
  uint64_t done = 0;
  while (done < to.size()) {
    const ssize_t got = ::pread(descriptor(), to.data() + done, to.size() - done, static_cast<off_t>(offset + done));
    if (got == 0) break;
    if (got > 0) {
      done += static_cast<uint64_t>(got);
    } else if (errno != EINTR) {
      return {done, errno};
    }
  }
  return {done, 0};
}

FileReader::End FileReader::read(std::span<const tailrace_extent> extents, std::byte* out) {
  End end;
  const std::span<const tailrace_extent> all = extents;
  while (!extents.empty()) {
    const size_t count = cover(extents);
    const uint64_t length = process::bytes_of(extents.first(count));
    const End part = count == 1 ? read(extents[0].offset, {out + end.bytes, length})
                                : sieve(extents.first(count), out + end.bytes);
    end.bytes += part.bytes;
    end.error = part.error;
    if (part.bytes < length) return end;
    extents = extents.subspan(count);
  }
  read_ahead(all);
  return end;
}

// Returns how many of the extents are read at once.
size_t FileReader::cover(std::span<const tailrace_extent> extents) const {
  size_t count = 1;
  while (count < extents.size() && extents[count].offset - end_of(extents[count - 1]) <= kLargestHole &&
         end_of(extents[count]) - extents[0].offset <= sieve_bytes_) {
    ++count;
  }
  return count;
}

collective::Source::End FileReader::sieve(std::span<const tailrace_extent> extents, std::byte* out) {
  const uint64_t begin = extents[0].offset;
  const uint64_t length = end_of(extents.back()) - begin;
  End end = read(begin, {sieve_.room(length), length});
  sieve_.filled(begin, end.bytes);
  const uint64_t file_end = begin + end.bytes;
  end.bytes = 0;
  for (const tailrace_extent& extent : extents) {
    if (extent.offset >= file_end) break;
    const uint64_t part = std::min(extent.length, file_end - extent.offset);
    std::memcpy(out + end.bytes, sieve_.find({extent.offset, part}), part);
    end.bytes += part;
  }
  return end;
}

// The system reads the bytes into its page cache while the program computes. Bytes there never become stale.
void FileReader::read_ahead(std::span<const tailrace_extent> extents) {
  if (extents.empty()) return;
  const uint64_t begin = extents[0].offset;
  for (const tailrace_extent& next : pattern_.note(begin, end_of(extents.back()) - begin)) {
    ::posix_fadvise(descriptor(), static_cast<off_t>(next.offset), static_cast<off_t>(next.length),
                    POSIX_FADV_WILLNEED);
  }
}

}  // namespace tailrace::mpiio
