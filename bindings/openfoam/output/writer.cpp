#include "openfoam/output/writer.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <mutex>
#include <set>
#include <system_error>
#include <utility>

#include "openfoam/output/gzip.hpp"
#include "openfoam/output/in_flight.hpp"
#include "openfoam/output/recording.hpp"
#include "process_client/own_thread.hpp"

namespace tailrace::openfoam {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kWindow = 16 << 20;   // most bytes of formatted text that are being written
constexpr size_t kBlock = 1 << 20;       // bytes of formatted text for one write
constexpr size_t kLeastChunk = 4 << 10;  // bytes
constexpr size_t kMostTimes = 100'000;
constexpr ptrdiff_t kAhead = 4;  // most chunks that are formatted before the writer's thread reaches them

// A list without any cpu of this machine changes nothing.
void pin(const std::vector<int>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) {
    if (cpu < CPU_SETSIZE) CPU_SET(cpu, &set);
  }
  if (!cpus.empty()) pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

// Moves what a directory contains into another one, and removes it.
void move_into(const fs::path& from, const fs::path& to, std::error_code& error) {
  for (const fs::directory_entry& entry : fs::directory_iterator(from, error)) {
    const fs::path target = to / entry.path().filename();
    if (entry.is_directory() && fs::is_directory(target)) {
      move_into(entry.path(), target, error);
    } else {
      fs::rename(entry.path(), target, error);
    }
    if (error) return;
  }
  if (!error) fs::remove(from, error);
}

// Tells `tailrace recover` that a program is writing times to the folder, until the process ends. Nothing depends on
// it but one who recovers too early, so a file system without locks does no harm.
void lock_folder(const fs::path& folder) {
  std::error_code ignored;
  fs::create_directories(folder, ignored);
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor >= 0) flock(descriptor, LOCK_SH | LOCK_NB);
}

// Gives a file what an earlier one of its name had, as far as the user may.
void keep_permissions(const fs::path& file, const struct stat& earlier) {
  if (chown(file.c_str(), earlier.st_uid, earlier.st_gid) != 0) {
    // it belongs to who has written it
  }
  chmod(file.c_str(), earlier.st_mode & ALLPERMS);
}

class StringSink : public TextSink {
 public:
  void write(const char* letters, size_t count) override { text.append(letters, count); }
  std::string text;
};

std::string text_of(const Chunk& chunk) {
  StringSink sink;
  sink.text.reserve(2 * chunk.used);
  replay(chunk, sink);
  return std::move(sink.text);
}

Chunk make_chunk(size_t bytes) { return {std::unique_ptr<std::byte[]>(new std::byte[bytes]), bytes}; }

}  // namespace

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// The program's thread uses the taker; the writer's thread everything else, unless said otherwise.
class OpenOutput : public ChunkTaker, public std::enable_shared_from_this<OpenOutput> {
 public:
  OpenOutput(Writer::Impl& impl, OutputFile output) : writer(impl), what(std::move(output)) {}
  Chunk fresh(size_t least) override;
  void take(Chunk chunk) override;

  Writer::Impl& writer;
  const OutputFile what;
  std::optional<std::string> staged;   // the directory that it is in
  std::string target;                  // where it is written
  std::optional<struct stat> earlier;  // of a file that was there before
  std::optional<Store::File> file;
  uint64_t bytes = 0;  // so far
  bool failed = false;
  Chunk block;                       // formatted text, not written yet
  std::unique_ptr<TextSink> blocks;  // fills blocks
  std::unique_ptr<Gzip> gzip;
  double seconds = 0;
  double formatting = 0;
  double begun = now();
  double writing = 0;
};

using File = std::shared_ptr<OpenOutput>;

// The writer's thread does the tasks of a queue in their order. Most tasks begin an operation of the store, and the
// thread waits for these in their order, too: when there are many, and when it has nothing else to do.
class Writer::Impl {
 public:
  Impl(std::unique_ptr<Store> store, uint64_t budget, std::vector<int> cpus, bool at_once)
      : store_(std::move(store)),
        budget_(budget),
        chunk_(std::clamp<size_t>(budget / 8, kLeastChunk, kBlock)),
        at_once_(at_once) {
    process::start_own_thread("tailrace-foam", [this, cpus] {
      pin(cpus);
      run();
    });
  }

