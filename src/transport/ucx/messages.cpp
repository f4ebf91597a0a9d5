#include "transport/ucx/messages.hpp"

#include <fmt/format.h>

#include <cstring>
#include <functional>

#include "transport/ucx/ucx_status.hpp"

namespace tailrace::impl {
namespace {

using Kind = TransportEvent::Kind;

template <class T>
std::span<const std::byte> bytes_of(const T& wire) {
  return std::as_bytes(std::span(&wire, 1));
}

// Returns false if the bytes are not exactly one T.
template <class T>
bool read_wire(std::span<const std::byte> bytes, T& wire) {
  if (bytes.size() != sizeof wire) return false;
  std::memcpy(&wire, bytes.data(), sizeof wire);
  return true;
}

size_t total(std::span<const ucp_dt_iov_t> segments) {
  size_t bytes = 0;
  for (const ucp_dt_iov_t& segment : segments) bytes += segment.length;
  return bytes;
}

}  // namespace

Messages::~Messages() { TAILRACE_ASSERT(memory_handle_.load() == nullptr); }

void Messages::end() {
  const ucp_mem_h handle = memory_handle_.exchange(nullptr);
  if (handle != nullptr) ucp_mem_unmap(worker_.context(), handle);
}

template <Messages::Handler handler>
ucs_status_t Messages::on_message(void* messages, const void* header, size_t header_bytes, void* data, size_t bytes,
                                  const ucp_am_recv_param_t* param) {
  auto& self = *static_cast<Messages*>(messages);
  Peer* peer = nullptr;
  if ((param->recv_attr & UCP_AM_RECV_ATTR_FIELD_REPLY_EP) != 0) peer = self.connections_.find(param->reply_ep);
  // Drops it: the peer is ending, or did not say who it is. The sender of bulk data sees that they were sent.
  if (peer == nullptr) return UCS_OK;
  const bool waits_at_sender = (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0;
  return (self.*handler)(*peer,
                         {{static_cast<const std::byte*>(header), header_bytes}, {data, bytes, waits_at_sender}});
}

template <Messages::Handler handler>
Status Messages::handle(Message id) {
  return worker_.receive(static_cast<unsigned>(id), &on_message<handler>, this);
}

Status Messages::begin() {
  if (Status status = handle<&Messages::on_welcome>(Message::welcome); !status.ok()) return status;
  if (Status status = handle<&Messages::on_whole>(Message::whole); !status.ok()) return status;
  if (Status status = handle<&Messages::on_head>(Message::head); !status.ok()) return status;
  return handle<&Messages::on_bulk>(Message::bulk);
}

Send& Messages::new_send(Peer& peer, std::span<const std::byte> head, uint64_t tag, uint32_t parts) {
  Send& send = sends_.take();
  send.owner = this;
  send.peer = &peer;
  send.tag = tag;
  send.is_welcome = false;
  send.parts = parts;
  send.status = {};
  send.head.assign(head.begin(), head.end());
  send.segments.clear();
  peer.under_way++;
  return send;
}

void Messages::welcome(Peer& peer) {
  const WelcomeWire wire;
  Send& send = new_send(peer, bytes_of(wire), 0, 1);
  send.is_welcome = true;
  post(send, Message::welcome, send.head, {});
}

void Messages::send(Peer& peer, std::span<const std::byte> head, std::span<const iovec> bulk, uint64_t tag) {
  const bool fits = head.size() <= worker_.most_header();
  Send& send = new_send(peer, head, tag, 1);
  for (const iovec& segment : bulk) send.segments.push_back({segment.iov_base, segment.iov_len});
  if (fits) return post(send, Message::whole, send.head, send.segments);
  send.split = {++peer.sent, total(send.segments)};
  // Both are set before the first may end: then the other part must not end the send.
  send.parts = send.split.bulk > 0 ? 2 : 1;
  const bool has_bulk = send.split.bulk > 0;
  const ucp_dt_iov_t head_as_data{send.head.data(), send.head.size()};
  post(send, Message::head, bytes_of(send.split), {&head_as_data, 1});
  if (has_bulk) post(send, Message::bulk, bytes_of(send.split), send.segments);
}

// Header and data lie in the send, or are borrowed until it ends.
void Messages::post(Send& send, Message id, std::span<const std::byte> header, std::span<const ucp_dt_iov_t> data) {
  if (send.peer->endpoint == nullptr || send.peer->phase == Peer::Phase::ending) {
    return end_part(send, UCS_ERR_NOT_CONNECTED);
  }
  const size_t bytes = total(data);
  const bool is_eager = id == Message::head || bytes <= most_eager_;
  ucp_request_param_t param{};
  param.op_attr_mask =
      UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_DATATYPE;
  param.flags = UCP_AM_SEND_FLAG_REPLY | (is_eager ? UCP_AM_SEND_FLAG_EAGER : UCP_AM_SEND_FLAG_RNDV);
  param.cb.send = &on_sent;
  param.user_data = &send;
  param.datatype = ucp_dt_make_contig(1);
  const void* buffer = nullptr;
  size_t count = bytes;
  if (data.size() == 1) {
    buffer = data[0].buffer;
    name_memory(param, buffer, bytes);
  } else if (bytes > 0) {
    param.datatype = ucp_dt_make_iov();
    buffer = data.data();
    count = data.size();
  }
  void* const request =
      ucp_am_send_nbx(send.peer->endpoint, static_cast<unsigned>(id), header.empty() ? nullptr : header.data(),
                      header.size(), buffer, count, &param);
  if (!UCS_PTR_IS_PTR(request)) end_part(send, UCS_PTR_RAW_STATUS(request));
}

void Messages::on_sent(void* request, ucs_status_t status, void* send) {
  auto& ended = *static_cast<Send*>(send);
  ucp_request_free(request);
  ended.owner->end_part(ended, status);
}

void Messages::end_part(Send& send, ucs_status_t status) {
  if (status != UCS_OK && send.status.ok()) {
    send.status = ucx_failure(fmt::format("sending to {}", send.peer->address), status);
  }
  if (--send.parts > 0) return;
  send.peer->under_way--;
  if (!send.is_welcome) {
    events_.push_back({.kind = Kind::sent, .peer = send.peer->id, .tag = send.tag, .status = send.status});
  }
  sends_.give_back(send);
}

void Messages::receive(Peer& peer, uint64_t number, std::span<std::byte> into, uint64_t tag) {
  const auto found = peer.arrivals.find(number);
  TAILRACE_REQUIRE(found != peer.arrivals.end());
  const Arrival arrival = found->second;
  TAILRACE_REQUIRE(into.size() == arrival.bytes);
  Receive& receive = receives_.take();
  receive = {this, &peer, tag};
  peer.under_way++;
  if (peer.phase == Peer::Phase::ending) {
    return end_receive(receive, peer.loss);  // the arrival is released with the peer
  }
  peer.arrivals.erase(found);
  if (!arrival.waits_at_sender) {
    std::memcpy(into.data(), arrival.data, arrival.bytes);
    ucp_am_data_release(worker_.get(), arrival.data);
    return end_receive(receive, {});
  }
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  param.cb.recv_am = &on_received;
  param.user_data = &receive;
  name_memory(param, into.data(), into.size());
  void* const request = ucp_am_recv_data_nbx(worker_.get(), arrival.data, into.data(), into.size(), &param);
  if (UCS_PTR_IS_PTR(request)) return;
  const ucs_status_t status = UCS_PTR_RAW_STATUS(request);
  end_receive(receive, status == UCS_OK ? Status{} : ucx_failure("receiving from " + peer.address, status));
}

void Messages::on_received(void* request, ucs_status_t status, size_t /*bytes*/, void* receive) {
  auto& ended = *static_cast<Receive*>(receive);
  ucp_request_free(request);
  const std::string what = status == UCS_OK ? "" : "receiving from " + ended.peer->address;
  ended.owner->end_receive(ended, status == UCS_OK ? Status{} : ucx_failure(what, status));
}

void Messages::end_receive(Receive& receive, const Status& status) {
  receive.peer->under_way--;
  events_.push_back({.kind = Kind::received, .peer = receive.peer->id, .tag = receive.tag, .status = status});
  receives_.give_back(receive);
}

void Messages::refuse(Peer& peer, uint64_t number) {
  const auto found = peer.arrivals.find(number);
  TAILRACE_REQUIRE(found != peer.arrivals.end());
  if (peer.phase == Peer::Phase::ending) return;  // the arrival is released with the peer
  ucp_am_data_release(worker_.get(), found->second.data);
  peer.arrivals.erase(found);
}

void Messages::use_memory(std::span<std::byte> memory) {
  TAILRACE_REQUIRE(memory_handle_.load(std::memory_order_acquire) == nullptr);
  if (memory.empty()) return;
  ucp_mem_map_params_t params{};
  params.field_mask =
      UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS;
  params.address = memory.data();
  params.length = memory.size();
  params.flags = UCP_MEM_MAP_NONBLOCK;  // does not touch unused pages
  ucp_mem_h handle = nullptr;
  // Mostly the limit of locked memory (ulimit -l). Everything works without, only a little slower.
  if (ucp_mem_map(worker_.context(), &params, &handle) != UCS_OK) return;
  memory_ = memory;
  // release: `memory_` is written before; partner: name_memory().
  memory_handle_.store(handle, std::memory_order_release);
}

// Tells UCX of bytes that lie in registered memory, so that it need not register them.
void Messages::name_memory(ucp_request_param_t& param, const void* data, size_t bytes) const {
  const ucp_mem_h handle = memory_handle_.load(std::memory_order_acquire);
  if (handle == nullptr || bytes == 0) return;
  const auto* const begin = static_cast<const std::byte*>(data);
  const std::less_equal<const std::byte*> at_most;
  if (!at_most(memory_.data(), begin) || !at_most(begin + bytes, memory_.data() + memory_.size())) return;
  param.op_attr_mask |= UCP_OP_ATTR_FIELD_MEMH;
  param.memh = handle;
}

ucs_status_t Messages::on_welcome(Peer& peer, const Incoming& incoming) {
  WelcomeWire wire;
  if (!read_wire(incoming.header, wire) || wire.magic != WelcomeWire::kMagic) {
    return break_off(peer, "it is not tailrace, or a machine of the other byte order");
  }
  if (wire.version != WelcomeWire::kVersion) return break_off(peer, "it is of another version of tailrace");
  connections_.become_open(peer);
  return UCS_OK;
}

ucs_status_t Messages::on_whole(Peer& peer, const Incoming& incoming) {
  if (incoming.header.size() > Transport::kMostHead) return break_off(peer, "it has sent a head that is too long");
  if (peer.arrivals.size() >= kMostWaiting) return break_off(peer, "it has sent more messages than may wait here");
  deliver(peer, {incoming.header.begin(), incoming.header.end()}, incoming.data);
  return incoming.data.bytes > 0 ? UCS_INPROGRESS : UCS_OK;  // in progress: UCX keeps the data
}

ucs_status_t Messages::on_head(Peer& peer, const Incoming& incoming) {
  SplitWire wire;
  const Arrival& data = incoming.data;
  if (!read_wire(incoming.header, wire) || data.waits_at_sender || data.bytes > Transport::kMostHead) {
    return break_off(peer, "it has sent a malformed message");
  }
  const auto* const bytes = static_cast<const std::byte*>(data.data);
  std::vector<std::byte> head(bytes, bytes + data.bytes);
  if (wire.bulk == 0) {
    deliver(peer, std::move(head), {});
    return UCS_OK;
  }
  SplitMessage* const message = half(peer, wire.number);
  if (message == nullptr || message->head) return break_off(peer, "it has sent a malformed message");
  message->head = std::move(head);
  message->announced = wire.bulk;
  join(peer, wire.number);
  return UCS_OK;
}

ucs_status_t Messages::on_bulk(Peer& peer, const Incoming& incoming) {
  SplitWire wire;
  SplitMessage* message = nullptr;
  if (read_wire(incoming.header, wire) && incoming.data.bytes > 0) message = half(peer, wire.number);
  if (message == nullptr || message->bulk) return break_off(peer, "it has sent a malformed message");
  message->bulk = incoming.data;
  join(peer, wire.number);
  return UCS_INPROGRESS;  // UCX keeps the data
}

// Returns what is there of a message in halves; null if there are too many.
SplitMessage* Messages::half(Peer& peer, uint64_t number) {
  const auto found = peer.halves.find(number);
  if (found != peer.halves.end()) return &found->second;
  if (peer.halves.size() + peer.arrivals.size() >= kMostWaiting) return nullptr;
  return &peer.halves[number];
}

void Messages::join(Peer& peer, uint64_t number) {
  const auto found = peer.halves.find(number);
  SplitMessage& message = found->second;
  if (!message.head || !message.bulk) return;
  if (message.bulk->bytes != message.announced) {
    (void)break_off(peer, "it has sent bulk data of another size than it said");  // they are released with the peer
    return;
  }
  deliver(peer, std::move(*message.head), *message.bulk);
  peer.halves.erase(found);
}

void Messages::deliver(Peer& peer, std::vector<std::byte> head, const Arrival& bulk) {
  connections_.become_open(peer);  // a message may overtake the welcome
  TransportEvent event{.kind = Kind::message, .peer = peer.id, .head = std::move(head), .bulk = bulk.bytes};
  if (bulk.bytes > 0) {
    event.arrival = ++last_arrival_;
    peer.arrivals.emplace(event.arrival, bulk);
  }
  events_.push_back(std::move(event));
}

// Ends the connection. Returns what a callback returns for unwanted data.
ucs_status_t Messages::break_off(Peer& peer, const char* reason) {
  connections_.fail(peer, Status(TAILRACE_IO_ERROR, fmt::format("the connection to {}: {}", peer.address, reason)));
  return UCS_OK;
}

}  // namespace tailrace::impl
