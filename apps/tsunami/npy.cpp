// NumPy's file format, as far as one array of float32 needs it.
#include "npy.hpp"

#include <cstdint>
#include <fstream>
#include <vector>

#include "error.hpp"

namespace tsunami {

void write_npy(const std::string& file, const Raster& raster) {
  constexpr std::size_t preamble = 10;  // magic, version, length
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + std::to_string(raster.ny) + ", " +
                       std::to_string(raster.nx) + "), }";
  header.append(63 - (preamble + header.size()) % 64, ' ');
  header += '\n';
  std::ofstream out(file, std::ios::binary);
  out.write("\x93NUMPY\x01\x00", 8);
  out.put(static_cast<char>(header.size() & 0xff)).put(static_cast<char>(header.size() >> 8));
  out << header;
  const std::vector<float> values(raster.z.begin(), raster.z.end());
  out.write(reinterpret_cast<const char*>(values.data()),
            static_cast<std::streamsize>(values.size() * sizeof(float)));
  out.close();
  if (!out) throw Error("cannot write the bathymetry '" + file + "'");
}

}  // namespace tsunami
