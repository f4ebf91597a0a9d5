// ComputeWorker: the computation of the simulated program, exchangeable behind one interface.
//
// Its work is divided into passes of 10 to 100 microseconds, and a run asks for a fixed number of them, not for a
// time. So output that disturbs the computation shows as a longer one. A worker owns its arrays and its threads; it
// never touches the blocks that are written.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace bench {

enum class Memory { heap, data_segment };

struct ComputeChoice {
  std::string kernel = "busy";
  int threads = 1;
  Memory memory = Memory::heap;
};

class ComputeWorker {
 public:
  ComputeWorker() = default;
  ComputeWorker(const ComputeWorker&) = delete;
  ComputeWorker& operator=(const ComputeWorker&) = delete;
  virtual ~ComputeWorker() = default;

  // Runs `passes` passes. The same number of passes in other portions gives the same result.
  virtual void compute(uint64_t passes) = 0;

  // Returns a number that depends on all passes so far, and not on the output beside them.
  virtual double result() const = 0;

  // Returns the passes of one whole cycle (sweep, product, image), after which snapshot() is complete.
  virtual uint64_t cycle() const = 0;

  // Returns the values at the end of the last whole cycle; for tests.
  virtual std::vector<double> snapshot() const = 0;
};

// Returns the names that make_compute_worker knows.
const std::vector<std::string>& kernel_names();

// Throws UsageError: unknown kernel, threads out of range, static memory already in use.
std::unique_ptr<ComputeWorker> make_compute_worker(const ComputeChoice& choice);

const char* name_of(Memory memory);

}  // namespace bench
