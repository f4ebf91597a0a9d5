// Finds the known word nearest to a mistyped one, for "Did you mean …?".
//
// Used only for messages, so it is written for brevity. Never on the per-request path.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tailrace::impl {

// Returns how many letters must be inserted, removed, replaced or swapped with a neighbour; case does not count.
inline size_t edit_distance(std::string_view a, std::string_view b) {
  const auto same = [](char x, char y) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; };
    return lower(x) == lower(y);
  };
  std::vector<std::vector<size_t>> cost(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = i + j;
        continue;
      }
      const size_t replace = cost[i - 1][j - 1] + (same(a[i - 1], b[j - 1]) ? 0 : 1);
      cost[i][j] = std::min({replace, cost[i - 1][j] + 1, cost[i][j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]);
      if (swapped) cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  }
  return cost[a.size()][b.size()];
}

// Returns the word of `known` nearest to `word`, the first of equals; empty if none is near enough to be a likely
// typo.
inline std::string nearest_word(std::string_view word, const std::vector<std::string_view>& known) {
  constexpr size_t longest = 64;   // typos in longer words do not matter
  constexpr size_t most = 10'000;  // more words would take too long
  if (word.empty() || word.size() > longest) return {};
  const size_t tolerance = std::max<size_t>(1, word.size() / 3);
  size_t best = std::min(tolerance, word.size() - 1) + 1;
  std::string nearest;
  for (size_t i = 0; i < std::min(most, known.size()); ++i) {
    const std::string_view candidate = known[i];
    if (candidate.size() > longest || candidate.size() > word.size() + best) continue;
    const size_t distance = edit_distance(word, candidate);
    if (distance >= best) continue;
    best = distance;
    nearest = candidate;
  }
  return nearest;
}

}  // namespace tailrace::impl
