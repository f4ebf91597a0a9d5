// SimProcess: one process of the application with its server, as in place `thread`: the real client, ServerCore,
// engine, format, pool, ring and bells, on a simulated disk. Two fibers run it.
//
// When it dies, its storage is cut off at that moment, and the client's fiber ends where it next sleeps or ends a
// verb. The server runs to its end unseen, so that memory is freed.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client/client.hpp"
#include "engine/schedule/fifo.hpp"
#include "format/hdf5/hdf5_format.hpp"
#include "server/filtering/filter_crew.hpp"
#include "server/lone_server.hpp"
#include "testing/simulation/application.hpp"
#include "testing/simulation/session_plan.hpp"
#include "testing/simulation/sim_segment.hpp"
#include "testing/simulation/sim_storage.hpp"

namespace tailrace::impl::simulation {

// Hands out ready requests in any order, since every order is right.
class AnyOrder final : public Scheduler {
 public:
  explicit AnyOrder(SplitDice dice) : dice_(dice) {}
  void push(const Request* request) override { ready_.push_back(request); }
  const Request* next(Nanoseconds /*now*/) override {
    if (ready_.empty()) return nullptr;
    std::swap(ready_[dice_.below(ready_.size())], ready_.back());
    const Request* const request = ready_.back();
    ready_.pop_back();
    return request;
  }

 private:
  SplitDice dice_;
  std::vector<const Request*> ready_;
};

class SimProcess final : public Place, public Application {
 public:
  // Borrows all its objects.
  SimProcess(World& world, SimDisk& disk, Faults& faults, uint64_t seed, int number, const ClientPlan& plan);

  // The bodies of its fibers. The first one runs `program`, the application.
  void run_client(const std::function<void()>& program);
  void run_server();

  // Kills the process as by kill -9; if `power`, cuts the power of all. Does nothing once the client has closed.
  void die(bool power) override;
  // Sets the function to call when the power is cut.
  void set_power_cut(std::function<void()> cut) { power_cut_ = std::move(cut); }
  // Notes that the machine loses its power.
  void lose_power();
  bool died() const { return died_; }
  // Reports that the application's client was closed.
  void closed() override { closed_ = true; }
  bool is_closed() const { return closed_; }
  void set_fiber(World::FiberId fiber) { fiber_ = fiber; }

  Client& client() override { return client_; }
  Channel& client_channel() override { return channel_; }
  const ClientPlan& plan() const override { return plan_; }
  int number() const override { return number_; }
  bool guards_hold() const override { return memory_.guards_hold(); }
  bool engine_is_idle() const override { return engine_.idle() && storage_.idle(); }

  Channel& channel() override { return channel_; }
  void ring() override { doorbell_.ring(); }
  bool reaches_client() const override { return true; }
  uint32_t losses() const override { return 0; }
  void stop() override { server_.end(); }
  Status wait(FunctionRef<bool()> ready, std::optional<Nanoseconds> timeout) override;
  const std::string& description() const override { return name_; }

 private:
  // There is one process here, and it lives.
  struct OneProcess final : ProcessClock {
    uint64_t began(pid_t) const override { return 1; }
    uint64_t now() const override { return 2; }
    uint64_t ticks(Nanoseconds time) const override { return static_cast<uint64_t>(time.count()); }
  };
  // Sleeps in the simulated time.
  struct SimServer final : LoneServer {
    explicit SimServer(SimProcess& process);
    void wait(std::optional<Nanoseconds> limit) override;
    SimProcess& process;
  };

  const ClientPlan& plan_;
  const int number_;
  const std::string name_;
  World& world_;
  StoryLog log_;
  Doorbell doorbell_;
  SimSegment memory_;
  Channel channel_;
  SimStorage storage_;
  Fifo fifo_;
  AnyOrder any_order_;
  Engine engine_;
  TraceLog client_trace_{0};
  OneProcess processes_;
  TraceLog server_trace_{0};
  FilterCrew crew_;
  SimServer server_;
  bool runs_ = false;  // the server
  Client client_;
  World::FiberId fiber_ = 0;
  std::function<void()> power_cut_;
  bool died_ = false;
  bool closed_ = false;
};

}  // namespace tailrace::impl::simulation
