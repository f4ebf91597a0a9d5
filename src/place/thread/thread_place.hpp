// ThreadPlace: the server is a thread of the process that computes; the channel lies in private memory.
//
// All that is this place's own is the thread: where it runs, and that it does not disturb the computation.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "base/memory/memory_map.hpp"
#include "base/memory/toucher.hpp"
#include "channel/channel_memory.hpp"
#include "place/serve_loop.hpp"
#include "place/thread/cpus.hpp"

namespace tailrace::impl {

class ThreadPlace final : public Place {
 public:
  // For a client with so many variables. `doorbell` is borrowed. The pool has `budget` bytes (a multiple of the
  // page); `prefault`: they are taken from the system beside the program, from start() on; else as the program uses
  // them.
  static Result<std::unique_ptr<ThreadPlace>> create(uint64_t budget, bool prefault, size_t variables, CpuSet cpus,
                                                     Doorbell& doorbell);
  ~ThreadPlace() override;

  // Starts the thread; `sink` outlives the place's thread, that is, a stop(). Once. `taken` is called on another
  // thread when all of the pool has been taken from the system, before a stop() returns, or never.
  void start(RequestSink& sink, std::function<void()> taken = {});
  // Lets the sink finish everything that was sent, and ends the thread. Does nothing if it is not running.
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
  ThreadPlace(MappedMemory pool, bool prefault, size_t variables, CpuSet cpus, Doorbell& doorbell);
  void start_toucher(std::function<void()> taken);

  // Constant after construction.
  const std::shared_ptr<MappedMemory> pool_;
  const bool prefault_;
  const CpuSet cpus_;
  Doorbell& doorbell_;
  const ChannelMemory memory_;
  std::unique_ptr<std::byte, void (*)(void*)> parts_;  // of the channel, but for the pool
  Channel channel_;                                    // each part says which side may use it
  std::string description_;

  ServeLoop loop_;
  std::thread thread_;              // the owner's
  std::optional<Toucher> toucher_;  // the owner's; none: it takes nothing
};

}  // namespace tailrace::impl
