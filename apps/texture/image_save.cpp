// Format: "NEP 1, a simple file format for NumPy arrays", version 1.0. Each rank writes its own rows.
#include "image_save.hpp"

#include <fmt/format.h>

#include "shared_file.hpp"

namespace texture {
namespace {

std::string npy_header(const ImageShape& shape) {
  constexpr std::size_t preamble = 10;  // magic, version, length
  std::string text = fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {}, {}), }}",
                                 shape.channels, shape.rows, shape.columns);
  text.append(63 - (preamble + text.size()) % 64, ' ');
  text += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(text.size() & 0xff);
  header += static_cast<char>(text.size() >> 8);
  return header + text;
}

}  // namespace

void save_image(const std::string& file, const ImageShape& shape, const Block& block,
                std::span<const std::vector<float>> channels, long halo) {
  const std::string header = npy_header(shape);
  SharedFile out(file, MPI_MODE_CREATE | MPI_MODE_WRONLY);
  const int first = block.first_row == 0 && block.rows() > 0 ? static_cast<int>(header.size()) : 0;
  out.check(MPI_File_write_at_all(out.handle(), 0, header.data(), first, MPI_BYTE, MPI_STATUS_IGNORE),
            "MPI_File_write_at_all");
  for (long channel = 0; channel < shape.channels; ++channel) {
    const long pixel = (channel * shape.rows + block.first_row) * shape.columns;
    const long at = static_cast<long>(header.size()) + pixel * static_cast<long>(sizeof(float));
    const float* const rows =
        channels[static_cast<std::size_t>(channel)].data() + (block.rows() > 0 ? halo : 0) * shape.columns;
    const int count = static_cast<int>(block.rows() * shape.columns);
    out.check(MPI_File_write_at_all(out.handle(), at, rows, count, MPI_FLOAT, MPI_STATUS_IGNORE),
              "MPI_File_write_at_all");
  }
  out.close();
}

}  // namespace texture
