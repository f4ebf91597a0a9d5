// The files whose data may be carried. A file that is opened twice is one File, as it is for HDF5.
//
// File has more than 35 functions: the writes on their way to a file, its chunks and its detaching share one state
// and end together.
#pragma once

#include <sys/stat.h>
#include <tailrace/tailrace.h>

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "hdf5_vol/files/chunk_queue.hpp"
#include "hdf5_vol/host/chunk_cache.hpp"
#include "hdf5_vol/host/host.hpp"
#include "hdf5_vol/process/process.hpp"
#include "hdf5_vol/process/seal.hpp"
#include "process_client/byte_ranges.hpp"
#include "process_client/sieve.hpp"
#include "process_client/small_writes.hpp"

namespace tailrace::hdf5 {

// One file of one host. Call it under the host's own lock, as HDF5 calls are made.
class File {
 public:
  // `path` is "" if it is not known. `parallel`: several processes have the file open together.
  File(const Host& host, std::string path, bool parallel) : host_(host), path_(std::move(path)), parallel_(parallel) {
    (void)::stat(path_.c_str(), &identity_);
    count_.fetch_add(1, std::memory_order_relaxed);
    made_.fetch_add(1, std::memory_order_relaxed);
    if (parallel_) parallel_count_.fetch_add(1, std::memory_order_relaxed);
  }
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
  bool is_parallel() const { return parallel_ && state_ != State::left_alone; }

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

  // Marks a file that was created here: its last close does not wait for its data.
  void detach() { detached_ = true; }
  // Undoes detach().
  void attach() { detached_ = false; }
  bool is_detached() const { return detached_; }
  // Marks a detached file as one that will not be whole; `why` is the reason. spoilt() returns it, or "".
  void spoil(const std::string& why);
  const std::string& spoilt() const { return spoilt_; }
  // Renames the file before HDF5 closes it and writes the metadata that make it look whole; show() undoes it. Returns
  // false if it need not or cannot be renamed: then wait for the writes on their way.
  bool hide();
  void show();
  bool is_hidden() const { return hidden_; }
  // Returns true if the descriptor is of this file.
  bool is_behind(int descriptor) const;
  // Call it when HDF5 has closed the file. Gives the file its name without its seal, and the seal when all data are
  // written, if nothing has failed.
  void leave();
  // Places its chunks; does not wait for writes.
  void hand_over();
  // Keeps the other file open as long as this one.
  void keep(std::shared_ptr<File> other) {
    ++other->objects;
    kept_.push_back(std::move(other));
  }

  // Opens the file, in the first call. Returns false if its data cannot be carried after all, for example since it
  // has been renamed.
  bool ready();
  // Returns true if the file's data are known not to be carried.
  bool is_refused() const { return state_ == State::refused || is_left_alone(); }
  // Returns true after leave_alone() and leave_to_parent().
  bool is_left_alone() const { return state_ == State::left_alone; }
  // Returns the chunks that are being filtered for the dataset with that token; the first call makes the queue.
  std::shared_ptr<ChunkQueue> queue_of(const H5O_token_t& token);
  // Gives HDF5 the filtered chunks of all datasets.
  void place_chunks();
  // Waits for the chunk that has waited longest, and gives it to HDF5; returns false if there is none.
  bool place_chunk();
  // Waits until HDF5 has all chunks.
  void settle_chunks();
  // Failures that are reported later.
  std::vector<std::string>& failures() { return failures_; }

  // Fills `bytes` bytes from `dataset` on, where its data begin, with repeated `element`. Failures are reported
  // later, as for all writes.
  void fill(uint64_t dataset, uint64_t bytes, const std::vector<std::byte>& element);

  // Counts a write of these bytes. Returns how much was counted since the file was last complete.
  struct Written {
    uint64_t writes = 0;
    uint64_t bytes = 0;
  };
  Written count(uint64_t bytes);

