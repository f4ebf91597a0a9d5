// Request: a write that one of HDF5's asynchronous calls (H5Dwrite_async, H5Dwrite_multi_async) has begun, as an
// event set holds it. It ends when its bytes are in the file, or when HDF5 has its filtered chunks.
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
  // Waits for the writes that nothing has waited for: they may be of the program's own memory.
  ~Request();
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;

  // Adds a write that is on its way to the file of that name. The file may be closed meanwhile.
  void add(const std::string& file, tailrace_ticket ticket) { parts_.push_back({file, ticket}); }
  // Adds a chunk of that queue.
  void add(const std::shared_ptr<File>& file, std::shared_ptr<ChunkQueue> queue, std::shared_ptr<ChunkJob> job) {
    chunks_.push_back({file, std::move(queue), std::move(job)});
  }
  bool empty() const { return parts_.empty() && chunks_.empty(); }

  // Waits until the whole request has ended, for at most `timeout` nanoseconds (H5ES_WAIT_FOREVER: without limit).
  // Call it on the program's thread, since it may give HDF5 chunks.
  H5VL_request_status_t wait(uint64_t timeout);
  // Returns a new error stack that says why the request failed; the caller closes it.
  hid_t error_stack() const;
  // Sets `begun` to the time when the request was handed over, in microseconds of the system's clock, and `took` to
  // the nanoseconds until its end, as far as known.
  void execution(uint64_t* begun, uint64_t* took) const;

 private:
  struct Part {
    std::string file;
    tailrace_ticket ticket;
  };

  struct Chunk {
    std::weak_ptr<File> file;  // may be closed meanwhile
    std::shared_ptr<ChunkQueue> queue;
    std::shared_ptr<ChunkJob> job;
  };
  using Deadline = std::optional<std::chrono::steady_clock::time_point>;
  // Both return false if it has not ended at the deadline; without one, they wait without limit.
  bool wait_for(const Part& part, Deadline deadline);
  bool wait_for(const Chunk& chunk, Deadline deadline);
  void note_end(const std::string& failure);

  const Host& host_;
  const std::chrono::system_clock::time_point begun_;
  std::chrono::system_clock::time_point ended_;
  std::vector<Part> parts_;   // not ended yet
  std::deque<Chunk> chunks_;  // not ended yet
  std::string why_;           // why the request failed; empty: it has not, so far
};

// Writes to the dataset of `file` whose key is `dataset`. Adds the writes on their way to `request`, which is null if
// no caller asks for them. `data_stay`: the data are the program's own memory, and it does not change them until the
// request has ended.
Refusal write_for(Request* request, File& file, uint64_t dataset, std::span<const tailrace_extent> extents,
                  const void* data, bool data_stay = false);

}  // namespace tailrace::hdf5
