#include "mpiio/process/collective_counts.hpp"

#include <array>
#include <cstdio>

#include "process_client/counted.hpp"

namespace tailrace::mpiio {

// Never destroyed: MPI closes files very late.
CollectiveCounts& CollectiveCounts::instance() {
  static CollectiveCounts* const only = new CollectiveCounts;
  return *only;
}

void CollectiveCounts::exchanged(std::chrono::nanoseconds exchanging, std::chrono::nanoseconds writing) {
  writes_.fetch_add(1, std::memory_order_relaxed);
  exchanging_.fetch_add(static_cast<uint64_t>(exchanging.count()), std::memory_order_relaxed);
  writing_.fetch_add(static_cast<uint64_t>(writing.count()), std::memory_order_relaxed);
}

void CollectiveCounts::met(uint64_t bytes) { met_.fetch_add(bytes, std::memory_order_relaxed); }

std::string CollectiveCounts::text() const {
  const auto seconds = [](const std::atomic<uint64_t>& ns) {
    return static_cast<double>(ns.load(std::memory_order_relaxed)) * 1e-9;
  };
  std::string text;
  std::array<char, 128> part{};
  if (const uint64_t writes = writes_.load(std::memory_order_relaxed); writes > 0) {
    std::snprintf(part.data(), part.size(), ": exchanged in %.3f s, written in %.3f s", seconds(exchanging_),
                  seconds(writing_));
    text += "; " + process::counted(writes, "collective write") + " through aggregators" + part.data();
  }
  if (const uint64_t bytes = met_.load(std::memory_order_relaxed); bytes > 0) {
    std::snprintf(part.data(), part.size(), "; %.1f MiB met in buffers of the node",
                  static_cast<double>(bytes) / (1 << 20));
    text += part.data();
  }
  return text;
}

}  // namespace tailrace::mpiio
