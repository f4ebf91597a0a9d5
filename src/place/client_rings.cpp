#include "place/client_rings.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.hpp"

namespace tailrace::impl {
namespace {

constexpr int kAtOnce = 64;    // verbs of one client before the other clients' turn
constexpr int kInARow = 1024;  // … and before the verbs taken so far are processed

// Each verb is numbered by its place in the ring, so that none is missing between this one and the last one, also if
// an earlier server took that.
Status check_sequence(const Channel& channel, const Descriptor& descriptor) {
  const uint32_t expected = channel.ring.taken() + 1;
  if (static_cast<uint32_t>(descriptor.sequence) == expected) return {};
  return Status(
      TAILRACE_INVALID_ARGUMENT,
      fmt::format("a call has number {}, expected one that ends in {} (modulo 2^32)", descriptor.sequence, expected));
}

}  // namespace

const ClientRings::Stage& ClientRings::add(int client, Channel& channel, SleepFlag<>& server_asleep,
                                           uint64_t accepted) {
  const auto [ring, added] = rings_.try_emplace(client, Ring{&channel, &server_asleep, accepted});
  TAILRACE_REQUIRE(added);
  return ring->second.stage;
}

// Every client takes each step of its way out, once, in their order.
void ClientRings::advance(Ring& ring, Stage to) {
  TAILRACE_ASSERT(static_cast<int>(to) == static_cast<int>(ring.stage) + 1);
  ring.stage = to;
}

void ClientRings::lose(int client, bool died) {
  Ring& ring = rings_.at(client);
  advance(ring, Stage::gone);
  ring.died = died;
  host_.lost(client);
}

ClientRings::Round ClientRings::work() {
  Round round;
  take_all(round);
  host_.progress();
  dismiss_settled(round);
  round.more = round.more || !round.dismissed.empty() || can_take();
  return round;
}

// Takes all verbs that have come, from all clients, even if one of them waits, so that they can be merged. But a
// client that sends without end must not keep earlier verbs from being processed.
void ClientRings::take_all(Round& round) {
  for (auto& [client, ring] : rings_) ring.may_take = kInARow;
  bool took = true;
  while (took) {
    took = false;
    for (auto& [client, ring] : rings_) took = take(client, ring, round) || took;
    round.more = round.more || took;
  }
}

// Returns true if verbs left in a ring can be taken now: no client rings for them again.
bool ClientRings::can_take() const {
  return host_.ready() && std::any_of(rings_.begin(), rings_.end(), [](const auto& entry) {
           const Ring& ring = entry.second;
           return !ring.broken && !ring.channel->ring.empty();
         });
}

// Takes verbs of one client. Returns true if there were any.
bool ClientRings::take(int client, Ring& ring, Round& round) {
  if (ring.broken) return false;
  Channel& channel = *ring.channel;
  if (channel.is_lost()) {
    distrust(client, ring, {TAILRACE_INVALID_ARGUMENT, "its shared memory has been truncated"}, round);
    return true;
  }
  bool took = false;
  bool broken = false;
  Descriptor descriptor;
  const int most = std::min(kAtOnce, ring.may_take);
  for (int count = 0; count < most && host_.ready() && channel.ring.front(descriptor, broken); ++count) {
    took = true;
    --ring.may_take;
    if (descriptor.sequence <= ring.accepted) {
      channel.ring.drop();
      continue;
    }
    Status status = check_sequence(channel, descriptor);
    if (status.ok()) status = host_.check(client, descriptor);
    if (!status.ok()) {
      distrust(client, ring, std::move(status), round);
      return true;
    }
    ring.accepted = descriptor.sequence;
    host_.accept(client, descriptor);
    channel.ring.drop();
  }
  if (broken)
    distrust(client, ring, {TAILRACE_INVALID_ARGUMENT, "its ring claims more entries than it can hold"}, round);
  if (took) channel.client_bell.ring();  // the ring has room again
  return took;
}

void ClientRings::distrust(int client, Ring& ring, Status why, Round& round) {
  ring.broken = true;
  if (ring.stage == Stage::here) lose(client, true);
  round.distrusted.emplace_back(client, std::move(why));
}

void ClientRings::dismiss_settled(Round& round) {
  for (auto it = rings_.begin(); it != rings_.end();) {
    auto& [client, ring] = *it;
    if (ring.stage == Stage::gone && (ring.broken || ring.channel->ring.empty()) && host_.settled(client)) {
      host_.leave(client);
      advance(ring, Stage::left);
      round.more = true;
    }
    if (ring.stage != Stage::left || !host_.released(client)) {
      ++it;
      continue;
    }
    host_.dismiss(client);
    round.dismissed.emplace_back(client, ring.died);
    it = rings_.erase(it);
  }
}

void ClientRings::announce() {
  for (auto& [client, ring] : rings_) ring.server_asleep->announce();
}

void ClientRings::retract() {
  for (auto& [client, ring] : rings_) ring.server_asleep->retract();
}

}  // namespace tailrace::impl
