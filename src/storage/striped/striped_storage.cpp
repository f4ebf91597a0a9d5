#include "storage/striped/striped_storage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace tailrace::impl {
namespace {

Capabilities capabilities_of(const Capabilities& inner, uint32_t objects) {
  TAILRACE_REQUIRE(inner.depth >= objects);
  TAILRACE_REQUIRE(inner.direct_alignment == 0 || kLeastStripe % inner.direct_alignment == 0);
  return {fmt::format("stripes over {} directories, {}", objects, inner.name), inner.depth / objects,
          inner.max_segments, inner.direct_alignment};
}

}  // namespace

Result<std::unique_ptr<StripedStorage>> StripedStorage::create(Doorbell& doorbell, std::unique_ptr<Storage> inner,
                                                               StripeSet set) {
  if (Status room = check_object_directories(set.recorded); !room.ok()) return room;
  std::unique_ptr<StripedStorage> storage(new StripedStorage(doorbell, std::move(inner), std::move(set)));
  if (Status prepared = storage->files_.prepare(); !prepared.ok()) return prepared;
  return storage;
}

StripedStorage::StripedStorage(Doorbell& doorbell, std::unique_ptr<Storage> inner, StripeSet set)
    : doorbell_(doorbell),
      objects_(static_cast<uint32_t>(set.directories.size())),
      inner_(std::move(inner)),
      files_(inner_->files(), std::move(set)),
      capabilities_(capabilities_of(inner_->capabilities(), objects_)),
      slots_(capabilities_.depth),
      done_(capabilities_.depth) {
  for (uint32_t index = capabilities_.depth; index-- > 0;) {
    slots_[index].parts.resize(objects_);
    free_.push_back(index);
  }
}

StripedStorage::~StripedStorage() { inner_.reset(); }

// ---- transfers ---------------------------------------------------------------------------------------------

void StripedStorage::submit(const Transfer& transfer) {
  TAILRACE_REQUIRE(!free_.empty());
  TAILRACE_REQUIRE(transfer.segments.size() <= capabilities_.max_segments);
  const uint32_t index = free_.back();
  free_.pop_back();
  Slot& slot = slots_[index];
  slot.transfer = transfer;
  slot.made.reset();
  for (ObjectPart& part : slot.parts) part.clear();
  const StripedFile& file = files_.at(transfer.file);
  if (transfer.kind == Transfer::Kind::sync) return begin_syncs(index, file.objects);
  begin_parts(index, file);
}

void StripedStorage::begin_parts(uint32_t index, const StripedFile& file) {
  Slot& slot = slots_[index];
  const Transfer& whole = slot.transfer;
  const uint64_t length = length_of(whole.segments);
  if (length >= StripeLayout::kEndless || whole.offset >= StripeLayout::kEndless - length) {
    end(index, whole.kind == Transfer::Kind::write ? -EFBIG : -EINVAL);
    return doorbell_.ring();
  }
  const StripeLayout& layout = file.layout;
  slot.end = cut_into_parts(layout, whole.offset, whole.segments, capabilities_.max_segments, slot.parts);
  const uint64_t room = std::min(whole.room, StripeLayout::kEndless - whole.offset);
  std::array<uint32_t, kMostObjects> begun;
  for (uint32_t object = 0; object < layout.count; ++object) {
    // An empty transfer goes to the object that would have its bytes.
    const bool takes_part = length == 0 ? object == layout.object_of(whole.offset) : slot.parts[object].length > 0;
    if (takes_part) begun[slot.under_way++] = object;
  }
  for (uint32_t i = 0, count = slot.under_way; i < count; ++i) {
    const uint32_t object = begun[i];
    const ObjectPart& part = slot.parts[object];
    const uint64_t at = length == 0 ? layout.in_object(object, whole.offset) : part.offset;
    Transfer inner{whole.kind, whole.direct, file.objects[object], at, part.segments, 0};
    if (whole.room > 0) inner.room = layout.in_object(object, whole.offset + room) - at;
    pass_on(inner, uint64_t{index} * objects_ + object);
  }
}

void StripedStorage::begin_syncs(uint32_t index, const std::vector<FileHandle>& files) {
  TAILRACE_ASSERT(files.size() <= objects_);
  slots_[index].under_way = static_cast<uint32_t>(files.size());
  for (size_t object = 0; object < files.size(); ++object) {
    pass_on({Transfer::Kind::sync, false, files[object], 0, {}, 0}, uint64_t{index} * objects_ + object);
  }
}

