#include "collective/read/collective_read.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

namespace tailrace::collective {
namespace {

constexpr size_t kAskedAtOnce = 2;  // requests to one aggregator without a reply

}  // namespace

CollectiveRead::CollectiveRead(Parts parts, const Contribution& mine, std::vector<int> nodes, const Options& options)
    : parts_(parts), mine_(mine), nodes_(std::move(nodes)), options_(options) {
  parts_.exchange.gather(mine_);
}

bool CollectiveRead::progress() {
  if (state_ == State::ended) return false;
  if (state_ == State::gathering && !plan()) return false;
  bool moved = false;
  for (Asking& asking : askings_) moved = ask(asking) || moved;
  if (reading_ != nullptr) moved = reading_->progress(parts_.exchange, parts_.source) || moved;
  for (Asking& asking : askings_) moved = hear(asking) || moved;
  if (!is_done()) return moved;
  state_ = State::ended;
  return true;
}

// Divides the work when all contributions are here.
bool CollectiveRead::plan() {
  const std::vector<Contribution>* const all = parts_.exchange.gathered();
  if (all == nullptr) return false;
  state_ = State::moving;
  const uint32_t rank = parts_.exchange.rank();
  const Plan plan(*all, nodes_, options_);
  individual_ = plan.algorithm() == Algorithm::individual;
  for (const Stream& stream : plan.from(rank)) {
    askings_.push_back({Requests(parts_.own, stream, options_.cycle_bytes), {}});
  }
  std::vector<Stream> streams = plan.to(rank);
  if (!streams.empty()) reading_ = std::make_unique<Reading>(std::move(streams), options_.cycle_bytes);
  return true;
}

bool CollectiveRead::ask(Asking& asking) {
  bool moved = false;
  const uint32_t rank = parts_.exchange.rank();
  while (!asking.requests.has_ended() && asking.asked.size() < kAskedAtOnce) {
    if (is_own(asking) && !reading_->wants_own(rank)) break;
    Requests::Asked asked;
    Message request = asking.requests.next(asked);
    if (is_own(asking)) {
      reading_->ask_self(rank, request);
    } else {
      parts_.exchange.send(Kind::to_aggregator, asking.requests.aggregator(), std::move(request));
    }
    if (asked.length > 0) asking.asked.push_back(asked);
    moved = true;
  }
  return moved;
}

bool CollectiveRead::hear(Asking& asking) {
  bool moved = false;
  while (!asking.asked.empty()) {
    const std::optional<Message> reply = is_own(asking)
                                             ? reading_->self_reply()
                                             : parts_.exchange.receive(Kind::to_member, asking.requests.aggregator());
    if (!reply.has_value()) break;
    ReplyHeader header;
    std::memcpy(&header, reply->data(), sizeof header);
    parts_.own.store(asking.asked.front().begin, header.bytes, reply->data() + sizeof header);
    if (error_ == 0) error_ = static_cast<int>(header.error);
    bytes_ += header.bytes;
    asking.asked.pop_front();
    moved = true;
  }
  return moved;
}

bool CollectiveRead::is_done() const {
  return (reading_ == nullptr || reading_->has_ended()) && parts_.exchange.all_sent() &&
         std::all_of(askings_.begin(), askings_.end(),
                     [](const Asking& asking) { return asking.requests.has_ended() && asking.asked.empty(); });
}

}  // namespace tailrace::collective
