#include "format/hdf5/inspect_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/names/counted.hpp"
#include "format/hdf5/reading_driver.hpp"
#include "format/metadata/commit_record.hpp"
#include "format/openpmd/handle.hpp"
#include "model/attribute.hpp"

namespace tailrace::impl {
namespace {

// A file of the storage, open for this object's life.
class OpenToRead {
 public:
  static Result<OpenToRead> open(FileSystem& files, const std::string& path) {
    const Result<Opened> opened = files.open(path, OpenMode::read, 0);
    if (!opened.ok()) return opened.status();
    return OpenToRead(files, opened.value().file);
  }
  OpenToRead(OpenToRead&& other) noexcept : files_(std::exchange(other.files_, nullptr)), file_(other.file_) {}
  OpenToRead& operator=(OpenToRead&&) = delete;
  ~OpenToRead() {
    if (files_ != nullptr) files_->close(file_);
  }

  const FileSystem& files() const { return *files_; }
  FileHandle handle() const { return file_; }

 private:
  OpenToRead(FileSystem& files, FileHandle file) : files_(&files), file_(file) {}

  FileSystem* files_;
  FileHandle file_;
};

// Facts about a file before HDF5 opens it.
struct Outside {
  uint64_t size = 0;
  bool whole = false;     // it has its superblock and root group, and the length recorded there
  CommitRecord record{};  // if it is complete
};

// Returns up to `size` bytes from `offset` on; fewer at the end of the file.
Result<std::vector<std::byte>> read_bytes(const FileSystem& files, FileHandle file, uint64_t offset, size_t size) {
  std::vector<std::byte> bytes(size);
  const Result<size_t> count = files.read(file, offset, bytes);
  if (!count.ok()) return count.status();
  bytes.resize(count.value());
  return bytes;
}

Result<Outside> look_at(const FileSystem& files, FileHandle file) {
  const Result<uint64_t> size = files.size(file);
  if (!size.ok()) return size.status();
  Outside outside{size.value(), false, {}};
  const auto head = read_bytes(files, file, 0, kSuperblockBytes);
  if (!head.ok()) return head.status();
  const std::optional<CommitRecord> record = parse_commit_record(head.value());
  if (!record || record->end > outside.size) return outside;
  const auto root = read_bytes(files, file, record->root, kMostRootBytes);
  if (!root.ok()) return root.status();
  outside.whole = has_root(root.value());
  outside.record = *record;
  return outside;
}

}  // namespace

Status another_shape(const std::string& variable, const std::string& path, const std::vector<uint64_t>& found,
                     const std::vector<uint64_t>& expected) {
  return Status(TAILRACE_WRONG_SHAPE,
                fmt::format("read: {} in '{}' was written with the shape [{}], expected [{}], its shape now",
                            variable, path, fmt::join(found, ", "), fmt::join(expected, ", ")));
}

Result<bool> is_complete(const FileSystem& files, FileHandle file) {
  const Result<Outside> outside = look_at(files, file);
  if (!outside.ok()) return outside.status();
  return outside.value().whole;
}

Result<bool> is_complete(FileSystem& files, const std::string& path) {
  const Result<OpenToRead> open = OpenToRead::open(files, path);
  if (!open.ok()) return open.status();
  return is_complete(files, open.value().handle());
}

Result<std::optional<FileContents>> read_contents(FileSystem& files, const std::string& path) {
  const Result<OpenToRead> open = OpenToRead::open(files, path);
  if (!open.ok() && open.status().fault().system_errno == ENOENT) return std::optional<FileContents>();
  if (!open.ok()) return open.status();
  const FileHandle file = open.value().handle();
  const Result<Outside> outside = look_at(files, file);
  if (!outside.ok()) return outside.status();
  const auto read = [&files, file](uint64_t offset, std::span<std::byte> to) {
    const Result<size_t> count = files.read(file, offset, to);
    return count.ok() && count.value() == to.size();
  };
  const CommitRecord& record = outside.value().record;
  const auto root = outside.value().whole ? ObjectHeader::read(record.root, read) : std::nullopt;
  const auto link = root ? root->link_address("data") : std::nullopt;
  std::array<std::byte, 8> address{};
  const auto data = link && read(link->value.offset, address)
                        ? ObjectHeader::read(little_endian(address, 0, address.size()), read)
                        : std::nullopt;
  std::optional<IterationIndex> index = data ? IterationIndex::from(*data) : std::nullopt;
  if (index) return std::optional(FileContents{record.end, std::move(*index)});
  return Status(TAILRACE_IO_ERROR, fmt::format("read '{}': found a file of {} without a group /data that links "
                                               "iterations, expected one that tailrace has published",
                                               path, counted(outside.value().size, "byte")));
}

namespace {

// A complete file that tailrace has published.
struct PublishedFile {
  OpenToRead open;
  ReadableFile readable;  // HDF5's view of it; does not change or move from here on
};

Result<std::unique_ptr<PublishedFile>> open_published(FileSystem& files, const std::string& path) {
  Result<OpenToRead> open = OpenToRead::open(files, path);
  if (!open.ok()) {
    if (open.status().fault().system_errno != ENOENT) return open.status();
    return Status(TAILRACE_NOT_FOUND, fmt::format("read: there is no file '{}'", path));
  }
  const Result<Outside> outside = look_at(files, open.value().handle());
  if (!outside.ok()) return outside.status();
  const uint64_t size = outside.value().size;
  if (!outside.value().whole) {
    return Status(TAILRACE_IO_ERROR, fmt::format("read '{}': found a file of {} that is not "
                                                 "whole, expected one that tailrace has published",
                                                 path, counted(size, "byte")));
  }
  const FileHandle handle = open.value().handle();
  return std::unique_ptr<PublishedFile>(new PublishedFile{std::move(open).value(), {files, handle, size}});
}

// A dataset of a complete file. LibraryLock is held for its life.
struct OpenDataset {
  uint64_t file_size = 0;
  std::string name;
  Handle file;
  Handle dataset;
};

Handle open_for_reading(const std::string& path, ReadableFile& file) {
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  if (!use_readable(access.id(), &file)) return {};
  return {H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.id()), H5Fclose};
}

Result<OpenDataset> open_dataset(const std::string& path, PublishedFile& published, int64_t iteration,
                                 const StoredAs& as) {
  OpenDataset open;
  open.file_size = published.readable.size();
  const bool at_root = *as.root == '\0';  // of a file of the plain format
  open.name = at_root ? "/" + as.name : fmt::format("/data/{}/{}/{}", iteration, as.root, as.name);
  open.file = open_for_reading(path, published.readable);
  if (!open.file.valid()) return hdf5_failure(TAILRACE_IO_ERROR, "open", path);
  open.dataset = {H5Dopen2(open.file.id(), open.name.c_str(), H5P_DEFAULT), H5Dclose};
  if (!open.dataset.valid()) {
    H5Eclear2(H5E_DEFAULT);
    return Status(TAILRACE_NOT_FOUND, fmt::format("read: '{}' has no dataset {}", path, open.name));
  }
  return open;
}

Status check_inside(const OpenDataset& open, const std::string& path, const Extent& extent) {
  if (extent.length <= open.file_size && extent.offset <= open.file_size - extent.length) return {};
  return Status(TAILRACE_IO_ERROR,
                fmt::format("read: {} in '{}' has {} from {} on, but the file ends at {}", open.name, path,
                            counted(extent.length, "byte"), extent.offset, open.file_size));
}

std::vector<uint64_t> shape_of(const Handle& space) {
  std::vector<hsize_t> shape(static_cast<size_t>(std::max(0, H5Sget_simple_extent_ndims(space.id()))));
  H5Sget_simple_extent_dims(space.id(), shape.data(), nullptr);
  return {shape.begin(), shape.end()};
}

Status check_shape(const OpenDataset& open, const std::string& path, const std::vector<uint64_t>& expected) {
  const Handle space(H5Dget_space(open.dataset.id()), H5Sclose);
  const std::vector<uint64_t> found = shape_of(space);
  return found == expected ? Status() : another_shape(open.name, path, found, expected);
}

// Returns true if the dataset, whose shape is right, has the chunks and the filters of the plan.
bool is_stored_as(hid_t dataset, const FilterPlan& plan) {
  const Handle type(H5Dget_type(dataset), H5Tclose);
  const Handle creation(H5Dget_create_plist(dataset), H5Pclose);
  if (H5Tget_size(type.id()) != plan.stored_element_bytes()) return false;
  const size_t rank = plan.chunking.shape.size();
  std::vector<hsize_t> chunk(rank);
  if (H5Pget_layout(creation.id()) != H5D_CHUNKED) return false;
  if (H5Pget_chunk(creation.id(), static_cast<int>(rank), chunk.data()) != static_cast<int>(rank)) return false;
  if (!std::equal(chunk.begin(), chunk.end(), plan.chunking.shape.begin())) return false;
  std::vector<H5Z_filter_t> expected;
  if (plan.shuffle) expected.push_back(H5Z_FILTER_SHUFFLE);
  if (plan.compressor == Compressor::deflate) expected.push_back(H5Z_FILTER_DEFLATE);
  if (plan.compressor == Compressor::zstd) expected.push_back(kZstdFilter);
  std::vector<H5Z_filter_t> found;
  for (int i = 0; i < H5Pget_nfilters(creation.id()); ++i) {
    unsigned flags = 0;
    size_t values = 0;
    found.push_back(
        H5Pget_filter2(creation.id(), static_cast<unsigned>(i), &flags, &values, nullptr, 0, nullptr, nullptr));
  }
  return found == expected;
}

struct ChunkList {
  const Chunking& chunking;
  std::vector<PlacedChunk> chunks;
};

int take_chunk(const hsize_t* offset, unsigned skipped, haddr_t address, hsize_t size, void* to) {
  auto& list = *static_cast<ChunkList*>(to);
  uint64_t index = 0;
  for (size_t axis = 0; axis < list.chunking.shape.size(); ++axis) {
    const uint64_t at = offset[axis] / list.chunking.shape[axis];
    if (at >= list.chunking.counts[axis]) return H5_ITER_ERROR;
    index = index * list.chunking.counts[axis] + at;
  }
  list.chunks[index] = {{address, size}, skipped};
  return H5_ITER_CONT;
}

// Opens a file, and has HDF5 look into it, again and again until all that it reads has been fetched.
template <class T, class Look>
Result<T> look_into(FileSystem& files, const std::string& path, Look look) {
  const auto published = open_published(files, path);
  if (!published.ok()) return published.status();
  ReadableFile& file = published.value()->readable;
  for (;;) {
    if (Status status = file.fetch(); !status.ok()) return status;
    const LibraryLock lock;
    Result<T> found = look(*published.value());
    if (!file.is_missing_some()) return found;
    H5Eclear2(H5E_DEFAULT);
  }
}

}  // namespace