  // The program's threads call these.
  File begin(const OutputFile& what);
  void end(const File& file, bool whole);
  void stage(const std::string& directory);
  bool is_staged(const std::string& path);
  void publish_others(const std::string& current);
  bool has_in_flight();
  void settle(const std::string& path, bool below);
  void finish(bool publish);
  std::optional<Failure> take_failure();
  double seconds_waiting();
  std::map<std::string, ObjectCosts> costs();
  std::vector<FileTimes> times();
  Chunk fresh(size_t bytes);
  void hand_over(const File& file, Chunk chunk);

 private:
  enum class Kind { stage, publish, begin, chunk, end, give_up };
  // A chunk may be formatted ahead by a thread of the program that waits. While it is `in_hand`, that thread reads
  // the chunk without the mutex, and the task stays in the queue.
  struct Task {
    Kind kind;
    File file = nullptr;
    Chunk chunk = {};
    std::string directory = {};
    uint64_t number = 0;
    bool in_hand = false;
    std::optional<std::string> text = {};  // of the chunk
    double formatting = 0;                 // seconds that making it took
  };
  // An operation of the store that has begun.
  struct Operation {
    Store::Ticket ticket;
    File file;
    Chunk chunk = {};  // its bytes
    bool own = false;  // they are the writer's own: not counted in waiting_
    bool closes = false;
    uint64_t task = 0;  // its number
  };
  class Blocks;

  void add(Task task);
  void publish_taken(const std::vector<std::string>& directories);
  template <typename Condition>
  void wait_until(Condition condition, std::unique_lock<std::mutex>& lock);
  bool format_ahead(std::unique_lock<std::mutex>& lock);

  // The writer's thread calls these.
  void run();
  std::optional<Task> next();
  void carry_out(Task& task);
  void open(const File& file);
  Store::Reason look_at_earlier(const File& file);
  void format(Task& task);
  void write(const File& file, Chunk chunk, bool own, uint64_t task);
  void close(const File& file, uint64_t task);
  void make_staged(const std::string& directory);
  void publish(const std::string& directory);
  void complete_oldest();
  void complete_all();
  void closed(const File& file);
  void fail(const File& file, std::string reason);
  bool abandon(const File& file);
  void recycle(Chunk chunk, bool own);
  void note_completed();

  const std::unique_ptr<Store> store_;
  const uint64_t budget_;
  const size_t chunk_;  // bytes of the largest
  const bool at_once_;

  // The writer's thread alone uses these.
  std::deque<Operation> operations_;
  uint64_t own_bytes_ = 0;             // of operations_, in the writer's own chunks
  uint64_t latest_task_ = 0;           // number of the task that was begun last
  double seconds_completing_ = 0;      // in complete_oldest()
  std::set<std::string> directories_;  // that it has made
  std::set<std::string> spoiled_;      // staged ones in which a file has failed

  std::mutex mutex_;  // guards all below
  std::condition_variable work_;
  std::condition_variable progress_;
  std::deque<Task> tasks_;
  uint64_t numbers_ = 0;    // of tasks
  uint64_t completed_ = 0;  // all tasks up to this number have ended
  uint64_t waiting_ = 0;    // bytes of the program's chunks
  std::vector<Chunk> spare_;
  InFlight in_flight_;
  std::deque<Failure> failures_;
  std::map<std::string, ObjectCosts> costs_;
  std::vector<FileTimes> times_;
  double seconds_waiting_ = 0;
  std::set<std::string> locked_;  // folders with times
  bool ending_ = false;
  bool ended_ = false;
};

Chunk OpenOutput::fresh(size_t least) { return writer.fresh(least); }
void OpenOutput::take(Chunk chunk) { writer.hand_over(shared_from_this(), std::move(chunk)); }

// ---- calls of the program's threads -----------------------------------------------------------------------------

File Writer::Impl::begin(const OutputFile& what) {
  const auto file = std::make_shared<OpenOutput>(*this, what);
  const std::lock_guard lock(mutex_);
  const std::string path = what.path + (what.compressed ? ".gz" : "");
  file->staged = in_flight_.staged().around(path);
  file->target = file->staged ? StagedDirectories::partial(*file->staged) + path.substr(file->staged->size()) : path;
  if (file->staged) in_flight_.staged().begin_file(*file->staged, path);
  in_flight_.begin_file(what.path);
  add({Kind::begin, file});
  return file;
}

