#include "testing/interleave.hpp"

#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <utility>

#include "base/assert.hpp"

namespace tailrace::impl::testing {
namespace {

// Thrown through the bodies of a schedule that has failed, to end them.
struct Abandon {};

// The meaning of the calling thread's operations on atomics.
enum class Mode {
  kPlain,  // not an explored thread: no scheduling, the newest value
  kSteps,  // each is a step of the schedule
  kPeek,   // in another thread's predicate: no scheduling, the newest value
  kJoin,   // in its own predicate, which holds: the newest value, with acquire order
};

class Scheduler;
thread_local Scheduler* t_scheduler = nullptr;
thread_local int t_self = -1;
thread_local Mode t_mode = Mode::kPlain;

// A point of the schedule at which one of several things can happen. The first option is the plain course.
struct Decision {
  std::string options;  // one letter each: a … h: that thread steps; 0 … 9: how many stores ago; = or !: succeeds or
                        // not
  size_t taken = 0;
  bool costs = false;  // another option than the first is a deviation

  bool deviates() const { return costs && taken > 0; }
};

// The source of the decisions of one run.
struct Course {
  std::vector<Decision> path;  // decisions to take first, in order; the run appends later ones
  int deviations = 0;          // most deviations beyond the path
  std::string replay;          // letters to follow, unless empty
  std::mt19937_64* random = nullptr;
  uint64_t random_one_in = 2;  // one decision in so many deviates in a random course
};

std::string letters(const std::vector<Decision>& path) {
  std::string text;
  for (const Decision& decision : path) text += decision.options[decision.taken];
  return text;
}

bool acquires(std::memory_order order) {
  return order != std::memory_order_relaxed && order != std::memory_order_release;
}
bool releases(std::memory_order order) {
  return order == std::memory_order_release || order == std::memory_order_acq_rel ||
         order == std::memory_order_seq_cst;
}
void join(VectorClock& into, const VectorClock& from) {
  for (size_t i = 0; i < into.size(); ++i) into[i] = std::max(into[i], from[i]);
}

// A thread sleeps on its baton until it is its turn. std::binary_semaphore yields the processor a few times before it
// sleeps. On a busy machine each yield costs a time slice, and so a test seconds.
class Baton {
 public:
  void release() {
    const std::lock_guard<std::mutex> lock(mutex_);
    here_ = true;
    arrived_.notify_one();
  }
  void acquire() {
    std::unique_lock<std::mutex> lock(mutex_);
    arrived_.wait(lock, [this] { return here_; });
    here_ = false;
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  bool here_ = false;  // guarded by mutex_
};

// One explored thread. All members but `baton` belong to the thread that runs.
struct Worker {
  Baton baton;
  std::function<void()> body;
  const std::function<bool()>* blocked_on = nullptr;
  bool finished = false;
  VectorClock clock{};
  std::thread thread;
};

// Runs schedules. The threads live as long as it does; exactly one of them, or the caller, runs at any time.
class Scheduler {
 public:
  explicit Scheduler(size_t max_steps) : max_steps_(max_steps) {}
  ~Scheduler();

  // Runs one schedule, and leaves its decisions in `course.path`.
  void run(const InterleavedRun& run, Course& course, bool trace);
  const std::string& failure() const { return failure_; }
  std::string schedule() const { return letters(course_->path); }
  const std::string& trace() const { return trace_; }

  // ---- for the thread that runs ----
  void point(const std::function<bool()>* until);
  void yield();
  void block(const std::function<bool()>& predicate);
  char decide(std::string options, bool costs);
  void fail(const std::string& message);
  [[noreturn]] void abandon() { throw Abandon{}; }
  VectorClock& clock() { return workers_[static_cast<size_t>(t_self)]->clock; }
  bool tracing() const { return tracing_; }
  void note(const void* atomic, const std::string& text);

 private:
  void worker_loop(Worker& worker, int self);
  void call_body(Worker& worker);
  bool runnable(size_t thread);
  // Returns the thread that steps next. Thread `self` can go on (`stays`), could but lets others go first (`yields`),
  // or cannot. Returns -1 if all have finished, or if that fails the schedule.
  int pick(int self, bool stays, bool yields);
  void pass_to(int next);
  void hand_over(int next);
  void count_step();
  void after_end();

