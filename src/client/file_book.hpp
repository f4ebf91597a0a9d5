// FileBook: the client's side of its FileLog. It knows the record of each raw file, and what the client itself counts
// and times of it. A path keeps its record while it is among the latest that were opened. Runs on the client's
// thread.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/histogram.hpp"
#include "channel/file_log.hpp"

namespace tailrace::impl {

class FileBook {
 public:
  struct Times {
    Histogram handover;  // of a file_write
    Histogram waiting;   // of a file_read, file_sync or file_close
  };
  struct Figures {
    FileFigures counts;
    std::string path;              // complete; empty: the counts are not of a single raw file
    const Times* times = nullptr;  // null: the counts are of the files of iterations
  };

  explicit FileBook(FileLog log) : log_(log) {}

  // Returns the record for a file that is about to be opened; kOthers if open files use all others.
  uint32_t choose(const std::string& path) const;
  // Notes that the file with that record was opened.
  void opened(uint32_t record, const std::string& path);
  // Notes a close of the file.
  void closed(uint32_t record) { --entries_[record].users; }

  FileRecord& counts(uint32_t record) { return log_.at(record); }
  Times& times(uint32_t record) { return *entries_[record].times; }
  // Returns the figures of all records.
  std::vector<Figures> figures() const;

 private:
  struct Entry {
    std::string path;
    uint64_t opened = 0;  // number of its latest opening; 0: the record is free
    uint32_t users = 0;
    std::unique_ptr<Times> times;
  };

  // Used by the client's thread only.
  FileLog log_;
  uint64_t openings_ = 0;
  std::array<Entry, FileLog::kKept + 1> entries_;  // by record, kOthers included
};

}  // namespace tailrace::impl
