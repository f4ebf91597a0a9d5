// FileReader: reads an open file. One thread at a time.
#pragma once

#include <tailrace/tailrace.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "collective/read/source.hpp"
#include "mpiio/transfer/own_descriptor.hpp"
#include "mpiio/transfer/read_pattern.hpp"
#include "process_client/bytes/sieve.hpp"

namespace tailrace::mpiio {

class FileReader {
 public:
  // Borrows the descriptor, which may be opened later.
  explicit FileReader(const OwnDescriptor& own) : own_(own) {}
  ~FileReader();
  FileReader(const FileReader&) = delete;
  FileReader& operator=(const FileReader&) = delete;

  // Sets how many bytes are read at once where gaps between pieces are read with them, because that is faster (data
  // sieving); 0: gaps are not read.
  void set_sieve(uint64_t bytes) { sieve_bytes_ = bytes; }
  // Reopens the file. On file systems that promise no more than that (NFS), it then sees what other nodes have
  // written.
  void refresh();

  using End = collective::Source::End;

  End read(uint64_t offset, std::span<std::byte> to);
  // Reads the extents, which ascend, to `out`, back to back, up to the end of the file. Reads ahead where
  // reads follow a pattern.
  End read(std::span<const tailrace_extent> extents, std::byte* out);
  // Returns the size of the file; 0 if there is an error.
  uint64_t size();

 private:
  void read_ahead(std::span<const tailrace_extent> extents);
  size_t cover(std::span<const tailrace_extent> extents) const;
  End sieve(std::span<const tailrace_extent> extents, std::byte* out);

  int descriptor() const { return fresh_ >= 0 ? fresh_ : own_.get(); }

  const OwnDescriptor& own_;
  int fresh_ = -1;  // opened by refresh()
  uint64_t sieve_bytes_ = uint64_t{4} << 20;
  process::Sieve sieve_;
  ReadPattern pattern_;
};

}  // namespace tailrace::mpiio