void Writer::Impl::end(const File& file, bool whole) {
  {
    const std::lock_guard lock(mutex_);
    if (file->staged) in_flight_.staged().end_file(*file->staged);
    add({whole ? Kind::end : Kind::give_up, file});
    in_flight_.end_file(file->what.path, numbers_);
  }
  if (at_once_) settle(file->what.path, false);
}

// The directory is made here, and not by the writer's thread: in a decomposed case, where each process has one, it
// shows that this process has begun the time, even if all are killed now.
void Writer::Impl::stage(const std::string& directory) {
  const fs::path folder = fs::path(directory).parent_path();
  std::error_code ignored;
  bool is_new = false;
  {
    const std::lock_guard lock(mutex_);
    is_new = locked_.insert(folder).second;
  }
  if (is_new) lock_folder(folder);  // a look at files, which may wait
  {
    const std::lock_guard lock(mutex_);
    if (at_once_ || in_flight_.staged().contains(directory) || in_flight_.publishes(directory)) return;
  }
  if (fs::exists(directory, ignored)) return;
  fs::create_directory(StagedDirectories::partial(directory), ignored);
  const std::lock_guard lock(mutex_);
  in_flight_.staged().add(directory);
  add({Kind::stage, nullptr, {}, directory});
}

bool Writer::Impl::is_staged(const std::string& path) {
  const std::lock_guard lock(mutex_);
  return in_flight_.staged().around(path).has_value();
}

void Writer::Impl::publish_others(const std::string& current) {
  const std::lock_guard lock(mutex_);
  publish_taken(in_flight_.staged().take([&](const std::string& directory) { return directory != current; }));
}

void Writer::Impl::publish_taken(const std::vector<std::string>& directories) {
  for (const std::string& directory : directories) {
    add({Kind::publish, nullptr, {}, directory});
    in_flight_.publish(directory, numbers_);
  }
}

bool Writer::Impl::has_in_flight() {
  const std::lock_guard lock(mutex_);
  return !ending_ && !in_flight_.empty();
}

void Writer::Impl::settle(const std::string& path, bool below) {
  std::unique_lock lock(mutex_);
  if (ending_ || !in_flight_.concerns(path, below)) return;
  publish_taken(in_flight_.take(path, below));
  wait_until([this, last = numbers_] { return completed_ >= last || ended_; }, lock);
}

void Writer::Impl::finish(bool publish) {
  std::unique_lock lock(mutex_);
  if (std::exchange(ending_, true)) return;
  if (publish) publish_taken(in_flight_.take("/", true));
  work_.notify_all();
  wait_until([this] { return ended_; }, lock);
}

// A thread that waits has nothing to compute, so it helps the writer's thread.
template <typename Condition>
void Writer::Impl::wait_until(Condition condition, std::unique_lock<std::mutex>& lock) {
  if (condition()) return;
  const double begun = now();
  while (!condition()) {
    if (!format_ahead(lock)) progress_.wait(lock);
  }
  seconds_waiting_ += now() - begun;
}

// Formats a chunk that the writer's thread has not reached. Returns false if there is none, if enough are ready, or
// if memory is short.
bool Writer::Impl::format_ahead(std::unique_lock<std::mutex>& lock) {
  const auto ready = [](const Task& task) { return task.in_hand || task.text; };
  const auto recorded = [&](const Task& task) {
    return task.kind == Kind::chunk && task.chunk.kind == Chunk::Kind::recorded && !ready(task);
  };
  if (std::count_if(tasks_.begin(), tasks_.end(), ready) >= kAhead) return false;
  const auto found = std::find_if(tasks_.begin(), tasks_.end(), recorded);
  if (found == tasks_.end()) return false;
  Task& task = *found;  // stays where it is, whatever is added or taken at the ends of the queue
  task.in_hand = true;
  lock.unlock();
  const double begun = now();
  std::optional<std::string> text;
  try {
    text = text_of(task.chunk);
  } catch (const std::bad_alloc&) {  // the writer's thread will format it
  }
  lock.lock();
  task.text = std::move(text);
  task.formatting = now() - begun;
  task.in_hand = false;
  work_.notify_one();
  return task.text.has_value();
}

