// FileLog: statistics of each of a client's files. It counts the sizes of requests and of the resulting accesses, and
// the bytes that needed no storage.
//
// It consists of fixed-width records in memory that both sides see: one for each of the latest raw files, one for all
// earlier raw files together, and one for all iteration files together. The client assigns a record to each raw file,
// and reassigns it when neither side has the file open. Each number of a file grows by itself; the client writes some
// and the server others. Any process that maps the records may read them; a version lets such readers detect a
// reassignment. Nothing in the records affects the server's decisions.
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

  std::atomic<uint64_t> version{0};  // 0: never used; odd: being reassigned to another file
  // Ends with a NUL; a longer path is stored without its beginning.
  std::array<std::atomic<uint64_t>, kPathWords> path{};
  // Written by the client, about its own calls.
  Tally writes;
  Tally bytes_written;
  Tally reads;
  Tally bytes_read;
  Tally served;  // bytes of reads copied from the memory of its own pending writes, without the server
  // Written by the server, about its work on the file while this client had it open, for any of its clients.
  Tally merged;          // requests written or read together with others
  Tally overwritten;     // bytes never written, since a later write of the same client replaced them
  Tally stolen;          // bytes of reads copied from the memory of pending writes
  Tally sieved;          // bytes read in vain: holes between requested bytes
  SizeHistogram before;  // pieces of requests
  SizeHistogram after;   // accesses of storage
};
static_assert(offsetof(FileRecord, writes) == 264);
static_assert(offsetof(FileRecord, before) == 336);
static_assert(sizeof(FileRecord) == 336 + 2 * 400);

// A snapshot of a record.
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
  uint64_t stolen = 0;  // including what the client served itself
  uint64_t sieved = 0;
  SizeHistogram::Figures before;
  SizeHistogram::Figures after;
};

class FileLog {
 public:
  static constexpr uint32_t kKept = kKeptFileRecords;  // raw files
  static constexpr uint32_t kOthers = kKept;           // of the raw files that gave up their records
  static constexpr uint32_t kIterations = kKept + 1;   // of iteration files

  struct Shared {
    alignas(64) std::array<FileRecord, kKept + 2> records;
  };

  // Borrows `shared`.
  explicit FileLog(Shared& shared) : shared_(&shared) {}

  FileRecord& at(uint32_t record) { return shared_->records[record]; }
  // Assigns a record to a file, and adds its old counts to those of the other files. Only the client calls it, while
  // neither side has the record's old file open.
  void give(uint32_t record, std::string_view path);
  // Counts a file with the others from the start. Only the client calls it. If both sides add there at once, an
  // addition may be lost.
  void use_others();

  // Reads a record; none if it is unused, or was reassigned during the read. Anybody may call it.
  std::optional<FileFigures> read(uint32_t record) const { return read(*shared_, record); }
  static std::optional<FileFigures> read(const Shared& shared, uint32_t record);
  // Reads all records in use; the others and the iterations come last.
  static std::vector<FileFigures> read(const Shared& shared);

 private:
  Shared* shared_;
};

}  // namespace tailrace::impl
