// Connections: the peers of a transport over UCX, from the first step of a connection to its end.
//
// A peer ends in two ways: it fails, and its owner hears that it is lost; or its owner leaves it. In both, UCX closes
// its endpoint by force, ends what is under way, and only then the peer is forgotten. UCX's callbacks only note what
// has happened; advance() acts on it.
//
// UCX 1.13.1 may abort the process ("handler->async == async") if an endpoint is closed while it is being connected.
// So a peer that its owner leaves before that is closed when its endpoint has given a sign, or after a while.
#pragma once

#include <ucp/api/ucp.h>

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/deadline.hpp"
#include "base/net/socket_address.hpp"
#include "base/os/file_descriptor.hpp"
#include "base/status.hpp"
#include "transport/transport.hpp"
#include "transport/ucx/peer.hpp"
#include "transport/ucx/ucx_worker.hpp"

namespace tailrace::impl {

class Connections {
 public:
  static constexpr size_t kMostPeers = 65536;  // that a listener accepts

  // Both outlive the connections. What happens is appended to `events`. Addresses are of `family`, AF_INET or
  // AF_INET6.
  Connections(UcxWorker& worker, std::vector<TransportEvent>& events, int family)
      : worker_(worker), events_(events), family_(family) {}
  // Requires that end_all() has been called.
  ~Connections();
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;

  // See Transport. A connection ends connecting when the caller says so (become_open), or fails.
  Result<std::string> listen(const std::string& address);
  PeerId connect(const std::string& address);
  // Forgets a peer for its owner, which hears no more of it but the ends of what is under way.
  void leave(PeerId id);

  // Returns the peer that its owner knows by this number, or null.
  Peer* find(PeerId id);
  // Returns the peer that messages of this endpoint are from; null if it is ending.
  Peer* find(ucp_ep_h endpoint);
  void become_open(Peer& peer);
  // Ends the connection; its owner hears that it is lost, and why. Does nothing if it is ending already.
  void fail(Peer& peer, Status why);

  // Accepts, closes, and tells what has become due. Returns false if nothing has.
  bool advance();
  // Returns peers that have been accepted since the last call.
  std::vector<Peer*> take_accepted();
  // Closes everything, for `limit` at most, and accepts no more.
  void end_all(Nanoseconds limit);

 private:
  Result<SocketAddress> resolve(const std::string& address) const;
  Peer& add(std::string address);
  ucp_ep_params_t endpoint_params();
  Status begin_connecting(Peer& peer, const std::string& address);
  void accept(ucp_conn_request_h request);
  static Status told(const Peer& peer, Status why);
  void begin_closing(Peer& peer);
  bool tell_losses();
  bool close_given_up();
  bool bury();

  static void on_request(ucp_conn_request_h request, void* connections);
  static void on_failure(void* connections, ucp_ep_h endpoint, ucs_status_t status);
  static void on_closed(void* request, ucs_status_t status, void* peer);

  UcxWorker& worker_;
  std::vector<TransportEvent>& events_;
  const int family_;
  ucp_listener_h listener_ = nullptr;
  FileDescriptor life_port_;
  std::vector<ucp_conn_request_h> requests_;  // of processes that want to connect
  std::vector<Peer*> accepted_;
  std::unordered_map<PeerId, std::unique_ptr<Peer>> peers_;  // those that their owner knows
  std::unordered_map<ucp_ep_h, Peer*> by_endpoint_;          // those that are not ending
  std::vector<Peer*> failed_;                                // of peers_: their owner must hear of it
  std::vector<std::unique_ptr<Peer>> left_;                  // UCX still has them
  // Peers of left_ whose endpoints were being connected.
  struct GivenUp {
    Peer* peer = nullptr;
    ucp_ep_h endpoint = nullptr;
    Deadline until;
    bool has_given_a_sign = false;  // it is connected, or has failed
  };
  std::vector<GivenUp> given_up_;
  PeerId last_ = 0;
};

}  // namespace tailrace::impl
