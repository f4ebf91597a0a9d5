// Send and Receive: what UCX works on, kept until it has ended; and Reused, where they come from.
#pragma once

#include <ucp/api/ucp.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/status.hpp"
#include "transport/ucx/message_wire.hpp"
#include "transport/ucx/peer.hpp"

namespace tailrace::impl {

class Messages;

struct Send {
  Messages* owner = nullptr;
  Peer* peer = nullptr;
  uint64_t tag = 0;
  bool is_welcome = false;  // our own: its end is not reported
  uint32_t parts = 0;       // active messages that have not ended
  Status status = {};       // of the first part that failed
  std::vector<std::byte> head = {};
  SplitWire split = {};
  std::vector<ucp_dt_iov_t> segments = {};
};

struct Receive {
  Messages* owner = nullptr;
  Peer* peer = nullptr;
  uint64_t tag = 0;
};

// Objects that are used again and again, so that their memory is not taken each time. Keeps as many as were in use
// at once.
template <class T>
class Reused {
 public:
  // Returns an object with what its last user left in it.
  T& take() {
    if (free_.empty()) {
      all_.push_back(std::make_unique<T>());
      return *all_.back();
    }
    T& object = *free_.back();
    free_.pop_back();
    return object;
  }
  void give_back(T& object) { free_.push_back(&object); }

 private:
  std::vector<std::unique_ptr<T>> all_;
  std::vector<T*> free_;
};

}  // namespace tailrace::impl
