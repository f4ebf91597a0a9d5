#include "server/raw_files/file_meter.hpp"

namespace tailrace::impl {
namespace {

void add(Tally& to, uint64_t now, uint64_t& seen) {
  to.add(now - seen);
  seen = now;
}

}  // namespace

FileMeter::FileMeter(FileLog log, const Engine& engine) : log_(log), engine_(engine) {
  FileRecord unused;
  note(unused, engine_.sizes_of_published(), iterations_);
}

void FileMeter::opened(uint32_t record, FileId file) {
  Seen& seen = open_[{record, file}];
  if (seen.users++ > 0) return;
  FileRecord unused;
  note(unused, engine_.sizes(file), seen);
}

void FileMeter::closed(uint32_t record, FileId file) {
  look(record, file);
  const auto found = open_.find({record, file});
  if (--found->second.users == 0) open_.erase(found);
}

void FileMeter::look(uint32_t record, FileId file) {
  note(log_.at(record), engine_.sizes(file), open_.at({record, file}));
}

void FileMeter::look_at_iterations() {
  FileRecord& record = log_.at(FileLog::kIterations);
  note(record, engine_.sizes_of_published(), iterations_);
  // release: partner of the acquire in FileLog::read().
  if (record.before.most() > 0) record.version.store(2, std::memory_order_release);
}

void FileMeter::note(FileRecord& record, const Engine::Sizes& sizes, Seen& seen) {
  const SizeHistogram::Figures before = sizes.before.read();
  const SizeHistogram::Figures after = sizes.after.read();
  record.before.add(before, seen.before);
  record.after.add(after, seen.after);
  seen.before = before;
  seen.after = after;
  add(record.merged, sizes.merged, seen.merged);
  add(record.overwritten, sizes.overwritten, seen.overwritten);
  add(record.stolen, sizes.stolen, seen.stolen);
  add(record.sieved, sizes.sieved, seen.sieved);
}

}  // namespace tailrace::impl
