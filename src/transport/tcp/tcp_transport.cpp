#include "transport/tcp/tcp_transport.hpp"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <thread>
#include <utility>

#include "base/assert.hpp"
#include "base/deadline.hpp"
#include "base/sync/bind_thread.hpp"

namespace tailrace::impl {
namespace {

constexpr int kBacklog = 4096;
constexpr int kSilentSeconds = 1;  // a connection without a byte is not even accepted before

Nanoseconds now() { return SteadyClock().now(); }

Status of_socket(const char* what, const std::string& address, int error) {
  return Status::of_errno(what, "the network address '" + address + "'", error);
}

void set_option(int socket, int level, int name, int value) {
  ::setsockopt(socket, level, name, &value, sizeof value);
}

FileDescriptor new_socket(const SocketAddress& address) {
  return FileDescriptor(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

// Sorts, and keeps one of each.
void sort_once(std::vector<PeerId>& numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

std::string host_of(const std::string& address) { return address.substr(0, address.rfind(':')); }

// Returns how many descriptors further connections may take: files need the others.
size_t most_further() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur / 4 : 0;
}

}  // namespace

Result<std::unique_ptr<TcpTransport>> TcpTransport::create(Doorbell& doorbell, const TransportOptions& options) {
  Result<std::unique_ptr<Tls>> tls = Tls::create(options.keys);
  if (!tls.ok()) return tls.status();
  Result<EpollSet> set = EpollSet::create();
  if (!set.ok()) return set.status();
  FileDescriptor timer(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));
  if (!timer.is_open()) return Status::of_errno("make", "a timer", errno);
  if (Status added = set.value().add(timer.get(), kTimer, EpollSet::Trigger::edge); !added.ok()) return added;
  std::unique_ptr<TcpTransport> made(
      new TcpTransport(doorbell, options, std::move(tls).value(), std::move(set).value(), std::move(timer)));
  doorbell.listen_also_to({made->set_.fd(), kLongestSleep});
  return made;
}

TcpTransport::TcpTransport(Doorbell& doorbell, const TransportOptions& options, std::unique_ptr<Tls> tls,
                           EpollSet set, FileDescriptor timer)
    : doorbell_(doorbell), options_(options), tls_(std::move(tls)), set_(std::move(set)), timer_(std::move(timer)) {}

TcpTransport::~TcpTransport() {
  doorbell_.listen_also_to({});
  std::vector<PeerId> all;
  for (const auto& [id, peer] : peers_) all.push_back(id);
  for (const PeerId id : all) close(id);
  const Deadline end(kLongestEnd);
  while (!leaving_.empty() && end.left() > Nanoseconds::zero()) {
    look(std::min(end.left(), Nanoseconds(std::chrono::milliseconds(100))));
    end_the_left();
  }
}

// ---- beginnings ------------------------------------------------------------------------------------------------

Result<std::string> TcpTransport::listen(const std::string& address) {
  const Result<SocketAddress> where = resolve_address(address, AF_UNSPEC);
  if (!where.ok()) return where.status();
  FileDescriptor socket = new_socket(where.value());
  if (!socket.is_open()) return of_socket("make a socket for", address, errno);
  set_option(socket.get(), SOL_SOCKET, SO_REUSEADDR, 1);
  if (where.value().storage.ss_family == AF_INET6) set_option(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, 1);
  set_option(socket.get(), IPPROTO_TCP, TCP_DEFER_ACCEPT, kSilentSeconds);
  if (::bind(socket.get(), where.value().get(), where.value().size) != 0 || ::listen(socket.get(), kBacklog) != 0) {
    return of_socket("listen at", address, errno);
  }
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  if (::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&bound), &size) != 0) {
    return of_socket("listen at", address, errno);
  }
  if (Status added = set_.add(socket.get(), kListener, EpollSet::Trigger::edge); !added.ok()) return added;
  listener_ = std::move(socket);
  return text_of_address(bound);
}

