#include "testing/fault_storage.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace tailrace::impl {
namespace {

constexpr uint32_t kMaxPercent = 90;
// A direct transfer that ends early ends at a sector.
constexpr uint64_t kSector = 512;

FaultOn on(Transfer::Kind kind) {
  switch (kind) {
    case Transfer::Kind::read: return FaultOn::read;
    case Transfer::Kind::write: return FaultOn::write;
    case Transfer::Kind::sync: return FaultOn::sync;
  }
  TAILRACE_ASSERT(false);
}

const char* name_of(FaultOn operation) {
  static constexpr std::array kNames = {"open", "allocate", "rename", "remove", "read", "write", "sync"};
  return kNames[static_cast<size_t>(operation)];
}

uint64_t length_of(std::span<const iovec> segments) {
  uint64_t length = 0;
  for (const iovec& segment : segments) length += segment.iov_len;
  return length;
}

}  // namespace

FaultStorage::FaultStorage(Storage& inner, Doorbell& doorbell, uint64_t seed, FaultPlan plan)
    : ForwardingFileSystem(inner.files()),
      inner_(inner),
      doorbell_(doorbell),
      plan_(std::move(plan)),
      capabilities_(inner.capabilities()),
      random_(seed),
      matches_(plan_.rules.size()),
      slots_(capabilities_.depth) {
  TAILRACE_REQUIRE(plan_.short_percent <= kMaxPercent);
  TAILRACE_REQUIRE(plan_.eintr_percent <= kMaxPercent);
  TAILRACE_REQUIRE(plan_.eagain_percent <= kMaxPercent);
  TAILRACE_REQUIRE(plan_.pretend_direct % kSector == 0);
  capabilities_.name = "faults over " + capabilities_.name;
  if (plan_.pretend_direct > 0) capabilities_.direct_alignment = plan_.pretend_direct;
}

// Returns the rule that fails this operation, or nullptr. Every rule counts every operation that it matches.
const FaultRule* FaultStorage::failing(FaultOn operation, const std::string& path) {
  const FaultRule* found = nullptr;
  for (size_t i = 0; i < plan_.rules.size(); i++) {
    const FaultRule& rule = plan_.rules[i];
    if (rule.on != operation || path.find(rule.path_contains) == std::string::npos) continue;
    const uint64_t number = matches_[i]++;
    if (number >= rule.first && number - rule.first < rule.times && found == nullptr) found = &rule;
  }
  return found;
}

Result<Opened> FaultStorage::open(const std::string& path, OpenMode mode, uint32_t device) {
  FaultEvent event{.on = FaultOn::open, .path = path};
  Result<Opened> file = Status(TAILRACE_INTERNAL, "not tried");
  const bool creates = mode == OpenMode::create || mode == OpenMode::fresh;
  if (const FaultRule* rule = failing(FaultOn::open, path)) {
    file = Status::of_errno(creates ? "create" : "open", path, rule->error);
  } else if (open_ >= plan_.most_open) {
    file = Status::of_errno(creates ? "create" : "open", path, EMFILE);
  } else {
    file = inner_.files().open(path, mode, device);
  }
  event.result = file.ok() ? 0 : -file.status().fault().system_errno;
  log_.push_back(std::move(event));
  if (!file.ok()) return file;
  ++open_;
  return Opened{files_.put({file.value().file, path}), file.value().stripes, file.value().identity};
}

void FaultStorage::close(FileHandle handle) {
  const File& file = files_.at(handle);
  TAILRACE_REQUIRE(file.under_way == 0);
  inner_.files().close(file.inner);
  files_.erase(handle);
  --open_;
}

bool FaultStorage::direct(FileHandle handle) const {
  const File& file = files_.at(handle);
  return plan_.pretend_direct > 0 || inner_.files().direct(file.inner);
}

Status FaultStorage::write(FileHandle handle, uint64_t offset, std::span<const std::byte> from) {
  const File& file = files_.at(handle);
  const FaultRule* rule = failing(FaultOn::write, file.path);
  if (rule != nullptr) return Status::of_errno(name_of(FaultOn::write), file.path, rule->error);
  return inner_.files().write(file.inner, offset, from);
}

Status FaultStorage::allocate(FileHandle handle, uint64_t offset, uint64_t length) {
  const File& file = files_.at(handle);
  const FaultRule* rule = failing(FaultOn::allocate, file.path);
  Status status = rule != nullptr ? Status::of_errno(name_of(FaultOn::allocate), file.path, rule->error)
                                  : inner_.files().allocate(file.inner, offset, length);
  log_.push_back({.on = FaultOn::allocate,
                  .path = file.path,
                  .offset = offset,
                  .length = length,
                  .result = status.ok() ? 0 : -status.fault().system_errno});
  return status;
}

Status FaultStorage::rename(FileHandle handle, const std::string& to, bool replace) {
  File& file = files_.at(handle);
  const FaultRule* rule = failing(FaultOn::rename, file.path);
  Status status = rule != nullptr ? Status::of_errno(name_of(FaultOn::rename), file.path, rule->error)
                                  : inner_.files().rename(file.inner, to, replace);
  log_.push_back(
      {.on = FaultOn::rename, .path = file.path, .to = to, .result = status.ok() ? 0 : -status.fault().system_errno});
  if (status.ok()) file.path = to;
  return status;
}

Status FaultStorage::remove(const std::string& path) {
  const FaultRule* rule = failing(FaultOn::remove, path);
  Status status =
      rule != nullptr ? Status::of_errno(name_of(FaultOn::remove), path, rule->error) : inner_.files().remove(path);
  log_.push_back({.on = FaultOn::remove, .path = path, .result = status.ok() ? 0 : -status.fault().system_errno});
  return status;
}

