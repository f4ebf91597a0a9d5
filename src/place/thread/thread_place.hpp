// ThreadPlace: the server is a thread of the process that computes; the channel lies in private memory.
//
// This class adds only the thread: it selects its cpu, and keeps it from disturbing the computation. It does not know
// what the server does.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "base/memory/memory_map.hpp"
#include "base/memory/toucher.hpp"
#include "base/sync/doorbell.hpp"
#include "channel/channel_memory.hpp"
#include "place/place.hpp"
#include "place/thread/cpus.hpp"

namespace tailrace::impl {

class ThreadPlace final : public Place {
 public:
  // Makes the place for a client with `variables` variables. Borrows `doorbell`. The pool has `budget` bytes (a
  // multiple of the page). With `prefault` they are taken from the system beside the program, from start() on;
  // otherwise as the program uses them. `group`: of `cpus`, the threads run with it; null: they run anywhere.
  static Result<std::unique_ptr<ThreadPlace>> create(uint64_t budget, bool prefault, size_t variables, CpuSet cpus,
                                                     Doorbell& doorbell, std::shared_ptr<CpuGroup> group = nullptr);
  ~ThreadPlace() override;

  // Starts the thread, once. It runs `serve`; `end`, called on another thread, makes that return when all verbs that
  // were sent have ended. `taken` is called on another thread when all of the pool has been taken from the system:
  // before stop() returns, or never.
  void start(std::function<void()> serve, std::function<void()> end, std::function<void()> taken = {});
  // Lets the server finish all verbs that were sent, and ends the thread. Does nothing if no thread runs.
  void stop() override;

  Channel& channel() override { return channel_; }
  std::shared_ptr<void> memory() override { return pool_; }
  Status take(uint64_t offset, uint64_t bytes) override;
  void ring() override { doorbell_.ring(); }
  bool reaches_client() const override { return true; }
  uint32_t losses() const override { return 0; }
  Status wait(FunctionRef<bool()> ready, std::optional<Nanoseconds> timeout) override;
  const std::string& description() const override { return description_; }

 private:
  ThreadPlace(MappedMemory pool, bool prefault, size_t variables, const CpuSet& cpus, Doorbell& doorbell,
              std::shared_ptr<CpuGroup> group);
  void start_toucher(std::function<void()> taken);

  // Constant after construction.
  const std::shared_ptr<MappedMemory> pool_;
  const bool prefault_;
  const std::shared_ptr<CpuGroup> cpus_;  // null: any
  Doorbell& doorbell_;
  const ChannelMemory memory_;
  std::unique_ptr<std::byte, void (*)(void*)> parts_;  // of the channel, without the pool
  Channel channel_;                                    // each part says which side may use it
  std::string description_;

  std::function<void()> end_;       // makes the thread end
  std::thread thread_;              // used by the owner
  std::optional<Toucher> toucher_;  // used by the owner; none: no memory is being taken
};

}  // namespace tailrace::impl
