// ClientFiles: the verbs about raw files, as the application's thread runs them. Checks paths and lists, cuts lists
// into verbs that fit into the pool, copies, sends, waits.
//
// A part of Client: it shares the client's way to the server, memory and counters. One thread at a time.
#pragma once

#include <tailrace/tailrace.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/memory/pool.hpp"
#include "base/status.hpp"
#include "client/client_memory.hpp"
#include "client/client_meter.hpp"
#include "client/file_book.hpp"
#include "client/own_writes.hpp"
#include "client/server_link.hpp"
#include "model/trace.hpp"
#include "model/wire/file_wire.hpp"

namespace tailrace::impl {

class ClientFiles {
 public:
  // The client's parts are borrowed; `root`: what stands before paths, for messages. `reads_own`: a read may have the
  // bytes of the client's own pending writes.
  ClientFiles(ServerLink& link, ClientMemory& memory, ClientMeter& meter, std::string root, FileLog log,
              bool reads_own)
      : link_(link), memory_(memory), meter_(meter), root_(std::move(root)), reads_own_(reads_own), book_(log) {}

  // The contracts are in tailrace.h. A file is named by a number of this client's, never used twice.
  Result<uint32_t> open(std::string_view path, int mode);
  Status write(uint64_t file, std::span<const tailrace_extent> extents, const void* data);
  // Both return the ticket; the second leaves the bytes where they are, if the server can read them there.
  Result<uint64_t> iwrite(uint64_t file, std::span<const tailrace_extent> extents, const void* data);
  Result<uint64_t> borrow(uint64_t file, std::span<const tailrace_extent> extents, const void* data);
  Status read(uint64_t file, std::span<const tailrace_extent> extents, void* data);
  Status sync(uint64_t file);
  Status close(uint64_t file);
  // Returns the ticket.
  Result<uint64_t> iclose(uint64_t file);
  Status give_up(uint64_t file);
  Status seal(uint64_t file, uint64_t offset, std::span<const std::byte> seal);

  // Those that are open to be published or sealed: the path of each, and how it is left if it is not closed.
  std::vector<std::pair<std::string, std::string>> unfinished() const;

  // Returns the counts and times of the files.
  std::vector<FileBook::Figures> figures() const { return book_.figures(); }
  // Bytes of reads that came from the memory of pending writes, without the server.
  uint64_t served() const { return served_; }
  // By a file's number, its path: of those that were opened while names were to be kept.
  void keep_names() { keeps_names_ = true; }
  const std::string& name(uint32_t file) const { return names_.at(file); }

 private:
  struct Open {
    std::string path;  // with what stands before it
    bool writes = false;
    bool published = false;
    bool sealed = false;
    PoolBlock block;      // of its opening, until its close has ended
    uint64_t bytes = 0;   // of the block
    uint32_t record = 0;  // the same of all that have its path
  };
  // A file whose close has yet to end, or to be seen to have ended.
  struct Closing {
    uint64_t ticket;
    uint32_t record;
  };
  // A part of a list that goes by one verb.
  struct Batch;

  Result<Open*> find(uint64_t file, const char* verb);
  std::span<std::byte> opening(const Open& of) const { return {memory_.at(of.block), of.bytes}; }
  Status make_room();
  void take_closed();
  Status check_list(const char* verb, const Open& of, std::span<const tailrace_extent> extents, const void* data,
                    bool may_overlap);
  uint64_t bytes_at_once() const;
  Result<const Open*> find_to_write(uint64_t file, std::span<const tailrace_extent> extents, const void* data);
  void copy_batch(uint32_t file, uint32_t record, const Batch& batch, const std::byte* data, uint64_t ticket,
                  PoolBlock block);
  Status send_copied(uint32_t record);
  bool read_own(uint32_t record, const Batch& batch, std::byte* data);
  Status ask_batch(uint32_t file, const Batch& batch, std::byte* data);
  Descriptor describe(Verb verb, uint32_t file, PoolBlock block, uint64_t bytes) const;
  uint64_t put_list(PoolBlock block, const Batch& batch);
  enum class Way { copied, copied_with_ticket, borrowed };
  Result<uint64_t> hand_over(uint64_t file, std::span<const tailrace_extent> extents, const void* data, Way way);
  Result<uint64_t> hand_over(uint32_t file, const Open& of, std::span<const tailrace_extent> extents,
                             const void* data, Way way);
  bool can_borrow(const Open& of, std::span<const tailrace_extent> extents) const;
  // One extent, where it is; the ticket.
  Result<uint64_t> lend(uint32_t file, const Open& of, const tailrace_extent& extent, const void* data);
  // In as many requests as there must be; no ticket.
  Result<uint64_t> write_all(uint32_t file, const Open& of, std::span<const tailrace_extent> extents,
                             const void* data);
  Status read_all(uint32_t file, const Open& of, std::span<const tailrace_extent> extents, void* data);
  // In one request; its ticket.
  Result<uint64_t> write_at_once(uint32_t file, const Open& of, std::span<const tailrace_extent> extents,
                                 const void* data);
  void waited(TraceEvent::What what, uint32_t file, const Open& of, uint64_t bytes, Nanoseconds start);

  // Constant after construction.
  ServerLink& link_;
  ClientMemory& memory_;
  ClientMeter& meter_;
  const std::string root_;
  const bool reads_own_;

  // The client's thread only.
  std::map<uint32_t, Open> open_;
  std::deque<Closing> closing_;
  uint32_t last_ = 0;
  std::vector<Extent> list_;  // of the verb being made; kept for the next
  FileBook book_;
  uint64_t served_ = 0;
  struct Copied {
    Descriptor verb;
    std::vector<Extent> extents;  // if the file has been read
    uint64_t length = 0;
    const std::byte* bytes = nullptr;  // in the pool
  };
  std::vector<Copied> copied_;  // and not sent yet; empty between calls
  OwnWrites own_;               // by record, of files that have been read since they were opened
  bool keeps_names_ = false;
  std::map<uint32_t, std::string> names_;
};

}  // namespace tailrace::impl
