// SharedFiles: the raw files that the clients of a server have open. Each is open once in the engine, however many
// clients have it open, so that the engine orders and merges what all of them do with it. A file is recognised by its
// identity: it may lose its name, which may lead to another file, while it is open.
//
// Runs on the server's thread, for all clients; never waits. An opening is a chain of operations. Those of one name
// take turns, with its removals, so that each finds what the one before has left; those of other names overtake it.
// If two names lead to one file, the first opening to end has opened it, and the others share it.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
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

class SharedFiles final : public CompletionSink {
 public:
  enum class Mode { read, edit, write, truncate };

  // The path of a raw file, and the directory, with which it begins, below which it must lead.
  struct Place {
    std::string path;
    std::string root;
  };
  // The end of an opening, now or from the engine's progress(). Descriptors that it does not need are
  // closed. The file keeps its address until the last user has released it.
  using Then = std::function<void(const Result<SharedFile*>& file)>;

  // Borrows `engine`, for the life of this.
  explicit SharedFiles(Engine& engine) : engine_(engine) {}

  // Opens the file that the path leads to for one more user. `write` creates a file that does not exist, `edit` does
  // not. Fails with TAILRACE_WRONG_ORDER if the file would be emptied while others use it.
  void open(Place place, Mode mode, Then then);
  // Opens the `.partial` that becomes `place`, for one user alone. Fails with TAILRACE_WRONG_ORDER if either is open.
  void open_to_publish(Place place, OpenMode mode, Then then);
  // Opens a file that is sealed at its close, under its own name.
  void open_to_seal(Place place, OpenMode mode, Then then);
  // Removes a file, unless a client has the file open that the path leads to, or one that is to be published as it.
  void remove(Place place, std::function<void(const Status& status)> then);
  // Ends one use of the file. REQUIRES: that user has nothing under way. Calls `then` when the descriptors that the
  // end of this use leaves over are closed: at a close of one of them, a process loses its POSIX locks on the file.
  void release(SharedFile& file, std::function<void()> then);
  // Forgets a file whose data were published, or could not be: the engine has closed them.
  void published(SharedFile& file) { forget(file); }
  // Makes the requests that have waited for room in the engine, which itself closes the rest at its end. Returns true
  // if it made any.
  bool progress();
  // Returns true if files are being opened or removed.
  bool is_busy() const { return busy_ > 0; }

  void ended(const Request& request, const Status& status) override;

 private:
  // A file, and true if it may be written: a program may read a file that it may not write.
  using Known = std::pair<FileIdentity, bool>;
  struct Opening {
    Place place = {};
    Mode mode = Mode::read;
    OpenMode how = OpenMode::edit;
    std::string final_path = {};        // of a file that is published or sealed; else ""
    bool has_name = false;              // … which nobody else can have now
    std::deque<Place> to_look_at = {};  // names that no file which is open may have
    FileId data = 0;
    FileId sync = 0;
    bool was_empty = false;
    SharedFile* file = nullptr;  // that is being emptied
    Then then = {};
  };
  using Shared = std::shared_ptr<Opening>;
  struct Closing {
    size_t left = 0;  // descriptors
    std::function<void()> then;
  };

  void in_turn(const std::string& path, std::function<void()> begin);
  void end_turn(const std::string& path);
  void begin_turn(std::function<void()> begin);
  void look(const Shared& of);
  void open_data(const Shared& of);
  void data_opened(const Shared& of, FileOperationEnd& end);
  void open_sync(const Shared& of);
  void sync_opened(const Shared& of, FileOperationEnd& end);
  void settle(const Shared& of);
  void share(const Shared& of, SharedFile& file);
  void end(const Shared& of, const Result<SharedFile*>& file);
  void close(std::set<FileId> files, std::function<void()> then);
  void closed(uint64_t token);
  SharedFile* find(FileIdentity identity, Mode mode);
  SharedFile* add(SharedFile file);
  Status check_unpublished(const std::string& path) const;
  void open_for_one(const Shared& of);
  void forget(const SharedFile& file);

  Engine& engine_;
  // Used by the server's thread only.
  std::map<FileId, SharedFile> files_;          // by `data`
  std::map<Known, SharedFile*> known_;          // those whose identity is known
  std::map<std::string, std::string> for_one_;  // by path: the names of those that are to be published or sealed
  // Openings and removals by name, without `.partial`: the first one is under way, the others wait.
  std::map<std::string, std::deque<std::function<void()>>> turns_;
  std::deque<std::function<void()>> ready_;  // turns that begin now
  bool begins_turns_ = false;
  size_t busy_ = 0;                       // openings and removals
  std::deque<Shared> waiting_;            // files to be emptied, while the engine has no room
  std::map<uint64_t, Shared> emptying_;   // by token
  std::map<uint64_t, Closing> closings_;  // by token
  uint64_t next_token_ = 1;
  std::vector<std::pair<FileId, uint64_t>> to_close_;  // with their tokens, while the engine has no room
};

}  // namespace tailrace::impl
