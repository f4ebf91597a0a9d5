#include "storage/remote/forwarders/reach.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tailrace::impl {
namespace {

// If no forwarder can be reached, all are tried again for this time: connections may break in numbers.
constexpr Nanoseconds kPatience = std::chrono::seconds(10);
constexpr Nanoseconds kAtOnce = std::chrono::seconds(1);

}  // namespace

Reach::Perseverance::Perseverance(ForwarderSet& forwarders, Waits& waits)
    : forwarders_(forwarders), waits_(waits), until_(forwarders.now() + kPatience) {}

Task<bool> Reach::Perseverance::goes_on() {
  if (tries_++ < kTries) co_return true;
  if (forwarders_.now() >= until_) co_return false;
  Waits::Condition between = waits_.pause(kBetween);
  co_await between;
  co_return true;
}

// Tries to reach a forwarder. One that does not answer is left alone for as long as it took to learn that, so that
// each of many files does not wait for it.
Task<Status> Reach::once(size_t forwarder) {
  const Nanoseconds begun = forwarders_.now();
  forwarders_.connect(forwarder);
  Waits::Condition linked(waits_, [this, forwarder] { return !forwarders_.is_connecting(forwarder); });
  co_await linked;
  Status reached = forwarders_.connected(forwarder);
  const Nanoseconds now = forwarders_.now();
  if (!reached.ok()) {
    silent_[forwarder] = {now + (now - begun), reached.fault().message};
    co_return reached;
  }
  silent_.erase(forwarder);
  if (forwarders_.is_usable(forwarder) && !in_vain_.empty()) {
    in_vain_.clear();
    log_.info("the forwarder {} answers again", forwarders_.address(forwarder));
  }
  co_return reached;
}

bool Reach::is_silent(size_t forwarder) const {
  const auto found = silent_.find(forwarder);
  return found != silent_.end() && forwarders_.now() < found->second.until;
}

// Tries each forwarder. Those that were lost are tried last, once.
Task<std::optional<size_t>> Reach::from(size_t home) {
  const size_t count = on_loss_ == OnLoss::next ? forwarders_.size() : 1;
  for (int round = 0; round < (on_loss_ == OnLoss::next ? 2 : 1); ++round) {
    const bool lost = round == 1;
    for (size_t i = 0; i < count; ++i) {
      const size_t one = (home + i) % forwarders_.size();
      if (forwarders_.is_usable(one) == lost || is_silent(one)) continue;
      const Status reached = co_await once(one);
      if (!forwarders_.refusal().ok()) co_return std::nullopt;  // the list is wrong: no other may stand in
      if (!reached.ok() && complained_.insert(one).second) log_.warning("{}", reached.fault().message);
      if (!reached.ok()) continue;
      complained_.erase(one);
      if (forwarders_.is_usable(one)) co_return one;
    }
  }
  co_return std::nullopt;
}

// Tries all for kPatience; and for longer while one lives that is leaving, since another one may take its place. If
// that was in vain, they are tried once at each further call, until one answers.
Task<std::optional<size_t>> Reach::anyone(size_t home) {
  const Nanoseconds begun = forwarders_.now();
  Nanoseconds until = begun + kPatience;
  std::optional<size_t> found = co_await from(home);
  if (on_loss_ != OnLoss::next) co_return found;
  while (!found && in_vain_.empty() && forwarders_.refusal().ok()) {
    const bool any_leaves = co_await let_leaving_end_();
    if (any_leaves) until = forwarders_.now() + kPatience;
    if (forwarders_.now() >= until) {
      give_up(forwarders_.now() - begun);
      break;
    }
    Waits::Condition between = waits_.pause(kBetween);
    co_await between;
    found = co_await from(home);
  }
  co_return found;
}

void Reach::give_up(Nanoseconds after) {
  constexpr size_t kMostNamed = 8;
  std::string why;
  for (size_t i = 0; i < std::min(forwarders_.size(), kMostNamed); ++i) {
    const auto silent = silent_.find(i);
    why += fmt::format("; {}", silent != silent_.end() ? silent->second.why : forwarders_.address(i));
  }
  if (forwarders_.size() > kMostNamed) why += fmt::format("; and {} more", forwarders_.size() - kMostNamed);
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(after).count();
  in_vain_ = fmt::format("tried for {} s: {}", seconds, why.substr(2));
  log_.error("no forwarder answers, so what needs one fails until one answers: {}", in_vain_);
}

// Tries a forwarder once more whose link was lost. If the first new link breaks at once, tries another one.
Task<bool> Reach::again(size_t forwarder) {
  const Nanoseconds begun = forwarders_.now();
  Status reached = co_await once(forwarder);
  if (!reached.ok() && forwarders_.now() - begun < kAtOnce) reached = co_await once(forwarder);
  co_return reached.ok();
}

Task<bool> Reach::or_outlast(size_t forwarder) {
  while (!(forwarders_.is_over(forwarder) && is_silent(forwarder))) {
    const bool reached = co_await again(forwarder);
    if (reached) co_return true;
    if (forwarders_.is_over(forwarder) || !forwarders_.refusal().ok()) co_return false;
    Waits::Condition between = waits_.pause(kBetween);
    co_await between;
  }
  co_return false;
}

}  // namespace tailrace::impl
