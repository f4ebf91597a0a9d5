#include "command/inspect/series.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <set>

#include "base/names/counted.hpp"
#include "command/inspect/file_contents.hpp"

namespace tailrace::impl {
namespace {

namespace fs = std::filesystem;

// Most of a series that are looked at, evenly spread.
constexpr size_t kMostOfRuns = 1000;    // files
constexpr size_t kMostOfMissing = 200;  // iterations
constexpr size_t kMostShown = 12;       // iterations
constexpr size_t kMostSeries = 200;     // whose variables are shown; series of more clients are alike

using FilesOf = std::map<int64_t, std::string>;  // iteration → path

std::vector<int64_t> evenly_spread(const FilesOf& files, size_t most) {
  std::vector<int64_t> all;
  for (const auto& [iteration, path] : files) all.push_back(iteration);
  if (all.size() <= most) return all;
  std::vector<int64_t> some;
  const double step = static_cast<double>(all.size() - 1) / static_cast<double>(most - 1);
  for (size_t at = 0; at < most; ++at) {
    some.push_back(all[static_cast<size_t>(std::nearbyint(static_cast<double>(at) * step))]);
  }
  return some;
}

std::string group_of(int64_t iteration) { return fmt::format("data/{}", iteration); }

// Returns the iterations in a file; with `several_only`, only of a file that may have several (openPMD's groupBased).
std::optional<std::vector<int64_t>> iterations_in(const std::string& path, bool several_only) {
  const Result<Outline> file = file_outline(path, {.iterations = true});
  if (!file.ok()) return std::nullopt;
  const OrderedJson encoding = attribute_of(file.value().root, "iterationEncoding");
  const bool several = encoding.is_string() && encoding.get<std::string>() == "groupBased";
  if ((several_only && !several) || !file.value().has_data) return std::nullopt;
  std::vector<int64_t> numbers;
  for (const std::string& name : file.value().iterations) {
    const auto number = iteration_number(name);
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

// Returns the name of the series and the iteration of "<name>_<at least six digits>.h5".
std::optional<std::pair<std::string, int64_t>> numbered_file(std::string_view name) {
  if (!name.ends_with(".h5")) return std::nullopt;
  name.remove_suffix(3);
  const size_t last = name.find_last_not_of("0123456789");
  if (last == std::string_view::npos || last == 0 || name[last] != '_' || name.size() - last - 1 < 6) return {};
  const auto number = iteration_number(name.substr(last + 1));
  if (!number) return std::nullopt;
  return std::pair(std::string(name.substr(0, last)), *number);
}

// Series by their names, in the order in which they were found.
class FoundSeries {
 public:
  FilesOf& of(const std::string& name) {
    for (auto& [own, files] : all_) {
      if (own == name) return files;
    }
    return all_.emplace_back(name, FilesOf()).second;
  }
  void add(const std::string& name, const std::vector<int64_t>& iterations, const std::string& path) {
    for (const int64_t iteration : iterations) of(name)[iteration] = path;
  }
  const std::vector<std::pair<std::string, FilesOf>>& all() const { return all_; }

 private:
  std::vector<std::pair<std::string, FilesOf>> all_;
};

// A file has one iteration, the one of its name, or several (storage.iterations_per_file).
FoundSeries openpmd_series(const std::string& directory, const std::vector<std::string>& names,
                           std::vector<std::string>& damaged) {
  FoundSeries numbered;
  FoundSeries found;
  for (const std::string& name : names) {
    const std::string path = directory + "/" + name;
    std::error_code ignored;
    if (const auto one = numbered_file(name)) {
      numbered.of(one->first)[one->second] = path;
    } else if (name.ends_with(".h5") && name.size() > 3 && fs::is_regular_file(path, ignored)) {
      const auto inside = iterations_in(path, true);
      if (inside && !inside->empty()) found.add(name.substr(0, name.size() - 3), *inside, path);
    }
  }
  for (const auto& [name, files] : numbered.all()) {
    const auto has_one = [&](const std::string& path) { return !iterations_in(path, true); };
    if (has_one(files.begin()->second) && has_one(files.rbegin()->second)) {  // does not open thousands
      for (const auto& [number, path] : files) found.of(name)[number] = path;
      continue;
    }
    for (const auto& [number, path] : files) {
      const auto inside = iterations_in(path, false);
      if (!inside) damaged.push_back(path + ": found no HDF5 file with iterations, expected one");
      found.add(name, inside.value_or(std::vector<int64_t>{number}), path);
    }
  }
  return found;
}

// Returns the files of the format plain by the pattern of their names; one file of each is looked at.
std::map<std::string, FilesOf> plain_series(const std::string& directory, const std::vector<std::string>& names) {
  std::map<std::string, FilesOf> found;
  for (const std::string& name : names) {
    if (!name.ends_with(".h5")) continue;
    if (const auto numbered = numbered_name(name))
      found[numbered->pattern][numbered->number] = directory + "/" + name;
  }
  std::erase_if(found, [](const auto& one) {
    const Result<Outline> file = file_outline(one.second.begin()->second, {});
    return !file.ok() || !is_plain(file.value());
  });
  return found;
}

std::set<std::string> paths_of(const FilesOf& files) {
  std::set<std::string> paths;
  for (const auto& [iteration, path] : files) paths.insert(path);
  return paths;
}

// If a striped file is incomplete, adds the reason to `damaged`.
uint64_t bytes_of(const FilesOf& files, std::vector<std::string>& damaged) {
  uint64_t bytes = 0;
  for (const std::string& path : paths_of(files)) {
    const Result<uint64_t> size = file_bytes(path);
    if (!size.ok()) damaged.push_back(size.status().fault().message);
    std::error_code error;
    const uint64_t own = size.ok() ? size.value() : fs::file_size(path, error);
    bytes += error ? 0 : own;
  }
  return bytes;
}

// Returns the pattern by which openPMD's readers open the series. Each file of several iterations is a series for
// them.
std::string pattern_of(const std::string& name, const FilesOf& files) {
  const std::set<std::string> each = paths_of(files);
  if (each.size() == files.size()) return name + "_%06T.h5";
  return each.size() == 1 ? fs::path(*each.begin()).filename().string() : name + "_*.h5";
}

// Returns the runs of a series (attribute tailraceRun) in the order of their first iteration. Adds a line to
// `damaged` for each file that cannot be read.
OrderedJson runs_of(const FilesOf& files, std::vector<std::string>& damaged) {
  std::map<std::string, std::vector<int64_t>> together;  // a file may have many iterations
  for (const int64_t iteration : evenly_spread(files, kMostOfRuns)) {
    together[files.at(iteration)].push_back(iteration);
  }
  std::map<int64_t, std::pair<std::string, std::string>> found;  // iteration → run, path
  for (const auto& [path, iterations] : together) {
    OutlineWanted wanted{.below_groups = false};
    for (const int64_t iteration : iterations) wanted.groups.push_back(group_of(iteration));
    const Result<Outline> file = file_outline(path, wanted);
    if (!file.ok()) damaged.push_back(path + ": not readable: " + file.status().fault().message);
    if (!file.ok() || file.value().groups.size() != iterations.size()) continue;
    const OrderedJson of_file = attribute_of(file.value().root, "tailraceRun");
    for (const int64_t iteration : iterations) {
      const OrderedJson own = attribute_of(file.value().groups.at(group_of(iteration)), "tailraceRun");
      const OrderedJson& run = own.is_string() ? own : of_file;
      if (run.is_string()) found[iteration] = {run.get<std::string>(), path};
    }
  }
  OrderedJson runs = OrderedJson::array();
  std::map<std::string, std::pair<size_t, std::set<std::string>>> known;  // place in `runs`, and the files
  for (const auto& [iteration, of] : found) {
    const auto [one, is_new] = known.try_emplace(of.first, runs.size(), std::set<std::string>());
    if (is_new) runs.push_back({{"run", of.first}, {"first", iteration}, {"last", iteration}, {"files", 0}});
    one->second.second.insert(of.second);
    runs[one->second.first]["last"] = iteration;
    runs[one->second.first]["files"] = one->second.second.size();
  }
  return runs;
}

// Returns the variable of the series of this very name, if there is one: where files of all clients exist (`tailrace
// join`), their shape is that of the whole. Otherwise returns `variable`.
const OrderedJson& joined_variable(const OrderedJson& series, const std::string& name, const OrderedJson& variable) {
  for (const OrderedJson& one : series) {
    if (one.at("name") != name || !one.contains("variables")) continue;
    for (const OrderedJson& whole : one.at("variables")) {
      if (whole.at("name") == variable.at("name")) return whole;
    }
  }
  return variable;
}

// Returns the clients that an iteration lacks: "clients 1, 2 and 3 clients that never came"; "" if it lacks none.
std::string missing_in(const std::string& path, int64_t iteration) {
  const Result<Outline> file = file_outline(path, {.groups = {group_of(iteration)}, .below_groups = false});
  if (!file.ok()) return {};  // `tailrace inspect FILE` says why
  const auto group = file.value().groups.find(group_of(iteration));
  const OutlineObject& of = group == file.value().groups.end() ? file.value().root : group->second;
  OrderedJson clients = attribute_of(of, "tailraceMissingClients");
  if (clients.is_number()) clients = OrderedJson::array({clients});
  std::vector<std::string> numbers;
  for (const OrderedJson& client : clients) numbers.push_back(client.dump());
  const auto unnamed = static_cast<uint64_t>(std::max(0.0, number_of(of, "tailraceMissingUnnamed").value_or(0)));
  std::string text;
  if (!numbers.empty()) text = fmt::format("client{} {}", numbers.size() == 1 ? "" : "s", fmt::join(numbers, ", "));
  if (unnamed == 0) return text;
  return fmt::format("{}{}{} that never came", text, text.empty() ? "" : " and ", counted(unnamed, "client"));
}

// Says which iterations lack the data of which clients: one line for those in a row that lack the same.
std::vector<std::string> missing_lines(const FilesOf& files) {
  std::vector<std::string> lines;
  std::string who;
  int64_t first = 0;
  int64_t last = 0;
  const auto finish = [&] {
    if (who.empty()) return;
    const std::string range = first == last ? std::to_string(first) : fmt::format("{} … {}", first, last);
    lines.push_back(fmt::format("iteration {} lacks data of {}", range, who));
  };
  for (const int64_t iteration : evenly_spread(files, kMostOfMissing)) {
    std::string lacks = missing_in(files.at(iteration), iteration);
    if (lacks != who) {
      finish();
      who = std::move(lacks);
      first = iteration;
    }
    last = iteration;
  }
  finish();
  return lines;
}

OrderedJson variable_of(const std::string& name, const OutlineObject& part) {
  const OrderedJson unit = attribute_of(part, "unit");
  return {{"name", name},
          {"dtype", type_of(part)},
          {"shape", shape_of(part)},
          {"unit", unit.is_string() ? unit
                   : unit.is_null() ? OrderedJson("")
                                    : OrderedJson(unit.dump())}};
}

// Variables by name, in the order in which they came; the shape is null where it is not always the same.
class KnownVariables {
 public:
  // `latest`: the other members are those of the variable that came last.
  void add(const OrderedJson& variable, bool latest) {
    const std::string name = variable.at("name").get<std::string>();
    const auto [place, is_new] = places_.try_emplace(name, all_.size());
    if (is_new) {
      all_.push_back(variable);
      return;
    }
    OrderedJson& known = all_[place->second];
    const bool differs = known.at("shape") != variable.at("shape");
    if (latest) known = variable;
    if (differs) known["shape"] = nullptr;
  }
  const OrderedJson& all() const { return all_; }

 private:
  OrderedJson all_ = OrderedJson::array();
  std::map<std::string, size_t> places_;
};

// Adds the first and the last iteration, with their times in seconds, and the variables.
void describe(const FilesOf& files, bool is_of_plain, OrderedJson& to) {
  KnownVariables known;
  OrderedJson ends = OrderedJson::array();
  for (const int64_t iteration : evenly_spread(files, kMostShown)) {
    ends.push_back({{"iteration", iteration}, {"time", nullptr}});
    OutlineWanted wanted{.datasets = is_of_plain};
    if (!is_of_plain) wanted.groups.push_back(group_of(iteration));
    const Result<Outline> file = file_outline(files.at(iteration), wanted);
    if (!file.ok() || (!is_of_plain && file.value().groups.empty())) continue;  // `tailrace inspect FILE` says why
    const OutlineObject& group = is_of_plain ? file.value().root : file.value().groups.begin()->second;
    if (const auto time = number_of(group, "time")) {
      ends.back()["time"] = *time * number_of(group, "timeUnitSI").value_or(1.0);
    }
    for (const auto& [name, dataset] : file.value().datasets) known.add(variable_of(name, dataset), true);
    if (is_of_plain) continue;
    for (const OutlinePart& part : parts_of(group)) known.add(variable_of(part.name, *part.part), true);
  }
  to["first"] = ends.front();
  to["last"] = ends.back();
  to["variables"] = known.all();
}

OrderedJson describe_series(const std::string& name, const std::string& pattern, const FilesOf& files,
                            std::vector<std::string>& damaged) {
  OrderedJson iterations = OrderedJson::array();
  for (const auto& [iteration, path] : files) iterations.push_back(iteration);
  return {{"name", name},
          {"iterations", std::move(iterations)},
          {"files", paths_of(files).size()},
          {"runs", OrderedJson::object()},
          {"pattern", pattern},
          {"bytes", bytes_of(files, damaged)},
          {"missing", missing_lines(files)}};
}

}  // namespace

OrderedJson series_in(const std::string& directory, const std::vector<std::string>& names,
                      std::vector<std::string>& damaged) {
  OrderedJson series = OrderedJson::array();
  const std::map<std::string, FilesOf> plain = plain_series(directory, names);
  std::set<std::string> of_plain;
  for (const auto& [pattern, files] : plain) of_plain.merge(paths_of(files));
  const FoundSeries openpmd = openpmd_series(directory, names, damaged);
  for (const auto& [name, files] : openpmd.all()) {
    const std::set<std::string> paths = paths_of(files);
    if (std::includes(of_plain.begin(), of_plain.end(), paths.begin(), paths.end())) continue;
    OrderedJson one = describe_series(name, pattern_of(name, files), files, damaged);
    one["runs"] = runs_of(files, damaged);
    if (series.size() < kMostSeries) describe(files, false, one);
    series.push_back(std::move(one));
  }
  for (const auto& [pattern, files] : plain) {
    OrderedJson one = describe_series(pattern, pattern, files, damaged);
    describe(files, true, one);
    series.push_back(std::move(one));
  }
  return series;
}

std::vector<std::pair<std::string, OrderedJson>> common_variables(const OrderedJson& series) {
  std::vector<std::pair<std::string, KnownVariables>> together;
  for (const OrderedJson& one : series) {
    std::string name = one.at("name").get<std::string>();
    const size_t last = name.find_last_not_of("0123456789");
    const bool is_of_one = last != std::string::npos && last > 0 && last + 1 < name.size() && name[last - 1] == '_' &&
                           (name[last] == 'c' || name[last] == 'n');
    if (is_of_one) name.erase(last - 1);
    auto known = std::find_if(together.begin(), together.end(), [&](const auto& of) { return of.first == name; });
    if (known == together.end()) known = together.emplace(together.end(), name, KnownVariables());
    if (!one.contains("variables")) continue;
    for (const OrderedJson& variable : one.at("variables")) {
      known->second.add(joined_variable(series, known->first, variable), false);
    }
  }
  std::vector<std::pair<std::string, OrderedJson>> all;
  for (const auto& [name, known] : together) all.emplace_back(name, known.all());
  return all;
}

RunsNote runs_note(const OrderedJson& one) {
  const OrderedJson& runs = one.at("runs");
  if (runs.size() < 2) return {};
  std::vector<std::string> listed;
  bool mixed = false;
  for (size_t at = 0; at < runs.size(); ++at) {
    listed.push_back(fmt::format("{} ({} … {})", runs[at].at("run").get<std::string>(), runs[at].at("first").dump(),
                                 runs[at].at("last").dump()));
    mixed = mixed || (at > 0 && runs[at - 1].at("last") > runs[at].at("first"));
  }
  return {fmt::format("{}: the files are of {} runs; {}: {}", one.at("name").get<std::string>(), runs.size(),
                      mixed ? "iterations of one lie between those of another" : "one continues the other",
                      fmt::join(listed, ", ")),
          mixed};
}

}  // namespace tailrace::impl
