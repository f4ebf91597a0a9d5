// Operations: the operations on files and names that the storage carries out for the engine. It begins as many at
// once as the back end has use for, the others in order, and asks before each whether its client's may begin.
//
// It knows neither requests nor files: it calls the submitter when an operation ends. One thread, the engine's.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "engine/execute/executor.hpp"
#include "storage/storage.hpp"

namespace tailrace::impl {

class Operations {
 public:
  // Takes the end of an operation, once. May submit others.
  using Then = std::function<void(FileOperationEnd& end)>;

  // Borrows the storage.
  explicit Operations(Storage& storage) : storage_(storage) {}

  // See Engine::fence_by(). An operation that may not begin ends as withdrawn().
  void fence_by(Executor::MayBegin may_begin) { may_begin_ = std::move(may_begin); }
  // `client`: for whom it is; 0: it begins in any case. progress() calls `then`, never submit() itself.
  void submit(FileOperation operation, uint32_t client, Then then);
  // Takes ends, and begins what waits. Returns true if any operation has ended.
  bool progress();
  bool idle() const { return under_way_ == 0 && waiting_.empty() && withdrawn_.empty(); }

 private:
  struct Waiting {
    FileOperation operation;
    uint32_t client = 0;
    Then then;
  };

  void begin(Waiting one);
  bool end_withdrawn();

  Storage& storage_;
  Executor::MayBegin may_begin_;
  std::deque<Waiting> waiting_;
  std::deque<Then> withdrawn_;
  std::vector<Then> then_;      // of those under way, by tag
  std::vector<uint64_t> free_;  // tags
  size_t under_way_ = 0;
};

}  // namespace tailrace::impl
