#include "lab/hdf5/rows.hpp"

#include <unistd.h>

#include <random>
#include <string>
#include <vector>

#include "lab/pattern/clock.hpp"

namespace bench::hdf5 {
namespace {

// A dataset of rows of doubles, in its own file.
class Matrix {
 public:
  // Creates it with `rows` rows.
  Matrix(const std::string& path, hid_t access, hsize_t rows, hsize_t columns, hid_t creation = H5P_DEFAULT,
         bool grows = false)
      : columns_(columns) {
    const hsize_t shape[2] = {rows, columns};
    const hsize_t most[2] = {grows ? H5S_UNLIMITED : rows, columns};
    const hsize_t row[2] = {1, columns};
    const hid_t space = H5Screate_simple(2, shape, most);
    row_ = H5Screate_simple(2, row, nullptr);
    file_ = good(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access), "H5Fcreate");
    data_ =
        good(H5Dcreate2(file_, "matrix", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, creation, H5P_DEFAULT), "H5Dcreate2");
    H5Sclose(space);
    space_ = good(H5Dget_space(data_), "H5Dget_space");
  }
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;

  void write_all(const double* values) {
    good(H5Dwrite(data_, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), "H5Dwrite");
  }
  void write(hsize_t row, const double* values) {
    select(row);
    good(H5Dwrite(data_, H5T_NATIVE_DOUBLE, row_, space_, H5P_DEFAULT, values), "H5Dwrite");
  }
  void read(hsize_t row, double* values) {
    select(row);
    good(H5Dread(data_, H5T_NATIVE_DOUBLE, row_, space_, H5P_DEFAULT, values), "H5Dread");
  }
  void extend(hsize_t rows) {
    const hsize_t shape[2] = {rows, columns_};
    good(H5Dset_extent(data_, shape), "H5Dset_extent");
    H5Sclose(space_);
    space_ = good(H5Dget_space(data_), "H5Dget_space");
  }
  void flush() { good(H5Fflush(file_, H5F_SCOPE_LOCAL), "H5Fflush"); }
  void close() {
    H5Sclose(space_);
    H5Sclose(row_);
    H5Dclose(data_);
    good(H5Fclose(file_), "H5Fclose");
  }

 private:
  void select(hsize_t row) {
    const hsize_t at[2] = {row, 0};
    const hsize_t count[2] = {1, columns_};
    H5Sselect_hyperslab(space_, H5S_SELECT_SET, at, nullptr, count, nullptr);
  }

  const hsize_t columns_;
  hid_t row_;
  hid_t file_;
  hid_t data_;
  hid_t space_;
};

constexpr hsize_t kShort = 64;  // doubles

// The order of the rows.
class Order {
 public:
  explicit Order(const Options& options) : options_(options) {}
  uint64_t row(uint64_t turn) { return options_.random ? random_() % options_.count : turn; }

 private:
  const Options& options_;
  std::mt19937_64 random_{1};
};

}  // namespace

nlohmann::json read_back(const Options& options) {
  const std::vector<double> values(options.count * kShort, 1.0);
  std::vector<double> row(kShort);
  Matrix matrix(options.file, access_list(options), options.count, kShort);
  Order order(options);
  double sum = 0;
  matrix.write_all(values.data());
  const double start = now();
  for (uint64_t i = 0; i < options.count; ++i) {
    matrix.read(order.row(i), row.data());
    sum += row[i % kShort];
  }
  const double end = now();
  matrix.close();
  return {{"total", end - start}, {"sum", sum}};
}

nlohmann::json add_to_rows(const Options& options) {
  const std::vector<double> values(options.count * kShort, 1.0);
  std::vector<double> row(kShort);
  Matrix matrix(options.file, access_list(options), options.count, kShort);
  Order order(options);
  matrix.write_all(values.data());
  matrix.flush();
  const double start = now();
  for (uint64_t i = 0; i < options.count; ++i) {
    const uint64_t at = order.row(i);
    matrix.read(at, row.data());
    for (double& value : row) value += 1;
    matrix.write(at, row.data());
  }
  matrix.close();
  return {{"total", now() - start}};
}

nlohmann::json append_rows(const Options& options) {
  constexpr hsize_t kLong = 8192;  // doubles
  std::vector<double> row(kLong);
  for (size_t i = 0; i < row.size(); ++i) row[i] = static_cast<double>(i % 1000);
  const hid_t creation = good(H5Pcreate(H5P_DATASET_CREATE), "H5Pcreate");
  const hsize_t chunk[2] = {1, kLong};
  H5Pset_chunk(creation, 2, chunk);
  H5Pset_shuffle(creation);
  H5Pset_deflate(creation, 1);
  Matrix matrix(options.file, access_list(options), 0, kLong, creation, true);
  const double start = now();
  for (uint64_t i = 0; i < options.count; ++i) {
    matrix.extend(i + 1);
    matrix.write(i, row.data());
  }
  matrix.close();
  const double end = now();
  H5Pclose(creation);
  return {{"total", end - start}};
}

nlohmann::json flush_each_row(const Options& options) {
  const std::vector<double> row(512, 1.0);
  Matrix matrix(options.file, access_list(options), options.count, row.size());
  const double start = now();
  for (uint64_t i = 0; i < options.count; ++i) {
    matrix.write(i, row.data());
    matrix.flush();
  }
  matrix.close();
  return {{"total", now() - start}};
}

nlohmann::json write_parts(const Options& options) {
  const hsize_t columns = options.row / sizeof(double);
  const hsize_t shape[2] = {options.bytes / options.row, columns};
  const hsize_t one[2] = {1, columns};
  const std::vector<double> row(columns, 1.0);
  const hid_t access = access_list(options);
  const hid_t memory = H5Screate_simple(2, one, nullptr);
  const hid_t space = H5Screate_simple(2, shape, nullptr);
  const double start = now();
  const hid_t file = good(H5Fcreate(options.file.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access), "H5Fcreate");
  for (uint64_t i = 0; i < options.count; ++i) {
    const hid_t data = good(H5Dcreate2(file, ("data" + std::to_string(i)).c_str(), H5T_NATIVE_DOUBLE, space,
                                       H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                            "H5Dcreate2");
    for (hsize_t at[2] = {0, 0}; at[0] < shape[0]; ++at[0]) {
      H5Sselect_hyperslab(space, H5S_SELECT_SET, at, nullptr, one, nullptr);
      good(H5Dwrite(data, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, row.data()), "H5Dwrite");
    }
    H5Dclose(data);
  }
  good(H5Fclose(file), "H5Fclose");
  return {{"total", now() - start}};
}

nlohmann::json write_files(const Options& options) {
  const std::vector<double> values(10'000, 1.0);
  const hid_t access = access_list(options);
  const std::string prefix = options.file + "." + std::to_string(getpid()) + ".";
  const double start = now();
  for (uint64_t i = 0; i < options.count; ++i) {
    Matrix matrix(prefix + std::to_string(i), access, 1, values.size());
    matrix.write_all(values.data());
    matrix.close();
  }
  const double end = now();
  for (uint64_t i = 0; i < options.count; ++i) {
    if (truncate((prefix + std::to_string(i)).c_str(), 0) != 0) throw std::runtime_error("cannot empty a file");
  }
  return {{"total", end - start}};
}

}  // namespace bench::hdf5
