// WriteWorker: a way to get output to storage, exchangeable behind one interface.
//
// For each variable of each iteration, a run asks it for memory to compute the block into, and hands the block over;
// it also reports the end of each iteration. finish() returns when every byte is on storage. A worker owns the memory
// that it hands out (or borrows it from tailrace), enters its hand-overs and waits in the trace, and notes when
// blocks were written, as far as it knows. One thread uses it. The next call throws a failure.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "lab/pattern/folders.hpp"
#include "lab/pattern/options.hpp"
#include "lab/pattern/trace.hpp"

namespace bench {

class WriteWorker {
 public:
  WriteWorker() = default;
  WriteWorker(const WriteWorker&) = delete;
  WriteWorker& operator=(const WriteWorker&) = delete;
  virtual ~WriteWorker() = default;

  // Returns the memory to compute this block into, until put(). Waits if there is none.
  virtual char* block(int variable, int iteration) = 0;
  virtual void put(int variable, int iteration) = 0;
  // Reports that all variables of the iteration were put.
  virtual void end_iteration(int iteration) = 0;
  // Waits until everything is on storage.
  virtual void finish() = 0;
  // Call it after finish(): throws failures that were not reported yet.
  virtual void close() {}

  // Returns the number of iterations after which a variable uses the same memory again.
  virtual int reuse() const { return 1; }
  // Returns the most memory that the program itself has held for output.
  virtual uint64_t buffer_bytes() const = 0;
  // Returns tailrace's budget.
  virtual uint64_t budget_bytes() const { return 0; }
  // Returns true if the page cache is bypassed; otherwise its contents are synced in the run.
  virtual bool bypasses_cache() const { return false; }
  // Call it after close(): returns the file with the library's own trace; "" if there is none.
  virtual std::string library_trace() const { return ""; }
  // Returns its own description, for the report.
  virtual std::string description() const = 0;
};

// The time of each block from its hand-over until it was written.
class WriteTimes {
 public:
  WriteTimes(int variables, int iterations)
      : variables_(static_cast<size_t>(variables)),
        seconds_(variables_ * static_cast<size_t>(iterations), kUnknown) {}

  void set(int variable, int iteration, double seconds) { at(variable, iteration) = seconds; }
  // Returns NaN if not known.
  double seconds(int variable, int iteration) const { return const_cast<WriteTimes*>(this)->at(variable, iteration); }

 private:
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  double& at(int variable, int iteration) {
    return seconds_[static_cast<size_t>(iteration) * variables_ + static_cast<size_t>(variable)];
  }
  const size_t variables_;
  std::vector<double> seconds_;
};

// The surroundings of a worker; all of them must outlive it.
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
