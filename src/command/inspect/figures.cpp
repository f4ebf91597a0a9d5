#include "command/inspect/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

namespace tailrace::impl {
namespace {

constexpr const char* kKinds[] = {"raw", "others", "iterations"};
constexpr const char* kOutcomes[] = {"open", "published", "failed", "dropped", "empty"};
constexpr const char* kOfCalls[] = {"writes", "bytes_written", "reads", "bytes_read"};
constexpr const char* kOfWriter[] = {"requests_merged", "bytes_overwritten", "bytes_from_memory", "bytes_sieved"};
constexpr const char* kTimes[] = {"begun", "busy", "writing", "filtering", "waited"};
constexpr const char* kCounts[] = {"bytes_taken", "bytes_stored", "chunks_filtered", "chunks_relaxed",
                                   "chunks_skipped"};
constexpr const char* kMoments[] = {"ended", "left", "period"};
constexpr size_t kMostIterations = 8;  // of the latest
constexpr double kMost = 1e30;

bool is_count(const OrderedJson& value) {
  return value.is_number() && value.get<double>() >= 0 && value.get<double>() < kMost;
}

template <class Words>
bool is_one_of(const Words& words, const OrderedJson& holder, const char* name) {
  const auto value = holder.find(name);
  return value != holder.end() && value->is_string() &&
         std::find(std::begin(words), std::end(words), value->template get<std::string>()) != std::end(words);
}

std::string fault_of_sizes(const OrderedJson& holder, const std::string& name, const std::string& where) {
  const auto sizes = holder.find(name);
  if (sizes == holder.end() || !sizes->is_object()) {
    return fmt::format("{}{}: found {}, expected an object", where, name, found_text(holder, name));
  }
  const std::string inside = where + name + ".";
  for (const char* member : {"count", "bytes", "most"}) {
    if (std::string fault = fault_of_number(*sizes, member, inside); !fault.empty()) return fault;
  }
  const auto pairs = sizes->find("histogram");
  const auto is_pair = [](const OrderedJson& one) { return one.is_array() && one.size() == 2; };
  if (pairs == sizes->end() || !pairs->is_array() || !std::all_of(pairs->begin(), pairs->end(), is_pair)) {
    return fmt::format("{}histogram: found {}, expected a list of pairs", inside, found_text(*sizes, "histogram"));
  }
  for (const OrderedJson& pair : *pairs) {
    for (const OrderedJson& number : pair) {
      if (is_count(number)) continue;
      return fmt::format("{}histogram: found {}, expected a number of 0 or more", inside, found_text(number));
    }
  }
  return {};
}

std::string fault_of_file(const OrderedJson& one, const std::string& where) {
  if (!is_one_of(kKinds, one, "kind")) {
    return fmt::format("{}kind: found {}, expected one of raw, others, iterations", where, found_text(one, "kind"));
  }
  if (one["kind"] == "raw" && (!one.contains("path") || !one["path"].is_string())) {
    return fmt::format("{}path: found {}, expected a text", where, found_text(one, "path"));
  }
  std::vector<std::string> names(std::begin(kOfCalls), std::end(kOfCalls));
  names.insert(names.end(), std::begin(kOfWriter), std::end(kOfWriter));
  for (const std::string& name : names) {
    if (std::string fault = fault_of_number(one, name, where); !fault.empty()) return fault;
  }
  std::string fault = fault_of_sizes(one, "before", where);
  return fault.empty() ? fault_of_sizes(one, "after", where) : fault;
}

std::string fault_of_iteration(const OrderedJson& one, const std::string& where) {
  if (!is_one_of(kOutcomes, one, "outcome")) {
    return fmt::format("{}outcome: found {}, expected one of open, published, failed, dropped, empty", where,
                       found_text(one, "outcome"));
  }
  std::vector<std::string> names = {"iteration"};
  names.insert(names.end(), std::begin(kTimes), std::end(kTimes));
  names.insert(names.end(), std::begin(kCounts), std::end(kCounts));
  for (const char* moment : kMoments) {
    if (one.contains(moment) && !one[moment].is_null()) names.emplace_back(moment);
  }
  for (const std::string& name : names) {
    if (std::string fault = fault_of_number(one, name, where); !fault.empty()) return fault;
  }
  return {};
}

std::string fault_of_list(const OrderedJson& list, const std::string& name,
                          std::string (*fault_of_one)(const OrderedJson&, const std::string&)) {
  if (!list.is_array()) return fmt::format("{}: found {}, expected a list", name, found_text(list));
  for (size_t number = 0; number < list.size(); ++number) {
    const std::string where = fmt::format("{}[{}]", name, number);
    if (!list[number].is_object()) {
      return fmt::format("{}: found {}, expected an object", where, found_text(list[number]));
    }
    if (std::string fault = fault_of_one(list[number], where + "."); !fault.empty()) return fault;
  }
  return {};
}

double number_in(const OrderedJson& holder, const char* name) { return holder.at(name).get<double>(); }
std::string count_in(const OrderedJson& holder, const char* name) {
  return fmt::format("{:.0f}", std::floor(number_in(holder, name)));
}
std::string size_in(const OrderedJson& holder, const char* name) { return size_text(number_in(holder, name)); }

// ---- files

std::string name_of_file(const OrderedJson& one) {
  if (one.at("kind") == "raw") return one.at("path").get<std::string>();
  return one.at("kind") == "others" ? "(other raw files)" : "(files of iterations)";
}

// Sums the calls of several clients, and takes the server's work from the client that saw most of it.
std::vector<OrderedJson> files_together(const std::vector<OrderedJson>& lists) {
  std::vector<OrderedJson> merged;
  for (const OrderedJson& list : lists) {
    for (const OrderedJson& one : list) {
      const auto is_it = [&](const OrderedJson& other) {
        return other["kind"] == one["kind"] && name_of_file(other) == name_of_file(one);
      };
      const auto same = std::find_if(merged.begin(), merged.end(), is_it);
      if (same == merged.end()) {
        merged.push_back(one);
        continue;
      }
      OrderedJson seen = number_in(one["before"], "count") > number_in((*same)["before"], "count") ? one : *same;
      for (const char* name : kOfCalls) seen[name] = number_in(one, name) + number_in(*same, name);
      *same = std::move(seen);
    }
  }
  const auto kind = [](const OrderedJson& one) {
    return std::find(std::begin(kKinds), std::end(kKinds), one["kind"].get<std::string>()) - std::begin(kKinds);
  };
  std::stable_sort(merged.begin(), merged.end(),
                   [&](const OrderedJson& one, const OrderedJson& other) { return kind(one) < kind(other); });
  return merged;
}

std::string accesses(const OrderedJson& sizes) {
  const double count = number_in(sizes, "count");
  return count == 0 ? "0" : fmt::format("{:.0f} of {}", count, size_text(number_in(sizes, "bytes") / count));
}

Row file_row(const OrderedJson& one) {
  Row row = {name_of_file(one), count_in(one, "writes"), size_in(one, "bytes_written"), count_in(one, "reads"),
             size_in(one, "bytes_read")};
  if (one["kind"] == "iterations") std::fill(row.begin() + 1, row.end(), "-");  // the program does not call for them
  row.insert(row.end(),
             {accesses(one["before"]), accesses(one["after"]), count_in(one, "requests_merged"),
              size_in(one, "bytes_overwritten"), size_in(one, "bytes_from_memory"), size_in(one, "bytes_sieved")});
  return row;
}

void show_sizes(const OrderedJson& one) {
  std::map<double, std::pair<double, double>> counts;  // by the smallest size: before and after
  for (const OrderedJson& pair : one["before"]["histogram"]) counts[pair[0]].first = pair[1];
  for (const OrderedJson& pair : one["after"]["histogram"]) counts[pair[0]].second = pair[1];
  std::vector<Row> rows;
  for (const auto& [least, of] : counts) {
    rows.push_back({size_text(least), fmt::format("{:.0f}", of.first), fmt::format("{:.0f}", of.second)});
  }
  say(fmt::format("sizes in {}, before and after merging:", name_of_file(one)));
  print_table({"from", "requests", "accesses"}, std::move(rows));
}

// ---- iterations

std::optional<double> moment(const OrderedJson& one, const char* name) {
  if (!one.contains(name) || one[name].is_null()) return std::nullopt;
  return number_in(one, name);
}

std::optional<double> share_of(const OrderedJson& one) {
  const auto period = moment(one, "period");
  if (!period || *period == 0) return std::nullopt;
  return std::min(1.0, number_in(one, "busy") / *period);
}

// Sums the data of all clients; how busy the server was, one of them has seen.
OrderedJson sum_of(OrderedJson one, const OrderedJson& other) {
  if (one["outcome"] == "published") one["outcome"] = other["outcome"];
  for (const char* name : {"ended", "left"}) {
    const auto mine = moment(one, name);
    const auto theirs = moment(other, name);
    one[name] = mine && theirs ? OrderedJson(std::max(*mine, *theirs)) : OrderedJson();
  }
  one["waited"] = std::max(number_in(one, "waited"), number_in(other, "waited"));
  for (const char* name : kCounts) one[name] = number_in(one, name) + number_in(other, name);
  return one;
}

std::vector<OrderedJson> iterations_together(const std::vector<OrderedJson>& lists) {
  std::vector<OrderedJson> merged;
  std::map<double, size_t> places;
  for (const OrderedJson& list : lists) {
    for (const OrderedJson& one : list) {
      const auto [place, is_new] = places.try_emplace(number_in(one, "iteration"), merged.size());
      if (is_new) {
        merged.push_back(one);
      } else {
        merged[place->second] = sum_of(merged[place->second], one);
      }
    }
  }
  std::stable_sort(merged.begin(), merged.end(), [](const OrderedJson& one, const OrderedJson& other) {
    return number_in(one, "begun") < number_in(other, "begun");
  });
  return merged;
}

std::string time_or_none(const std::optional<double>& seconds) { return seconds ? time_text(*seconds) : "-"; }

Row iteration_row(const OrderedJson& one) {
  const auto share = share_of(one);
  const auto ended = moment(one, "ended");
  const auto left = moment(one, "left");
  std::optional<double> late;
  if (ended && left && one["outcome"] == "published") late = std::max(0.0, *left - *ended);
  return {count_in(one, "iteration"),
          one["outcome"].get<std::string>(),
          time_or_none(moment(one, "period")),
          share ? fmt::format("{:.0f} %", 100 * *share) : "-",
          time_text(number_in(one, "writing")),
          time_text(number_in(one, "filtering")),
          size_in(one, "bytes_taken"),
          size_in(one, "bytes_stored"),
          count_in(one, "chunks_relaxed"),
          count_in(one, "chunks_skipped"),
          time_or_none(late),
          time_text(number_in(one, "waited"))};
}

void show_summary(const std::vector<OrderedJson>& iterations, const std::string& who) {
  const OrderedJson* worst = nullptr;
  double busy = 0;
  double periods = 0;
  for (const OrderedJson& one : iterations) {
    const auto share = share_of(one);
    if (!share) continue;
    if (worst == nullptr || *share > *share_of(*worst)) worst = &one;
    busy += number_in(one, "busy");
    periods += number_in(one, "period");
  }
  if (worst == nullptr) return;
  say(fmt::format("{} was busy {:.0f} % of an iteration, {:.0f} % the worst (iteration {})", who,
                  100 * std::min(1.0, busy / periods), 100 * *share_of(*worst), count_in(*worst, "iteration")));
}

}  // namespace

std::string found_text(const OrderedJson& value) {
  constexpr size_t most = 40;
  if (value.is_null()) return "nothing";
  if (value.is_boolean()) return value.get<bool>() ? "True" : "False";
  if (value.is_string()) return fmt::format("'{}'", value.get<std::string>()).substr(0, most);
  return value.dump(-1, ' ', true, OrderedJson::error_handler_t::replace).substr(0, most);
}

std::string found_text(const OrderedJson& holder, const std::string& name) {
  const auto value = holder.find(name);
  return value == holder.end() ? "nothing" : found_text(*value);
}

std::string fault_of_number(const OrderedJson& holder, const std::string& name, const std::string& where) {
  const auto value = holder.find(name);
  if (value != holder.end() && is_count(*value)) return {};
  return fmt::format("{}{}: found {}, expected a number of 0 or more", where, name, found_text(holder, name));
}

std::string fault_of_files(const OrderedJson& list) { return fault_of_list(list, "files", fault_of_file); }

std::string fault_of_iterations(const OrderedJson& list) {
  return fault_of_list(list, "iterations", fault_of_iteration);
}

void show_files(const std::vector<OrderedJson>& lists) {
  std::vector<OrderedJson> used = files_together(lists);
  std::erase_if(used, [](const OrderedJson& one) {
    return number_in(one["before"], "count") == 0 && number_in(one, "writes") == 0 && number_in(one, "reads") == 0;
  });
  if (used.empty()) return;
  std::vector<Row> rows;
  for (const OrderedJson& one : used) rows.push_back(file_row(one));
  print_table({"file", "writes", "written", "reads", "read", "requests", "accesses", "merged", "overwritten",
               "from memory", "for nothing"},
              std::move(rows));
  for (const OrderedJson& one : used) {
    if (number_in(one, "requests_merged") > 0) show_sizes(one);
  }
}

void show_iterations(const std::vector<OrderedJson>& lists, const std::string& who) {
  const std::vector<OrderedJson> found = iterations_together(lists);
  if (found.empty()) return;
  const size_t skipped = found.size() > kMostIterations ? found.size() - kMostIterations : 0;
  if (skipped > 0) say(fmt::format("the latest {} of {} iterations:", kMostIterations, found.size()));
  std::vector<Row> rows;
  for (size_t at = skipped; at < found.size(); ++at) rows.push_back(iteration_row(found[at]));
  print_table({"iteration", "end", "period", "busy", "writing", "filtering", "taken", "stored", "relaxed", "skipped",
               "published after", "waited"},
              std::move(rows));
  show_summary(found, who);
}

}  // namespace tailrace::impl
