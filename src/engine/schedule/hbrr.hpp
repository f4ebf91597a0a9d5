// Hbrr: handle-based round robin. Requests of each file and direction (reads, writes) queue together, and the queues
// stand in a ring: the first one gives up to `quantum` requests, then it goes to the end.
//
// A batch, which is handed out together and may be joined, is of one queue and has at most `batch` requests. A queue
// that is alone goes on with its next quantum. These are the rules of IOFSL's merging scheduler; within a queue,
// requests keep their order here. An empty queue leaves the ring, and comes back at its end. Nothing is ever held
// for later. Fences pass at once, in their order, and count in no batch.
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <optional>
#include <unordered_map>

#include "engine/schedule/scheduler.hpp"

namespace tailrace::impl {

class Hbrr final : public Scheduler {
 public:
  struct Options {
    uint32_t quantum = 8;
    uint32_t batch = 16;
  };

  // Requires that neither option is 0.
  explicit Hbrr(Options options);

  void push(const Request* request) override;
  const Request* next(Nanoseconds now) override;
  // A batch has ended, and there are more requests: at once.
  std::optional<Nanoseconds> due() const override;

 private:
  struct Queue {
    uint64_t key = 0;
    uint32_t left = 0;  // of its quantum
    std::deque<const Request*> held;
  };

  const Request* give(Queue& queue);

  const Options options_;
  std::deque<const Request*> fences_;
  std::list<Queue> ring_;                         // no queue is empty; bounded by the number of requests
  std::unordered_map<uint64_t, Queue*> by_file_;  // those of the ring, by key
  uint32_t given_ = 0;                            // requests of this batch
  bool turned_ = false;                           // another queue is first since the batch began
};

}  // namespace tailrace::impl
