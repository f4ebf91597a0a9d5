#include "channel/file_log.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tailrace::impl {
namespace {

constexpr size_t kWord = sizeof(uint64_t);

// release and acquire as in IterationLog: a reader that sees a number of the next file also sees that the version had
// become odd before.
constexpr auto kRelease = std::memory_order_release;
constexpr auto kAcquire = std::memory_order_acquire;

constexpr Tally FileRecord::*kTallies[] = {&FileRecord::writes,      &FileRecord::bytes_written, &FileRecord::reads,
                                           &FileRecord::bytes_read,  &FileRecord::served,        &FileRecord::merged,
                                           &FileRecord::overwritten, &FileRecord::stolen,        &FileRecord::sieved};

void put_path(FileRecord& record, std::string_view path) {
  constexpr size_t most = FileRecord::kPathWords * kWord - 1;
  if (path.size() > most) path.remove_prefix(path.size() - most);
  std::array<uint64_t, FileRecord::kPathWords> words{};
  std::memcpy(words.data(), path.data(), path.size());
  for (size_t i = 0; i < words.size(); ++i) record.path[i].store(words[i], kRelease);
}

std::string path_of(const FileRecord& record) {
  std::array<char, FileRecord::kPathWords * kWord> bytes{};
  for (size_t i = 0; i < record.path.size(); ++i) {
    const uint64_t word = record.path[i].load(kAcquire);
    std::memcpy(bytes.data() + i * kWord, &word, kWord);
  }
  // A faulty client may have written no NUL.
  return {bytes.data(), std::find(bytes.begin(), bytes.end(), '\0')};
}

void add(FileRecord& to, const FileRecord& from) {
  for (Tally FileRecord::*tally : kTallies) (to.*tally).add((from.*tally).get());
  to.before.add(from.before.read(), {});
  to.after.add(from.after.read(), {});
}

}  // namespace

void FileLog::use_others() { at(kOthers).version.store(2, kRelease); }

void FileLog::give(uint32_t record, std::string_view path) {
  FileRecord& of = at(record);
  const uint64_t version = of.version.load(std::memory_order_relaxed);
  if (version != 0) {
    add(at(kOthers), of);
    at(kOthers).version.store(2, kRelease);
  }
  of.version.store(version + 1, std::memory_order_relaxed);
  for (Tally FileRecord::*tally : kTallies) (of.*tally).set(0, kRelease);
  of.before.clear();
  of.after.clear();
  put_path(of, path);
  of.version.store(version + 2, kRelease);
}

std::optional<FileFigures> FileLog::read(const Shared& shared, uint32_t record) {
  const FileRecord& from = shared.records[record];
  const uint64_t version = from.version.load(kAcquire);
  if (version == 0 || version % 2 == 1) return std::nullopt;
  FileFigures figures;
  if (record == kOthers) figures.kind = FileFigures::Kind::others;
  if (record == kIterations) figures.kind = FileFigures::Kind::iterations;
  figures.path = path_of(from);
  figures.writes = from.writes.get(kAcquire);
  figures.bytes_written = from.bytes_written.get(kAcquire);
  figures.reads = from.reads.get(kAcquire);
  figures.bytes_read = from.bytes_read.get(kAcquire);
  figures.merged = from.merged.get(kAcquire);
  figures.overwritten = from.overwritten.get(kAcquire);
  figures.stolen = from.served.get(kAcquire) + from.stolen.get(kAcquire);
  figures.sieved = from.sieved.get(kAcquire);
  figures.before = from.before.read(kAcquire);
  figures.after = from.after.read(kAcquire);
  // relaxed: the acquires above keep this load behind them.
  if (from.version.load(std::memory_order_relaxed) != version) return std::nullopt;
  return figures;
}

std::vector<FileFigures> FileLog::read(const Shared& shared) {
  std::vector<FileFigures> all;
  for (uint32_t record = 0; record < shared.records.size(); ++record) {
    if (auto figures = read(shared, record)) all.push_back(std::move(*figures));
  }
  return all;
}

}  // namespace tailrace::impl
