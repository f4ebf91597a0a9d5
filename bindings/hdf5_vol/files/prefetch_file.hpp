// The files whose sequential readers are prefetched for, open for reading or writing. A file that is opened twice is
// one PrefetchFile, as it is for HDF5.
//
// They are separate from the files whose data are carried (files.hpp): a file that is only read has no writes on
// their way, and needs to know only where its datasets begin.
#pragma once

#include <tailrace/tailrace.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "hdf5_vol/host/host.hpp"

namespace tailrace::hdf5 {

// The last reads of one dataset, from which it predicts the next one.
class Sequence {
 public:
  // Notes `read` and returns the range of the next one, with as many bytes. It follows `read` if `read` followed the
  // one before; otherwise it is as far from `read` as the last two were from one another. Returns nothing if the
  // reads do not show a sequence. The range may lie outside the dataset.
  std::optional<tailrace_extent> after(const tailrace_extent& read) {
    const std::optional<tailrace_extent> last = std::exchange(last_, read);
    const uint64_t stride = last ? read.offset - last->offset : 0;
    const bool goes_on = std::exchange(stride_, stride) == stride && stride != 0;
    if (last && last->offset + last->length == read.offset) return {{read.offset + read.length, read.length}};
    if (goes_on) return {{read.offset + stride, read.length}};
    return {};
  }

 private:
  std::optional<tailrace_extent> last_;
  uint64_t stride_ = 0;  // from the read before the last to the last, modulo 2^64; 0: none
};

// One file of one host. Call it under the host's own lock, as HDF5 calls are made.
class PrefetchFile {
 public:
  // `theirs` is HDF5's descriptor, which stays open while this is used. `most`: bytes to prefetch at once.
  PrefetchFile(int theirs, uint64_t most) : theirs_(theirs), most_(most) {
    count_.fetch_add(1, std::memory_order_relaxed);
  }
  // Cancels what has not been prefetched yet.
  ~PrefetchFile();
  PrefetchFile(const PrefetchFile&) = delete;
  PrefetchFile& operator=(const PrefetchFile&) = delete;

  // Returns true if the process has any.
  static bool any() { return count_.load(std::memory_order_relaxed) > 0; }

  // Notes that `read` was read of the dataset that lies in `dataset`. Prefetches what follows, if the reads show a
  // sequence.
  void has_read(const tailrace_extent& dataset, const tailrace_extent& read);

 private:
  bool open();

  // Number of files of all hosts. relaxed: a host sees its own files, and only needs to know that others exist.
  static inline std::atomic<int> count_ = 0;

  const int theirs_;
  const uint64_t most_;
  int own_ = -1;                            // a descriptor, opened when it is first needed
  bool tried_ = false;                      // to open own_
  std::map<uint64_t, Sequence> sequences_;  // by the offset where the dataset begins
};

// Returns the file with this number (H5VL_FILE_GET_FILENO) in a host. make_prefetch_file makes it; null if it was not
// made.
std::shared_ptr<PrefetchFile> prefetch_file_of(const Host& host, unsigned long number);
std::shared_ptr<PrefetchFile> make_prefetch_file(const Host& host, unsigned long number, int theirs, uint64_t most);

}  // namespace tailrace::hdf5
