// SharedFiles: the raw files that the clients of a server have open. Each is open once in the engine, however many
// clients have it open, so that the engine orders and merges what all of them do with it.
//
// Runs on the server's thread, for all clients. Makes no requests but those to close files.
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
  // A second opening of the file, for its syncs. A sync of `data` would separate the writes of all other clients, and
  // would fail for their failures. Equals `data` for a file that is published or sealed, which has one user. 0: the
  // file cannot be written.
  FileId sync = 0;
  uint32_t users = 0;
  bool named = false;  // its name is on the device
  // The name that a published file gets; the own name of a sealed one; else "".
  std::string final_path;
};

class SharedFiles {
 public:
  enum class Mode { read, write, truncate };

  // Borrows `engine`, for the life of this.
  explicit SharedFiles(Engine& engine) : engine_(engine) {}

  // Opens the file for one more user. The returned object keeps its address until the last user has released it.
  // `write` creates a file that does not exist. Returns TAILRACE_WRONG_ORDER if the file would be emptied while
  // others use it.
  Result<SharedFile*> open(const std::string& path, Mode mode);
  // Opens the `.partial` that becomes `path`, for one user alone. Returns TAILRACE_WRONG_ORDER if either is open.
  Result<SharedFile*> open_to_publish(const std::string& path, OpenMode mode);
  // Opens a file that is sealed at its close, under its own name.
  Result<SharedFile*> open_to_seal(const std::string& path, OpenMode mode);
  // Returns ok if no client has the file open, under this name or before its publication.
  Status check_closed(const std::string& path) const;
  // Ends one use of the file. REQUIRES: that user has nothing under way.
  void release(SharedFile& file);
  // Forgets a file whose data were published, or could not be: the engine has closed them.
  void published(SharedFile& file) { files_.erase({file.path, true}); }
  // Closes unused files while the engine has room; the engine itself closes the rest at its end. Returns true if it
  // closed any.
  bool progress();

 private:
  // The path, and true if the file may be written: a program may read a file that it may not write.
  using Name = std::pair<std::string, bool>;

  Result<SharedFile*> open_new(const std::string& path, Mode mode);
  Status check_unpublished(const std::string& path) const;
  Result<SharedFile*> open_for_one(const std::string& path, const std::string& final_path, OpenMode mode);

  Engine& engine_;
  // Used by the server's thread only.
  std::map<Name, SharedFile> files_;
  std::vector<FileId> closing_;
};

}  // namespace tailrace::impl
