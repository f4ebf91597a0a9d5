// IterationImage: the HDF5 file of one iteration while it is being written: its metadata in memory, its raw data not.
//
// openPMD 1.1, file-based: /data/<iteration>/meshes/<variable>, one dataset a variable, created when its first block
// comes, contiguous, allocated early, never filled, aligned to pages (docs/formats/output.md).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "format/format.hpp"
#include "format/hdf5/handle.hpp"
#include "format/hdf5/image_driver.hpp"
#include "model/config.hpp"

namespace tailrace::impl {

// What is written into every file, beside the data.
struct Provenance {
  std::string series;   // openPMD's iterationFormat: the file name with %06T
  std::string machine;  // host name
  std::string date;     // "2026-11-21 21:00:00 +0000"
  int client = 0;
};

class IterationImage {
 public:
  static Result<std::unique_ptr<IterationImage>> create(const Config& config, const Provenance& provenance,
                                                        int64_t iteration, const std::string& path);
  ~IterationImage();

  // See Format.
  Result<Extent> place(uint32_t variable);
  void note_event(const std::string& event) { events_.push_back(event); }
  Result<FileEnding> finish();

  // By variable; length 0 for variables of which no block came.
  const std::vector<Extent>& extents() const { return extents_; }

 private:
  IterationImage(const Config& config, int64_t iteration, std::string path);
  Status begin(const Provenance& provenance);
  bool describe_root(const Provenance& provenance);
  bool describe_iteration();
  bool describe_mesh(hid_t dataset, const Variable& variable, const Layout& layout);
  Status failed(const char* operation) const;

  const Config& config_;
  const int64_t iteration_;
  const std::string path_;
  FileImage image_;
  Handle file_;
  Handle group_;   // /data/<iteration>
  Handle meshes_;  // /data/<iteration>/meshes
  std::vector<Extent> extents_;
  std::vector<std::string> events_;
};

}  // namespace tailrace::impl
