// What a file on disk says of itself, for recovery and for reading what an earlier run wrote. Reads; never writes.
//
// Whether a file is whole is judged without the HDF5 library, since what a crash has left may hold anything; the
// library is shown whole files alone. It refuses what then fails a checksum; that it survives forged ones nobody
// promises.
#pragma once

#include <cstdint>
#include <string>

#include "format/format.hpp"

namespace tailrace::impl {

// Whether the file open as `fd` is a whole HDF5 file: has its superblock and root group, and is as long as that says.
// Fails only if the file cannot be read or is none (a pipe, a directory). `path` is for messages.
Result<bool> is_complete(int fd, const std::string& path);
Result<bool> is_complete(const std::string& path);

// Where the raw data of /data/<iteration>/meshes/<variable> lie in `path`; the dataset must have the layout's shape
// and size of elements, and be contiguous unless it is empty.
Result<Extent> find_dataset(const std::string& path, int64_t iteration, const std::string& variable,
                            const Layout& layout);
// Whether a dataset that blocks of several clients are put together in has this one. Where there are too many for the
// dataset to say which it has: whether there is such a dataset.
Result<bool> has_block(const std::string& path, int64_t iteration, const std::string& variable, const Layout& block);
// Where the chunks of this dataset lie, in the order of plan.chunking; it must be stored as `plan` says. Chunks that
// are not in the file have length 0.
Result<std::vector<PlacedChunk>> find_chunks(const std::string& path, int64_t iteration, const std::string& variable,
                                             const FilterPlan& plan);

// What a reader is told who expects another shape than a dataset has.
Status another_shape(const std::string& variable, const std::string& path, const std::vector<uint64_t>& found,
                     const std::vector<uint64_t>& expected);

}  // namespace tailrace::impl
