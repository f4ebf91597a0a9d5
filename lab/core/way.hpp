// Way: one way in which a process of a run writes its blocks, exchangeable behind one interface.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "lab/core/options.hpp"

namespace bench::core {

// The counts of filters, if there are any.
struct Filtered {
  uint64_t bytes = 0;   // before filtering
  uint64_t stored = 0;  // and after
  double seconds = 0;   // for all blocks
  uint64_t chunks = 0;
  uint64_t relaxed = 0;  // chunks of these with less effort, for lack of time
  uint64_t skipped = 0;
};

class Way {
 public:
  Way() = default;
  Way(const Way&) = delete;
  Way& operator=(const Way&) = delete;
  virtual ~Way() = default;

  // Returns the array to compute the next block in: `own`, or memory of the way that replaces it.
  virtual std::span<float> block(int64_t /*iteration*/, std::span<float> own) { return own; }
  // Does everything that an iteration's output costs the program; returns when the program may use the block again.
  // `block` is what block() returned.
  virtual void put(int64_t iteration, std::span<const float> block) = 0;
  // Waits until everything that was put is in its file.
  virtual void flush() {}
  // Ends the output. Call it after flush().
  virtual void close() {}

  virtual std::string description() const = 0;
  virtual Filtered filtered() const { return {}; }
  // Returns the seconds that put() has waited for memory.
  virtual double waited() const { return 0; }
};

// Make a way for process number `process`. Each throws RunError or tailrace::Error.
std::unique_ptr<Way> make_memory(const RunOptions& options, int process);
std::unique_ptr<Way> make_posix(const RunOptions& options, int process);
std::unique_ptr<Way> make_hdf5(const RunOptions& options, int process);
std::unique_ptr<Way> make_tailrace(const RunOptions& options, int process);

std::unique_ptr<Way> make_way(const RunOptions& options, int process);

}  // namespace bench::core
