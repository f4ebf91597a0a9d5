#include "runtime/output/leftover.hpp"

#include "format/hdf5/inspect_file.hpp"

namespace tailrace::impl {
namespace {

// A file that is open while this lives.
class OpenFileOf {
 public:
  OpenFileOf(FileSystem& files, const std::string& path, OpenMode mode)
      : files_(files), opened_(files.open(path, mode, 0)) {}
  OpenFileOf(const OpenFileOf&) = delete;
  OpenFileOf& operator=(const OpenFileOf&) = delete;
  ~OpenFileOf() {
    if (opened_.ok()) files_.close(handle());
  }

  Status status() const { return opened_.status(); }
  FileHandle handle() const { return opened_.value().file; }

 private:
  FileSystem& files_;
  const Result<Opened> opened_;
};

Status sync_directory(FileSystem& files, const std::string& directory) {
  const OpenFileOf names(files, directory, OpenMode::directory);
  return names.status().ok() ? files.sync(names.handle()) : names.status();
}

// A published file of that name belongs to an earlier run (storage.existing: continue), and is replaced, as that run
// would have done.
Status publish(FileSystem& files, FileHandle part, const std::string& final_path, const std::string& directory) {
  if (Status status = files.sync(part); !status.ok()) return status;
  if (Status status = files.rename(part, final_path, true); !status.ok()) return status;
  return sync_directory(files, directory);
}

// After a death in the middle of a rename, both names may lead to one file.
bool has_final_name(FileSystem& files, const std::string& part, const std::string& final_path) {
  const Result<NameFacts> one = files.stat(part);
  const Result<NameFacts> other = files.stat(final_path);
  return one.ok() && other.ok() && one.value().is_same_file(other.value());
}

}  // namespace

Leftover treat_part(FileSystem& files, const std::string& file, const std::string& directory, bool apply) {
  Leftover leftover{file, TAILRACE_INCOMPLETE, false, {}};
  const std::string final_path = file.substr(0, file.size() - std::string(".part").size());
  if (has_final_name(files, file, final_path)) {  // only its old name must go
    leftover.kind = TAILRACE_COMPLETE;
    leftover.status = apply ? files.remove(file) : Status();
    leftover.done = apply && leftover.status.ok();
    return leftover;
  }
  const OpenFileOf part(files, file, apply ? OpenMode::own : OpenMode::own_read);
  leftover.status = part.status();
  if (!part.status().ok()) return leftover;
  const Result<bool> complete = is_complete(files, part.handle());
  leftover.status = complete.status();
  if (!complete.ok()) return leftover;
  if (complete.value()) leftover.kind = TAILRACE_COMPLETE;
  if (!apply) return leftover;
  leftover.status = complete.value() ? publish(files, part.handle(), final_path, directory) : files.remove(file);
  leftover.done = leftover.status.ok();
  return leftover;
}

}  // namespace tailrace::impl
