#include "place/thread/thread_place.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <cstdlib>
#include <utility>

#include "base/memory/range_allocator.hpp"

namespace tailrace::impl {
namespace {

// A batch thread does not preempt on waking. Without it, a caller that shares the writer's cpu (it was woken there,
// say) would stand still in the very call that hands a block over, until the writer has begun the transfers. A wish:
// where the system refuses, the thread stays an ordinary one.
void yield_to_computation() {
  const sched_param priority{};
  pthread_setschedparam(pthread_self(), SCHED_BATCH, &priority);
}

std::unique_ptr<std::byte, void (*)(void*)> allocate_parts(const ChannelMemory& memory) {
  std::unique_ptr<std::byte, void (*)(void*)> parts(
      static_cast<std::byte*>(std::aligned_alloc(RangeAllocator::kPage, memory.bytes())), std::free);
  TAILRACE_REQUIRE(parts != nullptr);
  memory.construct(parts.get());
  return parts;
}

}  // namespace

Result<std::unique_ptr<ThreadPlace>> ThreadPlace::create(uint64_t budget, bool prefault, size_t variables,
                                                         CpuSet cpus, Doorbell& doorbell) {
  Result<MappedMemory> memory = MappedMemory::create(budget, prefault);
  if (!memory.ok()) return memory.status();
  return std::unique_ptr<ThreadPlace>(
      new ThreadPlace(std::move(memory).value(), variables, std::move(cpus), doorbell));
}

ThreadPlace::ThreadPlace(MappedMemory pool, size_t variables, CpuSet cpus, Doorbell& doorbell)
    : pool_(std::make_shared<MappedMemory>(std::move(pool))),
      cpus_(std::move(cpus)),
      doorbell_(doorbell),
      memory_(ChannelSizes{.variables = static_cast<uint32_t>(variables)}),
      parts_(allocate_parts(memory_)),
      channel_(memory_.view(parts_.get(), pool_->bytes())),
      description_(fmt::format("thread, {}; pool {}", cpus_.reason, pool_->description())),
      loop_(channel_, doorbell_) {}

ThreadPlace::~ThreadPlace() { stop(); }

Status ThreadPlace::wait(FunctionRef<bool()> ready, std::optional<Nanoseconds> timeout) {
  if (channel_.client_bell.wait_until(ready, timeout)) return {};
  return Status(TAILRACE_TIMEOUT, "the time given has passed");
}

void ThreadPlace::start(RequestSink& sink) {
  TAILRACE_REQUIRE(!thread_.joinable());
  // The application's signals are the application's: the new thread inherits a mask that blocks them all.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this, &sink] {
    pthread_setname_np(pthread_self(), "tailrace");
    bind_thread(cpus_);
    yield_to_computation();
    loop_.run(sink);
  });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void ThreadPlace::stop() {
  if (!thread_.joinable()) return;
  loop_.stop();
  thread_.join();
}

}  // namespace tailrace::impl
