// Hdf5File: reads files of the format back with the HDF5 library itself, from disk or from bytes in memory.
//
// For checkers. It takes HDF5's lock in each call, so it may be used while a session runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tailrace::impl {

class Hdf5File {
 public:
  // Returns null if HDF5 does not accept it as a complete file.
  static std::unique_ptr<Hdf5File> open(const std::string& path);
  static std::unique_ptr<Hdf5File> open(std::span<const std::byte> bytes);
  ~Hdf5File();

  // Returns true if the file has a group of that iteration.
  bool has(int64_t iteration) const;
  // Returns the raw data of a variable ("T", "E/x", or "electrons/weighting" of particles) as H5Dread returns them in
  // the dataset's own type, or would if it had the filters; nothing if there is no such dataset.
  std::optional<std::vector<std::byte>> read(int64_t iteration, const std::string& variable) const;
  std::vector<uint64_t> shape(int64_t iteration, const std::string& variable) const;
  // Returns the names of the variables of an iteration, sorted, without dimension scales; empty if there is no such
  // iteration.
  std::vector<std::string> variables(int64_t iteration) const;
  // Returns an attribute of `object` with one or more fixed-length strings; empty if there is none.
  std::vector<std::string> texts(const std::string& object, const std::string& attribute) const;
  // Returns an attribute that is a number.
  std::optional<double> number(const std::string& object, const std::string& attribute) const;
  // Returns an attribute of integers; empty if there is none.
  std::vector<uint64_t> numbers(const std::string& object, const std::string& attribute) const;
  // Returns an attribute of real numbers; empty if there is none.
  std::vector<double> reals(const std::string& object, const std::string& attribute) const;
  // Returns the coordinates along an axis: the values of its dimension scale, which must refer back to the dataset.
  // Nothing if it has none.
  std::optional<std::vector<double>> coordinates(int64_t iteration, const std::string& variable, size_t axis) const;
  // Returns true if the dataset's element type is the native one that the configuration calls `type` ("float32").
  bool has_type(int64_t iteration, const std::string& variable, const std::string& type) const;

 private:
  struct State;
  explicit Hdf5File(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tailrace::impl
