// ClientFiles: the verbs about raw files, as the application's thread runs them. It knows which files are open and
// what each may do; FileTransfer carries their bytes.
//
// It is a part of Client and shares the client's link to the server, memory and counters. One thread at a time.
#pragma once

#include <tailrace/tailrace.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
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
#include "client/file_transfer.hpp"
#include "client/server_link.hpp"
#include "model/config/settings.hpp"
#include "model/trace.hpp"
#include "model/wire/file_wire.hpp"

namespace tailrace::impl {

class ClientFiles {
 public:
  // Borrows the configuration and the client's parts.
  ClientFiles(const StorageSettings& storage, ReadAfter read_after, ServerLink& link, ClientMemory& memory,
              ClientMeter& meter, FileLog log)
      : storage_(storage),
        link_(link),
        memory_(memory),
        meter_(meter),
        book_(log),
        transfer_(link, memory, meter, book_, read_after == ReadAfter::submitted) {}

  // tailrace.h has the contracts. A file is named by a number of this client's, which is never reused.
  Result<uint32_t> open(std::string_view path, int mode);
  Status write(uint64_t file, std::span<const tailrace_extent> extents, const void* data);
  // Both return the ticket. borrow() leaves the bytes where they are, if the server can read them there.
  Result<uint64_t> iwrite(uint64_t file, std::span<const tailrace_extent> extents, const void* data);
  Result<uint64_t> borrow(uint64_t file, std::span<const tailrace_extent> extents, const void* data);
  Status read(uint64_t file, std::span<const tailrace_extent> extents, void* data);
  Status sync(uint64_t file);
  Result<uint64_t> size(uint64_t file);
  Status truncate(uint64_t file, uint64_t bytes);
  Status allocate(uint64_t file, uint64_t offset, uint64_t bytes);
  Status remove(std::string_view path);
  Status close(uint64_t file);
  // Returns the ticket.
  Result<uint64_t> iclose(uint64_t file);
  Status give_up(uint64_t file);
  Status seal(uint64_t file, uint64_t offset, std::span<const std::byte> seal);

  // Returns the open files that are to be published or sealed: the path of each, and the state in which it is left if
  // it is not closed.
  std::vector<std::pair<std::string, std::string>> unfinished() const;

  // Returns the counts and times of the files.
  std::vector<FileBook::Figures> figures() const { return book_.figures(); }
  // Returns the bytes of reads that the memory of pending writes served, without the server.
  uint64_t served() const { return transfer_.served(); }
  // keep_names() makes this remember the paths of files that are opened from then on; name() returns one by its
  // number.
  void keep_names() { keeps_names_ = true; }
  const std::string& name(uint32_t file) const { return names_.at(file); }

 private:
  struct Open {
    std::string path;  // complete
    bool writes = false;
    bool published = false;
    bool sealed = false;
    PoolBlock block;          // of the file_open, until the close has ended
    uint64_t bytes = 0;       // of the block
    FileTransfer::File file;  // openings of one path share a record, those of one file a key
  };
  // A file whose close has not ended, or has ended unnoticed.
  struct Closing {
    uint64_t ticket;
    FileTransfer::File file;
  };

  Result<Open*> find(uint64_t file, const char* verb);
  std::span<std::byte> opening(const Open& of) const { return {memory_.at(of.block), of.bytes}; }
  void take_closed();
  void bound_closing();
  Result<PoolBlock> put_path(const std::string& path, uint32_t mode, uint32_t record);
  Status ask_of_whole(FileTransfer::File of, Verb verb, Descriptor::Range range);
  Status change_size(uint64_t file, Verb verb, const char* name, Descriptor::Range range);
  Result<const Open*> find_to_write(uint64_t file, std::span<const tailrace_extent> extents, const void* data);
  Result<uint64_t> hand_over(uint64_t file, std::span<const tailrace_extent> extents, const void* data,
                             FileTransfer::Way way);
  void end_wait(TraceEvent::What what, FileTransfer::File of, uint64_t bytes, Nanoseconds start);

  // Constant after construction.
  const StorageSettings& storage_;
  ServerLink& link_;
  ClientMemory& memory_;
  ClientMeter& meter_;

  // Used by the client's thread only.
  std::map<uint32_t, Open> open_;
  std::deque<Closing> closing_;
  uint32_t last_ = 0;
  FileBook book_;
  FileTransfer transfer_;
  bool keeps_names_ = false;
  std::map<uint32_t, std::string> names_;
};

}  // namespace tailrace::impl
