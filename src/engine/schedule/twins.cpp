#include "engine/schedule/twins.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "engine/schedule/take_first.hpp"

namespace tailrace::impl {
namespace {

// A queue may be passed over for this many rounds, and for at least this long: short windows are missed by chance.
constexpr int kPatience = 2;
constexpr Nanoseconds kLeastPatience = std::chrono::milliseconds(100);

}  // namespace

Twins::Twins(const Options& options)
    : options_(options),
      window_(options.window),
      queues_(std::max(options.servers, 1U)),
      order_(options.forwarder, std::max(options.servers, 1U)) {
  TAILRACE_REQUIRE(options.servers <= kMostServers && options.batch > 0);
  TAILRACE_REQUIRE(options.window >= Nanoseconds::zero());
}

void Twins::push(const Request* request) {
  if (request->is_fence()) return fences_.push_back(request);
  const uint32_t server = server_of(*request);
  if (window_ == Nanoseconds::zero()) return free_.push_back(request);
  queues_[server].held.push_back(request);
  ++held_;
}

// Returns the server in whose windows the request leaves. If it is a new one, there is one visit more in each round.
uint32_t Twins::server_of(const Request& request) {
  const uint32_t server = request.server % (options_.servers > 0 ? options_.servers : kMostServers);
  if (server >= servers()) {
    queues_.resize(size_t{server} + 1);
    order_ = ServerOrder(options_.forwarder, servers());
  }
  return server;
}

int64_t Twins::turn_at(Nanoseconds time) const {
  const Nanoseconds since = time - options_.origin;
  const int64_t turn = since / window_;
  return since % window_ < Nanoseconds::zero() ? turn - 1 : turn;
}

const Request* Twins::next(Nanoseconds now) {
  now_ = std::max(now_, now);
  if (hurry_) hurried_until_ = now_ + round();
  hurry_ = false;
  if (!fences_.empty()) return take_first(fences_);
  if (held_ > 0) look();
  const std::optional<uint32_t> server = choose();
  const bool continues = given_ == 0 || (given_ < options_.batch && server == giving_);
  if (!server || !continues) {
    given_ = 0;
    return nullptr;
  }
  ++given_;
  giving_ = *server;
  return give(*server);
}

// Finds the queues that have been passed by for too long, once in each window.
void Twins::look() {
  const int64_t turn = turn_at(now_);
  if (looked_ && turn == turn_) return;
  looked_ = true;
  turn_ = turn;
  const Nanoseconds patience = std::max(kPatience * round(), kLeastPatience);
  for (uint32_t ahead = 0; ahead < servers(); ++ahead) {
    const uint32_t server = order_.at(turn_ + ahead);
    Queue& queue = queues_[server];
    if (queue.held.empty() || queue.late) continue;
    if (!queue.seen) queue.seen = now_;
    queue.late = now_ - *queue.seen > patience;
    if (queue.late) late_.push_back(server);
  }
}

// Returns the server whose requests may leave now; none: nobody's.
std::optional<uint32_t> Twins::choose() const {
  if (!free_.empty()) return kNoWindow;
  if (held_ == 0) return std::nullopt;
  if (!late_.empty()) return late_.front();
  const uint32_t windows = now_ < hurried_until_ ? servers() : 1;
  for (uint32_t ahead = 0; ahead < windows; ++ahead) {
    const uint32_t server = order_.at(turn_ + ahead);
    if (!queues_[server].held.empty()) return server;
  }
  return std::nullopt;
}

const Request* Twins::give(uint32_t server) {
  if (server == kNoWindow) return take_first(free_);
  Queue& queue = queues_[server];
  const Request* const request = take_first(queue.held);
  --held_;
  queue.seen.reset();
  // A batch out of turn makes up for all that was missed.
  if (queue.late && (queue.held.empty() || given_ == options_.batch)) {
    queue.late = false;
    late_.pop_front();
  }
  return request;
}

std::optional<Nanoseconds> Twins::due() const {
  if (!fences_.empty() || !free_.empty() || !late_.empty()) return Nanoseconds::zero();
  if (held_ == 0) return std::nullopt;
  if (hurry_ || now_ < hurried_until_ || !looked_) return Nanoseconds::zero();
  for (uint32_t ahead = 0; ahead < servers(); ++ahead) {
    if (!queues_[order_.at(turn_ + ahead)].held.empty()) return begin_of(turn_ + ahead);
  }
  TAILRACE_ASSERT(false);
}

void Twins::set_window(Nanoseconds window) {
  TAILRACE_REQUIRE(window >= Nanoseconds::zero());
  window_ = window;
  looked_ = false;
  if (window_ > Nanoseconds::zero()) return;
  for (Queue& queue : queues_) release(queue);
  held_ = 0;
  late_.clear();
}

void Twins::release(Queue& queue) {
  free_.insert(free_.end(), queue.held.begin(), queue.held.end());
  queue = {};
}

}  // namespace tailrace::impl
