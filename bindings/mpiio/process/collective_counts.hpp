// CollectiveCounts: what this process has done for collective writes, for the summary.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

namespace tailrace::mpiio {

class CollectiveCounts {
 public:
  static CollectiveCounts& instance();

  // Counts a write through aggregators: the time for the exchange, and that for handing bytes over to files and
  // waiting for these. Any thread.
  void exchanged(std::chrono::nanoseconds exchanging, std::chrono::nanoseconds writing);
  // Counts bytes that this process has put into a buffer of the node. Any thread.
  void met(uint64_t bytes);

  // Returns what was counted, to be appended to the summary; empty if there is nothing.
  std::string text() const;

 private:
  // They order nothing: numbers for people.
  std::atomic<uint64_t> writes_ = 0;
  std::atomic<uint64_t> exchanging_ = 0;  // ns
  std::atomic<uint64_t> writing_ = 0;     // ns
  std::atomic<uint64_t> met_ = 0;         // bytes
};

}  // namespace tailrace::mpiio
