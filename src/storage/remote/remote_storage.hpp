// RemoteStorage: the back end `remote`, which hands transfers and calls to forwarders instead of the kernel.
// Implements the port storage.hpp.
//
// Small transfers travel many in one message; large ones alone, straight from the caller's memory. A transfer ends
// when a forwarder has confirmed it. If a forwarder is lost, its files move (RemoteFiles), and what it had not
// confirmed is sent again; each transfer has its effect once, since sending it again writes the same bytes to the
// same place. If files are spread over the forwarders, a transfer is cut at the borders of their domains. It needs to
// be driven at due() even if nothing happens. One thread, the engine's.
#pragma once

#include <deque>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/sync/doorbell.hpp"
#include "storage/fixed_fifo.hpp"
#include "storage/remote/forwarders/forwarder_set.hpp"
#include "storage/remote/posted_tasks.hpp"
#include "storage/remote/remote_file_system.hpp"
#include "storage/storage.hpp"
#include "transport/link/links.hpp"

namespace tailrace::impl {

class RemoteStorage final : public Storage {
 public:
  struct Options {
    std::vector<std::string> servers;  // addresses of the forwarders: "io1:4711"
    RemoteFiles::OnLoss on_loss = RemoteFiles::OnLoss::next;
    TransferRecord::Confirm confirm = TransferRecord::Confirm::written;
    bool spread = false;   // each forwarder has its domains of each file, not all of some files
    uint32_t depth = 256;  // most transfers in progress
    std::string name;      // of this node and process, for the forwarders' logs
    std::string output;    // where all nodes write that must have the same servers, whatever their order; "": unknown
    uint64_t process = 0;  // a number that no other storage has; see ForwardTerms
    Links::Options links = {};
    Nanoseconds grace = std::chrono::seconds(4);  // see ForwarderSet
    Nanoseconds look{0};  // after a small message its owner does not sleep for so long: the answer comes soon
  };

  // Connects to the forwarders. Fails with TAILRACE_SERVER_LOST if none answers, unless this node then does without.
  // `local`: the storage of this node itself, for OnLoss::direct; else null. Borrows clock, doorbell and log.
  static Result<std::unique_ptr<RemoteStorage>> create(std::unique_ptr<Transport> transport,
                                                       std::unique_ptr<Storage> local, const Clock& clock,
                                                       Doorbell& doorbell, Log& log, const Options& options);
  // Requires that all transfers were reaped. Says goodbye to the forwarders.
  ~RemoteStorage() override;

  const Capabilities& capabilities() const override { return capabilities_; }
  FileSystem& files() override { return calls_; }
  FileSystem& files_of_threads() override;
  void use_memory(std::span<std::byte> memory) override;
  void submit(const Transfer& transfer) override;
  size_t reap(std::span<Completion> done) override;
  void submit(FileOperation operation) override;
  std::optional<FileOperationEnd> reap_operation() override;
  Status failure_of(FileHandle file) const override { return files_.at(file).failure; }
  std::optional<Nanoseconds> due() const override;

 private:
  // A transfer that was cut. It ends when all of its pieces have.
  struct Cut {
    struct Piece {
      std::vector<iovec> segments;
      uint64_t length = 0;  // bytes
      int64_t result = 0;
    };
    uint64_t tag = 0;
    size_t left = 0;  // pieces that have not ended
    std::vector<Piece> pieces;
  };
  // A transfer that was submitted and is not reaped, or a piece of one.
  struct Slot {
    bool used = false;
    bool over = false;      // `result` is known
    bool alone = false;     // carry_out() takes its result from here
    uint32_t borrowed = 0;  // uses of its memory by the transport that have not ended
    Transfer transfer;
    uint64_t length = 0;  // bytes, as sent
    int64_t result = 0;
    std::shared_ptr<Cut> cut = {};  // of which it is the piece number `piece`
    size_t piece = 0;
  };
  // Transfers that were sent together.
  struct Message {
    size_t forwarder = 0;
    uint64_t link = 0;  // on which it was sent
    std::vector<uint32_t> slots;
    bool sent = false;      // the transport does not use its memory any more
    bool answered = false;  // or never will be: its forwarder is lost
    // Bytes that come with the answer.
    std::vector<int64_t> results = {};
    uint64_t arrival = 0;
    uint64_t bulk = 0;
    bool coming = false;
    std::unique_ptr<std::byte[]> copy = {};  // where they come to, if not straight into the reader's memory
  };
  // Transfers that are about to be sent together.
  struct Batch {
    std::vector<uint32_t> slots;
    std::vector<TransferRecord> records;
    std::vector<iovec> bulk;
    uint64_t bytes = 0;
  };

  RemoteStorage(std::unique_ptr<Transport> transport, std::unique_ptr<Storage> local, const Clock& clock,
                Doorbell& doorbell, Log& log, const Options& options);
  uint32_t take_slot(const Transfer& transfer);
  bool cut(const Transfer& transfer);
  static int64_t joined(const Cut& cut);
  void carry_out(FunctionRef<void()> start, FunctionRef<bool()> is_over);
  Task<int64_t> carry_out(Transfer transfer);
  void progress();
  void take(ForwarderEvent& event);
  void note_ends(size_t forwarder, ForwarderEvent& event);
  bool fits(const Message& message, const ForwarderEvent& event) const;
  void fetch(uint64_t number, Message& message);
  void note_received(ForwarderEvent& event);
  void scatter(Message& message);
  void settle(uint64_t number, Message& message);
  void note_loss(const LossRecord& loss, uint64_t link);
  void take_back(uint64_t link);
  void send_waiting();
  bool add(Batch& batch, uint32_t slot);
  void send(size_t forwarder, Batch& batch);
  bool begin_here(uint32_t slot, FileHandle file);
  bool looks() const { return !messages_.empty() && forwarders_.now() < look_until_; }
  void end(uint32_t slot, int64_t result);
  void release(uint32_t slot);

  // Constant after construction.
  Doorbell& doorbell_;
  Log& log_;
  const Options options_;
  const Capabilities capabilities_;
  const std::unique_ptr<Transport> transport_;
  const std::unique_ptr<Storage> local_;
  // Owned by the engine's thread.
  Links links_;
  ForwarderSet forwarders_;
  RemoteFiles files_;
  RemoteFileSystem calls_;
  PostedTasks posted_;
  std::thread::id engine_;  // the thread that drives this, once others call; set before the first of them does
  std::list<Task<FileOperationEnd>> operations_;  // that were not reaped
  std::deque<FileOperationEnd> ended_;            // of calls, which have waited
  std::deque<Slot> slots_;                        // grows if transfers are cut
  std::vector<uint32_t> free_slots_;
  std::deque<Transfer> uncut_;    // while parts of their files are being opened
  std::deque<uint32_t> waiting_;  // slots that were not sent, or must be sent again
  std::map<uint64_t, Message> messages_;
  Nanoseconds look_until_{0};
  std::vector<ForwarderEvent> events_;
  std::vector<Completion> here_;  // scratch
  uint32_t under_way_here_ = 0;
  FixedFifo<Completion> done_;
};

}  // namespace tailrace::impl
