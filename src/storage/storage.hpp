// The storage port: the engine's interface to file systems. Each back end has a folder beside this file.
//
// Transfers and operations on whole files are submitted and reaped; they end in any order. All other calls are
// complete when they return (file_system.hpp).
// A back end tries each transfer once: it returns short transfers, EINTR and EAGAIN as they are, and the engine
// continues the transfer. All calls come from one thread, the engine's.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "storage/file_operation.hpp"

namespace tailrace::impl {

// One transfer between a contiguous range of a file and a list of memory segments.
struct Transfer {
  enum class Kind : uint8_t { read, write, sync };
  Kind kind = Kind::write;
  // If true, offset, sizes and addresses are multiples of Capabilities::direct_alignment, and the page cache may be
  // bypassed.
  bool direct = false;
  FileHandle file = 0;
  uint64_t offset = 0;
  std::span<const iovec> segments = {};  // borrowed until the transfer is reaped; at most max_segments
  uint64_t tag = 0;                      // returned with the completion
  // A hint: this transfer and the next ones write `room` bytes from `offset` on through the page cache. The file
  // system has less work if it is first asked to make room for all of them. The file does not grow, and failure is
  // not reported.
  uint64_t room = 0;
  // A write through the page cache may have holes, which are segments without memory, and any number of segments. The
  // bytes of the file in a hole stay as they are. Requires Capabilities::scatters.
  bool scattered = false;
};

struct Completion {
  uint64_t tag = 0;
  int64_t result = 0;  // bytes transferred (0 for sync), or -errno
};

struct Capabilities {
  std::string name;               // for logs: "uring"
  uint32_t depth = 1;             // most transfers in progress
  uint32_t max_segments = 1;      // per transfer
  uint32_t direct_alignment = 0;  // 0: direct transfers are impossible
  // Most operations on files and names that are useful at once: more would wait in the back end, where nobody can ask
  // any more whether they may begin.
  uint32_t operations = std::numeric_limits<uint32_t>::max();
  bool write_behind = false;  // writes that are not direct go into a page cache: see FileSystem::write_behind
  bool scatters = false;      // takes scattered writes
};

class Storage {
 public:
  virtual ~Storage() = default;

  virtual const Capabilities& capabilities() const = 0;

  // Returns the file system that transfers refer to.
  virtual FileSystem& files() = 0;
  // Returns it for other threads: their calls are complete while this one, the engine's, drives the storage.
  virtual FileSystem& files_of_threads() { return files(); }

  // Announces memory that most transfers will use, so that the back end can prepare it, which takes all of it from
  // the system. Call it at most once; on any thread, also while the engine submits and reaps. The memory outlives the
  // back end.
  virtual void use_memory(std::span<std::byte> memory) = 0;

  // Takes a transfer. The back end begins it at once or at the next reap(), so that one system call can begin many.
  // At most capabilities().depth transfers are in progress, including those that have not begun.
  virtual void submit(const Transfer& transfer) = 0;
  // Begins all transfers that have not begun. Then takes at most done.size() completions and returns their number.
  // Never blocks. The back end rings the doorbell given at its creation when there are new completions.
  virtual size_t reap(std::span<Completion> done) = 0;
  // Takes an operation on a whole file or on names. Any number may be in progress. Here it is carried out at once,
  // for back ends that are never slow, or are used through OperationThreads.
  virtual void submit(FileOperation operation) { operations_ended_.push_back(carry_out(files(), operation)); }
  // Takes the end of an operation; none: no other has ended since. Never blocks. Rings the doorbell as for transfers,
  // unless the operation has ended before submit() returns.
  virtual std::optional<FileOperationEnd> reap_operation() {
    if (operations_ended_.empty()) return std::nullopt;
    FileOperationEnd end = std::move(operations_ended_.front());
    operations_ended_.pop_front();
    return end;
  }

  // Returns why transfers of a file fail, if more is known than the error of each; ok: no more is.
  virtual Status failure_of(FileHandle) const { return {}; }

  // Returns when reap() must be called even if nothing happens; none: never.
  virtual std::optional<Nanoseconds> due() const { return std::nullopt; }

 private:
  std::deque<FileOperationEnd> operations_ended_;
};

}  // namespace tailrace::impl
