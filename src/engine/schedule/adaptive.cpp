#include "engine/schedule/adaptive.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace tailrace::impl {
namespace {

constexpr uint32_t kRounds = 4;  // of visits to all servers in a trial, within these limits
constexpr Nanoseconds kLeastTrial = std::chrono::milliseconds(100);
constexpr Nanoseconds kMostTrial = std::chrono::seconds(2);
constexpr int kSettling = 4;       // the first 1/kSettling of a trial is not measured
constexpr uint64_t kCurious = 10;  // per cent of trials try another window than the best
constexpr int kNewest = 4;         // weight of the latest measurement in an estimate: 1/kNewest
constexpr double kChange = 1.4;    // a rate that differs by this factor …
constexpr uint32_t kStrikes = 2;   // … this many times in succession mean that everything has changed
constexpr uint64_t kHold = 4;      // cycles of trials between one renewal and the next

uint64_t bytes_of(const Request& request) {
  uint64_t bytes = 0;
  for (const Piece& piece : request.pieces) bytes += piece.extent.length;
  return bytes;
}

bool differs(double one, double other) { return one * kChange < other || other * kChange < one; }

// Returns a number that looks random, the same one for the same arguments (SplitMix64).
uint64_t die(uint64_t seed, uint64_t number) {
  uint64_t bits = seed + (number + 1) * 0x9e3779b97f4a7c15U;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9U;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebU;
  return bits ^ (bits >> 31);
}

Twins::Options without_windows(Twins::Options options) {
  options.window = Nanoseconds::zero();
  return options;
}

}  // namespace

std::vector<Nanoseconds> Adaptive::usual_windows() {
  std::vector<Nanoseconds> windows = {Nanoseconds::zero()};
  for (Nanoseconds window = std::chrono::microseconds(125); window <= std::chrono::milliseconds(32); window *= 2) {
    windows.push_back(window);
  }
  return windows;
}

Adaptive::Adaptive(const Options& options) : options_(options), twins_(without_windows(options.twins)) {
  TAILRACE_REQUIRE(!options.windows.empty());
  for (const Nanoseconds window : options.windows) {
    TAILRACE_REQUIRE(window >= Nanoseconds::zero());
    arms_.emplace_back().choice.window = window;
  }
}

void Adaptive::push(const Request* request) {
  if (here_.size() <= request->slot) here_.resize(size_t{request->slot} + 1);
  here_[request->slot] = true;
  ++under_way_;
  twins_.push(request);
}

const Request* Adaptive::next(Nanoseconds now) {
  pass(now);
  busy_ = under_way_ > 0;
  return twins_.next(now_);
}

void Adaptive::ended(const Request& request) {
  if (request.slot >= here_.size() || !here_[request.slot]) return;
  pass(request.course.ended);
  here_[request.slot] = false;
  busy_ = --under_way_ > 0;
  if (!was_used_ || now_ < measured_from_) return;
  Arm& arm = arms_[used_];
  arm.bytes += bytes_of(request);
  arm.choice.bytes += bytes_of(request);
}

// Passes the time, which belongs to the present trial until it is noticed that it is over.
void Adaptive::pass(Nanoseconds now) {
  if (now > now_) {
    const Nanoseconds from = std::max(now_, measured_from_);
    if (busy_ && now > from) {
      arms_[used_].busy += now - from;
      arms_[used_].choice.busy += now - from;
    }
    now_ = now;
  }
  if (now_ < trial_end_) return;
  if (was_used_) estimate(arms_[used_]);
  begin(trial_at(now_));
}

Nanoseconds Adaptive::length_of(Nanoseconds window) const {
  return std::clamp(kRounds * twins_.servers() * window, kLeastTrial, kMostTrial);
}

// Trials lie on a grid of time, a cycle of them after the other.
Adaptive::Trial Adaptive::trial_at(Nanoseconds time) const {
  Nanoseconds cycle{0};
  for (const Arm& arm : arms_) cycle += length_of(arm.choice.window);
  const Nanoseconds since = time - options_.twins.origin;
  Nanoseconds within = since % cycle;
  if (within < Nanoseconds::zero()) within += cycle;
  Nanoseconds end = time - within;
  Trial trial{.number = static_cast<uint64_t>((since - within) / cycle) * arms_.size(), .arm = 0, .end = {}};
  for (size_t arm = 0; arm < arms_.size(); ++arm) {
    end += length_of(arms_[arm].choice.window);
    if (time < end) return {.number = trial.number + arm, .arm = arm, .end = end};
  }
  TAILRACE_ASSERT(false);
}

void Adaptive::begin(const Trial& trial) {
  const size_t chosen = choose(trial);
  const bool changes = !was_used_ || chosen != used_;
  used_ = chosen;
  was_used_ = true;
  trial_end_ = trial.end;
  measured_from_ = changes ? now_ + (trial.end - now_) / kSettling : now_;
  ++trials_;
  ++arms_[used_].choice.trials;
  if (changes) twins_.set_window(arms_[used_].choice.window);
}

size_t Adaptive::choose(const Trial& trial) const {
  const bool known = arms_[trial.arm].choice.rate.has_value();
  return !known || rolls(trial.number) ? trial.arm : best();
}

bool Adaptive::rolls(uint64_t trial) const { return die(options_.seed, trial) % 100 < kCurious; }

// Returns the window with the best rate that is known; requires that one is.
size_t Adaptive::best() const {
  const auto better = [](const Arm& one, const Arm& other) {
    return one.choice.rate.value_or(-1) < other.choice.rate.value_or(-1);
  };
  return static_cast<size_t>(std::max_element(arms_.begin(), arms_.end(), better) - arms_.begin());
}

// Notes what the window has yielded, once there is enough.
void Adaptive::estimate(Arm& arm) {
  if (arm.busy < length_of(arm.choice.window) / 2) return;
  const double latest = static_cast<double>(arm.bytes) / std::chrono::duration<double>(arm.busy).count();
  arm.bytes = 0;
  arm.busy = Nanoseconds::zero();
  std::optional<double>& rate = arm.choice.rate;
  if (!rate) {
    rate = latest;
    return;
  }
  if (is_settled() && &arm == &arms_[best()]) {
    strikes_ = differs(latest, *rate) ? strikes_ + 1 : 0;
    if (strikes_ == kStrikes) return renew();
    if (strikes_ > 0) return;
  }
  *rate += (latest - *rate) / kNewest;
}

// Returns true if all windows are known, and have been for a while.
bool Adaptive::is_settled() const {
  return trials_ > kHold * arms_.size() &&
         std::all_of(arms_.begin(), arms_.end(), [](const Arm& arm) { return arm.choice.rate.has_value(); });
}

void Adaptive::renew() {
  for (Arm& arm : arms_) {
    arm.choice.rate.reset();
    arm.bytes = 0;
    arm.busy = Nanoseconds::zero();
  }
  strikes_ = 0;
  trials_ = 0;
  ++renewals_;
}

std::vector<Adaptive::Choice> Adaptive::choices() const {
  std::vector<Choice> choices;
  choices.reserve(arms_.size());
  for (const Arm& arm : arms_) choices.push_back(arm.choice);
  return choices;
}

}  // namespace tailrace::impl
