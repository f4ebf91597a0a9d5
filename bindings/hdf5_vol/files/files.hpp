// The files whose data may be carried, as HDF5 counts them: opened twice, a file is one.
//
// File has more than 35 functions: what is on its way to a file, its chunks and its detaching share one state and end
// together.
#pragma once

#include <sys/stat.h>
#include <tailrace/tailrace.h>

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "hdf5_vol/files/chunk_queue.hpp"
#include "hdf5_vol/host/host.hpp"
#include "hdf5_vol/process/process.hpp"
#include "hdf5_vol/process/seal.hpp"
#include "process_client/byte_ranges.hpp"
#include "process_client/sieve.hpp"
#include "process_client/small_writes.hpp"

namespace tailrace::hdf5 {

// One file of one host. Used under the host's own lock, as HDF5 calls are.
class File {
 public:
  // `path`: "" if it is not known. `parallel`: several processes have it open together.
  File(const Host& host, std::string path, bool parallel) : host_(host), path_(std::move(path)), parallel_(parallel) {
    (void)::stat(path_.c_str(), &identity_);
    count_.fetch_add(1, std::memory_order_relaxed);
    if (parallel_) parallel_count_.fetch_add(1, std::memory_order_relaxed);
  }
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  // Returns true if there is any in the process.
  static bool any() { return count_.load(std::memory_order_relaxed) > 0; }
  static bool any_parallel() { return parallel_count_.load(std::memory_order_relaxed) > 0; }

  const Host& host() const { return host_; }
  // Returns the path at its opening: absolute, without symbolic links.
  const std::string& path() const { return path_; }
  // Until it is left alone, which all processes do together.
  bool is_parallel() const { return parallel_ && state_ != State::left_alone; }

  // How often the program has it open; what is still in use of a file that is closed may be written to.
  int opens = 0;

  // How many objects of it are open, of one that is detached: until the last of them is closed, HDF5 has it open.
  int objects = 0;

  // Bytes before HDF5's own; versions differ in whether places of chunks are counted from them on.
  uint64_t userblock = 0;

  // How often the extent of one of its datasets has been changed.
  uint64_t resized = 0;

  // Several processes have it open, and there may be datasets without links. The same in all of them.
  bool has_unlinked = false;

  // It was made here, and its last close does not wait for its data.
  void detach() { detached_ = true; }
  // Not so any more.
  void attach() { detached_ = false; }
  bool is_detached() const { return detached_; }
  // Marks a detached file as one that will not be whole, and why. spoilt() returns the reason; "" if there is none.
  void spoil(const std::string& why);
  const std::string& spoilt() const { return spoilt_; }
  // Before HDF5 closes it, and writes what makes it look whole: it has another name until show(). False if nothing
  // speaks for that or it cannot be: then what is on its way has to be waited for.
  bool hide();
  void show();
  bool is_hidden() const { return hidden_; }
  // HDF5 has closed it: it gets its name without its seal, and the seal when all of it is written, if nothing has
  // failed.
  void leave();
  // Places its chunks; waits for no writes.
  void hand_over();
  // Keeps the other file open as long as this one.
  void keep(std::shared_ptr<File> other) {
    ++other->objects;
    kept_.push_back(std::move(other));
  }

  // False if its data cannot be carried after all, as when it has another name now. Opens it, by the first call.
  bool ready();
  // Returns true if it is known that the file's data cannot be carried.
  bool is_refused() const { return state_ == State::refused || state_ == State::left_alone; }
  // The chunks of the dataset with that token which are being filtered; made by the first call.
  std::shared_ptr<ChunkQueue> queue_of(const H5O_token_t& token);
  // Gives HDF5 those of all datasets that have been filtered.
  void place_chunks();
  // Waits for the one that has waited longest, and gives it to HDF5; false if there is none.
  bool place_chunk();
  // Waits until HDF5 has them all.
  void settle_chunks();
  // Where failures go that are told later.
  std::vector<std::string>& failures() { return failures_; }

  // Fills `bytes` from `dataset` on, where its data begin, with `element`, again and again. What fails is told later,
  // as of all writes.
  void fill(uint64_t dataset, uint64_t bytes, const std::vector<std::byte>& element);

