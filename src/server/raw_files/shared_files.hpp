// SharedFiles: the raw files that the clients of a server have open, each once in the engine, whoever opens it: so
// that the engine orders and merges what all of them do with it.
//
// On the server's thread, for all of its clients. Makes no request but the closing ones.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/engine.hpp"

namespace tailrace::impl {

struct SharedFile {
  std::string path;
  FileId data = 0;
  // Another opening of the file for its syncs: a sync of `data` would stand between the writes of all other clients,
  // and would fail for their failures. A file that is published or sealed has one user, and `data` itself here. 0:
  // the file cannot be written.
  FileId sync = 0;
  uint32_t users = 0;
  bool named = false;  // its name is on the device
  // Name that a published file gets; own name of a sealed one; else "".
  std::string final_path;
};

class SharedFiles {
 public:
  enum class Mode { read, write, truncate };

  // Borrowed for the life of this.
  explicit SharedFiles(Engine& engine) : engine_(engine) {}

  // The file, for one more user; it stays where it is until the last one has released it. `write` makes it if there
  // is none. TAILRACE_WRONG_ORDER if it would be emptied under others.
  Result<SharedFile*> open(const std::string& path, Mode mode);
  // Opens the `.partial` that becomes `path`, for one user alone. TAILRACE_WRONG_ORDER if either is open.
  Result<SharedFile*> open_to_publish(const std::string& path, OpenMode mode);
  // Opens a file that is sealed in the end, under its own name.
  Result<SharedFile*> open_to_seal(const std::string& path, OpenMode mode);
  // Returns ok if nobody has the file open, by this name or before it is published.
  Status check_closed(const std::string& path) const;
  // Nothing of that user is under way.
  void release(SharedFile& file);
  // Its data have been published, or could not be: the engine has closed them.
  void published(SharedFile& file) { files_.erase({file.path, true}); }
  // Closes what nobody uses, as far as the engine has room; what is left then, the engine closes in the end. Returns
  // whether there was something.
  bool progress();

 private:
  // By path, and whether it may be written: a program may read what it may not write.
  using Name = std::pair<std::string, bool>;

  Result<SharedFile*> open_new(const std::string& path, Mode mode);
  Status check_unpublished(const std::string& path) const;
  Result<SharedFile*> open_for_one(const std::string& path, const std::string& final_path, OpenMode mode);

  Engine& engine_;
  // The server's thread only.
  std::map<Name, SharedFile> files_;
  std::vector<FileId> closing_;
};

}  // namespace tailrace::impl
