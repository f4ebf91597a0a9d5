#include "command/inspect/measurements.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "base/names/utf8.hpp"
#include "command/inspect/figures.hpp"
#include "command/inspect/file_contents.hpp"

namespace tailrace::impl {
namespace {

constexpr int kVersion = 1;
constexpr size_t kMostBytes = size_t{4} << 30;
constexpr int kDeepest = 500;  // of lists and objects in each other

constexpr const char* kTotals[] = {"blocks_accepted",
                                   "blocks_written",
                                   "blocks_failed",
                                   "blocks_dropped",
                                   "blocks_written_through",
                                   "bytes_accepted",
                                   "bytes_written",
                                   "iterations_ended",
                                   "iterations_published",
                                   "iterations_dropped",
                                   "iterations_failed",
                                   "signals",
                                   "failures",
                                   "failures_unseen",
                                   "memory_budget",
                                   "memory_peak",
                                   "requests_merged",
                                   "requests_peak",
                                   "transfers",
                                   "transfers_direct",
                                   "transfers_again",
                                   "transfer_fallbacks",
                                   "seconds_copying",
                                   "seconds_waiting_memory",
                                   "seconds_waiting_ticket",
                                   "seconds_writing"};
constexpr const char* kCountsOfVariable[] = {"blocks_accepted", "blocks_written",         "blocks_failed",
                                             "blocks_refused",  "blocks_written_through", "blocks_merged",
                                             "bytes_accepted",  "bytes_written"};
constexpr const char* kFiltered[] = {"chunks_filtered", "chunks_relaxed", "chunks_skipped", "bytes_filtered",
                                     "bytes_stored"};
constexpr std::pair<const char*, const char*> kCourse[] = {{"handover", "hand-over"},
                                                           {"queued", "queued"},
                                                           {"filtering", "filtering"},
                                                           {"writing", "writing"},
                                                           {"waiting", "waiting"}};
constexpr const char* kTimesOfCourse[] = {"count", "total", "mean", "p50", "p90", "p99", "most"};

void require(const std::string& fault) {
  if (!fault.empty()) throw Unreadable(fault);
}

template <class Names>
void require_numbers(const OrderedJson& holder, const Names& names, const std::string& where) {
  for (const char* name : names) require(fault_of_number(holder, name, where));
}

const OrderedJson& require_part(const OrderedJson& holder, const char* name, bool is_object,
                                const std::string& where) {
  const auto part = holder.find(name);
  const bool fits = part != holder.end() && (is_object ? part->is_object() : part->is_array());
  if (fits) return *part;
  throw Unreadable(fmt::format("{}{}: found {}, expected {}", where, name, found_text(holder, name),
                               is_object ? "an object" : "a list"));
}

void require_version(const OrderedJson& holder, const char* name, const std::string& where) {
  const OrderedJson& version = holder.at(name);
  if (version.is_number() && version == kVersion) return;
  throw Unreadable(fmt::format("{}{}: found version {}, expected {}; this tailrace cannot read it", where, name,
                               found_text(holder, name), kVersion));
}

void check_variable(const OrderedJson& variable, const std::string& where) {
  if (!variable.is_object() || !variable.contains("name") || !variable["name"].is_string()) {
    throw Unreadable(where + ": found no variable, expected an object with a \"name\"");
  }
  require_numbers(variable, kCountsOfVariable, where + ".");
  if (variable.contains("chunks_filtered")) require_numbers(variable, kFiltered, where + ".");
  if (variable.contains("blocks_cached")) require(fault_of_number(variable, "blocks_cached", where + "."));
  for (const auto& [name, word] : kCourse) {
    if (std::string_view(name) == "filtering" && !variable.contains(name)) continue;
    require_numbers(require_part(variable, name, true, where + "."), kTimesOfCourse,
                    fmt::format("{}.{}.", where, name));
  }
}

// Throws unless everything that is printed exists. An earlier tailrace does not report all of it.
void check_statistics(const OrderedJson& document) {
  require_version(document, "tailrace_stats", "");
  for (const char* name : {"name", "tailrace", "description"}) {
    if (document.contains(name) && document[name].is_string()) continue;
    throw Unreadable(fmt::format("{}: found {}, expected a text", name, found_text(document, name)));
  }
  require(fault_of_number(document, "client", ""));
  const OrderedJson& totals = require_part(document, "totals", true, "");
  require_numbers(totals, kTotals, "totals.");
  if (totals.contains("accesses")) {
    require_numbers(totals, std::vector{"accesses", "bytes_overwritten", "bytes_from_memory", "bytes_sieved"},
                    "totals.");
  }
  if (totals.contains("iterations_limit") || totals.contains("iterations_peak")) {
    require_numbers(totals, std::vector{"iterations_limit", "iterations_peak"}, "totals.");
  }
  const OrderedJson& variables = require_part(document, "variables", false, "");
  for (size_t at = 0; at < variables.size(); ++at) check_variable(variables[at], fmt::format("variables[{}]", at));
  if (document.contains("iterations")) require(fault_of_iterations(document["iterations"]));
  if (document.contains("files")) require(fault_of_files(document["files"]));
}

std::string text_or_none(const OrderedJson& holder, const char* name) {
  const auto value = holder.find(name);
  if (value == holder.end() || value->is_null() || *value == false || *value == 0) return {};
  return value->is_string() ? value->get<std::string>() : value->dump();
}

OrderedJson trace_summary(const OrderedJson& document) {
  const auto about = document.find("otherData");
  const bool is_ours = about != document.end() && about->is_object() && about->contains("tailrace_trace") &&
                       !(*about)["tailrace_trace"].is_null();
  if (!is_ours) throw Unreadable("otherData.tailrace_trace: found nothing: a trace, but not one of tailrace");
  require_version(*about, "tailrace_trace", "otherData.");
  const OrderedJson& events = require_part(document, "traceEvents", false, "");
  OrderedJson categories = OrderedJson::object();
  double first = INFINITY;
  double last = -INFINITY;
  size_t number = 0;
  for (const OrderedJson& event : events) {
    const std::string where = fmt::format("traceEvents[{}]", number++);
    if (!event.is_object() || !event.contains("ph") || !event["ph"].is_string()) {
      throw Unreadable(where + ": found no event, expected an object with \"ph\"");
    }
    const std::string kind = event["ph"].get<std::string>();
    if (kind == "X" || kind == "b") {
      const std::string category = event.contains("cat") ? text_or_none(event, "cat") : "None";
      categories[category] = categories.value(category, 0) + 1;
    }
    if (kind != "X" && kind != "b" && kind != "e") continue;
    require(fault_of_number(event, "ts", where + "."));
    if (kind == "X") require(fault_of_number(event, "dur", where + "."));
    first = std::min(first, event["ts"].get<double>());
    const auto lasted = event.find("dur");
    const bool lasts = lasted != event.end() && lasted->is_number();
    last = std::max(last, event["ts"].get<double>() + (lasts ? lasted->get<double>() : 0.0));
  }
  require(fault_of_number(*about, "dropped_events", "otherData."));
  return {{"program", text_or_none(*about, "program")},
          {"client", about->contains("client") ? (*about)["client"] : OrderedJson()},
          {"description", text_or_none(*about, "description")},
          {"events", events.size()},
          {"dropped_events", (*about)["dropped_events"]},
          {"categories", std::move(categories)},
          {"seconds", last >= first ? (last - first) * 1e-6 : 0.0}};
}

// Throws Unreadable.
OrderedJson parse_json(const std::string& text) {
  for (std::string_view rest = text; !rest.empty();) {
    const size_t bytes = first_character(rest).bytes;
    if (bytes == 0) {
      throw Unreadable(fmt::format("byte {}: found no UTF-8, expected a JSON text", text.size() - rest.size()));
    }
    rest.remove_prefix(bytes);
  }
  bool too_deep = false;
  const auto watch = [&](int depth, OrderedJson::parse_event_t, OrderedJson&) {
    if (depth > kDeepest) too_deep = true;
    return !too_deep;
  };
  try {
    OrderedJson document = OrderedJson::parse(text, watch);
    if (!too_deep) return document;
  } catch (const OrderedJson::parse_error& error) {
    if (!too_deep) {
      const size_t at = std::min(text.size(), error.byte > 0 ? error.byte - 1 : 0);
      const size_t begin = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
      const auto line = std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(at), '\n') + 1;
      throw Unreadable(fmt::format("truncated or damaged: line {}, column {}: expected JSON", line,
                                   begin == std::string::npos ? at + 1 : at - begin));
    }
  }
  throw Unreadable("nested too deeply to be statistics or a trace of tailrace");
}

double total(const OrderedJson& totals, const char* name) { return totals.at(name).get<double>(); }
std::string total_size(const OrderedJson& totals, const char* name) { return size_text(total(totals, name)); }
std::string total_time(const OrderedJson& totals, const char* name) { return time_text(total(totals, name)); }

// Returns "3 accepted, 2 written, 1 failed": counts that are as expected, or zero, are left out.
std::string listed(const OrderedJson& totals, const std::string& noun,
                   const std::vector<std::pair<const char*, const char*>>& words) {
  std::vector<std::string> all;
  for (const auto& [key, word] : words) {
    const bool is_usual = all.size() < 2;  // the first two
    const OrderedJson& count = totals.at(noun + "_" + key);
    if (is_usual || count.get<double>() != 0) all.push_back(fmt::format("{} {}", count.dump(), word));
  }
  return fmt::format("{}", fmt::join(all, ", "));
}

std::string if_any(const OrderedJson& totals, const char* name, const char* words) {
  return total(totals, name) == 0 ? "" : fmt::format(", {} {}", totals.at(name).dump(), words);
}

std::vector<Row> total_rows(const OrderedJson& of) {
  std::vector<Row> rows = {
      {"blocks", listed(of, "blocks",
                        {{"accepted", "accepted"},
                         {"written", "written"},
                         {"failed", "failed"},
                         {"dropped", "dropped"},
                         {"written_through", "written through"}})},
      {"bytes",
       fmt::format("{} written of {} accepted", total_size(of, "bytes_written"), total_size(of, "bytes_accepted"))},
      {"iterations",
       listed(of, "iterations",
              {{"ended", "ended"}, {"published", "published"}, {"dropped", "dropped"}, {"failed", "failed"}})},
      {"memory", fmt::format("{} at most, of {}", total_size(of, "memory_peak"), total_size(of, "memory_budget"))},
      {"transfers",
       fmt::format("{}, {} past the page cache{}{}", of.at("transfers").dump(), of.at("transfers_direct").dump(),
                   if_any(of, "transfers_again", "continued"), if_any(of, "transfer_fallbacks", "refused there"))},
      {"requests",
       fmt::format("{} at once at most, {} merged", of.at("requests_peak").dump(), of.at("requests_merged").dump())},
      {"copying", total_time(of, "seconds_copying")},
      {"waiting", fmt::format("{} for memory, {} for requests to end", total_time(of, "seconds_waiting_memory"),
                              total_time(of, "seconds_waiting_ticket"))},
      {"writing", total_time(of, "seconds_writing")}};
  if (of.contains("iterations_peak")) {
    rows.push_back({"unfinished", fmt::format("{} iterations at once at most, of {}", of.at("iterations_peak").dump(),
                                              of.at("iterations_limit").dump())});
  }
  if (of.contains("accesses") && total(of, "bytes_overwritten") + total(of, "bytes_from_memory") > 0) {
    rows.push_back(
        {"no storage", fmt::format("{} overwritten before they left, {} read from memory",
                                   total_size(of, "bytes_overwritten"), total_size(of, "bytes_from_memory"))});
  }
  if (of.contains("accesses") && total(of, "bytes_sieved") > 0) {
    rows.push_back({"sieving", total_size(of, "bytes_sieved") + " read for nothing"});
  }
  if (total(of, "signals") > 0) rows.push_back({"signals", of.at("signals").dump()});
  if (total(of, "failures") > 0) {
    rows.push_back({"failures", of.at("failures").dump() + if_any(of, "failures_unseen", "untold before close")});
  }
  return rows;
}

// Returns a ratio with three significant digits, with zeros at the end, so that columns compare.
std::string three_digits(double value) {
  if (value > 0 && value < 1e-4) return fmt::format("{:.2e}", value);
  const int decimals = value > 0 ? std::max(0, 2 - static_cast<int>(std::floor(std::log10(value * 1.0005)))) : 2;
  return fmt::format("{:.{}f}", value, decimals);
}

void show_variables(const OrderedJson& variables) {
  std::vector<Row> counts;
  std::vector<Row> filtered;
  std::vector<Row> times;
  for (const OrderedJson& one : variables) {
    const std::string name = one.at("name").get<std::string>();
    Row row = {name};
    for (const char* key : {"accepted", "written", "failed", "refused", "written_through", "merged"}) {
      row.push_back(one.at(std::string("blocks_") + key).dump());
    }
    row.push_back(size_text(total(one, "bytes_written")));
    counts.push_back(std::move(row));
    if (one.contains("chunks_filtered") && total(one, "chunks_filtered") > 0) {
      const double stored = total(one, "bytes_stored");
      filtered.push_back({name, one.at("chunks_filtered").dump(), one.at("chunks_relaxed").dump(),
                          one.at("chunks_skipped").dump(), total_size(one, "bytes_filtered"), size_text(stored),
                          stored > 0 ? three_digits(total(one, "bytes_filtered") / stored) : "-"});
    }
    for (const auto& [key, word] : kCourse) {
      if (!one.contains(key) || total(one.at(key), "count") == 0) continue;
      Row line = {name, word, one.at(key).at("count").dump()};
      for (const char* part : {"p50", "p90", "p99", "most", "total"}) line.push_back(total_time(one.at(key), part));
      times.push_back(std::move(line));
    }
  }
  print_table({"variable", "blocks", "written", "failed", "refused", "through", "merged", "size"}, std::move(counts));
  say("");
  if (!filtered.empty()) {
    print_table({"variable", "chunks", "relaxed", "skipped", "before", "stored", "ratio"}, std::move(filtered));
    say("");
  }
  if (!times.empty()) {
    print_table({"variable", "time", "times", "p50", "p90", "p99", "most", "total"}, std::move(times));
  }
}

}  // namespace

