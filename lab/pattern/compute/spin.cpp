// spin: a chain of integer operations, each of which needs the one before; touches almost no memory.
//
// Its speed depends on the processor's clock alone, while `busy` also takes longer when others use the same core's
// caches and units. So it serves to test predictions on a machine that is shared with other users. Each thread has
// its own chain, and passes go to the chains in turn.
#include <algorithm>

#include "lab/pattern/compute/arena.hpp"
#include "lab/pattern/compute/kernels.hpp"
#include "lab/pattern/compute/team.hpp"

namespace bench {
namespace {

constexpr int kSteps = 4096;  // of one pass

struct alignas(64) Chain {
  uint64_t state;
};

// The step of the generator SplitMix64 by Steele, Lea and Flood, used here for its long chain of operations.
uint64_t step(uint64_t state) {
  state += 0x9e3779b97f4a7c15;
  state = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9;
  state = (state ^ (state >> 27)) * 0x94d049bb133111eb;
  return state ^ (state >> 31);
}

class Spin final : public ComputeWorker {
 public:
  Spin(int threads, Memory memory)
      : arena_(memory, Arena::bytes_for<Chain>(static_cast<size_t>(threads))),
        chains_(arena_.take<Chain>(static_cast<size_t>(threads))),
        team_(threads) {
    std::fill(chains_.begin(), chains_.end(), Chain{0});
  }

  void compute(uint64_t passes) override {
    const uint64_t threads = chains_.size();
    const uint64_t begin = done_;
    const uint64_t end = done_ + passes;
    team_.each([&](int thread) {
      // Returns how many of the passes numbered below `n` belong to this thread.
      const auto below = [&](uint64_t n) { return (n + threads - 1 - static_cast<uint64_t>(thread)) / threads; };
      uint64_t& state = chains_[static_cast<size_t>(thread)].state;
      for (uint64_t left = (below(end) - below(begin)) * kSteps; left > 0; --left) state = step(state);
    });
    done_ = end;
  }

  double result() const override {
    double sum = 0;
    for (const double value : snapshot()) sum += value;
    return sum;
  }

  uint64_t cycle() const override { return chains_.size(); }

  std::vector<double> snapshot() const override {
    std::vector<double> all;
    for (const Chain& chain : chains_) all.push_back(static_cast<double>(chain.state >> 11) * 0x1p-53);
    return all;
  }

 private:
  Arena arena_;
  std::span<Chain> chains_;
  uint64_t done_ = 0;
  Team team_;  // last: its threads use the members above
};

}  // namespace

std::unique_ptr<ComputeWorker> make_spin(int threads, Memory memory) {
  return std::make_unique<Spin>(threads, memory);
}

}  // namespace bench
