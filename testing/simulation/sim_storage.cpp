#include "testing/simulation/sim_storage.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tailrace::impl::simulation {
namespace {

DiskCall call_of(Transfer::Kind kind) {
  switch (kind) {
    case Transfer::Kind::read: return DiskCall::read;
    case Transfer::Kind::write: return DiskCall::write;
    case Transfer::Kind::sync: return DiskCall::sync;
  }
  TAILRACE_ASSERT(false);
}

uint64_t length_of(std::span<const iovec> segments) {
  uint64_t length = 0;
  for (const iovec& segment : segments) length += segment.iov_len;
  return length;
}

// Some bytes of a write, and where they go in the file.
struct Run {
  uint64_t offset = 0;
  std::vector<std::byte> bytes;
};

// Returns the runs between the holes in the first `length` bytes of the segments, which lie in the file from
// `offset` on.
std::vector<Run> runs_of(uint64_t offset, const std::vector<iovec>& segments, uint64_t length) {
  std::vector<Run> runs;
  const uint64_t end = offset + length;
  for (const iovec& segment : segments) {
    const auto* from = static_cast<const std::byte*>(segment.iov_base);
    const uint64_t some = std::min<uint64_t>(segment.iov_len, end - offset);
    if (from != nullptr && some > 0) {
      if (runs.empty() || runs.back().offset + runs.back().bytes.size() != offset) runs.push_back({offset, {}});
      runs.back().bytes.insert(runs.back().bytes.end(), from, from + some);
    }
    offset += some;
  }
  return runs;
}

FileIdentity identity_of(const InodePointer& inode) { return {0, reinterpret_cast<uintptr_t>(inode.get())}; }

}  // namespace

SimStorage::SimStorage(World& world, SimDisk& disk, Faults& faults, Doorbell& doorbell, SplitDice dice,
                       const SimStorageOptions& options, std::string name)
    : world_(world),
      disk_(disk),
      faults_(faults),
      doorbell_(doorbell),
      dice_(dice),
      options_(options),
      name_(std::move(name)),
      capabilities_{"simulated", options.depth, options.max_segments, options.direct_alignment, options.operations,
                    true,        true},
      slots_(options.depth) {
  faults_.seen.resize(faults_.plan.hard.size());
}

Result<Opened> SimStorage::open(const std::string& path, OpenMode mode, uint32_t) {
  world_.choose();
  const bool creates = mode == OpenMode::create || mode == OpenMode::fresh;
  const char* const operation = creates ? "create" : "open";
  if (cut_) return Opened{put({path, mode, nullptr, 0})};
  if (const HardFault* fault = hard_fault(DiskCall::open, path)) {
    return refuse(operation, DiskCall::open, path, fault->error);
  }
  if (descriptors_ + descriptors_of(path) > options_.descriptors) {
    // Losses are reported as usual, but this one should not have happened.
    faults_.out_of_descriptors = true;
    return refuse(operation, DiskCall::open, path, EMFILE);
  }
  world_.story().tell("{}: {} '{}'", name_, operation, path);
  if (mode == OpenMode::directory) return Opened{put({path, mode, nullptr, 0})};
  InodePointer inode = mode == OpenMode::fresh ? disk_.create(path) : disk_.find(path);
  if (inode != nullptr && mode == OpenMode::create) disk_.resize(inode, 0);  // it stays the same file, as by O_TRUNC
  if (inode == nullptr && (creates || mode == OpenMode::update || mode == OpenMode::own_or_new))
    inode = disk_.create(path);
  if (inode == nullptr) return Status::of_errno(operation, path, ENOENT);
  const FileIdentity identity = identity_of(inode);
  return Opened{put({path, mode, inode, 0}), options_.stripes, identity};
}

FileHandle SimStorage::put(File file) {
  file.descriptors = descriptors_of(file.path);
  descriptors_ += file.descriptors;
  return files_.put(std::move(file));
}

void SimStorage::close(FileHandle handle) {
  world_.choose();
  if (!cut_) world_.story().tell("{}: close '{}'", name_, files_.at(handle).path);
  if (files_.at(handle).under_way > 0) world_.story().fail("port", "a file is closed under a transfer");
  descriptors_ -= files_.at(handle).descriptors;
  files_.erase(handle);
}

