// NotedEnds: a client that notes what the server tells it. Implements the port ClientEnds, without a channel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "channel/client_ends.hpp"

namespace tailrace::impl {

class NotedEnds final : public ClientEnds {
 public:
  static constexpr uint32_t kBlocks = 8;

  NotedEnds(uint64_t pool, size_t variables) : pool_(pool), variables_(variables), ends_(kBlocks) {}

  std::span<std::byte> memory() const override { return pool_; }
  uint32_t blocks() const override { return kBlocks; }
  void give_back(uint32_t block, uint64_t sequence) override {
    note_end(block, sequence);
    given_back.push_back(block);
  }
  void note_end(uint32_t block, uint64_t sequence) override { ends_[block] = {sequence, false}; }
  void keep(uint32_t block, uint64_t sequence) override { ends_[block] = {sequence, true}; }
  BlockEnd end_of(uint32_t block) const override { return ends_[block]; }
  bool waits_for_memory() const override { return false; }
  void wake_if_memory_came() override {}
  bool is_lost() const override { return false; }
  bool sleeps() const override { return asleep; }
  bool has_sent_no_more() const override { return true; }
  void end_ticket(uint64_t ticket, bool ok) override { tickets[ticket] = ok; }
  bool is_pending(uint64_t ticket) const override { return !tickets.contains(ticket); }
  void report(uint64_t ticket, const Status& failure) override { failures.emplace_back(ticket, failure.fault()); }
  void set_awaited(uint32_t clients) override { awaited = clients; }
  uint32_t iteration_limit() const override { return 8; }
  void set_iteration_limit(uint32_t) override {}
  void give_room(int64_t iteration) override { left.push_back(iteration); }
  void begun_by_any(int64_t) override {}
  void left_for_all(int64_t) override {}
  void forget_shared() override {}
  ServerCounters& counters() override { return counters_; }
  std::span<VariableCounters> variables() override { return variables_; }
  IterationLog& iterations() override { return iterations_; }
  FileLog& files() override { return files_; }
  void take_over() override {}

  std::vector<uint32_t> given_back;
  std::map<uint64_t, bool> tickets;
  std::vector<std::pair<uint64_t, Fault>> failures;
  std::vector<int64_t> left;
  uint32_t awaited = 0;
  bool asleep = false;

 private:
  mutable std::vector<std::byte> pool_;
  std::vector<VariableCounters> variables_;
  std::vector<BlockEnd> ends_;
  ServerCounters counters_;
  IterationLog::Shared iterations_shared_;
  IterationLog iterations_{iterations_shared_};
  FileLog::Shared files_shared_;
  FileLog files_{files_shared_};
};

}  // namespace tailrace::impl
