#include "storage/memory/memory_storage.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <new>
#include <stdexcept>

namespace tailrace::impl {
namespace {

constexpr uint32_t kDepth = 64;
constexpr uint32_t kSegments = 1024;
// A file cannot reach beyond it: offsets of the system calls are signed.
constexpr uint64_t kMaxFileSize = std::numeric_limits<int64_t>::max();

// Makes the file at least `size` long; 0 or the errno.
int grow(MemoryStorage::Bytes& bytes, uint64_t size) {
  if (size <= bytes.size()) return 0;
  try {
    bytes.resize(size);
  } catch (const std::bad_alloc&) {
    return ENOSPC;
  } catch (const std::length_error&) {
    return EFBIG;
  }
  return 0;
}

uint64_t length_of(std::span<const iovec> segments) {
  uint64_t length = 0;
  for (const iovec& segment : segments) length += segment.iov_len;
  return length;
}

bool writable(OpenMode mode) { return mode != OpenMode::read && mode != OpenMode::directory; }

}  // namespace

MemoryStorage::MemoryStorage(Doorbell& doorbell)
    : doorbell_(doorbell), capabilities_{"memory", kDepth, kSegments, 0}, done_(kDepth) {}

Result<Opened> MemoryStorage::open(const std::string& path, OpenMode mode, uint32_t device) {
  const auto opened = [&](const std::shared_ptr<Bytes>& bytes) {
    return Opened{files_.put({path, mode, bytes}), {StripeMap::kWholeFile, {device}}};
  };
  const auto found = names_.find(path);
  const bool exists = found != names_.end();
  if (mode == OpenMode::directory) {
    if (exists) return Status::of_errno("open", path, ENOTDIR);
    return opened(nullptr);
  }
  if (mode == OpenMode::read || mode == OpenMode::edit || mode == OpenMode::own) {
    if (!exists) return Status::of_errno("open", path, ENOENT);
    return opened(found->second);
  }
  if (path.empty()) return Status::of_errno("create", path, ENOENT);
  std::shared_ptr<Bytes>& bytes = names_[path];
  if (!bytes || mode == OpenMode::fresh) bytes = std::make_shared<Bytes>();
  if (mode == OpenMode::create) bytes->clear();
  return opened(bytes);
}

Status MemoryStorage::allocate(FileHandle handle, uint64_t offset, uint64_t length) {
  const File& file = files_.at(handle);
  int error = 0;
  if (!writable(file.mode)) {
    error = EBADF;
  } else if (offset > kMaxFileSize || length > kMaxFileSize - offset) {
    error = EFBIG;
  } else {
    error = grow(*file.bytes, offset + length);
  }
  return error == 0 ? Status{} : Status::of_errno("allocate", file.path, error);
}

Status MemoryStorage::rename(FileHandle handle, const std::string& to, bool replace) {
  File& file = files_.at(handle);
  const auto found = names_.find(file.path);
  const bool has_its_name = found != names_.end() && found->second == file.bytes;
  if (!has_its_name || to.empty()) return Status::of_errno("rename", file.path, ENOENT);
  if (file.path == to) return {};
  if (!replace && names_.contains(to)) return Status::of_errno("rename to", to, EEXIST);
  names_[to] = file.bytes;
  names_.erase(file.path);
  file.path = to;
  return {};
}

Status MemoryStorage::remove(const std::string& path) {
  if (names_.erase(path) == 0) return Status::of_errno("remove", path, ENOENT);
  return {};
}

void MemoryStorage::submit(const Transfer& transfer) {
  TAILRACE_REQUIRE(!transfer.direct);
  TAILRACE_REQUIRE(transfer.segments.size() <= kSegments);
  const File& file = files_.at(transfer.file);
  int64_t result = 0;
  if (transfer.kind == Transfer::Kind::read) result = read(file, transfer);
  if (transfer.kind == Transfer::Kind::write) result = write(file, transfer);
  done_.push({transfer.tag, result});
  doorbell_.ring();
}

int64_t MemoryStorage::read(const File& file, const Transfer& transfer) {
  if (file.mode == OpenMode::directory) return -EISDIR;
  uint64_t at = transfer.offset;
  for (const iovec& segment : transfer.segments) {
    if (at >= file.bytes->size()) break;
    const uint64_t some = std::min<uint64_t>(segment.iov_len, file.bytes->size() - at);
    if (some > 0) std::memcpy(segment.iov_base, file.bytes->data() + at, some);
    at += some;
  }
  return static_cast<int64_t>(at - transfer.offset);
}

int64_t MemoryStorage::write(const File& file, const Transfer& transfer) {
  if (!writable(file.mode)) return -EBADF;
  const uint64_t length = length_of(transfer.segments);
  if (length == 0) return 0;
  if (transfer.offset > kMaxFileSize || length > kMaxFileSize - transfer.offset) return -EFBIG;
  if (const int error = grow(*file.bytes, transfer.offset + length)) return -error;
  uint64_t at = transfer.offset;
  for (const iovec& segment : transfer.segments) {
    if (segment.iov_len > 0) std::memcpy(file.bytes->data() + at, segment.iov_base, segment.iov_len);
    at += segment.iov_len;
  }
  return static_cast<int64_t>(length);
}

size_t MemoryStorage::reap(std::span<Completion> done) {
  size_t count = 0;
  while (count < done.size() && !done_.empty()) done[count++] = done_.pop();
  return count;
}

const MemoryStorage::Bytes* MemoryStorage::contents(const std::string& path) const {
  const auto found = names_.find(path);
  return found == names_.end() ? nullptr : found->second.get();
}

}  // namespace tailrace::impl