  const size_t max_steps_;
  std::vector<std::unique_ptr<Worker>> workers_;
  size_t running_ = 0;  // number of workers in this run
  Baton ended_;
  bool quit_ = false;

  Course* course_ = nullptr;
  size_t decided_ = 0;
  int deviated_ = 0;
  size_t steps_ = 0;
  std::string failure_;
  bool tracing_ = false;
  std::string trace_;
  std::map<const void*, size_t> names_;
};

Scheduler::~Scheduler() {
  quit_ = true;
  for (auto& worker : workers_) {
    worker->baton.release();
    worker->thread.join();
  }
}

void Scheduler::run(const InterleavedRun& run, Course& course, bool trace) {
  TAILRACE_REQUIRE(!run.threads.empty());
  TAILRACE_REQUIRE(run.threads.size() <= kMaxInterleavedThreads);
  course_ = &course;
  decided_ = 0;
  deviated_ = 0;
  steps_ = 0;
  failure_.clear();
  tracing_ = trace;
  trace_.clear();
  names_.clear();
  running_ = run.threads.size();
  while (workers_.size() < running_) {
    workers_.push_back(std::make_unique<Worker>());
    Worker& worker = *workers_.back();
    const int self = static_cast<int>(workers_.size()) - 1;
    worker.thread = std::thread([this, &worker, self] { worker_loop(worker, self); });
  }
  for (size_t i = 0; i < running_; ++i) {
    workers_[i]->body = run.threads[i];
    workers_[i]->blocked_on = nullptr;
    workers_[i]->finished = false;
    workers_[i]->clock = {};
  }
  pass_to(pick(-1, false, false));
  ended_.acquire();
  for (size_t i = 0; i < running_; ++i) workers_[i]->body = nullptr;
  if (failure_.empty() && run.check) {
    t_scheduler = this;  // for require() in the check
    try {
      run.check();
    } catch (const Abandon&) {
    }
    t_scheduler = nullptr;
  }
  // If a replayed path is longer than the run, it belongs to other code.
  course.path.resize(std::min(course.path.size(), decided_));
}

void Scheduler::worker_loop(Worker& worker, int self) {
  t_scheduler = this;
  t_self = self;
  for (;;) {
    worker.baton.acquire();
    if (quit_) return;
    if (failure_.empty()) call_body(worker);
    worker.finished = true;
    after_end();
  }
}

void Scheduler::call_body(Worker& worker) {
  t_mode = Mode::kSteps;
  try {
    worker.body();
  } catch (const Abandon&) {
  } catch (const std::exception& error) {
    fail(std::string("exception: ") + error.what());
  }
  t_mode = Mode::kPlain;
}

// A thread has ended: the next one continues, if only to find that the schedule has failed.
void Scheduler::after_end() {
  const int next = failure_.empty() ? pick(t_self, false, false) : -1;
  if (failure_.empty() && next >= 0) return pass_to(next);
  for (size_t i = 0; i < running_; ++i) {
    if (!workers_[i]->finished) return pass_to(static_cast<int>(i));
  }
  ended_.release();
}

void Scheduler::pass_to(int next) { workers_[static_cast<size_t>(next)]->baton.release(); }

bool Scheduler::runnable(size_t thread) {
  const Worker& worker = *workers_[thread];
  if (worker.finished) return false;
  if (worker.blocked_on == nullptr) return true;
  const Mode mode = std::exchange(t_mode, Mode::kPeek);
  const bool holds = (*worker.blocked_on)();
  t_mode = mode;
  return holds;
}

int Scheduler::pick(int self, bool stays, bool yields) {
  std::string options;
  if (stays) options += static_cast<char>('a' + self);
  size_t unfinished = 0;
  for (size_t i = 0; i < running_; ++i) {
    const size_t other = (static_cast<size_t>(self + 1) + i) % running_;
    unfinished += !workers_[other]->finished;
    if ((stays || yields) && static_cast<int>(other) == self) continue;
    if (runnable(other)) options += static_cast<char>('a' + static_cast<char>(other));
  }
  if (unfinished == 0) return -1;
  if (options.empty()) {
    fail("deadlock: every thread that has not ended sleeps, and nothing is left that could wake it");
    return -1;
  }
  return decide(options, stays || yields) - 'a';
}

char Scheduler::decide(std::string options, bool costs) {
  std::vector<Decision>& path = course_->path;
  if (decided_ < path.size()) {
    Decision& known = path[decided_++];
    // At the bound on deviations, fewer options were recorded than there are.
    TAILRACE_REQUIRE(options.starts_with(known.options));  // else the bodies are not deterministic
    deviated_ += known.deviates();
    return known.options[known.taken];
  }
  Decision made{std::move(options), 0, costs};
  if (!course_->replay.empty()) {
    if (decided_ < course_->replay.size()) {
      const size_t at = made.options.find(course_->replay[decided_]);
      if (at == std::string::npos) fail("the schedule to replay does not fit this run");
      made.taken = at == std::string::npos ? 0 : at;
    }
  } else if (course_->random != nullptr) {
    std::mt19937_64& random = *course_->random;
    const bool stays = costs && random() % course_->random_one_in != 0;
    made.taken = stays ? 0 : random() % made.options.size();
  } else if (costs && deviated_ >= course_->deviations) {
    made.options.resize(1);
  }
  ++decided_;
  deviated_ += made.deviates();
  path.push_back(made);
  return made.options[made.taken];
}

// Switches to the thread that the schedule names; returns when it is the caller's turn, and `until`, if given, holds.
void Scheduler::point(const std::function<bool()>* until) {
  if (!failure_.empty()) {
    if (std::uncaught_exceptions() > 0) return;  // a destructor on the way out
    abandon();
  }
  count_step();
  Worker& self = *workers_[static_cast<size_t>(t_self)];
  self.blocked_on = until;
  hand_over(pick(t_self, runnable(static_cast<size_t>(t_self)), false));
  self.blocked_on = nullptr;
}

// Lets another thread go first; on the plain course, the next one in turn. Another choice is a deviation, so that two
// spinning threads cannot keep a third from running for ever.
void Scheduler::yield() {
  bool alone = true;
  for (size_t i = 0; i < running_; ++i) alone &= static_cast<int>(i) == t_self || !runnable(i);
  if (alone || !failure_.empty()) return point(nullptr);
  count_step();
  hand_over(pick(t_self, false, true));
}

void Scheduler::block(const std::function<bool()>& predicate) {
  point(&predicate);
  t_mode = Mode::kJoin;
  const bool holds = predicate();
  t_mode = Mode::kSteps;
  TAILRACE_ASSERT(holds);
}

void Scheduler::count_step() {
  if (++steps_ <= max_steps_) return;
  fail("more than " + std::to_string(max_steps_) + " steps: a thread spins?");
  abandon();
}

// Returns when it is the caller's turn again.
void Scheduler::hand_over(int next) {
  if (failure_.empty() && next != t_self) {
    pass_to(next);
    workers_[static_cast<size_t>(t_self)]->baton.acquire();
  }
  if (!failure_.empty()) abandon();
}

void Scheduler::fail(const std::string& message) {
  if (failure_.empty()) failure_ = message;
}

void Scheduler::note(const void* atomic, const std::string& text) {
  const size_t name = names_.try_emplace(atomic, names_.size()).first->second;
  trace_ +=
      std::string("  ") + static_cast<char>('a' + t_self) + ": atomic " + std::to_string(name) + " " + text + "\n";
}

// A defect in the code under test (TAILRACE_ASSERT) ends the process, so print the schedule first.
void on_abort(int) {
  if (t_scheduler == nullptr) return;
  std::fprintf(stderr, "under the schedule TAILRACE_SCHEDULE='%s'\n", t_scheduler->schedule().c_str());
}

class AbortHandler {
 public:
  AbortHandler() : before_(std::signal(SIGABRT, on_abort)) {}
  ~AbortHandler() { std::signal(SIGABRT, before_); }
  AbortHandler(const AbortHandler&) = delete;
  AbortHandler& operator=(const AbortHandler&) = delete;

