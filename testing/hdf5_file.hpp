// Hdf5File: reads files of the format back with the HDF5 library itself, from disk or from bytes in memory.
//
// For checkers. Takes HDF5's lock in each call, so that it may be used while a session runs.
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
  // Null if HDF5 does not take it for a whole file.
  static std::unique_ptr<Hdf5File> open(const std::string& path);
  static std::unique_ptr<Hdf5File> open(std::span<const std::byte> bytes);
  ~Hdf5File();

  // The raw data of /data/<iteration>/meshes/<variable> as H5Dread gives them in the dataset's own type, or would if
  // it had the filters; nothing if there is no such dataset.
  std::optional<std::vector<std::byte>> read(int64_t iteration, const std::string& variable) const;
  std::vector<uint64_t> shape(int64_t iteration, const std::string& variable) const;
  // Names of the datasets of an iteration, sorted; empty if there is no such iteration.
  std::vector<std::string> variables(int64_t iteration) const;
  // An attribute of one or more fixed-length strings of the object `object`; empty if there is none.
  std::vector<std::string> texts(const std::string& object, const std::string& attribute) const;
  // An attribute of integers; empty if there is none.
  std::vector<uint64_t> numbers(const std::string& object, const std::string& attribute) const;
  // Returns true if the dataset's element type is the native one that the configuration calls so ("float32").
  bool has_type(int64_t iteration, const std::string& variable, const std::string& type) const;

 private:
  struct State;
  explicit Hdf5File(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tailrace::impl