std::optional<Writer::Failure> Writer::Impl::take_failure() {
  const std::lock_guard lock(mutex_);
  if (failures_.empty()) return std::nullopt;
  Failure first = std::move(failures_.front());
  failures_.pop_front();
  return first;
}

double Writer::Impl::seconds_waiting() {
  const std::lock_guard lock(mutex_);
  return seconds_waiting_;
}

std::map<std::string, ObjectCosts> Writer::Impl::costs() {
  const std::lock_guard lock(mutex_);
  return costs_;
}

std::vector<FileTimes> Writer::Impl::times() {
  const std::lock_guard lock(mutex_);
  return times_;
}

Chunk Writer::Impl::fresh(size_t bytes) {
  bytes = std::min(bytes, chunk_);
  if (bytes < chunk_) return make_chunk(bytes);
  const std::lock_guard lock(mutex_);
  if (spare_.empty()) return make_chunk(chunk_);
  Chunk chunk = std::move(spare_.back());
  spare_.pop_back();
  return chunk;
}

// A chunk may be larger than the budget: then it waits alone.
void Writer::Impl::hand_over(const File& file, Chunk chunk) {
  std::unique_lock lock(mutex_);
  wait_until([&] { return waiting_ == 0 || waiting_ + chunk.capacity <= budget_ || ended_; }, lock);
  waiting_ += chunk.capacity;
  add({Kind::chunk, file, std::move(chunk)});
}

void Writer::Impl::add(Task task) {
  task.number = ++numbers_;
  tasks_.push_back(std::move(task));
  work_.notify_one();
}

// ---- the writer's thread ----------------------------------------------------------------------------------------

void Writer::Impl::run() {
  while (std::optional<Task> task = next()) {
    const double begun = now() - seconds_completing_;
    const File file = task->file;
    latest_task_ = task->number;
    carry_out(*task);
    if (file) file->seconds += now() - seconds_completing_ - begun;
    note_completed();
  }
  const std::lock_guard lock(mutex_);
  ended_ = true;
  progress_.notify_all();
}

std::optional<Writer::Impl::Task> Writer::Impl::next() {
  std::unique_lock lock(mutex_);
  while (tasks_.empty() || tasks_.front().in_hand) {
    if (!operations_.empty()) {
      lock.unlock();
      complete_oldest();
      note_completed();
      lock.lock();
    } else if (ending_ && tasks_.empty()) {
      return std::nullopt;
    } else {
      work_.wait(lock);
    }
  }
  Task task = std::move(tasks_.front());
  tasks_.pop_front();
  return task;
}

void Writer::Impl::carry_out(Task& task) {
  try {
    switch (task.kind) {
      case Kind::stage: return make_staged(task.directory);
      case Kind::publish: return publish(task.directory);
      case Kind::begin: return open(task.file);
      case Kind::chunk: return format(task);
      case Kind::give_up: abandon(task.file); [[fallthrough]];
      case Kind::end: return close(task.file, task.number);
    }
  } catch (const std::exception& failure) {  // no memory
    if (task.file) fail(task.file, failure.what());
  }
}

void Writer::Impl::make_staged(const std::string& directory) {
  std::error_code ignored;  // opening a file there will say what is wrong
  const std::string partial = StagedDirectories::partial(directory);
  complete_all();  // an earlier one of that name, in which a file had failed
  fs::remove_all(partial, ignored);
  spoiled_.erase(directory);
  directories_.clear();
  fs::create_directories(partial, ignored);
}

void Writer::Impl::publish(const std::string& directory) {
  complete_all();
  std::error_code error;
  if (!spoiled_.contains(directory)) fs::rename(StagedDirectories::partial(directory), directory, error);
  // The program may have made the directory itself.
  if (error == std::errc::directory_not_empty || error == std::errc::file_exists) {
    error.clear();
    move_into(StagedDirectories::partial(directory), directory, error);
  }
  if (!error) return;
  const std::lock_guard lock(mutex_);
  failures_.push_back({directory, "rename: " + error.message()});
}

// Gathers formatted text in blocks, and writes them.
class Writer::Impl::Blocks : public TextSink {
 public:
  Blocks(Impl& writer, OpenOutput& file) : writer_(writer), file_(file) {}
  void write(const char* text, size_t count) override {
    const auto* from = reinterpret_cast<const std::byte*>(text);
    while (count > 0) {
      if (file_.block.room() == 0) pass_on();
      const size_t part = std::min(count, file_.block.room());
      std::copy_n(from, part, file_.block.end());
      file_.block.used += part;
      from += part;
      count -= part;
    }
  }

