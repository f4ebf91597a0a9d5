// The storage port: the few things the engine asks of a file system. One folder beside this file a back end.
//
// Data transfers are submitted and reaped; they end in any order. Everything else is short and is done at once. A
// back end does what it is told once: short transfers, EINTR and EAGAIN are returned as they are, and the engine
// continues them. All calls come from one thread, the engine's.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/status.hpp"
#include "model/stripe_map.hpp"

namespace tailrace::impl {

// A file opened by the back end; small numbers, used again after close.
using FileHandle = uint32_t;

// An open file, and which of its parts lies on which data server.
struct Opened {
  FileHandle file = 0;
  StripeMap stripes = {};
};

enum class OpenMode {
  create,    // a new empty file, replacing what is there; read and write
  fresh,     // the same under a name of tailrace's own: never through a link, nor into a file that is there already
  own,       // an existing file of this user under such a name, as it is; read and write
  edit,      // an existing file, as it is; read and write
  update,    // the same, or a new empty one if there is none; never through a symbolic link
  read,      // an existing file
  directory  // an existing directory, to sync it
};

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
  std::string name;               // for logs: "uring, registered buffers"
  uint32_t depth = 1;             // transfers that may be under way at once
  uint32_t max_segments = 1;      // in one transfer
  uint32_t direct_alignment = 0;  // 0: direct transfers are not possible
};

class Storage {
 public:
  virtual ~Storage() = default;

  virtual const Capabilities& capabilities() const = 0;

  // `device` says on which of the configured devices the file lies, from 0. Where the file system does not report a
  // stripe map, the device is the file's one data server.
  virtual Result<Opened> open(const std::string& path, OpenMode mode, uint32_t device) = 0;
  // No transfer of the file is under way.
  virtual void close(FileHandle file) = 0;
  // True if direct transfers on this file are possible (some file systems refuse). May open the file once more for
  // them, so it is asked when there is something to transfer directly.
  virtual bool direct(FileHandle file) const = 0;
  // Reserves the range, so that writing it cannot fail for want of space later. Where the file system cannot, does
  // nothing and succeeds.
  virtual Status allocate(FileHandle file, uint64_t offset, uint64_t length) = 0;
  // Gives the file, which stays open, the name `to` in its directory at once: no reader sees it half. Before that,
  // what the system still holds of its bytes goes to where other nodes see it. Fails with EEXIST, and leaves both
  // files as they are, if there is something of that name and not `replace`.
  virtual Status rename(FileHandle file, const std::string& to, bool replace) = 0;
  virtual Status remove(const std::string& path) = 0;

  // Tells the back end of memory that most transfers will use, so that it may prepare it. At most once, before the
  // first transfer. The memory outlives the back end.
  virtual void use_memory(std::span<std::byte> memory) = 0;

  // Takes a transfer over. It begins at once or at the next reap(), as suits the back end: many can begin by one
  // system call then. At most capabilities().depth are under way, those that have yet to begin among them.
  virtual void submit(const Transfer& transfer) = 0;
  // Begins what has not begun. Then takes completions, at most done.size(); returns how many. Never blocks. The back
  // end rings the doorbell it was made with when there are new ones.
  virtual size_t reap(std::span<Completion> done) = 0;
};

}  // namespace tailrace::impl
