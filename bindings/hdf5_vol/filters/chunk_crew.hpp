// The threads that filter chunks, for all files of the process.
//
// They touch bytes alone, never HDF5. The caller that submitted a chunk takes it back and places it, on the program's
// own thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "hdf5_vol/filters/chunk_filter.hpp"

namespace tailrace::hdf5 {

// One chunk. Its owner may touch it before submit() and after it is done.
struct ChunkJob {
  std::vector<ChunkFilter> filters;
  ByteBuffer bytes;
  bool filtered = false;  // false: `bytes` are unchanged
  bool done = false;      // guarded by the crew's mutex
  bool placed = false;    // HDF5 has it
  std::string failure;    // why HDF5 could not write it; empty: it could, or does not have it yet
};

class ChunkCrew {
 public:
  // Starts a thread for each processor but one. The threads live as long as the process, and so must this (Process).
  ChunkCrew();

  // Returns a buffer for at least `bytes` bytes; it may reuse one that was given back.
  ByteBuffer take_buffer(size_t bytes);
  // Keeps the buffer for reuse, unless more than `most` bytes would then be kept.
  void give_back(ByteBuffer buffer, uint64_t most);

  void submit(std::shared_ptr<ChunkJob> job);
  bool is_done(const ChunkJob& job);
  using Deadline = std::chrono::steady_clock::time_point;
  // Waits for the job, and works on others meanwhile. Returns false if it is not done at the deadline; without one,
  // waits without limit.
  bool wait(const ChunkJob& job, std::optional<Deadline> deadline = std::nullopt);

  // Prints on standard error what was done so far, if anything was.
  void report();

 private:
  void work();
  // Takes the first job and does it, without the lock.
  void do_one(std::unique_lock<std::mutex>& lock, FilterMemory& memory);

  std::mutex mutex_;  // guards all below
  std::condition_variable asked_;
  std::condition_variable done_;
  std::deque<std::shared_ptr<ChunkJob>> jobs_;
  std::deque<ByteBuffer> free_;  // the longest unused first
  uint64_t free_bytes_ = 0;      // of their capacity
  uint64_t chunks_ = 0;          // done …
  uint64_t unfiltered_ = 0;      // … of these, chunks that a filter failed with …
  uint64_t bytes_ = 0;           // … bytes before …
  uint64_t bytes_filtered_ = 0;  // … and after filtering
};

}  // namespace tailrace::hdf5