PeerId TcpTransport::connect(const std::string& address) {
  const PeerId id = ++last_;
  if (Status begun = begin_connecting(id, address); !begun.ok()) failed_.emplace_back(id, std::move(begun));
  doorbell_.ring();
  return id;
}

Status TcpTransport::begin_connecting(PeerId id, const std::string& address) {
  const Result<SocketAddress> where = resolve_address(address, AF_UNSPEC);
  if (!where.ok()) return where.status();
  Result<FileDescriptor> socket = call(id, where.value(), address);
  if (!socket.ok()) return socket.status();
  peers_.emplace(id, std::make_unique<Connection>(id, std::move(socket).value(), tls_, true, address));
  busy_.push_back(id);
  return {};
}

Result<FileDescriptor> TcpTransport::call(PeerId id, const SocketAddress& where, const std::string& address) {
  FileDescriptor socket = new_socket(where);
  if (!socket.is_open()) return of_socket("make a socket for", address, errno);
  set_option(socket.get(), IPPROTO_TCP, TCP_NODELAY, 1);
  if (::connect(socket.get(), where.get(), where.size) != 0 && errno != EINPROGRESS) {
    return of_socket("connect to", address, errno);
  }
  if (Status added = set_.add(socket.get(), id, EpollSet::Trigger::edge_both); !added.ok()) return added;
  return socket;
}

// Begins the further connections that a listener offers. Where one cannot be made, there are fewer.
void TcpTransport::call_further(PeerId id, Peer& peer) {
  const std::optional<Invitation> invitation = peer.first().take_invitation();
  if (!invitation) return;
  SocketAddress where;
  where.size = sizeof where.storage;
  if (::getpeername(peer.first().socket(), reinterpret_cast<sockaddr*>(&where.storage), &where.size) != 0) return;
  const uint64_t most = std::min<uint64_t>(invitation->most, most_connections() - 1);
  for (uint64_t i = 0; i < most; ++i) {
    const PeerId further = ++last_;
    const std::string& address = peer.first().address();
    Result<FileDescriptor> socket = call(further, where, address);
    if (!socket.ok()) return;
    peer.add(std::make_unique<Connection>(further, std::move(socket).value(), tls_, true, address,
                                          Connection::Join{*invitation, peer.first().transfers()}));
    further_[further] = id;
    busy_.push_back(further);
  }
}

// Lets in who waits at the listener. Without room for it, the first one goes on waiting, and all behind it.
void TcpTransport::accept_some() {
  while (accept_one() && make_room("") && make_room(host_of(waiting_->address))) {
    const PeerId id = ++last_;
    Waiting next = std::move(*std::exchange(waiting_, std::nullopt));
    if (!set_.add(next.socket.get(), id, EpollSet::Trigger::edge_both).ok()) continue;
    strangers_[id] = {host_of(next.address), now(),
                      std::make_unique<Connection>(id, std::move(next.socket), tls_, false, next.address)};
    busy_.push_back(id);
  }
}

