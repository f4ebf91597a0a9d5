#include "engine/schedule/hbrr.hpp"

#include "base/assert.hpp"
#include "engine/schedule/take_first.hpp"

namespace tailrace::impl {
namespace {

uint64_t key_of(const Request& request) {
  return uint64_t{request.file} << 1 | (request.operation == Operation::write ? 1 : 0);
}

}  // namespace

Hbrr::Hbrr(Options options) : options_(options) { TAILRACE_REQUIRE(options.quantum > 0 && options.batch > 0); }

void Hbrr::push(const Request* request) {
  if (request->is_fence()) return fences_.push_back(request);
  Queue*& queue = by_file_[key_of(*request)];
  if (queue == nullptr) {
    ring_.push_back({.key = key_of(*request), .left = options_.quantum, .held = {}});
    queue = &ring_.back();
  }
  queue->held.push_back(request);
}

const Request* Hbrr::next(Nanoseconds /*now*/) {
  if (!fences_.empty()) return take_first(fences_);
  if (ring_.empty() || given_ == options_.batch || turned_) {
    given_ = 0;
    turned_ = false;
    return nullptr;
  }
  ++given_;
  return give(ring_.front());
}

const Request* Hbrr::give(Queue& queue) {
  const Request* const request = take_first(queue.held);
  if (queue.held.empty()) {
    by_file_.erase(queue.key);
    ring_.pop_front();
    turned_ = true;
  } else if (--queue.left == 0) {
    queue.left = options_.quantum;
    turned_ = ring_.size() > 1;
    ring_.splice(ring_.end(), ring_, ring_.begin());
  }
  return request;
}

std::optional<Nanoseconds> Hbrr::due() const {
  if (fences_.empty() && ring_.empty()) return std::nullopt;
  return Nanoseconds::zero();
}

}  // namespace tailrace::impl
