// The files whose data may be carried. A file that is opened twice is one File, as it is for HDF5.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "hdf5_vol/files/detaching.hpp"
#include "hdf5_vol/files/file_chunks.hpp"
#include "hdf5_vol/files/pending_writes.hpp"
#include "hdf5_vol/files/read_ahead.hpp"
#include "hdf5_vol/host/chunk_cache.hpp"
#include "hdf5_vol/host/host.hpp"
#include "process_client/file_key.hpp"

namespace tailrace::hdf5 {

// One file of one host. Call it under the host's own lock, as HDF5 calls are made.
class File {
 public:
  // `path` is "" if it is not known. `parallel`: several processes have the file open together.
  File(const Host& host, std::string path, bool parallel);
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  // Returns true if the process has any.
  static bool any() { return count_.load(std::memory_order_relaxed) > 0; }
  static bool any_parallel() { return parallel_count_.load(std::memory_order_relaxed) > 0; }
  // Notes that an object may have no link: then HDF5 frees its space, and that of all to which only it leads, when
  // its last identifier is closed.
  static void note_unlinked() { unlinked_.store(true, std::memory_order_relaxed); }
  static bool may_have_unlinked() { return unlinked_.load(std::memory_order_relaxed); }
  // Returns how many files have been made so far.
  static uint64_t made() { return made_.load(std::memory_order_relaxed); }

  const Host& host() const { return host_; }
  // Returns the path when it was opened: absolute, without symbolic links.
  const std::string& path() const { return path_; }
  // Returns true until leave_alone(), which all processes call together.
  bool is_parallel() const { return parallel_ && !writes_.is_left_alone(); }

  // How often the program has it open. A closed file may still be written to while its objects are in use.
  int opens = 0;

  // Number of its open objects, if it is detached: HDF5 keeps it open until the last of them is closed.
  int objects = 0;

  // Bytes before HDF5's own. Versions of HDF5 differ in whether chunk addresses include them.
  uint64_t userblock = 0;

  // The chunk cache of datasets that have none of their own, as the program has set it.
  ChunkCache cache;

  // How often the program has changed the extent of one of its datasets.
  uint64_t resized = 0;

  // True if several processes have it open, and it may have datasets without links. All of them have the same value.
  bool has_unlinked = false;

  // Its parts.
  ReadAhead& ahead() { return ahead_; }
  PendingWrites& writes() { return writes_; }
  FileChunks& chunks() { return chunks_; }
  Detaching& detaching() { return detaching_; }

  // Opens the file, in the first call. Returns false if its data cannot be carried after all, for example since it
  // has been renamed.
  bool ready();
  // Returns true if the descriptor is of this file.
  bool is_behind(int descriptor) const;
  // Keeps the other file open as long as this one.
  void keep(std::shared_ptr<File> other) {
    ++other->objects;
    kept_.push_back(std::move(other));
  }
  // Leaves the dataset that begins at `dataset` to HDF5 from now on; nothing of it may be on its way.
  void show(uint64_t dataset) { shown_.insert(dataset); }
  // Notes that a new dataset begins there: one that was shown at this place is gone.
  void begin(uint64_t dataset) { shown_.erase(dataset); }
  bool is_shown(uint64_t dataset) const { return !shown_.empty() && shown_.contains(dataset); }

  // Gives HDF5 its chunks; does not wait for writes.
  void hand_over();
  // Waits for all writes and chunks.
  void drain();
  // Failures that are reported later.
  std::vector<std::string>& failures() { return failures_; }
  // Returns the failures of accepted writes, each once.
  std::vector<std::string> take_failures();

  // Renames a detached file before HDF5 closes it. Returns false if it need not or cannot be renamed: then wait for
  // the writes on their way.
  bool hide();
  // Detaches the hidden file; call it when HDF5 has closed it.
  void leave();
  // Carries nothing of the file from now on.
  void leave_alone();
  // Call it in a forked child: leaves the file alone, since the parent completes the writes on their way.
  void leave_to_parent();

 private:
  // Counts the files of all hosts. relaxed: a host sees its own files, and only needs to know that others exist.
  static inline std::atomic<int> count_ = 0;
  static inline std::atomic<int> parallel_count_ = 0;
  static inline std::atomic<uint64_t> made_ = 0;
  static inline std::atomic<bool> unlinked_ = false;

  // Returns true if `path` leads to this file. For a writer, it must also lead to no other file that had the name
  // before.
  bool has_its_name() const;

  const Host& host_;
  const std::string path_;
  const process::FileKey key_;
  const bool parallel_;
  std::vector<std::string> failures_;   // that no call has returned yet
  std::unordered_set<uint64_t> shown_;  // where the datasets begin that are left to HDF5
  std::vector<std::shared_ptr<File>> kept_;
  ReadAhead ahead_;
  PendingWrites writes_;
  FileChunks chunks_;
  Detaching detaching_;
};

// An open object's share in the file through which it was reached.
class Within {
 public:
  Within() = default;
  explicit Within(std::shared_ptr<File> file) : file_(std::move(file)) {
    if (file_ != nullptr) ++file_->objects;
  }
  Within(const Within& other) : Within(other.file_) {}
  Within& operator=(const Within& other) {
    Within copy(other);
    file_.swap(copy.file_);
    return *this;
  }
  ~Within() {
    if (file_ != nullptr) --file_->objects;
  }
  void reset() { *this = Within(); }
  File* operator->() const { return file_.get(); }
  const std::shared_ptr<File>& file() const { return file_; }
  explicit operator bool() const { return file_ != nullptr; }

 private:
  std::shared_ptr<File> file_;
};

// Returns the file with this number (H5VL_FILE_GET_FILENO) in a host. make_file makes it; null if it was not made.
std::shared_ptr<File> file_of(const Host& host, unsigned long number);
std::shared_ptr<File> make_file(const Host& host, unsigned long number, const std::string& path, bool parallel);

// Call it before the process ends: gives HDF5 all chunks, and hands over the writes that were held back. HDF5 closes
// files that the program has left open only when nothing can bypass it any more, and does not close a file at all
// while a dataset of it is open for chunks.
void finish_writes();

// Call it when the host ends, before it has closed anything: gives it all chunks of its files. Prints failures on
// standard error, since no later call could return them.
void settle_chunks_of(const Host& host);

// Waits for all files of the host. Call it before a call that may free space to which writes are on their way.
void drain_all(const Host& host);
// Returns true if writes to such a file may be on their way.
bool any_on_their_way(const Host& host);

}  // namespace tailrace::hdf5