void FaultStorage::submit(const Transfer& transfer) {
  TAILRACE_REQUIRE(under_way_ < capabilities_.depth);
  TAILRACE_REQUIRE(transfer.scattered || transfer.segments.size() <= capabilities_.max_segments);
  if (transfer.direct) check_direct(transfer);
  const auto free = std::find_if(slots_.begin(), slots_.end(), [](const Slot& slot) { return !slot.used; });
  TAILRACE_ASSERT(free != slots_.end());
  const auto slot = static_cast<size_t>(free - slots_.begin());
  File& file = files_.at(transfer.file);
  file.under_way++;
  under_way_++;
  *free = {true, transfer, {}, 0};

  uint64_t length = transfer.kind == Transfer::Kind::sync ? 0 : length_of(transfer.segments);
  FaultEvent event{.what = FaultEvent::What::begun,
                   .on = on(transfer.kind),
                   .path = file.path,
                   .offset = transfer.offset,
                   .length = length,
                   .tag = transfer.tag};
  const FaultRule* rule = failing(event.on, file.path);
  free->fault = rule != nullptr ? rule->error : passing_fault(transfer.kind);
  const bool torn = rule != nullptr && rule->torn && transfer.kind == Transfer::Kind::write;
  if (torn || (free->fault == 0 && chance(plan_.short_percent))) length = shorter(transfer, length);
  event.result = free->fault != 0 ? -free->fault : static_cast<int64_t>(length);
  log_.push_back(std::move(event));
  if (free->fault == 0 || torn) return pass_on(slot, length);
  hold(slot, -free->fault);
  wake();
}

// Returns EINTR or EAGAIN, by chance; the transfer then moves nothing.
int FaultStorage::passing_fault(Transfer::Kind kind) {
  if (chance(plan_.eintr_percent)) return EINTR;
  if (kind != Transfer::Kind::sync && chance(plan_.eagain_percent)) return EAGAIN;
  return 0;
}

void FaultStorage::check_direct(const Transfer& transfer) const {
  const uint64_t alignment = capabilities_.direct_alignment;
  TAILRACE_REQUIRE(alignment > 0);
  TAILRACE_REQUIRE(direct(transfer.file));
  TAILRACE_REQUIRE(transfer.offset % alignment == 0);
  for (const iovec& segment : transfer.segments) {
    TAILRACE_REQUIRE(segment.iov_len % alignment == 0);
    TAILRACE_REQUIRE(reinterpret_cast<uintptr_t>(segment.iov_base) % alignment == 0);
  }
}

// Returns a length between 0 and `length`, both exclusive if possible.
uint64_t FaultStorage::shorter(const Transfer& transfer, uint64_t length) {
  uint64_t unit = 1;
  // A transfer that is passed on must keep the alignment that the wrapped storage needs, if any.
  if (transfer.direct) unit = plan_.pretend_direct > 0 ? kSector : capabilities_.direct_alignment;
  const uint64_t units = length / unit;
  return units < 2 ? length : unit * (1 + draw(units - 1));
}

// Passes on the first `length` bytes of the transfer.
void FaultStorage::pass_on(size_t index, uint64_t length) {
  Slot& slot = slots_[index];
  const File& file = files_.at(slot.transfer.file);
  uint64_t left = length;
  for (const iovec& segment : slot.transfer.segments) {
    if (left == 0) break;
    slot.segments.push_back({segment.iov_base, std::min<uint64_t>(segment.iov_len, left)});
    left -= slot.segments.back().iov_len;
  }
  Transfer inner = slot.transfer;
  inner.direct = inner.direct && plan_.pretend_direct == 0;
  inner.file = file.inner;
  inner.segments = slot.segments;
  inner.tag = index;
  inner_.submit(inner);
}

void FaultStorage::hold(size_t slot, int64_t result) {
  const uint64_t delay = plan_.delay_reaps == 0 ? 0 : draw(plan_.delay_reaps + uint64_t{1});
  held_.push_back({slot, result, reaps_ + 1 + delay});
}

size_t FaultStorage::reap(std::span<Completion> done) {
  std::array<Completion, 16> some;
  while (const size_t count = inner_.reap(some)) {
    for (size_t i = 0; i < count; i++) {
      const int fault = slots_[some[i].tag].fault;
      hold(some[i].tag, fault != 0 ? -fault : some[i].result);
    }
  }
  reaps_++;
  size_t count = 0;
  while (count < done.size()) {
    std::vector<size_t> due;
    for (size_t i = 0; i < held_.size(); i++) {
      if (held_[i].due <= reaps_) due.push_back(i);
    }
    if (due.empty()) break;
    done[count++] = hand_out(plan_.reorder ? due[draw(due.size())] : due.front());
  }
  // Nothing else rings for the transfers held back.
  if (!held_.empty()) wake();
  return count;
}

Completion FaultStorage::hand_out(size_t index) {
  const Held held = held_[index];
  held_.erase(held_.begin() + static_cast<ptrdiff_t>(index));
  Slot& slot = slots_[held.slot];
  const Transfer& transfer = slot.transfer;
  File& file = files_.at(transfer.file);
  log_.push_back({.on = on(transfer.kind),
                  .path = file.path,
                  .offset = transfer.offset,
                  .length = transfer.kind == Transfer::Kind::sync ? 0 : length_of(transfer.segments),
                  .tag = transfer.tag,
                  .result = held.result});
  file.under_way--;
  under_way_--;
  slot.used = false;
  return {transfer.tag, held.result};
}

// Wake also an engine that is awake, so that it does not fall asleep.
void FaultStorage::wake() { doorbell_.wake(); }

}  // namespace tailrace::impl
