#include "storage/os/os_file_system.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/os/lock_file.hpp"
#include "base/os/own_file.hpp"
#include "base/os/path_below.hpp"
#include "storage/os/stripes.hpp"

namespace tailrace::impl {
namespace {

class OsNameLock final : public NameLock {
 public:
  explicit OsNameLock(LockFile file) : file_(std::move(file)) {}
  bool held() const override { return file_.held(); }
  void leave_file() override { file_.leave_file(); }

 private:
  LockFile file_;
};

NameFacts::Kind kind_of(mode_t mode) {
  if (S_ISREG(mode)) return NameFacts::Kind::file;
  return S_ISDIR(mode) ? NameFacts::Kind::directory : NameFacts::Kind::other;
}

// Puts in what fstat() says of an open file.
void look_at(int descriptor, Opened& opened) {
  struct stat found {};
  if (::fstat(descriptor, &found) != 0) return;
  opened.identity = {found.st_dev, found.st_ino};
  opened.is_empty = S_ISREG(found.st_mode) && found.st_size == 0;
}

}  // namespace

Result<Opened> OsFileSystem::open(const std::string& path, OpenMode mode, uint32_t device) {
  Result<OpenFile> file = OpenFile::open(path, mode, device, want_direct_, root_of(path));
  if (!file.ok()) return file.status();
  Opened opened{.stripes = stripes_of(file.value().os.buffered(), device)};
  look_at(file.value().os.buffered(), opened);
  opened.file = files_.put(std::move(file).value());
  return opened;
}

// Returns the root that the path is below; empty if there is none.
std::string OsFileSystem::root_of(const std::string& path) const {
  for (const std::string& root : roots_) {
    const std::string before = root.ends_with('/') ? root : root + "/";
    if (path.size() > before.size() && path.starts_with(before)) return root;
  }
  return {};
}

Result<NameFacts> OsFileSystem::stat(const std::string& path) const {
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0) return Status::of_errno("stat", path, errno);
  NameFacts facts;
  facts.kind = kind_of(found.st_mode);
  if (facts.kind == NameFacts::Kind::file) facts.size = static_cast<uint64_t>(found.st_size);
  facts.own = facts.kind == NameFacts::Kind::file && is_own_file(path);
  facts.reserved = facts.own && is_reservation(path);
  facts.identity = {found.st_dev, found.st_ino};
  return facts;
}

Result<std::vector<std::string>> OsFileSystem::list(const std::string& directory) const {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    names.push_back(it->path().filename().string());
  }
  if (error) return Status::of_errno("list", directory, error.value());
  std::sort(names.begin(), names.end());
  return names;
}

Status OsFileSystem::make_directory(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return Status::of_errno("create directory", path, error.value());
  if (::access(path.c_str(), W_OK | X_OK) != 0) return Status::of_errno("write into directory", path, errno);
  return {};
}

Status OsFileSystem::check_below(const std::string& root, const std::string& relative) const {
  return impl::check_below(root, relative);
}

Status OsFileSystem::remove_below(const std::string& root, const std::string& relative) {
  return impl::remove_below(root, relative);
}

Result<std::unique_ptr<NameLock>> OsFileSystem::lock(const std::string& path, const std::string& holder) {
  Result<LockFile> file = LockFile::acquire(path, holder);
  if (!file.ok()) return file.status();
  return std::unique_ptr<NameLock>(new OsNameLock(std::move(file).value()));
}

bool OsFileSystem::is_locked(const std::string& path) const { return LockFile::is_held(path); }

}  // namespace tailrace::impl
