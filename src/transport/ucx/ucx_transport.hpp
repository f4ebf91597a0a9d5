// UcxTransport: the transport over UCX (TCP, shared memory, RDMA where there is some). Implements the port
// transport.hpp; Connections and Messages do the work.
//
// Small bulk data travel with their message and wait in UCX's memory; larger ones wait at the sender (rendezvous). A
// connection that is being made counts as connected when the listener's welcome has come, since UCX connects late.
// UCX's descriptor becomes readable when poll() may have something, and the doorbell listens to it. UCX must be told
// before each sleep that its owner sleeps (arming); poll() does so when the owner has prepared its doorbell. Host
// names are resolved inside connect() and listen(), which is the one thing that may take time there.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/sync/doorbell.hpp"
#include "transport/transport.hpp"
#include "transport/transport_module.hpp"
#include "transport/ucx/connections.hpp"
#include "transport/ucx/messages.hpp"
#include "transport/ucx/ucx_worker.hpp"

namespace tailrace::impl {

class UcxTransport final : public Transport {
 public:
  static constexpr int kMostRounds = 256;                                       // of UCX's work in one poll()
  static constexpr Nanoseconds kLongestSleep = std::chrono::milliseconds(250);  // the descriptor may miss an event
  static constexpr Nanoseconds kLongestEnd = std::chrono::seconds(5);           // for UCX to end what is under way

  // Fails with TAILRACE_UNSUPPORTED if UCX cannot work here. The doorbell outlives the transport.
  static Result<std::unique_ptr<UcxTransport>> create(Doorbell& doorbell, const TransportOptions& options);
  // Closes all connections. The memory that they used is free after that.
  ~UcxTransport() override;

  Result<std::string> listen(const std::string& address) override;
  PeerId connect(const std::string& address) override;
  void close(PeerId id) override;
  void send(PeerId id, std::span<const std::byte> head, std::span<const iovec> bulk, uint64_t tag) override;
  void receive(PeerId id, uint64_t arrival, std::span<std::byte> into, uint64_t tag) override;
  void refuse(PeerId id, uint64_t arrival) override;
  void poll(std::vector<TransportEvent>& events) override;
  void wait(Nanoseconds limit) override;
  void use_memory(std::span<std::byte> memory) override;

 private:
  UcxTransport(Doorbell& doorbell, const TransportOptions& options, std::unique_ptr<UcxWorker> worker);
  Peer& known(PeerId id);
  void disturb();
  bool advance();

  Doorbell& doorbell_;
  std::unique_ptr<UcxWorker> worker_;
  std::vector<TransportEvent> events_;  // since the last poll()
  Connections connections_;
  Messages messages_;
};

}  // namespace tailrace::impl
