// The files whose sequential readers are gone ahead of: open to be read or written, as HDF5 counts them.
//
// Apart from those whose data are carried (files.hpp): a file that is only read has nothing on its way, and all that
// is known of it is where its datasets begin.
#pragma once

#include <tailrace/tailrace.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>

#include "hdf5_vol/files/sequence.hpp"
#include "hdf5_vol/host/host.hpp"

namespace tailrace::hdf5 {

// One file of one host. Used under the host's own lock, as HDF5 calls are.
class PrefetchFile {
 public:
  // `theirs`: HDF5's descriptor, open as long as this is used. `most`: bytes that are prefetched at once.
  PrefetchFile(int theirs, uint64_t most) : theirs_(theirs), most_(most) {
    count_.fetch_add(1, std::memory_order_relaxed);
  }
  // Drops what is still to be brought.
  ~PrefetchFile();
  PrefetchFile(const PrefetchFile&) = delete;
  PrefetchFile& operator=(const PrefetchFile&) = delete;

  // Returns true if there is any in the process.
  static bool any() { return count_.load(std::memory_order_relaxed) > 0; }

  // `read` of the dataset that lies in `dataset` has been read: what follows is brought, if that can be told.
  void has_read(const tailrace_extent& dataset, const tailrace_extent& read);

 private:
  bool open();

  // Number of files of all hosts. Orders nothing: a host sees its own files, and of others' only that there are some.
  static inline std::atomic<int> count_ = 0;

  const int theirs_;
  const uint64_t most_;
  int own_ = -1;                            // a descriptor, from when it is first needed on
  bool tried_ = false;                      // to open it
  std::map<uint64_t, Sequence> sequences_;  // by where the dataset begins
};

// The file of this number (H5VL_FILE_GET_FILENO) of a host, made by the first call with a descriptor; null if there
// is none.
std::shared_ptr<PrefetchFile> prefetch_file_of(const Host& host, unsigned long number);
std::shared_ptr<PrefetchFile> make_prefetch_file(const Host& host, unsigned long number, int theirs, uint64_t most);

}  // namespace tailrace::hdf5
