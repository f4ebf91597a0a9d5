#include "storage/memory/memory_file_system.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <new>
#include <stdexcept>

namespace tailrace::impl {
namespace {

// The largest file: offsets of the system calls are signed.
constexpr uint64_t kMaxFileSize = std::numeric_limits<int64_t>::max();

class FreeLock final : public NameLock {
 public:
  bool held() const override { return true; }
  void leave_file() override {}
};

// Resizes the file to `size` bytes. Returns 0 or the errno.
int resize(MemoryFileSystem::Bytes& bytes, uint64_t size) {
  if (size > kMaxFileSize) return EFBIG;
  try {
    bytes.resize(size);
  } catch (const std::bad_alloc&) {
    return ENOSPC;
  } catch (const std::length_error&) {
    return EFBIG;
  }
  return 0;
}

// Makes the file long enough for the range. Returns 0 or the errno.
int grow(MemoryFileSystem::Bytes& bytes, uint64_t offset, uint64_t length) {
  if (offset > kMaxFileSize || length > kMaxFileSize - offset) return EFBIG;
  return offset + length <= bytes.size() ? 0 : resize(bytes, offset + length);
}

bool writable(OpenMode mode) {
  return mode != OpenMode::read && mode != OpenMode::view && mode != OpenMode::own_read &&
         mode != OpenMode::directory;
}

// Returns true if the mode opens only existing files.
bool needs_file(OpenMode mode) {
  return mode == OpenMode::read || mode == OpenMode::view || mode == OpenMode::own_read || mode == OpenMode::own ||
         mode == OpenMode::edit;
}

FileIdentity identity_of(const std::shared_ptr<MemoryFileSystem::Bytes>& bytes) {
  return {0, reinterpret_cast<uintptr_t>(bytes.get())};
}

Status status_of(const char* operation, const std::string& path, int error) {
  return error == 0 ? Status() : Status::of_errno(operation, path, error);
}

}  // namespace

Result<Opened> MemoryFileSystem::open(const std::string& path, OpenMode mode, uint32_t device) {
  const auto opened = [&](const std::shared_ptr<Bytes>& bytes) {
    return Opened{files_.put({path, mode, bytes}), {StripeMap::kWholeFile, {device}}, identity_of(bytes)};
  };
  const auto found = names_.find(path);
  const bool exists = found != names_.end();
  if (mode == OpenMode::directory) {
    if (exists) return Status::of_errno("open", path, ENOTDIR);
    return opened(nullptr);
  }
  if (needs_file(mode)) {
    if (!exists) return Status::of_errno("open", path, ENOENT);
    return opened(found->second);
  }
  if (path.empty()) return Status::of_errno("create", path, ENOENT);
  std::shared_ptr<Bytes>& bytes = names_[path];
  if (!bytes || mode == OpenMode::fresh) bytes = std::make_shared<Bytes>();
  if (mode == OpenMode::create) bytes->clear();
  return opened(bytes);
}

Result<uint64_t> MemoryFileSystem::size(FileHandle handle) const {
  const File& file = files_.at(handle);
  return file.bytes ? file.bytes->size() : 0;
}

Result<size_t> MemoryFileSystem::read(FileHandle handle, uint64_t offset, std::span<std::byte> to) const {
  const File& file = files_.at(handle);
  if (file.mode == OpenMode::directory) return Status::of_errno("read", file.path, EISDIR);
  if (offset >= file.bytes->size()) return size_t{0};
  const auto count = static_cast<size_t>(std::min<uint64_t>(to.size(), file.bytes->size() - offset));
  if (count > 0) std::memcpy(to.data(), file.bytes->data() + offset, count);
  return count;
}

int MemoryFileSystem::make_room(FileHandle handle, uint64_t offset, uint64_t length) {
  const File& file = files_.at(handle);
  if (!writable(file.mode)) return EBADF;
  return length == 0 ? 0 : grow(*file.bytes, offset, length);
}

Status MemoryFileSystem::write(FileHandle handle, uint64_t offset, std::span<const std::byte> from) {
  const File& file = files_.at(handle);
  if (const int error = make_room(handle, offset, from.size())) return status_of("write", file.path, error);
  if (!from.empty()) std::memcpy(file.bytes->data() + offset, from.data(), from.size());
  return {};
}

Status MemoryFileSystem::allocate(FileHandle handle, uint64_t offset, uint64_t length) {
  const File& file = files_.at(handle);
  return status_of("allocate", file.path, writable(file.mode) ? grow(*file.bytes, offset, length) : EBADF);
}

Status MemoryFileSystem::truncate(FileHandle handle, uint64_t size) {
  const File& file = files_.at(handle);
  return status_of("truncate", file.path, writable(file.mode) ? resize(*file.bytes, size) : EINVAL);
}

Status MemoryFileSystem::rename(FileHandle handle, const std::string& to, bool replace) {
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

Result<NameFacts> MemoryFileSystem::stat(const std::string& path) const {
  const auto found = names_.find(path);
  if (found == names_.end()) return Status::of_errno("stat", path, ENOENT);
  return NameFacts{NameFacts::Kind::file, found->second->size(), true, identity_of(found->second)};
}

Result<std::vector<std::string>> MemoryFileSystem::list(const std::string& directory) const {
  std::vector<std::string> names;
  const std::string prefix = directory + "/";
  for (auto it = names_.lower_bound(prefix); it != names_.end() && it->first.starts_with(prefix); ++it) {
    std::string name = it->first.substr(prefix.size(), it->first.find('/', prefix.size()) - prefix.size());
    if (names.empty() || names.back() != name) names.push_back(std::move(name));
  }
  return names;
}

Status MemoryFileSystem::remove(const std::string& path) {
  return status_of("remove", path, names_.erase(path) == 0 ? ENOENT : 0);
}

Result<std::unique_ptr<NameLock>> MemoryFileSystem::lock(const std::string&, const std::string&) {
  return std::unique_ptr<NameLock>(new FreeLock);
}

const MemoryFileSystem::Bytes* MemoryFileSystem::contents(const std::string& path) const {
  const auto found = names_.find(path);
  return found == names_.end() ? nullptr : found->second.get();
}

}  // namespace tailrace::impl
