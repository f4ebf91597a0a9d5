#include "runtime/report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "runtime/measurements/files_json.hpp"
#include "runtime/measurements/iterations_json.hpp"
#include "runtime/measurements/new_text_file.hpp"
#include "runtime/stats.hpp"

namespace tailrace::impl {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const tailrace_stats& stats) {
  return {{"blocks_accepted", stats.blocks_accepted},
          {"blocks_written", stats.blocks_written},
          {"blocks_failed", stats.blocks_failed},
          {"blocks_dropped", stats.blocks_dropped},
          {"blocks_written_through", stats.blocks_written_through},
          {"bytes_accepted", stats.bytes_accepted},
          {"bytes_written", stats.bytes_written},
          {"iterations_ended", stats.iterations_ended},
          {"iterations_published", stats.iterations_published},
          {"iterations_dropped", stats.iterations_dropped},
          {"iterations_failed", stats.iterations_failed},
          {"signals", stats.signals},
          {"failures", stats.failures},
          {"failures_unseen", stats.failures_unseen},
          {"memory_budget", stats.memory_budget},
          {"memory_peak", stats.memory_peak},
          {"requests_merged", stats.requests_merged},
          {"requests_peak", stats.requests_peak},
          {"transfers", stats.transfers},
          {"transfers_direct", stats.transfers_direct},
          {"transfers_again", stats.transfers_again},
          {"transfer_fallbacks", stats.transfer_fallbacks},
          {"accesses", stats.accesses},
          {"bytes_overwritten", stats.bytes_overwritten},
          {"bytes_from_memory", stats.bytes_from_memory},
          {"bytes_sieved", stats.bytes_sieved},
          {"iterations_limit", stats.iterations_limit},
          {"iterations_peak", stats.iterations_peak},
          {"seconds_copying", stats.seconds_copying},
          {"seconds_waiting_memory", stats.seconds_waiting_memory},
          {"seconds_waiting_ticket", stats.seconds_waiting_ticket},
          {"seconds_writing", stats.seconds_writing}};
}

// Returns pairs of a bucket's longest time, in seconds, and its count; leaves out empty buckets.
Json buckets(const Histogram& histogram) {
  Json pairs = Json::array();
  for (uint32_t index = 0; index < Histogram::kBuckets; ++index) {
    const uint64_t count = histogram.in_bucket(index);
    if (count > 0) pairs.push_back({static_cast<double>(Histogram::upper_end(index)) * 1e-9, count});
  }
  return pairs;
}

Json to_json(const Histogram& histogram) {
  const tailrace_times times = times_of(histogram);
  return {{"count", times.count}, {"total", times.total}, {"mean", times.mean}, {"p50", times.p50},
          {"p90", times.p90},     {"p99", times.p99},     {"most", times.most}, {"histogram", buckets(histogram)}};
}

Json variable_json(Session& session, uint32_t variable) {
  const tailrace_variable_stats stats = gather_stats(session, variable);
  const ClientVariableCounters& client = session.client().counters(variable);
  const VariableCounters& server = session.server_counters(variable);
  return {{"name", session.config().variables[variable].name},
          {"blocks_accepted", stats.blocks_accepted},
          {"blocks_written", stats.blocks_written},
          {"blocks_failed", stats.blocks_failed},
          {"blocks_refused", stats.blocks_refused},
          {"blocks_written_through", stats.blocks_written_through},
          {"blocks_merged", stats.blocks_merged},
          {"blocks_cached", stats.blocks_cached},
          {"bytes_accepted", stats.bytes_accepted},
          {"bytes_written", stats.bytes_written},
          {"handover", to_json(client.handover)},
          {"waiting", to_json(client.waiting)},
          {"queued", to_json(server.queued)},
          {"writing", to_json(server.writing)},
          {"chunks_filtered", stats.chunks_filtered},
          {"chunks_relaxed", stats.chunks_relaxed},
          {"chunks_skipped", stats.chunks_skipped},
          {"bytes_filtered", stats.bytes_filtered},
          {"bytes_stored", stats.bytes_stored},
          {"filtering", to_json(server.filtering)}};
}

// No call waits for files of iterations.
Json file_json(const FileBook::Figures& of) {
  Json file = file_json(of.counts);
  if (!of.path.empty()) file["path"] = of.path;
  if (of.times == nullptr) return file;
  file["handover"] = to_json(of.times->handover);
  file["waiting"] = to_json(of.times->waiting);
  return file;
}

Json failure_json(const Fault& fault) {
  return {{"message", fault.message},   {"operation", fault.operation}, {"file", fault.file},
          {"variable", fault.variable}, {"iteration", fault.iteration}, {"errno", fault.system_errno}};
}

}  // namespace

Status write_report(Session& session) {
  Json report = {{"tailrace_stats", 1},
                 {"tailrace", TAILRACE_VERSION_STRING},
                 {"name", session.config().name},
                 {"client", session.client_id()},
                 {"description", session.description()},
                 {"totals", to_json(gather_stats(session))}};
  Json variables = Json::array();
  for (uint32_t variable = 0; variable < session.config().variables.size(); ++variable) {
    variables.push_back(variable_json(session, variable));
  }
  report["variables"] = std::move(variables);
  Json files = Json::array();
  for (const FileBook::Figures& of : session.client().files().figures()) files.push_back(file_json(of));
  report["files"] = std::move(files);
  report["iterations"] = iterations_json(session.iterations());
  Json failures = Json::array();
  for (const FailureLog::Entry& entry : session.failures().untaken()) {
    failures.push_back(failure_json(entry.status.fault()));
  }
  report["failures_untold"] = std::move(failures);
  NewTextFile file(fmt::format("{}/{}_c{}.stats.json", session.config().storage.paths[0], session.config().name,
                               session.client_id()),
                   "statistics");
  // Paths need not be UTF-8.
  file.put(report.dump(1, ' ', false, Json::error_handler_t::replace));
  file.put("\n");
  return file.publish();
}

}  // namespace tailrace::impl
