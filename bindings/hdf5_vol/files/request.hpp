// A write that HDF5's asynchronous calls (H5Dwrite_async, H5Dwrite_multi_async) have begun, as an event set holds it:
// it has ended when its bytes are in the file, or HDF5 has the chunks that were filtered.
#pragma once

#include <tailrace/tailrace.h>

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hdf5_vol/files/chunk_queue.hpp"
#include "hdf5_vol/files/files.hpp"
#include "hdf5_vol/host/host.hpp"
#include "hdf5_vol/process/process.hpp"

namespace tailrace::hdf5 {

class Request {
 public:
  explicit Request(const Host& host) : host_(host), begun_(std::chrono::system_clock::now()) {}

  // A part of it is on its way to the file of that name, which may be closed meanwhile.
  void add(const std::string& file, tailrace_ticket ticket) { parts_.push_back({file, ticket}); }
  // So is a chunk, in that queue.
  void add(const std::shared_ptr<File>& file, std::shared_ptr<ChunkQueue> queue, std::shared_ptr<ChunkJob> job) {
    chunks_.push_back({file, std::move(queue), std::move(job)});
  }
  bool empty() const { return parts_.empty() && chunks_.empty(); }

  // On the program's thread, as it may give HDF5 chunks. Waits for at most `timeout` nanoseconds (H5ES_WAIT_FOREVER:
  // for ever) until all of it has ended.
  H5VL_request_status_t wait(uint64_t timeout);
  // Why it failed; a new error stack, the caller's to close.
  hid_t error_stack() const;
  // When it was handed over, in microseconds of the system's clock, and how long it took from then, as far as is
  // known, in nanoseconds.
  void execution(uint64_t* begun, uint64_t* took) const;

 private:
  struct Part {
    std::string file;
    tailrace_ticket ticket;
  };

  struct Chunk {
    std::weak_ptr<File> file;  // which may be closed meanwhile
    std::shared_ptr<ChunkQueue> queue;
    std::shared_ptr<ChunkJob> job;
  };
  using Deadline = std::optional<std::chrono::steady_clock::time_point>;
  // False if it has not ended by then; none: for ever.
  bool wait_for(const Part& part, Deadline deadline);
  bool wait_for(const Chunk& chunk, Deadline deadline);
  void note_end(const std::string& failure);

  const Host& host_;
  const std::chrono::system_clock::time_point begun_;
  std::chrono::system_clock::time_point ended_;
  std::vector<Part> parts_;   // that have not ended yet
  std::deque<Chunk> chunks_;  // the same
  std::string why_;           // it failed; empty: it has not, so far
};

// Writes to the dataset of `file` that is known as `dataset`. Adds the writes that are on their way to `request`;
// null: nobody asks. `data_stay`: the data are the program's own, and it does not change them until the request has
// ended.
Refusal write_for(Request* request, File& file, uint64_t dataset, std::span<const tailrace_extent> extents,
                  const void* data, bool data_stay = false);

}  // namespace tailrace::hdf5
