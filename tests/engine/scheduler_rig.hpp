// SchedulerRig: requests with tokens 1, 2, 3, …, and batches of them as a scheduler hands them out. It stands in for
// the engine: it passes the time in, asks until nothing comes, and reports the ends.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "engine/schedule/scheduler.hpp"

namespace tailrace::impl {

using Tokens = std::vector<uint64_t>;

class SchedulerRig {
 public:
  explicit SchedulerRig(Scheduler& scheduler) : scheduler_(scheduler) {}

  // Pushes a write of `bytes` of the file to the server. Returns its token.
  uint64_t push(FileId file, uint32_t server = 0, Operation operation = Operation::write, uint64_t bytes = 1) {
    Request& request = requests_.emplace_back();
    request.operation = operation;
    request.file = file;
    request.server = server;
    if (request.moves_bytes()) request.pieces = {{{0, bytes}, nullptr}};
    request.token = requests_.size();
    request.slot = static_cast<uint32_t>(requests_.size() - 1);
    scheduler_.push(&request);
    return request.token;
  }
  uint64_t push_read(FileId file) { return push(file, 0, Operation::read); }
  uint64_t push_fence(FileId file) { return push(file, 0, Operation::sync); }

  // Returns what goes together at that time.
  Tokens ask(Nanoseconds now) {
    Tokens taken;
    while (const Request* request = scheduler_.next(now)) taken.push_back(request->token);
    return taken;
  }
  // Returns all that goes at that time, batch by batch.
  std::vector<Tokens> ask_on(Nanoseconds now) {
    std::vector<Tokens> batches;
    for (Tokens batch = ask(now); !batch.empty(); batch = ask(now)) batches.push_back(std::move(batch));
    return batches;
  }

  void end(uint64_t token, Nanoseconds now) {
    Request& request = requests_[token - 1];
    request.course.ended = now;
    scheduler_.ended(request);
  }

  const Request& of(uint64_t token) const { return requests_[token - 1]; }
  uint64_t pushed() const { return requests_.size(); }

 private:
  Scheduler& scheduler_;
  std::deque<Request> requests_;
};

// Returns the tokens from `first` to `last`.
inline Tokens tokens(uint64_t first, uint64_t last) {
  Tokens all;
  for (uint64_t token = first; token <= last; ++token) all.push_back(token);
  return all;
}

}  // namespace tailrace::impl
