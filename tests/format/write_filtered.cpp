// Writes one file with every way of filtering in it, for read_filtered.py: write_filtered FILE
#include "filtered_file.hpp"

int main(int count, char** arguments) {
  using namespace tailrace::impl;
  if (count != 2) return 2;
  const std::string path = arguments[1];
  const Config config = filtered_config({"."});
  Hdf5Format format(config, os_files(), format_options());
  for (uint32_t i = 0; i < config.variables.size(); ++i) {
    const std::vector<std::byte> bytes = filtered_values(config, i);
    if (config.variables[i].filtered()) {
      put_filtered(format, config, block_of(config, i, 3, 0), bytes, path, 2);
    } else {
      put(path, {place_whole(format, block_of(config, i, 3, 0)).value().offset, bytes});
    }
  }
  finish_file(format, 3, path);
  return ::testing::Test::HasFailure() ? 1 : 0;
}
