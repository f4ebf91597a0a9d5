// walk: goes from node to node in random order through more memory than the caches hold, and spends nearly all its
// time waiting for memory.
//
// Several walkers are on the one cycle; a pass moves one of them, and the walkers take turns, each always on the same
// thread.
#include "lab/pattern/compute/walk.hpp"

#include <random>
#include <utility>

#include "lab/pattern/compute/arena.hpp"
#include "lab/pattern/compute/kernels.hpp"
#include "lab/pattern/compute/team.hpp"

namespace bench {
namespace {

constexpr size_t kNodes = size_t{1} << 20;  // 64 MiB
constexpr uint64_t kWalkers = 64;
constexpr int kSteps = 128;  // of one pass
constexpr uint64_t kSeed = 3141592653;

class Walk final : public ComputeWorker {
 public:
  Walk(int threads, Memory memory)
      : arena_(memory, Arena::bytes_for<Node>(kNodes)), nodes_(arena_.take<Node>(kNodes)), team_(threads) {
    link_randomly(nodes_, kSeed);
    for (uint64_t walker = 0; walker < kWalkers; ++walker) at_.push_back({walker * (kNodes / kWalkers)});
  }

  void compute(uint64_t passes) override {
    const uint64_t begin = done_;
    const uint64_t end = done_ + passes;
    team_.each([&](int thread) {
      for (auto walker = static_cast<uint64_t>(thread); walker < kWalkers;
           walker += static_cast<uint64_t>(team_.size())) {
        // Returns how many of the passes numbered below `n` move this walker.
        const auto below = [&](uint64_t n) { return (n + kWalkers - 1 - walker) / kWalkers; };
        for (uint64_t pass = below(begin); pass < below(end); ++pass) move(at_[walker]);
      }
    });
    done_ = end;
  }

  double result() const override {
    double sum = 0;
    for (uint64_t walker = 0; walker < kWalkers; ++walker)
      sum += static_cast<double>((walker + 1) * at_[walker].next);
    return sum;
  }

  uint64_t cycle() const override { return kWalkers; }

  std::vector<double> snapshot() const override {
    std::vector<double> places;
    for (const Node& node : at_) places.push_back(static_cast<double>(node.next));
    return places;
  }

 private:
  void move(Node& at) {
    uint64_t node = at.next;
    for (int step = 0; step < kSteps; ++step) node = nodes_[node].next;
    at.next = node;
  }

  Arena arena_;
  std::span<Node> nodes_;
  std::vector<Node> at_;  // position of each walker; a cache line each, since other threads write the neighbours
  uint64_t done_ = 0;
  Team team_;  // last: its threads use the members above
};

}  // namespace

// Sattolo's shuffle: a permutation that is a single cycle, each with the same probability.
void link_randomly(std::span<Node> nodes, uint64_t seed) {
  std::mt19937_64 random(seed);
  for (size_t i = 0; i < nodes.size(); ++i) nodes[i].next = i;
  for (size_t i = nodes.size(); i-- > 1;) std::swap(nodes[i].next, nodes[random() % i].next);
}

std::unique_ptr<ComputeWorker> make_walk(int threads, Memory memory) {
  return std::make_unique<Walk>(threads, memory);
}

}  // namespace bench
