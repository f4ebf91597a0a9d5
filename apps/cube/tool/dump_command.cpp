#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <numeric>

#include "cube/archive/error.hpp"
#include "cube/tool/commands.hpp"
#include "cube/tool/metric_rows.hpp"

namespace tailrace::cube {
namespace {

struct DumpArguments {
  std::string path;
  std::string format = "csv";
  std::string output;
  std::vector<std::string> metrics;
  bool inclusive = false;
};

// Writes text to a file, or to stdout.
class Output {
 public:
  explicit Output(const std::string& path)
      : path_(path), file_(path.empty() ? stdout : std::fopen(path.c_str(), "w")) {
    if (file_ == nullptr) throw Error(path + ": cannot be written");
  }
  ~Output() {
    if (!path_.empty()) std::fclose(file_);
  }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  void put(std::string_view text) { std::fwrite(text.data(), 1, text.size(), file_); }
  void end() {
    if (std::fflush(file_) != 0 || std::ferror(file_) != 0)
      throw Error((path_.empty() ? "stdout" : path_) + ": write failed");
  }

 private:
  const std::string path_;
  std::FILE* const file_;
};

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') result += '\\';
    if (static_cast<unsigned char>(letter) >= 0x20) {
      result += letter;
    } else {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(static_cast<unsigned char>(letter)));
      result += code;
    }
  }
  return result + '"';
}

// Metrics whose values are no numbers are left out, unless they are named.
std::vector<size_t> chosen(const DumpArguments& arguments, const Input& input) {
  std::vector<size_t> numbers;
  for (const std::string& name : arguments.metrics) {
    numbers.push_back(metric_number(input, name));
    input.expect_numbers(numbers.back());
  }
  for (size_t at = 0; arguments.metrics.empty() && at < input.profile.metrics.size(); ++at) {
    const Metric& metric = input.profile.metrics[at];
    if (!input.rows[at] || input.rows[at]->type().number) {
      numbers.push_back(at);
    } else {
      warn(arguments.path + ": metric " + metric.unique_name + " is left out: values of type " + metric.data_type +
           " are no numbers");
    }
  }
  return numbers;
}

// Returns the call paths in the order of their ids, which need not be that of the anchor.
std::vector<uint32_t> by_id(const CallTree& tree) {
  std::vector<uint32_t> paths(tree.size());
  std::iota(paths.begin(), paths.end(), 0u);
  std::sort(paths.begin(), paths.end(), [&](uint32_t one, uint32_t other) { return tree[one].id < tree[other].id; });
  return paths;
}

// One line for each call path and location.
void write_csv(Output& output, const MetricSet& set, const std::vector<size_t>& metrics, Flavour flavour) {
  output.put("Cnode ID, Thread ID");
  for (const size_t metric : metrics) output.put("," + set.metrics()[metric].unique_name);
  output.put("\n");
  const Profile& profile = set.input().profile;
  MetricValues values(set);
  std::vector<MetricRows> rows;
  for (const size_t metric : metrics) rows.emplace_back(values, metric, profile.locations.size());
  for (const uint32_t path : by_id(profile.tree)) {
    for (MetricRows& row : rows) row.read(flavour, path);
    for (size_t location = 0; location < profile.locations.size(); ++location) {
      output.put(std::to_string(profile.tree[path].id) + "," + std::to_string(profile.locations[location].id));
      for (const MetricRows& row : rows) output.put("," + row.text(location));
      output.put("\n");
    }
  }
}

// Numbers that JSON cannot have become null.
void write_json(Output& output, const MetricSet& set, const std::vector<size_t>& metrics, Flavour flavour) {
  const Profile& profile = set.input().profile;
  output.put(std::string("{\"tailrace_cube\": 1, \"values\": \"") +
             (flavour == Flavour::inclusive ? "inclusive" : "exclusive") + "\",\n \"call_paths\": [");
  for (size_t path = 0; path < profile.tree.size(); ++path) {
    const CallPath& one = profile.tree[path];
    output.put((path > 0 ? ",\n  " : "\n  ") + ("{\"id\": " + std::to_string(one.id)) + ", \"parent\": " +
               (one.parent < 0 ? "null" : std::to_string(profile.tree[static_cast<size_t>(one.parent)].id)) +
               ", \"region\": " + quoted(profile.regions[one.region].name) + "}");
  }
  output.put("],\n \"locations\": [");
  for (size_t at = 0; at < profile.locations.size(); ++at) {
    const Location& one = profile.locations[at];
    output.put((at > 0 ? ",\n  " : "\n  ") + ("{\"id\": " + std::to_string(one.id)) +
               ", \"name\": " + quoted(one.name) + ", \"rank\": " + std::to_string(one.rank) +
               ", \"group\": " + quoted(profile.groups[one.group].name) + "}");
  }
  output.put("],\n \"metrics\": {");
  MetricValues values(set);
  for (size_t at = 0; at < metrics.size(); ++at) {
    MetricRows row(values, metrics[at], profile.locations.size());
    const Metric& metric = set.metrics()[metrics[at]];
    output.put((at > 0 ? ",\n  " : "\n  ") + quoted(metric.unique_name) + ": {\"unit\": " + quoted(metric.unit) +
               ", \"rows\": [");
    for (uint32_t path = 0; path < profile.tree.size(); ++path) {
      row.read(flavour, path);
      output.put(path > 0 ? ",\n   [" : "\n   [");
      for (size_t location = 0; location < profile.locations.size(); ++location) {
        const std::string value = std::isfinite(row.number(location)) ? row.text(location) : "null";
        output.put((location > 0 ? ", " : "") + value);
      }
      output.put("]");
    }
    output.put("]}");
  }
  output.put("}}\n");
}

void run_dump(const DumpArguments& arguments) {
  const OwnMetrics own(arguments.path);
  const std::vector<size_t> metrics = chosen(arguments, own.input);
  const Flavour flavour = arguments.inclusive ? Flavour::inclusive : Flavour::exclusive;
  Output output(arguments.output);
  (arguments.format == "json" ? write_json : write_csv)(output, own.set, metrics, flavour);
  output.end();
}

}  // namespace

void add_dump(CLI::App& program) {
  const auto arguments = std::make_shared<DumpArguments>();
  CLI::App* const command = program.add_subcommand("dump", "Print the values of metrics, as CSV or JSON");
  command->add_option("FILE", arguments->path, "The profile")->required();
  command->add_option("-m,--metric", arguments->metrics, "Unique name of a metric; may be repeated (default: all)")
      ->allow_extra_args(false);
  command->add_flag("-i,--inclusive", arguments->inclusive, "Inclusive values (default: exclusive)");
  command->add_option("-f,--format", arguments->format, "csv or json")->check(CLI::IsMember({"csv", "json"}));
  command->add_option("-o,--out", arguments->output, "File to write (default: standard output)");
  command->callback([arguments] { run_dump(*arguments); });
}

}  // namespace tailrace::cube
