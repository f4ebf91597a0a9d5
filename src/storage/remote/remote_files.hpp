// RemoteFiles: the open files of a node that forwarders keep open for it, and the calls on names and whole files.
//
// A file belongs to one forwarder, by the hash of its path. If that is lost, the file moves: to the next forwarder,
// to this node itself, or nowhere, as Options::on_loss says. It moves when the lost forwarder has ended, can be asked
// to settle the file, or begins nothing more for this node. Calls that a loss interrupts are made again, marked as
// repeated, under the same condition. It moves no data: see RemoteStorage. One thread, the engine's.
//
// If files are spread, other forwarders open the same file for the transfers in their domains (domains.hpp), when the
// first one comes. Such an opening is a file of its own here, a part, which moves by itself. Calls on the file are
// made of the forwarder that has the whole file.
//
// More than 35 functions: 17 are the port's.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/log.hpp"
#include "storage/file_operation.hpp"
#include "storage/file_table.hpp"
#include "storage/remote/domains.hpp"
#include "storage/remote/forwarder_set.hpp"

namespace tailrace::impl {

class RemoteFiles final : public FileSystem {
 public:
  enum class OnLoss : uint8_t { next, direct, fail };

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
    Status failure = {};         // it is not open anywhere any more, or a write that was confirmed is lost
    bool unsure = false;         // writes were confirmed as received, and no sync has followed
    Opening settled = {};        // the last one whose forwarder has ended all that it was sent
    FileIdentity identity = {};  // to recognise it under another name, or elsewhere
    std::string renaming = {};   // the name that a call is giving it
    // If it is spread:
    std::optional<Domains> domains = {};
    std::map<size_t, FileHandle> parts = {};  // by forwarder; the file itself where no other opening is needed
    std::optional<FileHandle> whole = {};     // of a part
  };
  // The transfers of a range of a file.
  struct Domain {
    FileHandle file = 0;  // whose forwarder has them
    uint64_t length = 0;  // bytes that it has, without a gap
  };

  // Borrows all. `spread`: files are spread over all forwarders. `local`: carries out what no forwarder does, for
  // OnLoss::direct; else null.
  RemoteFiles(ForwarderSet& forwarders, Log& log, OnLoss on_loss, bool spread, FileSystem* local)
      : forwarders_(forwarders), log_(log), on_loss_(on_loss), spread_(spread), local_(local) {}

  // Connects to all forwarders. Fails if none can be reached and OnLoss is not `direct`.
  Status begin();

  File& at(FileHandle file) { return files_.at(file); }
  // Returns the file, or its part, that has the range from `offset` on, `length` at most; opens it if need be.
  Domain domain_at(FileHandle file, uint64_t offset, uint64_t length);
  // Returns the file and its parts.
  std::vector<FileHandle> all_of(FileHandle file) const;
  // Returns true if the forwarder has the file open, and the link by which it opened it is there.
  bool is_linked(const File& file) const { return is_linked(file.forwarder, file.link); }
  // Moves the files of lost forwarders elsewhere, and takes their locks again. Returns true if there were any. Files
  // that cannot be opened get their failure.
  bool move_from_lost();
  // Returns the forwarder to which the names at a path belong.
  size_t home_of(const std::string& path) const;
  static std::string absolute(const std::string& path);
  // Forgets an open file that its forwarder has closed, or is about to close.
  void forget(FileHandle file);
  // Returns the call that opens a file.
  static ForwardCallMessage opening(const std::string& path, OpenMode mode, uint32_t device);
  // Adds a file that a forwarder has opened, as it answered over the link.
  Opened opened(size_t forwarder, uint64_t link, const ForwardAnswer& answer, const FileOperation& operation);
  // Do what open(), rename() and remove() do, after a call that a forwarder may have carried out.
  Result<Opened> open_again(size_t forwarder, const FileOperation& operation);
  Status rename_again(FileHandle file, const std::string& to, bool replace) {
    return rename(file, to, replace, true);
  }
  Status remove_again(const std::string& path, const std::string& root);
  // Says goodbye to forwarders that are leaving and have nothing open any more.
  void leave_leaving();
  // Notes that a write to a file has failed after it was confirmed. The file is that which was opened by `link` and
  // has the number `remote` there. One that has moved since has got its failure when it moved.
  void fail_file(uint64_t link, uint32_t remote, const Status& why);

