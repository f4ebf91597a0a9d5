#include "transport/simulated/sim_network.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>

#include "base/assert.hpp"

namespace tailrace::impl {
namespace {

Status closed() { return Status(TAILRACE_CLOSED, "the connection was closed"); }
Status wrong_key() {
  Fault fault;
  fault.code = TAILRACE_IO_ERROR;
  fault.message = "the handshake has failed: it has another key";
  fault.system_errno = EKEYREJECTED;
  return Status(std::move(fault));
}
Status refused(const std::string& address) { return Status::of_errno("connect to", address, ECONNREFUSED); }

uint64_t bytes_of(std::span<const iovec> segments) {
  uint64_t bytes = 0;
  for (const iovec& segment : segments) bytes += segment.iov_len;
  return bytes;
}

}  // namespace

SimNetwork::SimNetwork(const Clock& clock, uint64_t seed, Options options)
    : clock_(clock), options_(options), random_(seed) {}

SimNetwork::~SimNetwork() = default;

SimNetwork::Way SimNetwork::both(const std::string& one, const std::string& other) {
  return {std::min(one, other), std::max(one, other)};
}

std::unique_ptr<SimEndpoint> SimNetwork::endpoint(Doorbell& doorbell, std::string host,
                                                  std::function<void(Nanoseconds)> while_waiting) {
  return std::unique_ptr<SimEndpoint>(new SimEndpoint(*this, doorbell, std::move(host), std::move(while_waiting)));
}

std::optional<Nanoseconds> SimNetwork::due() const {
  if (under_way_.empty()) return std::nullopt;
  return under_way_.begin()->first.first;
}

// A look at the clock, or ringing a bell, may let another fiber run that delivers, too.
void SimNetwork::deliver() {
  const Nanoseconds now = clock_.now();
  while (!under_way_.empty() && under_way_.begin()->first.first <= now) {
    const std::function<void()> act = std::move(under_way_.begin()->second);
    under_way_.erase(under_way_.begin());
    act();
  }
}

void SimNetwork::restore(const std::string& one, const std::string& other) {
  for (const Way& way : {Way(one, other), Way(other, one)}) {
    silent_.erase(way);
    late_.erase(way);
    slow_.erase(way);
    for (std::function<void()>& act : std::exchange(missed_[way], {})) after(0, true, std::move(act));
  }
}

void SimNetwork::miss(const End& from, const End& to, std::function<void()> act) {
  missed_[{from.at->host(), to.at->host()}].push_back(std::move(act));
}

// Returns by how much the packets of this end are late.
Nanoseconds SimNetwork::lateness(PeerId from) const {
  const auto end = ends_.find(from);
  const auto other = ends_.find(end->second.other);
  if (late_.empty() || other == ends_.end() || other->second.at == nullptr) return {};
  const auto late = late_.find({end->second.at->host(), other->second.at->host()});
  return late == late_.end() ? Nanoseconds{} : late->second;
}

// Returns for how much longer bulk data move to this end than on a fast way.
Nanoseconds SimNetwork::slowness(PeerId to, uint64_t bytes) const {
  const End& end = ends_.at(to);
  const auto other = ends_.find(end.other);
  if (slow_.empty() || other == ends_.end() || other->second.at == nullptr) return {};
  const auto slow = slow_.find({other->second.at->host(), end.at->host()});
  if (slow == slow_.end()) return {};
  return Nanoseconds(static_cast<int64_t>(1e9 * static_cast<double>(bytes) / static_cast<double>(slow->second)));
}

// Does `act` after the delay of a packet with `bytes` of bulk data.
void SimNetwork::after(uint64_t bytes, bool in_order, std::function<void()> act, Nanoseconds late) {
  const auto spread = static_cast<uint64_t>((options_.most - options_.least).count());
  Nanoseconds delay = options_.least + Nanoseconds(static_cast<int64_t>(random_() % (spread + 1)));
  delay += Nanoseconds(static_cast<int64_t>(1e9 * static_cast<double>(bytes) / static_cast<double>(options_.rate)));
  Nanoseconds at = clock_.now() + delay + late;
  if (late == Nanoseconds::zero() && (in_order || !options_.reorder)) {
    at = std::max(at, last_in_order_);
    last_in_order_ = at;
  }
  if (options_.scheduled) options_.scheduled(at - clock_.now());
  under_way_.emplace(std::pair(at, order_++), std::move(act));
}

SimNetwork::End* SimNetwork::alive(PeerId end) {
  const auto found = ends_.find(end);
  return found == ends_.end() || found->second.lost || found->second.at == nullptr ? nullptr : &found->second;
}

bool SimNetwork::passes(const End& from, const End& to) const {
  return !silent_.contains({from.at->host(), to.at->host()});
}

PeerId SimNetwork::connect(SimEndpoint& from, const std::string& address) {
  const PeerId name = next_end_++;
  ends_[name].at = &from;
  after(0, true, [this, name, address] { meet(name, address); });
  return name;
}

void SimNetwork::meet(PeerId from, const std::string& address) {
  End* const end = alive(from);
  if (end == nullptr) return;
  const std::string& host = end->at->host();  // a listener's address is its host
  if (silent_.contains({host, address}) || silent_.contains({address, host})) return;
  const auto found = listeners_.find(address);
  if (found == listeners_.end()) return lose(from, refused(address));
  if (found->second->key_ != end->at->key_) {
    found->second->put({.kind = TransportEvent::Kind::refused, .status = wrong_key(), .text = host});
    return lose(from, wrong_key());
  }
  const PeerId other = next_end_++;
  End& accepted = ends_[other];
  accepted.at = found->second;
  accepted.other = from;
  accepted.is_known = false;
  ends_[from].other = other;
  ends_[from].at->put({.kind = TransportEvent::Kind::connected, .peer = from});
  after(
      0, true,
      [this, other] {
        End* const listener = alive(other);
        if (listener == nullptr) return;
        const End& caller = ends_.at(listener->other);
        if (caller.at != nullptr && passes(caller, *listener)) make_known(other, *listener);
      },
      lateness(from));
}

// Tells a listener of a connection: the last message of its handshake has come.
void SimNetwork::make_known(PeerId name, End& end) {
  if (std::exchange(end.is_known, true)) return;
  const End& caller = ends_.at(end.other);
  const std::string host = caller.at != nullptr ? caller.at->host() : "somebody who is gone";
  end.at->put({.kind = TransportEvent::Kind::accepted, .peer = name, .text = host});
}

void SimNetwork::send(PeerId from, std::span<const std::byte> head, std::span<const iovec> bulk, uint64_t tag) {
  TAILRACE_REQUIRE(head.size() <= Transport::kMostHead);
  TAILRACE_REQUIRE(bulk.size() <= Transport::kMostSegments);
  End* const end = alive(from);
  if (end == nullptr) return fail(from, {.kind = TransportEvent::Kind::sent, .peer = from, .tag = tag});
  const uint64_t arrival = next_arrival_++;
  const uint64_t bytes = bytes_of(bulk);
  end->sends[arrival] = {{bulk.begin(), bulk.end()}, bytes, tag};
  const PeerId to = end->other;
  std::vector<std::byte> copy(head.begin(), head.end());
  const auto act = [this, to, copy = std::move(copy), arrival, bytes]() mutable {
    arrive(to, std::move(copy), arrival, bytes);
  };
  after(0, false, act, lateness(from));
}

// Reports the end of a call on a connection that is gone, which its caller could not know.
void SimNetwork::fail(PeerId name, TransportEvent event) {
  const auto found = ends_.find(name);
  if (found == ends_.end() || found->second.at == nullptr) return;
  event.status = closed();
  found->second.at->put(std::move(event));
}

void SimNetwork::arrive(PeerId to, std::vector<std::byte> head, uint64_t arrival, uint64_t bytes) {
  End* const end = alive(to);
  if (end == nullptr) return;
  const End& sender = ends_.at(end->other);
  if (sender.at != nullptr && !passes(sender, *end)) {
    return miss(sender, *end, [this, to, head, arrival, bytes] { arrive(to, head, arrival, bytes); });
  }
  if (bytes > 0 && alive(end->other) == nullptr) return;  // the data were with the sender; a head alone still arrives
  make_known(to, *end);
  if (bytes == 0) refuse(to, arrival);
  end->at->put({.kind = TransportEvent::Kind::message,
                .peer = to,
                .head = std::move(head),
                .bulk = bytes,
                .arrival = bytes == 0 ? 0 : arrival});
}

void SimNetwork::receive(PeerId to, uint64_t arrival, std::span<std::byte> into, uint64_t tag) {
  End* const end = alive(to);
  if (end == nullptr) return fail(to, {.kind = TransportEvent::Kind::received, .peer = to, .tag = tag});
  end->receives[tag] = {arrival, into};
  const auto act = [this, to, arrival, tag] { move_bulk(to, arrival, tag); };
  after(into.size(), false, act, slowness(to, into.size()));
}

void SimNetwork::move_bulk(PeerId to, uint64_t arrival, uint64_t tag) {
  End* const end = alive(to);
  if (end == nullptr) return;
  End* const sender = alive(end->other);
  if (sender == nullptr) return;
  if (!passes(*sender, *end)) return miss(*sender, *end, [this, to, arrival, tag] { move_bulk(to, arrival, tag); });
  const auto send = sender->sends.find(arrival);
  TAILRACE_REQUIRE(send != sender->sends.end());
  const std::span<std::byte> into = end->receives.at(tag).into;
  TAILRACE_REQUIRE(into.size() == send->second.bytes);
  copy_bulk(send->second, into);
  end->receives.erase(tag);
  SimEndpoint& at_receiver = *end->at;
  refuse(to, arrival);
  at_receiver.put({.kind = TransportEvent::Kind::received, .peer = to, .tag = tag});
}

// Copies the first bytes of bulk data.
void SimNetwork::copy_bulk(const Send& send, std::span<std::byte> into) {
  for (const iovec& segment : send.bulk) {
    const size_t part = std::min(into.size(), segment.iov_len);
    if (part > 0) std::memcpy(into.data(), segment.iov_base, part);
    into = into.subspan(part);
  }
}

// Leaves what has come of bulk data when their connection ends: any number of bytes.
void SimNetwork::leave_some(const End& end, const Take& take) {
  const End* const sender = alive(end.other);
  if (sender == nullptr) return;
  const auto send = sender->sends.find(take.arrival);
  if (send == sender->sends.end()) return;
  copy_bulk(send->second, take.into.first(random_() % (take.into.size() + 1)));
}

// Ends the send of a message: its bulk data are not needed any more.
void SimNetwork::refuse(PeerId to, uint64_t arrival) {
  End* const end = alive(to);
  if (end == nullptr) return;
  const PeerId from = end->other;
  End* const sender = alive(from);
  if (sender == nullptr) return;
  const auto send = sender->sends.find(arrival);
  if (send == sender->sends.end()) return;
  sender->at->put({.kind = TransportEvent::Kind::sent, .peer = from, .tag = send->second.tag});
  sender->sends.erase(send);
}

void SimNetwork::fail_all(PeerId name, End& end, const Status& why) {
  SimEndpoint& at = *end.at;
  end.lost = true;
  for (const auto& [arrival, send] : std::exchange(end.sends, {})) {
    at.put({.kind = TransportEvent::Kind::sent, .peer = name, .tag = send.tag, .status = why});
  }
  for (const auto& [tag, take] : std::exchange(end.receives, {})) {
    leave_some(end, take);
    at.put({.kind = TransportEvent::Kind::received, .peer = name, .tag = tag, .status = why});
  }
}

void SimNetwork::close(PeerId name) {
  End* const end = alive(name);
  if (end == nullptr) {
    const auto found = ends_.find(name);
    if (found == ends_.end() || found->second.at == nullptr) return;
    std::erase_if(found->second.at->lost_, [name](const TransportEvent& event) { return event.peer == name; });
    return;
  }
  const PeerId other = end->other;
  const End* const there = alive(other);
  const bool seen = there != nullptr && passes(*end, *there);
  fail_all(name, *end, closed());
  if (seen) {
    const auto act = [this, other] { lose(other, Status(TAILRACE_CLOSED, "the peer closed the connection")); };
    after(0, true, act, lateness(name));
  }
}

void SimNetwork::lose(PeerId name, const Status& why) {
  End* const end = alive(name);
  if (end == nullptr) return;
  SimEndpoint& at = *end->at;
  fail_all(name, *end, why);
  if (!end->is_known) return;
  at.lost_.push_back({.kind = TransportEvent::Kind::lost, .peer = name, .status = why});
  at.tell();
}

void SimNetwork::cut(const std::string& one, const std::string& other) {
  std::vector<PeerId> cut;
  for (const auto& [name, end] : ends_) {
    if (end.at == nullptr || end.lost || end.other == 0) continue;
    const End* const there = alive(end.other);
    if (there != nullptr && both(end.at->host(), there->at->host()) == both(one, other)) cut.push_back(name);
  }
  for (const PeerId name : cut) lose(name, Status(TAILRACE_IO_ERROR, "the network was cut"));
}

// The process of an endpoint is gone: its peers see that, unless the network is silent.
void SimNetwork::gone(SimEndpoint& endpoint) {
  std::erase_if(listeners_, [&](const auto& listener) { return listener.second == &endpoint; });
  for (auto& [name, end] : ends_) {
    if (end.at != &endpoint) continue;
    const PeerId other = end.other;
    const End* const there = alive(other);
    if (!end.lost && there != nullptr && passes(end, *there)) {
      after(0, true, [this, other] { lose(other, Status(TAILRACE_IO_ERROR, "the peer's process has ended")); });
    }
    end.at = nullptr;
  }
}

SimEndpoint::~SimEndpoint() { network_.gone(*this); }

Result<std::string> SimEndpoint::listen(const std::string& address) {
  if (!network_.listeners_.emplace(address, this).second) return Status::of_errno("listen", address, EADDRINUSE);
  return address;
}

void SimEndpoint::poll(std::vector<TransportEvent>& events) {
  network_.deliver();
  for (std::vector<TransportEvent>* some : {&events_, &lost_}) {
    std::move(some->begin(), some->end(), std::back_inserter(events));
    some->clear();
  }
}

void SimEndpoint::wait(Nanoseconds limit) {
  if (events_.empty() && lost_.empty() && while_waiting_) while_waiting_(limit);
}

void SimEndpoint::put(TransportEvent event) {
  events_.push_back(std::move(event));
  tell();
}

void SimEndpoint::tell() {
  doorbell_.ring();
  if (network_.options_.arrived) network_.options_.arrived();
}

}  // namespace tailrace::impl