 private:
  void pass_on() {
    if (file_.block.used > 0) {
      writer_.write(file_.shared_from_this(), std::exchange(file_.block, {}), true, writer_.latest_task_);
    }
    file_.block = writer_.fresh(file_.bytes == 0 ? writer_.chunk_ / 16 : writer_.chunk_);
  }

  Impl& writer_;
  OpenOutput& file_;
};

// tailrace opens no paths with symbolic links.
void Writer::Impl::open(const File& file) {
  file->writing = now();
  const fs::path target = file->target;
  std::error_code error;
  if (!directories_.contains(target.parent_path())) {
    fs::create_directories(target.parent_path(), error);
    if (error) return fail(file, "mkdir " + target.parent_path().string() + ": " + error.message());
    directories_.insert(target.parent_path());
  }
  const fs::path parent = fs::canonical(target.parent_path(), error);
  if (error) return fail(file, "open: " + error.message());
  // Its twin, too (closed()).
  const auto closes_it = [&](const Operation& other) {
    return other.closes && other.file->what.path == file->what.path;
  };
  if (std::any_of(operations_.begin(), operations_.end(), closes_it)) complete_all();
  if (Store::Reason why = look_at_earlier(file); !why.empty()) return fail(file, std::move(why));
  Store::File opened = 0;
  Store::Reason why = store_->open(parent / target.filename(), opened);
  if (!why.empty()) return fail(file, std::move(why));
  file->file = opened;
  file->blocks = std::make_unique<Blocks>(*this, *file);
  if (file->what.compressed) file->gzip = std::make_unique<Gzip>(*file->blocks);
}

// OpenFOAM writes into a file that is there, so it needs the permission, and the file keeps its own.
Store::Reason Writer::Impl::look_at_earlier(const File& file) {
  struct stat facts;
  const char* const name = file->target.c_str();
  if (lstat(name, &facts) != 0 || !S_ISREG(facts.st_mode)) return {};
  if (euidaccess(name, W_OK) != 0) return "open: " + std::error_code(errno, std::generic_category()).message();
  file->earlier = facts;
  return {};
}

void Writer::Impl::format(Task& task) {
  const File& file = task.file;
  if (file->failed) return recycle(std::move(task.chunk), false);
  const double begun = now() - seconds_completing_;
  TextSink& sink = file->gzip ? static_cast<TextSink&>(*file->gzip) : *file->blocks;
  if (task.chunk.kind == Chunk::Kind::plain && !file->gzip) {
    if (file->block.used > 0) write(file, std::exchange(file->block, {}), true, task.number);
    return write(file, std::move(task.chunk), false, task.number);
  }
  file->seconds += task.formatting;
  file->formatting += task.formatting;
  if (task.text) {
    sink.write(task.text->data(), task.text->size());
  } else if (task.chunk.kind == Chunk::Kind::plain) {
    sink.write(reinterpret_cast<const char*>(task.chunk.memory.get()), task.chunk.used);
  } else {
    replay(task.chunk, sink);
  }
  file->formatting += now() - seconds_completing_ - begun;
  recycle(std::move(task.chunk), false);
}

void Writer::Impl::write(const File& file, Chunk chunk, bool own, uint64_t task) {
  if (file->failed) return recycle(std::move(chunk), own);
  Store::Ticket ticket = 0;
  Store::Reason why = store_->write(*file->file, file->bytes, chunk.memory.get(), chunk.used, ticket);
  file->bytes += chunk.used;
  if (own) own_bytes_ += chunk.capacity;
  operations_.push_back({ticket, file, std::move(chunk), own, false, task});
  if (!why.empty()) fail(file, std::move(why));
  while (own_bytes_ > kWindow) complete_oldest();
}

void Writer::Impl::close(const File& file, uint64_t task) {
  if (!file->file) return closed(file);
  if (file->gzip && !file->failed) file->gzip->end();
  if (file->block.used > 0) write(file, std::exchange(file->block, {}), true, task);
  Store::Ticket ticket = 0;
  Store::Reason why = store_->close(*std::exchange(file->file, {}), ticket);
  operations_.push_back({ticket, file, {}, false, true, task});
  if (!why.empty() && !file->failed) fail(file, std::move(why));
}

