#include "transport/link/links.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>

#include "base/assert.hpp"

namespace tailrace::impl {
namespace {

constexpr uint64_t kOwnTag = UINT64_MAX;  // of messages that no caller waits for

Status broken(std::string why) { return Status(TAILRACE_IO_ERROR, std::move(why)); }

}  // namespace

Links::Links(Transport& transport, const Clock& clock, Log& log, const Terms& terms, const Options& options)
    : transport_(transport), clock_(clock), log_(log), terms_(terms), options_(options) {}

Links::~Links() {
  for (const auto& [name, peer] : peers_) transport_.close(name);
}

PeerId Links::connect(const std::string& address) {
  const PeerId name = transport_.connect(address);
  Peer& peer = peers_[name];
  peer.caller = true;
  peer.address = address;
  peer.since = peer.heard = peer.spoke = clock_.now();
  return name;
}

bool Links::is_ready(PeerId name) const {
  const auto found = peers_.find(name);
  return found != peers_.end() && found->second.state == State::ready;
}

bool Links::has_lease(PeerId name) const {
  const auto found = peers_.find(name);
  if (found == peers_.end()) return false;
  return options_.lease == Nanoseconds::zero() || clock_.now() - found->second.renewed < options_.lease;
}

void Links::close(PeerId name) {
  const auto found = peers_.find(name);
  if (found != peers_.end()) end(name, found->second, std::nullopt);
}

void Links::distrust(PeerId name, const std::string& why) {
  const auto found = peers_.find(name);
  if (found == peers_.end()) return;
  log_.warning("the connection with {} ends: {}", found->second.address, why);
  end(name, found->second, broken(why));
}

// Begins the end of a link. `why`: reported with `lost`; none: its caller knows.
void Links::end(PeerId name, Peer& peer, std::optional<Status> why) {
  if (peer.state == State::ending) {
    if (!why) peer.end.reset();
    return;
  }
  transport_.close(name);
  peer.state = State::ending;
  peer.waiting.clear();
  peer.end = std::move(why);
}

// ---- sending ---------------------------------------------------------------------------------------------------

void Links::send(PeerId name, std::span<const std::byte> body, std::span<const iovec> bulk, uint64_t tag) {
  TAILRACE_REQUIRE(!body.empty());
  TAILRACE_REQUIRE(body.size() <= kMostBody);
  TAILRACE_REQUIRE(tag < kMostTag);
  const auto found = peers_.find(name);
  TAILRACE_REQUIRE(found != peers_.end());
  if (found->second.state == State::ending) return fail(LinkEvent::Kind::sent, name, tag);
  TAILRACE_REQUIRE(found->second.state == State::ready);
  send_message(name, found->second, body, bulk, tag);
}

void Links::fail(LinkEvent::Kind kind, PeerId name, uint64_t tag) {
  late_.push_back({.kind = kind, .peer = name, .tag = tag, .status = broken("the connection has ended")});
}

void Links::send_message(PeerId name, Peer& peer, std::span<const std::byte> body, std::span<const iovec> bulk,
                         uint64_t tag) {
  const LinkHead head{clock_.now().count(), peer.stamp};
  head_.resize(sizeof head + body.size());
  std::memcpy(head_.data(), &head, sizeof head);
  std::copy(body.begin(), body.end(), head_.begin() + sizeof head);
  transport_.send(name, head_, bulk, tag);
  ++peer.outstanding;
  peer.spoke = clock_.now();
}

void Links::send_greeting(PeerId name, Peer& peer) {
  const LinkGreeting greeting{.version = options_.version, .terms = terms_};
  transport_.send(name, std::as_bytes(std::span(&greeting, 1)), {}, kOwnTag);
  ++peer.outstanding;
  peer.spoke = clock_.now();
}

void Links::receive(PeerId name, uint64_t arrival, std::span<std::byte> into, uint64_t tag) {
  TAILRACE_REQUIRE(tag < kMostTag);
  const auto found = peers_.find(name);
  TAILRACE_REQUIRE(found != peers_.end());
  Peer& peer = found->second;
  if (peer.state == State::ending) return fail(LinkEvent::Kind::received, name, tag);
  TAILRACE_REQUIRE(peer.waiting.erase(arrival) == 1);
  transport_.receive(name, arrival, into, tag);
  ++peer.outstanding;
}

void Links::refuse(PeerId name, uint64_t arrival) {
  const auto found = peers_.find(name);
  if (found == peers_.end() || found->second.waiting.erase(arrival) == 0) return;
  transport_.refuse(name, arrival);
}

// ---- what comes ------------------------------------------------------------------------------------------------

// Reports the ends of links before anything new: their owner has had a poll() to learn of their last events.
void Links::poll(std::vector<LinkEvent>& events) {
  std::move(late_.begin(), late_.end(), std::back_inserter(events));
  late_.clear();
  bury(events);
  raw_.clear();
  transport_.poll(raw_);
  for (TransportEvent& event : raw_) take(event, events);
  keep_time(events);
}

void Links::take(TransportEvent& event, std::vector<LinkEvent>& events) {
  if (event.kind == TransportEvent::Kind::refused) {
    log_.warning("a connection from {} is refused: {}", event.text, event.status.fault().message);
    return;
  }
  if (event.kind == TransportEvent::Kind::accepted) {
    Peer& peer = peers_[event.peer];
    peer.address = event.text;
    peer.state = State::greeting;
    peer.since = peer.heard = peer.spoke = peer.renewed = clock_.now();
    return;
  }
  const auto found = peers_.find(event.peer);
  if (found == peers_.end()) return;
  Peer& peer = found->second;
  switch (event.kind) {
    case TransportEvent::Kind::accepted:
    case TransportEvent::Kind::refused: return;
    case TransportEvent::Kind::connected: greet(event.peer, peer); return;
    case TransportEvent::Kind::message: hear(event.peer, peer, event, events); return;
    case TransportEvent::Kind::sent:
      --peer.outstanding;
      if (event.tag == kOwnTag) return;
      events.push_back({.kind = LinkEvent::Kind::sent, .peer = event.peer, .tag = event.tag, .status = event.status});
      return;
    case TransportEvent::Kind::received:
      --peer.outstanding;
      events.push_back(
          {.kind = LinkEvent::Kind::received, .peer = event.peer, .tag = event.tag, .status = event.status});
      return;
    case TransportEvent::Kind::lost: end(event.peer, peer, event.status); return;
  }
}

void Links::greet(PeerId name, Peer& peer) {
  if (peer.state != State::connecting) return;
  peer.state = State::greeting;
  peer.heard = clock_.now();
  send_greeting(name, peer);
}

void Links::hear(PeerId name, Peer& peer, TransportEvent& event, std::vector<LinkEvent>& events) {
  if (peer.state == State::ending) return;
  peer.heard = clock_.now();
  if (peer.state > State::greeting) return hear_message(name, peer, event, events);
  const Status status = hear_greeting(name, peer, event);
  if (status.ok()) return;
  log_.warning("the connection with {} is refused: {}", peer.address, status.fault().message);
  end(name, peer, status);
}

// Takes the first message of a peer. The answer reports another version: the caller, too, ends the link then.
Status Links::hear_greeting(PeerId name, Peer& peer, const TransportEvent& event) {
  LinkGreeting greeting;
  if (event.bulk > 0 || event.head.size() != sizeof greeting) return broken("found no greeting");
  std::memcpy(&greeting, event.head.data(), sizeof greeting);
  if (greeting.magic != LinkGreeting::kMagic) return broken("found no greeting");
  if (!peer.caller) send_greeting(name, peer);
  if (greeting.version != options_.version) {
    return broken(fmt::format("it speaks version {}, expected {}: is it another tailrace?", greeting.version,
                              options_.version));
  }
  peer.terms = greeting.terms;
  peer.state = peer.caller ? State::ready : State::answered;
  if (peer.caller) send_message(name, peer, {}, {}, kOwnTag);
  return {};
}

void Links::hear_message(PeerId name, Peer& peer, TransportEvent& event, std::vector<LinkEvent>& events) {
  if (Status taken = take_head(peer, event.head); !taken.ok()) return distrust(name, taken.fault().message);
  peer.state = State::ready;
  if (!peer.told) become_ready(name, peer, events);
  if (event.head.empty() && event.bulk == 0) return;  // a beat
  if (event.head.empty()) return distrust(name, "found bulk data without a message");
  if (event.bulk > 0) peer.waiting.insert(event.arrival);
  events.push_back({.kind = LinkEvent::Kind::message,
                    .peer = name,
                    .body = std::move(event.head),
                    .bulk = event.bulk,
                    .arrival = event.arrival});
}

// Takes the head of a message off its body. Messages may overtake one another, so the latest times count.
Status Links::take_head(Peer& peer, std::vector<std::byte>& body) const {
  LinkHead head;
  if (body.size() < sizeof head) return broken("found a message without a head");
  std::memcpy(&head, body.data(), sizeof head);
  if (head.echo > clock_.now().count()) return broken("found an answer to what was not sent");
  body.erase(body.begin(), body.begin() + sizeof head);
  peer.stamp = std::max(peer.stamp, head.stamp);
  peer.renewed = std::max(peer.renewed, Nanoseconds(head.echo));
  return {};
}

void Links::become_ready(PeerId name, Peer& peer, std::vector<LinkEvent>& events) {
  peer.told = true;
  events.push_back({.kind = LinkEvent::Kind::ready, .peer = name, .terms = peer.terms, .address = peer.address});
}

// ---- time ------------------------------------------------------------------------------------------------------

void Links::keep_time(std::vector<LinkEvent>& events) {
  const Nanoseconds now = clock_.now();
  for (auto& [name, peer] : peers_) {
    if (peer.state == State::ending) continue;
    if (peer.state != State::ready) {
      if (now - peer.since < options_.greeting) continue;
      end(name, peer,
          Status(TAILRACE_TIMEOUT, fmt::format("'{}' has not answered within {} s", peer.address,
                                               options_.greeting.count() / 1'000'000'000)));
      continue;
    }
    if (!peer.told) become_ready(name, peer, events);  // a caller that has had its answer
    if (now >= end_of_time(peer)) {
      const bool silent = now - peer.heard >= options_.silence;
      end(name, peer,
          Status(TAILRACE_TIMEOUT,
                 fmt::format("'{}' has {} for {} ms", peer.address, silent ? "been silent" : "answered nothing",
                             (now - (silent ? peer.heard : peer.renewed)).count() / 1'000'000)));
    } else if (now - peer.spoke >= options_.beat) {
      send_message(name, peer, {}, {}, kOwnTag);
    }
  }
}

// Returns when the link ends if nothing more comes.
Nanoseconds Links::end_of_time(const Peer& peer) const {
  const Nanoseconds silent = peer.heard + options_.silence;
  return options_.lease == Nanoseconds::zero() ? silent : std::min(silent, peer.renewed + options_.lease);
}

std::optional<Nanoseconds> Links::due() const {
  std::optional<Nanoseconds> least;
  for (const auto& [name, peer] : peers_) {
    if (peer.state == State::ending && peer.outstanding > 0) continue;
    if (peer.state == State::ending) return Nanoseconds::zero();  // at once
    const Nanoseconds at = peer.state != State::ready ? peer.since + options_.greeting
                                                      : std::min(end_of_time(peer), peer.spoke + options_.beat);
    least = least ? std::min(*least, at) : at;
  }
  return least;
}

void Links::wait(Nanoseconds limit) {
  const Nanoseconds now = clock_.now();
  const Nanoseconds left = late_.empty() ? due().value_or(now + limit) - now : Nanoseconds::zero();
  transport_.wait(std::clamp(left, Nanoseconds::zero(), limit));
}

// Forgets links whose sends and receives have all ended.
void Links::bury(std::vector<LinkEvent>& events) {
  for (auto it = peers_.begin(); it != peers_.end();) {
    Peer& peer = it->second;
    if (peer.state != State::ending || peer.outstanding > 0) {
      ++it;
      continue;
    }
    if (peer.end && (peer.told || peer.caller)) {
      const bool refused = !peer.told && !peer.end->ok() && peer.end->fault().system_errno == ECONNREFUSED;
      events.push_back({.kind = LinkEvent::Kind::lost,
                        .peer = it->first,
                        .status = *peer.end,
                        .heard = peer.heard,
                        .refused = refused});
    }
    it = peers_.erase(it);
  }
}

}  // namespace tailrace::impl