void StripedStorage::pass_on(Transfer transfer, uint64_t tag) {
  TAILRACE_ASSERT(under_way_ < inner_->capabilities().depth);
  transfer.tag = tag;
  ++under_way_;
  inner_->submit(transfer);
}

size_t StripedStorage::reap(std::span<Completion> done) {
  collect();
  size_t count = 0;
  while (count < done.size() && !done_.empty()) done[count++] = done_.pop();
  return count;
}

// Takes all that the other back end has completed. A transfer that begins here begins with the next reap.
void StripedStorage::collect() {
  std::array<Completion, 32> some;
  while (const size_t count = inner_->reap(some)) {
    for (const Completion& one : std::span(some).first(count)) settle(one);
  }
}

void StripedStorage::settle(const Completion& done) {
  TAILRACE_ASSERT(under_way_ > 0);
  --under_way_;
  const auto index = static_cast<uint32_t>(done.tag / objects_);
  Slot& slot = slots_[index];
  slot.parts[done.tag % objects_].result = done.result;
  if (--slot.under_way == 0) finish(index);
}

void StripedStorage::finish(uint32_t index) {
  Slot& slot = slots_[index];
  if (slot.transfer.kind != Transfer::Kind::sync) return end(index, result_of_parts(slot));
  const int64_t result = result_of_sync(slot);
  if (result == 0 && slot.made) files_.note_durable(*slot.made);
  if (result != 0 || slot.made || !files_.has_new_names()) return end(index, result);
  // The names of the objects, too: else a file could lose one.
  slot.made = files_.made();
  begin_syncs(index, files_.directories());
}

void StripedStorage::end(uint32_t index, int64_t result) {
  done_.push({slots_[index].transfer.tag, result});
  free_.push_back(index);
}

// ---- results -----------------------------------------------------------------------------------------------

int64_t StripedStorage::result_of_sync(const Slot& slot) const {
  for (const ObjectPart& part : slot.parts) {
    if (part.result < 0) return part.result;
  }
  return 0;
}

// Everything before `end` is done; `failure` is the result for the byte there.
int64_t StripedStorage::result_of_parts(const Slot& slot) {
  const Transfer& whole = slot.transfer;
  const StripedFile& file = files_.at(whole.file);
  if (file.id.empty() || length_of(whole.segments) == 0) {
    return slot.parts[file.layout.object_of(whole.offset)].result;
  }
  const bool reads = whole.kind == Transfer::Kind::read;
  std::optional<uint64_t> size;
  uint64_t end = slot.end;
  int64_t failure = 0;
  for (uint32_t object = 0; object < file.layout.count; ++object) {
    const ObjectPart& part = slot.parts[object];
    if (part.result == static_cast<int64_t>(part.length)) continue;
    if (reads && part.result >= 0) {
      if (!size) {
        const Result<uint64_t> now = files_.size(whole.file);
        if (!now.ok()) return -now.status().fault().system_errno;
        size = now.value();
      }
      const Result<bool> filled = fill_hole(file, object, part, *size);
      if (!filled.ok()) return -filled.status().fault().system_errno;
      if (filled.value()) continue;
    }
    const uint64_t done = part.offset + static_cast<uint64_t>(std::max<int64_t>(part.result, 0));
    const uint64_t undone = file.layout.in_file(object, done);
    if (undone >= end) continue;
    end = undone;
    failure = part.result < 0 ? part.result : reads ? -EAGAIN : 0;
  }
  if (size && *size < end) return static_cast<int64_t>(std::max(*size, whole.offset) - whole.offset);
  return end > whole.offset ? static_cast<int64_t>(end - whole.offset) : failure;
}

// If a read of the object has ended where the object does, fills what the file has there with zeros and returns true:
// a hole, unless the file ends, too. Returns false if the read was short for another reason.
Result<bool> StripedStorage::fill_hole(const StripedFile& file, uint32_t object, const ObjectPart& part,
                                       uint64_t size) {
  const Result<uint64_t> ends = inner_->files().size(file.objects[object]);
  if (!ends.ok()) return ends.status();
  const auto done = static_cast<uint64_t>(part.result);
  if (part.offset + done < ends.value()) return false;
  const uint64_t there = file.layout.in_object(object, size);
  fill_with_zeros(part, done, there > part.offset ? there - part.offset : 0);
  return true;
}

}  // namespace tailrace::impl
