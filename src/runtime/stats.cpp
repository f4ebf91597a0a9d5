#include "runtime/stats.hpp"

#include <chrono>

namespace tailrace::impl {
namespace {

double seconds(Nanoseconds time) { return std::chrono::duration<double>(time).count(); }
double seconds(uint64_t nanoseconds) { return seconds(Nanoseconds(static_cast<int64_t>(nanoseconds))); }

tailrace_times times(const Histogram& of) {
  tailrace_times times{};
  times.count = of.count();
  times.total = seconds(of.sum());
  times.mean = times.count == 0 ? 0.0 : times.total / static_cast<double>(times.count);
  times.p50 = seconds(of.percentile(0.5));
  times.p90 = seconds(of.percentile(0.9));
  times.p99 = seconds(of.percentile(0.99));
  times.most = seconds(of.most());
  return times;
}

}  // namespace

tailrace_stats gather_stats(Session& session) {
  const ClientCounters& client = session.client().counters();
  const ServerCounters& server = session.server_counters();
  PoolOwner& pool = session.client().pool();
  pool.collect();
  tailrace_stats stats{};
  stats.struct_size = sizeof stats;
  stats.blocks_accepted = client.blocks_accepted;
  stats.blocks_written = server.blocks_written.get();
  stats.blocks_failed = server.blocks_failed.get();
  stats.blocks_dropped = client.blocks_dropped;
  stats.blocks_written_through = client.blocks_written_through;
  stats.bytes_accepted = client.bytes_accepted;
  stats.bytes_written = server.bytes_written.get();
  stats.iterations_ended = client.iterations_ended;
  stats.iterations_published = server.iterations_published.get();
  stats.iterations_dropped = client.iterations_dropped;
  stats.iterations_failed = server.iterations_failed.get();
  stats.signals = client.signals;
  stats.failures = session.failures().total();
  stats.failures_unseen = session.failures().unseen();
  stats.memory_budget = session.config().memory.budget;
  stats.memory_held = pool.held();
  stats.memory_peak = pool.peak();
  stats.seconds_copying = seconds(client.copying);
  stats.seconds_waiting_memory = seconds(client.waiting_memory);
  stats.seconds_waiting_ticket = seconds(client.waiting_ticket);
  stats.seconds_writing = seconds(server.busy_nanoseconds.get());
  stats.requests_merged = server.requests_merged.get();
  stats.requests_peak = server.requests_peak.get();
  stats.transfers = server.transfers.get();
  stats.transfers_direct = server.transfers_direct.get();
  stats.transfers_again = server.transfers_again.get();
  stats.transfer_fallbacks = server.transfer_fallbacks.get();
  return stats;
}

tailrace_variable_stats gather_stats(Session& session, uint32_t variable) {
  const ClientVariableCounters& client = session.client().counters(variable);
  const VariableCounters& server = session.server_counters(variable);
  tailrace_variable_stats stats{};
  stats.struct_size = sizeof stats;
  stats.blocks_accepted = client.blocks_accepted;
  stats.blocks_written = server.blocks_written.get();
  stats.blocks_failed = server.blocks_failed.get();
  stats.blocks_refused = client.blocks_refused;
  stats.blocks_written_through = client.blocks_written_through;
  stats.blocks_merged = server.blocks_merged.get();
  stats.bytes_accepted = client.bytes_accepted;
  stats.bytes_written = server.bytes_written.get();
  stats.handover = times(client.handover);
  stats.waiting = times(client.waiting);
  stats.queued = times(server.queued);
  stats.writing = times(server.writing);
  stats.chunks_filtered = server.chunks_filtered.get();
  stats.chunks_relaxed = server.chunks_relaxed.get();
  stats.chunks_skipped = server.chunks_skipped.get();
  stats.bytes_filtered = server.bytes_filtered.get();
  stats.bytes_stored = server.bytes_stored.get();
  stats.filtering = times(server.filtering);
  return stats;
}

}  // namespace tailrace::impl
