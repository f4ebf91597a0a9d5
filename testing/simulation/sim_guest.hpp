// SimGuest: one process of the application, whose client its node's server serves: the real client, on the real
// layout of a segment. It replaces CorePlace: it notices the death of a server during a wait, and meets the next one.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "client/client.hpp"
#include "testing/simulation/application.hpp"
#include "testing/simulation/sim_node.hpp"
#include "testing/simulation/sim_process.hpp"

namespace tailrace::impl::simulation {

class SimGuest final : public Place, public Application {
 public:
  // Borrows all its objects. `restart`: another server may replace a dead one.
  SimGuest(World& world, SimNode& node, int number, const ClientPlan& plan, bool restart);

  // The body of its fiber. Calls `program`, the application, when it has a client.
  void run(const std::function<void()>& program);
  void set_fiber(World::FiberId fiber) { fiber_ = fiber; }
  void set_power_cut(std::function<void()> cut) { power_cut_ = std::move(cut); }
  void die(bool power) override;
  // Notes that the machine loses its power.
  void lose_power();
  // Notes that a server has died, at the time when CorePlace could have seen it.
  void notice_loss();

  bool died() const { return died_; }
  bool is_closed() const { return closed_; }
  bool has_client() const { return client_.has_value(); }
  // Returns true if it hands over nothing: it never came, came too late, or left at once.
  bool is_absent() const { return is_absent_ || (plan_.absence && !plan_.absence->works); }

  int number() const override { return number_; }
  const ClientPlan& plan() const override { return plan_; }
  Client& client() override { return *client_; }
  Channel& client_channel() override { return *channel_; }
  void closed() override { closed_ = true; }
  bool lost_a_server() const override { return node_.killed_before() > first_life_; }
  bool knows_of_losses() const override { return node_.killed_before() <= life_; }
  bool guards_hold() const override { return segment_->guards_hold(); }
  bool engine_is_idle() const override { return true; }

  Channel& channel() override { return *channel_; }
  void ring() override;
  bool reaches_client() const override { return false; }
  Status wait(FunctionRef<bool()> ready, std::optional<Nanoseconds> timeout) override;
  Status lost() const override { return lost_; }
  uint32_t losses() const override { return losses_; }
  void stop() override;
  const std::string& description() const override { return name_; }

 private:
  Status go_on_after_loss();
  void stay_away(const Status& refusal);
  pid_t process() const { return SimNode::first_process(number_); }

  World& world_;
  SimNode& node_;
  const int number_;
  const ClientPlan& plan_;
  const bool restart_;
  const std::string name_;
  StoryLog log_;
  TraceLog trace_{0};
  SimSegment* segment_ = nullptr;
  std::optional<Channel> channel_;
  std::optional<Client> client_;
  uint64_t first_life_ = 0;  // of the server that it met first …
  uint64_t life_ = 0;        // … and last
  bool noticed_ = false;
  uint32_t losses_ = 0;
  Status lost_;
  std::optional<World::FiberId> fiber_;  // none: it never comes
  std::function<void()> power_cut_;
  bool died_ = false;
  bool closed_ = false;
  bool is_absent_ = false;
};

}  // namespace tailrace::impl::simulation
