// ESRI grids. Property: a text is refused with tsunami::Error, or it has rows × columns finite heights at points that
// are finite and distinct, and the same grid, written out, reads back equal. Inputs that begin like gzip go through a
// file.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "apps/tsunami/error.hpp"
#include "apps/tsunami/esri_grid.hpp"
#include "apps/tsunami/numbers_list.hpp"
#include "target.hpp"

namespace {

using tsunami::Raster;

// A file of this process alone, with a path.
class MemoryFile {
 public:
  explicit MemoryFile(const std::string& bytes) : fd_(memfd_create("grid", MFD_CLOEXEC)) {
    TAILRACE_REQUIRE(fd_ >= 0);
    TAILRACE_REQUIRE(write(fd_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  }
  ~MemoryFile() { close(fd_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  int fd_;
};

std::optional<Raster> read(const std::string& bytes) {
  try {
    if (!bytes.starts_with("\x1f\x8b")) return tsunami::parse_esri_grid(bytes, "fuzz.asc");
    return tsunami::read_esri_grid(MemoryFile(bytes).path());
  } catch (const tsunami::Error& error) {
    TAILRACE_REQUIRE(!std::string(error.what()).empty());
    return std::nullopt;
  }
}

void require_points_apart(const Raster& raster) {
  TAILRACE_REQUIRE(raster.dx > 0 && raster.dy > 0);
  TAILRACE_REQUIRE(std::isfinite(raster.x0) && std::isfinite(raster.y0));
  TAILRACE_REQUIRE(std::isfinite(raster.x(raster.nx - 1)) && std::isfinite(raster.y(raster.ny - 1)));
  TAILRACE_REQUIRE(raster.x(raster.nx - 1) > raster.x(raster.nx - 2));
  TAILRACE_REQUIRE(raster.y(raster.ny - 1) > raster.y(raster.ny - 2));
}

std::string written(const Raster& raster) {
  using tsunami::shortest;
  std::string text = "ncols " + std::to_string(raster.nx) + "\nnrows " + std::to_string(raster.ny) + "\nxll " +
                     shortest(raster.x0) + "\nyll " + shortest(raster.y0) + "\ncellsize " + shortest(raster.dx) +
                     "\n";
  for (size_t row = raster.ny; row > 0; --row) {
    for (size_t column = 0; column < raster.nx; ++column) text += shortest(raster.at(column, row - 1)) + " ";
  }
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::optional<Raster> raster = read(std::string(reinterpret_cast<const char*>(data), size));
  if (!raster) return 0;
  TAILRACE_REQUIRE(raster->nx >= 2 && raster->ny >= 2);
  TAILRACE_REQUIRE(raster->z.size() == raster->nx * raster->ny);
  TAILRACE_REQUIRE(std::all_of(raster->z.begin(), raster->z.end(), [](double z) { return std::isfinite(z); }));
  require_points_apart(*raster);
  const Raster again = tsunami::parse_esri_grid(written(*raster), "again.asc");
  TAILRACE_REQUIRE(again.nx == raster->nx && again.ny == raster->ny);
  TAILRACE_REQUIRE(again.x0 == raster->x0 && again.y0 == raster->y0 && again.dx == raster->dx);
  TAILRACE_REQUIRE(again.z == raster->z);
  return 0;
}
