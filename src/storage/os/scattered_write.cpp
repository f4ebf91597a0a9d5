#include "storage/os/scattered_write.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <vector>

#include "base/os/file_descriptor.hpp"
#include "collective/local_file_system.hpp"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

namespace tailrace::impl {
namespace {

// A piece of the file, and its bytes.
struct Part {
  uint64_t offset = 0;
  const std::byte* memory = nullptr;
  size_t length = 0;

  uint64_t end() const { return offset + length; }
};

std::vector<Part> parts_of(uint64_t offset, std::span<const iovec> segments) {
  std::vector<Part> pieces;
  pieces.reserve(segments.size());
  for (const iovec& segment : segments) {
    if (segment.iov_base != nullptr && segment.iov_len > 0) {
      pieces.push_back({offset, static_cast<const std::byte*>(segment.iov_base), segment.iov_len});
    }
    offset += segment.iov_len;
  }
  return pieces;
}

// Writes one piece. Returns how many of its bytes were written, and the errno of what stopped it, else 0.
struct Written {
  size_t bytes = 0;
  int error = 0;
};
Written write_part(int descriptor, const Part& piece) {
  Written written;
  while (written.bytes < piece.length) {
    const ssize_t some = ::pwrite(descriptor, piece.memory + written.bytes, piece.length - written.bytes,
                                  static_cast<off_t>(piece.offset + written.bytes));
    if (some < 0 && errno == EINTR) continue;
    if (some <= 0) {
      written.error = some < 0 ? errno : EIO;
      break;
    }
    written.bytes += static_cast<size_t>(some);
  }
  return written;
}

bool is_local(int descriptor) {
  struct statfs found {};
  return ::fstatfs(descriptor, &found) == 0 && collective::is_local_file_system(static_cast<uint32_t>(found.f_type));
}

// Memory of a thread in which pieces lie back to back, and from which the kernel copies them.
class Buffer {
 public:
  static constexpr size_t kBytes = size_t{256} << 10;

  // Returns the buffer of this thread; null: the system has none.
  static Buffer* of_thread() {
    thread_local Buffer buffer;
    return buffer.memory_ != nullptr ? &buffer : nullptr;
  }
  ~Buffer() {
    if (memory_ != nullptr) ::munmap(memory_, kBytes);
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  std::byte* memory() { return memory_; }
  int descriptor() const { return file_.get(); }

 private:
  Buffer() : file_(::memfd_create("tailrace-pieces", MFD_CLOEXEC)) {
    if (file_.get() < 0 || ::ftruncate(file_.get(), kBytes) != 0) return;
    void* const mapped = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
    if (mapped != MAP_FAILED) memory_ = static_cast<std::byte*>(mapped);
  }

  FileDescriptor file_;
  std::byte* memory_ = nullptr;
};

// A part of a file in memory, with all its pages taken.
class Mapping {
 public:
  Mapping(int descriptor, uint64_t begin, uint64_t end) {
    static const auto page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
    begin_ = begin - begin % page;
    length_ = static_cast<size_t>(end - begin_);
    void* const mapped =
        ::mmap(nullptr, length_, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, static_cast<off_t>(begin_));
    if (mapped == MAP_FAILED) return;
    memory_ = static_cast<std::byte*>(mapped);
    // Pages that are not in the cache come alone, and not within a larger folio, of which the kernel would write all
    // back: another process may be writing beside them past the cache.
    (void)::madvise(memory_, length_, MADV_RANDOM);
    // EINVAL: a kernel before 5.14, which takes the pages one by one during the copies.
    if (::madvise(memory_, length_, MADV_POPULATE_WRITE) != 0 && errno != EINVAL) unmap();
  }
  ~Mapping() { unmap(); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  bool is_there() const { return memory_ != nullptr; }
  std::byte* at(uint64_t offset) const { return memory_ + (offset - begin_); }

 private:
  void unmap() {
    if (memory_ != nullptr) ::munmap(memory_, length_);
    memory_ = nullptr;
  }

  uint64_t begin_ = 0;  // in the file
  size_t length_ = 0;
  std::byte* memory_ = nullptr;
};

// Copies the pieces into the mapping. Returns how many were copied as a whole.
size_t copy_into(const Mapping& mapping, std::span<const Part> pieces, Buffer& buffer) {
  constexpr size_t kMost = 1024;  // IOV_MAX
  std::array<iovec, kMost> to;
  size_t done = 0;
  while (done < pieces.size()) {
    size_t count = 0;
    size_t bytes = 0;
    while (count < kMost && done + count < pieces.size()) {
      const Part& piece = pieces[done + count];
      if (bytes + piece.length > Buffer::kBytes) break;
      std::memcpy(buffer.memory() + bytes, piece.memory, piece.length);
      to[count++] = {mapping.at(piece.offset), piece.length};
      bytes += piece.length;
    }
    // A piece that is longer than the buffer is no small one.
    if (count == 0) return done;
    if (::preadv(buffer.descriptor(), to.data(), static_cast<int>(count), 0) != static_cast<ssize_t>(bytes)) {
      return done;
    }
    done += count;
  }
  return done;
}

// Writes as many of the pieces as a mapping takes, and returns how many, from the first one on. The last piece is
// written first if the file ends before it: that makes the file longer, and never shorter, whoever else does so.
size_t write_mapped(int descriptor, std::span<const Part> pieces) {
  if (pieces.size() < 2 || !is_local(descriptor)) return 0;
  Buffer* const buffer = Buffer::of_thread();
  struct stat found {};
  if (buffer == nullptr || ::fstat(descriptor, &found) != 0) return 0;
  const Part& last = pieces.back();
  const bool grows = static_cast<uint64_t>(found.st_size) < last.end();
  if (grows && write_part(descriptor, last).error != 0) return 0;
  const Mapping mapping(descriptor, pieces.front().offset, last.end());
  if (!mapping.is_there()) return 0;
  const std::span<const Part> left = grows ? pieces.first(pieces.size() - 1) : pieces;
  const size_t copied = copy_into(mapping, left, *buffer);
  return copied == left.size() ? pieces.size() : copied;
}

}  // namespace

int64_t write_scattered(int descriptor, uint64_t offset, std::span<const iovec> segments) {
  const std::vector<Part> pieces = parts_of(offset, segments);
  for (size_t done = write_mapped(descriptor, pieces); done < pieces.size(); ++done) {
    const Part& piece = pieces[done];
    const Written written = write_part(descriptor, piece);
    if (written.error == 0) continue;
    const uint64_t end = piece.offset + written.bytes;
    if (done == 0 && written.bytes == 0) return -written.error;
    return static_cast<int64_t>(end - offset);
  }
  uint64_t length = 0;
  for (const iovec& segment : segments) length += segment.iov_len;
  return static_cast<int64_t>(length);
}

}  // namespace tailrace::impl