bool SimStorage::direct(FileHandle handle) const {
  return options_.direct_alignment > 0 && files_.at(handle).mode != OpenMode::directory;
}

Status SimStorage::allocate(FileHandle handle, uint64_t offset, uint64_t length) {
  world_.choose();
  if (cut_) return {};
  const File& file = files_.at(handle);
  if (const HardFault* fault = hard_fault(DiskCall::allocate, file.path)) {
    return refuse("allocate", DiskCall::allocate, file.path, fault->error);
  }
  if (!fits(file, offset + length)) return refuse("allocate", DiskCall::allocate, file.path, ENOSPC);
  disk_.extend(file.inode, offset + length);
  return {};
}

// Returns true if the disk has room for the file at this size.
bool SimStorage::fits(const File& file, uint64_t size) const {
  const uint64_t now = file.inode->bytes.size();
  return size <= now || disk_.used() + (size - now) <= faults_.plan.capacity;
}

Status SimStorage::truncate(FileHandle handle, uint64_t size) {
  world_.choose();
  if (cut_) return {};
  const File& file = files_.at(handle);
  if (file.under_way > 0) world_.story().fail("port", "a file is truncated under a transfer");
  if (const HardFault* fault = hard_fault(DiskCall::allocate, file.path)) {
    return refuse("truncate", DiskCall::allocate, file.path, fault->error);
  }
  if (!fits(file, size)) return refuse("truncate", DiskCall::allocate, file.path, ENOSPC);
  world_.story().tell("{}: truncate '{}' to {}", name_, file.path, size);
  disk_.resize(file.inode, size);
  return {};
}

Result<uint64_t> SimStorage::size(FileHandle handle) const {
  const File& file = files_.at(handle);
  return file.inode == nullptr ? 0 : file.inode->bytes.size();
}

Result<size_t> SimStorage::read(FileHandle handle, uint64_t offset, std::span<std::byte> to) const {
  const File& file = files_.at(handle);
  if (file.inode == nullptr || offset >= file.inode->bytes.size()) return size_t{0};
  const std::span<const std::byte> from = std::span(file.inode->bytes).subspan(offset);
  const size_t count = std::min(to.size(), from.size());
  std::copy_n(from.begin(), count, to.begin());
  return count;
}

Status SimStorage::sync(FileHandle handle) {
  world_.choose();
  if (cut_) return {};
  const File& file = files_.at(handle);
  if (const HardFault* fault = hard_fault(DiskCall::sync, file.path)) {
    return refuse("sync", DiskCall::sync, file.path, fault->error);
  }
  disk_.end_sync(disk_.begin_sync(file.inode, file.path));
  return {};
}

Result<NameFacts> SimStorage::stat(const std::string& path) const {
  const InodePointer inode = disk_.find(path);
  if (inode == nullptr) return Status::of_errno("stat", path, ENOENT);
  return NameFacts{NameFacts::Kind::file, inode->bytes.size(), true, identity_of(inode)};
}

Result<std::vector<std::string>> SimStorage::list(const std::string& directory) const {
  std::vector<std::string> names;
  for (const std::string& path : disk_.names()) {
    if (directory_of(path) == directory) names.push_back(path.substr(directory.size() + 1));
  }
  return names;
}

// The file of a process that has died stays, and is not locked any more.
class SimStorage::Lock final : public NameLock {
 public:
  Lock(SimStorage& storage, std::string path) : storage_(storage), path_(std::move(path)) {}
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  ~Lock() override {
    if (storage_.cut_) return;
    if (!leaves_file_) storage_.disk_.remove(path_);
    storage_.disk_.locked().erase(path_);
    std::erase(storage_.locked_, path_);
  }
  bool held() const override { return true; }
  void leave_file() override { leaves_file_ = true; }

 private:
  SimStorage& storage_;
  const std::string path_;
  bool leaves_file_ = false;
};

