#include "format/hdf5/reading_driver.hpp"

#include <H5FDdevelop.h>

#include <algorithm>

namespace tailrace::impl {
namespace {

// HDF5 refers to a file by a pointer to this; the public part must come first.
struct OpenReadable {
  H5FD_t public_part;
  ReadableFile* file;
  haddr_t end_of_allocation;
};

struct ReadingAccess {
  ReadableFile* file;
};

OpenReadable& of(H5FD_t* file) { return *reinterpret_cast<OpenReadable*>(file); }
const OpenReadable& of(const H5FD_t* file) { return *reinterpret_cast<const OpenReadable*>(file); }

H5FD_t* reading_open(const char*, unsigned flags, hid_t access, haddr_t) {
  const auto* info = static_cast<const ReadingAccess*>(H5Pget_driver_info(access));
  if (info == nullptr || (flags & H5F_ACC_RDWR) != 0) return nullptr;
  auto* open = new OpenReadable{};
  open->file = info->file;
  return &open->public_part;
}

herr_t reading_close(H5FD_t* file) {
  delete &of(file);
  return 0;
}

int reading_compare(const H5FD_t* a, const H5FD_t* b) {
  const ReadableFile* x = of(a).file;
  const ReadableFile* y = of(b).file;
  return x == y ? 0 : (x < y ? -1 : 1);
}

herr_t reading_query(const H5FD_t*, unsigned long* flags) {
  *flags = H5FD_FEAT_ACCUMULATE_METADATA;
  return 0;
}

haddr_t reading_get_eoa(const H5FD_t* file, H5FD_mem_t) { return of(file).end_of_allocation; }

herr_t reading_set_eoa(H5FD_t* file, H5FD_mem_t, haddr_t address) {
  of(file).end_of_allocation = address;
  return 0;
}

haddr_t reading_get_eof(const H5FD_t* file, H5FD_mem_t) { return of(file).file->size(); }

herr_t reading_read(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t address, size_t size, void* buffer) {
  return of(file).file->read(address, {static_cast<std::byte*>(buffer), size}) ? 0 : -1;
}

herr_t reading_write(H5FD_t*, H5FD_mem_t, hid_t, haddr_t, size_t, const void*) { return -1; }

H5FD_class_t reading_class() {
  H5FD_class_t driver{};
  driver.version = H5FD_CLASS_VERSION;
  driver.value = static_cast<H5FD_class_value_t>(601);  // numbers from 512 on are not reserved by The HDF Group
  driver.name = "tailrace_reading";
  driver.maxaddr = (haddr_t{1} << 62) - 1;
  driver.fc_degree = H5F_CLOSE_STRONG;
  driver.fapl_size = sizeof(ReadingAccess);
  driver.open = reading_open;
  driver.close = reading_close;
  driver.cmp = reading_compare;
  driver.query = reading_query;
  driver.get_eoa = reading_get_eoa;
  driver.set_eoa = reading_set_eoa;
  driver.get_eof = reading_get_eof;
  driver.read = reading_read;
  driver.write = reading_write;
  const H5FD_mem_t map[H5FD_MEM_NTYPES] = H5FD_FLMAP_DICHOTOMY;
  std::copy(std::begin(map), std::end(map), driver.fl_map);
  return driver;
}

}  // namespace

Status ReadableFile::fetch() {
  const uint64_t first = *missing_;
  std::vector<std::byte> bytes(next_pages_ * kPage);
  const Result<size_t> count = files_.read(handle_, first * kPage, bytes);
  if (!count.ok()) return count.status();
  for (uint64_t i = 0; i < next_pages_; ++i) {
    const auto begin = bytes.begin() + static_cast<ptrdiff_t>(i * kPage);
    pages_[first + i].assign(begin, begin + static_cast<ptrdiff_t>(kPage));
  }
  missing_.reset();
  next_pages_ = std::min(2 * next_pages_, kMostPages);
  return {};
}

bool ReadableFile::read(uint64_t offset, std::span<std::byte> to) {
  while (!to.empty()) {
    const auto page = pages_.find(offset / kPage);
    if (page == pages_.end()) {
      missing_ = offset / kPage;
      return false;
    }
    const uint64_t skip = offset % kPage;
    const size_t part = std::min<uint64_t>(to.size(), kPage - skip);
    std::copy_n(page->second.begin() + static_cast<ptrdiff_t>(skip), part, to.begin());
    offset += part;
    to = to.subspan(part);
  }
  return true;
}

bool use_readable(hid_t access, ReadableFile* file) {
  static const H5FD_class_t driver = reading_class();
  static const hid_t registered = H5FDregister(&driver);  // for the library's life, under LibraryLock
  const ReadingAccess info{file};
  return registered >= 0 && H5Pset_driver(access, registered, &info) >= 0;
}

}  // namespace tailrace::impl