  // FileSystem
  Result<Opened> open(const std::string& path, OpenMode mode, uint32_t device) override {
    return open(path, mode, device, false);
  }
  void close(FileHandle file) override;
  bool direct(FileHandle) const override { return true; }
  Result<uint64_t> size(FileHandle file) const override;
  // Not here: RemoteStorage reads.
  Result<size_t> read(FileHandle file, uint64_t offset, std::span<std::byte> to) const override;
  Status sync(FileHandle file) override;
  Status allocate(FileHandle file, uint64_t offset, uint64_t length) override;
  Status truncate(FileHandle file, uint64_t size) override;
  Status rename(FileHandle file, const std::string& to, bool replace) override {
    return rename(file, to, replace, false);
  }
  Result<NameFacts> stat(const std::string& path) const override;
  Result<std::vector<std::string>> list(const std::string& directory) const override;
  Status make_directory(const std::string& path) override;
  Status remove(const std::string& path) override { return remove(path, false); }
  Status check_below(const std::string& root, const std::string& relative) const override;
  Result<std::unique_ptr<NameLock>> lock(const std::string& path, const std::string& holder) override;
  bool is_locked(const std::string& path) const override;

  // Reads and syncs an open file at once: RemoteStorage carries them out as transfers.
  using ReadNow = std::function<Result<size_t>(FileHandle, uint64_t, std::span<std::byte>)>;
  using SyncNow = std::function<Status(FileHandle)>;
  void carry_out_by(ReadNow read, SyncNow sync) {
    read_ = std::move(read);
    sync_ = std::move(sync);
  }

 private:
  class Lock;
  struct Held {
    std::string path;
    std::string holder;
    size_t forwarder = 0;
    uint64_t link = 0;
    uint32_t remote = 0;
    bool held = false;
    bool leave = false;
    bool gone = false;                // no forwarder holds it any more
    std::unique_ptr<NameLock> local;  // this node itself holds it
  };

  // A forwarder that did not answer when it was tried last.
  struct Silence {
    Nanoseconds until{0};  // it is left alone
    std::string why;
  };

  // An answer, and who gave it.
  struct Asked {
    ForwardAnswer answer;
    size_t forwarder = 0;
    bool repeated = false;  // the call was made before, of a forwarder that was lost
    std::vector<std::byte> bulk = {};
  };

  Result<Opened> open(const std::string& path, OpenMode mode, uint32_t device, bool again);
  Opened add(File file, StripeMap stripes);
  Status rename(FileHandle file, const std::string& to, bool replace, bool again);
  Status remove(const std::string& path, bool again);
  Status reach(size_t forwarder);
  bool is_silent(size_t forwarder) const;
  std::optional<size_t> reach_from(size_t home);
  std::optional<size_t> reach_patiently(size_t home);
  bool let_leaving_end();
  void give_up(Nanoseconds after);
  bool reach_again(size_t forwarder);
  bool reach_or_outlast(size_t forwarder);
  bool settle(File& file);
  Result<Asked> ask(const std::string& path, ForwardCallMessage message, const char* operation, bool bulk = false);
  Result<ForwardAnswer> ask_of(File& file, ForwardCallMessage message, const char* operation);
  Status lost(const char* operation, const File& file) const;
  Status open_at(size_t forwarder, File& file);
  Status expect_same(const File& file, FileIdentity found) const;
  FileHandle part_at(FileHandle file, size_t forwarder);
  void fail(File& file, const Status& why);
  void adopt(File& file, size_t forwarder, const ForwardAnswer& answer) const;
  bool still_answers(const File& file) const {
    return forwarders_.is_leaving(file.forwarder) && forwarders_.link(file.forwarder) == file.link;
  }
  bool is_linked(size_t forwarder, uint64_t link) const {
    return forwarders_.is_usable(forwarder) && forwarders_.link(forwarder) == link;
  }
  void move(File& file);
  bool go_on(File& file);
  Status open_renamed(size_t forwarder, File& file);
  Status open_elsewhere(File& file);
  void move(Held& lock);
  Status open_here(File& file);
  bool has_name(const File& file, const std::string& path) const;
  Status rename_once(File& file, const std::string& to, bool replace);
  void release(std::list<Held>::iterator lock);
  void let_go(const Held& lock, bool leave_file);
  // The port's queries are const, but answering them changes the links.
  RemoteFiles& self() const { return const_cast<RemoteFiles&>(*this); }

  ForwarderSet& forwarders_;
  Log& log_;
  const OnLoss on_loss_;
  const bool spread_;
  FileSystem* const local_;
  FileTable<File> files_;
  std::vector<FileHandle> open_;  // all that are
  std::list<Held> locks_;
  std::set<size_t> complained_;  // forwarders whose loss the log has, and which have not answered since
  std::map<size_t, Silence> silent_;
  std::string in_vain_;  // how long which forwarders were tried; empty: one has answered since
  ReadNow read_;
  SyncNow sync_;
};

}  // namespace tailrace::impl
