// Strips: how the rows of an image are cut into strips of equal height, and shared out over the ranks.
//
// All ranks cut the same strips, however many ranks there are, and a rank has a block of neighbouring ones. A strip
// is filtered together with `halo` rows above and below it, always by transforms of the same size. So the result for
// a pixel has the same bits for any number of ranks. Beyond an edge of the image its mirror image goes on.
#pragma once

#include <algorithm>

namespace texture {

struct Strips {
  long rows;    // of the image
  long height;  // of a strip; the last one may be lower
  long halo;    // rows

  long count() const { return (rows + height - 1) / height; }
  long first_row(long strip) const { return std::min(rows, strip * height); }
  long height_of(long strip) const { return first_row(strip + 1) - first_row(strip); }
};

// A rank's share: strips [first, end), and their rows.
struct Block {
  long first_strip, end_strip;
  long first_row, end_row;

  long rows() const { return end_row - first_row; }
};

// Returns the block of a rank; the blocks of all ranks differ by one strip at most.
inline Block block_of(const Strips& strips, int rank, int ranks) {
  const long first = strips.count() * rank / ranks, end = strips.count() * (rank + 1) / ranks;
  return {first, end, strips.first_row(first), strips.first_row(end)};
}

// Returns the index inside [0, size) that `index` has after reflections at the edges: −1 is 0, −2 is 1, size is
// size − 1.
inline long mirrored(long index, long size) {
  const long period = 2 * size;
  const long inside = ((index % period) + period) % period;
  return std::min(inside, period - 1 - inside);
}

}  // namespace texture
