// Peers: the processes that compute one grid together, as seen by one of them.
//
// Each has a slab of rows, process 0 the southernmost. All calls except the getters are collective: every process
// makes the same ones in the same order, and none returns before all have made it. The solver and the main loop use
// only this interface. Alone is a single process; shared_peers.hpp has siblings with common memory. Results never
// depend on the number of processes, except for where the rows are cut: callers compute sums themselves, in the order
// of the rows.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tsunami {

enum class Side { south, north };

class Peers {
 public:
  virtual ~Peers() = default;

  virtual int rank() const = 0;  // 0 … size() - 1
  virtual int size() const = 0;
  virtual int on_this_node() const = 0;  // number of processes on this node, including this one
  bool is_southernmost() const { return rank() == 0; }
  bool is_northernmost() const { return rank() + 1 == size(); }

  // Returns the memory whose contents the neighbour on that side gets by the next exchange(), if that is the next
  // collective call; empty if there is no neighbour. Its earlier contents are meaningless.
  virtual std::span<double> outbox(Side side) = 0;
  // Hands every outbox over, and returns the greatest `mine` of all (never a NaN).
  virtual double exchange(double mine) = 0;
  // Returns the data that the neighbour on that side sent by the last exchange(); empty if there is no neighbour.
  // Valid until the next collective call.
  virtual std::span<const double> inbox(Side side) const = 0;

  // Returns the numbers of all, one process after the other. Processes may pass different counts.
  virtual std::vector<double> gather(std::span<const double> mine) = 0;

  // Returns the time that this process has spent in collective calls, mostly waiting for the others.
  virtual double seconds() const = 0;
};

// One process that has the whole grid.
class Alone final : public Peers {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  int on_this_node() const override { return 1; }
  std::span<double> outbox(Side) override { return {}; }
  double exchange(double mine) override { return mine; }
  std::span<const double> inbox(Side) const override { return {}; }
  std::vector<double> gather(std::span<const double> mine) override { return {mine.begin(), mine.end()}; }
  double seconds() const override { return 0; }
};

// Rows of a grid.
struct Slab {
  std::size_t first, count;
};
// Returns the rows of process `rank` of `size`: as even as whole rows can be.
constexpr Slab slab_of(std::size_t rows, int rank, int size) {
  const auto r = static_cast<std::size_t>(rank), n = static_cast<std::size_t>(size);
  return {rows * r / n, rows * (r + 1) / n - rows * r / n};
}

}  // namespace tsunami
