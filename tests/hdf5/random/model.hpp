// The model of datasets as plain numbers in memory, and its transport to the process that looks at the files.
#pragma once

#include <string>
#include <vector>

#include "selection.hpp"
#include "types.hpp"

namespace tailrace::test {

// Value of elements that HDF5 does not define: contiguous data without a fill value that were never written. Space
// that was in use before keeps its contents.
constexpr int kUnknown = -2;

struct Model {
  std::string file;  // path
  std::string name;  // in it
  Family family = Family::numbers;
  Shape shape;
  Shape chunk;  // empty: contiguous
  int fill = 0;
  bool fills = true;  // what is not written, from the first write on
  bool written = false;
  H5D_fill_time_t fill_time = H5D_FILL_TIME_IFSET;    // as it was made with
  H5D_alloc_time_t alloc_time = H5D_ALLOC_TIME_LATE;  // …
  std::vector<int> numbers;

  void write(const std::vector<size_t>& elements, const std::vector<int>& values);
  // The extent of one in chunks becomes another one.
  void extend(const Shape& to);
  // Nobody has written to it.
  void clear();
  bool takes_space() const { return written || alloc_time == H5D_ALLOC_TIME_EARLY; }
};

// Its file, name, shape and chunks, for messages.
std::string describe(const Model& model);

// Models kept in a file: name, family, properties and numbers of each.
void save(const std::vector<Model>& models, const std::string& path);
std::vector<Model> load(const std::string& path);

}  // namespace tailrace::test
