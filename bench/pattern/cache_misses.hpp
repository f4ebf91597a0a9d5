// CacheMisses: counts the cache misses of the process and of the threads it makes from now on, where the machine
// has counters and the system allows it.
//
// Never fails: what cannot be counted is said to be so, with the reason.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace bench {

class CacheMisses {
 public:
  // Before the threads are made that are to be counted.
  CacheMisses();
  CacheMisses(const CacheMisses&) = delete;
  CacheMisses& operator=(const CacheMisses&) = delete;
  ~CacheMisses();

  void start();
  void stop();
  // Between start() and stop(); nothing where it could not be counted.
  std::optional<uint64_t> count() const { return count_; }
  // Why not.
  const std::string& reason() const { return reason_; }

 private:
  int descriptor_;
  std::optional<uint64_t> count_;
  std::string reason_;
};

}  // namespace bench
