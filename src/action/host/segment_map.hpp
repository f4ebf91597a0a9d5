// SegmentMap: the clients' shared memory, as the plugin host sees it: read-only.
//
// An address that was once given out stays readable as long as the process lives, so that a view that a plugin keeps
// never crashes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>

#include "base/status.hpp"

namespace tailrace::impl {

class SegmentMap {
 public:
  // Maps `bytes` of the file. What goes wrong is told by those who look for the segment.
  void add(uint64_t number, int fd, uint64_t bytes);
  // Puts zeros in its place.
  void forget(uint64_t number);
  // Fails if there is no such segment, or the range is not in it.
  Result<const std::byte*> find(uint64_t number, uint64_t offset, uint64_t length) const;

 private:
  std::map<uint64_t, std::span<const std::byte>> segments_;
};

}  // namespace tailrace::impl
