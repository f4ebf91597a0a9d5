// WriteBehind: decides which bytes in the page cache the system begins to write to the device, before anybody asks.
//
// By itself the system does so after half a minute, or at a sync, which then waits for all of them. Here a file's
// bytes go to the device while the program computes, and stay in the page cache for readers. Bytes that were written
// near each other form a range. A range of kFrom bytes or more is worth an operation of the storage. Few are under
// way at a time, one on each file: other operations wait for a thread, and if the device is slow, ranges grow
// meanwhile. What lies far from the rest, and what is little, is left to the system. So are files that are closed
// soon after they were written: perhaps they are removed or replaced next, which would wait for bytes on their way.
//
// One thread, the engine's.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/clock.hpp"
#include "model/request.hpp"
#include "storage/file_system.hpp"

namespace tailrace::impl {

class WriteBehind {
 public:
  static constexpr uint64_t kFrom = uint64_t{1} << 20;     // bytes; less is not worth an operation
  static constexpr uint64_t kLargest = uint64_t{2} << 20;  // bytes of one operation: a close waits for it
  static constexpr uint64_t kSparsest = 4;                 // a range has at most this many times its written bytes

  static constexpr Nanoseconds kAge = std::chrono::milliseconds(20);  // after a file's first write: none earlier

  static constexpr size_t kAtOnce = 2;  // operations

  struct Next {
    FileHandle file = 0;
    Extent extent;
  };

  // Notes that bytes of the file have come into the page cache.
  void note(FileHandle file, const Extent& written, Nanoseconds now);
  // Returns an operation that can begin now; none: there is no other. `computing`: no client and no request waits. If
  // one does, only files continue of which an operation began before, while none did. What is not old enough begins
  // at a later call, for which nobody need wake.
  std::optional<Next> next(Nanoseconds now, bool computing);
  // Notes that the file's operation has ended.
  void ended(FileHandle file);
  // Forgets the file, which is about to be closed. Calls `then` when no operation of it is under way: at once, or in
  // ended().
  void forget(FileHandle file, std::function<void()> then);

 private:
  struct Dirty {
    Extent range;                     // what was written and is not on its way lies there
    uint64_t bytes = 0;               // of the range, as far as they were written, each time that they were
    Nanoseconds since{0};             // the file's first write
    bool under_way = false;           // an operation
    bool listed = false;              // in due_
    bool lasts = false;               // an operation began while the program computed
    std::function<void()> then = {};  // set: the file is forgotten when that operation has ended
  };

  // Returns true if the file's operations may begin although something waits, or its bytes are young.
  static bool may_begin(const Dirty& dirty, Nanoseconds now, bool computing) {
    return dirty.lasts || (computing && now - dirty.since >= kAge);
  }
  static bool is_due(const Dirty& dirty) { return !dirty.under_way && dirty.bytes >= kFrom; }
  void list_if_due(FileHandle file, Dirty& dirty);

  std::unordered_map<FileHandle, Dirty> files_;
  size_t under_way_ = 0;         // operations
  std::vector<FileHandle> due_;  // all files for which is_due() is true, and perhaps others
};

}  // namespace tailrace::impl
