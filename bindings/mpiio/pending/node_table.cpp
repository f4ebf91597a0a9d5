#include "mpiio/pending/node_table.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <new>
#include <utility>

namespace tailrace::mpiio {
namespace {

constexpr uint32_t kVersion = 4;
constexpr timespec kAnswerWithin{0, 20'000'000};  // then the asker looks whether the process still lives
constexpr int kLong = 500;                        // such times, after which the asker says for which process it waits
constexpr int kMakerTries = 1000;                 // of a millisecond each, to wait for the maker of the table
constexpr uint64_t kMagic = 0x7461696c72616365;   // at the beginning of a table

// The bytes of the file that are locked: one while the table is being made, and one for each slot. They lie behind
// the table.
constexpr off_t kMakerLock = off_t{1} << 40;
off_t lock_of(uint32_t slot) { return kMakerLock + 1 + slot; }

struct flock byte_at(off_t at, short type) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = at;
  lock.l_len = 1;
  return lock;
}

// Not private: other processes wait for the same word.
void wait_while(const std::atomic<uint32_t>& word, uint32_t value, const timespec* at_most) {
  ::syscall(SYS_futex, &word, FUTEX_WAIT, value, at_most, nullptr, 0);
}

void wake_all(const std::atomic<uint32_t>& word) {
  ::syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

uint64_t random_number() {
  uint64_t number = 0;
  while (::getrandom(&number, sizeof number, 0) < 0 && errno == EINTR) {
  }
  return number;
}

}  // namespace

// The words of an entry are read while they may be written; Slot::version tells whether they belong together.
struct NodeTable::Entry {
  std::atomic<uint64_t> device;
  std::atomic<uint64_t> inode;
  std::atomic<uint64_t> begin;
  std::atomic<uint64_t> length;
  std::atomic<uint64_t> step;
  std::atomic<uint64_t> count;
  std::atomic<uint64_t> access;
};

struct alignas(64) NodeTable::Slot {
  std::atomic<uint32_t> process;   // its id, for messages
  std::atomic<uint32_t> version;   // odd while the slot is being changed
  std::atomic<uint32_t> used;      // entries
  std::atomic<uint32_t> asked;     // questions; a futex
  std::atomic<uint32_t> answered;  // questions, the first of all; a futex
  std::atomic<uint32_t> life;      // how many processes have had the slot
  Entry entries[kEntries];

