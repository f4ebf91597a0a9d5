// The storage port: what the engine asks of a file system. One folder beside this file a back end.
//
// Data transfers are submitted and reaped; they end in any order. Everything else is done at once (file_system.hpp).
// A back end does what it is told once: short transfers, EINTR and EAGAIN are returned as they are, and the engine
// continues them. All calls come from one thread, the engine's.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "storage/file_system.hpp"

namespace tailrace::impl {

// One transfer between a contiguous range of a file and a list of memory segments.
struct Transfer {
  enum class Kind : uint8_t { read, write, sync };
  Kind kind = Kind::write;
  // Offset, sizes and addresses are multiples of Capabilities::direct_alignment, and the page cache may be bypassed.
  bool direct = false;
  FileHandle file = 0;
  uint64_t offset = 0;
  std::span<const iovec> segments;  // borrowed until the transfer is reaped; at most max_segments
  uint64_t tag = 0;                 // returned with the completion
  // From `offset` on so many bytes are written now, by this transfer and the next ones, through the page cache: that
  // has less to do if the file system is first asked to make room for all of them at once. A hint: the file does not
  // get longer by it, and nothing is told of it.
  uint64_t room = 0;
};

struct Completion {
  uint64_t tag = 0;
  int64_t result = 0;  // bytes transferred (0 for sync), or -errno
};

struct Capabilities {
  std::string name;               // for logs: "uring"
  uint32_t depth = 1;             // transfers that may be under way at once
  uint32_t max_segments = 1;      // in one transfer
  uint32_t direct_alignment = 0;  // 0: direct transfers are not possible
};

class Storage {
 public:
  virtual ~Storage() = default;

  virtual const Capabilities& capabilities() const = 0;

  // The names and files that transfers are about.
  virtual FileSystem& files() = 0;

  // Tells the back end of memory that most transfers will use, so that it may prepare it, which takes all of it from
  // the system. At most once; on any thread, also while others submit and reap. The memory outlives the back end.
  virtual void use_memory(std::span<std::byte> memory) = 0;

  // Takes a transfer over. It begins at once or at the next reap(), as suits the back end: many can begin by one
  // system call then. At most capabilities().depth are under way, those that have yet to begin among them.
  virtual void submit(const Transfer& transfer) = 0;
  // Begins what has not begun. Then takes completions, at most done.size(); returns how many. Never blocks. The back
  // end rings the doorbell it was made with when there are new ones.
  virtual size_t reap(std::span<Completion> done) = 0;
};

}  // namespace tailrace::impl
