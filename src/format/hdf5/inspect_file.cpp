#include "format/hdf5/inspect_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <vector>

#include "format/hdf5/commit_record.hpp"
#include "format/hdf5/handle.hpp"

namespace tailrace::impl {
namespace {

Handle open_for_reading(const std::string& path) {
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  // Readers take no lock on the file: a leftover may lie on a file system that has none.
  H5Pset_file_locking(access.id(), false, true);
  return {H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.id()), H5Fclose};
}

// What is known of a file before HDF5 opens it.
struct Outside {
  uint64_t size = 0;
  bool whole = false;  // has its superblock and root group, and is as long as that says
};

// Up to `size` bytes from `offset` on; fewer at the end of the file.
Result<std::vector<std::byte>> read_bytes(int fd, const std::string& path, uint64_t offset, size_t size) {
  std::vector<std::byte> bytes(size);
  size_t length = 0;
  while (length < size) {
    const ssize_t count = ::pread(fd, bytes.data() + length, size - length, static_cast<off_t>(offset + length));
    if (count == 0) break;
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Status::of_errno("read", path, errno);
    length += static_cast<size_t>(count);
  }
  bytes.resize(length);
  return bytes;
}

Result<Outside> look_at_open(int fd, const std::string& path) {
  struct stat found {};
  if (fstat(fd, &found) != 0) return Status::of_errno("stat", path, errno);
  if (!S_ISREG(found.st_mode)) {
    return Status(TAILRACE_IO_ERROR, fmt::format("open '{}': found something else, expected a file", path));
  }
  Outside outside{static_cast<uint64_t>(found.st_size), false};
  const auto head = read_bytes(fd, path, 0, kSuperblockBytes);
  if (!head.ok()) return head.status();
  const std::optional<CommitRecord> record = parse_commit_record(head.value());
  if (!record || record->end > outside.size) return outside;
  const auto root = read_bytes(fd, path, record->root, kMostRootBytes);
  if (!root.ok()) return root.status();
  outside.whole = has_root(root.value());
  return outside;
}

// Only regular files are read: opening a pipe to which nobody writes would never end.
Result<Outside> look_at(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) return Status::of_errno("open", path, errno);
  Result<Outside> outside = look_at_open(fd, path);
  ::close(fd);
  return outside;
}

}  // namespace

Result<bool> is_complete(const std::string& path) {
  const Result<Outside> outside = look_at(path);
  if (!outside.ok()) return outside.status();
  return outside.value().whole;
}

Result<Extent> find_dataset(const std::string& path, int64_t iteration, const std::string& variable, uint64_t bytes) {
  const Result<Outside> outside = look_at(path);
  if (!outside.ok()) {
    if (outside.status().fault().system_errno != ENOENT) return outside.status();
    return Status(TAILRACE_NOT_FOUND, fmt::format("read: there is no file '{}'", path));
  }
  if (!outside.value().whole) {
    return Status(TAILRACE_IO_ERROR, fmt::format("read '{}': found a file of {} bytes that is not "
                                                 "whole, expected one that tailrace has published",
                                                 path, outside.value().size));
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
  const uint64_t size = outside.value().size;
  if (bytes > size || address > size - bytes) {
    return Status(TAILRACE_IO_ERROR, fmt::format("read: {} in '{}' has {} bytes from {} on, but the file ends at {}",
                                                 name, path, bytes, address, size));
  }
  return Extent{address, bytes};
}

}  // namespace tailrace::impl
