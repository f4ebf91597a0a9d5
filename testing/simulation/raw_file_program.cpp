#include "testing/simulation/raw_file_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <utility>

#include "base/memory/range_allocator.hpp"
#include "model/wire/file_wire.hpp"

namespace tailrace::impl::simulation {
namespace {

constexpr uint64_t kPage = 4096;
constexpr int kRead = TAILRACE_FILE_READ;
constexpr int kWrite = TAILRACE_FILE_WRITE;
constexpr int kEmpty = TAILRACE_FILE_WRITE | TAILRACE_FILE_TRUNCATE;
constexpr std::byte kScribble{0xee};

std::vector<tailrace_extent> as_given(const std::vector<Extent>& extents) {
  std::vector<tailrace_extent> given;
  for (const Extent& extent : extents) given.push_back({extent.offset, extent.length});
  return given;
}

uint64_t total_of(const std::vector<Extent>& extents) {
  uint64_t total = 0;
  for (const Extent& extent : extents) total += extent.length;
  return total;
}

// Returns the bytes of the extents, side by side.
std::vector<std::byte> bytes_of(const std::vector<Extent>& extents, Content content) {
  std::vector<std::byte> bytes;
  bytes.reserve(total_of(extents));
  for (const Extent& extent : extents) {
    for (uint64_t at = extent.offset; at < extent.end(); ++at) bytes.push_back(byte_of(content, at));
  }
  return bytes;
}

// Returns the request that failed, from its first byte to its last, if the failure names it.
std::optional<Extent> extent_of(const Fault& fault) {
  unsigned long long count = 0;  // NOLINT(google-runtime-int): as sscanf has it
  unsigned long long begin = 0;  // NOLINT(google-runtime-int)
  unsigned long long end = 0;    // NOLINT(google-runtime-int)
  const char* const text = fault.message.c_str();
  if (std::sscanf(text, "file_write of %llu bytes at offset %llu", &count, &begin) == 2) return Extent{begin, count};
  if (std::sscanf(text, "file_write of %llu extents from offset %llu to %llu", &count, &begin, &end) == 3) {
    return Extent{begin, end - begin};
  }
  return std::nullopt;
}

}  // namespace

RawFileProgram::RawFileProgram(World& world, Application& process, const Faults& faults, RawFileModels& models,
                               uint64_t seed, Caller& caller)
    : world_(world),
      process_(process),
      faults_(faults),
      models_(models),
      caller_(caller),
      plan_(process.plan().raw_files),
      number_(process.number()),
      dice_(seed, "raw files", static_cast<uint64_t>(process.number())),
      contents_(dice_.next() >> 40 << 16) {}

void RawFileProgram::step() {
  if (plan_.paths.empty() || !dice_.chance(plan_.percent)) return;
  const uint64_t kind = dice_.below(100);
  if (open_.empty() || (kind < 6 && open_.size() < 3)) return open();
  const size_t index = dice_.below(open_.size());
  const Open of = open_[index];
  if (kind < 56 && of.writes) return write(of);
  if (kind < 82) return read(of);
  if (kind < 86) return sync(of);
  if (kind < 90) return ask_size(of);
  if (kind < 92 && of.writes) return empty(of);
  if (kind < 97) return close_one(index);
  write_nonsense(of);
}

// ---- opening and closing --------------------------------------------------------------------------------------

void RawFileProgram::open() {
  const std::string name = plan_.paths[dice_.below(plan_.paths.size())];
  const int mode = dice_.one_of({kWrite, kWrite, kWrite, kWrite, kRead, kEmpty, kEmpty});
  const Opening opening = begin_opening(process_.plan().config.storage.paths[0] + "/" + name, mode);
  const Result<uint32_t> file = process_.client().files().open(name, mode);
  caller_.returned("file_open", fmt::format("{}, mode {}", opening.path, mode), file.status());
  file.ok() ? opened(opening, file.value()) : not_opened(opening, file.status());
}

RawFileProgram::Opening RawFileProgram::begin_opening(const std::string& path, int mode) {
  RawFileModel& of = model(path);
  Opening opening{path, mode != kRead, nullptr, of.users++ > 0, ++of.openings, of.must_exist(false)};
  of.may_be_made = of.may_be_made || opening.writes;
  if (mode != kEmpty) return opening;
  opening.emptying = &of.writes.emplace_back();
  opening.emptying->client = number_;
  opening.emptying->begun = models_.tick();
  opening.emptying->empties = true;
  opening.emptying->alone = true;
  return opening;
}

void RawFileProgram::opened(const Opening& opening, uint32_t handle) {
  RawFileModel& of = model(opening.path);
  check(opening.must_exist || of.may_be_made, "answer", "a file that nobody made was opened");
  of.made = of.made || opening.writes;
  const bool own = std::any_of(open_.begin(), open_.end(), [&](const Open& one) { return one.path == opening.path; });
  open_.push_back({handle, opening.path, opening.writes});
  if (opening.emptying == nullptr) return;
  check(!own || process_.lost_a_server(), "answer", "a file that is open was emptied");
  opening.emptying->certain = true;
  opening.emptying->ended = models_.tick();
}

void RawFileProgram::not_opened(const Opening& opening, const Status& status) {
  RawFileModel& of = model(opening.path);
  --of.users;
  const bool no_memory = refused(status);
  if (!no_memory) caller_.count_told();
  const bool open_already = status.code() == TAILRACE_WRONG_ORDER;
  if (opening.emptying != nullptr && (no_memory || open_already)) opening.emptying->empties = false;
  if (no_memory) return;
  if (open_already) {
    check(opening.emptying != nullptr, "answer", "a file that is not to be emptied is not opened");
    return check(opening.may_be_open || of.openings > opening.number, "answer", "a closed file is said to be open");
  }
  if (status.code() == TAILRACE_NOT_FOUND) {
    return check(!opening.writes && !opening.must_exist, "answer", "a file that is there is not found");
  }
  check_cause(status.fault(), opening.path);
}

void RawFileProgram::close() {
  while (!open_.empty() && dice_.chance(85)) close_one(dice_.below(open_.size()));
}

void RawFileProgram::close_one(size_t index) {
  const Open of = open_[index];
  const Status status = process_.client().files().close(of.handle);
  caller_.returned("file_close", of.path, status);
  if (!status.ok()) fail("answer", "file_close: " + status.fault().message);
  open_.erase(open_.begin() + static_cast<ptrdiff_t>(index));
  --model(of.path).users;
  caller_.take_earlier();
  end_writes([&](const RawWrite& write) { return write.handle == of.handle; });
}

uint64_t RawFileProgram::held() const {
  uint64_t bytes = 0;
  const size_t root = process_.plan().config.storage.paths[0].size() + 1;
  for (const Open& of : open_) bytes += RangeAllocator::rounded(sizeof(FileOpening) + of.path.size() - root);
  return bytes;
}

// ---- writing --------------------------------------------------------------------------------------------------

void RawFileProgram::write(const Open& of) {
  std::vector<Extent> extents = some_extents(false);
  RawWrite& write = model(of.path).writes.emplace_back();
  write.client = number_;
  write.handle = of.handle;
  write.content = ++contents_ << 8 | static_cast<uint64_t>(number_ + 1);
  write.extents = extents;
  write.whole = is_one_request(extents);
  write.begun = models_.tick();
  std::vector<std::byte> data = bytes_of(extents, write.content);
  if (dice_.chance(5)) extents.insert(extents.begin(), Extent{dice_.below(plan_.size), 0});
  const Status status = process_.client().files().write(of.handle, as_given(extents), data.data());
  std::fill(data.begin(), data.end(), kScribble);
  caller_.returned(
      "file_write",
      fmt::format("{}, {} extents from {} to {}", of.path, extents.size(), write.hull().offset, write.hull().end()),
      status);
  if (refused(status)) {
    if (write.whole) write.extents.clear();
    return;
  }
  if (!status.ok()) fail("answer", "file_write: " + status.fault().message);
  write.certain = true;
}

// Writes a list that is invalid, so nothing of it is written.
void RawFileProgram::write_nonsense(const Open& of) {
  std::vector<Extent> extents = some_extents(false);
  const std::vector<std::byte> data(total_of(extents) * 2 + 1, kScribble);
  const uint64_t kind = of.writes ? dice_.below(3) : 3;
  if (kind == 0) extents.push_back({extents[0].end() - 1, 1});
  if (kind == 1) extents.push_back({kMostFileEnd, 1});
  if (kind == 2) extents.clear();
  const Status status = process_.client().files().write(of.handle, as_given(extents), data.data());
  caller_.returned("file_write", of.path + ", nonsense", status);
  check(status.code() == TAILRACE_INVALID_ARGUMENT, "answer", "a list that makes no sense was not refused");
}

// Returns true if the list with its bytes fits into a quarter of the pool.
bool RawFileProgram::is_one_request(const std::vector<Extent>& extents) const {
  const uint64_t most = std::max(process_.plan().config.memory.budget / 4 / kPage * kPage, kPage);
  const uint64_t total = total_of(extents);
  return file_list_data(extents.size(), total) + total <= most;
}

Extent RawFileProgram::some_extent() {
  Extent extent{dice_.below(plan_.size), dice_.chance(60) ? dice_.between(1, 200) : dice_.between(1, plan_.size)};
  if (dice_.chance(70)) extent = {extent.offset / 8 * 8, (extent.length + 7) / 8 * 8};
  if (dice_.chance(15)) extent = {extent.offset / kPage * kPage, kPage};
  return extent;
}

// Returns a few extents anywhere, or pieces at a regular stride, as for columns of a matrix.
std::vector<Extent> RawFileProgram::some_extents(bool may_overlap) {
  std::vector<Extent> extents;
  if (dice_.chance(40)) {
    const uint64_t piece = 8 * dice_.between(1, dice_.chance(80) ? 40 : 200);
    const uint64_t of = dice_.chance(80) ? static_cast<uint64_t>(number_) : dice_.below(4);
    const uint64_t rows = std::max<uint64_t>(1, plan_.size / (4 * piece));
    uint64_t row = dice_.below(rows);
    for (uint64_t count = dice_.between(1, 12); count > 0; --count) {
      extents.push_back({row++ * 4 * piece + of * piece, piece});
    }
  } else {
    for (uint64_t count = dice_.between(1, 4); count > 0; --count) {
      const Extent extent = some_extent();
      const bool free =
          std::none_of(extents.begin(), extents.end(), [&](const Extent& other) { return other.overlaps(extent); });
      if (free || may_overlap) extents.push_back(extent);
    }
  }
  if (dice_.chance(30)) std::reverse(extents.begin(), extents.end());
  if (extents.size() > 1 && dice_.chance(30)) std::swap(extents[0], extents[dice_.below(extents.size())]);
  return extents;
}

// ---- reading --------------------------------------------------------------------------------------------------

void RawFileProgram::read(const Open& of) {
  const RawReader reader{number_, models_.tick()};
  std::vector<Extent> extents = some_extents(true);
  const uint64_t size = model(of.path).least_size(reader);
  if (!dice_.chance(4)) {  // the end of the file is rarely read
    std::erase_if(extents, [&](const Extent& extent) { return extent.end() > size; });
    if (extents.empty() && size > 0) extents.push_back({dice_.below(size), 1});
    if (extents.empty()) return;
  }
  std::vector<std::byte> found(total_of(extents), kScribble);
  const Status status = process_.client().files().read(of.handle, as_given(extents), found.data());
  caller_.returned("file_read", fmt::format("{}, {} extents from {}", of.path, extents.size(), extents[0].offset),
                   status);
  check_read(of, extents, reader, status, found);
}

void RawFileProgram::check_read(const Open& of, const std::vector<Extent>& extents, const RawReader& begun,
                                const Status& status, const std::vector<std::byte>& found) {
  if (refused(status)) return;
  caller_.take_earlier();  // an earlier write may have failed
  const RawFileModel& file = model(of.path);
  uint64_t end = 0;
  for (const Extent& extent : extents) end = std::max(end, extent.end());
  if (!status.ok()) {
    caller_.count_told();
    if (end <= file.least_size(begun)) check_cause(status.fault(), of.path);
    return;
  }
  RawReader reader = begun;
  reader.may_be_torn = has_failed_writes(of.path);
  check(end <= file.most_size(reader), "read", "bytes behind the end of a raw file were read");
  const std::byte* bytes = found.data();
  for (const Extent& extent : extents) {
    const std::string what = file.difference(reader, extent, bytes);
    if (!what.empty()) fail("read", fmt::format("'{}': {}", of.path, what));
    bytes += extent.length;
  }
}

// ---- size -----------------------------------------------------------------------------------------------------

void RawFileProgram::ask_size(const Open& of) {
  const RawReader reader{number_, models_.tick()};
  const Result<uint64_t> size = process_.client().files().size(of.handle);
  caller_.returned("file_size", of.path, size.status());
  if (!size.ok()) {
    caller_.count_told();
    return check_cause(size.status().fault(), of.path);
  }
  caller_.take_earlier();  // an earlier write may have failed
  const RawFileModel& file = model(of.path);
  check(size.value() >= file.least_size(reader), "size", "a raw file is shorter than what was written into it");
  check(size.value() <= file.most_size(reader), "size", "a raw file is longer than what was written into it");
}

void RawFileProgram::empty(const Open& of) {
  RawWrite& emptying = model(of.path).writes.emplace_back();
  emptying.client = number_;
  emptying.begun = models_.tick();
  emptying.empties = true;
  const Status status = process_.client().files().truncate(of.handle, 0);
  caller_.returned("file_truncate", of.path, status);
  if (!status.ok()) {
    // A server may have emptied the file before it died, and the next one could not open it.
    emptying.empties = status.fault().operation != "truncate";
    emptying.ended = models_.tick();
    caller_.count_told();
    return check_cause(status.fault(), of.path);
  }
  emptying.certain = true;
  emptying.ended = models_.tick();
  caller_.take_earlier();
}

// ---- ends -----------------------------------------------------------------------------------------------------

void RawFileProgram::sync(const Open& of) {
  const uint64_t begun = models_.tick();
  const Status status = process_.client().files().sync(of.handle);
  caller_.returned("file_sync", of.path, status);
  if (!status.ok()) {
    caller_.count_told();
    return check_cause(status.fault(), of.path);
  }
  caller_.take_earlier();
  if (!of.writes) return;  // this handle may be one that cannot write
  RawFileModel& file = model(of.path);
  file.named = true;
  const uint64_t now = models_.tick();
  for (RawWrite& write : file.writes) {
    const bool own = write.client == number_;
    if (own) write.ended = std::min(write.ended, now);
    if (own || (write.empties && write.ended < begun)) write.durable = true;
  }
}

void RawFileProgram::all_ended() {
  end_writes([](const RawWrite&) { return true; });
}

void RawFileProgram::end_writes(const std::function<bool(const RawWrite&)>& of) {
  const uint64_t now = models_.tick();
  for (auto& [path, file] : models_.files) {
    for (RawWrite& write : file.writes) {
      if (write.client == number_ && of(write)) write.ended = std::min(write.ended, now);
    }
  }
}

void RawFileProgram::died(bool is_served, bool untold) {
  for (auto& [path, file] : models_.files) {
    for (RawWrite& write : file.writes) {
      if (write.client != number_ || write.ended != RawWrite::kNever) continue;
      if (!is_served) write.certain = false;
      if (untold && has_failed_writes(path)) write.lost.push_back(write.hull());
    }
  }
}

void RawFileProgram::note(const Fault& fault) {
  if (!models_.files.contains(fault.file)) fail("telling", "a failure of no file: " + fault.message);
  if (fault.operation != "file_write") {
    // A server may have died before it answered the call, which another server then answered.
    return check(process_.lost_a_server(), "telling", "a call's own failure is told by another one");
  }
  check_cause(fault, fault.file);
  const bool is_own = model(fault.file).lose(number_, extent_of(fault));
  if (!is_own) fail("telling", "a failure of what nobody wrote: " + fault.message);
}

bool RawFileProgram::refused(const Status& status) {
  if (status.code() != TAILRACE_BUDGET_HELD && status.code() != TAILRACE_TOO_LARGE) return false;
  caller_.check_refusal(status);
  return true;
}

// Checks that a failure has a cause: a fault of this file, or of its directory, with this errno.
void RawFileProgram::check_cause(const Fault& fault, const std::string& path) {
  const bool found = std::any_of(faults_.causes.begin(), faults_.causes.end(), [&](const Cause& cause) {
    return cause.error == fault.system_errno && (cause.path == path || cause.path == directory_of(path));
  });
  if (!found) fail("telling", "a failure without a cause: " + fault.message);
}

bool RawFileProgram::has_failed_writes(const std::string& path) const {
  return std::any_of(faults_.causes.begin(), faults_.causes.end(), [&](const Cause& cause) {
    return cause.path == path && cause.call != DiskCall::read && cause.call != DiskCall::sync;
  });
}

}  // namespace tailrace::impl::simulation
