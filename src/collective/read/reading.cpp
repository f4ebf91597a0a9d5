#include "collective/read/reading.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tailrace::collective {
namespace {

// A domain may be smaller than what an aggregator may hold.
uint64_t largest_range(const std::vector<Stream>& streams, uint64_t range_bytes) {
  return std::clamp<uint64_t>(streams[0].end - streams[0].begin, 1, range_bytes);
}

}  // namespace

Reading::Reading(std::vector<Stream> streams, uint64_t range_bytes)
    : streams_(std::move(streams)),
      members_(streams_.size()),
      range_bytes_(range_bytes),
      range_(largest_range(streams_, range_bytes)),
      unfinished_(streams_.size()) {}

size_t Reading::own_stream(uint32_t rank) const {
  size_t index = 0;
  while (index < streams_.size() && streams_[index].member != rank) ++index;
  return index;
}

bool Reading::wants_own(uint32_t rank) const {
  const size_t index = own_stream(rank);
  return index < streams_.size() && wants(members_[index]);
}

void Reading::ask_self(uint32_t rank, const Message& request) { take(members_[own_stream(rank)], request); }

std::optional<Message> Reading::self_reply() {
  if (self_replies_.empty()) return std::nullopt;
  Message reply = std::move(self_replies_.front());
  self_replies_.pop_front();
  return reply;
}

bool Reading::progress(Exchange& exchange, Source& source) {
  if (has_ended()) return false;
  bool moved = receive(exchange);
  while (serve(exchange, source) || move_on()) moved = true;
  return moved;
}

bool Reading::receive(Exchange& exchange) {
  bool moved = false;
  for (size_t index = 0; index < streams_.size(); ++index) {
    if (streams_[index].member == exchange.rank()) continue;
    while (wants(members_[index])) {
      const std::optional<Message> message = exchange.receive(Kind::to_aggregator, streams_[index].member);
      if (!message.has_value()) break;
      take(members_[index], *message);
      moved = true;
    }
  }
  return moved;
}

void Reading::take(Member& member, const Message& message) {
  Request request(message);
  member.last_came = request.is_last();
  if (!request.pieces().empty()) {
    member.requests.push_back(std::move(request));
  } else {
    --unfinished_;
  }
}

// Replies to the requests for the present range.
bool Reading::serve(Exchange& exchange, Source& source) {
  bool moved = false;
  for (size_t index = 0; index < streams_.size(); ++index) {
    Member& member = members_[index];
    while (!member.requests.empty() && member.requests.front().range() == at_) {
      Message answer = reply(member.requests.front(), source);
      if (streams_[index].member == exchange.rank()) {
        self_replies_.push_back(std::move(answer));
      } else {
        exchange.send(Kind::to_member, streams_[index].member, std::move(answer));
      }
      if (member.requests.front().is_last()) --unfinished_;
      member.requests.pop_front();
      moved = true;
    }
  }
  return moved;
}

// Moves on to the lowest range that is asked for, if no request for an earlier one may come.
bool Reading::move_on() {
  uint64_t lowest = UINT64_MAX;
  for (const Member& member : members_) {
    if (member.requests.empty() && !member.last_came) return false;
    if (!member.requests.empty()) lowest = std::min(lowest, member.requests.front().range());
  }
  if (lowest == UINT64_MAX || lowest == at_) return false;
  at_ = lowest;
  const uint64_t begin = streams_[0].begin + at_ * range_bytes_;
  range_.move(begin, std::min(begin + range_bytes_, streams_[0].end));
  return true;
}

Message Reading::reply(const Request& request, Source& source) {
  ReplyHeader header;
  header.error = range_.fill(request.pieces(), source);
  Message message(sizeof header + request.bytes());
  if (header.error == 0) header.bytes = range_.copy(request.pieces(), message.data() + sizeof header);
  std::memcpy(message.data(), &header, sizeof header);
  return message;
}

}  // namespace tailrace::collective
