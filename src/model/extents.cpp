#include "model/extents.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

namespace tailrace::impl {
namespace {

constexpr size_t kByDigitsFrom = 2048;  // pieces; fewer are sorted faster by comparison
constexpr int kDigit = 11;              // bits

// Radix sort, least digit first; each pass keeps the order of the one before (Knuth, TAOCP 3, 5.2.5). Digits that all
// offsets have in common cost nothing.
void put_in_order_by_digits(std::vector<Piece>& pieces) {
  constexpr uint64_t kDigits = uint64_t{1} << kDigit;
  uint64_t differ = 0;
  for (const Piece& piece : pieces) differ |= piece.extent.offset ^ pieces.front().extent.offset;
  std::vector<Piece> next(pieces.size());
  std::array<size_t, kDigits> places{};
  for (int shift = std::countr_zero(differ); shift < 64 && differ >> shift != 0; shift += kDigit) {
    if ((differ >> shift & (kDigits - 1)) == 0) continue;
    const auto digit = [shift](const Piece& piece) { return piece.extent.offset >> shift & (kDigits - 1); };
    places.fill(0);
    for (const Piece& piece : pieces) ++places[digit(piece)];
    std::exclusive_scan(places.begin(), places.end(), places.begin(), size_t{0});
    for (const Piece& piece : pieces) next[places[digit(piece)]++] = piece;
    pieces.swap(next);
  }
}

}  // namespace

bool in_order(std::span<const Piece> pieces) {
  for (size_t i = 1; i < pieces.size(); ++i) {
    if (pieces[i].extent.offset < pieces[i - 1].extent.end()) return false;
  }
  return true;
}

void put_in_order(std::vector<Piece>& pieces) {
  if (in_order(pieces)) return;
  if (pieces.size() >= kByDigitsFrom) return put_in_order_by_digits(pieces);
  std::sort(pieces.begin(), pieces.end(),
            [](const Piece& a, const Piece& b) { return a.extent.offset < b.extent.offset; });
}

std::vector<Piece> in_turn(std::span<const Extent> extents, std::byte* memory) {
  std::vector<Piece> pieces;
  pieces.reserve(extents.size());
  for (const Extent& extent : extents) {
    pieces.push_back({extent, memory});
    memory += extent.length;
  }
  return pieces;
}

uint64_t total_of(std::span<const Extent> extents) {
  uint64_t total = 0;
  for (const Extent& extent : extents) total += extent.length;
  return total;
}

std::vector<Piece> without(std::span<const Piece> pieces, std::vector<Extent> cuts) {
  std::sort(cuts.begin(), cuts.end(), [](const Extent& a, const Extent& b) { return a.offset < b.offset; });
  std::vector<Piece> left;
  size_t next = 0;  // the first cut that may end after the present position
  uint64_t cut_to = 0;
  for (const Piece& piece : pieces) {
    uint64_t at = std::max(piece.extent.offset, cut_to);
    while (at < piece.extent.end()) {
      const bool cut = next < cuts.size() && cuts[next].offset < piece.extent.end();
      const uint64_t to = cut ? std::max(at, cuts[next].offset) : piece.extent.end();
      if (to > at) left.push_back({{at, to - at}, piece.memory + (at - piece.extent.offset)});
      at = to;
      if (!cut) break;
      cut_to = std::max(cut_to, cuts[next++].end());
      at = std::max(at, cut_to);
    }
  }
  return left;
}

}  // namespace tailrace::impl
