#include "recovery/ledger_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/memory/allocate_file.hpp"

namespace tailrace::impl {
namespace {

constexpr size_t kLeastRoom = 512;  // lines

std::string fresh_name(const std::string& name) { return name + ".new"; }

// Returns true if a server has written the line to its end.
bool is_whole(LedgerRecord& line) {
  // acquire: makes the rest of the line visible, too; partner: put().
  return std::atomic_ref(line.kind).load(std::memory_order_acquire) != LedgerRecord::Kind{};
}

void put(LedgerRecord& line, LedgerRecord record) {
  const LedgerRecord::Kind kind = std::exchange(record.kind, LedgerRecord::Kind{});
  std::memcpy(static_cast<void*>(&line), &record, sizeof record);
  // release: a server that finds the kind, after this process's death, finds the rest; partner: is_whole().
  std::atomic_ref(line.kind).store(kind, std::memory_order_release);
}

}  // namespace

Result<std::unique_ptr<LedgerFile>> LedgerFile::open(const PrivateDirectory& directory, std::string name) {
  (void)directory.remove_file(fresh_name(name));  // left by a server that died while writing it
  Result<FileDescriptor> file = directory.open_file(name, O_RDWR | O_CREAT);
  if (!file.ok()) return file.status();
  return std::unique_ptr<LedgerFile>(new LedgerFile(directory, std::move(name), std::move(file).value()));
}

LedgerFile::~LedgerFile() { unmap(); }

Result<std::vector<LedgerRecord>> LedgerFile::read() {
  struct stat about {};
  if (fstat(file_.get(), &about) != 0) return failed("look at", errno);
  const size_t room = static_cast<size_t>(about.st_size) / sizeof(LedgerRecord);
  written_ = 0;
  if (Status mapped = room == 0 ? grow() : map(room); !mapped.ok()) return mapped;
  while (written_ < room && is_whole(lines_[written_])) ++written_;
  return std::vector<LedgerRecord>(lines_, lines_ + written_);
}

Status LedgerFile::append(const LedgerRecord& record) {
  if (written_ + 1 >= room_) {
    if (Status grown = grow(); !grown.ok()) return grown;
  }
  put(lines_[written_], record);
  ++written_;
  return {};
}

// If the file is full, an earlier server has done so.
void LedgerFile::append_last(const LedgerRecord& record) {
  if (written_ < room_) put(lines_[written_], record);
}

// Allocates the file's memory here, where a lack of it is an error. A write to a mapping without memory would be a
// signal. If it fails, what is mapped stays.
Status LedgerFile::grow() {
  const size_t room = std::max(kLeastRoom, 2 * room_);
  if (const int error = allocate_file(file_.get(), 0, room * sizeof(LedgerRecord)); error != 0) {
    return failed("write", error);
  }
  return map(room);
}

Status LedgerFile::map(size_t records) {
  void* const mapping =
      ::mmap(nullptr, records * sizeof(LedgerRecord), PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
  if (mapping == MAP_FAILED) return failed("map", errno);
  unmap();
  lines_ = static_cast<LedgerRecord*>(mapping);
  room_ = records;
  return {};
}

void LedgerFile::unmap() {
  if (lines_ != nullptr) ::munmap(std::exchange(lines_, nullptr), room_ * sizeof(LedgerRecord));
  room_ = 0;
}

// Writes a new file beside the old one, which then takes its name.
Status LedgerFile::replace(std::span<const LedgerRecord> records) {
  const std::string fresh = fresh_name(name_);
  Result<FileDescriptor> file = directory_.open_file(fresh, O_RDWR | O_CREAT | O_TRUNC);
  if (!file.ok()) return file.status();
  LedgerFile next(directory_, fresh, std::move(file).value());
  Status status = next.grow();
  for (const LedgerRecord& record : records) {
    if (status.ok()) status = next.append(record);
  }
  if (status.ok() && ::renameat(directory_.fd(), fresh.c_str(), directory_.fd(), name_.c_str()) != 0) {
    status = next.failed("rename", errno);
  }
  if (!status.ok()) {
    (void)directory_.remove_file(fresh);  // its memory is needed
    return status;
  }
  std::swap(file_, next.file_);
  std::swap(lines_, next.lines_);
  std::swap(room_, next.room_);
  std::swap(written_, next.written_);
  return {};
}

void LedgerFile::remove() {
  unmap();
  file_.close();
  (void)directory_.remove_file(name_);
}

Status LedgerFile::failed(const char* what, int error) const {
  return Status::of_errno(what, directory_.path_of(name_), error);
}

}  // namespace tailrace::impl
