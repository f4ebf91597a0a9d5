#include "hdf5_vol/files/files.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include "hdf5_vol/files/open_files.hpp"
#include "hdf5_vol/files/small_carried.hpp"
#include "hdf5_vol/process/process.hpp"

namespace tailrace::hdf5 {
namespace {

constexpr uint64_t kFillAtOnce = uint64_t{1} << 20;  // bytes
constexpr uint64_t kLeastLent = uint64_t{1} << 20;   // bytes; to copy fewer takes less than 0.1 ms

// Never destroyed, since HDF5 ends after everything else.
OpenFiles<File>& open_files() {
  static OpenFiles<File>* const only = new OpenFiles<File>;
  return *only;
}

void before_fork() {
  Process::instance().detached().before_fork();
  open_files().before_fork();
  Process::instance().before_fork();
}

void after_fork_in_parent() {
  Process::instance().after_fork_in_parent();
  open_files().after_fork();
  Process::instance().detached().after_fork_in_parent();
}

void after_fork_in_child() {
  Process::instance().after_fork_in_child();
  for (const auto& file : open_files().all_in_fork()) file->leave_to_parent();
  open_files().after_fork();
  Process::instance().detached().after_fork_in_child();
}

// Functions that were registered later have run already, so the client has ended: nothing is carried or filtered any
// more.
void end_process() {
  finish_writes();
  if (carrier().summary()) Process::instance().report_filtered();
}

// Renames a file past the library that watches the program's calls (names/names.h): that would wait for others.
bool rename_unwatched(const std::string& from, const std::string& to, unsigned flags) {
  return ::syscall(SYS_renameat2, AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), flags) == 0;
}

}  // namespace

File::~File() {
  if (count_.fetch_sub(1, std::memory_order_relaxed) == 1) {
    SmallCarried::forget();
    unlinked_.store(false, std::memory_order_relaxed);
  }
  if (parallel_) parallel_count_.fetch_sub(1, std::memory_order_relaxed);
  for (const std::shared_ptr<File>& other : kept_) --other->objects;
  if (descriptor_ >= 0) ::close(descriptor_);
  if (state_ != State::open) return;
  send_small();
  carrier().close(raw_);
}

void File::spoil(const std::string& why) {
  if (spoilt_.empty()) spoilt_ = why;
}

// At the end of the process the client may already be closed, and everything is written that could be.
bool File::hide() {
  if (carrier().has_ended()) {
    forget_pending();
    if (carrier().has_failed(path_)) spoil("some of its data could not be written");
  }
  const bool is_on_its_way = state_ == State::open && pending();
  if ((!is_on_its_way && spoilt_.empty()) || !has_its_name()) return false;
  const std::string hidden = hidden_name_of(path_);
  hidden_ = rename_unwatched(path_, hidden, RENAME_NOREPLACE);
  return hidden_;
}

void File::show() {
  if (!hidden_) return;
  hidden_ = false;
  if (rename_unwatched(hidden_name_of(path_), path_, 0)) return;
  spoil("it could not be renamed from '" + hidden_name_of(path_) + "': " + std::strerror(errno));
}

void File::leave() {
  sieves_.forget();
  std::string why;
  const std::optional<Seal> seal = take_seal(hidden_name_of(path_), userblock, why);
  if (!seal) spoil(why);
  show();
  if (seal && spoilt_.empty()) hand_over_seal(*seal);
  if (!spoilt_.empty()) {
    tailrace_ticket ticket{};
    if (state_ == State::open) {
      carrier().give_up(raw_);
      (void)carrier().iclose(raw_, &ticket);  // the reason for a failure is known
    }
    Process::instance().detached().broken(path_, spoilt_);
  }
  state_ = State::left_alone;
}

void File::hand_over_seal(const Seal& seal) {
  tailrace_ticket ticket{};
  Refusal refused = carrier().seal(raw_, seal.offset, seal.bytes);
  if (refused.status == TAILRACE_OK) refused = carrier().iclose(raw_, &ticket);
  if (refused.status != TAILRACE_OK) return spoil(refused.message);
  Process::instance().detached().left(path_, ticket);
}

bool File::is_behind(int descriptor) const {
  struct stat now {};
  return descriptor >= 0 && ::fstat(descriptor, &now) == 0 && now.st_dev == identity_.st_dev &&
         now.st_ino == identity_.st_ino;
}

bool File::has_its_name() const {
  struct stat now {};
  if (::stat(path_.c_str(), &now) != 0 || now.st_dev != identity_.st_dev || now.st_ino != identity_.st_ino) {
    return false;
  }
  const std::vector<std::shared_ptr<File>> all = open_files().all();
  return std::none_of(all.begin(), all.end(), [this](const auto& other) {
    return other.get() != this && other->state_ == State::open && other->path_ == path_ &&
           (other->identity_.st_dev != identity_.st_dev || other->identity_.st_ino != identity_.st_ino);
  });
}

