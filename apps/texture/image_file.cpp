// An image in a file: each rank reads its rows, all in one collective call.
#include <limits>

#include "error.hpp"
#include "image_header.hpp"
#include "shared_file.hpp"

namespace texture {
namespace {

class FileImage : public Image {
 public:
  explicit FileImage(const std::string& name) : layout_(read_header(name)), file_(name, MPI_MODE_RDONLY) {
    if (layout_.row_stride > std::numeric_limits<int>::max()) throw Error("'" + name + "': a row has over 2 GiB");
    MPI_Type_contiguous(static_cast<int>(layout_.row_stride), MPI_BYTE, &row_);
    MPI_Type_commit(&row_);
  }
  ~FileImage() override { MPI_Type_free(&row_); }

  ImageShape shape() const override { return layout_.shape; }

  std::vector<float> read(long channel, long first, long count) override {
    // In PPM the channels of a pixel lie side by side, within one row.
    const bool planes = layout_.channel_stride >= layout_.row_stride;
    const long begin = layout_.offset + (planes ? channel * layout_.channel_stride : 0) + first * layout_.row_stride;
    std::vector<unsigned char> bytes(static_cast<std::size_t>(count * layout_.row_stride));
    file_.check(
        MPI_File_read_at_all(file_.handle(), begin, bytes.data(), static_cast<int>(count), row_, MPI_STATUS_IGNORE),
        "MPI_File_read_at_all");
    std::vector<float> values;
    values.reserve(static_cast<std::size_t>(count * layout_.shape.columns));
    const unsigned char* const pixels = bytes.data() + (planes ? 0 : channel * layout_.channel_stride);
    for (long row = 0; row < count; ++row) {
      for (long column = 0; column < layout_.shape.columns; ++column) {
        values.push_back(
            pixel_value(pixels + row * layout_.row_stride + column * layout_.pixel_stride, layout_.type));
      }
    }
    return values;
  }

 private:
  const PixelLayout layout_;
  SharedFile file_;
  MPI_Datatype row_ = MPI_DATATYPE_NULL;
};

}  // namespace

std::unique_ptr<Image> open_image(const std::string& file) { return std::make_unique<FileImage>(file); }

}  // namespace texture
