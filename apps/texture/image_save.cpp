// Format: "NEP 1, a simple file format for NumPy arrays", version 1.0. Each rank writes its own block.
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
  const bool has_first = block.rows.first == 0 && block.columns.first == 0 && block.pixels() > 0;
  out.check(MPI_File_write_at_all(out.handle(), 0, header.data(), has_first ? static_cast<int>(header.size()) : 0,
                                  MPI_BYTE, MPI_STATUS_IGNORE),
            "MPI_File_write_at_all");
  out.view_block(static_cast<MPI_Offset>(header.size()), {shape.channels}, shape, block);
  const long rows = block.pixels() > 0 ? block.rows.size() : 0, columns = block.columns.size();
  for (const std::vector<float>& channel : channels) {
    std::vector<float> pixels;
    for (long row = 0; row < rows; ++row) {
      const auto from = channel.begin() + (row + halo) * (columns + 2 * halo) + halo;
      pixels.insert(pixels.end(), from, from + columns);
    }
    out.check(MPI_File_write_all(out.handle(), pixels.data(), static_cast<int>(pixels.size()), MPI_FLOAT,
                                 MPI_STATUS_IGNORE),
              "MPI_File_write_all");
  }
  out.close();
}

}  // namespace texture
