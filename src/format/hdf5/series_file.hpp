// SeriesFile: a file of several iterations (storage.iterations_per_file): where the next one begins, and the bytes
// that make it visible.
//
// An iteration's bytes follow those of the published ones, and change nothing of them. Among them are a root group
// and a group /data of its own, which links all iterations. The superblock, written last, names this root group:
// until then the file is what it was. So at most one iteration of a file is unfinished. Pure, apart from open().
#pragma once

#include <cstdint>
#include <string>

#include "format/hdf5/inspect_file.hpp"
#include "format/image/iteration_image.hpp"
#include "storage/file_system.hpp"

namespace tailrace::impl {

class SeriesFile {
 public:
  // Reads the published file `path`; there need not be one. Fails like read_contents().
  static Result<SeriesFile> open(FileSystem& files, const std::string& path);

  // Returns true if the file was there, under its final name.
  bool is_published() const { return is_published_; }
  bool contains(int64_t iteration) const { return contents_.iterations.contains(iteration); }
  // Returns the place where the next iteration's raw data begin.
  uint64_t next() const;

  // Adds an iteration whose image was made for this place. Returns the bytes that make it visible. Forget this object
  // if they could not be written: the file then is what it was. Fails with TAILRACE_INTERNAL if HDF5 has laid out the
  // image in an unexpected way.
  Result<FileEnding> add(int64_t iteration, IterationImage image);
  void note_published() { is_published_ = true; }

 private:
  bool is_published_ = false;
  FileContents contents_;
};

}  // namespace tailrace::impl
