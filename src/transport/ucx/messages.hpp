// Messages: sends and receives of a transport over UCX, as active messages (message_wire.hpp).
//
// Every send and receive ends with one event, also when its connection fails or is left. What arrives is kept in its
// Peer until it is fetched or refused. Messages that no honest peer sends end the connection.
#pragma once

#include <sys/uio.h>
#include <ucp/api/ucp.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/status.hpp"
#include "transport/transport.hpp"
#include "transport/ucx/connections.hpp"
#include "transport/ucx/operation.hpp"
#include "transport/ucx/peer.hpp"
#include "transport/ucx/ucx_worker.hpp"

namespace tailrace::impl {

class Messages {
 public:
  static constexpr size_t kMostWaiting = 65536;  // messages of one peer whose bulk data were not fetched

  // Bulk data up to `most_eager` bytes travel with their message. All three outlive the messages; ends and messages
  // are appended to `events`.
  Messages(UcxWorker& worker, Connections& connections, std::vector<TransportEvent>& events, size_t most_eager)
      : worker_(worker), connections_(connections), events_(events), most_eager_(most_eager) {}
  ~Messages();
  Messages(const Messages&) = delete;
  Messages& operator=(const Messages&) = delete;

  // Begins to take messages from UCX.
  Status begin();
  // Gives back the registered memory. Requires that all connections have been told to close.
  void end();

  // Sends what makes the other side's connection `connected`.
  void welcome(Peer& peer);
  // See Transport.
  void send(Peer& peer, std::span<const std::byte> head, std::span<const iovec> bulk, uint64_t tag);
  void receive(Peer& peer, uint64_t arrival, std::span<std::byte> into, uint64_t tag);
  void refuse(Peer& peer, uint64_t arrival);
  void use_memory(std::span<std::byte> memory);

 private:
  // An active message, as UCX gives it to a callback.
  struct Incoming {
    std::span<const std::byte> header;
    Arrival data;
  };
  using Handler = ucs_status_t (Messages::*)(Peer& peer, const Incoming& incoming);

  Send& new_send(Peer& peer, std::span<const std::byte> head, uint64_t tag, uint32_t parts);
  void post(Send& send, Message id, std::span<const std::byte> header, std::span<const ucp_dt_iov_t> data);
  void end_part(Send& send, ucs_status_t status);
  void end_receive(Receive& receive, const Status& status);
  void name_memory(ucp_request_param_t& param, const void* data, size_t bytes) const;

  ucs_status_t on_welcome(Peer& peer, const Incoming& incoming);
  ucs_status_t on_whole(Peer& peer, const Incoming& incoming);
  ucs_status_t on_head(Peer& peer, const Incoming& incoming);
  ucs_status_t on_bulk(Peer& peer, const Incoming& incoming);
  SplitMessage* half(Peer& peer, uint64_t number);
  void join(Peer& peer, uint64_t number);
  void deliver(Peer& peer, std::vector<std::byte> head, const Arrival& bulk);
  ucs_status_t break_off(Peer& peer, const char* reason);

  template <Handler handler>
  Status handle(Message id);
  template <Handler handler>
  static ucs_status_t on_message(void* messages, const void* header, size_t header_bytes, void* data, size_t bytes,
                                 const ucp_am_recv_param_t* param);
  static void on_sent(void* request, ucs_status_t status, void* send);
  static void on_received(void* request, ucs_status_t status, size_t bytes, void* receive);

  UcxWorker& worker_;
  Connections& connections_;
  std::vector<TransportEvent>& events_;
  const size_t most_eager_;
  // Written before `memory_handle_`, and constant once that is not null. Any thread may set both.
  std::span<std::byte> memory_;
  std::atomic<ucp_mem_h> memory_handle_{nullptr};
  Reused<Send> sends_;
  Reused<Receive> receives_;
  uint64_t last_arrival_ = 0;
};

}  // namespace tailrace::impl
