// Images from memory, and mirroring; image_file.cpp has images from files.
#include "image.hpp"

namespace texture {
namespace {

class Synthetic : public Image {
 public:
  Synthetic(const ImageShape& shape, SyntheticImage pixels) : shape_(shape), pixels_(pixels) {}

  ImageShape shape() const override { return shape_; }
  std::vector<float> read(long channel, long first, long count) override {
    std::vector<float> values;
    values.reserve(static_cast<std::size_t>(count * shape_.columns));
    for (long row = first; row < first + count; ++row) {
      for (long column = 0; column < shape_.columns; ++column) values.push_back(pixels_.pixel(channel, row, column));
    }
    return values;
  }

 private:
  const ImageShape shape_;
  const SyntheticImage pixels_;
};

}  // namespace

std::unique_ptr<Image> make_image(const ImageShape& shape, SyntheticImage pixels) {
  return std::make_unique<Synthetic>(shape, pixels);
}

// All mirrored rows lie in the range that is read: those beyond an edge come from the `halo` rows next to it, or, if
// the image has fewer, from all of it.
std::vector<float> read_with_halo(Image& image, long channel, const Block& block, long halo) {
  const ImageShape shape = image.shape();
  if (block.rows() == 0) return image.read(channel, 0, 0);
  const long first = std::max(0L, block.first_row - halo), end = std::min(shape.rows, block.end_row + halo);
  const std::vector<float> read = image.read(channel, first, end - first);
  std::vector<float> values;
  values.reserve(static_cast<std::size_t>((block.rows() + 2 * halo) * shape.columns));
  for (long row = block.first_row - halo; row < block.end_row + halo; ++row) {
    const auto from = read.begin() + (mirrored(row, shape.rows) - first) * shape.columns;
    values.insert(values.end(), from, from + shape.columns);
  }
  return values;
}

}  // namespace texture
