// NetworkLink: one direction of a node's connection to the network. Messages pass one at a time, each for the
// time of its bytes, and arrive after the latency.
//
// It computes times, and schedules nothing. The switch between the nodes is never the bottleneck.
#pragma once

#include <algorithm>
#include <cstdint>

#include "lab/inside/forward_study/parameters.hpp"

namespace tailrace::impl::study {

class NetworkLink {
 public:
  explicit NetworkLink(const NetworkParameters& parameters) : parameters_(parameters) {}

  // Takes a message of `bytes` and a header, which is sent at `now`. Returns when all of it has arrived.
  Nanoseconds pass(Nanoseconds now, uint64_t bytes) {
    const double time = 1e9 * static_cast<double>(bytes + parameters_.header) / parameters_.bandwidth;
    free_ = std::max(free_, now) + Nanoseconds(static_cast<int64_t>(time));
    return free_ + parameters_.latency;
  }

 private:
  const NetworkParameters parameters_;
  Nanoseconds free_{0};  // when the last message has passed
};

}  // namespace tailrace::impl::study
