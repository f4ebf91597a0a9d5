#include "action/kept_blocks.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

namespace tailrace::impl {

std::vector<bool> held_variables(size_t variables, const std::vector<Action>& actions) {
  std::vector<bool> held(variables);
  for (const Action& action : actions) {
    if (!is_call(action)) continue;
    if (action.variables.empty()) return std::vector<bool>(held.size(), true);
    for (const uint32_t variable : action.variables) held[variable] = true;
  }
  return held;
}

KeptBlocks::KeptBlocks(const std::vector<Variable>& variables) {
  for (const Variable& variable : variables) keep_.push_back(variable.keep);
}

std::optional<HeldBlock> KeptBlocks::add(const HeldBlock& block) {
  std::map<int64_t, Held>& iterations = held_[{block.source, block.variable}];
  const auto [place, fresh] = iterations.try_emplace(block.iteration, Held{block});
  if (fresh) return std::nullopt;
  return std::exchange(place->second, Held{block}).block;
}

std::vector<HeldBlock> KeptBlocks::end(int source, int64_t iteration) {
  std::vector<HeldBlock> gone;
  for (auto i = held_.lower_bound({source, 0}); i != held_.end() && i->first.first == source; ++i) {
    std::map<int64_t, Held>& iterations = i->second;
    const auto ending = iterations.find(iteration);
    if (ending != iterations.end()) ending->second.ended = true;
    // Counts the iterations that have ended, from the latest on; iterations without a block of this variable do not
    // count.
    uint32_t ended = 0;
    for (auto held = iterations.end(); held != iterations.begin();) {
      --held;
      if (!held->second.ended || ++ended <= keep_[i->first.second]) continue;
      gone.push_back(held->second.block);
      held = iterations.erase(held);
    }
  }
  return gone;
}

std::vector<HeldBlock> KeptBlocks::drop(int source, int64_t iteration) {
  std::vector<HeldBlock> gone;
  for (auto i = held_.lower_bound({source, 0}); i != held_.end() && i->first.first == source; ++i) {
    const auto found = i->second.extract(iteration);
    if (!found.empty()) gone.push_back(found.mapped().block);
  }
  return gone;
}

bool KeptBlocks::is_over(int source, int64_t iteration) const {
  for (auto i = held_.lower_bound({source, 0}); i != held_.end() && i->first.first == source; ++i) {
    const auto found = i->second.find(iteration);
    if (found != i->second.end() && found->second.ended) return true;
  }
  return false;
}

std::optional<int64_t> KeptBlocks::oldest(int source) const {
  std::optional<int64_t> oldest;
  for (auto i = held_.lower_bound({source, 0}); i != held_.end() && i->first.first == source; ++i) {
    if (i->second.empty()) continue;
    const int64_t first = i->second.begin()->first;
    oldest = std::min(oldest.value_or(first), first);
  }
  return oldest;
}

std::vector<HeldBlock> KeptBlocks::leave(int source) {
  std::vector<HeldBlock> gone;
  const auto begin = held_.lower_bound({source, 0});
  const auto end = held_.upper_bound({source, std::numeric_limits<uint32_t>::max()});
  for (auto i = begin; i != end; ++i) {
    for (const auto& [iteration, held] : i->second) gone.push_back(held.block);
  }
  held_.erase(begin, end);
  return gone;
}

std::vector<HeldBlock> KeptBlocks::of(int64_t iteration, std::span<const int32_t> sources) const {
  std::vector<HeldBlock> blocks;
  for (const auto& [owner, iterations] : held_) {
    if (std::find(sources.begin(), sources.end(), owner.first) == sources.end()) continue;
    uint32_t older = 0;
    for (auto held = iterations.upper_bound(iteration); held != iterations.begin();) {
      --held;
      if (held->first < iteration && ++older > keep_[owner.second]) break;  // held for others
      blocks.push_back(held->second.block);
    }
  }
  std::sort(blocks.begin(), blocks.end(), [](const HeldBlock& a, const HeldBlock& b) {
    return std::tie(a.variable, a.iteration, a.source) < std::tie(b.variable, b.iteration, b.source);
  });
  return blocks;
}

size_t KeptBlocks::size() const {
  size_t sum = 0;
  for (const auto& [owner, iterations] : held_) sum += iterations.size();
  return sum;
}

}  // namespace tailrace::impl
