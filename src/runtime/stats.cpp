#include "runtime/stats.hpp"

#include <algorithm>
#include <chrono>

namespace tailrace::impl {
namespace {

double seconds(Nanoseconds time) { return std::chrono::duration<double>(time).count(); }
double seconds(uint64_t nanoseconds) { return seconds(Nanoseconds(static_cast<int64_t>(nanoseconds))); }

tailrace_sizes sizes(const SizeHistogram::Figures& of) {
  tailrace_sizes sizes{};
  static_assert(sizeof sizes.buckets == sizeof of.buckets);
  sizes.count = of.count();
  sizes.bytes = of.bytes;
  sizes.most = of.most;
  std::copy(of.buckets.begin(), of.buckets.end(), sizes.buckets);
  return sizes;
}

}  // namespace

tailrace_times times_of(const Histogram& of) {
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
  stats.accesses = server.accesses.get();
  stats.bytes_overwritten = server.bytes_overwritten.get();
  stats.bytes_from_memory = session.client().files().served() + server.bytes_stolen.get();
  stats.bytes_sieved = server.bytes_sieved.get();
  stats.iterations_limit = session.iterations_at_once();
  stats.iterations_peak = client.iterations_peak;
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
  stats.handover = times_of(client.handover);
  stats.waiting = times_of(client.waiting);
  stats.queued = times_of(server.queued);
  stats.writing = times_of(server.writing);
  stats.chunks_filtered = server.chunks_filtered.get();
  stats.chunks_relaxed = server.chunks_relaxed.get();
  stats.chunks_skipped = server.chunks_skipped.get();
  stats.bytes_filtered = server.bytes_filtered.get();
  stats.bytes_stored = server.bytes_stored.get();
  stats.filtering = times_of(server.filtering);
  stats.blocks_cached = server.blocks_cached.get();
  return stats;
}

std::optional<tailrace_file_stats> gather_file_stats(Session& session, std::string_view path) {
  using Kind = FileFigures::Kind;
  const Kind kind = path.empty() ? Kind::iterations : Kind::raw;
  for (const FileBook::Figures& of : session.client().files().figures()) {
    const FileFigures& counts = of.counts;
    if (counts.kind != kind || (kind == Kind::raw && of.path != path)) continue;
    tailrace_file_stats stats{};
    stats.struct_size = sizeof stats;
    stats.writes = counts.writes;
    stats.reads = counts.reads;
    stats.bytes_written = counts.bytes_written;
    stats.bytes_read = counts.bytes_read;
    if (of.times != nullptr) {
      stats.handover = times_of(of.times->handover);
      stats.waiting = times_of(of.times->waiting);
    }
    stats.requests_merged = counts.merged;
    stats.bytes_overwritten = counts.overwritten;
    stats.bytes_from_memory = counts.stolen;
    stats.before = sizes(counts.before);
    stats.after = sizes(counts.after);
    stats.bytes_sieved = counts.sieved;
    return stats;
  }
  return std::nullopt;
}

}  // namespace tailrace::impl
