#include "place/thread/thread_place.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <new>
#include <optional>
#include <utility>

#include "base/memory/range_allocator.hpp"
#include "base/os/signals_blocked.hpp"
#include "base/sync/bind_thread.hpp"

namespace tailrace::impl {
namespace {

// The toucher's thread in the group; it leaves the group when it ends.
thread_local std::optional<CpuGroup::Member> toucher_in_group;

// Makes the thread a batch thread, which does not preempt on waking. Otherwise a caller on the writer's cpu (which
// woke there, say) would stop in the very call that hands a block over, until the writer has begun the transfers.
// Best effort: if the system refuses, the thread stays an ordinary one.
void yield_to_computation() {
  const sched_param priority{};
  pthread_setschedparam(pthread_self(), SCHED_BATCH, &priority);
}

std::unique_ptr<std::byte, void (*)(void*)> allocate_parts(const ChannelMemory& memory) {
  std::unique_ptr<std::byte, void (*)(void*)> parts(
      static_cast<std::byte*>(std::aligned_alloc(RangeAllocator::kPage, memory.bytes())), std::free);
  if (parts == nullptr) throw std::bad_alloc();
  memory.construct(parts.get());
  return parts;
}

}  // namespace

Result<std::unique_ptr<ThreadPlace>> ThreadPlace::create(uint64_t budget, bool prefault, size_t variables,
                                                         CpuSet cpus, Doorbell& doorbell,
                                                         std::shared_ptr<CpuGroup> group) {
  Result<MappedMemory> memory = MappedMemory::create(budget, prefault);
  if (!memory.ok()) return memory.status();
  return std::unique_ptr<ThreadPlace>(
      new ThreadPlace(std::move(memory).value(), prefault, variables, cpus, doorbell, std::move(group)));
}

ThreadPlace::ThreadPlace(MappedMemory pool, bool prefault, size_t variables, const CpuSet& cpus, Doorbell& doorbell,
                         std::shared_ptr<CpuGroup> group)
    : pool_(std::make_shared<MappedMemory>(std::move(pool))),
      prefault_(prefault),
      cpus_(std::move(group)),
      doorbell_(doorbell),
      memory_(ChannelSizes{.variables = static_cast<uint32_t>(variables)}),
      parts_(allocate_parts(memory_)),
      channel_(memory_.view(parts_.get(), pool_->bytes())),
      description_(fmt::format("thread, {}; pool {}", cpus.reason, pool_->description())) {}

ThreadPlace::~ThreadPlace() { stop(); }

// Runs the toucher on the writer's cpus, which are idle at the start, and not on the one that computes.
void ThreadPlace::start_toucher(std::function<void()> taken) {
  Toucher::Options options;
  options.take = [this](size_t offset, size_t size) {
    if (toucher_in_group) toucher_in_group->look(std::chrono::steady_clock::now().time_since_epoch());
    return pool_->take_aside(offset, size);
  };
  options.prepare = [this] {
    if (cpus_) toucher_in_group.emplace(*cpus_);
    yield_to_computation();
  };
  options.taken = std::move(taken);
  toucher_.emplace(pool_->bytes().size(), std::move(options));
}

// The toucher is usually ahead. Then nothing is left to do: to look at each page takes long, too.
Status ThreadPlace::take(uint64_t offset, uint64_t bytes) {
  if (!prefault_) return {};
  const uint64_t end = offset + bytes;
  if (toucher_) {
    offset = std::max<uint64_t>(offset, toucher_->taken());
    if (offset >= end) return {};
    toucher_->pass_over(end);
  }
  Status status = pool_->take(offset, end - offset);
  if (!status.ok()) toucher_.reset();  // what it was to pass over has not been taken
  return status;
}

Status ThreadPlace::wait(FunctionRef<bool()> ready, std::optional<Nanoseconds> timeout) {
  if (channel_.client_bell.wait_until(ready, timeout)) return {};
  return Status(TAILRACE_TIMEOUT, "the time given has passed");
}

void ThreadPlace::start(std::function<void()> serve, std::function<void()> end, std::function<void()> taken) {
  TAILRACE_REQUIRE(!thread_.joinable());
  end_ = std::move(end);
  const SignalsBlocked for_the_thread;
  thread_ = std::thread([this, serve = std::move(serve)] {
    pthread_setname_np(pthread_self(), "tailrace");
    if (cpus_) (void)bind_thread(cpus_->cpus());  // until the server joins the group
    yield_to_computation();
    serve();
  });
  if (prefault_) start_toucher(std::move(taken));
}

void ThreadPlace::stop() {
  toucher_.reset();
  if (!thread_.joinable()) return;
  end_();
  thread_.join();
}

}  // namespace tailrace::impl
