// Way: one way in which a process of a run writes its blocks, exchangeable behind one interface.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "bench/core/options.hpp"

namespace bench::core {

// The counts of filters, where there are some.
struct Filtered {
  uint64_t bytes = 0;   // before
  uint64_t stored = 0;  // and after
  double seconds = 0;   // of all blocks
  uint64_t chunks = 0;
  uint64_t relaxed = 0;  // of these, as there was not the time
  uint64_t skipped = 0;
};

class Way {
 public:
  Way() = default;
  Way(const Way&) = delete;
  Way& operator=(const Way&) = delete;
  virtual ~Way() = default;

  // All that an iteration's output costs the program; returns when the block is the program's again.
  virtual void put(int64_t iteration, std::span<const float> block) = 0;
  // Until all that was put is in its file.
  virtual void flush() {}
  // No output follows. After flush().
  virtual void close() {}

  virtual std::string description() const = 0;
  virtual Filtered filtered() const { return {}; }
  // Seconds in put() in which memory was waited for.
  virtual double waited() const { return 0; }
};

// Makes a way for process number `process`. Each throws RunError or tailrace::Error.
std::unique_ptr<Way> make_memory(const RunOptions& options, int process);
std::unique_ptr<Way> make_posix(const RunOptions& options, int process);
std::unique_ptr<Way> make_hdf5(const RunOptions& options, int process);
std::unique_ptr<Way> make_tailrace(const RunOptions& options, int process);

std::unique_ptr<Way> make_way(const RunOptions& options, int process);

}  // namespace bench::core
