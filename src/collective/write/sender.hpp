// Sender: cuts one stream of a process into parts.
#pragma once

#include <algorithm>
#include <cstdint>

#include "collective/plan.hpp"
#include "collective/write/own_data.hpp"
#include "collective/write/part.hpp"

namespace tailrace::collective {

class Sender {
 public:
  // `part_bytes`: data of a part.
  Sender(const OwnData& own, const Stream& stream, uint64_t part_bytes)
      : own_(&own),
        aggregator_(stream.aggregator),
        part_bytes_(part_bytes),
        at_(own.below(stream.begin)),
        end_(own.below(stream.end)) {}

  uint32_t aggregator() const { return aggregator_; }
  bool has_ended() const { return ended_; }
  // Returns the next part. The last one may be empty.
  Message next() {
    const uint64_t length = std::min(part_bytes_, end_ - at_);
    const uint64_t begin = at_;
    at_ += length;
    ended_ = at_ == end_;
    return make_part(*own_, begin, length, ended_);
  }

 private:
  const OwnData* own_;
  uint32_t aggregator_;
  uint64_t part_bytes_;
  uint64_t at_;  // in the process's data
  uint64_t end_;
  bool ended_ = false;
};

}  // namespace tailrace::collective
