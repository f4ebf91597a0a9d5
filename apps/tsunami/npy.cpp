// NumPy's file format, as far as an array of float32 needs it.
#include "npy.hpp"

#include <cstdint>
#include <fstream>
#include <vector>

#include "error.hpp"

namespace tsunami {

NpyFile::NpyFile(std::string file, std::size_t nx, std::size_t ny) : file_(std::move(file)), nx_(nx) {
  constexpr std::size_t preamble = 10;  // magic, version, length
  std::string text =
      "{'descr': '<f4', 'fortran_order': False, 'shape': (" + std::to_string(ny) + ", " + std::to_string(nx) + "), }";
  text.append(63 - (preamble + text.size()) % 64, ' ');
  text += '\n';
  header_.assign("\x93NUMPY\x01\x00", 8);
  header_ += static_cast<char>(text.size() & 0xff);
  header_ += static_cast<char>(text.size() >> 8);
  header_ += text;
}

void NpyFile::create() const {
  std::ofstream out(file_, std::ios::binary);
  out << header_;
  out.close();
  if (!out) throw Error("cannot write the bathymetry '" + file_ + "'");
}

void NpyFile::write(const Raster& slab) const {
  std::ofstream out(file_, std::ios::binary | std::ios::in | std::ios::out);
  out.seekp(static_cast<std::streamoff>(header_.size() + slab.first * nx_ * sizeof(float)));
  const std::vector<float> values(slab.z.begin(), slab.z.end());
  out.write(reinterpret_cast<const char*>(values.data()),
            static_cast<std::streamsize>(values.size() * sizeof(float)));
  out.close();
  if (!out) throw Error("cannot write the bathymetry '" + file_ + "'");
}

}  // namespace tsunami
