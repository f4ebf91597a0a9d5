#include "storage/rooted/rooted_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace tailrace::impl {
namespace {

// Opens `relative` from `directory` on. Nothing on the way may lead out of it. Returns the descriptor, or -1 and
// errno.
int open_beneath(int directory, const std::string& relative, int flags) {
  open_how how{};
  how.flags = static_cast<uint64_t>(flags) | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  long fd = -1;
  do {
    fd = ::syscall(SYS_openat2, directory, relative.c_str(), &how, sizeof how);
  } while (fd < 0 && (errno == EINTR || errno == EAGAIN));
  return static_cast<int>(fd);
}

std::string name_of(const FileDescriptor& descriptor) { return fmt::format("/proc/self/fd/{}", descriptor.get()); }

// Returns true if a path has a component "..".
bool climbs(const std::string& path) {
  for (size_t begin = 0; begin < path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    if (path.compare(begin, end - begin, "..") == 0) return true;
    begin = end + 1;
  }
  return false;
}

// Returns true if opening with this mode may make a file, or must not follow a link at the end.
bool names_the_last(OpenMode mode) {
  switch (mode) {
    case OpenMode::create:
    case OpenMode::fresh:
    case OpenMode::own:
    case OpenMode::own_read:
    case OpenMode::own_or_new:
    case OpenMode::edit:
    case OpenMode::update:
    case OpenMode::view: return true;
    case OpenMode::read:
    case OpenMode::directory: return false;
  }
  return true;
}

Status refused(const char* operation, const std::string& path, int error) {
  // openat2 says EXDEV for a path that would lead out.
  if (error != EXDEV) return Status::of_errno(operation, path, error);
  Fault fault = Status::of_errno(operation, path, EACCES).fault();
  fault.message = fmt::format("{} '{}': found a path that leads out of the forwarder's roots", operation, path);
  return Status(std::move(fault));
}

}  // namespace

Result<RootedFiles::Below> RootedFiles::below(const char* operation, const std::string& path) const {
  if (!path.starts_with('/') || climbs(path)) {
    Fault fault = Status::of_errno(operation, path, EACCES).fault();
    fault.message = fmt::format("{} '{}': expected an absolute path without '..'", operation, path);
    return Status(std::move(fault));
  }
  for (const Root& root : roots_) {
    if (path == root.path) return Below{&root, "."};
    if (path.starts_with(root.path + "/")) return Below{&root, path.substr(root.path.size() + 1)};
  }
  std::string all;
  for (const Root& root : roots_) all += (all.empty() ? "" : ", ") + root.path;
  Fault fault = Status::of_errno(operation, path, EACCES).fault();
  fault.message =
      fmt::format("{} '{}': expected a path below one of the forwarder's roots: {}", operation, path, all);
  return Status(std::move(fault));
}

// Resolves a path that must exist.
Result<RootedFiles::Resolved> RootedFiles::whole(const char* operation, const std::string& path, int flags) const {
  const Result<Below> where = below(operation, path);
  if (!where.ok()) return where.status();
  const int fd = open_beneath(where.value().root->directory.get(), where.value().relative, O_PATH | flags);
  if (fd < 0) return refused(operation, path, errno);
  auto descriptor = std::make_shared<FileDescriptor>(fd);
  std::string inner = name_of(*descriptor);
  return Resolved{std::move(descriptor), std::move(inner)};
}

// Resolves the directory of a path; its last component need not exist.
Result<RootedFiles::Resolved> RootedFiles::in_directory(const char* operation, const std::string& path) const {
  const size_t slash = path.find_last_of('/');
  const std::string last = slash == std::string::npos ? "" : path.substr(slash + 1);
  if (last.empty() || last == ".") return Status::of_errno(operation, path, EISDIR);
  Result<Resolved> directory = whole(operation, path.substr(0, slash), O_DIRECTORY);
  if (!directory.ok()) return refused(operation, path, directory.status().fault().system_errno);
  directory.value().inner += "/" + last;
  return directory;
}

// Puts the caller's path in place of the one that was passed on.
Status RootedFiles::with_path(const Status& status, const Resolved& resolved, const std::string& path) {
  if (status.ok()) return status;
  Fault fault = status.fault();
  for (size_t at = fault.message.find(resolved.inner); at != std::string::npos;
       at = fault.message.find(resolved.inner)) {
    fault.message.replace(at, resolved.inner.size(), path);
  }
  fault.file = path;
  return Status(std::move(fault));
}

Result<Opened> RootedFiles::open(const std::string& path, OpenMode mode, uint32_t device) {
  const bool by_name = names_the_last(mode);
  const int flags = mode == OpenMode::directory ? O_DIRECTORY : 0;
  Result<Resolved> resolved = by_name ? in_directory("open", path) : whole("open", path, flags);
  if (!resolved.ok()) return resolved.status();
  if (mode == OpenMode::create) {
    // Through a link at the end, a file elsewhere could be emptied.
    struct stat found {};
    if (::lstat(resolved.value().inner.c_str(), &found) == 0 && S_ISLNK(found.st_mode)) {
      return Status::of_errno("create", path, ELOOP);
    }
  }
  const OpenMode inner_mode = mode == OpenMode::create ? OpenMode::update : mode;
  Result<Opened> opened = inner_.open(resolved.value().inner, inner_mode, device);
  if (!opened.ok()) return with_path(opened.status(), resolved.value(), path);
  if (mode == OpenMode::create) {
    if (Status status = inner_.truncate(opened.value().file, 0); !status.ok()) {
      inner_.close(opened.value().file);
      return with_path(status, resolved.value(), path);
    }
  }
  const MutexLock lock(mutex_);
  open_[opened.value().file] = {resolved.value().descriptor, path};
  return opened;
}

