// Prefetcher: the thread that makes the system read into its page cache what readers will probably ask for next.
//
// The thread starts with the first request and lives as long as the process, and so must this (Process). It gives
// hints and keeps no bytes: nothing in it can be stale, and reads return what they would without it. It never calls
// HDF5.
#pragma once

#include <tailrace/tailrace.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>

namespace tailrace::hdf5 {

class Prefetcher {
 public:
  // Prefetches `range` of the file `file`, a descriptor of ours, for readers of the dataset that begins at `dataset`.
  // Cancels what is left of their earlier range.
  void ask(int file, uint64_t dataset, const tailrace_extent& range);
  // Cancels the range of that dataset.
  void drop(int file, uint64_t dataset);
  // Cancels all ranges of the file. The prefetcher does not use the descriptor after it returns.
  void leave(int file);

  // Prints on standard error what was done so far.
  void report();

 private:
  struct Job {
    int file;
    uint64_t dataset;
    tailrace_extent rest;
  };
  bool start();
  void work();
  void do_step(std::unique_lock<std::mutex>& lock);

  std::mutex mutex_;  // guards all below
  std::condition_variable asked_;
  std::condition_variable stepped_;
  std::deque<Job> jobs_;  // at most one for each dataset
  int busy_ = -1;         // the descriptor in use
  bool tried_ = false;    // to start the thread
  bool runs_ = false;
  uint64_t ranges_ = 0;    // asked for
  uint64_t foreseen_ = 0;  // bytes in these
  uint64_t brought_ = 0;   // bytes that were not cancelled
};

}  // namespace tailrace::hdf5
