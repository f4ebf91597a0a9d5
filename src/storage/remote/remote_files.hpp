// RemoteFiles: the open files of a node that forwarders keep open for it, and the operations on names and whole
// files.
//
// A file belongs to one forwarder, by the hash of its path. If that is lost, the file moves: to the next forwarder,
// to this node itself, or nowhere, as OnLoss says. It moves when the lost forwarder has ended, can be asked to settle
// the file, or begins nothing more for this node. Calls that a loss interrupts are made again, marked as repeated,
// under the same condition. It moves no data: see RemoteStorage.
//
// Nothing here waits: operations, and the move of files, are tasks, which go on when an answer has come, or a
// condition holds. While a file moves, only its own transfers and operations wait for it. One thread, the engine's.
//
// If files are spread, other forwarders open the same file for the transfers in their domains (domains.hpp), when the
// first one comes. Such an opening is a file of its own here, a part, which moves by itself. Calls on the file are
// made of the forwarder that has the whole file.
//
// More than 35 functions: a task for each operation, and for each step of a move.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/log.hpp"
#include "storage/file_operation.hpp"
#include "storage/file_table.hpp"
#include "storage/remote/domains.hpp"
#include "storage/remote/forwarders/reach.hpp"
#include "storage/remote/local_operations.hpp"

namespace tailrace::impl {

class RemoteFiles {
 public:
  using OnLoss = impl::OnLoss;

  // The number of a file on the link by which a forwarder opened it.
  struct Opening {
    uint64_t link = 0;
    uint32_t remote = 0;
    bool operator==(const Opening&) const = default;
  };

  // A file that is open.
  struct File {
    std::string path;  // absolute
    OpenMode mode = OpenMode::edit;
    uint32_t device = 0;
    size_t forwarder = 0;
    uint64_t link = 0;    // by which the forwarder opened it; it is closed when that ends
    uint32_t remote = 0;  // the forwarder's number of it
    bool here = false;    // this node itself has it open, as `local`
    FileHandle local = 0;
    uint32_t moving = 0;         // tasks that open it elsewhere, or have its forwarder settle it
    bool closed = false;         // its forwarder has closed it with its renaming
    Status failure = {};         // it is not open anywhere any more, or a write that was confirmed is lost
    bool unsure = false;         // writes were confirmed as received, and no sync has followed
    Opening settled = {};        // the last one whose forwarder has ended all that it was sent
    FileIdentity identity = {};  // to recognise it under another name, or elsewhere
    std::string renaming = {};   // the name that a call is giving it
    // If it is spread:
    std::optional<Domains> domains = {};
    std::map<size_t, FileHandle> parts = {};  // by forwarder; the file itself where no other opening is needed
    std::map<size_t, Task<bool>> opening_parts = {};
    std::optional<FileHandle> whole = {};  // of a part
  };
  // The transfers of a range of a file.
  struct Domain {
    FileHandle file = 0;  // whose forwarder has them
    uint64_t length = 0;  // bytes that it has, without a gap
  };
  // An answer, and the forwarder that gave it.
  struct Asked {
    ForwardAnswer answer;
    size_t forwarder = 0;
    std::vector<std::byte> bulk = {};
  };

  // Borrows all. `spread`: files are spread over all forwarders. `local`: carries out what no forwarder does, for
  // OnLoss::direct; else null.
  RemoteFiles(ForwarderSet& forwarders, Log& log, OnLoss on_loss, bool spread, Storage* local);

  File& at(FileHandle file) { return files_.at(file); }
  const File& at(FileHandle file) const { return files_.at(file); }
  // Returns the file, or its part, that has the range from `offset` on, `length` at most; none: that part is being
  // opened.
  std::optional<Domain> domain_at(FileHandle file, uint64_t offset, uint64_t length);
  // Returns the file and its parts.
  std::vector<FileHandle> all_of(FileHandle file) const;
  // Returns true if its forwarder can be sent transfers of the file.
  bool is_linked(const File& file) const { return file.moving == 0 && is_linked(file.forwarder, file.link); }
  // Returns the waits of its tasks, which take the answers to their calls.
  Waits& waits() { return waits_; }
  // Goes on with all tasks that can, and begins to move the files and locks of lost forwarders. Files that cannot be
  // opened get their failure.
  void progress();
  // Returns when progress() must be called even if nothing happens.
  std::optional<Nanoseconds> due() const { return waits_.due(); }
  // Says goodbye to forwarders that are leaving and have nothing open any more.
  void leave_leaving();
  // Notes that a write to a file has failed after it was confirmed. The file is that which was opened by `link` and
  // has the number `remote` there. One that has moved since has got its failure when it moved.
  void fail_file(uint64_t link, uint32_t remote, const Status& why);

