// Parses the headers of .npy, PGM and PPM. See the header.
#include "image_header.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <regex>

#include "error.hpp"

namespace texture {
namespace {

constexpr long most_of_dimension = 1L << 20;
constexpr std::size_t most_of_header = 1 << 16;

long size_of(PixelType type) {
  switch (type) {
    case PixelType::uint8: return 1;
    case PixelType::uint16:
    case PixelType::uint16_big_endian: return 2;
    case PixelType::float32: return 4;
    case PixelType::float64: return 8;
  }
  return 0;
}

// Converts digits; a number with too many of them is refused later, as too large.
long number(const std::string& digits) { return digits.size() > 9 ? most_of_dimension + 1 : std::stol(digits); }

PixelType npy_type(const std::string& described) {
  if (described == "|u1") return PixelType::uint8;
  if (described == "<u2") return PixelType::uint16;
  if (described == "<f4") return PixelType::float32;
  if (described == "<f8") return PixelType::float64;
  throw Error("found values of type '" + described + "', expected uint8, uint16, float32 or float64");
}

ImageShape npy_shape(const std::string& text) {
  static const std::regex digits("[0-9]+");
  std::vector<long> sizes;
  for (std::sregex_iterator it(text.begin(), text.end(), digits), end; it != end; ++it)
    sizes.push_back(number(it->str()));
  if (sizes.size() == 2) return {1, sizes[0], sizes[1]};
  if (sizes.size() == 3) return {sizes[0], sizes[1], sizes[2]};
  throw Error("found the shape (" + text + "), expected (rows, columns) or (channels, rows, columns)");
}

PixelLayout npy_layout(const std::string& head) {
  const std::size_t bytes = head[6] == 1 ? 2 : 4;  // of the header's length
  std::size_t length = 0;
  for (std::size_t i = 0; i < bytes; ++i)
    length |= static_cast<std::size_t>(static_cast<unsigned char>(head[8 + i])) << 8 * i;
  if (8 + bytes + length > head.size()) throw Error("the header of this .npy file is cut off");
  const std::string text = head.substr(8 + bytes, length);
  static const std::regex type("'descr':\\s*'([^']*)'"), order("'fortran_order':\\s*False"),
      shape("'shape':\\s*\\(([^)]*)\\)");
  std::smatch described, dimensions;
  if (!std::regex_search(text, described, type) || !std::regex_search(text, dimensions, shape)) {
    throw Error("the header of this .npy file describes no array of numbers");
  }
  if (!std::regex_search(text, order)) throw Error("found an array in Fortran order, expected C order");
  PixelLayout layout{};
  layout.type = npy_type(described[1]);
  layout.shape = npy_shape(dimensions[1]);
  layout.offset = static_cast<long>(8 + bytes + length);
  layout.pixel_stride = size_of(layout.type);
  layout.row_stride = layout.shape.columns * layout.pixel_stride;
  layout.channel_stride = layout.shape.rows * layout.row_stride;
  return layout;
}

PixelLayout netpbm_layout(const std::string& head) {
  static const std::string gap = "(?:\\s|#[^\\n]*\\n)+";
  static const std::regex form("P([56])" + gap + "([0-9]+)" + gap + "([0-9]+)" + gap + "([0-9]+)\\s");
  std::smatch found;
  if (!std::regex_search(head, found, form, std::regex_constants::match_continuous)) {
    throw Error("the header of this PGM or PPM file is not complete");
  }
  const long most = number(found[4]);
  if (most != 255 && most != 65535)
    throw Error("found the largest value " + found[4].str() + ", expected 255 or 65535");
  PixelLayout layout{};
  layout.shape = {found[1] == "6" ? 3 : 1, number(found[3]), number(found[2])};
  layout.type = most == 255 ? PixelType::uint8 : PixelType::uint16_big_endian;
  layout.offset = static_cast<long>(found.length());
  layout.channel_stride = size_of(layout.type);
  layout.pixel_stride = layout.shape.channels * layout.channel_stride;
  layout.row_stride = layout.shape.columns * layout.pixel_stride;
  return layout;
}

std::string head_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::string head(most_of_header, '\0');
  in.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(in.gcount()));
  if (head.empty()) throw Error("it cannot be read");
  return head;
}

PixelLayout layout_of(const std::string& head) {
  if (head.size() > 12 && head.compare(0, 6, "\x93NUMPY") == 0) return npy_layout(head);
  if (head.size() > 2 && head[0] == 'P' && (head[1] == '5' || head[1] == '6')) return netpbm_layout(head);
  throw Error("it is neither a .npy file nor a binary PGM or PPM file");
}

void check_size(const PixelLayout& layout, const std::string& file) {
  const ImageShape& shape = layout.shape;
  for (const long size : {shape.channels, shape.rows, shape.columns}) {
    if (size < 1 || size > most_of_dimension) throw Error("found a dimension that is 0 or larger than 2^20");
  }
  const long last = layout.offset + (shape.channels - 1) * layout.channel_stride +
                    (shape.rows - 1) * layout.row_stride + (shape.columns - 1) * layout.pixel_stride +
                    size_of(layout.type);
  const auto size = static_cast<long>(std::filesystem::file_size(file));
  if (size < last) throw Error("found " + std::to_string(size) + " bytes, expected " + std::to_string(last));
}

template <class T>
T value_at(const unsigned char* pixel) {
  T value;
  std::memcpy(&value, pixel, sizeof value);
  return value;
}

}  // namespace

PixelLayout read_header(const std::string& file) {
  try {
    const PixelLayout layout = layout_of(head_of(file));
    check_size(layout, file);
    return layout;
  } catch (const Error& error) {
    throw Error("image '" + file + "': " + error.what());
  }
}

float pixel_value(const unsigned char* pixel, PixelType type) {
  switch (type) {
    case PixelType::uint8: return static_cast<float>(*pixel) / 255;
    case PixelType::uint16: return static_cast<float>(value_at<std::uint16_t>(pixel)) / 65535;
    case PixelType::uint16_big_endian: return static_cast<float>(256 * pixel[0] + pixel[1]) / 65535;
    case PixelType::float32: return value_at<float>(pixel);
    case PixelType::float64: return static_cast<float>(value_at<double>(pixel));
  }
  return 0;
}

}  // namespace texture
