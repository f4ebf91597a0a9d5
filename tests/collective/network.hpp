// Network, FakeExchange: messages between processes that one thread carries out in random turns. A message is here
// after a few looks for it; one is sent after a few questions.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

#include "collective/exchange.hpp"

namespace test {

struct Network {
  explicit Network(uint64_t seed, size_t ranks) : dice(seed), given(ranks), all(ranks) {}

  bool chance() { return dice() % 3 == 0; }

  std::mt19937_64 dice;
  std::vector<bool> given;
  std::vector<tailrace::collective::Contribution> all;
  std::map<std::tuple<tailrace::collective::Kind, uint32_t, uint32_t>, std::deque<tailrace::collective::Message>>
      messages;
  std::map<std::pair<uint32_t, uint32_t>, size_t> unsent;
};

class FakeExchange : public tailrace::collective::Exchange {
 public:
  FakeExchange(Network& network, uint32_t rank) : network_(network), rank_(rank) {}

  uint32_t rank() const override { return rank_; }
  void gather(const tailrace::collective::Contribution& mine) override {
    network_.all[rank_] = mine;
    network_.given[rank_] = true;
  }
  const std::vector<tailrace::collective::Contribution>* gathered() override {
    for (const bool given : network_.given) {
      if (!given) return nullptr;
    }
    return network_.chance() ? &network_.all : nullptr;
  }
  void send(tailrace::collective::Kind kind, uint32_t to, tailrace::collective::Message message) override {
    network_.messages[{kind, rank_, to}].push_back(std::move(message));
    if (kind == tailrace::collective::Kind::to_aggregator) ++network_.unsent[{rank_, to}];
  }
  size_t unsent(uint32_t to) override {
    size_t& left = network_.unsent[{rank_, to}];
    if (left > 0 && network_.chance()) --left;
    return left;
  }
  bool all_sent() override {
    for (auto& [pair, left] : network_.unsent) {
      if (pair.first == rank_ && left > 0 && network_.chance()) --left;
      if (pair.first == rank_ && left > 0) return false;
    }
    return true;
  }
  std::optional<tailrace::collective::Message> receive(tailrace::collective::Kind kind, uint32_t from) override {
    auto& queue = network_.messages[{kind, from, rank_}];
    if (queue.empty() || !network_.chance()) return std::nullopt;
    tailrace::collective::Message message = std::move(queue.front());
    queue.pop_front();
    return message;
  }

 private:
  Network& network_;
  const uint32_t rank_;
};

}  // namespace test
