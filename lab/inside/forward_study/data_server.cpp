#include "lab/inside/forward_study/data_server.hpp"

#include <algorithm>
#include <utility>

namespace tailrace::impl::study {

DataServer::DataServer(EventQueue& events, const Parameters& parameters)
    : events_(events),
      parameters_(parameters.servers),
      in_(parameters.network),
      out_(parameters.network),
      disk_(parameters.disk) {}

void DataServer::send(Work work) {
  const Nanoseconds there = in_.pass(events_.now(), work.writes ? work.bytes : 0) + parameters_.request;
  events_.at(there, [this, work = std::move(work)]() mutable {
    queue_.push_back(std::move(work));
    peak_ = std::max(peak_, queued());
    if (!busy_) begin();
  });
}

void DataServer::begin() {
  const auto chosen = queue_.begin() + static_cast<ptrdiff_t>(choose());
  Work work = std::move(*chosen);
  queue_.erase(chosen);
  busy_ = true;
  const Nanoseconds time = disk_.serve(work.position, work.bytes);
  events_.at(events_.now() + time, [this, work = std::move(work)]() mutable { end(std::move(work)); });
}

// Returns the index of the request with the least position from the head on; if there is none, of the least.
size_t DataServer::choose() const {
  const size_t candidates = std::min<size_t>(queue_.size(), parameters_.reorder);
  const auto turns_back = [this](size_t index) { return queue_[index].position < disk_.head(); };
  size_t best = 0;
  for (size_t index = 1; index < candidates; ++index) {
    const auto key = std::pair(turns_back(index), queue_[index].position);
    if (key < std::pair(turns_back(best), queue_[best].position)) best = index;
  }
  return best;
}

void DataServer::end(Work work) {
  const Nanoseconds there = out_.pass(events_.now(), work.writes ? 0 : work.bytes);
  events_.at(there, std::move(work.ended));
  busy_ = false;
  if (!queue_.empty()) begin();
}

}  // namespace tailrace::impl::study
