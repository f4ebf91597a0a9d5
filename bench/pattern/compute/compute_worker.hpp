// ComputeWorker: the computation of the simulated program, exchangeable behind one interface.
//
// Its work is cut into passes of 10 to 100 microseconds, and a run asks for a fixed number of them, not for a time:
// so output that disturbs the computation shows as a longer one. A worker owns its arrays and its threads; it never
// touches the blocks that are written.
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

  // Goes on by so many passes. The same passes in other portions give the same result.
  virtual void compute(uint64_t passes) = 0;

  // A number that depends on all the passes so far, whichever output ran beside them.
  virtual double result() const = 0;

  // Passes of one whole cycle (sweep, product, image), after which snapshot() is complete.
  virtual uint64_t cycle() const = 0;

  // The values that the last whole cycle ended with; for tests.
  virtual std::vector<double> snapshot() const = 0;
};

// The names that make_compute_worker knows.
const std::vector<std::string>& kernel_names();

// Throws UsageError: unknown kernel, threads out of range, static memory already in use.
std::unique_ptr<ComputeWorker> make_compute_worker(const ComputeChoice& choice);

const char* name_of(Memory memory);

}  // namespace bench
