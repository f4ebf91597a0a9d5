// WriteWorker: a way to get output to storage, exchangeable behind one interface.
//
// A run asks it, for each variable of each iteration, for memory to compute the block into, hands the block over, and
// says when an iteration is over; finish() returns when every byte is on storage. A worker owns the memory it hands
// out (or borrows it from tailrace), enters its hand-overs and waits in the trace, and notes when blocks were written
// as far as it can tell. Used by one thread. Failures are thrown by the next call.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "bench/pattern/folders.hpp"
#include "bench/pattern/options.hpp"
#include "bench/pattern/trace.hpp"

namespace bench {

class WriteWorker {
 public:
  WriteWorker() = default;
  WriteWorker(const WriteWorker&) = delete;
  WriteWorker& operator=(const WriteWorker&) = delete;
  virtual ~WriteWorker() = default;

  // The memory to compute this block into, until put(). Waits where there is none.
  virtual char* block(int variable, int iteration) = 0;
  virtual void put(int variable, int iteration) = 0;
  // All variables of the iteration have been put.
  virtual void end_iteration(int iteration) = 0;
  // Waits until everything is on storage.
  virtual void finish() = 0;
  // After finish(): tells of failures that nobody has heard of yet.
  virtual void close() {}

  // Iterations after which a variable is computed into the same memory again.
  virtual int reuse() const { return 1; }
  // The most memory that the program itself has held for output.
  virtual uint64_t buffer_bytes() const = 0;
  // tailrace's budget.
  virtual uint64_t budget_bytes() const { return 0; }
  // Returns true if the page cache is bypassed; otherwise its contents are synced in the run.
  virtual bool bypasses_cache() const { return false; }
  // After close(): the file that the library's own trace is in; "": there is none.
  virtual std::string library_trace() const { return ""; }
  // In its own words, for the report.
  virtual std::string description() const = 0;
};

// How long each block took from its hand-over until it was written.
class WriteTimes {
 public:
  WriteTimes(int variables, int iterations)
      : variables_(static_cast<size_t>(variables)),
        seconds_(variables_ * static_cast<size_t>(iterations), kUnknown) {}

  void set(int variable, int iteration, double seconds) { at(variable, iteration) = seconds; }
  // NaN: not known.
  double seconds(int variable, int iteration) const { return const_cast<WriteTimes*>(this)->at(variable, iteration); }

 private:
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  double& at(int variable, int iteration) {
    return seconds_[static_cast<size_t>(iteration) * variables_ + static_cast<size_t>(variable)];
  }
  const size_t variables_;
  std::vector<double> seconds_;
};

// The surroundings of a worker; all of them outlive the worker.
struct WriteContext {
  const WriteOptions& options;
  const OutputFolders& folders;
  Trace& trace;
  WriteTimes& times;
};

std::unique_ptr<WriteWorker> make_write_worker(const WriteContext& context);

std::unique_ptr<WriteWorker> make_none(const WriteContext& context);
std::unique_ptr<WriteWorker> make_sync(const WriteContext& context);
std::unique_ptr<WriteWorker> make_sync_hdf5(const WriteContext& context);
std::unique_ptr<WriteWorker> make_bare(const WriteContext& context);
std::unique_ptr<WriteWorker> make_posix_aio(const WriteContext& context);
std::unique_ptr<WriteWorker> make_tailrace(const WriteContext& context);

}  // namespace bench
