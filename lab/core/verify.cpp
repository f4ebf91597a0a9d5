#include "lab/core/verify.hpp"

#include <hdf5.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <vector>

#include "lab/core/field.hpp"
#include "lab/pattern/json.hpp"
#include "lab/pattern/memory.hpp"

namespace bench::core {
namespace {

// Reads the whole dataset; returns what went wrong, or "".
std::string read(const std::string& file, const std::string& name, std::span<float> values) {
  const hid_t opened = H5Fopen(file.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  if (opened < 0) return "is missing, or cannot be read";
  const hid_t set = H5Dopen2(opened, name.c_str(), H5P_DEFAULT);
  std::string wrong;
  if (set < 0) {
    wrong = "has no " + name;
  } else {
    const hid_t space = H5Dget_space(set);
    const hssize_t count = H5Sget_simple_extent_npoints(space);
    if (count != static_cast<hssize_t>(values.size())) {
      wrong = "has " + std::to_string(count) + " numbers, expected " + std::to_string(values.size());
    } else if (H5Dread(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0) {
      wrong = "cannot be read";
    }
    H5Sclose(space);
    H5Dclose(set);
  }
  H5Fclose(opened);
  return wrong;
}

std::string compare(const std::string& file, std::span<const float> expected, std::span<float> found,
                    int64_t iteration) {
  const std::string wrong = read(file, "/data/" + std::to_string(iteration) + "/meshes/field", found);
  if (!wrong.empty()) return file + " " + wrong;
  for (size_t i = 0; i < expected.size(); ++i) {
    if (std::memcmp(&expected[i], &found[i], sizeof(float)) == 0) continue;
    return file + " number " + std::to_string(i) + ": found " + std::to_string(found[i]) + ", expected " +
           std::to_string(expected[i]);
  }
  return "";
}

}  // namespace

std::string verify(const VerifyOptions& options) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  const size_t count = options.bytes / sizeof(float);
  const Buffer expected(options.bytes);
  const Buffer found(options.bytes);
  const std::span<float> field(reinterpret_cast<float*>(expected.data()), count);
  std::vector<std::string> wrong;
  int64_t equal = 0;
  for (int process = 0; process < options.processes; ++process) {
    fill(field, process);
    for (int iteration = 0; iteration < options.iterations; ++iteration) {
      mark(field, process, iteration);
      std::array<char, 64> name{};
      std::snprintf(name.data(), name.size(), "/run_c%d_%06d.h5", process, iteration);
      std::string said =
          compare(options.dir + name.data(), field, {reinterpret_cast<float*>(found.data()), count}, iteration);
      if (said.empty()) {
        ++equal;
      } else {
        wrong.push_back(std::move(said));
      }
    }
  }
  return text_of({{"core_verify", 1}, {"equal", equal}, {"wrong", wrong}});
}

}  // namespace bench::core
