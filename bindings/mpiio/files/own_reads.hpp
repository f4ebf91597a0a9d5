// OwnReads: the reads of a file that a process makes by itself. Bytes that it has handed over and that may not be
// written yet come from the server, all others from the file. One thread at a time.
#pragma once

#include <tailrace/tailrace.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mpiio/collective/memory_data.hpp"
#include "mpiio/files/file_reader.hpp"
#include "mpiio/files/output.hpp"
#include "mpiio/files/pending_writes.hpp"

namespace tailrace::mpiio {

class OwnReads {
 public:
  explicit OwnReads(const std::string& path) : reader_(path) {}

  FileReader& reader() { return reader_; }

  // Reads all that the file has of the data. `pending`: of the file, which has gone to `output`.
  collective::Source::End read(MemorySpace& space, PendingWrites& pending, Output& output);

 private:
  collective::Source::End read_part(const std::vector<tailrace_extent>& extents, std::byte* out,
                                    PendingWrites& pending, Output& output);
  std::optional<uint64_t> read_pending(const std::vector<tailrace_extent>& extents, std::byte* out, uint64_t size,
                                       tailrace_file file);

  FileReader reader_;
  std::vector<std::byte> packed_;  // data that lie apart in memory; at most kAtOnce
};

}  // namespace tailrace::mpiio
