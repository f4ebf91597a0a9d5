// SegmentMap: the plugin host's read-only view of the clients' shared memory.
//
// An address once returned stays readable for the life of the process, so that a view that a plugin keeps never
// crashes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>

#include "base/status.hpp"

namespace tailrace::impl {

class SegmentMap {
 public:
  // Maps `bytes` of the file. If that fails, find() reports the missing segment.
  void add(uint64_t number, int fd, uint64_t bytes);
  // Replaces the memory by zeros.
  void forget(uint64_t number);
  // Returns the address of a range. Fails if there is no such segment, or if the range exceeds it.
  Result<const std::byte*> find(uint64_t number, uint64_t offset, uint64_t length) const;

 private:
  std::map<uint64_t, std::span<const std::byte>> segments_;
};

}  // namespace tailrace::impl
