// The threads that filter chunks, of all files of the process.
//
// They touch bytes alone, never HDF5: who asked for a chunk takes it back and places it, on the program's own thread.
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

// One chunk. Whoever made it may touch it before submit() and after it has been done.
struct ChunkJob {
  std::vector<ChunkFilter> filters;
  ByteBuffer bytes;
  bool filtered = false;  // else `bytes` are what they were
  bool done = false;      // guard: the crew's mutex
  bool placed = false;    // HDF5 has been given it
  std::string failure;    // why HDF5 could not write it; empty: it could, or has not been asked yet
};

class ChunkCrew {
 public:
  // Starts a thread for each processor but one; they live as long as the process, and so must this (Process).
  ChunkCrew();

  // For so many bytes and a little more; maybe memory that has been given back.
  ByteBuffer take_buffer(size_t bytes);
  // Keeps it for others, if not more than `most` bytes are kept then.
  void give_back(ByteBuffer buffer, uint64_t most);

  void submit(std::shared_ptr<ChunkJob> job);
  bool is_done(const ChunkJob& job);
  using Deadline = std::chrono::steady_clock::time_point;
  // Helps with what is to be done meanwhile; false if it has not been done by then. None: for ever.
  bool wait(const ChunkJob& job, std::optional<Deadline> deadline = std::nullopt);

  // Reports on standard error what was done so far, if anything was.
  void report();

 private:
  void work();
  // Takes the first job, and does it without the lock.
  void do_one(std::unique_lock<std::mutex>& lock, FilterMemory& memory);

  std::mutex mutex_;  // guards all below
  std::condition_variable asked_;
  std::condition_variable done_;
  std::deque<std::shared_ptr<ChunkJob>> jobs_;
  std::deque<ByteBuffer> free_;  // the longest unused first
  uint64_t free_bytes_ = 0;      // of their capacity
  uint64_t chunks_ = 0;          // that have been done, …
  uint64_t unfiltered_ = 0;      // … of these those that a filter failed with, …
  uint64_t bytes_ = 0;           // … and what they were before …
  uint64_t bytes_filtered_ = 0;  // … and after
};

}  // namespace tailrace::hdf5