void Writer::Impl::complete_oldest() {
  Operation operation = std::move(operations_.front());
  operations_.pop_front();
  const double begun = now();
  Store::Reason why = store_->wait(operation.ticket);
  if (!why.empty()) fail(operation.file, std::move(why));
  const double seconds = now() - begun;
  operation.file->seconds += seconds;
  seconds_completing_ += seconds;
  if (operation.own) own_bytes_ -= operation.chunk.capacity;
  if (operation.chunk.memory) recycle(std::move(operation.chunk), operation.own);
  if (operation.closes) closed(operation.file);
}

void Writer::Impl::complete_all() {
  while (!operations_.empty()) complete_oldest();
}

// If there is a file of the same name with or without ".gz", the latest of the two is valid.
void Writer::Impl::closed(const File& file) {
  std::error_code ignored;
  const fs::path target = file->target;
  const fs::path twin = file->what.compressed ? target.parent_path() / target.stem() : fs::path(file->target + ".gz");
  if (!file->failed) {
    fs::remove(twin, ignored);
    if (file->earlier) keep_permissions(target, *file->earlier);
  }
  const std::lock_guard lock(mutex_);
  if (file->failed) return;
  ObjectCosts& costs = costs_[file->what.object];
  ++costs.files;
  costs.bytes += file->bytes;
  costs.seconds += file->seconds;
  if (times_.size() < kMostTimes) {
    times_.push_back(
        {file->what.object, file->what.output, file->begun, file->writing, now(), file->seconds, file->formatting});
  }
}

// Returns false if it was abandoned before.
bool Writer::Impl::abandon(const File& file) {
  if (std::exchange(file->failed, true)) return false;
  if (file->file) store_->give_up(*file->file);
  if (file->staged) spoiled_.insert(*file->staged);
  return true;
}

void Writer::Impl::fail(const File& file, std::string reason) {
  if (!abandon(file)) return;
  const std::lock_guard lock(mutex_);
  failures_.push_back({file->what.path + (file->what.compressed ? ".gz" : ""), std::move(reason)});
}

void Writer::Impl::recycle(Chunk chunk, bool own) {
  const std::lock_guard lock(mutex_);
  if (!own) {
    waiting_ -= chunk.capacity;
    progress_.notify_all();
  }
  if (chunk.capacity == chunk_ && waiting_ + (spare_.size() + 1) * chunk_ <= budget_) {
    chunk.used = 0;
    spare_.push_back(std::move(chunk));
  }
}

void Writer::Impl::note_completed() {
  const std::lock_guard lock(mutex_);
  completed_ = operations_.empty() ? latest_task_ : operations_.front().task - 1;
  in_flight_.ended(completed_);
  progress_.notify_all();
}

// ---- Writer ----------------------------------------------------------------------------------------------------

Writer::Writer(std::unique_ptr<Store> store, uint64_t budget, std::vector<int> cpus, bool at_once)
    : impl_(std::make_unique<Impl>(std::move(store), budget, std::move(cpus), at_once)) {}
Writer::~Writer() = default;

std::shared_ptr<ChunkTaker> Writer::begin(const OutputFile& file) { return impl_->begin(file); }
void Writer::end(const std::shared_ptr<ChunkTaker>& file, bool whole) {
  impl_->end(std::static_pointer_cast<OpenOutput>(file), whole);
}
void Writer::stage(const std::string& directory) { impl_->stage(directory); }
bool Writer::is_staged(const std::string& path) { return impl_->is_staged(path); }
void Writer::publish_others(const std::string& current) { impl_->publish_others(current); }
bool Writer::has_in_flight() { return impl_->has_in_flight(); }
void Writer::settle(const std::string& path, bool below) { impl_->settle(path, below); }
void Writer::finish(bool publish) { impl_->finish(publish); }
std::optional<Writer::Failure> Writer::take_failure() { return impl_->take_failure(); }
double Writer::seconds_waiting() { return impl_->seconds_waiting(); }
std::map<std::string, ObjectCosts> Writer::costs() { return impl_->costs(); }
std::vector<FileTimes> Writer::times() { return impl_->times(); }

}  // namespace tailrace::openfoam
