// StripedFileSystem: names and whole files of the back end `striped`, over another file system. Implements the port
// storage/file_system.hpp.
//
// A new file below the first directory consists of objects, one a directory: object 0 has the file's name, and the
// others names of their own, which follow from the file's id (docs/formats/striped.md). So whatever becomes of object
// 0 in one step becomes of the file in one step: it gets its name, is renamed, replaced or removed. Existing files
// are taken for what their first bytes say, wherever they lie; all others are plain, and are passed on.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "storage/file_table.hpp"
#include "storage/striped/object_names.hpp"

namespace tailrace::impl {

// A file that is open: all its objects, by index. A plain file is its own object; a directory has those of all
// devices.
struct StripedFile {
  std::string path = {};
  StripeLayout layout = {};
  std::string id = {};  // empty: it is not striped
  std::vector<FileHandle> objects = {};
  std::vector<std::string> paths = {};  // of the objects
  FileIdentity identity = {};           // of object 0, which has the file's name
};

class StripedFileSystem final : public FileSystem {
 public:
  // Stripes new files over `set`, of two directories or more, and looks for the objects of existing files there.
  // Borrows `inner`.
  StripedFileSystem(FileSystem& inner, StripeSet set);
  // Makes plain files only, and looks for the objects of existing files where their heads say: for callers that treat
  // what is there, and make no transfers.
  explicit StripedFileSystem(std::unique_ptr<FileSystem> inner);

  // Makes the directories, and opens them, so that their names can be made durable. Call it once, before the rest.
  Status prepare();

  Result<Opened> open(const std::string& path, OpenMode mode, uint32_t device) override;
  void close(FileHandle file) override;
  bool direct(FileHandle file) const override;
  Result<uint64_t> size(FileHandle file) const override;
  Result<size_t> read(FileHandle file, uint64_t offset, std::span<std::byte> to) const override;
  Status sync(FileHandle file) override;
  Status allocate(FileHandle file, uint64_t offset, uint64_t length) override;
  void write_behind(FileHandle file, uint64_t offset, uint64_t length) override;
  Status truncate(FileHandle file, uint64_t size) override;
  // The rename of object 0 is the one step. After it, the objects of a file that was replaced are removed.
  Status rename(FileHandle file, const std::string& to, bool replace) override;

  Result<NameFacts> stat(const std::string& path) const override;
  Result<std::vector<std::string>> list(const std::string& directory) const override {
    return inner_.list(directory);
  }
  Status make_directory(const std::string& path) override;
  // Object 0 goes first, and with it the file.
  Status remove(const std::string& path) override;
  Status check_below(const std::string& root, const std::string& relative) const override {
    return inner_.check_below(root, relative);
  }
  Result<std::unique_ptr<NameLock>> lock(const std::string& path, const std::string& holder) override {
    return inner_.lock(path, holder);
  }
  bool is_locked(const std::string& path) const override { return inner_.is_locked(path); }

  // ---- for the transfers of the back end

  const StripedFile& at(FileHandle file) const { return files_.at(file); }
  // Returns the directories of the devices, opened by prepare(). To make new names durable, note made(), sync them,
  // and call note_durable().
  const std::vector<FileHandle>& directories() const { return directories_; }
  bool has_new_names() const {
    const MutexLock lock(mutex_);
    return made_ > durable_;
  }
  uint64_t made() const {
    const MutexLock lock(mutex_);
    return made_;
  }
  void note_durable(uint64_t made) {
    const MutexLock lock(mutex_);
    durable_ = std::max(durable_, made);
  }

 private:
  Result<Opened> open_file(const std::string& path, OpenMode mode, uint32_t device);
  Result<Opened> open_directory(const std::string& path, uint32_t device);
  Result<Opened> open_objects(StripedFile file, const ObjectHead& head, OpenMode mode);
  Result<std::optional<Opened>> make(const std::string& path, OpenMode mode);
  Status add_object(StripedFile& file, ObjectHead head, uint32_t index);
  Opened put(StripedFile file);
  void close_objects(const StripedFile& file);

  // Constant after construction.
  const std::unique_ptr<FileSystem> owned_;  // null: the inner one is another's
  FileSystem& inner_;
  const ObjectNames names_;
  std::vector<FileHandle> directories_;  // constant after prepare()
  FileTable<StripedFile> files_;
  mutable Mutex mutex_;
  uint64_t made_ TAILRACE_GUARDED_BY(mutex_) = 0;     // files
  uint64_t durable_ TAILRACE_GUARDED_BY(mutex_) = 0;  // of these, with durable names of their objects
};

}  // namespace tailrace::impl