  // Writes to the dataset whose data begin at `dataset`. It may hold small writes back and hand them over later,
  // together.
  Refusal write(uint64_t dataset, std::span<const tailrace_extent> extents, const void* data);
  Refusal iwrite(uint64_t dataset, std::span<const tailrace_extent> extents, const void* data,
                 std::vector<tailrace_ticket>& tickets);
  // Writes without a copy, if that is possible and pays off: `data` must not change until the tickets have ended.
  Refusal lend(uint64_t dataset, std::span<const tailrace_extent> extents, const void* data,
               std::vector<tailrace_ticket>& tickets);
  Refusal read(std::span<const tailrace_extent> extents, void* data);
  // Returns `bytes` of a dataset as a read would, if they have been read ahead, or are now, because this read follows
  // the one before; else null. They stay until the next call.
  const std::byte* find_ahead(const tailrace_extent& dataset, const tailrace_extent& bytes);
  // Leaves the dataset that begins at `dataset` to HDF5 from now on; nothing of it may be on its way.
  void show(uint64_t dataset) { shown_.insert(dataset); }
  bool is_shown(uint64_t dataset) const { return !shown_.empty() && shown_.contains(dataset); }
  // Keeps the chunk cache that the program has set for the dataset with that token, but the connector has switched
  // off. cache_of() returns null if there is none.
  void keep_cache(const H5O_token_t& token, const ChunkCache& of) { caches_[key_of(token)] = of; }
  const ChunkCache* cache_of(const H5O_token_t& token) const;
  // Forgets what was read ahead of that dataset: before its space may be used for another.
  void forget_ahead(uint64_t dataset) { sieves_.forget(dataset); }
  // Hands over the writes that were held back. Failures are reported later.
  void send_small();
  // Returns true if some bytes may not have reached the file yet: any, or some of that dataset.
  bool pending() const { return !pending_.empty(); }
  bool pending(uint64_t dataset) const { return pending_.contains(dataset); }
  // Returns true if some of these bytes may not have reached the file yet. May also return true for bytes between
  // such, and for a moment longer.
  bool pending(const tailrace_extent& bytes);
  // Waits for all writes and chunks.
  void drain();
  // Returns the failures of accepted writes, each once.
  std::vector<std::string> take_failures();
  // Carries nothing of the file from now on.
  void leave_alone();
  // Call it in a forked child: leaves the file alone, since the parent completes the writes on their way.
  void leave_to_parent();

 private:
  enum class State { unopened, open, refused, left_alone };

  // Counts the files of all hosts. relaxed: a host sees its own files, and only needs to know that others exist.
  static inline std::atomic<int> count_ = 0;
  static inline std::atomic<int> parallel_count_ = 0;
  static inline std::atomic<uint64_t> made_ = 0;
  static inline std::atomic<bool> unlinked_ = false;

  void hand_over_seal(const Seal& seal);
  bool on_their_way(const tailrace_extent& bytes) const;
  void look_what_is_written();
  void forget_pending();
  // `data`: null if they are not known.
  void on_its_way(uint64_t dataset, std::span<const tailrace_extent> extents, const void* data);
  Refusal accepted(Refusal refused);
  uint64_t read_ahead(const tailrace_extent& bytes, std::byte* to);
  bool open_to_read_ahead();

  using Token = std::array<uint8_t, sizeof(H5O_token_t)>;
  static Token key_of(const H5O_token_t& token);

  // Returns true if `path` leads to this file. For a writer, it must also lead to no other file that had the name
  // before.
  bool has_its_name() const;

  const Host& host_;
  const std::string path_;
  bool detached_ = false;
  bool hidden_ = false;
  std::string spoilt_;
  std::vector<std::shared_ptr<File>> kept_;
  struct stat identity_ {};  // the file's; all zero: unknown
  const bool parallel_;
  std::map<Token, std::shared_ptr<ChunkQueue>> queues_;
  std::map<Token, ChunkCache> caches_;
  std::unordered_set<uint64_t> shown_;  // where the datasets begin that are left to HDF5
  State state_ = State::unopened;
  tailrace_file raw_{};
  std::vector<std::string> failures_;  // of fills and chunks
  process::SmallWrites small_;         // not handed over yet
  process::Sieves sieves_;
  int descriptor_ = -1;            // to read ahead by; -1: not yet, or there cannot be one
  bool reads_ahead_ = !parallel_;  // unless that has failed
  Written counted_;
  // Where the datasets begin that were written since the file was last complete.
  std::unordered_set<uint64_t> pending_;
  process::ByteRanges written_;      // what was written since the mark …
  process::ByteRanges before_mark_;  // … and before it
  std::optional<uint64_t> mark_;     // the carrier's
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

// Waits for all files. Call it before a call that may free space to which writes are on their way.
void drain_all();

}  // namespace tailrace::hdf5
