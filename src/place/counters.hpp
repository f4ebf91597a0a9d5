// What the server counts for a client. Written by the server, read by the client; each counter stands by itself, so
// relaxed order suffices.
#pragma once

#include <atomic>
#include <cstdint>

namespace tailrace::impl {

struct ServerCounters {
  std::atomic<uint64_t> blocks_written{0};
  std::atomic<uint64_t> blocks_failed{0};
  std::atomic<uint64_t> bytes_written{0};
  std::atomic<uint64_t> iterations_published{0};
  std::atomic<uint64_t> iterations_failed{0};
  std::atomic<uint64_t> busy_nanoseconds{0};
};

inline void count(std::atomic<uint64_t>& counter, uint64_t by = 1) {
  counter.fetch_add(by, std::memory_order_relaxed);
}

}  // namespace tailrace::impl
