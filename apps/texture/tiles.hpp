// Tiles: how the image is cut into tiles of equal size, and shared out over the ranks.
//
// All ranks cut the same tiles, however many ranks there are, and a rank has a block of neighbouring ones. A tile is
// filtered together with `halo` pixels on each side of it, always by transforms of the same size. So the result for a
// pixel has the same bits for any number of ranks. Beyond an edge of the image its mirror image goes on.
#pragma once

#include <algorithm>

namespace texture {

// Cut: how the rows of an image, or its columns, are cut into parts. The last one may be shorter.
struct Cut {
  long length;  // rows or columns of the image …
  long part;    // … and of a part

  long count() const { return (length + part - 1) / part; }
  long first(long number) const { return std::min(length, number * part); }
  long size_of(long number) const { return first(number + 1) - first(number); }
};

// Share: parts [first_part, end_part) of a cut, and their rows or columns.
struct Share {
  long first_part, end_part;
  long first, end;

  long size() const { return end - first; }
};

// Returns one of `count` shares; they differ by one part at most.
inline Share share_of(const Cut& cut, long number, long count) {
  const long first = cut.count() * number / count, end = cut.count() * (number + 1) / count;
  return {first, end, cut.first(first), cut.first(end)};
}

struct Tiles {
  Cut rows, columns;
  long halo;  // pixels
};

// Block: a rank's tiles, and their pixels.
struct Block {
  Share rows, columns;

  long pixels() const { return rows.size() * columns.size(); }
};

// Returns the index inside [0, size) that `index` has after reflections at the edges: −1 is 0, −2 is 1, size is
// size − 1.
inline long mirrored(long index, long size) {
  const long period = 2 * size;
  const long inside = ((index % period) + period) % period;
  return std::min(inside, period - 1 - inside);
}

}  // namespace texture