  // Carries out an operation of any kind but `call`.
  Task<FileOperationEnd> carry_out(FileOperation operation);
  // Makes a call on a name. If the forwarder is lost before it answers, makes it again elsewhere.
  Task<Result<Asked>> ask(std::string path, ForwardCallMessage message, const char* operation, bool bulk = false);
  // Returns true if this node itself must carry a call out, as no forwarder could be asked.
  bool falls_back(const Status& status) const { return status.code() == TAILRACE_SERVER_LOST && local_.exist(); }
  LocalOperations& local() { return local_; }
  static std::string absolute(const std::string& path);
  static ForwardCallMessage call_on(ForwardCall call, std::string text, std::string second = {});

  // A lock that a forwarder, or this node, holds.
  struct Held {
    std::string path;
    std::string holder;
    size_t forwarder = 0;
    uint64_t link = 0;
    uint32_t remote = 0;
    bool held = false;
    bool leave = false;
    bool gone = false;                // no forwarder holds it any more
    bool moving = false;              // a task has it taken again
    std::unique_ptr<NameLock> local;  // this node itself holds it
  };
  using Lock = std::list<Held>::iterator;
  Task<Result<Lock>> lock(std::string path, std::string holder);
  Task<bool> holds(Lock lock) const;
  Task<bool> release(Lock lock);

 private:
  Opened add(File file, StripeMap stripes);
  Task<FileOperationEnd> open(FileOperation operation);
  Task<FileOperationEnd> on_name(FileOperation operation);
  Task<FileOperationEnd> on_file(FileOperation operation);
  Task<bool> outlast_calls(size_t forwarder, std::string path);
  Task<bool> until_over(size_t forwarder);
  Task<Result<ForwardAnswer>> ask_of(FileHandle file, ForwardCallMessage message, const char* operation);
  Task<Status> rename(FileHandle file, std::string path, bool replace, bool closes);
  Task<bool> close(FileHandle file);
  Task<bool> close_at(FileHandle file);
  Task<bool> open_part(FileHandle whole, size_t forwarder);
  Task<bool> let_leaving_end();
  Task<bool> settle(FileHandle file);
  Task<bool> move_lost(FileHandle file);
  Task<bool> move(FileHandle file);
  Task<bool> go_on(FileHandle file);
  Task<Status> open_elsewhere(FileHandle file);
  Task<Status> open_renamed(std::optional<size_t> forwarder, FileHandle file);
  Task<Status> open_at(std::optional<size_t> at, File& file);
  Task<Status> open_here(File& file);
  Task<bool> has_name(FileIdentity identity, std::string path);
  Task<bool> move_lock(Held& lock);
  Task<bool> let_go(size_t forwarder, uint32_t remote, bool leave_file);

  size_t home_of(const std::string& path) const { return hash_of(path) % forwarders_.size(); }
  Waits::Condition settled(FileHandle file);
  bool is_open(FileHandle file) const;
  bool must_move(FileHandle file) const;
  bool must_move(const Held& lock) const;
  Status lost(const char* operation, const File& file) const;
  void fail(File& file, const Status& why);
  void forget(FileHandle file);
  void adopt(File& file, size_t forwarder, const ForwardAnswer& answer) const;
  bool still_answers(const File& file) const {
    return forwarders_.is_leaving(file.forwarder) && forwarders_.link(file.forwarder) == file.link;
  }
  bool is_linked(size_t forwarder, uint64_t link) const {
    return forwarders_.is_usable(forwarder) && forwarders_.link(forwarder) == link;
  }

  ForwarderSet& forwarders_;
  Log& log_;
  const OnLoss on_loss_;
  const bool spread_;
  Waits waits_;
  LocalOperations local_;
  Reach reach_;
  FileTable<File> files_;
  std::vector<FileHandle> open_;  // all that are
  std::list<Held> locks_;
  std::list<Task<bool>> moves_;
};

}  // namespace tailrace::impl
