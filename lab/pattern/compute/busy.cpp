// busy: smooths a small grid in cache repeatedly; arithmetic and cache traffic, like a solver's inner loop.
//
// Each thread has its own grid, and passes go to the grids in turn, so threads never wait for each other.
#include <algorithm>
#include <utility>

#include "lab/pattern/compute/arena.hpp"
#include "lab/pattern/compute/kernels.hpp"
#include "lab/pattern/compute/team.hpp"

namespace bench {
namespace {

constexpr size_t kPoints = 16384;  // two arrays of 128 KiB, which fit the second-level cache
constexpr int kSweeps = 4;         // of one pass

struct Grid {
  std::span<double> values;
  std::span<double> next;
};

class Busy final : public ComputeWorker {
 public:
  Busy(int threads, Memory memory)
      : arena_(memory, 2 * static_cast<size_t>(threads) * Arena::bytes_for<double>(kPoints)), team_(threads) {
    for (int thread = 0; thread < threads; ++thread) {
      grids_.push_back({arena_.take<double>(kPoints), arena_.take<double>(kPoints)});
      std::fill(grids_.back().values.begin(), grids_.back().values.end(), 1.0);
      std::fill(grids_.back().next.begin(), grids_.back().next.end(), 1.0);
    }
  }

  void compute(uint64_t passes) override {
    const uint64_t threads = grids_.size();
    const uint64_t begin = done_;
    const uint64_t end = done_ + passes;
    team_.each([&](int thread) {
      // Returns how many of the passes numbered below `n` belong to this thread.
      const auto below = [&](uint64_t n) { return (n + threads - 1 - static_cast<uint64_t>(thread)) / threads; };
      for (uint64_t pass = below(begin); pass < below(end); ++pass) smooth(grids_[static_cast<size_t>(thread)]);
    });
    done_ = end;
  }

  double result() const override {
    double sum = 0;
    for (const Grid& grid : grids_) sum += grid.values[kPoints / 2] + grid.values[1];
    return sum;
  }

  uint64_t cycle() const override { return grids_.size(); }

  std::vector<double> snapshot() const override {
    std::vector<double> all;
    for (const Grid& grid : grids_) all.insert(all.end(), grid.values.begin(), grid.values.end());
    return all;
  }

 private:
  static void smooth(Grid& grid) {
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      const double* const from = grid.values.data();
      double* const to = grid.next.data();
      for (size_t i = 1; i + 1 < kPoints; ++i) to[i] = 0.5 * from[i] + 0.25 * (from[i - 1] + from[i + 1]);
      to[1] += 1e-3;  // a source, so that the values never converge
      std::swap(grid.values, grid.next);
    }
  }

  Arena arena_;
  std::vector<Grid> grids_;
  uint64_t done_ = 0;
  Team team_;  // last: its threads use the members above
};

}  // namespace

std::unique_ptr<ComputeWorker> make_busy(int threads, Memory memory) {
  return std::make_unique<Busy>(threads, memory);
}

}  // namespace bench
