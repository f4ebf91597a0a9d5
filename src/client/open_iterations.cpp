#include "client/open_iterations.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tailrace::impl {

OpenIterations::OpenIterations(size_t variables) : variables_(variables), open_(kMaxOpen) {
  open_[0].uncommitted.resize(variables);
}

Result<OpenIterations::Iteration*> OpenIterations::open(int64_t number) {
  if (number < 0) {
    return Status(TAILRACE_INVALID_ARGUMENT, fmt::format("found iteration {}, expected 0 or more", number));
  }
  if (Iteration* found = find(number)) return found;
  if (has_ended(number)) {
    return Status(TAILRACE_WRONG_ORDER,
                  fmt::format("iteration {} has ended: nothing can be handed over for it any more", number));
  }
  Iteration* const free = find(-1);
  if (free == nullptr) {
    return Status(TAILRACE_WRONG_ORDER, fmt::format("iteration {}: {} iterations are open already, the oldest is {}; "
                                                    "call end_iteration for each when its last block is handed over",
                                                    number, kMaxOpen, numbers().front()));
  }
  free->number = number;
  free->uncommitted.resize(variables_);
  return free;
}

OpenIterations::Iteration* OpenIterations::find(int64_t number) {
  for (Iteration& iteration : open_) {
    if (iteration.number == number) return &iteration;
  }
  return nullptr;
}

void OpenIterations::end(int64_t number) {
  ended_.add(number);
  if (Iteration* iteration = find(number)) {
    iteration->number = -1;
    iteration->dropped = false;
    iteration->blocks = 0;
    std::fill(iteration->uncommitted.begin(), iteration->uncommitted.end(), Uncommitted{});
  }
}

size_t OpenIterations::count() const {
  const auto counts = [](const Iteration& iteration) { return iteration.number >= 0 && !iteration.dropped; };
  return static_cast<size_t>(std::count_if(open_.begin(), open_.end(), counts));
}

std::vector<int64_t> OpenIterations::numbers() const {
  std::vector<int64_t> numbers;
  for (const Iteration& iteration : open_) {
    if (iteration.number >= 0) numbers.push_back(iteration.number);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

}  // namespace tailrace::impl
