#include "collective/tune/tuning.hpp"

#include <algorithm>
#include <cstdio>
#include <set>

namespace tailrace::collective {
namespace {

// A way is tried again while its least time is at most this many times the least of all, by the number of tries.
constexpr std::array<double, 3> kBehind{1e300, 4.0, 1.5};

bool has_aggregators(const Options& way) {
  return way.algorithm != Algorithm::automatic && way.algorithm != Algorithm::individual;
}

std::string text_of(const Options& way, double seconds) {
  std::array<char, 128> text{};
  if (has_aggregators(way)) {
    std::snprintf(text.data(), text.size(), "%s with %u aggregator%s of %.3g MiB %.4f s", name_of(way.algorithm),
                  way.aggregators, way.aggregators == 1 ? "" : "s", static_cast<double>(way.cycle_bytes) / (1 << 20),
                  seconds);
  } else {
    std::snprintf(text.data(), text.size(), "%s %.4f s", name_of(way.algorithm), seconds);
  }
  return text.data();
}

}  // namespace

Tuning::Tuning(const Options& base, uint32_t processes, uint32_t nodes, const State& state) : state_(state) {
  add_ways(base, processes, nodes);
  choose_next();
}

void Tuning::add_ways(const Options& base, uint32_t processes, uint32_t nodes) {
  const auto add = [&](Algorithm algorithm, uint32_t aggregators) {
    ways_[count_] = base;
    ways_[count_].algorithm = algorithm;
    ways_[count_++].aggregators = aggregators;
  };
  ways_.fill(base);
  add(Algorithm::automatic, base.aggregators);
  add(Algorithm::individual, base.aggregators);
  std::set<uint32_t> numbers{nodes, std::min(2 * nodes, processes), processes};
  if (base.aggregators > 0) numbers = {base.aggregators};
  for (const Algorithm algorithm : {Algorithm::two_phase, Algorithm::dynamic, Algorithm::static_}) {
    for (const uint32_t aggregators : numbers) add(algorithm, aggregators);
  }
}

void Tuning::wrote(double seconds) {
  state_.begun_seconds += seconds;
  ++state_.begun_writes;
}

void Tuning::forget_begun() {
  state_.begun_seconds = 0;
  state_.begun_writes = 0;
}

void Tuning::tried(double seconds) {
  forget_begun();
  double& least = state_.seconds[current_];
  least = state_.tries[current_]++ == 0 ? seconds : std::min(least, seconds);
  choose_next();
}

void Tuning::choose_next() {
  if (choose_among(0, count_)) return;
  // They are tried with the best of the others, which no later trial changes.
  const auto first = state_.seconds.begin();
  const Options& fastest =
      ways_[static_cast<size_t>(std::min_element(first, first + static_cast<ptrdiff_t>(count_)) - first)];
  if (has_aggregators(fastest)) {
    ways_[kSmaller] = ways_[kLarger] = fastest;
    ways_[kSmaller].cycle_bytes = std::max<uint64_t>(fastest.cycle_bytes / 4, 1);
    ways_[kLarger].cycle_bytes = std::min(fastest.cycle_bytes, UINT64_MAX / 4) * 4;
    if (choose_among(kSmaller, kMaxWays)) return;
  }
  has_ended_ = true;
  current_ = best();
}

// Chooses the next of these ways to try. Returns false if they have been tried often enough.
bool Tuning::choose_among(size_t begin, size_t end) {
  for (uint32_t tries = 0; tries < kBehind.size(); ++tries) {
    const double most = tries == 0 ? kBehind[0] : kBehind[tries] * state_.seconds[best()];
    for (size_t nth = begin; nth < end; ++nth) {
      const size_t way = tries == 1 ? begin + end - 1 - nth : nth;
      if (state_.tries[way] > tries || (tries > 0 && state_.seconds[way] > most)) continue;
      current_ = way;
      return true;
    }
  }
  return false;
}

// Returns the way with the least time; the first one if none has been tried.
size_t Tuning::best() const {
  size_t found = 0;
  for (size_t way = 0; way < kMaxWays; ++way) {
    const bool is_first = state_.tries[found] == 0 && state_.tries[way] > 0;
    if (is_first || (state_.tries[way] > 0 && state_.seconds[way] < state_.seconds[found])) found = way;
  }
  return found;
}

std::string Tuning::text() const {
  std::string text = text_of(ways_[best()], state_.seconds[best()]);
  const char* before = "; ";
  for (size_t way = 0; way < kMaxWays; ++way) {
    if (way == best() || state_.tries[way] == 0) continue;
    text += before + text_of(ways_[way], state_.seconds[way]);
    before = ", ";
  }
  return text;
}

}  // namespace tailrace::collective