Result<std::unique_ptr<NameLock>> SimStorage::lock(const std::string& path, const std::string& holder) {
  world_.choose();
  if (cut_) return std::unique_ptr<NameLock>(new Lock(*this, path));
  if (is_locked(path)) return Status(TAILRACE_CLIENT_IN_USE, fmt::format("'{}' is locked", path));
  world_.story().tell("{}: lock '{}'", name_, path);
  disk_.locked().insert(path);
  locked_.push_back(path);
  if (disk_.find(path) == nullptr) {
    disk_.put(path, {});  // others may look before the holder has written its name
    world_.choose();
    if (cut_) return std::unique_ptr<NameLock>(new Lock(*this, path));
  }
  const auto text = std::as_bytes(std::span(holder));
  disk_.put(path, {text.begin(), text.end()});
  return std::unique_ptr<NameLock>(new Lock(*this, path));
}

Status SimStorage::rename(FileHandle handle, const std::string& to, bool replace) {
  world_.choose();
  if (cut_) return {};
  File& file = files_.at(handle);
  // A read may be left of a connection with a forwarder that has broken.
  const bool is_written = std::any_of(slots_.begin(), slots_.end(), [handle](const Slot& slot) {
    return slot.used && slot.transfer.file == handle && slot.transfer.kind == Transfer::Kind::write;
  });
  if (is_written) world_.story().fail("port", "a file is renamed while it is written");
  if (const HardFault* fault = hard_fault(DiskCall::rename, file.path)) {
    return refuse("rename", DiskCall::rename, file.path, fault->error);
  }
  world_.story().tell("{}: rename '{}' to '{}'", name_, file.path, to);
  if (disk_.find(file.path) != file.inode) return Status::of_errno("rename", file.path, ENOENT);
  if (!replace && disk_.find(to) != nullptr) return Status::of_errno("rename to", to, EEXIST);
  TAILRACE_ASSERT(disk_.rename(file.path, to));
  file.path = to;
  return {};
}

Status SimStorage::remove(const std::string& path) {
  world_.choose();
  if (cut_) return {};
  if (const HardFault* fault = hard_fault(DiskCall::remove, path)) {
    return refuse("remove", DiskCall::remove, path, fault->error);
  }
  world_.story().tell("{}: remove '{}'", name_, path);
  if (!disk_.remove(path)) return Status::of_errno("remove", path, ENOENT);
  return {};
}

// Returns the fault that fails this call, or null. Every fault counts every call that it matches.
const HardFault* SimStorage::hard_fault(DiskCall call, const std::string& path) {
  const HardFault* found = nullptr;
  for (size_t i = 0; i < faults_.plan.hard.size(); ++i) {
    const HardFault& fault = faults_.plan.hard[i];
    if (fault.call != call || path.find(fault.path_contains) == std::string::npos) continue;
    const uint64_t number = faults_.seen[i]++;
    if (found == nullptr && number >= fault.first && number - fault.first < fault.times) found = &fault;
  }
  return found;
}

Status SimStorage::refuse(const char* operation, DiskCall call, const std::string& path, int error) {
  world_.story().tell("{}: {} '{}' FAILS with errno {}", name_, operation, path, error);
  faults_.causes.push_back({call, path, error});
  return Status::of_errno(operation, path, error);
}

void SimStorage::check_transfer(const Transfer& transfer, const Extent& extent) {
  Story& story = world_.story();
  story.check(under_way_ < options_.depth, "port", "more transfers are under way than the storage can take");
  story.check(transfer.scattered || transfer.segments.size() <= options_.max_segments, "port",
              "a transfer has too many segments");
  for (const iovec& segment : transfer.segments) {
    story.check(transfer.scattered || segment.iov_base != nullptr, "port", "a transfer has a hole");
  }
  story.check(!transfer.scattered || (transfer.kind == Transfer::Kind::write && !transfer.direct), "port",
              "a transfer is scattered that is no write through the page cache");
  const bool sync = transfer.kind == Transfer::Kind::sync;
  story.check(sync == (extent.length == 0), "port", "a transfer moves nothing, or a sync something");
  if (transfer.direct) {
    const uint64_t alignment = options_.direct_alignment;
    story.check(alignment > 0 && transfer.offset % alignment == 0, "port", "a direct transfer is misaligned");
    for (const iovec& segment : transfer.segments) {
      const bool aligned =
          reinterpret_cast<uintptr_t>(segment.iov_base) % alignment == 0 && segment.iov_len % alignment == 0;
      story.check(aligned, "port", "a direct transfer has misaligned memory");
    }
  }
}