OrderedJson measurements_in(const std::string& path) {
  const Result<std::string> text = file_text(path, kMostBytes);
  if (!text.ok()) {
    const int error = text.status().fault().system_errno;
    std::string why = error != 0 ? std::generic_category().message(error) : text.status().fault().message;
    std::transform(why.begin(), why.end(), why.begin(), [](unsigned char letter) { return std::tolower(letter); });
    throw Unreadable(why);
  }
  OrderedJson document = parse_json(text.value());
  if (document.is_object() && document.contains("tailrace_stats")) {
    check_statistics(document);
    return {{"path", plain_path(path)}, {"statistics", std::move(document)}};
  }
  if (document.is_object() && document.contains("traceEvents")) {
    return {{"path", plain_path(path)}, {"trace", trace_summary(document)}};
  }
  if (document.is_object() && document.contains("tailrace_result")) {
    throw Unreadable(
        "a result file of `tailrace bench`, no statistics; `tailrace plot` and `tailrace report` show it");
  }
  throw Unreadable(
      "neither statistics nor a trace of tailrace: expected \"tailrace_stats\" or \"traceEvents\" at the "
      "top");
}

OrderedJson measurements_entry(const std::string& directory, const std::string& name) {
  const std::string path = directory + "/" + name;
  if (name.ends_with(kTrace)) {
    std::error_code error;
    const uint64_t bytes = std::filesystem::file_size(path, error);
    return {{"file", name}, {"bytes", error ? 0 : bytes}};
  }
  try {
    const OrderedJson content = measurements_in(path);
    if (!content.contains("statistics")) return {{"file", name}, {"error", "a trace, no statistics"}};
    const OrderedJson& totals = content["statistics"]["totals"];
    OrderedJson entry = {{"file", name}};
    for (const char* key :
         {"blocks_written", "bytes_written", "failures", "iterations_published", "seconds_writing"}) {
      entry[key] = totals.at(key);
    }
    entry["seconds_waiting"] = total(totals, "seconds_waiting_memory") + total(totals, "seconds_waiting_ticket");
    return entry;
  } catch (const Unreadable& why) {
    return {{"file", name}, {"error", why.what()}};
  }
}

