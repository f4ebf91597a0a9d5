#include "engine/execute/governor.hpp"

#include <algorithm>

namespace tailrace::impl {
namespace {

double seconds(Nanoseconds time) { return std::chrono::duration<double>(time).count(); }

double middle(std::vector<double> values) {
  const auto at = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

}  // namespace

std::optional<Nanoseconds> Governor::ended_iteration(const Now& now) {
  if (last_ && last_->client != now.client) return std::nullopt;
  const Nanoseconds length = last_ ? now.time - last_->time : Nanoseconds::zero();
  if (last_ && length > now.waited) measure(now);
  last_ = now;
  turn_ = turn_ + 1 == kRound ? kFirstRest - 1 : turn_ + 1;
  if (!rests(turn_)) return std::nullopt;
  return now.time + 2 * length;
}

// An iteration from last_ to `now` has been computed.
void Governor::measure(const Now& now) {
  const double length = seconds(now.time - last_->time);
  const double computing = length - seconds(now.waited);
  const double busy = seconds(now.busy - last_->busy);
  const auto bytes = static_cast<double>(now.bytes - last_->bytes);
  if (turn_ < kFirstRest - 1) return;  // the program, and its memory, are not warm yet
  if (rests(turn_)) {
    if (busy < kUndisturbed * length) resting_.push_back(computing);
    if (turn_ + 2 < kFirstRest + 2 * kRests || resting_.empty()) return;
    undisturbed_ = middle(resting_);
    gave_up_ = false;
    resting_.clear();
    return;
  }
  if (turn_ < kFirstRest + 2 * kRests) return;  // it had the bytes of two
  if (bytes == 0 || busy == 0) return;
  least_rate_ = bytes / (kFits * length);
  if (rate_ == Pace::kUnlimited) storage_rate_ = bytes / busy;
  beside_.push_back(computing);
  if (beside_.size() < kTogether) return;
  adjust();
  beside_.clear();
}

void Governor::adjust() {
  if (!undisturbed_ || storage_rate_ == 0 || gave_up_) return;
  const double computing = middle(beside_);
  if (fell_from_ && computing > kHelps * *fell_from_) {
    // Slower writing does no less harm to this program; a new round may find otherwise.
    rate_ = Pace::kUnlimited;
    gave_up_ = true;
    fell_from_.reset();
    return;
  }
  const double now = rate_ == Pace::kUnlimited ? storage_rate_ : static_cast<double>(rate_);
  const bool slowed = computing > (1 + kTolerated) * *undisturbed_;
  const double next = std::max(slowed ? kFall * now : now + kStep * storage_rate_, least_rate_);
  const bool fell_whole = slowed && next > least_rate_;  // a fall to the least says too little
  fell_from_ = fell_whole ? std::optional(computing) : std::nullopt;
  rate_ = next < storage_rate_ ? std::max(uint64_t{1}, static_cast<uint64_t>(next)) : Pace::kUnlimited;
}

}  // namespace tailrace::impl