 private:
  void (*before_)(int);
};

// Turns the path of a run into the start of the next one, depth first; returns false when there is none.
bool advance(std::vector<Decision>& path) {
  while (!path.empty() && path.back().taken + 1 >= path.back().options.size()) path.pop_back();
  if (path.empty()) return false;
  ++path.back().taken;
  return true;
}

// The search, which makes single runs.
class Explorer {
 public:
  Explorer(const std::function<InterleavedRun()>& setup, ExploreOptions options)
      : setup_(setup), options_(std::move(options)), scheduler_(options_.max_steps) {
    if (const char* schedule = std::getenv("TAILRACE_SCHEDULE")) options_.replay = schedule;
    if (const char* seed = std::getenv("TAILRACE_SEED")) options_.seed = std::strtoull(seed, nullptr, 10);
    result_.seed = options_.seed;
  }

  Exploration explore() {
    if (!options_.replay.empty()) {
      Course course;
      course.replay = options_.replay;
      try_course(course);
      return result_;
    }
    result_.complete = true;
    for (int bound = 0; bound <= options_.deviations && result_.ok() && result_.complete; ++bound) all_within(bound);
    for (uint64_t i = 0; i < options_.random_schedules && result_.ok(); ++i) random_schedule(i);
    return result_;
  }

