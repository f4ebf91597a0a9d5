// RawFiles: the raw files that one client has open, on the server's side. Turns the client's verbs about them into
// requests of the engine, and reports how each has ended.
//
// Runs on the server's thread; never waits. A list of extents becomes one request, whose pieces lie in the client's
// pool. A sync waits for the client's own writes alone. A close waits for everything that the client does with the
// file; then, if the file is published or sealed, it gives it its name or its seal.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "channel/client_ends.hpp"
#include "engine/engine.hpp"
#include "model/config/settings.hpp"
#include "model/wire/descriptor_wire.hpp"
#include "model/wire/file_wire.hpp"
#include "server/raw_files/file_meter.hpp"
#include "server/raw_files/shared_files.hpp"

namespace tailrace::impl {

class RawFiles final : public CompletionSink {
 public:
  // The client's server.
  class Host {
   public:
    virtual ~Host() = default;
    // Reports that a verb has ended: its memory is not used any more.
    virtual void file_verb_ended(const Descriptor& descriptor, const Status& status) = 0;
    // Reports how a write went, before its end.
    virtual void file_write_went(const Descriptor& descriptor, const Request& request, const Status& status) = 0;
  };

  // Borrows all but `client`, for the life of this.
  RawFiles(const StorageSettings& storage, bool by_count, uint32_t client, ClientEnds& to_client, Engine& engine,
           SharedFiles& files, Host& host, FileMeter& meter);

  // Checks the next verb for begin(): the client's values are not trusted. A failure names what is wrong, for "it
  // sent …".
  Status check(const Descriptor& descriptor);
  // Begins the verb. REQUIRES: the engine has room.
  void begin(const Descriptor& descriptor);
  // Opens a file whose file_open an earlier server has answered: the file exists, and is not emptied again. No other
  // verb of the file may come before SharedFiles::is_busy() is false.
  void open_again(const Descriptor& descriptor) { open(descriptor, true); }
  // Repeats a file_remove that an earlier server may have carried out: it is no error if the file does not exist.
  void remove_again(const Descriptor& descriptor) { remove(descriptor, true); }
  // Begins verbs that have waited. Returns true if there were any.
  bool progress();
  // Notes that the client has gone. REQUIRES: nothing is under way, and nothing more comes.
  void leave();

  bool idle() const { return free_works_.size() == works_.size() && names_ + releases_ == 0; }
  // Returns true if a verb waits until all writes before it have ended.
  bool is_waited_for() const { return !waiting_.empty(); }

  void ended(const Request& request, const Status& status) override;

 private:
  struct Open {
    SharedFile* file = nullptr;  // null: it could not be opened again after an earlier server's death
    Status failure;              // why it could not
    std::string path;
    uint32_t block = 0;  // of its file_open
    uint64_t sequence = 0;
    uint32_t record = 0;  // in the channel's FileLog
    bool writes = false;
    bool immediate = false;        // its writes do not wait to be merged
    bool closing = false;          // the client has sent its close
    bool asking = false;           // the storage looks for its size, or reserves space
    std::span<std::byte> opening;  // the block of its file_open, if the file is published or sealed; else none
    std::span<std::byte> answer;   // where file_size puts the size
    bool seals = false;            // the file is sealed
    uint32_t writing = 0;          // writes under way
    uint32_t under_way = 0;        // verbs under way
    // Verbs that wait for the client's own writes to end, in order: syncs, questions about the file as a whole, reads
    // that are repeated, and the close.
    std::deque<Descriptor> waiting;
  };
  struct Work {
    Descriptor descriptor;
    FileId directory = 0;     // for the last step of file_sync and file_close: opened for this work alone
    bool may_repeat = false;  // for file_read: the client's own writes were under way when it began
    bool sealed = false;      // for file_close: the seal is written
  };
  // The fields of a verb that check() has read, for begin().
  struct Checked {
    uint64_t sequence = 0;
    std::vector<Piece> pieces;
  };

  Status check_block(const Descriptor& descriptor) const;
  Status check_open_file(const Descriptor& descriptor);
  std::span<std::byte> block_of(const Descriptor& descriptor) const;
  void open(const Descriptor& descriptor, bool again);
  void open_shared(const FileToOpen& wanted, bool again, SharedFiles::Then then);
  void opened(const Descriptor& descriptor, const FileToOpen& wanted, bool again, Result<SharedFile*> file);
  Result<std::vector<Piece>> read_pieces(const Descriptor& descriptor) const;
  Result<std::vector<Piece>> pieces_of(const Descriptor& descriptor);
  void wait(const Descriptor& descriptor, Open& of);
  void begin_list(const Descriptor& descriptor, Open& of, bool again);
  void remove(const Descriptor& descriptor, bool again);
  void begin_next(const Descriptor& descriptor, Open& of);
  void ask(const Descriptor& descriptor, Open& of);
  void sync_directory(uint64_t token, const Open& of);
  void begin_close(const Descriptor& descriptor, Open& of);
  Status unpublished(const Open& of) const;
  void publish(uint64_t token, Open& of);
  void went_on_publishing(const Request& request, const Status& how);
  void end_publishing(uint64_t token, const Status& status);
  void release(Open& of, std::function<void()> then);
  void end_close(const Descriptor& descriptor, const Status& status);
  // Returns true if this client has writes to the file under way, by any of its numbers.
  bool is_written(const SharedFile* file) const { return written_.contains(file); }
  uint64_t new_work(const Descriptor& descriptor, bool may_repeat);
  void submit(uint64_t token, FileId file, Operation operation, std::vector<Piece> pieces, bool immediate);
  void end(const Descriptor& descriptor, const Status& status, const std::string& path, const std::string& what);

  // Constant after construction.
  const StorageSettings& storage_;
  const bool by_count_;  // merge.by_count
  const uint32_t client_;
  ClientEnds& to_client_;
  Engine& engine_;
  SharedFiles& files_;
  Host& host_;
  FileMeter& meter_;

  // Used by the server's thread only.
  std::map<uint32_t, Open> open_;                  // by the client's number
  std::set<uint32_t> waiting_;                     // those of which verbs wait
  std::map<const SharedFile*, uint32_t> written_;  // those that have writes under way, and how many
  uint32_t last_ = 0;                              // the largest number so far
  std::vector<Work> works_;                        // by token; entries are reused
  std::vector<uint64_t> free_works_;
  size_t names_ = 0;     // openings and removals under way
  size_t releases_ = 0;  // of files that are closed, under way
  Checked checked_;
};

}  // namespace tailrace::impl
