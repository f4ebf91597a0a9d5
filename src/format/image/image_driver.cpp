#include "format/image/image_driver.hpp"

#include <H5FDdevelop.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

namespace tailrace::impl {

void FileImage::write(uint64_t offset, const std::byte* bytes, size_t size) {
  if (size == 0) return;
  note_written(offset, offset + size);
  while (size > 0) {
    Page& page = pages_[offset / kPage];
    const size_t within = offset % kPage;
    const size_t count = std::min<size_t>(size, kPage - within);
    std::memcpy(page.data() + within, bytes, count);
    offset += count;
    bytes += count;
    size -= count;
  }
}

// Merges runs that overlap or touch.
void FileImage::note_written(uint64_t begin, uint64_t end) {
  written_end_ = std::max(written_end_, end);
  auto run = written_.upper_bound(begin);
  if (run != written_.begin() && std::prev(run)->second >= begin) --run;
  while (run != written_.end() && run->first <= end) {
    begin = std::min(begin, run->first);
    end = std::max(end, run->second);
    run = written_.erase(run);
  }
  written_.emplace_hint(run, begin, end);
}

std::optional<uint64_t> FileImage::allocate(bool raw, uint64_t size) {
  if (raw && next_raw.length > 0) {
    if (size != next_raw.length) return std::nullopt;
    placed_ = std::exchange(next_raw, {});
    return placed_.offset;
  }
  if (end_of_allocation > 0) end_of_allocation = std::max(end_of_allocation, space_begin);
  const uint64_t unit = size >= kPage ? kPage : 1;
  tight_ = tight_ || unit == 1;
  const uint64_t address = (end_of_allocation + unit - 1) / unit * unit;
  end_of_allocation = address + size;
  return address;
}

void FileImage::read(uint64_t offset, std::byte* bytes, size_t size) const {
  while (size > 0) {
    const size_t within = offset % kPage;
    const size_t count = std::min<size_t>(size, kPage - within);
    const auto page = pages_.find(offset / kPage);
    if (page == pages_.end()) {
      std::memset(bytes, 0, count);
    } else {
      std::memcpy(bytes, page->second.data() + within, count);
    }
    offset += count;
    bytes += count;
    size -= count;
  }
}

// Frees each page after copying it, so that a large image is in memory only once.
std::vector<MetadataPiece> FileImage::take_pieces() {
  std::vector<MetadataPiece> pieces;
  for (const auto& [begin, end] : written_) {
    for (uint64_t at = begin; at < end;) {
      std::vector<std::byte> bytes(std::min(end - at, kMostOfPiece));
      read(at, bytes.data(), bytes.size());
      pieces.push_back({at, std::move(bytes)});
      at = pieces.back().end();
      pages_.erase(pages_.begin(), pages_.lower_bound(at / kPage));
    }
  }
  pages_.clear();
  written_.clear();
  return pieces;
}

namespace {

// HDF5 refers to a file by a pointer to this; the public part must come first.
struct ImageFile {
  H5FD_t public_part;
  FileImage* image;
};

struct ImageAccess {
  FileImage* image;
};

FileImage& image_of(const H5FD_t* file) { return *reinterpret_cast<const ImageFile*>(file)->image; }

H5FD_t* image_open(const char*, unsigned, hid_t access, haddr_t) {
  const auto* info = static_cast<const ImageAccess*>(H5Pget_driver_info(access));
  if (info == nullptr) return nullptr;
  auto* file = new ImageFile{};
  file->image = info->image;
  return &file->public_part;
}

herr_t image_close(H5FD_t* file) {
  delete reinterpret_cast<ImageFile*>(file);
  return 0;
}

int image_compare(const H5FD_t* a, const H5FD_t* b) {
  const FileImage* x = &image_of(a);
  const FileImage* y = &image_of(b);
  return x == y ? 0 : (x < y ? -1 : 1);
}

herr_t image_query(const H5FD_t*, unsigned long* flags) {
  // Metadata and raw data may be aggregated; raw data need not pass through this driver.
  *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA;
  return 0;
}

haddr_t image_get_eoa(const H5FD_t* file, H5FD_mem_t) { return image_of(file).end_of_allocation; }

herr_t image_set_eoa(H5FD_t* file, H5FD_mem_t, haddr_t address) {
  image_of(file).end_of_allocation = address;
  return 0;
}

haddr_t image_get_eof(const H5FD_t* file, H5FD_mem_t) { return image_of(file).written_end(); }

haddr_t image_alloc(H5FD_t* file, H5FD_mem_t type, hid_t, hsize_t size) {
  return image_of(file).allocate(type == H5FD_MEM_DRAW, size).value_or(HADDR_UNDEF);
}

herr_t image_read(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t address, size_t size, void* buffer) {
  image_of(file).read(address, static_cast<std::byte*>(buffer), size);
  return 0;
}

herr_t image_write(H5FD_t* file, H5FD_mem_t type, hid_t, haddr_t address, size_t size, const void* buffer) {
  FileImage& image = image_of(file);
  const bool placed = type == H5FD_MEM_DRAW && image.is_placed(address);
  if (!placed) image.write(address, static_cast<const std::byte*>(buffer), size);
  return 0;
}

herr_t image_truncate(H5FD_t*, hid_t, hbool_t) { return 0; }

H5FD_class_t image_class() {
  H5FD_class_t driver{};
  driver.version = H5FD_CLASS_VERSION;
  driver.value = static_cast<H5FD_class_value_t>(600);  // numbers from 512 on are not reserved by The HDF Group
  driver.name = "tailrace_image";
  driver.maxaddr = (haddr_t{1} << 62) - 1;
  driver.fc_degree = H5F_CLOSE_STRONG;
  driver.fapl_size = sizeof(ImageAccess);
  driver.open = image_open;
  driver.close = image_close;
  driver.cmp = image_compare;
  driver.query = image_query;
  driver.alloc = image_alloc;
  driver.get_eoa = image_get_eoa;
  driver.set_eoa = image_set_eoa;
  driver.get_eof = image_get_eof;
  driver.read = image_read;
  driver.write = image_write;
  driver.truncate = image_truncate;
  const H5FD_mem_t map[H5FD_MEM_NTYPES] = H5FD_FLMAP_DICHOTOMY;  // separates metadata from raw data
  std::copy(std::begin(map), std::end(map), driver.fl_map);
  return driver;
}

}  // namespace

bool use_image(hid_t access, FileImage* image) {
  static const H5FD_class_t driver = image_class();
  static const hid_t registered = H5FDregister(&driver);  // for the library's life, under LibraryLock
  const ImageAccess info{image};
  return registered >= 0 && H5Pset_driver(access, registered, &info) >= 0;
}

}  // namespace tailrace::impl
