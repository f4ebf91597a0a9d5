// OwnReads: the reads of a file that a process makes by itself, for itself or as an aggregator. Bytes that it has
// handed over and that may not be written yet come from the server, all others from the file. It waits for bytes that
// other processes of the node have on their way. One thread at a time.
#pragma once

#include <tailrace/tailrace.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "collective/read/source.hpp"
#include "mpiio/collective/memory_data.hpp"
#include "mpiio/transfer/file_reader.hpp"
#include "mpiio/transfer/output.hpp"
#include "mpiio/transfer/own_descriptor.hpp"

namespace tailrace::mpiio {

class OwnReads : public collective::Source {
 public:
  // Borrow both; the descriptor is not open yet.
  OwnReads(const OwnDescriptor& own, Output& output) : own_(own), output_(output), reader_(own) {}

  FileReader& reader() { return reader_; }

  // Reads all that the file has of the data.
  End read(MemorySpace& space);
  // Reads a range for others. Requires that this process has nothing of the file on its way.
  End read(uint64_t offset, std::span<std::byte> to) override;

 private:
  End read_part(const std::vector<tailrace_extent>& extents, std::byte* out);
  bool has_own(std::span<const tailrace_extent> extents);
  void wait_for_others(std::span<const tailrace_extent> extents);
  std::optional<uint64_t> read_pending(const std::vector<tailrace_extent>& extents, std::byte* out,
                                       tailrace_file raw);
  uint64_t size();

  const OwnDescriptor& own_;
  Output& output_;
  FileReader reader_;
  std::vector<std::byte> packed_;  // data that lie apart in memory; at most kAtOnce
};

}  // namespace tailrace::mpiio
