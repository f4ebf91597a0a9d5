// Sink: takes what an aggregator writes. A port.
#pragma once

#include <tailrace/tailrace.h>

#include <cstddef>
#include <optional>
#include <span>

namespace tailrace::collective {

class Sink {
 public:
  virtual ~Sink() = default;
  // Hands the bytes over; they may change when it returns.
  virtual void write(std::span<const tailrace_extent> extents, std::span<const std::byte> bytes) = 0;
  // Returns the first error of these writes (0: none) when all have ended; none before that.
  virtual std::optional<int> ended() = 0;
};

}  // namespace tailrace::collective
