#include "mpiio/pending/pending.hpp"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>

#include "mpiio/process/process.hpp"
#include "process_client/made_once.hpp"
#include "process_client/own_thread.hpp"

namespace tailrace::mpiio {
namespace {

constexpr size_t kMostPatterns = 32;       // of one access
constexpr useconds_t kBetweenLooks = 100;  // microseconds
constexpr BytePattern kAllBytes{0, UINT64_MAX, 0, 1};

// Never destroyed: MPI closes files very late.
process::MadeOnce<Pending>& made() {
  static auto* const only = new process::MadeOnce<Pending>;
  return *only;
}

}  // namespace

Pending& Pending::instance() {
  [[maybe_unused]] static const int forks = ::pthread_atfork(nullptr, nullptr, forget_in_child);
  return made().get();
}

// The child has nothing on its way. Its copy of the descriptor would keep the parent's slot.
void Pending::forget_in_child() {
  if (Pending* const parents = made().made()) parents->table_.leave_to_parent();
  made().forget();
}

Pending::Pending() : table_(NodeTable::default_path(), process::wait_for_departed) {}

// Starts the thread with the first bytes: until then, others have nothing to ask for.
Pending::HandingOver::HandingOver(const FileKey& file, std::span<const tailrace_extent> extents, uint64_t access,
                                  bool lasts) {
  Pending& pending = instance();
  std::unique_lock lock(pending.mutex_);
  while (!pending.has_room()) {
    lock.unlock();
    (void)pending.flush_client();  // failures belong to the files
    lock.lock();
  }
  if (!pending.answers_) {
    process::start_own_thread("tailrace-answer", [&pending] { pending.answer_others(); });
    pending.answers_ = true;
  }
  number_ = ++pending.number_;
  (lasts ? pending.lasting_ : pending.handing_over_).insert(number_);
  for (const BytePattern& bytes : patterns_of(extents, kMostPatterns)) pending.put(file, bytes, access);
}

Pending::HandingOver::~HandingOver() {
  Pending& pending = instance();
  const std::lock_guard lock(pending.mutex_);
  pending.handing_over_.erase(number_);
  if (pending.lasting_.erase(number_) > 0) pending.forget_up_to(pending.written_);
}

// Joins bytes that go on where those of the latest hand-over end, as parts of a large access do.
void Pending::put(const FileKey& file, const BytePattern& bytes, uint64_t access) {
  if (!entries_.empty() && entries_.back().file == file && entries_.back().access == access) {
    Entry& last = entries_.back();
    if (const std::optional<BytePattern> both = join(last.bytes, bytes, access != 0)) {
      last.bytes = *both;
      last.number = number_;
      return show(entries_.size() - 1);
    }
  }
  entries_.push_back({file, bytes, number_, access, number_});
  show(entries_.size() - 1);
}

// Returns true if there is room for one more access. To make room, forgets what is written; if that is not enough,
// describes each collective access by one pattern without gaps; and if that is not enough, each file.
bool Pending::has_room() {
  constexpr size_t kMost = NodeTable::kEntries - kMostPatterns;
  if (entries_.size() <= kMost) return true;
  look();
  set_mark();
  if (entries_.size() > kMost)
    join_entries(
        [](const Entry& one, const Entry& other) { return one.file == other.file && one.access == other.access; });
  if (entries_.size() > kMost)
    join_entries([](const Entry& one, const Entry& other) { return one.file == other.file; });
  return entries_.size() <= kMost;
}

void Pending::join_entries(bool (*alike)(const Entry& one, const Entry& other)) {
  std::vector<Entry> joined;
  for (const Entry& entry : entries_) {
    auto same = std::find_if(joined.begin(), joined.end(), [&](const Entry& one) { return alike(one, entry); });
    if (same == joined.end()) same = joined.insert(same, entry);
    const uint64_t begin = std::min(same->bytes.begin, entry.bytes.begin);
    const uint64_t end = std::max(same->bytes.end(), entry.bytes.end());
    const uint64_t access = same->access == entry.access ? entry.access : 0;
    *same = {entry.file,
             {begin, end - begin, 0, 1},
             std::max(same->number, entry.number),
             access,
             std::min(same->first, entry.first)};
  }
  entries_ = std::move(joined);
  show(0);
}

// Puts entries from `from` on into the own slot.
void Pending::show(size_t from) {
  table_.begin_change();
  for (size_t i = from; i < entries_.size(); ++i) {
    table_.set(static_cast<uint32_t>(i), entries_[i].file, entries_[i].bytes, entries_[i].access);
  }
  table_.set_count(static_cast<uint32_t>(entries_.size()));
  table_.end_change();
}

// Returns the number up to which everything has been handed over.
uint64_t Pending::handed() const { return handing_over_.empty() ? number_ : *handing_over_.begin() - 1; }

void Pending::set_mark() {
  if (mark_.has_value() || entries_.empty()) return;
  const uint64_t before = handed();
  if (const std::optional<uint64_t> mark = carrier().mark()) mark_ = {*mark, before};
}

// Forgets what is written: at the end of the process, everything.
void Pending::look() {
  if (carrier().has_ended()) forget_up_to(number_);
  if (!mark_.has_value() || !carrier().reached(mark_->mark)) return;
  const uint64_t written = mark_->handed;
  mark_.reset();
  forget_up_to(written);
}

void Pending::forget_up_to(uint64_t number) {
  if (const TellFailures how = tell_failures_.load(std::memory_order_acquire)) how();
  written_ = std::max(written_, number);
  const auto is_over = [&](const Entry& entry) {
    const auto lasting = lasting_.lower_bound(entry.first);
    return entry.number <= number && (lasting == lasting_.end() || *lasting > entry.number);
  };
  if (std::erase_if(entries_, is_over) > 0) show(0);
}

bool Pending::has(const FileKey& file) { return has(file, 0, UINT64_MAX); }

bool Pending::has(const FileKey& file, uint64_t begin, uint64_t end) {
  const std::lock_guard lock(mutex_);
  const auto touches = [&](const Entry& entry) {
    return file.concerns(entry.file) && entry.bytes.begin < end && entry.bytes.end() > begin;
  };
  if (std::none_of(entries_.begin(), entries_.end(), touches)) return false;
  look();
  set_mark();
  return std::any_of(entries_.begin(), entries_.end(), touches);
}

uint64_t Pending::end_of(const FileKey& file) {
  const std::lock_guard lock(mutex_);
  uint64_t end = 0;
  for (const Entry& entry : entries_) {
    if (entry.file == file) end = std::max(end, entry.bytes.end());
  }
  return end;
}

bool Pending::has_any() {
  Pending* const pending = made().made();
  if (pending == nullptr) return false;
  const std::lock_guard lock(pending->mutex_);
  return !pending->entries_.empty();
}

Refusal Pending::flush() {
  hand_over(FileKey(), {&kAllBytes, 1}, 0);
  return flush_client();
}

Refusal Pending::flush_client() {
  uint64_t before = 0;
  {
    const std::lock_guard lock(mutex_);
    before = handed();
  }
  Refusal refused = carrier().flush();
  const std::lock_guard lock(mutex_);
  forget_up_to(before);
  return refused;
}

void Pending::wait_for_others(const FileKey& file, std::span<const tailrace_extent> extents, uint64_t access) {
  wait_for(file, patterns_of(extents, kMostPatterns), access);
}

void Pending::wait_for_others(const FileKey& file) { wait_for(file, {&kAllBytes, 1}, 0); }

void Pending::wait_for_all(const FileKey& file, std::span<const tailrace_extent> extents, uint64_t access) {
  const std::vector<BytePattern> bytes = patterns_of(extents, kMostPatterns);
  wait_for(file, bytes, access);
  const auto touches = [&](const Entry& entry) {
    if (!(entry.file == file) || entry.access == access) return false;
    return std::any_of(bytes.begin(), bytes.end(), [&](const BytePattern& one) { return touch(one, entry.bytes); });
  };
  std::unique_lock lock(mutex_);
  look();
  if (std::none_of(entries_.begin(), entries_.end(), touches)) return;
  lock.unlock();
  (void)flush_client();  // failures belong to the file
}

void Pending::settle_all() {
  if (has_any()) (void)flush();  // failures belong to the files
  wait_for_others(FileKey());
}

// Looks once more if it has asked any, or if bytes have gone from one process to another, out of a node's buffer: the
// other one may have been looked at before. Bytes do so once.
void Pending::wait_for(const FileKey& file, std::span<const BytePattern> bytes, uint64_t access) {
  if (!keeps_order()) return;
  hand_over(file, bytes, access);
  for (int passes = 0; passes < 2; ++passes) {
    const uint64_t moves = table_.moves();
    bool has_asked = false;
    uint32_t from = 0;
    while (const std::optional<NodeTable::Process> other = table_.find(from, file, bytes, access)) {
      table_.ask(*other);
      from = other->slot + 1;
      has_asked = true;
    }
    if (!has_asked && table_.moves() == moves) return;
  }
}

void Pending::hand_over(const FileKey& file, std::span<const BytePattern> bytes, uint64_t access) {
  if (const HandOver how = hand_over_.load(std::memory_order_acquire)) how(file, bytes, access);
}

// Polls, because a flush would keep the program from handing over more meanwhile.
void Pending::answer_others() {
  for (;;) {
    table_.wait_for_questions();
    hand_over(FileKey(), {&kAllBytes, 1}, 0);
    uint64_t last = 0;
    {
      const std::lock_guard lock(mutex_);
      last = number_;
    }
    while (!has_written(last)) ::usleep(kBetweenLooks);
    table_.answer();
  }
}

// Returns true if the hand-overs up to this number are written. (The entries do not show it: an entry that later
// hand-overs were joined to has the number of the last one.)
bool Pending::has_written(uint64_t number) {
  const std::lock_guard lock(mutex_);
  look();
  if (written_ >= number || entries_.empty()) return true;
  set_mark();
  return false;
}

}  // namespace tailrace::mpiio