void SimStorage::check_order(const Transfer& transfer, const File& file, const std::vector<Extent>& wanted) {
  for (const auto& [other, writes] : file.inode->under_way) {
    if (!writes && transfer.kind != Transfer::Kind::write) continue;
    for (const Extent& extent : wanted) {
      if (!other.overlaps(extent)) continue;
      world_.story().fail("order", fmt::format("two transfers of '{}' under way touch the same bytes ([{}, {}) and "
                                               "[{}, {})), and one writes",
                                               file.path, other.offset, other.end(), extent.offset, extent.end()));
    }
  }
}

// Adjacent extents become one.
std::vector<Extent> SimStorage::wanted_of(const Transfer& transfer) const {
  std::vector<Extent> wanted;
  uint64_t at = transfer.offset;
  for (const iovec& segment : transfer.segments) {
    const Extent extent{at, segment.iov_len};
    at = extent.end();
    if (segment.iov_base == nullptr || ignored_(segment.iov_base)) continue;
    if (!wanted.empty() && wanted.back().end() == extent.offset) {
      wanted.back().length += extent.length;
    } else {
      wanted.push_back(extent);
    }
  }
  return wanted;
}

void SimStorage::submit(const Transfer& transfer) {
  world_.choose();
  File& file = files_.at(transfer.file);
  const Extent extent{transfer.offset, transfer.kind == Transfer::Kind::sync ? 0 : length_of(transfer.segments)};
  if (cut_) {
    done_.push_back({transfer.tag, static_cast<int64_t>(extent.length)});
    return doorbell_.ring();
  }
  check_transfer(transfer, extent);
  const auto free = std::find_if(slots_.begin(), slots_.end(), [](const Slot& slot) { return !slot.used; });
  TAILRACE_ASSERT(free != slots_.end());
  Slot& slot = *free;
  slot = Slot{};
  slot.used = true;
  slot.number = ++submitted_;
  slot.transfer = transfer;
  slot.segments.assign(transfer.segments.begin(), transfer.segments.end());
  slot.extent = extent;
  ++under_way_;
  ++file.under_way;
  if (file.inode) note_under_way(slot, file);
  decide(slot, file);
  world_.story().mix(static_cast<uint64_t>(slot.result));
  world_.story().tell("{}: {}{} '{}' at {}, {} bytes: will return {}", name_, transfer.direct ? "direct " : "",
                      name_of(call_of(transfer.kind)), file.path, extent.offset, extent.length, slot.result);
  const uint64_t delay = dice_.between(options_.least_delay, options_.most_delay);
  const auto index = static_cast<size_t>(free - slots_.begin());
  const auto landing = [this, index, number = slot.number] {
    if (slots_[index].used && slots_[index].number == number) land(slots_[index]);
  };
  world_.after(Nanoseconds(dice_.below(delay + 1)), landing);
  world_.after(Nanoseconds(delay), [this, index, number = slot.number] { complete(index, number); });
}

void SimStorage::note_under_way(Slot& slot, const File& file) {
  slot.wanted.clear();
  if (slot.transfer.kind != Transfer::Kind::sync) slot.wanted = wanted_of(slot.transfer);
  check_order(slot.transfer, file, slot.wanted);
  const bool writes = slot.transfer.kind == Transfer::Kind::write;
  for (const Extent& extent : slot.wanted) file.inode->under_way.push_back({extent, writes});
}