  // Returns true if a process that has ended left anything here. Call with the lock of the slot.
  bool has_left_overs() const {
    return used.load(std::memory_order_relaxed) != 0 || version.load(std::memory_order_relaxed) % 2 != 0;
  }
  int number() const { return static_cast<int>(process.load(std::memory_order_relaxed)); }
  // Empties the slot, whose process may have ended in the midst of a change. Release: see end_change().
  void clear() {
    const uint32_t changing = version.load(std::memory_order_relaxed) | 1u;
    version.store(changing, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    used.store(0, std::memory_order_relaxed);
    version.store(changing + 1, std::memory_order_release);
  }
};

struct alignas(64) NodeTable::Table {
  uint64_t magic;              // constant after the table was made …
  uint64_t number;             // … as this is
  std::atomic<uint32_t> high;  // slots that have ever been taken
  std::atomic<uint64_t> moves;
  Slot slots[kSlots];
};

std::string NodeTable::default_path() {
  const char* const named = std::getenv("TAILRACE_RUNTIME_DIR");
  const std::string directory =
      named != nullptr && *named != '\0' ? std::string(named) : "/dev/shm/tailrace-" + std::to_string(::getuid());
  return directory + ".pending-" + std::to_string(kVersion);
}

NodeTable::NodeTable(const std::string& path, WaitForDeparted wait_for_departed)
    : wait_for_departed_(wait_for_departed) {
  static_assert(std::atomic<uint64_t>::is_always_lock_free && std::atomic<uint32_t>::is_always_lock_free);
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (descriptor >= 0 && prepare(descriptor) && map(descriptor)) {
    descriptor_ = descriptor;
    take_slot();
    if (own_ != nullptr) return;
    ::munmap(table_, sizeof(Table));
    descriptor_ = -1;
  }
  if (descriptor >= 0) ::close(descriptor);
  if (!map(-1)) throw std::bad_alloc();
  table_->number = random_number();
  table_->high.store(1, std::memory_order_relaxed);
  own_ = &table_->slots[0];
}

NodeTable::~NodeTable() {
  ::munmap(table_, sizeof(Table));
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool NodeTable::map(int descriptor) {
  const int kind = descriptor >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
  void* const at = ::mmap(nullptr, sizeof(Table), PROT_READ | PROT_WRITE, kind, descriptor, 0);
  if (at == MAP_FAILED) return false;
  table_ = static_cast<Table*>(at);
  return true;
}

// Makes the table if the file is new. Returns false if the file is another user's, open to others, no table, or if
// its memory cannot be had: a page that is missing when it is written to would end the program.
bool NodeTable::prepare(int descriptor) {
  struct stat found {};
  if (::fstat(descriptor, &found) != 0 || !S_ISREG(found.st_mode) || found.st_uid != ::geteuid() ||
      (found.st_mode & 077) != 0) {
    return false;
  }
  struct flock maker = byte_at(kMakerLock, F_WRLCK);
  for (int tries = 0; ::fcntl(descriptor, F_OFD_SETLK, &maker) != 0; ++tries) {
    if (tries == kMakerTries) return false;
    ::usleep(1000);
  }
  uint64_t begin[2] = {kMagic, random_number()};
  bool good = ::fstat(descriptor, &found) == 0;
  if (good && found.st_size == 0) {
    good = ::posix_fallocate(descriptor, 0, sizeof(Table)) == 0 &&
           ::pwrite(descriptor, begin, sizeof begin, 0) == sizeof begin;
    if (!good) (void)!::ftruncate(descriptor, 0);
  } else if (good) {
    good = static_cast<uint64_t>(found.st_size) == sizeof(Table) &&
           ::pread(descriptor, begin, sizeof begin, 0) == sizeof begin && begin[0] == kMagic;
  }
  maker.l_type = F_UNLCK;
  ::fcntl(descriptor, F_OFD_SETLK, &maker);
  return good;
}

// Takes a free slot. One that shows what a process left, and what is not written yet, is taken last: a process that
// touches these bytes waits for them.
void NodeTable::take_slot() {
  for (const bool even_if_not_written : {false, true}) {
    for (uint32_t slot = 0; slot < kSlots; ++slot) {
      if (take_slot(slot, even_if_not_written)) return;
    }
  }
}

bool NodeTable::take_slot(uint32_t slot, bool even_if_not_written) {
  struct flock lock = byte_at(lock_of(slot), F_WRLCK);
  if (::fcntl(descriptor_, F_OFD_SETLK, &lock) != 0) return false;
  Slot& of = table_->slots[slot];
  if (of.has_left_overs() && !even_if_not_written && !wait_for_departed_(of.number(), true)) {
    lock.l_type = F_UNLCK;
    ::fcntl(descriptor_, F_OFD_SETLK, &lock);
    return false;
  }
  own_ = &of;
  own_->process.store(static_cast<uint32_t>(::getpid()), std::memory_order_relaxed);
  // seq_cst: an asker that does not see this life has asked before `asked` is read below. Partner: ask().
  own_->life.fetch_add(1, std::memory_order_seq_cst);
  own_->clear();
  heard_ = own_->asked.load(std::memory_order_seq_cst);
  answer();
  uint32_t high = table_->high.load(std::memory_order_relaxed);
  while (high <= slot && !table_->high.compare_exchange_weak(high, slot + 1, std::memory_order_relaxed)) {
  }
  return true;
}

uint64_t NodeTable::number() const { return table_->number; }

// The fence keeps the changes behind the odd version: a reader that sees one of them sees that, too. Partner: the
// acquire fence in has().
void NodeTable::begin_change() {
  own_->version.store(own_->version.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
}

void NodeTable::set(uint32_t entry, const FileKey& file, const BytePattern& bytes, uint64_t access) {
  Entry& to = own_->entries[entry];
  to.device.store(file.device, std::memory_order_relaxed);
  to.inode.store(file.inode, std::memory_order_relaxed);
  to.begin.store(bytes.begin, std::memory_order_relaxed);
  to.length.store(bytes.length, std::memory_order_relaxed);
  to.step.store(bytes.step, std::memory_order_relaxed);
  to.count.store(bytes.count, std::memory_order_relaxed);
  to.access.store(access, std::memory_order_relaxed);
}

void NodeTable::set_count(uint32_t entries) { own_->used.store(entries, std::memory_order_relaxed); }

// Release: a reader that sees the new version sees the changes. Partner: the acquire loads in has().
void NodeTable::end_change() {
  own_->version.store(own_->version.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

// Release, and acquire: a reader that sees the first process's slot without the bytes has seen that the other one has
// them by way of the buffer's block, and so sees this count.
void NodeTable::note_move() { table_->moves.fetch_add(1, std::memory_order_release); }

uint64_t NodeTable::moves() const { return table_->moves.load(std::memory_order_acquire); }

std::optional<NodeTable::Process> NodeTable::find(uint32_t from, const FileKey& file,
                                                  std::span<const BytePattern> bytes, uint64_t access) const {
  const uint32_t high = std::min(table_->high.load(std::memory_order_relaxed), kSlots);
  for (uint32_t slot = from; slot < high; ++slot) {
    const Slot& other = table_->slots[slot];
    const uint32_t life =
        other.life.load(std::memory_order_acquire);  // before the bytes, which may be a later life's
    if (&other != own_ && has(other, file, bytes, access)) return Process{slot, life};
  }
  return std::nullopt;
}

// Reads until no change has come between. Returns true for a process that has ended in the midst of a change.
bool NodeTable::has(const Slot& slot, const FileKey& file, std::span<const BytePattern> bytes,
                    uint64_t access) const {
  constexpr int kTries = 1000;
  for (int tries = 0; tries < kTries; ++tries) {
    const uint32_t version = slot.version.load(std::memory_order_acquire);
    if (version % 2 != 0) {
      if (!is_held(static_cast<uint32_t>(&slot - table_->slots))) return true;
      ::usleep(1);
      continue;
    }
    bool found = false;
    const uint32_t used = std::min(slot.used.load(std::memory_order_relaxed), kEntries);
    for (uint32_t i = 0; i < used && !found; ++i) {
      const Entry& entry = slot.entries[i];
      const FileKey other{entry.device.load(std::memory_order_relaxed), entry.inode.load(std::memory_order_relaxed)};
      if (!file.concerns(other)) continue;
      if (access != 0 && entry.access.load(std::memory_order_relaxed) == access) continue;
      const BytePattern pending{
          entry.begin.load(std::memory_order_relaxed), entry.length.load(std::memory_order_relaxed),
          entry.step.load(std::memory_order_relaxed), entry.count.load(std::memory_order_relaxed)};
      const bool is_sound = pending.length > 0 && pending.count > 0 && (pending.count == 1 || pending.step > 0);
      found = is_sound && std::any_of(bytes.begin(), bytes.end(),
                                      [&pending](const BytePattern& one) { return touch(one, pending); });
    }
    std::atomic_thread_fence(std::memory_order_acquire);
    if (slot.version.load(std::memory_order_relaxed) == version) return found;
  }
  return true;
}

// A lock that cannot be asked for counts as held: then the process is waited for.
bool NodeTable::is_held(uint32_t slot) const {
  struct flock lock = byte_at(lock_of(slot), F_WRLCK);
  return ::fcntl(descriptor_, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

// If the process has ended, waits for what it left, and empties the slot. Returns false if it lives, or if another
// process waits so: its lock on the slot keeps others waiting meanwhile.
bool NodeTable::wait_if_ended(const Process& process) const {
  const std::lock_guard alone(departed_);
  struct flock lock = byte_at(lock_of(process.slot), F_WRLCK);
  if (::fcntl(descriptor_, F_OFD_SETLK, &lock) != 0) return false;
  Slot& left = table_->slots[process.slot];
  if (left.life.load(std::memory_order_seq_cst) == process.life && left.has_left_overs()) {
    (void)wait_for_departed_(left.number(), false);
    left.clear();
  }
  lock.l_type = F_UNLCK;
  ::fcntl(descriptor_, F_OFD_SETLK, &lock);
  wake_all(left.answered);
  return true;
}

// A process that is stopped does not answer: its bytes are not written before it continues.
void NodeTable::ask(const Process& process) const {
  const uint32_t slot = process.slot;
  Slot& other = table_->slots[slot];
  const uint32_t question = other.asked.fetch_add(1, std::memory_order_seq_cst) + 1;
  wake_all(other.asked);
  for (int times = 0;; ++times) {
    // The process has ended, and no process needs to wait for the one that has its slot now.
    if (other.life.load(std::memory_order_seq_cst) != process.life) return;
    const uint32_t answered = other.answered.load(std::memory_order_acquire);
    if (static_cast<int32_t>(answered - question) >= 0 || wait_if_ended(process)) return;
    if (times == kLong) {
      std::fprintf(stderr, "tailrace: process %d waits for process %u, which has bytes of a file on their way\n",
                   ::getpid(), other.process.load(std::memory_order_relaxed));
    }
    wait_while(other.answered, answered, &kAnswerWithin);
  }
}

void NodeTable::wait_for_questions() {
  uint32_t asked = 0;
  while ((asked = own_->asked.load(std::memory_order_acquire)) == heard_) wait_while(own_->asked, heard_, nullptr);
  heard_ = asked;
}

// Release: a process that sees the answer sees what was written before it, and the changes of the slot. Partner: the
// acquire load in ask().
void NodeTable::answer() {
  own_->answered.store(heard_, std::memory_order_release);
  wake_all(own_->answered);
}

void NodeTable::leave_to_parent() {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

}  // namespace tailrace::mpiio
