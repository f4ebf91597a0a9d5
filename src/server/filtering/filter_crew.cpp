#include "server/filtering/filter_crew.hpp"

#include <pthread.h>
#include <sys/resource.h>

#include <cstdlib>
#include <new>
#include <optional>
#include <system_error>
#include <utility>

#include "base/os/signals_blocked.hpp"

namespace tailrace::impl {
namespace {

constexpr size_t kPage = 4096;

// Leaves the filters about a tenth of a cpu that the program also uses. An idle thread's share (SCHED_IDLE) would be
// too small: a chunk in work holds its block's memory, and the program may wait for that.
constexpr int kNicer = 10;

// Filtering takes only the time that the computation and the place's own thread leave. These settings may fail.
void settle_in() {
  const sched_param priority{};
  pthread_setschedparam(pthread_self(), SCHED_BATCH, &priority);
  setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + kNicer);  // in Linux, this thread alone
}

}  // namespace

FilterCrew::FilterCrew(const Clock& clock, Doorbell& doorbell, Options options)
    : clock_(clock), doorbell_(doorbell), options_(std::move(options)), memory_(buffers()), inline_filter_({}) {
  for (uint32_t number = buffers(); number-- > 0;) free_.push_back(number);
}

FilterCrew::~FilterCrew() {
  TAILRACE_REQUIRE(wishes_.empty() && flown_.empty() && free_.size() == memory_.size());
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  there_is_work_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  for (const Memory& memory : memory_) std::free(memory.begin);
}

// Starts as many threads as the system has; without any, start() filters.
void FilterCrew::start_threads() {
  const SignalsBlocked for_the_threads(SIGBUS);
  try {
    while (threads_.size() < options_.threads) threads_.emplace_back([this] { run(); });
  } catch (const std::system_error&) {
  }
}

void FilterCrew::provide(std::span<const FilterPlan> plans) {
  if (threads_.empty()) start_threads();
  for (const FilterPlan& plan : plans) {
    const uint64_t bytes = (plan.stored_chunk_bytes() + kPage - 1) / kPage * kPage;
    size_ = std::max(size_, bytes);
  }
  for (const uint32_t number : free_) make_fit(memory_[number]);
}

// Buffers that are in use now fit when they are granted next.
void FilterCrew::make_fit(Memory& memory) const {
  if (memory.size >= size_) return;
  std::free(std::exchange(memory.begin, nullptr));
  memory.size = 0;
  memory.begin = static_cast<std::byte*>(std::aligned_alloc(kPage, size_));
  if (memory.begin == nullptr) throw std::bad_alloc();
  memory.size = size_;
}

void FilterCrew::ask(FilterJob::Owner& owner) { wishes_.push_back(&owner); }

void FilterCrew::give_back(const FilterBuffer& buffer) { free_.push_back(buffer.number); }

void FilterCrew::start(FilterJob job) {
  flown_.push_back(std::make_unique<Flight>());
  Flight& flight = *flown_.back();
  flight.job = std::move(job);
  if (threads_.empty()) {
    carry_out(flight.job, inline_filter_);
    flight.finished = true;
    return;
  }
  {
    const MutexLock lock(mutex_);
    work_.push_back(&flight);
  }
  there_is_work_.notify_one();
}

bool FilterCrew::progress() {
  bool moved = false;
  while (tell_ends() || grant()) moved = true;
  return moved;
}

bool FilterCrew::tell_ends() {
  if (flown_.empty() || !flown_.front()->job.owner->ready()) return false;
  {
    const MutexLock lock(mutex_);
    if (!flown_.front()->finished) return false;
  }
  const std::unique_ptr<Flight> flight = std::move(flown_.front());
  flown_.pop_front();
  worked_ += flight->job.took;
  flight->job.owner->done(flight->job);
  return true;
}

bool FilterCrew::grant() {
  if (paused_) return false;
  const bool buffers = !free_.empty() && has_time();
  const auto next = std::find_if(wishes_.begin(), wishes_.end(), [&](const FilterJob::Owner* owner) {
    return owner->ready() && (buffers || !owner->needs_buffer());
  });
  if (next == wishes_.end()) return false;
  FilterJob::Owner* const owner = *next;
  wishes_.erase(next);
  std::optional<FilterBuffer> buffer;
  if (buffers && owner->needs_buffer()) {
    const uint32_t number = free_.back();
    free_.pop_back();
    make_fit(memory_[number]);
    buffer = FilterBuffer{number, memory_[number].begin};
  }
  owner->granted(buffer);
  return true;
}

void FilterCrew::run() {
  pthread_setname_np(pthread_self(), "tailrace-filter");
  settle_in();
  std::optional<CpuGroup::Member> here;
  if (options_.cpus) here.emplace(*options_.cpus);
  ChunkFilter filter({});
  MutexLock lock(mutex_);
  for (;;) {
    while (!stopping_ && work_.empty()) there_is_work_.wait(mutex_);
    if (work_.empty()) return;
    Flight& flight = *work_.front();
    work_.pop_front();
    lock.unlock();
    carry_out(flight.job, filter);
    if (here) here->look(clock_.now());
    lock.lock();
    flight.finished = true;  // the server may take it from now on
    lock.unlock();
    // Wake even a server that is awake, so that it looks once more: it may already have passed the member that owns
    // this chunk.
    doorbell_.wake();
    lock.lock();
  }
}

void FilterCrew::carry_out(FilterJob& job, ChunkFilter& filter) const {
  const Nanoseconds begun = clock_.now();
  filter.provide({job.plan, 1});
  const std::span<std::byte> memory(job.buffer.memory, job.plan->stored_chunk_bytes());
  if (job.what == FilterJob::What::filter) {
    job.chunk = filter.apply(*job.plan, job.block, job.index, memory, job.loss, job.effort);
  } else {
    job.status = filter.restore(*job.plan, memory.first(job.chunk.bytes), job.chunk.skipped, job.index, job.block);
  }
  job.took = clock_.now() - begun;
}

}  // namespace tailrace::impl
