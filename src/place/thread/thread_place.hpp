// ThreadPlace: the server is a thread of the process that computes; the channel lies in private memory.
//
// All that is this place's own is the thread: where it runs, and that it does not disturb the computation.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "base/memory/memory_map.hpp"
#include "channel/channel_memory.hpp"
#include "place/serve_loop.hpp"
#include "place/thread/cpus.hpp"

namespace tailrace::impl {

class ThreadPlace final : public Place {
 public:
  // For a client with so many variables. `doorbell` is borrowed. Takes `budget` bytes (a multiple of the page);
  // `prefault`: all of them now.
  static Result<std::unique_ptr<ThreadPlace>> create(uint64_t budget, bool prefault, size_t variables, CpuSet cpus,
                                                     Doorbell& doorbell);
  ~ThreadPlace() override;

  // Starts the thread; `sink` outlives the place's thread, that is, a stop(). Once.
  void start(RequestSink& sink);
  // Lets the sink finish everything that was sent, and ends the thread. Does nothing if it is not running.
  void stop() override;

  Channel& channel() override { return channel_; }
  std::shared_ptr<void> memory() override { return pool_; }
  void ring() override { doorbell_.ring(); }
  bool reaches_client() const override { return true; }
  uint32_t losses() const override { return 0; }
  Status wait(FunctionRef<bool()> ready, std::optional<Nanoseconds> timeout) override;
  const std::string& description() const override { return description_; }

 private:
  ThreadPlace(MappedMemory pool, size_t variables, CpuSet cpus, Doorbell& doorbell);

  // Constant after construction.
  const std::shared_ptr<MappedMemory> pool_;
  const CpuSet cpus_;
  Doorbell& doorbell_;
  const ChannelMemory memory_;
  std::unique_ptr<std::byte, void (*)(void*)> parts_;  // of the channel, but for the pool
  Channel channel_;                                    // each part says which side may use it
  std::string description_;

  ServeLoop loop_;
  std::thread thread_;  // the owner's
};

}  // namespace tailrace::impl
