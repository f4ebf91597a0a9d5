// TraceLog: records the events of one thread with their times, for a picture of the run. In memory until the end.
//
// Its memory is bounded and allocated at the start; events beyond the limit are only counted. Off unless the
// configuration enables it; recording an event then costs a comparison and a few stores.
#pragma once

#include <cstdint>
#include <vector>

#include "base/clock.hpp"

namespace tailrace::impl {

struct TraceEvent {
  enum class What : uint8_t {
    // the client's thread
    write,
    alloc,
    commit,
    borrow,
    end_iteration,
    wait_ticket,
    wait_memory,  // also for room in the queue; happens inside another event
    flush,
    read,
    close,
    file_open,
    file_write,
    file_read,
    file_sync,
    file_close,
    // the server's thread
    block,  // start: handed over; begun: first transfer; end: written; also a file_write
    publish
  };
  What what = What::write;
  bool in_pool = false;    // block: it was in memory of the pool
  bool failed = false;     // block, publish
  bool merged = false;     // block: it was written together with others
  uint32_t file = 0;       // raw files: the client's number of the file
  uint32_t variable = 0;   // kNone: no variable
  int64_t iteration = -1;  // -1: no iteration
  uint64_t bytes = 0;      // block: its bytes
  Nanoseconds start{0};
  Nanoseconds begun{0};
  Nanoseconds end{0};

  static constexpr uint32_t kNone = UINT32_MAX;
};

class TraceLog {
 public:
  // Records at most `limit` events; 0 disables the log.
  explicit TraceLog(size_t limit) : limit_(limit) { events_.reserve(limit); }

  bool on() const { return limit_ > 0; }
  void add(const TraceEvent& event) {
    if (events_.size() < limit_) {
      events_.push_back(event);
    } else if (on()) {
      ++lost_;
    }
  }

  const std::vector<TraceEvent>& events() const { return events_; }
  uint64_t lost() const { return lost_; }

 private:
  const size_t limit_;
  std::vector<TraceEvent> events_;
  uint64_t lost_ = 0;
};

}  // namespace tailrace::impl
