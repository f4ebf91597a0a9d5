// Inspection of a file of the storage, for recovery and for reading the output of an earlier run. Reads; never
// writes.
//
// The HDF5 library does not judge whether a file is whole, since a file that a crash has left may hold anything: the
// library sees whole files alone. It refuses those whose checksums are wrong; nobody promises that it survives forged
// checksums.
#pragma once

#include <cstdint>
#include <string>

#include "format/format.hpp"
#include "format/hdf5/stored_as.hpp"
#include "storage/file_system.hpp"

namespace tailrace::impl {

// Returns true if the open file is a whole HDF5 file: it has its superblock and root group, and is as long as the
// superblock says. Fails only if the file cannot be read, or, by its name, if it is none (a pipe, a directory).
Result<bool> is_complete(const FileSystem& files, FileHandle file);
Result<bool> is_complete(FileSystem& files, const std::string& path);

// Where the raw data of the dataset `as` in /data/<iteration>/meshes lie in `path`; it must have that shape and size
// of elements, and be contiguous unless it is empty.
Result<Extent> find_dataset(FileSystem& files, const std::string& path, int64_t iteration, const StoredAs& as);
// Returns true if a dataset that is put together of several clients' blocks has this block. If there are too many
// blocks for the dataset to list: if there is such a dataset.
Result<bool> has_block(FileSystem& files, const std::string& path, int64_t iteration, const std::string& variable,
                       const Layout& block);
// Where the chunks of this dataset lie, in the order of plan.chunking; it must be stored as `plan` says. Chunks that
// are not in the file have length 0.
Result<std::vector<PlacedChunk>> find_chunks(FileSystem& files, const std::string& path, int64_t iteration,
                                             const std::string& variable, const FilterPlan& plan);

// Returns the error for a reader who expects another shape than a dataset has.
Status another_shape(const std::string& variable, const std::string& path, const std::vector<uint64_t>& found,
                     const std::vector<uint64_t>& expected);

}  // namespace tailrace::impl
