// Source: what an aggregator reads from. A port.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tailrace::collective {

class Source {
 public:
  struct End {
    uint64_t bytes = 0;  // fewer than asked for: the file ends behind them
    int error = 0;       // 0: none
  };

  virtual ~Source() = default;
  // Reads the bytes of the file from `offset` on.
  virtual End read(uint64_t offset, std::span<std::byte> to) = 0;
};

}  // namespace tailrace::collective
