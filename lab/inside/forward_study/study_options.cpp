#include "lab/inside/forward_study/study_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>
#include <sstream>

#include "lab/inside/forward_study/scale_run.hpp"

namespace tailrace::impl::study {
namespace {

// One option: a word, the number of its values, and a function that takes them. It returns false if one is wrong.
struct Option {
  std::string word;
  size_t values = 0;
  std::string help;
  std::function<bool(const std::string* values)> take;
};

std::optional<double> number_in(const std::string& word, double most) {
  char* end = nullptr;
  const double number = std::strtod(word.c_str(), &end);
  const bool is_number = !word.empty() && *end == '\0';
  if (!is_number || !(number >= 0 && number <= most)) return std::nullopt;
  return number;
}

template <class Number>
Option whole(std::string word, std::string help, Number& to, Number least, double most, Number factor = 1) {
  return {std::move(word), 1, std::move(help), [&to, least, most, factor](const std::string* value) {
            const std::optional<double> number = number_in(*value, most);
            if (!number || std::floor(*number) != *number) return false;
            to = static_cast<Number>(*number) * factor;
            return to >= least;
          }};
}

Option real(std::string word, std::string help, double& to, double factor) {
  return {std::move(word), 1, std::move(help), [&to, factor](const std::string* value) {
            const std::optional<double> number = number_in(*value, 1e9);
            if (number && *number > 0) to = *number * factor;
            return number && *number > 0;
          }};
}

std::optional<Nanoseconds> time_in(const std::string& word, Nanoseconds unit) {
  const std::optional<double> number = number_in(word, 1e6);
  if (!number) return std::nullopt;
  return Nanoseconds(static_cast<Nanoseconds::rep>(std::llround(*number * static_cast<double>(unit.count()))));
}

Option time(std::string word, std::string help, Nanoseconds& to, Nanoseconds unit) {
  return {std::move(word), 1, std::move(help), [&to, unit](const std::string* value) {
            const std::optional<Nanoseconds> read = time_in(*value, unit);
            if (read) to = *read;
            return read.has_value();
          }};
}

Option word_of(std::string word, std::string help, std::function<bool(const std::string*)> take) {
  return {std::move(word), 1, std::move(help), std::move(take)};
}

Option flag(std::string word, std::string help, bool& to, bool value) {
  return {std::move(word), 0, std::move(help), [&to, value](const std::string*) {
            to = value;
            return true;
          }};
}

std::vector<std::string> items_of(const std::string& list) {
  std::vector<std::string> items;
  std::istringstream stream(list);
  for (std::string item; std::getline(stream, item, ',');) items.push_back(item);
  return items;
}

bool take_pattern(ProgramParameters& program, const std::string& word) {
  const std::map<std::string, Pattern> patterns{
      {"strided", Pattern::strided}, {"contiguous", Pattern::contiguous}, {"files", Pattern::files}};
  const auto found = patterns.find(word);
  if (found == patterns.end()) return false;
  program.pattern = found->second;
  return true;
}

bool take_kinds(std::vector<Kind>& kinds, const std::string& list) {
  const std::map<std::string, Kind> known{{"none", Kind::none},
                                          {"fifo", Kind::fifo},
                                          {"hbrr", Kind::hbrr},
                                          {"twins", Kind::twins},
                                          {"adaptive", Kind::adaptive}};
  kinds.clear();
  for (const std::string& item : items_of(list)) {
    const auto found = known.find(item);
    if (found == known.end()) return false;
    kinds.push_back(found->second);
  }
  return !kinds.empty();
}

bool take_windows(std::vector<Nanoseconds>& windows, const std::string& list) {
  windows.clear();
  for (const std::string& item : items_of(list)) {
    const std::optional<Nanoseconds> window = time_in(item, std::chrono::milliseconds(1));
    if (!window || *window == Nanoseconds::zero()) return false;
    windows.push_back(*window);
  }
  return !windows.empty();
}

bool take_scale(StudyOptions& options, std::vector<Kind>& kinds, const std::string* values) {
  StudyOptions::Scale scale;
  const bool right = whole<uint32_t>("", "", scale.nodes, 1, 1e7).take(&values[0]) &&
                     whole<uint32_t>("", "", scale.forwarders, 1, 1e5).take(&values[1]);
  options.scale = scale;
  kinds = {Kind::fifo};
  prepare_scale(options.parameters, scale.nodes, scale.forwarders);
  return right && scale.nodes >= scale.forwarders;
}

void make_tiny(StudyOptions& options, std::vector<Nanoseconds>& windows) {
  options.parameters.program.clients = 16;
  options.parameters.program.requests = 16;
  options.runs = 2;
  windows = {std::chrono::milliseconds(1), std::chrono::milliseconds(8)};
}

// The values that do not stand in StudyOptions as they are given.
struct Lists {
  std::vector<Kind> kinds{Kind::none, Kind::fifo, Kind::hbrr, Kind::twins, Kind::adaptive};
  std::vector<Nanoseconds> windows;
};

std::vector<Option> program_options(ProgramParameters& program) {
  using namespace std::chrono_literals;
  return {
      whole<uint32_t>("--clients", "N: processes", program.clients, 1, 1e6),
      whole<uint32_t>("--requests", "N: requests of each", program.requests, 1, 1e7),
      whole<uint64_t>("--size", "KIB: of a request", program.bytes, 1, 1e5, kKiB),
      word_of("--pattern", "strided | contiguous | files",
              [&program](const std::string* value) { return take_pattern(program, *value); }),
      flag("--writes", ": instead of reads", program.writes, true),
      whole<uint32_t>("--under-way", "N: requests that a process has under way", program.under_way, 1, 1e4),
      time("--start", "MS: processes begin within this time", program.start, 1ms),
      time("--think", "US: mean pause between a process's requests", program.think, 1us),
  };
}

std::vector<Option> machine_options(Parameters& parameters) {
  using namespace std::chrono_literals;
  ForwarderParameters& forwarders = parameters.forwarders;
  ServerParameters& servers = parameters.servers;
  DiskParameters& disk = parameters.disk;
  return {
      whole<uint32_t>("--forwarders", "N", forwarders.count, 1, 1e5),
      whole<uint32_t>("--depth", "N: transfers that a forwarder has under way", forwarders.depth, 1, 1e4),
      whole<uint32_t>("--quantum", "N: of hbrr", forwarders.quantum, 1, 1e6),
      whole<uint32_t>("--batch", "N: of hbrr and twins", forwarders.batch, 1, 1e6),
      whole<uint64_t>("--memory", "MIB: of a forwarder", forwarders.memory, 1, 1e6, kMiB),
      time("--message", "US: a forwarder's time for a message", forwarders.message, 1us),
      time("--skew", "MS: forwarders' windows are out of step by up to this", forwarders.skew, 1ms),
      whole<uint32_t>("--servers", "N", servers.count, 1, 4096),
      whole<uint64_t>("--stripe", "KIB", servers.stripe, 1, 1e9, kKiB),
      whole<uint32_t>("--reorder", "N: requests among which the elevator chooses; 1: none", servers.reorder, 1, 1e6),
      time("--server-request", "US: a server's time for a request, before the disk", servers.request, 1us),
      word_of("--disk", "sata7200 | sas10k | flash; give it before options of the disk",
              [&disk](const std::string* value) {
                disk = disk_of(*value);
                return !disk.name.empty();
              }),
      time("--half-turn", "MS", disk.half_turn, 1ms),
      time("--settle", "MS: shortest seek", disk.settle, 1ms),
      time("--full-stroke", "MS: longest seek", disk.full_stroke, 1ms),
      real("--rate", "MB/S: of the disk", disk.rate, 1e6),
      time("--overhead", "US: of the disk for each request", disk.overhead, 1us),
      flag("--no-passing", ": the disk does not wait for gaps to pass", disk.passes_gaps, false),
      time("--latency", "US: of the network, one way", parameters.network.latency, 1us),
      real("--bandwidth", "MB/S: of a link", parameters.network.bandwidth, 1e6),
  };
}

std::vector<Option> run_options(StudyOptions& options, Lists& lists) {
  return {
      word_of("--schedules", "LIST of none, fifo, hbrr, twins, adaptive",
              [&lists](const std::string* value) { return take_kinds(lists.kinds, *value); }),
      word_of("--windows", "LIST of ms: of twins",
              [&lists](const std::string* value) { return take_windows(lists.windows, *value); }),
      whole<uint32_t>("--runs", "N: of each schedule", options.runs, 1, 1000),
      whole<uint64_t>("--seed", "N: of the first run", options.seed, 0, 1e15),
      word_of("--json", "FILE: writes the result there",
              [&options](const std::string* value) {
                options.json = *value;
                return !value->empty();
              }),
      flag("--sweep", ": shows how the result depends on the parameters", options.sweeps, true),
      Option{"--scale", 2, "NODES FORWARDERS: queues and memory of many; give it first, since it sets others",
             [&](const std::string* values) { return take_scale(options, lists.kinds, values); }},
      Option{"--tiny", 0, ": a study of no time and no meaning",
             [&options, &lists](const std::string*) {
               make_tiny(options, lists.windows);
               return true;
             }},
      flag("--help", "", options.helps, true),
  };
}

std::vector<Option> all_options(StudyOptions& options, Lists& lists) {
  std::vector<Option> all = run_options(options, lists);
  for (std::vector<Option> some :
       {program_options(options.parameters.program), machine_options(options.parameters)}) {
    all.insert(all.end(), std::make_move_iterator(some.begin()), std::make_move_iterator(some.end()));
  }
  return all;
}

std::vector<Schedule> schedules_of(const Lists& lists) {
  std::vector<Schedule> schedules;
  for (const Kind kind : lists.kinds) {
    if (kind != Kind::twins) {
      schedules.push_back({kind, Nanoseconds::zero()});
      continue;
    }
    for (const Nanoseconds window : lists.windows) schedules.push_back({kind, window});
  }
  return schedules;
}

Status wrong(const std::string& message) { return {TAILRACE_INVALID_ARGUMENT, message + "; see --help"}; }

}  // namespace

std::string usage() {
  StudyOptions options;
  Lists lists;
  std::string text = "usage: forward_study [OPTION…]: simulates forwarders before a parallel file system\n";
  for (const Option& option : all_options(options, lists)) {
    text += fmt::format("  {:18} {}\n", option.word, option.help);
  }
  return text;
}

Result<StudyOptions> read_options(const std::vector<std::string>& words) {
  StudyOptions options;
  Lists lists;
  take_windows(lists.windows, "1,2,4,8,16,32");
  const std::vector<Option> known = all_options(options, lists);
  for (size_t at = 0; at < words.size();) {
    const auto option =
        std::find_if(known.begin(), known.end(), [&](const Option& one) { return one.word == words[at]; });
    if (option == known.end()) return wrong(fmt::format("found '{}', expected an option", words[at]));
    if (words.size() - at - 1 < option->values) {
      return wrong(fmt::format("'{}' has {} values, found fewer", option->word, option->values));
    }
    if (!option->take(words.data() + at + 1)) {
      return wrong(fmt::format("found '{} {}', expected {}", option->word, words[at + 1], option->help));
    }
    at += 1 + option->values;
  }
  options.schedules = schedules_of(lists);
  return options;
}

}  // namespace tailrace::impl::study
