#include "runtime/stats.hpp"

#include <chrono>

namespace tailrace::impl {
namespace {

double seconds(Nanoseconds time) { return std::chrono::duration<double>(time).count(); }

}  // namespace

tailrace_stats gather_stats(Session& session) {
  const ClientCounters& client = session.client().counters();
  const ServerCounters& server = session.server_counters();
  PoolOwner& pool = session.client().pool();
  pool.collect();
  tailrace_stats stats{};
  stats.struct_size = sizeof stats;
  stats.blocks_accepted = client.blocks_accepted;
  stats.blocks_written = server.blocks_written.load(std::memory_order_relaxed);
  stats.blocks_failed = server.blocks_failed.load(std::memory_order_relaxed);
  stats.blocks_dropped = client.blocks_dropped;
  stats.blocks_written_through = client.blocks_written_through;
  stats.bytes_accepted = client.bytes_accepted;
  stats.bytes_written = server.bytes_written.load(std::memory_order_relaxed);
  stats.iterations_ended = client.iterations_ended;
  stats.iterations_published = server.iterations_published.load(std::memory_order_relaxed);
  stats.iterations_dropped = client.iterations_dropped;
  stats.iterations_failed = server.iterations_failed.load(std::memory_order_relaxed);
  stats.signals = client.signals;
  stats.failures = session.failures().total();
  stats.failures_unseen = session.failures().unseen();
  stats.memory_budget = session.config().memory.budget;
  stats.memory_held = pool.held();
  stats.memory_peak = pool.peak();
  stats.seconds_copying = seconds(client.copying);
  stats.seconds_waiting_memory = seconds(client.waiting_memory);
  stats.seconds_waiting_ticket = seconds(client.waiting_ticket);
  stats.seconds_writing =
      seconds(Nanoseconds(static_cast<int64_t>(server.busy_nanoseconds.load(std::memory_order_relaxed))));
  return stats;
}

}  // namespace tailrace::impl
