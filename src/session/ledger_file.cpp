#include "session/ledger_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

namespace tailrace::impl {
namespace {

std::string fresh_name(const std::string& name) { return name + ".new"; }

// Returns errno, or 0.
int put(int fd, std::span<const LedgerRecord> records, size_t at) {
  const char* bytes = reinterpret_cast<const char*>(records.data());
  size_t left = records.size_bytes();
  auto offset = static_cast<off_t>(at * sizeof(LedgerRecord));
  while (left > 0) {
    const ssize_t some = ::pwrite(fd, bytes, left, offset);
    if (some < 0 && errno == EINTR) continue;
    if (some <= 0) return some < 0 ? errno : ENOSPC;
    bytes += some;
    offset += some;
    left -= static_cast<size_t>(some);
  }
  return 0;
}

}  // namespace

Result<std::unique_ptr<LedgerFile>> LedgerFile::open(const PrivateDirectory& directory, std::string name) {
  (void)directory.remove_file(fresh_name(name));  // of a server that died while it wrote it
  Result<FileDescriptor> file = directory.open_file(name, O_RDWR | O_CREAT);
  if (!file.ok()) return file.status();
  return std::unique_ptr<LedgerFile>(new LedgerFile(directory, std::move(name), std::move(file).value()));
}

Result<std::vector<LedgerRecord>> LedgerFile::read() {
  struct stat about {};
  if (fstat(file_.get(), &about) != 0) return Status::of_errno("look at", directory_.path_of(name_), errno);
  written_ = static_cast<size_t>(about.st_size) / sizeof(LedgerRecord);
  std::vector<LedgerRecord> records(written_);
  for (size_t index = 0; index < written_; ++index) {
    LedgerRecord& record = records[index];
    const ssize_t got = ::pread(file_.get(), &record, sizeof record, static_cast<off_t>(index * sizeof record));
    if (got != sizeof record) {
      return Status::of_errno("read", directory_.path_of(name_), got < 0 ? errno : ENODATA);
    }
  }
  return records;
}

Status LedgerFile::append(const LedgerRecord& record) {
  if (const int error = put(file_.get(), {&record, 1}, written_); error != 0) {
    return Status::of_errno("write", directory_.path_of(name_), error);
  }
  ++written_;
  return {};
}

// A new file beside the old one takes its name.
Status LedgerFile::replace(std::span<const LedgerRecord> records) {
  const std::string fresh = fresh_name(name_);
  Result<FileDescriptor> file = directory_.open_file(fresh, O_RDWR | O_CREAT | O_TRUNC);
  if (!file.ok()) return file.status();
  int error = put(file.value().get(), records, 0);
  if (error == 0 && ::renameat(directory_.fd(), fresh.c_str(), directory_.fd(), name_.c_str()) != 0) error = errno;
  if (error != 0) return Status::of_errno("write", directory_.path_of(fresh), error);
  file_ = std::move(file).value();
  written_ = records.size();
  return {};
}

void LedgerFile::remove() {
  file_.close();
  (void)directory_.remove_file(name_);
}

}  // namespace tailrace::impl
