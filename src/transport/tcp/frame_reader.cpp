#include "transport/tcp/frame_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tailrace::impl {
namespace {

Status breach(const std::string& found) {
  return Status(TAILRACE_IO_ERROR, fmt::format("it breaks the protocol: {}", found));
}

}  // namespace

Result<bool> FrameReader::read(Transfers& transfers, std::vector<TransportEvent>& events) {
  for (size_t all = 0; all < kMostAtOnce;) {
    const Result<size_t> got = stream_.read(next_part());
    if (!got.ok()) return got.status();
    if (got.value() == 0) return false;
    all += got.value();
    heard_ += got.value();
    if (Status taken = take_part(got.value(), transfers, events); !taken.ok()) return taken;
    if (asks_) return false;
  }
  return true;
}

// Returns the memory of what comes next. It is never empty.
std::span<std::byte> FrameReader::next_part() {
  if (head_done_ < sizeof head_) return std::as_writable_bytes(std::span(&head_, 1)).subspan(head_done_);
  if (head_.kind != FrameKind::bulk) return std::span(body_).subspan(body_done_);
  return piece_.subspan(body_done_);
}

Status FrameReader::take_part(size_t bytes, Transfers& transfers, std::vector<TransportEvent>& events) {
  if (head_done_ < sizeof head_) {
    head_done_ += bytes;
    if (head_done_ < sizeof head_) return {};
    if (Status valid = check_head(transfers); !valid.ok()) return valid;
  } else {
    body_done_ += bytes;
  }
  const uint64_t all = head_.kind == FrameKind::bulk ? head_.bulk : body_.size();
  return body_done_ == all ? end_frame(transfers, events) : Status();
}

bool FrameReader::may_come(FrameKind kind) const {
  switch (expects_) {
    case Expects::join: return kind == FrameKind::join;
    case Expects::joined: return kind == FrameKind::joined;
    case Expects::pieces: return kind == FrameKind::bulk || kind == FrameKind::beat;
    case Expects::messages: break;
  }
  if (kind == FrameKind::invite) return calls_ && !is_invited_;
  return kind >= FrameKind::message && kind <= FrameKind::bulk;
}

// Takes memory for what follows, once it is known how much it may be.
Status FrameReader::check_head(const Transfers& transfers) {
  body_.clear();
  if (!may_come(head_.kind)) return breach("found a frame of a kind that cannot come here");
  if (head_.kind == FrameKind::bulk) {
    const Result<std::span<std::byte>> taken = transfers.take(head_.number, head_.head, head_.bulk);
    if (!taken.ok()) return breach(taken.status().fault().message);
    piece_ = taken.value();
    return {};
  }
  const bool has_head = head_.kind == FrameKind::message || head_.kind == FrameKind::whole;
  const bool has_secret = head_.kind == FrameKind::invite || head_.kind == FrameKind::join;
  if (head_.head > (has_head ? Transport::kMostHead : has_secret ? sizeof(JoinSecret) : 0)) {
    return breach("found a head that is too long");
  }
  body_.resize(head_.head);
  if (head_.kind == FrameKind::message) {
    if (head_.number != (head_.bulk > 0 ? last_announced_ + 1 : 0)) return breach("found a wrong number");
  } else if (head_.kind == FrameKind::whole) {
    if (head_.bulk == 0 || head_.bulk > kMostWhole || head_.number != 0 || kept_ + head_.bulk > kMostKept) {
      return breach("found more bulk data than wanted");
    }
    body_.resize(head_.head + head_.bulk);
  } else if (has_secret) {
    if (head_.head != sizeof(JoinSecret)) return breach("found a secret of a wrong length");
  } else if (head_.kind != FrameKind::joined && head_.kind != FrameKind::beat) {
    if (!transfers.waits(head_.number) || head_.bulk != 0) return breach("found an answer to no message");
  }
  return {};
}

Status FrameReader::end_frame(Transfers& transfers, std::vector<TransportEvent>& events) {
  head_done_ = body_done_ = 0;
  switch (head_.kind) {
    case FrameKind::message:
    case FrameKind::whole: return deliver(events);
    case FrameKind::fetch: transfers.fetch(head_.number); break;
    case FrameKind::refuse:
      events.push_back({.kind = TransportEvent::Kind::sent, .peer = peer_, .tag = transfers.refuse(head_.number)});
      break;
    case FrameKind::bulk: came_.push_back({head_.number, head_.bulk}); break;
    case FrameKind::invite:
    case FrameKind::join: {
      Invitation named{.peer = head_.number, .most = head_.bulk};
      std::copy(body_.begin(), body_.end(), named.secret.begin());
      (head_.kind == FrameKind::join ? asks_ : invitation_) = named;
      is_invited_ = true;
      break;
    }
    case FrameKind::joined: expects_ = Expects::pieces; break;
    case FrameKind::beat: break;
  }
  return {};
}

Status FrameReader::deliver(std::vector<TransportEvent>& events) {
  TransportEvent event{.kind = TransportEvent::Kind::message, .peer = peer_, .bulk = head_.bulk};
  if (head_.bulk > 0) {
    if (arrivals_.size() == kMostArrivals) return breach("found too many messages that wait");
    event.arrival = ++last_arrival_;
    Arrival& arrival = arrivals_[event.arrival];
    arrival.bytes = head_.bulk;
    arrival.number = head_.number;
    last_announced_ = std::max(last_announced_, head_.number);
    if (head_.kind == FrameKind::whole) {
      arrival.kept.assign(body_.begin() + head_.head, body_.end());
      kept_ += head_.bulk;
    }
  }
  body_.resize(head_.head);
  event.head = std::move(body_);
  events.push_back(std::move(event));
  return {};
}

void FrameReader::let_in() {
  asks_.reset();
  expects_ = Expects::pieces;
}

std::optional<FrameReader::Arrival> FrameReader::claim(uint64_t name) {
  auto found = arrivals_.extract(name);
  if (found.empty()) return std::nullopt;
  if (found.mapped().number == 0) kept_ -= found.mapped().bytes;
  return std::move(found.mapped());
}

}  // namespace tailrace::impl
