// Aggregator: makes large pieces of a file from the parts that its members send. Pure.
//
// Each member's stream ascends. The aggregator merges the streams. A byte of the file is complete when every member
// is past it, so the merging goes on only while each member that has not ended has a part. It gives out cycles: the
// data of a range of the file, cycle_bytes of them.
//
// With static segmentation, a cycle is one part of each member, whichever range they have.
//
// Where members overlap, the bytes of one of them are written; MPI leaves undefined which (MPI 3.1, §13.6.1).
#pragma once

#include <tailrace/tailrace.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "collective/write/part.hpp"

namespace tailrace::collective {

class Aggregator {
 public:
  // The data of a cycle: the extents ascend and do not touch one another; the bytes follow one another.
  struct Cycle {
    std::vector<tailrace_extent> extents;
    std::vector<std::byte> bytes;
  };

  Aggregator(size_t members, uint64_t cycle_bytes, bool is_static);

  // Returns true if the next part of the member should be received now.
  bool wants(size_t member) const {
    return !members_[member].last_came && members_[member].parts.size() < kPartsAhead;
  }
  void take(size_t member, Message message);

  // Continues the merging. Returns true if cycle() is to be written; then call it again.
  bool advance();
  const Cycle& cycle() const { return cycle_; }
  // Returns true when all members' bytes have been given out.
  bool has_ended() const { return unfinished_ == 0; }

 private:
  static constexpr size_t kPartsAhead = 2;

  struct Member {
    std::deque<Part> parts;
    uint64_t piece = 0;      // the next piece of the first part
    uint64_t used = 0;       // bytes of that piece that are used up
    uint64_t read = 0;       // bytes of the first part that are used up
    bool last_came = false;  // its last part has come
    bool ended = false;      // ... and is used up
  };
  // The next bytes of a member that has some.
  struct Next {
    uint64_t offset = 0;
    size_t member = 0;
    // For a heap whose first element has the lowest offset.
    bool operator<(const Next& other) const {
      return offset != other.offset ? offset > other.offset : member > other.member;
    }
  };

  bool begin_round();
  bool merge();
  void merge_first();
  bool enter(size_t member);
  bool move_on(size_t member, Next& next);
  bool finish_part(size_t member);
  void use(Member& member, const tailrace_extent& piece);
  void append(uint64_t offset, const std::byte* bytes, uint64_t length);

  const uint64_t cycle_bytes_;
  const bool is_static_;
  std::vector<Member> members_;
  std::vector<Next> heap_;  // the members that take part in the merging now
  size_t waiting_;          // members that have not ended, and take no part for lack of bytes
  size_t unfinished_;       // members that have not ended
  bool in_round_ = false;   // with static segmentation: a cycle has been begun
  bool is_given_ = false;   // the cycle has been given out
  uint64_t end_ = 0;        // bytes below this offset are in this cycle, or an earlier one
  Cycle cycle_;
};

}  // namespace tailrace::collective
