// Image: a source of pixels, channel by channel, that all ranks read together.
//
// Values of integer types are divided by the largest one of the type; floating-point values stay as they are.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "synthetic.hpp"
#include "tiles.hpp"

namespace texture {

struct ImageShape {
  long channels, rows, columns;
};

class Image {
 public:
  virtual ~Image() = default;
  virtual ImageShape shape() const = 0;
  // Returns rows [first, first + count) of a channel, count × columns. Collective: each rank calls it with rows of
  // its own, or none. Throws Error.
  virtual std::vector<float> read(long channel, long first, long count) = 0;
};

// Opens an image file for all ranks of MPI_COMM_WORLD (image_header.hpp has the formats). Throws Error.
std::unique_ptr<Image> open_image(const std::string& file);

// Makes an image of cells (synthetic.hpp).
std::unique_ptr<Image> make_image(const ImageShape& shape, SyntheticImage pixels);

// Returns a block with `halo` pixels on each side of it, (rows + 2 halo) × (columns + 2 halo), where the image is
// mirrored at its edges; nothing for a block without pixels. Collective. Throws Error.
std::vector<float> read_with_halo(Image& image, long channel, const Block& block, long halo);

}  // namespace texture
