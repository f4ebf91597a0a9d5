// FileBook: the client's side of its FileLog: which record each raw file has, and what the client itself counts and
// times of it. A path keeps its record while it is among the latest that were opened. The client's thread.
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
    std::string path;              // whole; empty: of no single raw file
    const Times* times = nullptr;  // none: of the files of iterations
  };

  explicit FileBook(FileLog log) : log_(log) {}

  // The record for a file that is about to be opened: kOthers if all others are of files that are open.
  uint32_t choose(const std::string& path) const;
  // It has been opened, with that record.
  void opened(uint32_t record, const std::string& path);
  // Returns whether nobody has it open now.
  bool closed(uint32_t record);

  // Returns true if the file has been read since it was opened.
  bool is_read(uint32_t record) const { return entries_[record].is_read; }
  void set_read(uint32_t record) { entries_[record].is_read = true; }

  FileRecord& counts(uint32_t record) { return log_.at(record); }
  Times& times(uint32_t record) { return *entries_[record].times; }
  // Returns true if the record is of one path alone.
  static bool is_of_one(uint32_t record) { return record != FileLog::kOthers; }

  // All of them.
  std::vector<Figures> figures() const;

 private:
  struct Entry {
    std::string path;
    uint64_t opened = 0;  // when, counted in openings; 0: it is nobody's
    uint32_t users = 0;
    bool is_read = false;
    std::unique_ptr<Times> times;
  };

  // The client's thread only.
  FileLog log_;
  uint64_t openings_ = 0;
  std::array<Entry, FileLog::kKept + 1> entries_;  // by record, with the others
};

}  // namespace tailrace::impl
