// FileTransfer: carries the bytes of raw files to the server and back. Checks lists of extents, cuts them into verbs
// that fit into the pool, copies, and sends. Reads that the client's own pending writes can serve need no server.
//
// It does not know which files are open, nor how: ClientFiles calls it only for what a file may do. Runs on the
// client's thread.
#pragma once

#include <tailrace/tailrace.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/memory/pool.hpp"
#include "base/status.hpp"
#include "client/client_memory.hpp"
#include "client/client_meter.hpp"
#include "client/file_book.hpp"
#include "client/own_writes.hpp"
#include "client/server_link.hpp"
#include "model/request.hpp"

namespace tailrace::impl {

// The error of a call about raw files whose arguments are wrong.
Status refuse(std::string what);

class FileTransfer {
 public:
  // An open file: its number for the server, its record in the book, and its key among the client's own files.
  struct File {
    uint32_t number = 0;
    uint32_t record = 0;
    uint32_t key = OwnWrites::kUnknown;
  };
  enum class Way { copied, copied_with_ticket, borrowed };

  // Borrows all its arguments. `reads_own`: the client's own pending writes may serve a read.
  FileTransfer(ServerLink& link, ClientMemory& memory, ClientMeter& meter, FileBook& book, bool reads_own)
      : reads_own_(reads_own), link_(link), memory_(memory), meter_(meter), book_(book) {}

  // Returns a verb about a file, handed over now.
  Descriptor describe(Verb verb, uint32_t file, PoolBlock block, uint64_t bytes) const;
  // Returns ok if the list can be written or read: a file can have its extents, and `data` can hold their bytes.
  Status check(std::span<const tailrace_extent> extents, const void* data, bool may_overlap);
  // Hands over a checked list to be written. If copied without a ticket, the list goes in as many verbs as it needs;
  // otherwise in one. If borrowed, the bytes stay where they are if the server can read them there. Returns the
  // ticket, or kNoTicket.
  Result<uint64_t> write(File of, std::span<const tailrace_extent> extents, const void* data, Way way);
  // Reads a checked list, and waits for it.
  Status read(File of, std::span<const tailrace_extent> extents, void* data);
  // Notes that a file was opened; returns its key. closed() notes that its close has ended.
  uint32_t opened(FileIdentity identity) { return own_.opened(identity); }
  void closed(uint32_t key) { own_.closed(key); }

  // Returns the bytes of reads that the memory of pending writes served, without the server.
  uint64_t served() const { return served_; }

 private:
  // A part of a list that one verb carries.
  struct Batch;
  // A verb whose bytes are in the pool.
  struct Copied {
    Descriptor verb;
    std::vector<Extent> extents;  // if the file has been read
    uint64_t length = 0;
    const std::byte* bytes = nullptr;  // in the pool
  };

  uint64_t bytes_at_once() const;
  bool waits_for_storage() const;
  void take_list(std::span<const tailrace_extent> extents);
  bool can_borrow(File of, std::span<const tailrace_extent> extents) const;
  Result<uint64_t> lend(File of, const tailrace_extent& extent, const void* data);
  Result<uint64_t> write_at_once(File of, std::span<const tailrace_extent> extents, const void* data);
  Result<uint64_t> write_all(File of, std::span<const tailrace_extent> extents, const void* data);
  void copy(File of, const Batch& batch, const std::byte* data, uint64_t ticket, PoolBlock block);
  Status send_copied(File of);
  uint64_t put_list(PoolBlock block, const Batch& batch);
  bool read_own(File of, const Batch& batch, std::byte* data);
  Status ask(uint32_t file, const Batch& batch, std::byte* data);

  // Constant after construction.
  const bool reads_own_;
  ServerLink& link_;
  ClientMemory& memory_;
  ClientMeter& meter_;

  // Used by the client's thread only.
  FileBook& book_;
  std::vector<Extent> list_;    // of the verb being made; its memory is reused
  std::vector<Copied> copied_;  // not sent yet; empty between calls
  OwnWrites own_;               // by key, for files that have been read since they were opened
  uint64_t served_ = 0;
  // The last write that was more than one early verb: how long it was copied, and how long the client had waited for
  // tickets at its end, in all.
  struct {
    Nanoseconds copying = Nanoseconds::max(), waited{0};
  } last_large_;
};

}  // namespace tailrace::impl
