// Runs kept inputs once through a fuzz target, where there is no libFuzzer: `fuzz_<target> FILE-OR-FOLDER…`.
//
// It prints each file first, so that one that ends the process is known. It never generates inputs.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "target.hpp"

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files_of(const fs::path& path) {
  if (!fs::is_directory(path)) return {path};
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(path)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

int main(int count, char** arguments) {
  size_t inputs = 0;
  for (int i = 1; i < count; ++i) {
    for (const fs::path& path : files_of(arguments[i])) {
      std::printf("%s\n", path.c_str());
      std::fflush(stdout);
      std::ifstream file(path, std::ios::binary);
      if (!file) {
        std::fprintf(stderr, "replay: cannot read '%s'\n", path.c_str());
        return 1;
      }
      const std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
      LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
      ++inputs;
    }
  }
  std::printf("%zu inputs\n", inputs);
  return inputs > 0 ? 0 : 1;
}