 private:
  void all_within(int bound) {
    Course course;
    course.deviations = bound;
    do {
      if (result_.schedules >= options_.max_schedules) {
        result_.complete = false;
        return;
      }
      if (!try_course(course)) return;
    } while (advance(course.path));
  }

  void random_schedule(uint64_t number) {
    std::mt19937_64 random(options_.seed * 0x9e3779b97f4a7c15u + number);
    Course course;
    course.random = &random;
    course.random_one_in = uint64_t{2} << (number % 4);
    try_course(course);
  }

  // Returns true if the run was right. Otherwise repeats it to record its steps.
  bool try_course(Course& course) {
    ++result_.schedules;
    scheduler_.run(setup_(), course, false);
    if (scheduler_.failure().empty()) return true;
    result_.failure = scheduler_.failure();
    result_.schedule = letters(course.path);
    Course again;
    again.replay = result_.schedule;
    scheduler_.run(setup_(), again, true);
    result_.trace = scheduler_.trace();
    return false;
  }

  const AbortHandler abort_handler_;
  const std::function<InterleavedRun()>& setup_;
  ExploreOptions options_;
  Scheduler scheduler_;
  Exploration result_;
};

}  // namespace

// ---- calls of the bodies ---------------------------------------------------------------------------------------

Exploration explore(const std::function<InterleavedRun()>& setup, ExploreOptions options) {
  return Explorer(setup, std::move(options)).explore();
}

std::string Exploration::report() const {
  if (ok()) return std::to_string(schedules) + " schedules tried, none failed";
  return failure + "\nafter " + std::to_string(schedules) + " schedules (seed " + std::to_string(seed) +
         "); to run this one alone: TAILRACE_SCHEDULE='" + schedule + "'\nits steps:\n" + trace;
}

void require(bool condition, const std::string& message) {
  TAILRACE_REQUIRE(t_scheduler != nullptr);
  if (condition) return;
  t_scheduler->fail(message);
  t_scheduler->abandon();
}

void block_until(const std::function<bool()>& predicate) {
  TAILRACE_REQUIRE(t_mode == Mode::kSteps);
  t_scheduler->block(predicate);
}

void yield_to_others() {
  TAILRACE_REQUIRE(t_mode == Mode::kSteps);
  t_scheduler->yield();
}

bool tracing() { return t_mode == Mode::kSteps && t_scheduler->tracing(); }

// ---- the history of an atomic ------------------------------------------------------------------------------------

namespace {

bool steps() { return t_mode == Mode::kSteps; }

// Returns true if the step `time` of `thread` happened before the next one of the caller.
bool happened(int thread, uint32_t time) {
  return thread < 0 || t_scheduler->clock()[static_cast<size_t>(thread)] >= time;
}

// Counts a step of the caller and returns its number.
uint32_t tick() { return ++t_scheduler->clock()[static_cast<size_t>(t_self)]; }

constexpr size_t kMaxStoresAgo = 9;  // a decision is one character

}  // namespace

InterleavedHistory::InterleavedHistory() {
  if (steps()) {
    stores_.push_back({t_self, tick(), false, t_scheduler->clock()});
  } else {
    stores_.push_back({-1, 0, false, {}});
  }
}

// Not older than any store that happened before, nor than what was read before, nor, for seq_cst, than the last
// seq_cst store: the order in which the steps run is the single order of all seq_cst operations.
size_t InterleavedHistory::oldest_readable(std::memory_order order) const {
  size_t oldest = stores_.size() - 1;
  while (oldest > 0) {
    const Store& store = stores_[oldest];
    if (happened(store.thread, store.time)) break;
    if (order == std::memory_order_seq_cst && store.seq_cst) break;
    --oldest;
  }
  for (const Read& read : reads_) {
    if (happened(read.thread, read.time)) oldest = std::max(oldest, read.store);
  }
  return oldest;
}

size_t InterleavedHistory::begin_load(std::memory_order order) {
  const size_t newest = stores_.size() - 1;
  if (t_mode == Mode::kJoin) join(t_scheduler->clock(), stores_[newest].orders);
  if (!steps()) return newest;
  t_scheduler->point(nullptr);
  size_t chosen = stores_.size() - 1;
  const size_t choices = std::min(chosen - oldest_readable(order), kMaxStoresAgo) + 1;
  if (choices > 1) chosen -= static_cast<size_t>(t_scheduler->decide(std::string("0123456789", choices), true) - '0');
  reads_.push_back({t_self, tick(), chosen});
  if (acquires(order)) join(t_scheduler->clock(), stores_[chosen].orders);
  return chosen;
}

void InterleavedHistory::begin_exclusive() {
  TAILRACE_REQUIRE(t_mode == Mode::kPlain || steps());  // a predicate only loads
  if (steps()) t_scheduler->point(nullptr);
}

void InterleavedHistory::append(std::memory_order order, const VectorClock& inherited) {
  if (!steps()) {
    stores_.push_back({-1, 0, false, {}});
    return;
  }
  const uint32_t now = tick();
  VectorClock orders = inherited;
  if (releases(order)) join(orders, t_scheduler->clock());
  stores_.push_back({t_self, now, order == std::memory_order_seq_cst, orders});
}

void InterleavedHistory::end_store(std::memory_order order) { append(order, {}); }

// A read-modify-write inherits what the store that it read from orders: a release sequence.
void InterleavedHistory::end_exchange(std::memory_order order) {
  const VectorClock inherited = stores_.back().orders;
  if (steps() && acquires(order)) join(t_scheduler->clock(), inherited);
  append(order, inherited);
}

void InterleavedHistory::end_failed_exchange(std::memory_order order) {
  if (!steps()) return;
  reads_.push_back({t_self, tick(), stores_.size() - 1});
  if (acquires(order)) join(t_scheduler->clock(), stores_.back().orders);
}

bool InterleavedHistory::fails_for_nothing() { return steps() && t_scheduler->decide("=!", true) == '!'; }

void InterleavedHistory::note(const char* operation, const std::string& value) const {
  t_scheduler->note(this, std::string(operation) + " " + value);
}

// ---- the history of a plain variable -----------------------------------------------------------------------------

namespace {

void race(const char* what) {
  if (std::uncaught_exceptions() > 0) return;
  t_scheduler->fail(std::string("data race: ") + what);
  t_scheduler->abandon();
}

}  // namespace

void AccessHistory::on_read() const {
  if (!steps()) return;
  if (!happened(writer_, written_)) race("a plain read that nothing orders after another thread's write");
  read_[static_cast<size_t>(t_self)] = tick();
}

void AccessHistory::on_write() {
  if (!steps()) return;
  if (!happened(writer_, written_)) race("a plain write that nothing orders after another thread's write");
  for (size_t i = 0; i < read_.size(); ++i) {
    if (!happened(static_cast<int>(i), read_[i])) race("a plain write that nothing orders after another's read");
  }
  writer_ = t_self;
  written_ = tick();
}

}  // namespace tailrace::impl::testing
