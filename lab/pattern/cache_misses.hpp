// CacheMisses: counts the cache misses of the process and of threads that it starts later, if the machine has
// counters and the system allows it.
//
// It never fails: it reports what it cannot count, with the reason.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace bench {

class CacheMisses {
 public:
  // Construct it before the threads to be counted start.
  CacheMisses();
  CacheMisses(const CacheMisses&) = delete;
  CacheMisses& operator=(const CacheMisses&) = delete;
  ~CacheMisses();

  void start();
  void stop();
  // Returns the count between start() and stop(); nothing if it could not count.
  std::optional<uint64_t> count() const { return count_; }
  // Returns why it could not.
  const std::string& reason() const { return reason_; }

 private:
  int descriptor_;
  std::optional<uint64_t> count_;
  std::string reason_;
};

}  // namespace bench
