#include "lab/hdf5/loops.hpp"

#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "lab/pattern/clock.hpp"

namespace bench::hdf5 {
namespace {

constexpr int kKept = 3;  // iterations

// The loop's computation and output.
class Loop {
 public:
  explicit Loop(const Options& options)
      : options_(options), access_(access_list(options)), values_(options.bytes / sizeof(double)) {
    std::mt19937_64 random{1};
    for (double& value : values_) value = static_cast<double>(random());
    const hsize_t length = values_.size();
    space_ = H5Screate_simple(1, &length, nullptr);
  }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  ~Loop() {
    H5Sclose(space_);
    H5Pclose(access_);
  }

  // Calls output(i) after each time of computing; returns the time of all.
  template <class Output>
  nlohmann::json run(Output output) {
    const double start = now();
    for (int i = 0; i < options_.iterations; ++i) {
      const double end = now() + options_.compute;
      while (now() < end) {
      }
      output(i);
    }
    return {{"total", now() - start}};
  }

  hid_t create(const std::string& path) const {
    return good(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access_), "H5Fcreate");
  }
  void write(hid_t file, const std::string& name) const {
    const hid_t data =
        good(H5Dcreate2(file, name.c_str(), H5T_NATIVE_DOUBLE, space_, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
             "H5Dcreate2");
    good(H5Dwrite(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values_.data()), "H5Dwrite");
    H5Dclose(data);
  }
  void write_file(const std::string& path) const {
    const hid_t file = create(path);
    write(file, "field");
    good(H5Fclose(file), "H5Fclose");
  }

 private:
  const Options& options_;
  const hid_t access_;
  std::vector<double> values_;
  hid_t space_;
};

void must(bool done, const char* what) {
  if (!done) throw std::runtime_error(std::string(what) + " failed");
}

}  // namespace

nlohmann::json keep_three(const Options& options) {
  Loop loop(options);
  const auto name = [&](int i) { return options.file + "." + std::to_string(i); };
  return loop.run([&](int i) {
    loop.write_file(name(i));
    if (i >= kKept) must(std::remove(name(i - kKept).c_str()) == 0, "remove");
  });
}

nlohmann::json replace_file(const Options& options) {
  Loop loop(options);
  const std::string next = options.file + ".next";
  return loop.run([&](int) {
    loop.write_file(next);
    must(std::rename(next.c_str(), options.file.c_str()) == 0, "rename");
  });
}

nlohmann::json overwrite_file(const Options& options) {
  Loop loop(options);
  return loop.run([&](int) { loop.write_file(options.file); });
}

nlohmann::json delete_datasets(const Options& options) {
  Loop loop(options);
  const auto name = [](int i) { return "field" + std::to_string(i); };
  const hid_t file = loop.create(options.file);
  const double start = now();
  loop.run([&](int i) {
    loop.write(file, name(i));
    if (i >= kKept) good(H5Ldelete(file, name(i - kKept).c_str(), H5P_DEFAULT), "H5Ldelete");
  });
  good(H5Fclose(file), "H5Fclose");
  return {{"total", now() - start}};
}

}  // namespace bench::hdf5
