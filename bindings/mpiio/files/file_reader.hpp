// FileReader: reads a file with a descriptor of its own. One thread at a time.
#pragma once

#include <tailrace/tailrace.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "collective/read/source.hpp"
#include "mpiio/files/read_pattern.hpp"

namespace tailrace::mpiio {

class FileReader : public collective::Source {
 public:
  explicit FileReader(std::string path) : path_(std::move(path)) {}
  ~FileReader() override { forget(); }
  FileReader(const FileReader&) = delete;
  FileReader& operator=(const FileReader&) = delete;

  // Gaps between pieces are read with them where that is faster (data sieving), at most so many bytes at once; 0:
  // they are not.
  void set_sieve(uint64_t bytes) { sieve_bytes_ = bytes; }
  // Opens the file anew before the next read. On file systems that promise no more than that (NFS), it sees what
  // other nodes have written.
  void forget();

  End read(uint64_t offset, std::span<std::byte> to) override;
  // Reads the extents, which ascend, to `out`, one after the other, up to the end of the file. Reads ahead where
  // reads follow a pattern.
  End read(std::span<const tailrace_extent> extents, std::byte* out);
  // Returns the size of the file; 0 if there is an error.
  uint64_t size();

 private:
  bool open();
  void read_ahead(std::span<const tailrace_extent> extents);
  size_t cover(std::span<const tailrace_extent> extents) const;
  End sieve(std::span<const tailrace_extent> extents, std::byte* out);

  std::string path_;
  int descriptor_ = -1;
  uint64_t sieve_bytes_ = uint64_t{4} << 20;
  std::unique_ptr<std::byte[]> sieve_;  // sieve_room_ bytes
  uint64_t sieve_room_ = 0;
  ReadPattern pattern_;
};

}  // namespace tailrace::mpiio