  // Returns true if all that has been written since everything was last in the file, together with a write of these
  // bytes, is so little, and in so few writes, that HDF5 writes it faster than another thread would, with the wait in
  // the end.
  bool is_little(uint64_t bytes);

  // Writes to the dataset whose data begin at `dataset`. Small writes may be handed over later, with others.
  Refusal write(uint64_t dataset, std::span<const tailrace_extent> extents, const void* data);
  Refusal iwrite(uint64_t dataset, std::span<const tailrace_extent> extents, const void* data,
                 std::vector<tailrace_ticket>& tickets);
  // Writes without a copy, if that is possible and pays: `data` must not change until the tickets have ended.
  Refusal lend(uint64_t dataset, std::span<const tailrace_extent> extents, const void* data,
               std::vector<tailrace_ticket>& tickets);
  Refusal read(std::span<const tailrace_extent> extents, void* data);
  // Returns `bytes` of a dataset as a read would, if they have been read ahead, or are now, because this read follows
  // the one before; else null. They stay until the next call.
  const std::byte* find_ahead(const tailrace_extent& dataset, const tailrace_extent& bytes);
  // Forgets what was read ahead of that dataset: before its space may be used for another.
  void forget_ahead(uint64_t dataset) { sieves_.forget(dataset); }
  // Hands over what has been held back. What fails is told later.
  void send_small();
  // Returns true if some bytes of that dataset may not have reached the file yet.
  bool pending(uint64_t dataset) const { return pending_.contains(dataset); }
  // Returns true if some of these bytes may not have reached the file yet; possibly also for bytes between such, and
  // for a moment longer.
  bool pending(const tailrace_extent& bytes);
  // Waits for everything, chunks too.
  void drain();
  // Returns the failures of accepted writes; each once.
  std::vector<std::string> take_failures();
  // From now on nothing of it is carried.
  void leave_alone();
  // Leaves the file alone in a child that was forked: writes on their way are the parent's.
  void leave_to_parent();

 private:
  enum class State { unopened, open, refused, left_alone };

  // Number of files of all hosts. Orders nothing: a host sees its own files, and of others' only that there are some.
  static inline std::atomic<int> count_ = 0;
  static inline std::atomic<int> parallel_count_ = 0;

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

  // Returns true if `path` leads to the file, and, for the writer, to no other that had the name before it.
  bool has_its_name() const;

  const Host& host_;
  const std::string path_;
  bool detached_ = false;
  bool hidden_ = false;
  std::string spoilt_;
  std::vector<std::shared_ptr<File>> kept_;
  struct stat identity_ {};  // of the file; all zero: unknown
  const bool parallel_;
  std::map<Token, std::shared_ptr<ChunkQueue>> queues_;
  State state_ = State::unopened;
  tailrace_file raw_{};
  std::vector<std::string> failures_;  // of filling, and of chunks
  process::SmallWrites small_;         // that have yet to be handed over
  process::Sieves sieves_;
  int descriptor_ = -1;              // to read ahead by; -1: not yet, or there cannot be one
  bool reads_ahead_ = !parallel_;    // unless that has failed
  uint64_t little_ = 0;              // bytes, as of is_little(), …
  uint64_t few_ = 0;                 // … and writes
  std::set<uint64_t> pending_;       // where datasets begin that were written since all was in the file, …
  process::ByteRanges written_;      // … and what was written, since the mark …
  process::ByteRanges before_mark_;  // … and before it
  std::optional<uint64_t> mark_;     // of the carrier
};

// An open object's share in the file that it was reached through.
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

// The file of this number (H5VL_FILE_GET_FILENO) of a host, made by the first call with a path; null if there is
// none.
std::shared_ptr<File> file_of(const Host& host, unsigned long number);
std::shared_ptr<File> make_file(const Host& host, unsigned long number, const std::string& path, bool parallel);

// Before the process ends: HDF5 has all chunks then, and what was held back is handed over.
// HDF5 closes what the program has left open only when nothing can be written past it any more; and files that still
// have datasets for chunks to go to it does not close at all.
void finish_writes();

// When the host ends, before it has closed anything: it gets all chunks of its files. What fails is told on standard
// error, as nobody asks any more.
void settle_chunks_of(const Host& host);

// Waits for all files: before what may free space that is being written to.
void drain_all();

}  // namespace tailrace::hdf5