// Returns true if a connection waits.
bool TcpTransport::accept_one() {
  while (!waiting_ && may_accept_) {
    sockaddr_storage from{};
    socklen_t size = sizeof from;
    FileDescriptor socket(
        ::accept4(listener_.get(), reinterpret_cast<sockaddr*>(&from), &size, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket.is_open() && (errno == EINTR || errno == ECONNABORTED)) continue;
    if (!socket.is_open()) {
      // Without a descriptor or memory for it, it is tried again later (set_timer).
      may_accept_ = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
      return false;
    }
    set_option(socket.get(), IPPROTO_TCP, TCP_NODELAY, 1);
    waiting_ = {std::move(socket), text_of_address(from)};
  }
  return waiting_.has_value();
}

// Makes room for one more stranger, of this host; "": of any. The oldest one gives way if it has had its turn.
bool TcpTransport::make_room(const std::string& host) {
  const auto is_one = [&](const auto& stranger) { return host.empty() || stranger.second.host == host; };
  const auto count = static_cast<size_t>(std::count_if(strangers_.begin(), strangers_.end(), is_one));
  if (count < (host.empty() ? options_.most_strangers : options_.most_of_one_host)) return true;
  const auto oldest = std::find_if(strangers_.begin(), strangers_.end(), is_one);
  if (now() - oldest->second.since < kLeastTurn) return false;
  drop_stranger(oldest->first, Status(TAILRACE_TIMEOUT, "others wait, and it has not ended its handshake"));
  return true;
}

void TcpTransport::drop_stranger(PeerId id, const Status& why) {
  const auto found = strangers_.find(id);
  events_.push_back(
      {.kind = TransportEvent::Kind::refused, .status = why, .text = found->second.connection->address()});
  strangers_.erase(found);
}

void TcpTransport::hear_stranger(PeerId id) {
  Connection& connection = *strangers_.at(id).connection;
  const bool more = connection.move();
  if (connection.phase() == Connection::Phase::failed) return drop_stranger(id, connection.why());
  if (connection.asks() != nullptr) return take_in(id);
  if (connection.phase() == Connection::Phase::open) return accept(id);
  if (more) busy_.push_back(id);
}

void TcpTransport::accept(PeerId id) {
  const auto stranger = strangers_.extract(id);
  Peer& peer = peers_.emplace(id, std::move(stranger.mapped().connection)).first->second;
  events_.push_back({.kind = TransportEvent::Kind::accepted, .peer = id, .text = peer.first().address()});
  busy_.push_back(id);
}

// Gives a further connection to its peer, if it may join it.
void TcpTransport::take_in(PeerId id) {
  std::unique_ptr<Connection>& connection = strangers_.at(id).connection;
  const PeerId peer = connection->asks()->peer;
  const auto found = peers_.find(peer);
  if (found == peers_.end() || !found->second.take_in(connection, now())) {
    return drop_stranger(id, Status(TAILRACE_IO_ERROR,
                                    "a further connection of a peer does not know its secret, or comes too late or "
                                    "once too often"));
  }
  strangers_.erase(id);
  further_[id] = peer;
  busy_.push_back(id);
}

// ---- messages --------------------------------------------------------------------------------------------------

Connection& TcpTransport::known(PeerId id) {
  const auto found = peers_.find(id);
  TAILRACE_REQUIRE(found != peers_.end());
  return found->second.first();
}

// Returns the connection of this number and its peer, or null.
Connection* TcpTransport::find(PeerId id, PeerId& peer) {
  const auto further = further_.find(id);
  peer = further != further_.end() ? further->second : id;
  const auto found = peers_.find(peer);
  return found != peers_.end() ? found->second.find(id) : nullptr;
}

// Has what a call has asked for begun at once. Its owner looks at the events before it sleeps.
void TcpTransport::begin(Connection& connection) {
  const bool was_open = connection.phase() == Connection::Phase::open;
  if (was_open && connection.write()) busy_.push_back(connection.id());
  settle(connection.id());
  doorbell_.ring();
}

void TcpTransport::send(PeerId id, std::span<const std::byte> head, std::span<const iovec> bulk, uint64_t tag) {
  TAILRACE_REQUIRE(head.size() <= kMostHead);
  TAILRACE_REQUIRE(bulk.size() <= kMostSegments);
  Connection& connection = known(id);
  connection.send(head, bulk, tag);
  begin(connection);
}

void TcpTransport::receive(PeerId id, uint64_t arrival, std::span<std::byte> into, uint64_t tag) {
  Connection& connection = known(id);
  connection.receive(arrival, into, tag);
  begin(connection);
}

void TcpTransport::refuse(PeerId id, uint64_t arrival) {
  Connection& connection = known(id);
  connection.refuse(arrival);
  begin(connection);
}

void TcpTransport::poll(std::vector<TransportEvent>& events) {
  bool more = tell_losses();
  look(Nanoseconds::zero());
  accept_some();
  std::vector<PeerId> busy = std::exchange(busy_, {});
  sort_once(busy);
  size_t heard = 0;
  std::vector<Move> turn;
  for (const PeerId id : busy) {
    if (strangers_.contains(id)) {
      if (heard++ < kMostHeard) {
        hear_stranger(id);
      } else {
        busy_.push_back(id);
      }
    } else {
      Move one;
      one.connection = find(id, one.peer);
      if (one.connection != nullptr && one.connection->phase() != Connection::Phase::failed) turn.push_back(one);
    }
  }
  move(turn);
  look_after_further();
  drop_the_slow();
  accept_some();  // some may have made room
  end_the_left();
  set_timer();
  more = more || !busy_.empty() || !failed_.empty();
  events.insert(events.end(), std::make_move_iterator(events_.begin()), std::make_move_iterator(events_.end()));
  events_.clear();
  if (more) doorbell_.ring();
}

// Moves connections, by the team if that may be worth waking it: if bulk data move by several.
void TcpTransport::move(std::span<Move> turn) {
  const auto move_one = [turn](size_t number) { turn[number].more = turn[number].connection->move(); };
  const auto is_long = [](const Move& one) { return one.connection->carries_bulk(); };
  if (std::count_if(turn.begin(), turn.end(), is_long) > 1 && most_connections() > 1) {
    if (!team_) team_ = std::make_unique<Team>(most_connections() - 1);
    team_->run(turn.size(), move_one);
  } else {
    for (size_t number = 0; number < turn.size(); ++number) move_one(number);
  }
  std::vector<PeerId> moved;
  for (const Move& one : turn) {
    if (one.more) busy_.push_back(one.connection->id());
    moved.push_back(one.peer);
  }
  sort_once(moved);
  for (const PeerId id : moved) settle(id);
}

// All that has come was read before: a process that was stopped for a while finds no silence.
void TcpTransport::look_after_further() {
  const Nanoseconds time = now();
  if ((further_.empty() && !some_have_further_) || time < beat_at_) return;
  beat_at_ = time + options_.silence / 4;
  some_have_further_ = false;
  for (auto& [id, peer] : peers_) {
    if (!peer.has_further()) continue;
    some_have_further_ = true;
    peer.look_after(time, options_.silence, busy_);
    settle(id);
  }
}

// After connections of a peer have moved.
void TcpTransport::settle(PeerId id) {
  Peer& peer = peers_.at(id);
  std::vector<PeerId> closed;
  const Peer::News news = peer.settle(events_, closed);
  for (const PeerId one : closed) further_.erase(one);
  if (news == Peer::News::opened) events_.push_back({.kind = TransportEvent::Kind::connected, .peer = id});
  if (news == Peer::News::lost) failed_.emplace_back(id, peer.first().why());
  // A peer without bulk data needs no further connections. Without random bytes it has none.
  const bool has_room = further_.size() + most_connections() <= most_further();
  const bool invites = has_room && !peer.first().calls() && !peer.is_invited() && peer.first().carries_bulk();
  if (invites && most_connections() > 1) {
    (void)peer.invite(most_connections() - 1, now() + options_.invitation);
    busy_.push_back(id);
  }
  call_further(id, peer);
  peer.deal(busy_);
}

// Leaves a cpu to the owner's other work. A program computes on its cpus, and a forwarder does nothing else.
size_t TcpTransport::most_connections() {
  if (options_.connections > 0) return options_.connections;
  if (!most_connections_) {
    size_t cpus = cpus_of_thread().size();
    if (cpus == 0) cpus = std::thread::hardware_concurrency();  // more than a set has room for
    const bool has_few = !listener_.is_open() && cpus < kMostByItself;
    most_connections_ = has_few ? 1 : std::clamp<size_t>(cpus - 1, 1, kMostByItself);
  }
  return *most_connections_;
}

// Reports losses, each in a poll of its own: the owner may still answer the other events of its peer. Returns true if
// some are left.
bool TcpTransport::tell_losses() {
  std::vector<std::pair<PeerId, Status>> later;
  std::vector<TransportEvent> losses;
  for (auto& [id, why] : failed_) {
    const bool has_more = std::any_of(events_.begin(), events_.end(),
                                      [id = id](const TransportEvent& event) { return event.peer == id; });
    if (has_more) {
      later.emplace_back(id, std::move(why));
      continue;
    }
    peers_.erase(id);
    std::erase_if(further_, [id = id](const auto& one) { return one.second == id; });
    losses.push_back({.kind = TransportEvent::Kind::lost, .peer = id, .status = std::move(why)});
  }
  failed_ = std::move(later);
  events_.insert(events_.end(), std::make_move_iterator(losses.begin()), std::make_move_iterator(losses.end()));
  return !failed_.empty();
}

void TcpTransport::look(std::optional<Nanoseconds> limit) {
  std::span<const uint64_t> ready;
  do {
    ready = set_.wait(limit);
    for (const uint64_t tag : ready) {
      if (tag == kListener) may_accept_ = true;
      if (tag != kListener && tag != kTimer) busy_.push_back(tag);
    }
    limit = Nanoseconds::zero();
  } while (ready.size() == EpollSet::kAtOnce);
}

void TcpTransport::wait(Nanoseconds limit) {
  if (events_.empty() && busy_.empty() && failed_.empty()) wait_for_events(set_.fd(), POLLIN, limit);
}

Status TcpTransport::use_keys(std::vector<PreSharedKey> keys) {
  Result<std::unique_ptr<Tls>> made = Tls::create(std::move(keys));
  if (made.ok()) tls_ = std::move(made).value();
  return made.status();
}

// ---- ends ------------------------------------------------------------------------------------------------------

void TcpTransport::close(PeerId id) {
  const auto found = peers_.find(id);
  std::erase_if(failed_, [id](const auto& one) { return one.first == id; });
  if (found == peers_.end()) return;
  for (std::unique_ptr<Connection>& connection : found->second.leave()) {
    const PeerId number = connection->id();
    connection->take_events(events_);
    further_.erase(number);
    leaving_[number] = {std::move(connection), now() + kLongestEnd};
  }
  peers_.erase(found);
  doorbell_.ring();
}

void TcpTransport::drop_the_slow() {
  const Nanoseconds begun_before = now() - options_.greeting;
  while (!strangers_.empty() && strangers_.begin()->second.since <= begun_before) {
    drop_stranger(strangers_.begin()->first, Status(TAILRACE_TIMEOUT, "it has not ended its handshake in time"));
  }
}

void TcpTransport::end_the_left() {
  const Nanoseconds time = now();
  std::erase_if(leaving_,
                [time](auto& one) { return one.second.connection->has_left() || one.second.until <= time; });
}

// Has poll() called when a stranger or a connection that leaves has had its time.
void TcpTransport::set_timer() {
  std::optional<Nanoseconds> least;
  if (!strangers_.empty()) {
    least = strangers_.begin()->second.since + options_.greeting;
  }
  if (!further_.empty() || some_have_further_) least = std::min(least.value_or(Nanoseconds::max()), beat_at_);
  if (may_accept_ || waiting_) least = std::min(least.value_or(Nanoseconds::max()), now() + kLeastTurn);
  for (const auto& [id, one] : leaving_) least = std::min(least.value_or(one.until), one.until);
  if (least == set_for_) return;  // most polls: no stranger must be dropped, and the timer stands
  set_for_ = least;
  itimerspec at{};
  if (least) at.it_value = to_timespec(std::max(*least - now(), Nanoseconds(1)));
  ::timerfd_settime(timer_.get(), 0, &at, nullptr);
}

}  // namespace tailrace::impl
