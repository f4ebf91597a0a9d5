// DatasetStamps: describes datasets of an iteration that are like another one, without the work of HDF5.
//
// HDF5 describes a dataset of each kind, with all of its attributes. For each further one it only makes an empty
// group with room for a header of that size, and so the link to it. When it has closed the file, the header of the
// kind replaces the group's: all messages of the dataset that HDF5 described, with another place of the raw data. The
// caller holds LibraryLock.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "format/image/alike.hpp"
#include "format/image/image_driver.hpp"
#include "format/metadata/object_header.hpp"
#include "format/openpmd/handle.hpp"

namespace tailrace::impl {

class DatasetStamps {
 public:
  // Most kinds of a layout, since a dataset is compared with each. HDF5 describes the datasets of others.
  static constexpr size_t kMostKinds = 32;

  struct Kind;

  // All outlive this object. `image` has the bytes of the file.
  DatasetStamps(const Config& config, const IterationPlan& plan, FileImage& image);
  ~DatasetStamps();

  // Notes a dataset that HDF5 has described and closed, and the address of its header. `dataset` outlives this
  // object.
  void note(const NamedDataset& dataset, uint64_t address);
  // Returns the kind of a dataset that can be stamped; null: HDF5 must describe it. `in`: an object of the file.
  const Kind* find(hid_t in, const NamedDataset& dataset);
  // Makes a link to the dataset's header, which stamp() makes, and returns its address. Returns false if HDF5 failed.
  bool make(const Kind& kind, hid_t parent, const char* name, const NamedDataset& dataset, uint64_t& address);
  // Makes all the headers. Call it when HDF5 has closed the file.
  void stamp();

 private:
  struct Made {
    const Kind* kind;
    uint64_t address;
    uint64_t raw;  // where the raw data are
  };

  bool cut(hid_t in, Kind& kind);
  std::optional<ObjectHeader> header_at(uint64_t address) const;

  const Config& config_;
  const IterationPlan& plan_;
  FileImage& image_;
  std::vector<std::vector<std::unique_ptr<Kind>>> kinds_;  // by layout of the configuration
  std::vector<Made> made_;
};

}  // namespace tailrace::impl
