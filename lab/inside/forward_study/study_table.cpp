#include "lab/inside/forward_study/study_table.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace tailrace::impl::study {
namespace {

double milliseconds(Nanoseconds time) { return std::chrono::duration<double, std::milli>(time).count(); }

const char* name_of(Pattern pattern) {
  switch (pattern) {
    case Pattern::strided: return "1-D strided, one file";
    case Pattern::contiguous: return "contiguous, one file";
    case Pattern::files: return "a file a process";
  }
  return "";
}

Line line_from(const Schedule& schedule, const std::vector<Outcome>& outcomes) {
  Line line;
  line.schedule = schedule;
  const auto count = static_cast<double>(outcomes.size());
  for (const Outcome& outcome : outcomes) {
    line.each.push_back(outcome.seconds);
    line.mean.seconds += outcome.seconds / count;
    line.mean.seeks += outcome.seeks / count;
    line.mean.transfer += outcome.transfer / count;
    line.mean.busy += outcome.busy / count;
    line.mean.positioning += outcome.positioning / count;
    line.mean.events += outcome.events;
  }
  line.seconds = summary_of(line.each, kConfidence);
  return line;
}

double mib_a_second(const Parameters& parameters, const Line& line) {
  return static_cast<double>(parameters.bytes()) / double{kMiB} / line.seconds.mean;
}

// Returns how much time a line takes, as a part of another one's.
std::string ratio(const Line& line, const Line* to) {
  return to == nullptr ? "-" : fmt::format("{:.2f}", line.seconds.mean / to->seconds.mean);
}

}  // namespace

std::vector<Line> measure(const Parameters& parameters, const std::vector<Schedule>& schedules, uint32_t runs,
                          uint64_t seed) {
  std::vector<Line> lines;
  for (const Schedule& schedule : schedules) {
    std::vector<Outcome> outcomes;
    for (uint32_t run = 0; run < runs; ++run) outcomes.push_back(run_study(parameters, schedule, seed + run));
    lines.push_back(line_from(schedule, outcomes));
  }
  return lines;
}

const Line* line_of(const std::vector<Line>& lines, Kind kind) {
  for (const Line& line : lines) {
    if (line.schedule.kind == kind) return &line;
  }
  return nullptr;
}

const Line* best_window(const std::vector<Line>& lines) {
  const Line* best = nullptr;
  for (const Line& line : lines) {
    if (line.schedule.kind != Kind::twins) continue;
    if (best == nullptr || line.seconds.mean < best->seconds.mean) best = &line;
  }
  return best;
}

std::string describe(const Parameters& parameters) {
  const auto& [disk, servers, network, forwarders, program] = parameters;
  std::string text;
  text += fmt::format(
      "program:    {} processes, each {} {} of {} KiB, {} under way; {}; begin within {} ms, pause {} us\n",
      program.clients, program.requests, program.writes ? "writes" : "reads", program.bytes / kKiB, program.under_way,
      name_of(program.pattern), milliseconds(program.start), milliseconds(program.think) * 1000);
  text += fmt::format(
      "forwarders: {}, {} transfers under way each, memory {} MiB, {} us a message, quantum {}, batch {}, "
      "windows up to {} ms out of step\n",
      forwarders.count, forwarders.depth, forwarders.memory / kMiB, milliseconds(forwarders.message) * 1000,
      forwarders.quantum, forwarders.batch, milliseconds(forwarders.skew));
  text += fmt::format("servers:    {}, stripes of {} KiB, {}\n", servers.count, servers.stripe / kKiB,
                      servers.reorder == 1 ? std::string("requests as they came")
                                           : fmt::format("elevator among the first {} requests", servers.reorder));
  text +=
      fmt::format("disk:       {}: half a turn {} ms, seek {} to {} ms, {} MB/s, {} us a request{}\n", disk.name,
                  milliseconds(disk.half_turn), milliseconds(disk.settle), milliseconds(disk.full_stroke),
                  disk.rate / 1e6, milliseconds(disk.overhead) * 1000, disk.passes_gaps ? "" : ", passes no gaps");
  text += fmt::format("network:    {} us one way, {} MB/s a link\n", milliseconds(network.latency) * 1000,
                      network.bandwidth / 1e6);
  return text;
}

void print(const Parameters& parameters, const std::vector<Line>& lines) {
  const Line* const hbrr = line_of(lines, Kind::hbrr);
  const Line* const none = line_of(lines, Kind::none);
  std::printf("%-15s %18s %8s %10s %10s %10s %12s %10s\n", "", "seconds (99.7 %)", "MiB/s", "time/hbrr", "time/none",
              "seeks/MiB", "KiB/request", "disk busy");
  for (const Line& line : lines) {
    const std::string seconds = fmt::format("{:.2f} ± {:.2f}", line.seconds.mean, line.seconds.half);
    // One column more, since ± has two bytes.
    std::printf("%-15s %19s %8.1f %10s %10s %10.2f %12.1f %8.0f %%\n", name_of(line.schedule).c_str(),
                seconds.c_str(), mib_a_second(parameters, line), ratio(line, hbrr).c_str(), ratio(line, none).c_str(),
                line.mean.seeks, line.mean.transfer / double{kKiB}, 100 * line.mean.busy);
  }
  std::fflush(stdout);
}

std::string json_of(const Parameters& parameters, const std::vector<Line>& lines, uint32_t runs, uint64_t seed) {
  std::string rows;
  for (const Line& line : lines) {
    rows += fmt::format(
        "{}\n    {{\"schedule\": \"{}\", \"window_ms\": {}, \"seconds\": {:.6f}, \"half_interval\": {:.6f}, "
        "\"mib_per_second\": {:.3f}, \"seeks_per_mib\": {:.4f}, \"bytes_per_request\": {:.0f}, "
        "\"disk_busy\": {:.4f}, \"disk_positioning\": {:.4f}, \"each\": [{:.6f}]}}",
        rows.empty() ? "" : ",", name_of(line.schedule), milliseconds(line.schedule.window), line.seconds.mean,
        line.seconds.half, mib_a_second(parameters, line), line.mean.seeks, line.mean.transfer, line.mean.busy,
        line.mean.positioning, fmt::join(line.each, ", "));
  }
  std::string described = describe(parameters);
  std::string text;
  for (const char byte : described) text += byte == '\n' ? std::string("\\n") : std::string(1, byte);
  return fmt::format(
      "{{\n  \"parameters\": \"{}\",\n  \"runs\": {},\n  \"seed\": {},\n  \"confidence\": {},\n"
      "  \"lines\": [{}\n  ]\n}}\n",
      text, runs, seed, kConfidence, rows);
}

}  // namespace tailrace::impl::study
