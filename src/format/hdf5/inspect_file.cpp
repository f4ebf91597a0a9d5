#include "format/hdf5/inspect_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

#include "format/hdf5/handle.hpp"

namespace tailrace::impl {
namespace {

Handle open_for_reading(const std::string& path) {
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  // Readers take no lock on the file: a leftover may lie on a file system that has none.
  H5Pset_file_locking(access.id(), false, true);
  return {H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.id()), H5Fclose};
}

}  // namespace

Result<bool> is_complete(const std::string& path) {
  if (::access(path.c_str(), R_OK) != 0) return Status::of_errno("open", path, errno);
  const LibraryLock lock;
  // Opening checks the superblock's checksum and compares the file's length with its end of allocation.
  const bool complete = open_for_reading(path).valid();
  H5Eclear2(H5E_DEFAULT);
  return complete;
}

Result<Extent> find_dataset(const std::string& path, int64_t iteration, const std::string& variable, uint64_t bytes) {
  if (::access(path.c_str(), R_OK) != 0) {
    if (errno != ENOENT) return Status::of_errno("open", path, errno);
    return Status(TAILRACE_NOT_FOUND, fmt::format("read: there is no file '{}'", path));
  }
  const LibraryLock lock;
  const Handle file = open_for_reading(path);
  if (!file.valid()) return hdf5_failure(TAILRACE_IO_ERROR, "open", path);
  const std::string name = fmt::format("/data/{}/meshes/{}", iteration, variable);
  const Handle dataset(H5Dopen2(file.id(), name.c_str(), H5P_DEFAULT), H5Dclose);
  if (!dataset.valid()) {
    H5Eclear2(H5E_DEFAULT);
    return Status(TAILRACE_NOT_FOUND, fmt::format("read: '{}' has no dataset {}", path, name));
  }
  const haddr_t address = H5Dget_offset(dataset.id());
  const hsize_t stored = H5Dget_storage_size(dataset.id());
  if (address == HADDR_UNDEF || stored != bytes) {
    return Status(TAILRACE_WRONG_SHAPE, fmt::format("read: {} in '{}' holds {} contiguous bytes, expected {}", name,
                                                    path, address == HADDR_UNDEF ? 0 : stored, bytes));
  }
  return Extent{address, bytes};
}

}  // namespace tailrace::impl
