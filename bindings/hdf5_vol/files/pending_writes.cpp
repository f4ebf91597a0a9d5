#include "hdf5_vol/files/pending_writes.hpp"

#include <utility>

#include "process_client/bytes/extents.hpp"

namespace tailrace::hdf5 {
namespace {

constexpr uint64_t kFillAtOnce = uint64_t{1} << 20;  // bytes
constexpr uint64_t kLeastLent = uint64_t{1} << 20;   // bytes; to copy fewer takes less than 0.1 ms

}  // namespace

PendingWrites::~PendingWrites() {
  if (!is_open()) return;
  send_small();
  carrier().close(raw_);
}

void PendingWrites::open(const std::string& path, bool to_seal) {
  const bool opened = carrier().open(path, &raw_, to_seal ? TAILRACE_FILE_SEAL : 0);
  state_ = opened ? State::open : State::refused;
}

// Marks all bytes from the beginning of a list's first extent to the end of its last.
void PendingWrites::note(uint64_t dataset, std::span<const tailrace_extent> extents, const void* data) {
  ahead_.overwrite(extents, data);
  datasets_.insert(dataset);
  const tailrace_extent bounds = process::bounds_of(extents);
  if (bounds.length > 0) written_.add(bounds.offset, process::end_of(bounds));
}

// Forgets what was read ahead if the write that changed it was refused.
Refusal PendingWrites::accepted(Refusal refused) {
  if (refused.status != TAILRACE_OK) ahead_.forget();
  return refused;
}

Refusal PendingWrites::write(uint64_t dataset, std::span<const tailrace_extent> extents, const void* data) {
  note(dataset, extents, data);
  const bool small = extents.size() == 1 && process::SmallWrites::is_small(extents[0]);
  if (!small || !small_.fits(extents[0])) send_small();
  if (!small) return accepted(carrier().write(raw_, extents, data));
  small_.add(extents[0], data);
  return {};
}

void PendingWrites::send_small() {
  if (small_.empty()) return;
  const Refusal refused = carrier().write(raw_, small_.extents(), small_.bytes(), small_.count());
  small_.clear();
  if (refused.status != TAILRACE_OK) failures_.push_back(refused.message);
}

Refusal PendingWrites::iwrite(uint64_t dataset, std::span<const tailrace_extent> extents, const void* data,
                              std::vector<tailrace_ticket>& tickets) {
  note(dataset, extents, data);
  send_small();
  return accepted(carrier().iwrite(raw_, extents, data, tickets));
}

Refusal PendingWrites::lend(uint64_t dataset, std::span<const tailrace_extent> extents, const void* data,
                            std::vector<tailrace_ticket>& tickets) {
  if (extents.size() == 1 && extents[0].length >= kLeastLent) {
    note(dataset, extents, data);
    send_small();
    const Refusal refused = carrier().lend(raw_, extents[0], data, tickets);
    if (refused.status != TAILRACE_TOO_LARGE) return accepted(refused);
  }
  return iwrite(dataset, extents, data, tickets);
}

Refusal PendingWrites::read(std::span<const tailrace_extent> extents, void* data) {
  send_small();
  return carrier().read(raw_, extents, data);
}

void PendingWrites::fill(uint64_t dataset, uint64_t bytes, const std::vector<std::byte>& element) {
  const tailrace_extent all{dataset, bytes};
  note(dataset, {&all, 1}, nullptr);
  send_small();
  const uint64_t elements = std::max<uint64_t>(std::min(bytes, kFillAtOnce) / element.size(), 1);
  std::vector<std::byte> many(elements * element.size());
  for (size_t at = 0; at < many.size(); at += element.size()) {
    std::copy(element.begin(), element.end(), many.begin() + static_cast<ptrdiff_t>(at));
  }
  for (uint64_t done = 0; done < bytes; done += many.size()) {
    const tailrace_extent part{dataset + done, std::min<uint64_t>(many.size(), bytes - done)};
    const Refusal refused = carrier().write(raw_, {&part, 1}, many.data(), 0);
    if (refused.status != TAILRACE_OK) return failures_.push_back(refused.message);
  }
}

void PendingWrites::forget() {
  datasets_.clear();
  written_.clear();
  before_mark_.clear();
  mark_.reset();
}

bool PendingWrites::touches(const tailrace_extent& bytes) const {
  const uint64_t end = process::end_of(bytes);
  return written_.touches(bytes.offset, end) || before_mark_.touches(bytes.offset, end);
}

bool PendingWrites::any(const tailrace_extent& bytes) {
  if (!touches(bytes)) return false;
  look_what_is_written();
  return touches(bytes);
}

// When a mark is reached, the bytes written before it are in the file. Then sets the next mark.
void PendingWrites::look_what_is_written() {
  if (mark_ && carrier().reached(*mark_)) {
    before_mark_.clear();
    mark_.reset();
  }
  if (mark_) return;
  if (written_.empty()) return datasets_.clear();
  send_small();
  mark_ = carrier().mark();
  before_mark_ = std::exchange(written_, {});
}

PendingWrites::Counted PendingWrites::count(uint64_t bytes) {
  ++counted_.writes;
  counted_.bytes += std::min(bytes, UINT64_MAX - counted_.bytes);
  return counted_;
}

void PendingWrites::drain() {
  send_small();
  counted_ = {};
  if (!any()) return;
  const Refusal flushed = carrier().flush();
  if (flushed.status != TAILRACE_OK) failures_.push_back(flushed.message);
  forget();
}

void PendingWrites::leave_alone() {
  if (is_open()) carrier().close(raw_);
  state_ = State::left_alone;
}

Refusal PendingWrites::leave(const Seal& seal, tailrace_ticket& ticket) {
  Refusal refused = carrier().seal(raw_, seal.offset, seal.bytes);
  if (refused.status == TAILRACE_OK) refused = carrier().iclose(raw_, &ticket);
  if (refused.status == TAILRACE_OK) state_ = State::left_alone;
  return refused;
}

void PendingWrites::give_up() {
  tailrace_ticket ticket{};
  if (is_open()) {
    carrier().give_up(raw_);
    (void)carrier().iclose(raw_, &ticket);  // the reason for a failure is known
  }
  state_ = State::left_alone;
}

void PendingWrites::leave_to_parent() {
  state_ = State::left_alone;
  small_.clear();
  forget();
}

}  // namespace tailrace::hdf5
