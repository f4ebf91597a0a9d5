// PendingWrites: the writes on their way to one file. It opens the file with the client when the first one comes, and
// knows which bytes may not have reached the file yet.
//
// Call it under the host's own lock, as HDF5 calls are made.
#pragma once

#include <tailrace/tailrace.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "hdf5_vol/files/read_ahead.hpp"
#include "hdf5_vol/process/process.hpp"
#include "hdf5_vol/process/seal.hpp"
#include "process_client/bytes/byte_ranges.hpp"
#include "process_client/bytes/small_writes.hpp"

namespace tailrace::hdf5 {

class PendingWrites {
 public:
  // Adds failures that no call returns to `failures`, and changes what is in `ahead` with each write. Borrows both.
  PendingWrites(ReadAhead& ahead, std::vector<std::string>& failures) : ahead_(ahead), failures_(failures) {}
  ~PendingWrites();
  PendingWrites(const PendingWrites&) = delete;
  PendingWrites& operator=(const PendingWrites&) = delete;

  // Opens the file; `to_seal`: its close will write the seal. From unopened, the state becomes open or refused.
  void open(const std::string& path, bool to_seal);
  void refuse() { state_ = State::refused; }
  bool is_unopened() const { return state_ == State::unopened; }
  bool is_open() const { return state_ == State::open; }
  // Returns true if nothing is known to be carried.
  bool is_refused() const { return state_ == State::refused || is_left_alone(); }
  // Returns true after leave_alone(), leave() and leave_to_parent().
  bool is_left_alone() const { return state_ == State::left_alone; }

  // Writes to the dataset whose data begin at `dataset`. It may hold small writes back and hand them over later,
  // together.
  Refusal write(uint64_t dataset, std::span<const tailrace_extent> extents, const void* data);
  Refusal iwrite(uint64_t dataset, std::span<const tailrace_extent> extents, const void* data,
                 std::vector<tailrace_ticket>& tickets);
  // Writes without a copy, if that is possible and pays off: `data` must not change until the tickets have ended.
  Refusal lend(uint64_t dataset, std::span<const tailrace_extent> extents, const void* data,
               std::vector<tailrace_ticket>& tickets);
  // Fills `bytes` bytes from `dataset` on, where its data begin, with repeated `element`. Failures are reported
  // later, as for all writes.
  void fill(uint64_t dataset, uint64_t bytes, const std::vector<std::byte>& element);
  Refusal read(std::span<const tailrace_extent> extents, void* data);
  // Hands over the writes that were held back. Failures are reported later.
  void send_small();

  // Returns true if some bytes may not have reached the file yet: any, or some of that dataset.
  bool any() const { return !datasets_.empty(); }
  bool any(uint64_t dataset) const { return datasets_.contains(dataset); }
  // Returns true if some of these bytes may not have reached the file yet. May also return true for bytes between
  // such, and for a moment longer.
  bool any(const tailrace_extent& bytes);
  // Looks which bytes have reached the file, and marks what is on its way for the next look.
  void look_what_is_written();
  // Waits for all.
  void drain();
  void forget();

  // Counts a write of these bytes. Returns how much was counted since the last drain().
  struct Counted {
    uint64_t writes = 0;
    uint64_t bytes = 0;
  };
  Counted count(uint64_t bytes);

  // Carries nothing more; nothing may be on its way.
  void leave_alone();
  // Has the file sealed when all is written, and carries nothing more. `ticket` ends then.
  Refusal leave(const Seal& seal, tailrace_ticket& ticket);
  // Has the file never sealed, and carries nothing more.
  void give_up();
  // Call it in a forked child: carries nothing more, since the parent completes the writes on their way.
  void leave_to_parent();

 private:
  enum class State { unopened, open, refused, left_alone };

  bool touches(const tailrace_extent& bytes) const;
  // `data`: null if they are not known.
  void note(uint64_t dataset, std::span<const tailrace_extent> extents, const void* data);
  Refusal accepted(Refusal refused);

  ReadAhead& ahead_;
  std::vector<std::string>& failures_;
  std::atomic<State> state_ = State::unopened;  // File::has_its_name() of another host reads it
  tailrace_file raw_{};
  process::SmallWrites small_;  // not handed over yet
  Counted counted_;
  // Where the datasets begin that were written since the file was last complete.
  std::unordered_set<uint64_t> datasets_;
  process::ByteRanges written_;      // what was written since the mark …
  process::ByteRanges before_mark_;  // … and before it
  std::optional<uint64_t> mark_;     // the carrier's
};

}  // namespace tailrace::hdf5
