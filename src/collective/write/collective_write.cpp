#include "collective/write/collective_write.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tailrace::collective {
namespace {

constexpr size_t kUnsentAtOnce = 2;  // parts that are being sent to one aggregator
constexpr uint64_t kSmallestPart = uint64_t{64} << 10;
constexpr uint64_t kLargestPart = uint64_t{256} << 10;

// All members' parts together fill a cycle, if they can.
uint64_t part_bytes(uint64_t cycle_bytes, size_t members) {
  return std::clamp(cycle_bytes / std::max<size_t>(members, 1), kSmallestPart, kLargestPart);
}

}  // namespace

CollectiveWrite::CollectiveWrite(Parts parts, const Contribution& mine, std::vector<int> nodes,
                                 const Options& options)
    : parts_(parts), mine_(mine), nodes_(std::move(nodes)), options_(options) {
  parts_.exchange.gather(mine_);
}

bool CollectiveWrite::progress() {
  if (state_ == State::ended) return false;
  if (state_ == State::gathering && !plan()) return false;
  bool moved = send_own();
  moved = send() || moved;
  if (aggregation_ != nullptr) moved = aggregation_->progress(parts_.exchange, parts_.sink) || moved;
  moved = hear_ends() || moved;
  if (!is_done()) return moved;
  if (aggregation_ != nullptr && own_sender_.has_value() && error_ == 0) error_ = aggregation_->error();
  state_ = State::ended;
  return true;
}

// Divides the work when all contributions are here.
bool CollectiveWrite::plan() {
  const std::vector<Contribution>* const all = parts_.exchange.gathered();
  if (all == nullptr) return false;
  state_ = State::moving;
  const uint32_t rank = parts_.exchange.rank();
  const Plan plan(*all, nodes_, options_);
  individual_ = plan.algorithm() == Algorithm::individual;
  const uint64_t most = part_bytes(options_.cycle_bytes, plan.members_with(rank));
  for (const Stream& stream : plan.from(rank)) {
    Sender sender(parts_.own, stream, most);
    if (stream.aggregator == rank) {
      own_sender_.emplace(std::move(sender));
    } else {
      awaited_.push_back(stream.aggregator);
      senders_.push_back(std::move(sender));
    }
  }
  std::vector<Stream> streams = plan.to(rank);
  if (!streams.empty()) {
    aggregation_ = std::make_unique<Aggregation>(std::move(streams), options_.cycle_bytes,
                                                 plan.algorithm() == Algorithm::static_);
  }
  return true;
}

bool CollectiveWrite::send() {
  bool moved = false;
  for (Sender& sender : senders_) {
    while (!sender.has_ended() && parts_.exchange.unsent(sender.aggregator()) < kUnsentAtOnce) {
      parts_.exchange.send(Kind::to_aggregator, sender.aggregator(), sender.next());
      moved = true;
    }
  }
  return moved;
}

bool CollectiveWrite::send_own() {
  bool moved = false;
  const uint32_t rank = parts_.exchange.rank();
  while (own_sender_.has_value() && !own_sender_->has_ended() && aggregation_->wants_own(rank)) {
    aggregation_->take_own(rank, own_sender_->next());
    moved = true;
  }
  return moved;
}

bool CollectiveWrite::hear_ends() {
  const size_t before = awaited_.size();
  std::erase_if(awaited_, [this](uint32_t aggregator) {
    const std::optional<Message> end = parts_.exchange.receive(Kind::to_member, aggregator);
    if (!end.has_value()) return false;
    int error = 0;
    std::memcpy(&error, end->data(), sizeof error);
    if (error_ == 0) error_ = error;
    return true;
  });
  return awaited_.size() != before;
}

bool CollectiveWrite::is_done() const {
  return awaited_.empty() && (aggregation_ == nullptr || aggregation_->has_ended()) &&
         std::all_of(senders_.begin(), senders_.end(), [](const Sender& sender) { return sender.has_ended(); }) &&
         parts_.exchange.all_sent();
}

}  // namespace tailrace::collective