Result<FileTime> find_time(FileSystem& files, const std::string& path, const std::string& group) {
  return look_into<FileTime>(files, path, [&](PublishedFile& published) -> Result<FileTime> {
    const Handle file = open_for_reading(path, published.readable);
    if (!file.valid()) return hdf5_failure(TAILRACE_IO_ERROR, "open", path);
    FileTime found;
    for (const auto& [name, value] : {std::pair(kTimeAttribute, &found.time), {"timeUnitSI", &found.unit}}) {
      const Handle attribute(H5Aopen_by_name(file.id(), group.c_str(), name, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
      const Handle space(H5Aget_space(attribute.id()), H5Sclose);
      if (H5Sget_simple_extent_npoints(space.id()) == 1 && H5Aread(attribute.id(), H5T_NATIVE_DOUBLE, value) >= 0)
        continue;
      H5Eclear2(H5E_DEFAULT);
      return Status(TAILRACE_NOT_FOUND,
                    fmt::format("read: '{}' has no number as attribute {} of {}", path, name, group));
    }
    return found;
  });
}

Result<Extent> find_dataset(FileSystem& files, const std::string& path, int64_t iteration, const StoredAs& as) {
  return look_into<Extent>(files, path, [&](PublishedFile& published) -> Result<Extent> {
    const Result<OpenDataset> opened = open_dataset(path, published, iteration, as);
    if (!opened.ok()) return opened.status();
    const OpenDataset& open = opened.value();
    if (Status status = check_shape(open, path, as.shape()); !status.ok()) return status;
    const uint64_t bytes = as.bytes();
    if (bytes == 0) return Extent{};
    const haddr_t address = H5Dget_offset(open.dataset.id());
    const hsize_t stored = H5Dget_storage_size(open.dataset.id());
    if (address == HADDR_UNDEF || stored != bytes) {
      return Status(TAILRACE_WRONG_SHAPE, fmt::format("read: {} in '{}' holds {} contiguous bytes, expected {}",
                                                      open.name, path, address == HADDR_UNDEF ? 0 : stored, bytes));
    }
    const Extent extent{address, bytes};
    if (Status status = check_inside(open, path, extent); !status.ok()) return status;
    return extent;
  });
}

Result<bool> has_block(FileSystem& files, const std::string& path, int64_t iteration, const StoredAs& as) {
  return look_into<bool>(files, path, [&](PublishedFile& published) -> Result<bool> {
    const Result<OpenDataset> opened = open_dataset(path, published, iteration, as);
    if (!opened.ok()) return opened.status();
    const hid_t dataset = opened.value().dataset.id();
    if (H5Aexists(dataset, "tailraceBlocks") <= 0) return true;
    const Handle attribute(H5Aopen(dataset, "tailraceBlocks", H5P_DEFAULT), H5Aclose);
    const Handle space(H5Aget_space(attribute.id()), H5Sclose);
    std::vector<uint64_t> all(static_cast<size_t>(std::max<hssize_t>(0, H5Sget_simple_extent_npoints(space.id()))));
    if (all.empty()) return false;
    if (H5Aread(attribute.id(), H5T_NATIVE_UINT64, all.data()) < 0)
      return hdf5_failure(TAILRACE_IO_ERROR, "read", path);
    const std::vector<uint64_t> wanted = place_of(*as.block);
    for (size_t at = 0; at + wanted.size() <= all.size(); at += wanted.size()) {
      if (std::equal(wanted.begin(), wanted.end(), all.begin() + static_cast<ptrdiff_t>(at))) return true;
    }
    return false;
  });
}

Result<std::vector<PlacedChunk>> find_chunks(FileSystem& files, const std::string& path, int64_t iteration,
                                             const StoredAs& as, const FilterPlan& plan) {
  return look_into<std::vector<PlacedChunk>>(
      files, path, [&](PublishedFile& published) -> Result<std::vector<PlacedChunk>> {
        const Result<OpenDataset> opened = open_dataset(path, published, iteration, as);
        if (!opened.ok()) return opened.status();
        const OpenDataset& open = opened.value();
        if (Status status = check_shape(open, path, plan.chunking.block); !status.ok()) return status;
        if (!is_stored_as(open.dataset.id(), plan)) {
          return Status(TAILRACE_WRONG_SHAPE,
                        fmt::format("read: {} in '{}' is not stored as the configuration says (precision, "
                                    "chunks or filters)",
                                    open.name, path));
        }
        ChunkList list{plan.chunking, std::vector<PlacedChunk>(plan.chunking.count())};
        if (H5Dchunk_iter(open.dataset.id(), H5P_DEFAULT, take_chunk, &list) < 0) {
          return hdf5_failure(TAILRACE_IO_ERROR, "read", path);
        }
        for (const PlacedChunk& chunk : list.chunks) {
          if (Status status = check_inside(open, path, chunk.extent); !status.ok()) return status;
        }
        return std::move(list.chunks);
      });
}

}  // namespace tailrace::impl
