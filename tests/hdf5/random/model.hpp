// The model of datasets as plain numbers in memory, and its transfer to the process that checks the files.
#pragma once

#include <string>
#include <vector>

#include "selection.hpp"
#include "types.hpp"

namespace tailrace::test {

// The value of elements that HDF5 does not define: contiguous data without a fill value that were never written.
// Reused space keeps its contents.
constexpr int kUnknown = -2;

struct Model {
  std::string file;  // path of the file
  std::string name;  // path within it
  Family family = Family::numbers;
  Shape shape;
  Shape chunk;  // empty: contiguous
  int fill = 0;
  bool fills = true;  // HDF5 fills unwritten elements, from the first write on
  bool written = false;
  H5D_fill_time_t fill_time = H5D_FILL_TIME_IFSET;    // as at its creation
  H5D_alloc_time_t alloc_time = H5D_ALLOC_TIME_LATE;  // as at its creation
  std::vector<int> numbers;

  void write(const std::vector<size_t>& elements, const std::vector<int>& values);
  // Changes the extent of a dataset in chunks.
  void extend(const Shape& to);
  // Notes that nothing was written to it.
  void clear();
  bool takes_space() const { return written || alloc_time == H5D_ALLOC_TIME_EARLY; }
};

// Returns its file, name, shape and chunks, for messages.
std::string describe(const Model& model);

// Keep models in a file: name, family, properties and numbers of each.
void save(const std::vector<Model>& models, const std::string& path);
std::vector<Model> load(const std::string& path);

}  // namespace tailrace::test
