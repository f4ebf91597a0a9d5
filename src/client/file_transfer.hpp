// FileTransfer: carries the bytes of raw files to the server and back. Checks lists of extents, cuts them into verbs
// that fit into the pool, copies, sends; reads that the client's own pending writes answer need no server.
//
// It does not know which files are open, nor how: ClientFiles asks it only for what a file may do. The client's
// thread.
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
  // An open file, as the server knows it, and as the book does.
  struct File {
    uint32_t number = 0;
    uint32_t record = 0;
  };
  enum class Way { copied, copied_with_ticket, borrowed };

  // All are borrowed. `reads_own`: a read may have the bytes of the client's own pending writes.
  FileTransfer(ServerLink& link, ClientMemory& memory, ClientMeter& meter, FileBook& book, bool reads_own)
      : reads_own_(reads_own), link_(link), memory_(memory), meter_(meter), book_(book) {}

  // A verb about a file, handed over now.
  Descriptor describe(Verb verb, uint32_t file, PoolBlock block, uint64_t bytes) const;
  // Ok if the list can be written or read: its extents may be in a file, and `data` may have their bytes.
  Status check(std::span<const tailrace_extent> extents, const void* data, bool may_overlap);
  // Hands a sound list over to be written. Copied without a ticket it goes in as many verbs as there must be, else in
  // one; borrowed, it stays where it is if the server can take it there. Returns the ticket, or kNoTicket.
  Result<uint64_t> write(File of, std::span<const tailrace_extent> extents, const void* data, Way way);
  // Reads a sound list, and waits for it.
  Status read(File of, std::span<const tailrace_extent> extents, void* data);
  // The file of that record is closed.
  void forget(uint32_t record) { own_.forget(record); }

  // Bytes of reads that came from the memory of pending writes, without the server.
  uint64_t served() const { return served_; }

 private:
  // A part of a list that goes by one verb.
  struct Batch;
  // A verb whose bytes are in the pool.
  struct Copied {
    Descriptor verb;
    std::vector<Extent> extents;  // if the file has been read
    uint64_t length = 0;
    const std::byte* bytes = nullptr;  // in the pool
  };

  uint64_t bytes_at_once() const;
  void take_list(std::span<const tailrace_extent> extents);
  bool can_borrow(File of, std::span<const tailrace_extent> extents) const;
  Result<uint64_t> lend(File of, const tailrace_extent& extent, const void* data);
  Result<uint64_t> write_at_once(File of, std::span<const tailrace_extent> extents, const void* data);
  Result<uint64_t> write_all(File of, std::span<const tailrace_extent> extents, const void* data);
  void copy(File of, const Batch& batch, const std::byte* data, uint64_t ticket, PoolBlock block);
  Status send_copied(uint32_t record);
  uint64_t put_list(PoolBlock block, const Batch& batch);
  bool read_own(uint32_t record, const Batch& batch, std::byte* data);
  Status ask(uint32_t file, const Batch& batch, std::byte* data);

  // Constant after construction.
  const bool reads_own_;
  ServerLink& link_;
  ClientMemory& memory_;
  ClientMeter& meter_;

  // The client's thread only.
  FileBook& book_;
  std::vector<Extent> list_;    // of the verb being made; kept for the next
  std::vector<Copied> copied_;  // and not sent yet; empty between calls
  OwnWrites own_;               // by record, of files that have been read since they were opened
  uint64_t served_ = 0;
};

}  // namespace tailrace::impl
