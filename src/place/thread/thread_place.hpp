// ThreadPlace: the server is a thread of the process that computes; the channel lies in private memory.
//
// The thread sleeps on the doorbell whenever there is nothing to do, and never polls.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "base/doorbell.hpp"
#include "base/memory_map.hpp"
#include "place/place.hpp"
#include "place/thread/cpus.hpp"

namespace tailrace::impl {

class ThreadPlace final : public Place {
 public:
  static constexpr uint32_t kRing = 4096;        // descriptors
  static constexpr uint32_t kTickets = 4096;     // open at once
  static constexpr uint32_t kMaxBlocks = 16384;  // of the pool

  // `doorbell` is borrowed. Takes `budget` bytes (a multiple of the page) and touches them.
  static Result<std::unique_ptr<ThreadPlace>> create(uint64_t budget, CpuSet cpus, Doorbell& doorbell);
  ~ThreadPlace() override;

  // Starts the thread; `sink` outlives the place's thread, that is, a stop(). Once.
  void start(RequestSink& sink);
  // Lets the sink finish everything that was sent, and ends the thread. Does nothing if it is not running.
  void stop();

  Channel& channel() override { return channel_; }
  void ring() override { doorbell_.ring(); }
  const std::string& description() const override { return description_; }

 private:
  // What channel_ refers to.
  struct Shared {
    FreeStack<>::Head free_head;
    std::unique_ptr<std::atomic<uint32_t>[]> free_links;
    SpscRing<Descriptor>::Counters ring_counters;
    std::unique_ptr<Descriptor[]> ring_slots;
    std::unique_ptr<std::atomic<uint64_t>[]> ticket_words;
    WaitBell client_bell;
    FailureLog failures;
    ServerCounters counters;
    Shared();
  };

  ThreadPlace(MappedMemory memory, CpuSet cpus, Doorbell& doorbell);
  void serve(RequestSink& sink);
  bool work(RequestSink& sink);

  // Constant after construction.
  MappedMemory memory_;
  const CpuSet cpus_;
  Doorbell& doorbell_;
  Shared shared_;
  Channel channel_;  // each part says which side may use it
  std::string description_;

  std::atomic<bool> stopping_{false};  // set by the owner, read by the thread
  std::thread thread_;                 // the owner's
};

}  // namespace tailrace::impl
