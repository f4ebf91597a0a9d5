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
  if (block.pixels() == 0) return image.read(channel, 0, 0);
  const Share &rows = block.rows, &columns = block.columns;
  const long first = std::max(0L, rows.first - halo), end = std::min(shape.rows, rows.end + halo);
  const std::vector<float> read = image.read(channel, first, end - first);
  std::vector<float> values;
  values.reserve(static_cast<std::size_t>((rows.size() + 2 * halo) * (columns.size() + 2 * halo)));
  for (long row = rows.first - halo; row < rows.end + halo; ++row) {
    const float* const from = read.data() + (mirrored(row, shape.rows) - first) * shape.columns;
    for (long column = columns.first - halo; column < columns.end + halo; ++column) {
      values.push_back(from[mirrored(column, shape.columns)]);
    }
  }
  return values;
}

}  // namespace texture