bool File::ready() {
  if (state_ == State::unopened) {
    const bool opened =
        has_its_name() && (detached_ ? carrier().open_to_seal(path_, &raw_) : carrier().open(path_, &raw_));
    state_ = opened ? State::open : State::refused;
  }
  return state_ == State::open;
}

File::Written File::count(uint64_t bytes) {
  ++counted_.writes;
  counted_.bytes += std::min(bytes, UINT64_MAX - counted_.bytes);
  return counted_;
}

// Marks all bytes from the beginning of a list's first extent to the end of its last.
void File::on_its_way(uint64_t dataset, std::span<const tailrace_extent> extents, const void* data) {
  data != nullptr ? sieves_.overwrite(extents, data) : sieves_.forget();
  pending_.insert(dataset);
  uint64_t begin = UINT64_MAX;
  uint64_t end = 0;
  for (const tailrace_extent& extent : extents) {
    begin = std::min(begin, extent.offset);
    end = std::max(end, extent.offset + extent.length);
  }
  if (begin < end) written_.add(begin, end);
}

// Forgets what was read ahead if the write that changed it was refused.
Refusal File::accepted(Refusal refused) {
  if (refused.status != TAILRACE_OK) sieves_.forget();
  return refused;
}

Refusal File::write(uint64_t dataset, std::span<const tailrace_extent> extents, const void* data) {
  on_its_way(dataset, extents, data);
  const bool small = extents.size() == 1 && process::SmallWrites::is_small(extents[0]);
  if (!small || !small_.fits(extents[0])) send_small();
  if (!small) return accepted(carrier().write(raw_, extents, data));
  small_.add(extents[0], data);
  return {};
}

void File::send_small() {
  if (small_.empty()) return;
  const Refusal refused = carrier().write(raw_, small_.extents(), small_.bytes(), small_.count());
  small_.clear();
  if (refused.status != TAILRACE_OK) failures_.push_back(refused.message);
}

Refusal File::iwrite(uint64_t dataset, std::span<const tailrace_extent> extents, const void* data,
                     std::vector<tailrace_ticket>& tickets) {
  on_its_way(dataset, extents, data);
  send_small();
  return accepted(carrier().iwrite(raw_, extents, data, tickets));
}

Refusal File::lend(uint64_t dataset, std::span<const tailrace_extent> extents, const void* data,
                   std::vector<tailrace_ticket>& tickets) {
  if (extents.size() == 1 && extents[0].length >= kLeastLent) {
    on_its_way(dataset, extents, data);
    send_small();
    const Refusal refused = carrier().lend(raw_, extents[0], data, tickets);
    if (refused.status != TAILRACE_TOO_LARGE) return accepted(refused);
  }
  return iwrite(dataset, extents, data, tickets);
}

Refusal File::read(std::span<const tailrace_extent> extents, void* data) {
  send_small();
  return carrier().read(raw_, extents, data);
}

// The bytes of a sieve are never older than those that a read would return: writes change them, or have them
// forgotten.
const std::byte* File::find_ahead(const tailrace_extent& dataset, const tailrace_extent& bytes) {
  if (!reads_ahead_ || state_ == State::left_alone || !process::Sieve::is_small(bytes.length)) return nullptr;
  process::Sieve& sieve = sieves_.of(dataset.offset);
  if (const std::byte* const found = sieve.find(bytes)) return found;
  const std::optional<tailrace_extent> wanted = sieve.wanted(bytes, dataset.offset + dataset.length);
  if (!wanted) return nullptr;
  sieve.filled(wanted->offset, read_ahead(*wanted, sieve.room(wanted->length)));
  return sieve.find(bytes);
}

// Returns how many bytes have been read.
uint64_t File::read_ahead(const tailrace_extent& bytes, std::byte* to) {
  if (pending(bytes)) return read({&bytes, 1}, to).status == TAILRACE_OK ? bytes.length : 0;
  if (descriptor_ < 0 && !open_to_read_ahead()) return 0;
  const ssize_t got = ::pread(descriptor_, to, bytes.length, static_cast<off_t>(bytes.offset));
  return got > 0 ? static_cast<uint64_t>(got) : 0;
}

