// SharedFiles: the raw files that the clients of a server have open. Each is open once in the engine, however many
// clients have it open, so that the engine orders and merges what all of them do with it. A file is recognised by its
// identity: it may lose its name, which may lead to another file, while it is open.
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
  std::string path;  // by which it was opened
  FileId data = 0;
  // A second opening of the file, for its syncs. A sync of `data` would separate the writes of all other clients, and
  // would fail for their failures. Equals `data` for a file that is published or sealed, which has one user. 0: the
  // file cannot be written.
  FileId sync = 0;
  uint32_t users = 0;
  bool named = false;  // its name is on the device
  // The name that a published file gets; the own name of a sealed one; else "".
  std::string final_path = {};
  FileIdentity identity = {};

  bool is_writable() const { return sync != 0; }
};

class SharedFiles {
 public:
  enum class Mode { read, edit, write, truncate };

  // Borrows `engine`, for the life of this.
  explicit SharedFiles(Engine& engine) : engine_(engine) {}

  // Opens the file that the path leads to for one more user. The returned object keeps its address until the last
  // user has released it. `write` creates a file that does not exist, `edit` does not. Returns TAILRACE_WRONG_ORDER
  // if the file would be emptied while others use it.
  Result<SharedFile*> open(const std::string& path, Mode mode);
  // Opens the `.partial` that becomes `path`, for one user alone. Returns TAILRACE_WRONG_ORDER if either is open.
  Result<SharedFile*> open_to_publish(const std::string& path, OpenMode mode);
  // Opens a file that is sealed at its close, under its own name.
  Result<SharedFile*> open_to_seal(const std::string& path, OpenMode mode);
  // Returns ok if no client has the file open that the path leads to, or one that is to be published as it.
  Status check_closed(const std::string& path);
  // Ends one use of the file. REQUIRES: that user has nothing under way.
  void release(SharedFile& file);
  // Forgets a file whose data were published, or could not be: the engine has closed them.
  void published(SharedFile& file) { forget(file); }
  // Closes unused files while the engine has room; the engine itself closes the rest at its end. Returns true if it
  // closed any.
  bool progress();

 private:
  // A file, and true if it may be written: a program may read a file that it may not write.
  using Known = std::pair<FileIdentity, bool>;

  FileIdentity identity_of(const std::string& path);
  SharedFile* find(FileIdentity identity, Mode mode);
  bool is_open(const std::string& path);
  Result<SharedFile*> open_new(const std::string& path, Mode mode);
  SharedFile* add(SharedFile file);
  Status check_unpublished(const std::string& path) const;
  Result<SharedFile*> open_for_one(const std::string& path, const std::string& final_path, OpenMode mode);
  void forget(const SharedFile& file);

  Engine& engine_;
  // Used by the server's thread only.
  std::map<FileId, SharedFile> files_;                // by `data`
  std::map<Known, SharedFile*> known_;                // those whose identity is known
  std::map<std::string, const SharedFile*> for_one_;  // those that are to be published or sealed, by `path`
  std::vector<FileId> closing_;
};

}  // namespace tailrace::impl
