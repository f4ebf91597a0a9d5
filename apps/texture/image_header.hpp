// PixelLayout: where the pixels of an image file lie, from the file's header.
//
// Two formats, which many programs write: NumPy's .npy ("NEP 1", versions 1 to 3; rows × columns or channels × rows ×
// columns, in C order, of uint8, uint16, float32 or float64, little-endian), and binary PGM and PPM (netpbm's P5 and
// P6 with the largest value 255 or 65535). Reads only the header.
#pragma once

#include <string>

#include "image.hpp"

namespace texture {

enum class PixelType { uint8, uint16, uint16_big_endian, float32, float64 };

struct PixelLayout {
  ImageShape shape;
  PixelType type;
  long offset;                                    // bytes, of the first pixel
  long channel_stride, row_stride, pixel_stride;  // bytes
};

// Returns the layout of a file. Throws Error if it cannot be read, has another format, or is too short.
PixelLayout read_header(const std::string& file);

// Returns the value of one pixel.
float pixel_value(const unsigned char* pixel, PixelType type);

}  // namespace texture
