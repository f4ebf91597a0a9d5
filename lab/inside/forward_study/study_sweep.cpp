#include "lab/inside/forward_study/study_sweep.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <functional>

#include "lab/inside/forward_study/study_table.hpp"

namespace tailrace::impl::study {
namespace {

constexpr Nanoseconds kPapersWindow = std::chrono::milliseconds(8);

struct Variant {
  std::string name;
  std::function<void(Parameters& parameters)> change;
};

std::vector<Variant> disks() {
  std::vector<Variant> variants;
  for (const char* disk : {"sas10k", "flash"}) {
    variants.push_back({fmt::format("disk {}", disk), [disk](Parameters& to) { to.disk = disk_of(disk); }});
  }
  for (const int percent : {25, 50, 200}) {
    variants.push_back({fmt::format("seeks and turns × {:g}", percent / 100.0), [percent](Parameters& to) {
                          for (Nanoseconds* time : {&to.disk.half_turn, &to.disk.settle, &to.disk.full_stroke}) {
                            *time = *time * percent / 100;
                          }
                        }});
  }
  variants.push_back({"the disk passes no gaps", [](Parameters& to) { to.disk.passes_gaps = false; }});
  return variants;
}

std::vector<Variant> servers() {
  std::vector<Variant> variants;
  for (const uint32_t among : {4U, 16U, 30U, 1000U}) {
    variants.push_back(
        {fmt::format("elevator among {}", among), [among](Parameters& to) { to.servers.reorder = among; }});
  }
  for (const uint32_t depth : {3U, 32U}) {
    variants.push_back({fmt::format("elevator among 30, {} transfers each", depth), [depth](Parameters& to) {
                          to.servers.reorder = 30;
                          to.forwarders.depth = depth;
                        }});
  }
  for (const uint64_t stripe : {32, 256, 1024, 4096}) {
    variants.push_back(
        {fmt::format("stripes of {} KiB", stripe), [stripe](Parameters& to) { to.servers.stripe = stripe * kKiB; }});
  }
  return variants;
}

std::vector<Variant> forwarders() {
  std::vector<Variant> variants;
  for (const uint32_t depth : {1U, 3U, 32U, 256U}) {
    variants.push_back(
        {fmt::format("{} transfers a forwarder", depth), [depth](Parameters& to) { to.forwarders.depth = depth; }});
  }
  for (const uint32_t batch : {4U, 64U, 1024U}) {
    variants.push_back(
        {fmt::format("batches of {}", batch), [batch](Parameters& to) { to.forwarders.batch = batch; }});
  }
  for (const uint32_t count : {1U, 2U, 8U, 16U}) {
    variants.push_back(
        {fmt::format("{} forwarders", count), [count](Parameters& to) { to.forwarders.count = count; }});
  }
  variants.push_back({"windows out of step", [](Parameters& to) { to.forwarders.skew = std::chrono::seconds(10); }});
  variants.push_back(
      {"windows out of step by 1 ms", [](Parameters& to) { to.forwarders.skew = std::chrono::milliseconds(1); }});
  return variants;
}

std::vector<Variant> programs() {
  std::vector<Variant> variants;
  for (const uint32_t requests : {2U, 4U, 16U}) {
    variants.push_back({fmt::format("{} requests under way", requests),
                        [requests](Parameters& to) { to.program.under_way = requests; }});
  }
  for (const int think : {0, 1, 10}) {
    variants.push_back({fmt::format("pauses of {} ms", think),
                        [think](Parameters& to) { to.program.think = std::chrono::milliseconds(think); }});
  }
  variants.push_back({"writes", [](Parameters& to) { to.program.writes = true; }});
  variants.push_back({"contiguous", [](Parameters& to) { to.program.pattern = Pattern::contiguous; }});
  variants.push_back({"a file a process", [](Parameters& to) { to.program.pattern = Pattern::files; }});
  return variants;
}

// Returns the line of twins with this window; null if there is none.
const Line* line_of_window(const std::vector<Line>& lines, Nanoseconds window) {
  for (const Line& line : lines) {
    if (line.schedule.kind == Kind::twins && line.schedule.window == window) return &line;
  }
  return nullptr;
}

std::string seconds_of(const Line* line) { return line == nullptr ? "-" : fmt::format("{:.1f}", line->seconds.mean); }

std::string ratio(const Line* line, const Line* to) {
  if (line == nullptr || to == nullptr) return "-";
  return fmt::format("{:.2f}", line->seconds.mean / to->seconds.mean);
}

constexpr const char* kRow = "%-36s %8s %8s %8s %8s %8s %-14s %10s %10s %9s\n";

void print_line(const std::string& name, const std::vector<Line>& lines) {
  const Line* const none = line_of(lines, Kind::none);
  const Line* const hbrr = line_of(lines, Kind::hbrr);
  const Line* const best = best_window(lines);
  const std::string window = best == nullptr ? "-" : name_of(best->schedule);
  std::printf(kRow, name.c_str(), seconds_of(none).c_str(), seconds_of(line_of(lines, Kind::fifo)).c_str(),
              seconds_of(hbrr).c_str(), seconds_of(line_of_window(lines, kPapersWindow)).c_str(),
              seconds_of(best).c_str(), window.c_str(), ratio(best, hbrr).c_str(), ratio(best, none).c_str(),
              seconds_of(line_of(lines, Kind::adaptive)).c_str());
  std::fflush(stdout);
}

}  // namespace

void sweep(const StudyOptions& options) {
  std::printf(kRow, "seconds", "none", "fifo", "hbrr", "8 ms", "twins", "best window", "best/hbrr", "best/none",
              "adaptive");
  print_line("as above", measure(options.parameters, options.schedules, options.runs, options.seed));
  for (const std::vector<Variant>& variants : {disks(), servers(), forwarders(), programs()}) {
    for (const Variant& variant : variants) {
      Parameters changed = options.parameters;
      variant.change(changed);
      print_line(variant.name, measure(changed, options.schedules, options.runs, options.seed));
    }
  }
}

}  // namespace tailrace::impl::study
