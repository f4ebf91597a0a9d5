// ChannelEnds: implements ClientEnds on the memory of the channel, in every place.
#pragma once

#include "channel/channel.hpp"
#include "channel/client_ends.hpp"

namespace tailrace::impl {

class ChannelEnds final : public ClientEnds {
 public:
  // Borrows `channel`, the server's view.
  explicit ChannelEnds(Channel& channel);

  std::span<std::byte> memory() const override { return channel_.memory; }
  uint32_t blocks() const override { return static_cast<uint32_t>(channel_.ended.size()); }
  void give_back(uint32_t block, uint64_t sequence) override;
  void note_end(uint32_t block, uint64_t sequence) override;
  void keep(uint32_t block, uint64_t sequence) override;
  BlockEnd end_of(uint32_t block) const override;
  bool waits_for_memory() const override;
  void wake_if_memory_came() override;
  bool is_lost() const override { return channel_.is_lost(); }

  bool sleeps() const override { return channel_.client_bell.has_sleeper(); }
  bool has_sent_no_more() const override { return channel_.ring.empty(); }
  void end_ticket(uint64_t ticket, bool ok) override;
  bool is_pending(uint64_t ticket) const override { return channel_.tickets.pending(ticket); }
  void report(uint64_t ticket, const Status& failure) override { channel_.failures.add(ticket, failure); }
  void set_awaited(uint32_t clients) override;

  uint32_t iteration_limit() const override { return channel_.unfinished.limit(); }
  void set_iteration_limit(uint32_t limit) override { channel_.unfinished.set_limit(limit); }
  void give_room(int64_t iteration) override;
  void begun_by_any(int64_t iteration) override;
  void left_for_all(int64_t iteration) override;
  void forget_shared() override { channel_.unfinished.forget_common(); }

  ServerCounters& counters() override { return channel_.counters; }
  std::span<VariableCounters> variables() override { return channel_.variables; }
  IterationLog& iterations() override { return channel_.iterations; }
  FileLog& files() override { return channel_.files; }

  void take_over() override;

 private:
  Channel& channel_;
  uint32_t life_;  // the number of this server's life on the channel
};

}  // namespace tailrace::impl