// Decides the result of a transfer.
void SimStorage::decide(Slot& slot, const File& file) {
  const FaultPlan& plan = faults_.plan;
  const Transfer& transfer = slot.transfer;
  const bool sync = transfer.kind == Transfer::Kind::sync;
  const DiskCall call = call_of(transfer.kind);
  if (sync) slot.sync = disk_.begin_sync(file.inode, file.path);
  slot.length = slot.extent.length;
  slot.result = static_cast<int64_t>(slot.length);
  if ((file.mode == OpenMode::read || file.mode == OpenMode::view) && transfer.kind == Transfer::Kind::write) {
    world_.story().fail("port", "a file that was opened for reading is written");
  }
  if (const HardFault* fault = hard_fault(call, file.path)) {
    faults_.causes.push_back({call, file.path, fault->error});
    slot.result = -fault->error;
    slot.torn = fault->torn;
  } else if (dice_.chance(plan.eintr_percent)) {
    slot.result = -EINTR;
  } else if (!sync && dice_.chance(plan.eagain_percent)) {
    slot.result = -EAGAIN;
  } else if (transfer.kind == Transfer::Kind::write && dice_.chance(plan.nothing_percent)) {
    slot.length = 0;
    slot.result = 0;
  } else if (transfer.direct && dice_.chance(plan.refuse_direct_percent)) {
    slot.result = -EINVAL;
  } else if (!sync && dice_.chance(plan.short_percent)) {
    slot.length = shortened(slot);
    slot.result = static_cast<int64_t>(slot.length);
  }
  if (slot.result > 0 && transfer.kind == Transfer::Kind::write) fit_into_disk(slot, file);
  const bool again = slot.result == -EINTR || slot.result == -EAGAIN || (slot.result == 0 && !sync);
  if (again && plan.impatient()) {
    faults_.causes.push_back({call, file.path, slot.result == 0 ? EIO : static_cast<int>(-slot.result)});
  }
}

// A direct transfer that ends early ends at a sector, one through the page cache at an aligned word. Another client
// may write before its continuation, and in the model (RawFileModel) no word comes from two writes. A transfer inside
// one sector is carried out whole, as file systems do that copy page by page: files of several iterations rely on it.
uint64_t SimStorage::shortened(const Slot& slot) {
  if (slot.length == 0) return 0;
  const uint64_t unit = slot.transfer.direct ? kSector : kWord;
  const uint64_t first = slot.extent.offset / unit;  // whole units before it
  const uint64_t ends = (slot.extent.offset + slot.length - 1) / unit - first;
  const uint64_t end = ends == 0 ? 0 : unit * (first + dice_.between(1, ends));
  const bool in_one_sector = slot.extent.offset / kSector == (slot.extent.offset + slot.length - 1) / kSector;
  return ends == 0 || in_one_sector ? slot.length : end - slot.extent.offset;
}

void SimStorage::fit_into_disk(Slot& slot, const File& file) {
  if (fits(file, slot.extent.offset + slot.length)) return;
  faults_.causes.push_back({DiskCall::write, file.path, ENOSPC});
  slot.result = -ENOSPC;
}

// Moves the bytes of a transfer.
void SimStorage::land(Slot& slot) {
  slot.landed = true;
  const File& file = files_.at(slot.transfer.file);
  if (slot.transfer.kind == Transfer::Kind::sync) {
    if (slot.result == 0) disk_.end_sync(slot.sync);
    return;
  }
  if (slot.transfer.kind == Transfer::Kind::write) {
    if (slot.torn) write_sectors(slot, file, 50);
    if (slot.result <= 0) return;
    for (const Run& run : runs_of(slot.extent.offset, slot.segments, slot.length)) {
      disk_.write(file.inode, run.offset, run.bytes);
    }
    return;
  }
  if (slot.result <= 0) return;
  const std::vector<std::byte>& bytes = file.inode->bytes;
  uint64_t moved = 0;
  for (const iovec& segment : slot.segments) {
    const uint64_t at = slot.extent.offset + moved;
    if (at >= bytes.size() || moved == slot.length) break;
    const uint64_t some = std::min({uint64_t{segment.iov_len}, bytes.size() - at, slot.length - moved});
    std::memcpy(segment.iov_base, bytes.data() + at, some);
    moved += some;
  }
  slot.result = static_cast<int64_t>(moved);
}

