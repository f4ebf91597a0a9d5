#include "client/file_book.hpp"

#include <utility>

#include "base/status.hpp"

namespace tailrace::impl {

uint32_t FileBook::choose(const std::string& path) const {
  uint32_t oldest = FileLog::kKept;
  for (uint32_t record = 0; record < FileLog::kKept; ++record) {
    const Entry& entry = entries_[record];
    if (entry.opened > 0 && entry.path == path) return record;
    const bool free = entry.users == 0;
    if (free && (oldest == FileLog::kKept || entry.opened < entries_[oldest].opened)) oldest = record;
  }
  return oldest < FileLog::kKept ? oldest : FileLog::kOthers;
}

void FileBook::opened(uint32_t record, const std::string& path) {
  Entry& entry = entries_[record];
  if (record == FileLog::kOthers) {
    if (!entry.times) entry.times = std::make_unique<Times>();
    log_.use_others();
  } else if (entry.opened == 0 || entry.path != path) {
    Entry& others = entries_[FileLog::kOthers];
    if (entry.times) {
      if (!others.times) others.times = std::make_unique<Times>();
      others.times->handover.add(entry.times->handover);
      others.times->waiting.add(entry.times->waiting);
    }
    entry.times = std::make_unique<Times>();
    entry.path = path;
    log_.give(record, path);
  }
  entry.opened = ++openings_;
  ++entry.users;
}

std::vector<FileBook::Figures> FileBook::figures() const {
  std::vector<Figures> all;
  for (uint32_t record = 0; record < FileLog::kKept + 2; ++record) {
    auto counts = log_.read(record);
    if (!counts) continue;
    const Entry* const entry = record == FileLog::kIterations ? nullptr : &entries_[record];
    all.push_back({std::move(*counts), entry ? entry->path : "", entry ? entry->times.get() : nullptr});
  }
  return all;
}

}  // namespace tailrace::impl
