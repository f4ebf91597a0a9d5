#include "transport/link/links.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>

#include "base/assert.hpp"
#include "transport/link/link_wire.hpp"

namespace tailrace::impl {
namespace {

constexpr uint64_t kOwnTag = UINT64_MAX;  // of messages that no caller waits for

static_assert(kMostSealed == Transport::kMostHead);
static_assert(Links::kMostBody + sizeof(LinkHead) <= kMostSealedBody);

Versions only(uint16_t version) { return {version, version}; }

// The last byte of the terms says whether this end wants bulk data to be encrypted.
constexpr std::byte kEncrypts{1};

Terms with_link_byte(Terms terms, const Links::Options& options) {
  terms.back() = options.encrypts_bulk ? kEncrypts : std::byte{};
  return terms;
}

Status broken(std::string why) { return Status(TAILRACE_IO_ERROR, std::move(why)); }

}  // namespace

Links::Links(Transport& transport, const Clock& clock, Log& log, const ForwardKey& key, const Terms& terms,
             const Options& options)
    : transport_(transport),
      clock_(clock),
      log_(log),
      key_(key),
      terms_(with_link_byte(terms, options)),
      options_(options) {}

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

void Links::send(PeerId name, std::span<const std::byte> body, std::span<const iovec> bulk, uint64_t tag,
                 std::span<std::byte> own) {
  TAILRACE_REQUIRE(!body.empty());
  TAILRACE_REQUIRE(body.size() <= kMostBody);
  TAILRACE_REQUIRE(tag < kMostTag);
  const auto found = peers_.find(name);
  TAILRACE_REQUIRE(found != peers_.end());
  if (found->second.state == State::ending) return fail(LinkEvent::Kind::sent, name, tag);
  TAILRACE_REQUIRE(found->second.state == State::ready);
  if (found->second.encrypts && !bulk.empty()) return send_hidden(name, found->second, body, bulk, tag, own);
  send_sealed(name, found->second, body, bulk, tag);
}

void Links::fail(LinkEvent::Kind kind, PeerId name, uint64_t tag) {
  late_.push_back({.kind = kind, .peer = name, .tag = tag, .status = broken("the connection has ended")});
}

// Puts the body of a message, with its head, into body_.
void Links::put_head(const Peer& peer, std::span<const std::byte> body) {
  const LinkHead head{clock_.now().count(), peer.stamp};
  body_.resize(sizeof head + body.size());
  std::memcpy(body_.data(), &head, sizeof head);
  std::copy(body.begin(), body.end(), body_.begin() + sizeof head);
}

void Links::send_sealed(PeerId name, Peer& peer, std::span<const std::byte> body, std::span<const iovec> bulk,
                        uint64_t tag) {
  put_head(peer, body);
  const Status sealed = peer.sealer->seal(body_, bulk, head_);
  TAILRACE_ASSERT(sealed.ok());  // no session lasts for 2^63 messages
  transport_.send(name, head_, bulk, tag);
  ++peer.outstanding;
  peer.spoke = clock_.now();
}

void Links::send_hidden(PeerId name, Peer& peer, std::span<const std::byte> body, std::span<const iovec> bulk,
                        uint64_t tag, std::span<std::byte> own) {
  size_t bytes = 0;
  for (const iovec& segment : bulk) bytes += segment.iov_len;
  if (own.empty()) {
    const auto [copy, is_new] = peer.hidden.emplace(tag, bytes);
    TAILRACE_REQUIRE(is_new);
    own = copy->second;
  }
  put_head(peer, body);
  const Status sealed = peer.sealer->seal_hidden(body_, bulk, own.first(bytes), head_);
  TAILRACE_ASSERT(sealed.ok());  // no session lasts for 2^63 messages
  const iovec whole{own.data(), bytes};
  transport_.send(name, head_, std::span(&whole, 1), tag);
  ++peer.outstanding;
  peer.spoke = clock_.now();
}

void Links::send_plain(PeerId name, Peer& peer, std::span<const std::byte> head) {
  transport_.send(name, head, {}, kOwnTag);
  ++peer.outstanding;
  peer.spoke = clock_.now();
}

void Links::receive(PeerId name, uint64_t arrival, std::span<std::byte> into, uint64_t tag) {
  TAILRACE_REQUIRE(tag < kMostTag);
  const auto found = peers_.find(name);
  TAILRACE_REQUIRE(found != peers_.end());
  Peer& peer = found->second;
  if (peer.state == State::ending) return fail(LinkEvent::Kind::received, name, tag);
  const auto waiting = peer.waiting.find(arrival);
  TAILRACE_REQUIRE(waiting != peer.waiting.end());
  peer.arriving.emplace(tag, Arriving{waiting->second, into});
  peer.waiting.erase(waiting);
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
  if (event.kind == TransportEvent::Kind::accepted) {
    Peer& peer = peers_[event.peer];
    peer.address = event.text;
    peer.state = State::greeting;
    peer.server.emplace(key_, only(options_.version), terms_);
    peer.since = peer.heard = peer.spoke = peer.renewed = clock_.now();
    limit_strangers();
    return;
  }
  const auto found = peers_.find(event.peer);
  if (found == peers_.end()) return;
  Peer& peer = found->second;
  switch (event.kind) {
    case TransportEvent::Kind::accepted: return;
    case TransportEvent::Kind::connected: greet(event.peer, peer); return;
    case TransportEvent::Kind::message: hear(event.peer, peer, event, events); return;
    case TransportEvent::Kind::sent:
      --peer.outstanding;
      if (event.tag == kOwnTag) return;
      peer.hidden.erase(event.tag);
      events.push_back({.kind = LinkEvent::Kind::sent, .peer = event.peer, .tag = event.tag, .status = event.status});
      return;
    case TransportEvent::Kind::received:
      --peer.outstanding;
      check_bulk(event.peer, peer, event, events);
      return;
    case TransportEvent::Kind::lost: end(event.peer, peer, event.status); return;
  }
}

void Links::greet(PeerId name, Peer& peer) {
  if (peer.state != State::connecting) return;
  peer.client.emplace(key_, only(options_.version), terms_);
  peer.state = State::greeting;
  peer.heard = clock_.now();
  send_plain(name, peer, peer.client->hello());
}

void Links::hear(PeerId name, Peer& peer, TransportEvent& event, std::vector<LinkEvent>& events) {
  if (peer.state == State::ending) return;
  peer.heard = clock_.now();
  if (peer.opener) return hear_sealed(name, peer, event, events);
  const Status status =
      event.bulk > 0 ? broken("found bulk data in a handshake") : hear_greeting(name, peer, event.head);
  if (status.ok()) return;
  log_.warning("the connection with {} is refused: {}", peer.address, status.fault().message);
  const bool told = peer.server && !peer.server->refusal().empty();
  if (!told || peer.refused) return end(name, peer, status);
  peer.refused = true;  // the peer ends the connection when it has read why, or keep_time() does
}

// Takes a message of the handshake.
Status Links::hear_greeting(PeerId name, Peer& peer, std::span<const std::byte> head) {
  if (peer.caller) {
    if (!peer.client) return broken("found a message before the connection was there");
    auto finished = peer.client->finish(head);
    if (!finished.ok()) return finished.status();
    send_plain(name, peer, finished.value().proof);
    peer.state = State::proving;
    take_keys(peer, finished.value().keys);
    return {};
  }
  if (peer.state == State::greeting) {
    auto answer = peer.server->answer(head);
    if (!answer.ok()) {
      if (!peer.refused && !peer.server->refusal().empty()) send_plain(name, peer, peer.server->refusal());
      return answer.status();
    }
    peer.state = State::proving;
    send_plain(name, peer, answer.value());
    return {};
  }
  auto finished = peer.server->finish(head);
  if (!finished.ok()) return finished.status();
  take_keys(peer, finished.value());
  peer.state = State::ready;
  send_sealed(name, peer, {}, {}, kOwnTag);  // shows the caller that this end has the keys, too
  return {};
}

void Links::take_keys(Peer& peer, const SessionKeys& keys) const {
  peer.encrypts = options_.encrypts_bulk || keys.peer_terms.back() == kEncrypts;
  peer.sealer.emplace(peer.caller ? keys.to_server : keys.to_client, peer.encrypts);
  peer.opener.emplace(peer.caller ? keys.to_client : keys.to_server, peer.encrypts);
  peer.terms = keys.peer_terms;
}

void Links::hear_sealed(PeerId name, Peer& peer, TransportEvent& event, std::vector<LinkEvent>& events) {
  auto opened = peer.opener->open(event.head, event.bulk);
  if (!opened.ok()) return distrust(name, opened.status().fault().message);
  if (Status taken = take_head(peer, opened.value().body); !taken.ok()) {
    return distrust(name, taken.fault().message);
  }
  if (peer.state == State::proving) peer.state = State::ready;
  if (!peer.told) become_ready(name, peer, events);
  if (opened.value().body.empty() && event.bulk == 0) return;  // a beat
  if (opened.value().body.empty()) return distrust(name, "found bulk data without a message");
  if (event.bulk > 0) peer.waiting.emplace(event.arrival, opened.value().bulk);
  events.push_back({.kind = LinkEvent::Kind::message,
                    .peer = name,
                    .body = std::move(opened.value().body),
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
  peer.client.reset();
  peer.server.reset();
  events.push_back({.kind = LinkEvent::Kind::ready, .peer = name, .terms = peer.terms, .address = peer.address});
}

void Links::check_bulk(PeerId name, Peer& peer, TransportEvent& event, std::vector<LinkEvent>& events) {
  const auto arriving = peer.arriving.find(event.tag);
  TAILRACE_ASSERT(arriving != peer.arriving.end());
  Status status = event.status;
  if (status.ok()) {
    status = peer.opener->open_bulk(arriving->second.tag, arriving->second.into);
    if (!status.ok()) distrust(name, status.fault().message);
  }
  peer.arriving.erase(arriving);
  events.push_back({.kind = LinkEvent::Kind::received, .peer = name, .tag = event.tag, .status = status});
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
    // A caller that has been told keys first speaks, so that the other end reports it, too.
    if (!peer.told && !peer.caller) become_ready(name, peer, events);
    if (now >= end_of_time(peer)) {
      const bool silent = now - peer.heard >= options_.silence;
      end(name, peer,
          Status(TAILRACE_TIMEOUT,
                 fmt::format("'{}' has {} for {} ms", peer.address, silent ? "been silent" : "answered nothing",
                             (now - (silent ? peer.heard : peer.renewed)).count() / 1'000'000)));
    } else if (now - peer.spoke >= options_.beat) {
      send_sealed(name, peer, {}, {}, kOwnTag);
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

// Ends the oldest connections without a handshake, if there are too many.
void Links::limit_strangers() {
  size_t strangers = 0;
  for (const auto& [name, peer] : peers_) strangers += !peer.caller && peer.state < State::ready ? 1 : 0;
  for (auto& [name, peer] : peers_) {
    if (strangers <= options_.most_strangers) return;
    if (peer.caller || peer.state >= State::ready) continue;
    end(name, peer, broken("too many connections without a handshake"));
    --strangers;
  }
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
      const bool never_met = !peer.client && !peer.told;
      const bool refused = never_met && !peer.end->ok() && peer.end->fault().system_errno == ECONNREFUSED;
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
