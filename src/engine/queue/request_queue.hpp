// RequestQueue: the first stage. Holds every request that has not ended, and knows which must wait for which.
//
// A request is ready when all earlier requests that it conflicts with have ended. Between requests that do not
// conflict there is no order, so later stages may take the ready ones in any. Bounded; driven by the engine's thread.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "model/request.hpp"

namespace tailrace::impl {

class RequestQueue {
 public:
  explicit RequestQueue(uint32_t limit);

  // How many more requests can be held.
  uint32_t room() const { return static_cast<uint32_t>(free_slots_.size()); }
  bool empty() const { return free_slots_.size() == slots_.size(); }

  // Takes a request in; room() > 0. Returns it (with its slot) if it is ready at once, else null. The pointer is good
  // until finish().
  const Request* admit(Request request);

  // Ends a request: it leaves the queue, and those that only waited for it are appended to `ready`. Where a write
  // failed, `status` also becomes the end of every read that waited for its bytes (see inherited()).
  Request finish(uint32_t slot, const Status& status, std::vector<const Request*>& ready);

  // The failure of an earlier write that this read would have seen; ok for all others.
  const Status& inherited(uint32_t slot) const;

 private:
  struct Pending {
    Request request;
    bool held = false;
    uint32_t blockers = 0;             // earlier requests that have yet to end
    std::vector<uint32_t> dependents;  // slots of later requests that wait for this one
    Status inherited;
  };

  std::vector<Pending> slots_;
  std::vector<uint32_t> free_slots_;
  std::unordered_map<FileId, std::vector<uint32_t>> by_file_;  // slots in the order of admission
};

}  // namespace tailrace::impl
