#include "collective/write/aggregation.hpp"

#include <cstring>
#include <optional>
#include <utility>

namespace tailrace::collective {

size_t Aggregation::own_stream(uint32_t rank) const {
  size_t index = 0;
  while (index < streams_.size() && streams_[index].member != rank) ++index;
  return index;
}

bool Aggregation::wants_own(uint32_t rank) const {
  const size_t index = own_stream(rank);
  return index < streams_.size() && aggregator_.wants(index);
}

void Aggregation::take_own(uint32_t rank, Message part) { aggregator_.take(own_stream(rank), std::move(part)); }

bool Aggregation::progress(Exchange& exchange, Sink& sink) {
  if (ended_) return false;
  bool moved = receive(exchange);
  while (aggregator_.advance()) {
    sink.write(aggregator_.cycle().extents, aggregator_.cycle().bytes);
    moved = receive(exchange) || true;
  }
  if (!aggregator_.has_ended()) return moved;
  const std::optional<int> error = sink.ended();
  if (!error.has_value()) return moved;
  error_ = *error;
  ended_ = true;
  report(exchange);
  return true;
}

bool Aggregation::receive(Exchange& exchange) {
  bool moved = false;
  for (size_t index = 0; index < streams_.size(); ++index) {
    if (streams_[index].member == exchange.rank()) continue;
    while (aggregator_.wants(index)) {
      std::optional<Message> part = exchange.receive(Kind::to_aggregator, streams_[index].member);
      if (!part.has_value()) break;
      aggregator_.take(index, std::move(*part));
      moved = true;
    }
  }
  return moved;
}

void Aggregation::report(Exchange& exchange) const {
  for (const Stream& stream : streams_) {
    if (stream.member == exchange.rank()) continue;
    Message end(sizeof error_);
    std::memcpy(end.data(), &error_, sizeof error_);
    exchange.send(Kind::to_member, stream.member, std::move(end));
  }
}

}  // namespace tailrace::collective
