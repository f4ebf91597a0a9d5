#include "storage/remote/remote_file_system.hpp"

#include <utility>

namespace tailrace::impl {

using Kind = FileOperation::Kind;

Result<Opened> RemoteFileSystem::open(const std::string& path, OpenMode mode, uint32_t device) {
  FileOperationEnd end = now({.kind = Kind::open, .path = path, .mode = mode, .device = device});
  if (!end.status.ok()) return end.status;
  return std::move(end.opened);
}

Result<uint64_t> RemoteFileSystem::size(FileHandle file) const {
  const FileOperationEnd end = now({.kind = Kind::size, .file = file});
  if (!end.status.ok()) return end.status;
  return end.size;
}

Task<Result<size_t>> RemoteFileSystem::begin_read(FileHandle file, uint64_t offset, std::span<std::byte> to) const {
  size_t done = 0;
  while (done < to.size()) {
    std::optional<RemoteFiles::Domain> domain;
    Waits::Condition opened(files_.waits(), [&] {
      domain = files_.domain_at(file, offset + done, to.size() - done);
      return domain.has_value();
    });
    co_await opened;
    const iovec into{to.data() + done, domain->length};
    const Transfer transfer{
        .kind = Transfer::Kind::read, .file = domain->file, .offset = offset + done, .segments = {&into, 1}};
    const int64_t result = co_await make_transfer_(transfer);
    if (result < 0) co_return Status::of_errno("read", files_.at(file).path, static_cast<int>(-result));
    if (result == 0) break;
    done += static_cast<size_t>(result);
  }
  co_return done;
}

Task<Status> RemoteFileSystem::begin_sync(FileHandle file) const {
  for (const FileHandle part : files_.all_of(file)) {
    const Transfer transfer{.kind = Transfer::Kind::sync, .file = part};
    const int64_t result = co_await make_transfer_(transfer);
    if (result < 0) co_return Status::of_errno("sync", files_.at(file).path, static_cast<int>(-result));
  }
  co_return Status();
}

Status RemoteFileSystem::allocate(FileHandle file, uint64_t offset, uint64_t length) {
  return now({.kind = Kind::allocate, .file = file, .offset = offset, .size = length}).status;
}

Status RemoteFileSystem::truncate(FileHandle file, uint64_t size) {
  return now({.kind = Kind::truncate, .file = file, .size = size}).status;
}

Status RemoteFileSystem::rename(FileHandle file, const std::string& to, bool replace) {
  return now({.kind = Kind::rename, .file = file, .path = to, .replace = replace}).status;
}

Result<NameFacts> RemoteFileSystem::stat(const std::string& path) const {
  const FileOperationEnd end = now({.kind = Kind::stat, .path = path});
  if (!end.status.ok()) return end.status;
  return end.facts;
}

Result<std::vector<std::string>> RemoteFileSystem::list(const std::string& directory) const {
  const std::string name = RemoteFiles::absolute(directory);
  const auto asked = ask(name, RemoteFiles::call_on(ForwardCall::list, name), "list", true);
  if (files_.falls_back(asked.status())) return files_.local().files().list(name);
  if (!asked.ok()) return asked.status();
  std::vector<std::string> names;
  std::string one;
  for (const std::byte letter : asked.value().bulk) {
    if (letter != std::byte{0}) {
      one += static_cast<char>(letter);
    } else {
      names.push_back(std::exchange(one, {}));
    }
  }
  return names;
}

Status RemoteFileSystem::make_directory(const std::string& path) {
  const std::string name = RemoteFiles::absolute(path);
  const auto asked = ask(name, RemoteFiles::call_on(ForwardCall::make_directory, name), "create directory");
  return files_.falls_back(asked.status()) ? files_.local().files().make_directory(name) : asked.status();
}

Status RemoteFileSystem::remove(const std::string& path) { return now({.kind = Kind::unlink, .path = path}).status; }

Status RemoteFileSystem::check_below(const std::string& root, const std::string& relative) const {
  const std::string name = RemoteFiles::absolute(root);
  const auto asked = ask(name, RemoteFiles::call_on(ForwardCall::check_below, name, relative), "check");
  return files_.falls_back(asked.status()) ? files_.local().files().check_below(name, relative) : asked.status();
}

bool RemoteFileSystem::is_locked(const std::string& path) const {
  const std::string name = RemoteFiles::absolute(path);
  const auto asked = ask(name, RemoteFiles::call_on(ForwardCall::is_locked, name), "look at the lock");
  if (files_.falls_back(asked.status())) return files_.local().files().is_locked(name);
  return asked.ok() && asked.value().answer.record.value != 0;
}

// A lock that a forwarder, or this node, holds. It must end before the storage.
class RemoteFileSystem::Lock final : public NameLock {
 public:
  Lock(RemoteFileSystem& files, RemoteFiles::Lock lock) : files_(files), lock_(lock) {}
  ~Lock() override { (void)files_.run(files_.files_.release(lock_)); }
  bool held() const override { return files_.run(files_.files_.holds(lock_)); }
  void leave_file() override { lock_->leave = true; }

 private:
  RemoteFileSystem& files_;
  const RemoteFiles::Lock lock_;
};

Result<std::unique_ptr<NameLock>> RemoteFileSystem::lock(const std::string& path, const std::string& holder) {
  const Result<RemoteFiles::Lock> taken = run(files_.lock(RemoteFiles::absolute(path), holder));
  if (!taken.ok()) return taken.status();
  return std::unique_ptr<NameLock>(new Lock(*this, taken.value()));
}

}  // namespace tailrace::impl
