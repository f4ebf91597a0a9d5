// The thread that has the system bring into its page cache what readers will probably ask for next.
//
// The thread starts when it is first asked for something, and lives as long as the process, and so must this
// (Process). It gives hints and keeps no bytes: nothing of it can become old, and reads are what they would be
// without it. It never calls HDF5.
#pragma once

#include <tailrace/tailrace.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>

namespace tailrace::hdf5 {

class Prefetcher {
 public:
  // Brings `range` of the file that this descriptor of ours is of, which readers of the dataset that begins at
  // `dataset` will ask for. What they were to ask for before is overtaken, and dropped as far as it is not there.
  void ask(int file, uint64_t dataset, const tailrace_extent& range);
  // They will ask for something else.
  void drop(int file, uint64_t dataset);
  // Drops all of the file; the descriptor is not used any more when it returns.
  void leave(int file);

  // Reports on standard error what has been done since it was made.
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
  std::deque<Job> jobs_;  // one a dataset at most
  int busy_ = -1;         // the descriptor that is being used
  bool tried_ = false;    // to start the thread
  bool runs_ = false;
  uint64_t ranges_ = 0;    // that were asked for, …
  uint64_t foreseen_ = 0;  // … their bytes, …
  uint64_t brought_ = 0;   // … and those that were not dropped
};

}  // namespace tailrace::hdf5
