// Fifo: the simplest scheduler. Ready requests leave in the order in which they became ready.
#pragma once

#include <deque>

#include "engine/schedule/scheduler.hpp"

namespace tailrace::impl {

class Fifo final : public Scheduler {
 public:
  void push(const Request* request) override { ready_.push_back(request); }

  const Request* next(Nanoseconds /*now*/) override {
    if (ready_.empty()) return nullptr;
    const Request* first = ready_.front();
    ready_.pop_front();
    return first;
  }

 private:
  std::deque<const Request*> ready_;  // the queue before it bounds its length
};

}  // namespace tailrace::impl
