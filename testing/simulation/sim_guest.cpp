#include "testing/simulation/sim_guest.hpp"

#include <fmt/format.h>

#include <utility>

namespace tailrace::impl::simulation {

SimGuest::SimGuest(World& world, SimNode& node, int number, const ClientPlan& plan, bool restart)
    : world_(world),
      node_(node),
      number_(number),
      plan_(plan),
      restart_(restart),
      name_(fmt::format("client {}", number)),
      log_(world.story()) {}

void SimGuest::run(const std::function<void()>& program) {
  try {
    const SimNode::Met met = node_.meet(number_, false, process());
    if (!met.refusal.ok()) return stay_away(met.refusal);
    segment_ = met.segment;
    first_life_ = life_ = met.life;
    segment_->control().client_state.store(ChannelControl::kClientHere);
    channel_.emplace(segment_->view());
    client_.emplace(plan_.config, *this, world_.clock(), log_, trace_);
    program();
    stop();
    if (plan_.lingers) return;
  } catch (const ServerLost&) {
    world_.story().tell("client {} gives up", number_);
    world_.story().check(!restart_ || node_.has_abandoned(), "answer",
                         "a client that another server would serve has none");
    died_ = true;
  }
  node_.process_ended(process());
}

// The guest has come after the others had given it up.
void SimGuest::stay_away(const Status& refusal) {
  world_.story().tell("client {} is refused: {}", number_, refusal.fault().message);
  const bool too_late = plan_.others_wait && refusal.code() == TAILRACE_CLIENTS_MISSING;
  world_.story().check(too_late, "answer", "a client of the run is refused");
  is_absent_ = true;
  node_.process_ended(process());
}

// The guest stops where it is.
void SimGuest::die(bool power) {
  if (died_ || closed_) return;
  if (power) {
    world_.story().tell("THE POWER IS CUT");
    return power_cut_();
  }
  world_.story().tell("client {} DIES", number_);
  died_ = true;
  world_.abandon(*fiber_);
  node_.process_ended(process());
}

void SimGuest::lose_power() {
  if (!closed_) died_ = true;
  if (fiber_) world_.abandon(*fiber_);
}

void SimGuest::ring() {
  if (segment_->control().server_asleep.claim()) node_.ring(life_);
}

// CorePlace checks its server from time to time. Here it is told, so that the check cannot hide a missing wake-up.
void SimGuest::notice_loss() {
  noticed_ = true;
  if (channel_) channel_->client_bell.ring();
}

Status SimGuest::wait(FunctionRef<bool()> ready, std::optional<Nanoseconds> timeout) {
  const Nanoseconds start = world_.clock().now();
  bool is_ready = false;
  const auto look = [&] {
    is_ready = ready();
    return is_ready || noticed_;
  };
  for (;;) {
    if (!lost_.ok()) return ready() ? Status() : lost_;
    std::optional<Nanoseconds> left = timeout;
    if (left) *left -= world_.clock().now() - start;
    channel_->client_bell.wait_until(look, left, world_.clock());
    if (is_ready) return {};
    if (std::exchange(noticed_, false) && !node_.is_alive(life_)) {
      if (Status status = go_on_after_loss(); !status.ok()) return status;
      if (ready()) return {};
    }
    if (timeout && world_.clock().now() - start >= *timeout) return {TAILRACE_TIMEOUT, "the time given has passed"};
  }
}

Status SimGuest::go_on_after_loss() {
  if (!restart_) {
    lost_ = Status(TAILRACE_SERVER_LOST, "the node's server has died");
    return lost_;
  }
  const SimNode::Met met = node_.meet(number_, true, process());
  world_.story().check(met.refusal.ok() || node_.has_abandoned(), "answer", "a client that comes back is refused");
  if (!met.refusal.ok()) {
    lost_ = met.refusal;
    return lost_;
  }
  TAILRACE_REQUIRE(met.segment == segment_);
  life_ = met.life;
  ++losses_;
  world_.story().tell("client {} goes on with server life {}", number_, life_);
  return {};
}

// As in CorePlace: another server may have taken this client over before it left, and now waits for it.
void SimGuest::stop() {
  segment_->control().client_state.store(ChannelControl::kClientLeft);
  uint64_t life = life_;
  if (!node_.is_alive(life)) {
    const std::optional<SimNode::Met> met = node_.meet_running(number_, true, process());
    if (!met || !met->refusal.ok()) return;  // a server that takes it over from now on sees that it has left
    life = met->life;
  }
  if (node_.is_alive(life)) node_.say_goodbye(number_, process());
}

}  // namespace tailrace::impl::simulation
