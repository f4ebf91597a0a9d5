#include "transport/ucx/connections.hpp"

#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>

#include <algorithm>
#include <chrono>

#include "base/deadline.hpp"
#include "base/os/signals_blocked.hpp"
#include "transport/ucx/life_port.hpp"
#include "transport/ucx/ucx_status.hpp"

namespace tailrace::impl {
namespace {

using Kind = TransportEvent::Kind;

// A sleep while everything ends; progress is looked for after it in any case.
constexpr auto kStep = std::chrono::milliseconds(10);
// For an endpoint whose owner has left to be connected, or to fail.
constexpr auto kMostConnecting = std::chrono::seconds(2);

void release(UcxWorker& worker, const Arrival& arrival) { ucp_am_data_release(worker.get(), arrival.data); }

}  // namespace

Connections::~Connections() { TAILRACE_ASSERT(peers_.empty() && listener_ == nullptr); }

Peer& Connections::add(std::string address) {
  const PeerId id = ++last_;
  auto peer = std::make_unique<Peer>();
  peer->id = id;
  peer->address = std::move(address);
  return *peers_.emplace(id, std::move(peer)).first->second;
}

Peer* Connections::find(PeerId id) {
  const auto found = peers_.find(id);
  return found == peers_.end() ? nullptr : found->second.get();
}

Peer* Connections::find(ucp_ep_h endpoint) {
  const auto found = by_endpoint_.find(endpoint);
  if (found != by_endpoint_.end()) return found->second;
  for (GivenUp& one : given_up_) one.has_given_a_sign = one.has_given_a_sign || one.endpoint == endpoint;
  return nullptr;
}

Result<SocketAddress> Connections::resolve(const std::string& address) const {
  Result<SocketAddress> where = resolve_address(address, family_);
  if (!where.ok() || family_ != AF_INET6) return where;
  const auto& six = reinterpret_cast<const sockaddr_in6&>(where.value().storage);
  if (!IN6_IS_ADDR_LOOPBACK(&six.sin6_addr)) return where;
  return Status(
      TAILRACE_UNSUPPORTED,
      fmt::format("the network address '{}': UCX cannot use the loopback of IPv6; 127.0.0.1 works", address));
}

Result<std::string> Connections::listen(const std::string& address) {
  TAILRACE_REQUIRE(listener_ == nullptr);
  const Result<SocketAddress> where = resolve(address);
  if (!where.ok()) return where.status();
  ucp_listener_params_t params{};
  params.field_mask = UCP_LISTENER_PARAM_FIELD_SOCK_ADDR | UCP_LISTENER_PARAM_FIELD_CONN_HANDLER;
  params.sockaddr = {where.value().get(), where.value().size};
  params.conn_handler = {&on_request, this};
  const SignalsBlocked for_ucx_threads;
  ucs_status_t status = ucp_listener_create(worker_.get(), &params, &listener_);
  if (status != UCS_OK) {
    listener_ = nullptr;
    return ucx_failure(fmt::format("listening at {}", address), status);
  }
  ucp_listener_attr_t attributes{};
  attributes.field_mask = UCP_LISTENER_ATTR_FIELD_SOCKADDR;
  status = ucp_listener_query(listener_, &attributes);
  if (status != UCS_OK) return ucx_failure(fmt::format("the port of {}", address), status);
  std::string listening = text_of_address(attributes.sockaddr);
  if (const Result<SocketAddress> at = resolve(listening); at.ok()) life_port_ = held_port(at.value());
  return listening;
}

ucp_ep_params_t Connections::endpoint_params() {
  ucp_ep_params_t params{};
  params.field_mask = UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
  params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
  params.err_handler = {&on_failure, this};
  return params;
}

PeerId Connections::connect(const std::string& address) {
  Peer& peer = add(address);
  if (Status begun = begin_connecting(peer, address); !begun.ok()) fail(peer, std::move(begun));
  return peer.id;
}

Status Connections::begin_connecting(Peer& peer, const std::string& address) {
  const Result<SocketAddress> where = resolve(address);
  if (!where.ok()) return where.status();
  peer.where = where.value();
  ucp_ep_params_t params = endpoint_params();
  params.field_mask |= UCP_EP_PARAM_FIELD_FLAGS | UCP_EP_PARAM_FIELD_SOCK_ADDR;
  params.flags = UCP_EP_PARAMS_FLAGS_CLIENT_SERVER;
  params.sockaddr = {where.value().get(), where.value().size};
  const SignalsBlocked for_ucx_threads;
  const ucs_status_t status = ucp_ep_create(worker_.get(), &params, &peer.endpoint);
  if (status != UCS_OK) {
    worker_.note_damage();
    peer.endpoint = nullptr;
    return ucx_failure(fmt::format("the connection to {}", address), status);
  }
  by_endpoint_[peer.endpoint] = &peer;
  return {};
}

void Connections::on_request(ucp_conn_request_h request, void* connections) {
  static_cast<Connections*>(connections)->requests_.push_back(request);
}

void Connections::accept(ucp_conn_request_h request) {
  if (peers_.size() >= kMostPeers) {
    ucp_listener_reject(listener_, request);
    return;
  }
  ucp_conn_request_attr_t attributes{};
  attributes.field_mask = UCP_CONN_REQUEST_ATTR_FIELD_CLIENT_ADDR;
  const bool is_known = ucp_conn_request_query(request, &attributes) == UCS_OK;
  Peer& peer = add(is_known ? text_of_address(attributes.client_address) : "an unknown address");
  ucp_ep_params_t params = endpoint_params();
  params.field_mask |= UCP_EP_PARAM_FIELD_CONN_REQUEST;
  params.conn_request = request;
  const SignalsBlocked for_ucx_threads;
  if (ucp_ep_create(worker_.get(), &params, &peer.endpoint) != UCS_OK) {
    worker_.note_damage();
    peers_.erase(peer.id);  // the other process is gone, or cannot be reached; UCX has released the request
    return;
  }
  by_endpoint_[peer.endpoint] = &peer;
  peer.phase = Peer::Phase::open;
  accepted_.push_back(&peer);
  events_.push_back({.kind = Kind::accepted, .peer = peer.id, .text = peer.address});
}

std::vector<Peer*> Connections::take_accepted() { return std::exchange(accepted_, {}); }

void Connections::become_open(Peer& peer) {
  if (peer.phase != Peer::Phase::connecting) return;
  peer.phase = Peer::Phase::open;
  events_.push_back({.kind = Kind::connected, .peer = peer.id});
}

void Connections::on_failure(void* connections, ucp_ep_h endpoint, ucs_status_t status) {
  auto& self = *static_cast<Connections*>(connections);
  Peer* const peer = self.find(endpoint);
  if (peer == nullptr) return;
  self.fail(*peer, ucx_failure(fmt::format("the connection to {}", peer->address), status));
}

void Connections::fail(Peer& peer, Status why) {
  if (peer.phase == Peer::Phase::ending) return;
  peer.loss = peer.phase == Peer::Phase::connecting ? told(peer, std::move(why)) : std::move(why);
  peer.phase = Peer::Phase::ending;
  by_endpoint_.erase(peer.endpoint);
  failed_.push_back(&peer);
}

// Returns why no connection was made. UCX has one error for a host that refuses and for one that is not reached.
Status Connections::told(const Peer& peer, Status why) {
  if (peer.where.size == 0 || !is_refused(peer.where)) return why;
  return Status::of_errno("connect to", peer.address, ECONNREFUSED);
}

void Connections::leave(PeerId id) {
  const auto found = peers_.find(id);
  if (found == peers_.end()) return;
  Peer& peer = *found->second;
  const bool is_connecting = peer.phase == Peer::Phase::connecting && peer.endpoint != nullptr;
  peer.phase = Peer::Phase::ending;
  by_endpoint_.erase(peer.endpoint);
  std::erase(failed_, &peer);
  std::erase(accepted_, &peer);
  left_.push_back(std::move(found->second));
  peers_.erase(found);
  if (is_connecting) {
    given_up_.push_back({&peer, peer.endpoint, kMostConnecting});
  } else {
    begin_closing(peer);
  }
}

bool Connections::close_given_up() {
  std::vector<Peer*> due;
  std::erase_if(given_up_, [&due](const GivenUp& one) {
    const bool is_due = one.has_given_a_sign || one.until.left() == Nanoseconds::zero();
    if (is_due) due.push_back(one.peer);
    return is_due;
  });
  for (Peer* peer : due) begin_closing(*peer);
  return !due.empty();
}

// May call callbacks of what is under way.
void Connections::begin_closing(Peer& peer) {
  if (peer.close_begun) return;
  peer.close_begun = true;
  if (peer.endpoint == nullptr) {
    peer.is_closed = true;
    return;
  }
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  param.flags = UCP_EP_CLOSE_FLAG_FORCE;
  param.cb.send = &on_closed;
  param.user_data = &peer;
  // An error here means that UCX knows the endpoint no more.
  peer.is_closed = !UCS_PTR_IS_PTR(ucp_ep_close_nbx(peer.endpoint, &param));
  peer.endpoint = nullptr;
}

void Connections::on_closed(void* request, ucs_status_t /*status*/, void* peer) {
  static_cast<Peer*>(peer)->is_closed = true;
  ucp_request_free(request);
}

bool Connections::advance() {
  const std::vector<ucp_conn_request_h> requests = std::exchange(requests_, {});
  for (ucp_conn_request_h request : requests) accept(request);
  const bool told = tell_losses();
  const bool closed = close_given_up();
  const bool buried = bury();
  return !requests.empty() || told || closed || buried;
}

// UCX ends what a failed peer has under way when the endpoint is closed; then the loss is reported. It never
// goes out together with other events of the peer: their owner may still answer them.
bool Connections::tell_losses() {
  bool moved = false;
  for (size_t i = 0; i < failed_.size();) {
    Peer& peer = *failed_[i];
    moved = moved || !peer.close_begun;
    begin_closing(peer);
    const auto is_of_peer = [&peer](const TransportEvent& event) { return event.peer == peer.id; };
    if (peer.under_way > 0 || std::any_of(events_.begin(), events_.end(), is_of_peer)) {
      ++i;
      continue;
    }
    events_.push_back({.kind = Kind::lost, .peer = peer.id, .status = peer.loss});
    leave(peer.id);  // also takes it out of failed_
    moved = true;
  }
  return moved;
}

bool Connections::bury() {
  const auto is_over = [this](const std::unique_ptr<Peer>& peer) {
    if (!peer->is_closed || peer->under_way > 0) return false;
    for (const auto& [number, arrival] : peer->arrivals) release(worker_, arrival);
    for (const auto& [number, message] : peer->halves) {
      if (message.bulk) release(worker_, *message.bulk);
    }
    return true;
  };
  return std::erase_if(left_, is_over) > 0;
}

void Connections::end_all(Nanoseconds limit) {
  const Deadline deadline(limit);
  for (ucp_conn_request_h request : std::exchange(requests_, {})) ucp_listener_reject(listener_, request);
  if (listener_ != nullptr) ucp_listener_destroy(std::exchange(listener_, nullptr));
  life_port_.close();
  while (!peers_.empty()) leave(peers_.begin()->first);
  while (!left_.empty() && deadline.left() > Nanoseconds::zero()) {
    if (worker_.progress() || close_given_up() || bury()) continue;
    if (worker_.arm()) wait_for_events(worker_.descriptor(), POLLIN, std::min<Nanoseconds>(kStep, deadline.left()));
  }
}

}  // namespace tailrace::impl
