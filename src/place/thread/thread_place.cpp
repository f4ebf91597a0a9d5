#include "place/thread/thread_place.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <utility>

namespace tailrace::impl {
namespace {

// A batch thread does not preempt on waking. Without it, a caller that shares the writer's cpu (it was woken there,
// say) would stand still in the very call that hands a block over, until the writer has begun the transfers. A wish:
// where the system refuses, the thread stays an ordinary one.
void yield_to_computation() {
  const sched_param priority{};
  pthread_setschedparam(pthread_self(), SCHED_BATCH, &priority);
}

}  // namespace

ThreadPlace::Shared::Shared()
    : free_links(new std::atomic<uint32_t>[kMaxBlocks]()),
      ring_slots(new Descriptor[kRing]),
      ticket_words(new std::atomic<uint64_t>[kTickets]()) {}

Result<std::unique_ptr<ThreadPlace>> ThreadPlace::create(uint64_t budget, CpuSet cpus, Doorbell& doorbell) {
  Result<MappedMemory> memory = MappedMemory::create(budget);
  if (!memory.ok()) return memory.status();
  return std::unique_ptr<ThreadPlace>(new ThreadPlace(std::move(memory).value(), std::move(cpus), doorbell));
}

ThreadPlace::ThreadPlace(MappedMemory memory, CpuSet cpus, Doorbell& doorbell)
    : memory_(std::move(memory)),
      cpus_(std::move(cpus)),
      doorbell_(doorbell),
      channel_{memory_.bytes(),
               FreeStack<>(shared_.free_head, {shared_.free_links.get(), kMaxBlocks}),
               SpscRing<Descriptor>(shared_.ring_counters, {shared_.ring_slots.get(), kRing}),
               TicketTable<>({shared_.ticket_words.get(), kTickets}),
               shared_.client_bell,
               shared_.failures,
               shared_.counters},
      description_(fmt::format("thread, {}; pool {}", cpus_.reason, memory_.description())) {}

ThreadPlace::~ThreadPlace() { stop(); }

void ThreadPlace::start(RequestSink& sink) {
  TAILRACE_REQUIRE(!thread_.joinable());
  // The application's signals are the application's: the new thread inherits a mask that blocks them all.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this, &sink] { serve(sink); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void ThreadPlace::stop() {
  if (!thread_.joinable()) return;
  // release: whatever was sent before is seen by the thread that sees the flag; partner: the acquire in serve().
  stopping_.store(true, std::memory_order_release);
  doorbell_.ring();
  thread_.join();
}

void ThreadPlace::serve(RequestSink& sink) {
  pthread_setname_np(pthread_self(), "tailrace");
  bind_thread(cpus_);
  yield_to_computation();
  for (;;) {
    if (work(sink)) continue;
    doorbell_.prepare();
    // Only now is a ring certain to be heard: look once more at everything that rings.
    const bool stopping = stopping_.load(std::memory_order_acquire);
    if (work(sink)) {
      doorbell_.cancel();
      continue;
    }
    if (stopping && channel_.ring.empty() && sink.idle()) return;
    doorbell_.sleep();
  }
}

// Takes what is in the ring and moves the sink on. Returns whether it took anything or could take more at once: the
// sink may have made room while it moved on, and nobody rings for that.
bool ThreadPlace::work(RequestSink& sink) {
  bool took = false;
  Descriptor descriptor;
  while (sink.ready() && channel_.ring.pop(descriptor)) {
    sink.accept(descriptor);
    took = true;
  }
  sink.progress();
  if (took) channel_.client_bell.ring();  // there is room in the ring again
  return took || (sink.ready() && !channel_.ring.empty());
}

}  // namespace tailrace::impl
