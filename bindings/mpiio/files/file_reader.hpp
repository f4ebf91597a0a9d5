// FileReader: reads a file with a descriptor of its own, which leads to the file whatever happens to its name. One
// thread at a time.
#pragma once

#include <tailrace/tailrace.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "collective/read/source.hpp"
#include "mpiio/files/read_pattern.hpp"
#include "mpiio/pending/file_key.hpp"

namespace tailrace::mpiio {

class FileReader {
 public:
  FileReader() = default;
  ~FileReader();
  FileReader(const FileReader&) = delete;
  FileReader& operator=(const FileReader&) = delete;

  // Opens the file; call it once, before all else. Returns 0, or an errno. A file that the process may not read is
  // known, but not read.
  int open(const std::string& path);
  // Returns which file it is; both numbers are 0 before open().
  const FileKey& key() const { return key_; }

  // Gaps between pieces are read with them where that is faster (data sieving), at most so many bytes at once; 0:
  // they are not.
  void set_sieve(uint64_t bytes) { sieve_bytes_ = bytes; }
  // Opens the file anew. On file systems that promise no more than that (NFS), it then sees what other nodes have
  // written.
  void refresh();

  using End = collective::Source::End;

  End read(uint64_t offset, std::span<std::byte> to);
  // Reads the extents, which ascend, to `out`, one after the other, up to the end of the file. Reads ahead where
  // reads follow a pattern.
  End read(std::span<const tailrace_extent> extents, std::byte* out);
  // Returns the size of the file; 0 if there is an error.
  uint64_t size();

 private:
  void read_ahead(std::span<const tailrace_extent> extents);
  size_t cover(std::span<const tailrace_extent> extents) const;
  End sieve(std::span<const tailrace_extent> extents, std::byte* out);

  int descriptor_ = -1;
  FileKey key_;
  uint64_t sieve_bytes_ = uint64_t{4} << 20;
  std::unique_ptr<std::byte[]> sieve_;  // sieve_room_ bytes
  uint64_t sieve_room_ = 0;
  ReadPattern pattern_;
};

}  // namespace tailrace::mpiio