// By a descriptor of its own, as HDF5 closes that of the file when it likes.
bool File::open_to_read_ahead() {
  descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  const bool is_it = is_behind(descriptor_);
  if (!is_it && descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  reads_ahead_ = is_it;
  return is_it;
}

void File::fill(uint64_t dataset, uint64_t bytes, const std::vector<std::byte>& element) {
  const tailrace_extent all{dataset, bytes};
  on_its_way(dataset, {&all, 1}, nullptr);
  send_small();
  const uint64_t elements = std::max<uint64_t>(std::min(bytes, kFillAtOnce) / element.size(), 1);
  std::vector<std::byte> many(elements * element.size());
  for (size_t at = 0; at < many.size(); at += element.size()) {
    std::copy(element.begin(), element.end(), many.begin() + static_cast<ptrdiff_t>(at));
  }
  for (uint64_t done = 0; done < bytes; done += many.size()) {
    const tailrace_extent part{dataset + done, std::min<uint64_t>(many.size(), bytes - done)};
    const Refusal refused = carrier().write(raw_, {&part, 1}, many.data(), 0);
    if (refused.status != TAILRACE_OK) return failures_.push_back(refused.message);
  }
}

std::vector<std::string> File::take_failures() {
  std::vector<std::string> all;
  for (const auto& failure : carrier().take_failures(path_)) all.push_back(failure.message);
  all.insert(all.end(), failures_.begin(), failures_.end());
  failures_.clear();
  if (all.empty()) return all;
  sieves_.forget();
  spoil(all.front());
  return all;
}

File::Token File::key_of(const H5O_token_t& token) {
  Token key;
  std::copy(std::begin(token.__data), std::end(token.__data), key.begin());
  return key;
}

const ChunkCache* File::cache_of(const H5O_token_t& token) const {
  const auto found = caches_.find(key_of(token));
  return found != caches_.end() ? &found->second : nullptr;
}

std::shared_ptr<ChunkQueue> File::queue_of(const H5O_token_t& token) {
  std::shared_ptr<ChunkQueue>& queue = queues_[key_of(token)];
  if (queue == nullptr) queue = std::make_shared<ChunkQueue>(host_, path_);
  return queue;
}

void File::place_chunks() {
  for (const auto& [token, queue] : queues_) queue->place(false, failures_);
  // Forgets empty queues that no open object uses.
  std::erase_if(queues_, [](const auto& entry) { return entry.second.use_count() == 1 && entry.second->empty(); });
}

bool File::place_chunk() {
  ChunkQueue* oldest = nullptr;
  for (const auto& [token, queue] : queues_) {
    if (!queue->empty() && (oldest == nullptr || queue->number() < oldest->number())) oldest = queue.get();
  }
  if (oldest != nullptr) oldest->place_one(failures_);
  return oldest != nullptr;
}

void File::settle_chunks() {
  for (const auto& [token, queue] : queues_) queue->place(true, failures_);
}

void File::hand_over() {
  settle_chunks();
  send_small();
}

void File::drain() {
  sieves_.forget();
  hand_over();
  counted_ = {};
  if (!pending()) return;
  const Refusal flushed = carrier().flush();
  if (flushed.status != TAILRACE_OK) failures_.push_back(flushed.message);
  forget_pending();
}

void File::forget_pending() {
  pending_.clear();
  written_.clear();
  before_mark_.clear();
  mark_.reset();
}

bool File::on_their_way(const tailrace_extent& bytes) const {
  const uint64_t end = bytes.offset + bytes.length;
  return written_.touches(bytes.offset, end) || before_mark_.touches(bytes.offset, end);
}

bool File::pending(const tailrace_extent& bytes) {
  if (!on_their_way(bytes)) return false;
  look_what_is_written();
  return on_their_way(bytes);
}

// When a mark is reached, the bytes written before it are in the file. Then sets the next mark.
void File::look_what_is_written() {
  if (mark_ && carrier().reached(*mark_)) {
    before_mark_.clear();
    mark_.reset();
  }
  if (mark_) return;
  if (written_.empty()) return pending_.clear();
  send_small();
  mark_ = carrier().mark();
  before_mark_ = std::exchange(written_, {});
}

void File::leave_to_parent() {
  sieves_.forget();
  detached_ = false;
  state_ = State::left_alone;
  small_.clear();
  forget_pending();
  failures_.clear();
  for (const auto& [token, queue] : queues_) queue->leave_to_parent();
}

void File::leave_alone() {
  drain();
  detached_ = false;
  if (state_ == State::open) carrier().close(raw_);
  state_ = State::left_alone;
}

std::shared_ptr<File> file_of(const Host& host, unsigned long number) { return open_files().find(host, number); }

std::shared_ptr<File> make_file(const Host& host, unsigned long number, const std::string& path, bool parallel) {
  [[maybe_unused]] static const int forks = pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
  [[maybe_unused]] static const bool finishes = (Process::instance().set_finish(finish_writes), true);
  [[maybe_unused]] static const int at_end = std::atexit(end_process);  // runs before HDF5's, which was registered
                                                                        // earlier
  return open_files().find_or_make(host, number, [&] { return std::make_shared<File>(host, path, parallel); });
}

void finish_writes() {
  for (const auto& file : open_files().all()) {
    // No call of the library is in progress.
    const LibraryState state(file->host());
    if (state.is_open()) file->settle_chunks();
    file->send_small();
  }
}

void settle_chunks_of(const Host& host) {
  for (const auto& file : open_files().all()) {
    if (&file->host() != &host) continue;
    file->settle_chunks();
    for (const std::string& failure : file->take_failures()) std::fprintf(stderr, "tailrace: %s\n", failure.c_str());
  }
}

void drain_all() {
  for (const auto& file : open_files().all()) file->drain();
}

}  // namespace tailrace::hdf5