// The handle may be another file's as soon as the storage behind has closed this one.
void RootedFiles::close(FileHandle file) {
  {
    const MutexLock lock(mutex_);
    open_.erase(file);
  }
  inner_.close(file);
}

RootedFiles::Open& RootedFiles::at(FileHandle file) {
  const MutexLock lock(mutex_);
  return open_.at(file);
}

Status RootedFiles::rename(FileHandle file, const std::string& to, bool replace) {
  Open& of = at(file);
  const size_t slash = to.find_last_of('/');
  if (slash == std::string::npos || to.substr(0, slash) != of.path.substr(0, of.path.find_last_of('/'))) {
    return Status::of_errno("rename", of.path, EXDEV);
  }
  const std::string last = to.substr(slash + 1);
  if (last.empty() || last == "." || last == "..") return Status::of_errno("rename", of.path, EINVAL);
  const Resolved resolved{of.directory, name_of(*of.directory) + "/" + last};
  const Status status = inner_.rename(file, resolved.inner, replace);
  if (!status.ok()) return with_path(status, resolved, of.path);
  of.path = to;
  return status;
}

Result<NameFacts> RootedFiles::stat(const std::string& path) const {
  const Result<Below> where = below("stat", path);
  if (where.ok() && where.value().relative == ".") {
    Result<Resolved> root = whole("stat", path, 0);
    if (!root.ok()) return root.status();
    Result<NameFacts> facts = inner_.stat(root.value().inner + "/.");
    return facts.ok() ? facts : with_path(facts.status(), root.value(), path);
  }
  Result<Resolved> resolved = in_directory("stat", path);
  if (!resolved.ok()) return resolved.status();
  Result<NameFacts> facts = inner_.stat(resolved.value().inner);
  return facts.ok() ? facts : with_path(facts.status(), resolved.value(), path);
}

Result<std::vector<std::string>> RootedFiles::list(const std::string& directory) const {
  Result<Resolved> resolved = whole("list", directory, O_DIRECTORY);
  if (!resolved.ok()) return resolved.status();
  auto names = inner_.list(resolved.value().inner);
  return names.ok() ? names : with_path(names.status(), resolved.value(), directory);
}

// Makes one missing directory after another, each in one that was resolved.
Status RootedFiles::make_directory(const std::string& path) {
  const Result<Below> where = below("create directory", path);
  if (!where.ok()) return where.status();
  const Root& root = *where.value().root;
  std::string made = root.path;
  const std::string& relative = where.value().relative;
  for (size_t begin = 0; relative != "." && begin < relative.size();) {
    const size_t end = std::min(relative.find('/', begin), relative.size());
    const std::string name = relative.substr(begin, end - begin);
    begin = end + 1;
    if (name.empty() || name == ".") continue;
    Result<Resolved> parent = whole("create directory", made, O_DIRECTORY);
    if (!parent.ok()) return refused("create directory", path, parent.status().fault().system_errno);
    made += "/" + name;
    if (::mkdirat(parent.value().descriptor->get(), name.c_str(), 0777) != 0 && errno != EEXIST) {
      // An O_PATH descriptor serves as a directory, so this is the system's answer about the name.
      return Status::of_errno("create directory", made, errno);
    }
  }
  Result<Resolved> resolved = whole("create directory", path, O_DIRECTORY);
  if (!resolved.ok()) return resolved.status();
  return with_path(inner_.make_directory(resolved.value().inner), resolved.value(), path);
}

Status RootedFiles::remove(const std::string& path) {
  Result<Resolved> resolved = in_directory("remove", path);
  if (!resolved.ok()) return resolved.status();
  return with_path(inner_.remove(resolved.value().inner), resolved.value(), path);
}

// A root of the caller may contain ours: then it is the path as a whole that lies below one.
Status RootedFiles::check_below(const std::string& root, const std::string& relative) const {
  if (!below("check", root).ok()) {
    const std::string path = (root.ends_with('/') ? root : root + "/") + relative;
    const Result<Below> where = below("check", path);
    if (!where.ok()) return where.status();
    return check_below(where.value().root->path, where.value().relative);
  }
  Result<Resolved> resolved = whole("check", root, O_DIRECTORY);
  if (!resolved.ok()) return resolved.status();
  return with_path(inner_.check_below(resolved.value().inner, relative), resolved.value(), root);
}

// Keeps the directory open: the lock's file is removed by its name.
class RootedFiles::Lock final : public NameLock {
 public:
  Lock(std::shared_ptr<FileDescriptor> directory, std::unique_ptr<NameLock> inner)
      : directory_(std::move(directory)), inner_(std::move(inner)) {}
  bool held() const override { return inner_->held(); }
  void leave_file() override { inner_->leave_file(); }

 private:
  const std::shared_ptr<FileDescriptor> directory_;
  const std::unique_ptr<NameLock> inner_;  // ends first
};

Result<std::unique_ptr<NameLock>> RootedFiles::lock(const std::string& path, const std::string& holder) {
  Result<Resolved> resolved = in_directory("lock", path);
  if (!resolved.ok()) return resolved.status();
  auto taken = inner_.lock(resolved.value().inner, holder);
  if (!taken.ok()) return with_path(taken.status(), resolved.value(), path);
  return std::unique_ptr<NameLock>(new Lock(resolved.value().descriptor, std::move(taken).value()));
}

bool RootedFiles::is_locked(const std::string& path) const {
  Result<Resolved> resolved = in_directory("look at the lock", path);
  return resolved.ok() && inner_.is_locked(resolved.value().inner);
}

}  // namespace tailrace::impl