void show_statistics(const OrderedJson& content) {
  const OrderedJson& document = content.at("statistics");
  const std::string description = document.at("description").get<std::string>();
  say(fmt::format("{}: {}, client {}, tailrace {}", content.at("path").get<std::string>(),
                  document.at("name").get<std::string>(), document.at("client").dump(),
                  document.at("tailrace").get<std::string>()));
  say("  " + description);
  print_table({"total", ""}, total_rows(document.at("totals")));
  say("");
  show_variables(document.at("variables"));
  if (document.contains("files") && !document["files"].empty()) {
    say("");
    show_files({document["files"]});
  }
  if (document.contains("iterations") && !document["iterations"].empty()) {
    say("");
    show_iterations({document["iterations"]}, description.starts_with("place core") ? "the core" : "the writer");
  }
}

void show_trace(const OrderedJson& content) {
  const OrderedJson& trace = content.at("trace");
  const std::string path = content.at("path").get<std::string>();
  const std::string program = trace.at("program").get<std::string>();
  say(fmt::format("{}: trace of {}, {}, {} events{}", path, program.empty() ? "a program" : program,
                  time_text(trace.at("seconds").get<double>()), trace.at("events").dump(),
                  if_any(trace, "dropped_events", "dropped")));
  if (trace.at("description") != "") say("  " + trace.at("description").get<std::string>());
  std::vector<Row> rows;
  for (const auto& [category, count] : trace.at("categories").items()) rows.push_back({category, count.dump()});
  print_table({"kind", "events"}, std::move(rows));
  say("for a picture: tailrace report " + path);
  say("in a browser: load it into Perfetto or chrome://tracing");
}

void show_entries(const std::string& directory, const OrderedJson& measurements) {
  for (const OrderedJson& one : measurements.at("statistics")) {
    const std::string file = one.at("file").get<std::string>();
    if (one.contains("error")) {
      say(fmt::format("statistics: {}: cannot be read", file));
      continue;
    }
    const OrderedJson& failures = one.at("failures");
    say(fmt::format("statistics: {}: {} block{}, {} written in {}, {} waited, {} failure{}", file,
                    one.at("blocks_written").dump(), one.at("blocks_written") == 1 ? "" : "s",
                    total_size(one, "bytes_written"), total_time(one, "seconds_writing"),
                    total_time(one, "seconds_waiting"), failures.dump(), failures == 1 ? "" : "s"));
  }
  for (const OrderedJson& one : measurements.at("traces")) {
    const std::string file = one.at("file").get<std::string>();
    say(fmt::format("trace: {}: {}; for a picture: tailrace report {}/{}", file, total_size(one, "bytes"), directory,
                    file));
  }
}

}  // namespace tailrace::impl