// Writes some sectors.
void SimStorage::write_sectors(const Slot& slot, const File& file, uint64_t percent) {
  for (const Run& run : runs_of(slot.extent.offset, slot.segments, slot.length)) {
    for (uint64_t at = 0; at < run.bytes.size();) {
      const uint64_t some = std::min<uint64_t>(kSector - (run.offset + at) % kSector, run.bytes.size() - at);
      if (dice_.chance(percent)) disk_.write(file.inode, run.offset + at, std::span(run.bytes).subspan(at, some));
      at += some;
    }
  }
}

void SimStorage::complete(size_t index, uint64_t number) {
  Slot& slot = slots_[index];
  if (!slot.used || slot.number != number) return;
  if (!slot.landed) land(slot);
  finish(slot);
  doorbell_.ring();
}

void SimStorage::finish(Slot& slot) {
  done_.push_back({slot.transfer.tag, slot.result});
  File& file = files_.at(slot.transfer.file);
  --file.under_way;
  --under_way_;
  slot.used = false;
  if (!file.inode) return;
  auto& under_way = file.inode->under_way;
  const bool writes = slot.transfer.kind == Transfer::Kind::write;
  for (const Extent& extent : slot.wanted) {
    const auto found = std::find_if(under_way.begin(), under_way.end(), [&](const auto& one) {
      return one.first.offset == extent.offset && one.first.length == extent.length && one.second == writes;
    });
    TAILRACE_ASSERT(found != under_way.end());
    under_way.erase(found);
  }
}

size_t SimStorage::reap(std::span<Completion> done) {
  world_.choose();
  size_t count = 0;
  while (count < done.size() && !done_.empty()) {
    done[count++] = done_.front();
    done_.pop_front();
  }
  return count;
}

void SimStorage::submit(FileOperation operation) {
  world_.choose();
  if (cut_) {
    operations_done_.push_back(end_after_cut(operation));
    return doorbell_.ring();
  }
  const uint64_t number = ++submitted_;
  operations_[number].what = std::move(operation);
  const bool slow = dice_.chance(5);
  const uint64_t delay = dice_.between(options_.least_delay, options_.most_delay * (slow ? options_.slow : 1));
  world_.after(Nanoseconds(dice_.below(delay + 1)), [this, number] { take_effect(number); });
  world_.after(Nanoseconds(delay), [this, number] { end_operation(number); });
}

// A dead process goes on until it is taken away, and must find what it opens.
FileOperationEnd SimStorage::end_after_cut(const FileOperation& operation) {
  const bool opens = operation.kind == FileOperation::Kind::open || operation.kind == FileOperation::Kind::call;
  return opens ? carry_out(*this, operation) : FileOperationEnd{operation.tag};
}

void SimStorage::take_effect(uint64_t number) {
  const auto found = operations_.find(number);
  if (found != operations_.end() && !found->second.done) found->second.done = carry_out(*this, found->second.what);
}

void SimStorage::end_operation(uint64_t number) {
  take_effect(number);
  const auto node = operations_.extract(number);
  if (!node) return;
  operations_done_.push_back(std::move(*node.mapped().done));
  doorbell_.ring();
}

std::optional<FileOperationEnd> SimStorage::reap_operation() {
  world_.choose();
  if (operations_done_.empty()) return std::nullopt;
  FileOperationEnd end = std::move(operations_done_.front());
  operations_done_.pop_front();
  return end;
}

void SimStorage::cut() {
  if (cut_) return;
  cut_ = true;
  for (const auto& [number, operation] : std::exchange(operations_, {})) {  // they may end while others are opened
    operations_done_.push_back(operation.done ? *operation.done : end_after_cut(operation.what));
  }
  for (const std::string& path : locked_) disk_.locked().erase(path);
  for (Slot& slot : slots_) {
    if (!slot.used) continue;
    const File& file = files_.at(slot.transfer.file);
    if (!slot.landed && slot.transfer.kind == Transfer::Kind::write) {
      write_sectors(slot, file, dice_.one_of<uint64_t>({0, 50, 100}));
    }
    slot.result = static_cast<int64_t>(slot.extent.length);
    finish(slot);
  }
  doorbell_.ring();
}

}  // namespace tailrace::impl::simulation
