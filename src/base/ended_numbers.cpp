#include "base/ended_numbers.hpp"

#include <algorithm>

namespace tailrace::impl {

bool EndedNumbers::Run::contains(int64_t number) const {
  if (count == 1) return number == first;
  const int64_t steps = (number - first) / step;
  return steps >= 0 && steps < count && first + steps * step == number;
}

void EndedNumbers::add(int64_t number) {
  if (contains(number)) return;
  if (!runs_.empty()) {
    Run& run = runs_[latest_];
    if (run.count == 1) run.step = number - run.first;
    if (number == run.first + run.count * run.step) {
      ++run.count;
      return;
    }
  }
  const Run fresh{number, 0, 1};
  if (runs_.size() < kMaxRuns) {
    latest_ = runs_.size();
    runs_.push_back(fresh);
  } else {
    latest_ = (latest_ + 1) % kMaxRuns;
    runs_[latest_] = fresh;
  }
}

bool EndedNumbers::contains(int64_t number) const {
  return std::any_of(runs_.begin(), runs_.end(), [number](const Run& run) { return run.contains(number); });
}

}  // namespace tailrace::impl
