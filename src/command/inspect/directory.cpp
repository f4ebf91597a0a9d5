#include "command/inspect/directory.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "base/names/counted.hpp"
#include "command/inspect/file_contents.hpp"
#include "command/inspect/jobs.hpp"
#include "command/inspect/measurements.hpp"
#include "command/inspect/series.hpp"

namespace tailrace::impl {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostDroppedBytes = size_t{64} << 20;

// Factors of simulations' times to seconds.
constexpr std::pair<const char*, double> kUnitsOfTime[] = {{"s", 1.0},    {"ms", 1e-3},  {"us", 1e-6},  {"ns", 1e-9},
                                                           {"ps", 1e-12}, {"fs", 1e-15}, {"as", 1e-18}, {"min", 60.0},
                                                           {"h", 3600.0}, {"d", 86400.0}};

// Returns a value as people read it.
std::string text_of(const OrderedJson& value) {
  if (value.is_string()) return value.get<std::string>();
  return value.is_null() ? "None" : value.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

std::string shape_text(const OrderedJson& shape) {
  if (shape.is_null()) return "differs";
  std::vector<std::string> extents;
  for (const OrderedJson& extent : shape) extents.push_back(extent.dump());
  return extents.empty() ? "scalar" : fmt::format("{}", fmt::join(extents, " × "));
}

// Times of simulations reach from femtoseconds to the age of the universe.
std::string simulated_time(double time) {
  const double size = std::abs(time);
  if (time == 0 || (size >= 1e-9 && size < 1e7)) return time_text(time);
  if (size >= 1e-12 && size < 1e-9) return fmt::format("{:.3g} ps", time * 1e12);
  if (size >= 1e-18 && size < 1e-12) return fmt::format("{:.3g} fs", time * 1e15);
  return fmt::format("{:.3g} s", time);
}

std::string times_of(const OrderedJson& series) {
  std::vector<std::string> times;
  for (const char* end : {"first", "last"}) {
    if (!series.contains(end)) continue;
    if (series[end]["time"].is_null()) return {};
    times.push_back(simulated_time(series[end]["time"].get<double>()));
  }
  return fmt::format("{}", fmt::join(times, " … "));
}

// Each line of a file NAME.dropped is an iteration that `when_full: drop` has dropped.
void add_dropped(const std::string& directory, const std::string& name, OrderedJson& to) {
  const std::string stem = name.substr(0, name.rfind('.'));
  const Result<std::string> text = file_text(directory + "/" + name, kMostDroppedBytes);
  std::string_view rest = text.ok() ? std::string_view(text.value()) : text.status().fault().message;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    to.push_back(fmt::format("{} {}", stem, rest.substr(0, end)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

std::vector<std::string> names_in_directory(const std::string& path) {
  std::set<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(path, error); !error && at != fs::directory_iterator(); at.increment(error)) {
    names.insert(at->path().filename().string());
  }
  if (error) throw Unreadable(error.message());
  return {names.begin(), names.end()};
}

OrderedJson directory_content(const std::string& path) {
  const std::vector<std::string> names = names_in_directory(path);
  OrderedJson unfinished = OrderedJson::array();
  OrderedJson dropped = OrderedJson::array();
  OrderedJson measured = {{"statistics", OrderedJson::array()}, {"traces", OrderedJson::array()}};
  for (const std::string& name : names) {
    if (name.ends_with(".part")) unfinished.push_back(name);
    if (name.ends_with(".dropped")) add_dropped(path, name, dropped);
    const bool is_trace = name.ends_with(kTrace);
    std::error_code ignored;
    if ((is_trace || name.ends_with(kStatistics)) && fs::is_regular_file(path + "/" + name, ignored)) {
      measured[is_trace ? "traces" : "statistics"].push_back(measurements_entry(path, name));
    }
  }
  std::vector<std::string> damaged;
  OrderedJson series = series_in(path, names, damaged);
  const StripedObjects objects = striped_objects_in(path);
  const Result<nlohmann::json> jobs = jobs_of(path);  // without them the contents of the files can be shown
  return {{"path", path},
          {"series", std::move(series)},
          {"unfinished", std::move(unfinished)},
          {"dropped", std::move(dropped)},
          {"damaged", damaged},
          {"objects", objects.count},
          {"lostObjects", objects.lost},
          {"measurements", std::move(measured)},
          {"jobs", jobs.ok() ? OrderedJson::parse(jobs.value().dump()) : OrderedJson::array()}};
}

void show_variables_of(const OrderedJson& series) {
  auto groups = common_variables(series);
  std::erase_if(groups, [](const auto& group) { return group.second.empty(); });
  for (const auto& [name, variables] : groups) {
    if (groups.size() > 1) say(fmt::format("variables of {}:", name));
    std::vector<Row> rows;
    for (const OrderedJson& one : variables) {
      rows.push_back({text_of(one["name"]), text_of(one["dtype"]), shape_text(one["shape"]), text_of(one["unit"])});
    }
    print_table({"variable", "type", "shape", "unit"}, std::move(rows));
  }
}

void show_series(const OrderedJson& content) {
  const std::string path = content.at("path").get<std::string>();
  if (content.at("series").empty()) {
    say(path + ": no output files");
    return;
  }
  std::vector<Row> rows;
  uint64_t files = 0;
  uint64_t bytes = 0;
  for (const OrderedJson& one : content.at("series")) {
    rows.push_back({text_of(one["pattern"]), one["files"].dump(),
                    fmt::format("{} … {}", one["iterations"].front().dump(), one["iterations"].back().dump()),
                    times_of(one), size_text(one["bytes"].get<double>())});
    files += one["files"].get<uint64_t>();
    bytes += one["bytes"].get<uint64_t>();
  }
  print_table({"series", "files", "iterations", "time", "size"}, std::move(rows));
  show_variables_of(content.at("series"));
  const size_t unfinished = content.at("unfinished").size();
  say(fmt::format("in total: {}, {}{}", counted(files, "file"), size_text(static_cast<double>(bytes)),
                  unfinished > 0 ? "; " + counted(unfinished, "unfinished file") : ""));
}

void show_directory(const OrderedJson& content) {
  const std::string path = content.at("path").get<std::string>();
  show_series(content);
  for (const OrderedJson& one : content.at("series")) {
    const RunsNote runs = runs_note(one);
    if (runs.is_warning) complain(path + ": " + runs.text);
    if (!runs.is_warning && !runs.text.empty()) say(runs.text);
    for (const OrderedJson& line : one["missing"]) {
      complain(fmt::format("{}: {}: {}", path, text_of(one["name"]), text_of(line)));
    }
  }
  for (const OrderedJson& name : content.at("unfinished")) say("unfinished: " + text_of(name));
  if (!content.at("unfinished").empty())
    say("tailrace recover completes or removes those of programs that have ended");
  for (const OrderedJson& line : content.at("dropped")) say(text_of(line));
  for (const OrderedJson& line : content.at("damaged")) complain(text_of(line));
  if (content.at("objects") != 0) say("objects of striped files: " + content["objects"].dump());
  for (const OrderedJson& name : content.at("lostObjects")) {
    say("object without a file, which a crash has left: " + text_of(name));
  }
  show_entries(path, content.at("measurements"));
  for (const OrderedJson& one : content.at("measurements").at("statistics")) {
    if (one.contains("error")) complain(fmt::format("{}/{}: {}", path, text_of(one["file"]), text_of(one["error"])));
  }
  for (const OrderedJson& job : content.at("jobs")) show_job(nlohmann::json::parse(job.dump()));
}

std::string unit_text(const OrderedJson& factor) {
  if (!factor.is_number()) return {};
  const double value = factor.get<double>();
  for (const auto& [name, one] : kUnitsOfTime) {
    if (std::abs(one - value) <= 1e-9 * std::max(one, std::abs(value))) return fmt::format(" {}", name);
  }
  return fmt::format(" (in units of {:.15g} s)", value);
}

void show_iteration(const OrderedJson& iteration) {
  say(fmt::format("iteration {}: time {}{}", iteration["iteration"].dump(), text_of(iteration["time"]),
                  unit_text(iteration["timeUnitSI"])));
  const auto texts = [](const OrderedJson& list, const char* before) {
    std::vector<std::string> all;
    for (const OrderedJson& one : list) all.push_back(before + text_of(one));
    return all;
  };
  if (!iteration["signals"].empty()) {
    say(fmt::format("  signals: {}", fmt::join(texts(iteration["signals"], ""), ", ")));
  }
  std::vector<std::string> missing = texts(iteration["missingClients"], "client ");
  const auto unnamed = iteration["missingUnnamed"].get<int64_t>();
  if (unnamed > 0) missing.push_back(counted(static_cast<uint64_t>(unnamed), "client") + " that never came");
  if (!missing.empty()) {
    say(fmt::format("  incomplete: without the data of {}, as far as they were not written before",
                    fmt::join(missing, ", ")));
  }
  std::vector<Row> rows;
  for (const OrderedJson& one : iteration["variables"]) {
    const char* const unit = one.contains("unit") ? "unit" : "unitSI";
    rows.push_back({text_of(one["name"]), text_of(one["dtype"]), shape_text(one["shape"]),
                    one.contains(unit) ? text_of(one[unit]) : "", size_text(one["bytes"].get<double>()),
                    one.contains("description") ? text_of(one["description"]) : ""});
  }
  print_table({"variable", "type", "shape", "unit", "size", "description"}, std::move(rows));
}

void show_file(const OrderedJson& content) {
  say(fmt::format("{}: {}", text_of(content.at("path")), size_text(content.at("bytes").get<double>())));
  if (const OrderedJson& stripes = content.at("stripes"); !stripes.is_null()) {
    say(fmt::format("  in stripes of {}, beginning with object {}: {}", size_text(stripes.at("unit").get<double>()),
                    stripes.at("first").dump(),
                    fmt::join(stripes.at("objects").get<std::vector<std::string>>(), ", ")));
  }
  for (const auto& [name, value] : content.at("provenance").items())
    say(fmt::format("  {}: {}", name, text_of(value)));
  for (const OrderedJson& iteration : content.at("iterations")) show_iteration(iteration);
}

}  // namespace

OrderedJson content_of(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status)) return directory_content(plain_path(path));
  if (status.type() == fs::file_type::not_found) throw Unreadable("no such file or directory");
  if (path.ends_with(".part")) {
    throw Unreadable(
        fmt::format("not finished: its program is still writing it, or has died, and then `tailrace "
                    "recover {}` finishes or removes it",
                    plain_path(fs::path(path).parent_path().string())));
  }
  return path.ends_with(".json") ? measurements_in(path) : hdf5_contents(path);
}

void show_content(const OrderedJson& content) {
  if (content.contains("series")) {
    show_directory(content);
  } else if (content.contains("statistics")) {
    show_statistics(content);
  } else if (content.contains("trace")) {
    show_trace(content);
  } else {
    show_file(content);
  }
}

}  // namespace tailrace::impl
