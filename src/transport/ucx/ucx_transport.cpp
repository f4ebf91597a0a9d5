#include "transport/ucx/ucx_transport.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <iterator>
#include <system_error>

#include "base/deadline.hpp"
#include "transport/ucx/quiet_ucx.hpp"

namespace tailrace::impl {

Result<std::unique_ptr<UcxTransport>> UcxTransport::create(Doorbell& doorbell, const UcxOptions& options) {
  begin_quiet_ucx(options.others_use_ucx);
  const QuietUcx quiet;
  Result<std::unique_ptr<UcxWorker>> worker = UcxWorker::create(options);
  if (!worker.ok()) return worker.status();
  std::unique_ptr<UcxTransport> made(new UcxTransport(doorbell, options, std::move(worker).value()));
  if (Status begun = made->begin(options); !begun.ok()) return begun;
  return made;
}

UcxTransport::UcxTransport(Doorbell& doorbell, const UcxOptions& options, std::unique_ptr<UcxWorker> worker)
    : doorbell_(doorbell),
      worker_(std::move(worker)),
      connections_(*worker_, events_, options.ipv6 ? AF_INET6 : AF_INET),
      messages_(*worker_, connections_, events_, options.most_eager) {}

Status UcxTransport::begin(const UcxOptions& options) {
  if (Status status = messages_.begin(); !status.ok()) return status;
  if (!options.rings) return {};
  try {
    watcher_.emplace(worker_->descriptor(), doorbell_, kLongestSleep);
  } catch (const std::system_error& error) {
    return Status::of_errno("start a thread", "tailrace-net", error.code().value());
  }
  return {};
}

UcxTransport::~UcxTransport() {
  const QuietUcx quiet;
  watcher_.reset();
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
void UcxTransport::disturb() {
  is_armed_ = false;
  doorbell_.ring();
}

bool UcxTransport::advance() {
  const bool progressed = worker_->progress();
  const bool advanced = connections_.advance();
  for (Peer* peer : connections_.take_accepted()) messages_.welcome(*peer);
  return progressed || advanced;
}

// Arms UCX's descriptor only if there is nothing to report: otherwise the owner polls again before it sleeps.
void UcxTransport::poll(std::vector<TransportEvent>& events) {
  const QuietUcx quiet;
  if (watcher_) watcher_->disarm();
  is_armed_ = false;
  bool moves = true;
  for (int round = 0; moves && round < kMostRounds; ++round) {
    moves = advance();
    if (!moves && events_.empty()) {
      is_armed_ = worker_->arm();
      moves = !is_armed_;
    }
  }
  events.insert(events.end(), std::make_move_iterator(events_.begin()), std::make_move_iterator(events_.end()));
  events_.clear();
  if (!is_armed_) {
    doorbell_.ring();
  } else if (watcher_) {
    watcher_->arm();
  }
}

void UcxTransport::wait(Nanoseconds limit) {
  if (!is_armed_) return;
  if (watcher_) watcher_->disarm();
  const short ready = wait_for_events(worker_->descriptor(), POLLIN, std::min(limit, kLongestSleep));
  if (ready != 0) is_armed_ = false;
}

void UcxTransport::use_memory(std::span<std::byte> memory) {
  const QuietUcx quiet;
  messages_.use_memory(memory);
}

}  // namespace tailrace::impl
