// FileLog: what has become of the requests about each of a client's files: how long they were, how long what was made
// of them, and which bytes needed no storage.
//
// Fixed-width records in memory that both sides see: of the raw files that were opened last, one by one; of those
// before them, together; of the files of iterations, together. The client says which record a raw file has, and
// gives it to another when neither side has the file open; a file's numbers grow one by one, each by itself, some
// written by the client and some by the server. Read by anybody who maps them: for those who only look on, a record
// has a version. What lies there decides nothing.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/histogram.hpp"
#include "base/size_histogram.hpp"
#include "model/wire/file_wire.hpp"

namespace tailrace::impl {

struct FileRecord {
  static constexpr size_t kPathWords = 32;

  std::atomic<uint64_t> version{0};  // 0: never used; odd: just being given to another file
  // Ended by a NUL; of a longer path, its end.
  std::array<std::atomic<uint64_t>, kPathWords> path{};
  // By the client, of its own calls.
  Tally writes;
  Tally bytes_written;
  Tally reads;
  Tally bytes_read;
  Tally served;  // bytes of reads that came from the memory of its own pending writes, without the server
  // By the server, of what it did with the file while this client had it open, whoever of its clients asked.
  Tally merged;          // requests that went to storage together with others
  Tally overwritten;     // bytes never written, since a later write of the same client had them
  Tally stolen;          // bytes of reads that came from the memory of pending writes
  Tally sieved;          // bytes read for nothing: holes between bytes that were wanted
  SizeHistogram before;  // pieces of requests
  SizeHistogram after;   // accesses of storage
};
static_assert(offsetof(FileRecord, writes) == 264);
static_assert(offsetof(FileRecord, before) == 336);
static_assert(sizeof(FileRecord) == 336 + 2 * 400);

// The contents of a record at one moment.
struct FileFigures {
  enum class Kind : uint8_t { raw, others, iterations };
  Kind kind = Kind::raw;
  std::string path;
  uint64_t writes = 0;
  uint64_t bytes_written = 0;
  uint64_t reads = 0;
  uint64_t bytes_read = 0;
  uint64_t merged = 0;
  uint64_t overwritten = 0;
  uint64_t stolen = 0;  // with what the client served itself
  uint64_t sieved = 0;
  SizeHistogram::Figures before;
  SizeHistogram::Figures after;
};

class FileLog {
 public:
  static constexpr uint32_t kKept = kKeptFileRecords;  // raw files
  static constexpr uint32_t kOthers = kKept;           // the record of raw files that gave theirs up
  static constexpr uint32_t kIterations = kKept + 1;   // of the files of iterations

  struct Shared {
    alignas(64) std::array<FileRecord, kKept + 2> records;
  };

  // Borrowed.
  explicit FileLog(Shared& shared) : shared_(&shared) {}

  FileRecord& at(uint32_t record) { return shared_->records[record]; }
  // The client: neither side has the record's file open. What was counted of that goes to the others.
  void give(uint32_t record, std::string_view path);
  // The client: a file is counted with the others from the start. Where both sides count there at once, an addition
  // may be lost.
  void use_others();

  // Anybody: nothing if the record is not in use, or was given to another file while it was read.
  std::optional<FileFigures> read(uint32_t record) const { return read(*shared_, record); }
  static std::optional<FileFigures> read(const Shared& shared, uint32_t record);
  // All that are in use; the others and the iterations last.
  static std::vector<FileFigures> read(const Shared& shared);

 private:
  Shared* shared_;
};

}  // namespace tailrace::impl
