// Inspects files in the storage, for recovery and for reading the output of an earlier run. Reads; never writes.
//
// The HDF5 library does not decide whether a file is complete, since a crash may leave anything in a file: the
// library sees only complete files. It refuses wrong checksums; nothing guarantees that it survives forged ones.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "format/format.hpp"
#include "format/metadata/iteration_index.hpp"
#include "format/plan/stored_as.hpp"
#include "storage/file_system.hpp"

namespace tailrace::impl {

// Returns true if the open file is a complete HDF5 file: it has its superblock and root group, and the length that
// the superblock records. Fails only if the file cannot be read, or if `path` is no file (a pipe, a directory).
Result<bool> is_complete(const FileSystem& files, FileHandle file);
Result<bool> is_complete(FileSystem& files, const std::string& path);

// The iterations of a complete file, and the end of what it has.
struct FileContents {
  uint64_t end = 0;
  IterationIndex iterations;
};

// Returns the contents of a file of several iterations (storage.iterations_per_file); none if there is no such file.
// Fails with TAILRACE_IO_ERROR if the file is not one that tailrace has published.
Result<std::optional<FileContents>> read_contents(FileSystem& files, const std::string& path);

// An iteration's time, in units of `unit` seconds.
struct FileTime {
  double time = 0;
  double unit = 1;
};

// Returns the time that the group of an iteration has: "/data/7", or "/" in a file of the plain format.
Result<FileTime> find_time(FileSystem& files, const std::string& path, const std::string& group);

// Returns the place of the raw data of the dataset `as` in /data/<iteration> of `path`. The dataset must have
// that shape and element size, and be contiguous unless it is empty.
Result<Extent> find_dataset(FileSystem& files, const std::string& path, int64_t iteration, const StoredAs& as);
// Returns true if a dataset that several clients' blocks form contains the block of `as`. If the dataset has too many
// blocks to list them, returns true if it exists.
Result<bool> has_block(FileSystem& files, const std::string& path, int64_t iteration, const StoredAs& as);
// Returns the places of the chunks of this dataset, in the order of plan.chunking; it must be stored as `plan` says.
// Chunks that are not in the file have length 0.
Result<std::vector<PlacedChunk>> find_chunks(FileSystem& files, const std::string& path, int64_t iteration,
                                             const StoredAs& as, const FilterPlan& plan);

// Returns the error for a reader that expects another shape than the dataset has.
Status another_shape(const std::string& variable, const std::string& path, const std::vector<uint64_t>& found,
                     const std::vector<uint64_t>& expected);

}  // namespace tailrace::impl
