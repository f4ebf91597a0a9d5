// Any text as a Cube anchor and as a specification: an error, or what is written is read again as it was.
#include <cstdlib>
#include <string>

#include "cube/archive/error.hpp"
#include "cube/profile/profile.hpp"
#include "tests/fuzz/target.hpp"

namespace {

namespace cube = tailrace::cube;

void read_and_write(const std::string& text) {
  const cube::Profile profile = cube::read_anchor(text, "fuzz");
  const cube::Profile again = cube::read_anchor(cube::write_anchor(profile, profile.metrics), "written");
  const bool equal = again.metrics.size() == profile.metrics.size() && again.tree.size() == profile.tree.size() &&
                     again.locations.size() == profile.locations.size() &&
                     again.regions.size() == profile.regions.size();
  if (!equal) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    read_and_write(text);
  } catch (const cube::Error&) {
  }
  try {
    cube::read_metrics(text, "fuzz");
  } catch (const cube::Error&) {
  }
  return 0;
}
