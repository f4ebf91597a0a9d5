#include "transport/tcp/transfers.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace tailrace::impl {

// ---- what goes -------------------------------------------------------------------------------------------------

uint64_t Transfers::add(std::span<const iovec> bulk, uint64_t bytes, uint64_t tag) {
  outgoing_[++last_number_] = {.segments = {bulk.begin(), bulk.end()}, .bytes = bytes, .left = bytes, .tag = tag};
  return last_number_;
}

bool Transfers::waits(uint64_t number) const {
  const auto found = outgoing_.find(number);
  return found != outgoing_.end() && !found->second.is_wanted;
}

void Transfers::fetch(uint64_t number) {
  outgoing_.at(number).is_wanted = true;
  wanted_.push_back(number);
}

uint64_t Transfers::refuse(uint64_t number) { return outgoing_.extract(number).mapped().tag; }

std::optional<Transfers::Piece> Transfers::next_piece() {
  if (wanted_.empty()) return std::nullopt;
  Outgoing& outgoing = outgoing_.at(wanted_.front());
  const uint64_t bytes = std::min<uint64_t>(kMostPiece, outgoing.bytes - outgoing.dealt);
  const Piece piece{.number = wanted_.front(),
                    .place = static_cast<uint32_t>(outgoing.dealt / kMostPiece),
                    .bytes = bytes,
                    .left = bytes,
                    .segments = &outgoing.segments,
                    .segment = outgoing.segment,
                    .offset = outgoing.offset};
  for (uint64_t passed = 0; passed < bytes;) {
    const size_t rest = outgoing.segments[outgoing.segment].iov_len - outgoing.offset;
    const uint64_t step = std::min<uint64_t>(rest, bytes - passed);
    passed += step;
    outgoing.offset += step;
    if (step < rest) break;
    ++outgoing.segment;
    outgoing.offset = 0;
  }
  outgoing.dealt += bytes;
  if (outgoing.dealt == outgoing.bytes) wanted_.pop_front();
  return piece;
}

// ---- what comes ------------------------------------------------------------------------------------------------

void Transfers::expect(uint64_t number, std::span<std::byte> into, uint64_t tag) {
  Incoming& incoming = incoming_[number];
  incoming.into = into;
  incoming.left = into.size();
  incoming.tag = tag;
  incoming.taken = std::vector<std::atomic<bool>>((into.size() + kMostPiece - 1) / kMostPiece);
}

Result<std::span<std::byte>> Transfers::take(uint64_t number, uint32_t place, uint64_t bytes) const {
  const auto found = incoming_.find(number);
  const bool is_there = found != incoming_.end() && place < found->second.taken.size();
  const uint64_t offset = uint64_t{place} * kMostPiece;
  if (!is_there || bytes != std::min<uint64_t>(kMostPiece, found->second.into.size() - offset)) {
    return Status(TAILRACE_IO_ERROR, "found bulk data that were not requested");
  }
  // Relaxed: see `taken`.
  if (found->second.taken[place].exchange(true, std::memory_order_relaxed)) {
    return Status(TAILRACE_IO_ERROR, "found a piece of bulk data twice");
  }
  return found->second.into.subspan(offset, bytes);
}

// ---- between turns ---------------------------------------------------------------------------------------------

void Transfers::add_up(std::span<const Moved> went, std::span<const Moved> came,
                       std::vector<TransportEvent>& events) {
  const auto count = [&](auto& transfers, const Moved& moved, TransportEvent::Kind kind) {
    const auto found = transfers.find(moved.number);
    if (found == transfers.end()) return;  // all have ended with the peer
    TAILRACE_ASSERT(moved.bytes <= found->second.left);
    found->second.left -= moved.bytes;
    if (found->second.left > 0) return;
    events.push_back({.kind = kind, .peer = peer_, .tag = found->second.tag});
    transfers.erase(found);
  };
  for (const Moved& moved : went) count(outgoing_, moved, TransportEvent::Kind::sent);
  for (const Moved& moved : came) count(incoming_, moved, TransportEvent::Kind::received);
}

void Transfers::end_all(const Status& status, std::vector<TransportEvent>& events) {
  const auto end = [&](const auto& transfers, TransportEvent::Kind kind) {
    for (const auto& [number, one] : transfers) {
      events.push_back({.kind = kind, .peer = peer_, .tag = one.tag, .status = status});
    }
  };
  end(outgoing_, TransportEvent::Kind::sent);
  end(incoming_, TransportEvent::Kind::received);
  outgoing_.clear();
  incoming_.clear();
  wanted_.clear();
}

}  // namespace tailrace::impl
