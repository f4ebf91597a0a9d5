#include "transport/ucx/ucx_transport.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <iterator>

#include "base/deadline.hpp"
#include "transport/ucx/quiet_ucx.hpp"

namespace tailrace::impl {

Result<std::unique_ptr<UcxTransport>> UcxTransport::create(Doorbell& doorbell, const TransportOptions& options) {
  begin_quiet_ucx(options.others_use_ucx);
  const QuietUcx quiet;
  Result<std::unique_ptr<UcxWorker>> worker = UcxWorker::create(options);
  if (!worker.ok()) return worker.status();
  std::unique_ptr<UcxTransport> made(new UcxTransport(doorbell, options, std::move(worker).value()));
  if (Status begun = made->messages_.begin(); !begun.ok()) return begun;
  doorbell.listen_also_to({made->worker_->descriptor(), kLongestSleep});
  return made;
}

UcxTransport::UcxTransport(Doorbell& doorbell, const TransportOptions& options, std::unique_ptr<UcxWorker> worker)
    : doorbell_(doorbell),
      worker_(std::move(worker)),
      connections_(*worker_, events_, options.ipv6 ? AF_INET6 : AF_INET),
      messages_(*worker_, connections_, events_, options.most_eager) {}

UcxTransport::~UcxTransport() {
  const QuietUcx quiet;
  doorbell_.listen_also_to({});
  connections_.end_all(kLongestEnd);
  messages_.end();
  worker_.reset();  // may still call callbacks of the other two
}

Result<std::string> UcxTransport::listen(const std::string& address) {
  const QuietUcx quiet;
  return connections_.listen(address);
}

PeerId UcxTransport::connect(const std::string& address) {
  const QuietUcx quiet;
  disturb();
  return connections_.connect(address);
}

void UcxTransport::close(PeerId id) {
  const QuietUcx quiet;
  disturb();
  connections_.leave(id);
}

Peer& UcxTransport::known(PeerId id) {
  Peer* const peer = connections_.find(id);
  TAILRACE_REQUIRE(peer != nullptr);
  return *peer;
}

void UcxTransport::send(PeerId id, std::span<const std::byte> head, std::span<const iovec> bulk, uint64_t tag) {
  TAILRACE_REQUIRE(head.size() <= kMostHead);
  TAILRACE_REQUIRE(bulk.size() <= kMostSegments);
  const QuietUcx quiet;
  disturb();
  Peer& peer = known(id);
  TAILRACE_REQUIRE(peer.phase != Peer::Phase::connecting);
  messages_.send(peer, head, bulk, tag);
}

void UcxTransport::receive(PeerId id, uint64_t arrival, std::span<std::byte> into, uint64_t tag) {
  const QuietUcx quiet;
  disturb();
  messages_.receive(known(id), arrival, into, tag);
}

void UcxTransport::refuse(PeerId id, uint64_t arrival) {
  const QuietUcx quiet;
  disturb();
  messages_.refuse(known(id), arrival);
}

// UCX may have work after a call, or something may have ended in it: there must be a poll() before the next sleep.
void UcxTransport::disturb() { doorbell_.ring(); }

bool UcxTransport::advance() {
  const bool progressed = worker_->progress();
  const bool advanced = connections_.advance();
  for (Peer* peer : connections_.take_accepted()) messages_.welcome(*peer);
  return progressed || advanced;
}

// Arms UCX's descriptor only if the owner is about to sleep and there is nothing to report: otherwise the owner polls
// again before it sleeps. Arming costs system calls here, and at peers that then wake an owner who is awake.
void UcxTransport::poll(std::vector<TransportEvent>& events) {
  const QuietUcx quiet;
  bool is_armed = false;
  bool moves = true;
  for (int round = 0; moves && round < kMostRounds; ++round) {
    moves = advance();
    if (!moves && events_.empty() && doorbell_.is_prepared()) {
      is_armed = worker_->arm();
      moves = !is_armed;
    }
  }
  events.insert(events.end(), std::make_move_iterator(events_.begin()), std::make_move_iterator(events_.end()));
  events_.clear();
  if (!is_armed) doorbell_.ring();
}

void UcxTransport::wait(Nanoseconds limit) {
  const QuietUcx quiet;
  if (events_.empty() && worker_->arm())
    wait_for_events(worker_->descriptor(), POLLIN, std::min(limit, kLongestSleep));
}

void UcxTransport::use_memory(std::span<std::byte> memory) {
  const QuietUcx quiet;
  messages_.use_memory(memory);
}

}  // namespace tailrace::impl
