// Configurations. Property: a text is refused with readable messages that name their places, or the Config has all
// its properties: sizes, bounds, unique names, units that mean the same when read again.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "config/config_arrays.hpp"
#include "config/config_yaml.hpp"
#include "model/unit.hpp"
#include "target.hpp"

namespace tailrace::impl {
namespace {

constexpr int client = 3;

void check_unit(const Unit& unit) {
  const Result<Unit> again = parse_unit(unit.symbol);
  TAILRACE_REQUIRE(again.ok());
  TAILRACE_REQUIRE(again.value().factor == unit.factor);
  TAILRACE_REQUIRE(again.value().dimension == unit.dimension);
}

void check_layout(const Config& config, const Layout& layout) {
  const size_t rank = layout.shape.size();
  TAILRACE_REQUIRE(is_identifier(layout.name));
  TAILRACE_REQUIRE(rank >= 1 && rank <= TAILRACE_MAX_RANK);
  TAILRACE_REQUIRE(layout.global_shape.size() == rank && layout.offset.size() == rank);
  TAILRACE_REQUIRE(layout.axes.size() == rank && layout.spacing.size() == rank && layout.origin.size() == rank);
  __extension__ using Wide = unsigned __int128;
  Wide bytes = size_of(layout.type);
  for (size_t i = 0; i < rank; ++i) {
    // An extent is 0 only where a parameter gives it.
    TAILRACE_REQUIRE(layout.shape[i] > 0 || layout.sources.shape[i] != kNoParameter);
    TAILRACE_REQUIRE(Wide{layout.offset[i]} + layout.shape[i] <= layout.global_shape[i]);
    TAILRACE_REQUIRE(std::isfinite(layout.spacing[i]) && layout.spacing[i] != 0);
    TAILRACE_REQUIRE(std::isfinite(layout.origin[i]));
    TAILRACE_REQUIRE(std::count(layout.axes.begin(), layout.axes.end(), layout.axes[i]) == 1);
    bytes *= layout.shape[i];
    TAILRACE_REQUIRE(bytes <= config.memory.budget);
  }
  TAILRACE_REQUIRE(layout.bytes() == bytes);
  check_unit(layout.grid_unit);
}

void check_config(const Config& config) {
  TAILRACE_REQUIRE(!config.name.empty() && config.name.find('/') == std::string::npos);
  TAILRACE_REQUIRE(config.memory.budget >= uint64_t{1} << 20 && config.memory.budget <= uint64_t{INT64_MAX});
  TAILRACE_REQUIRE(config.storage.queue_depth >= 1 && config.storage.queue_depth <= 256);
  TAILRACE_REQUIRE((config.place.choice == CpuChoice::list) == !config.place.cpus.empty());
  TAILRACE_REQUIRE(std::isfinite(config.time.dt) && config.time.dt > 0);
  check_unit(config.time.unit);
  const auto& paths = config.storage.paths;
  TAILRACE_REQUIRE(!paths.empty() && paths.size() <= 64);
  for (const std::string& path : paths) {
    TAILRACE_REQUIRE(!path.empty() && path.find('\0') == std::string::npos);
    TAILRACE_REQUIRE(std::count(paths.begin(), paths.end(), path) == 1);
  }
  for (const Layout& layout : config.layouts) check_layout(config, layout);
  for (size_t i = 0; i < config.variables.size(); ++i) {
    const Variable& variable = config.variables[i];
    TAILRACE_REQUIRE(is_identifier(variable.name));
    TAILRACE_REQUIRE(variable.layout < config.layouts.size());
    TAILRACE_REQUIRE(config.find_variable(variable.name) == static_cast<int>(i));
    TAILRACE_REQUIRE(fuzz::is_utf8(variable.description));
    check_unit(variable.unit);
  }
}

// "fuzz.yaml:LINE:COLUMN: KEY: found X, expected Y; hint", with a line that the text has.
void check_message(const std::string& message, const std::string& text) {
  fuzz::require_readable(message);
  constexpr std::string_view start = "fuzz.yaml:";
  TAILRACE_REQUIRE(message.starts_with(start));
  TAILRACE_REQUIRE(message.find(": found ") != std::string::npos);
  TAILRACE_REQUIRE(message.find(", expected ") != std::string::npos);
  const auto is_end = [](char c) { return c == '\n' || c == '\r'; };
  const auto lines = std::count_if(text.begin(), text.end(), is_end) + 1;
  const long line = std::strtol(message.c_str() + start.size(), nullptr, 10);
  TAILRACE_REQUIRE(line >= 1);
  TAILRACE_REQUIRE(line <= lines);
}

void check_refusal(const Status& status, const std::vector<Mistake>& mistakes, const std::string& text) {
  TAILRACE_REQUIRE(status.code() == TAILRACE_INVALID_CONFIG);
  TAILRACE_REQUIRE(!mistakes.empty() && mistakes.size() <= YamlReport::most_mistakes);
  TAILRACE_REQUIRE(status.fault().message.starts_with(mistakes[0].message));
  check_message(status.fault().message, text);
  for (size_t i = 0; i < mistakes.size(); ++i) {
    check_message(mistakes[i].message, text);
    if (i == 0) continue;
    const auto place = [&](size_t at) { return std::pair(mistakes[at].line, mistakes[at].column); };
    TAILRACE_REQUIRE(place(i - 1) <= place(i));
    // Different keys may be wrong at one place, such as two that are missing there.
    TAILRACE_REQUIRE(place(i - 1) != place(i) || mistakes[i - 1].key != mistakes[i].key);
  }
}

}  // namespace
}  // namespace tailrace::impl

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tailrace::impl;
  ConfigInput input;
  input.file = "fuzz.yaml";
  input.text.emplace(reinterpret_cast<const char*>(data), size);
  input.parameters = {{"NX", 8}};
  input.client = client;
  std::vector<Mistake> mistakes;
  const Result<Config> config = read_config(input, &mistakes);
  TAILRACE_REQUIRE(config.ok() == mistakes.empty());
  if (config.ok()) {
    check_config(config.value());
  } else {
    check_refusal(config.status(), mistakes, *input.text);
  }
  return 0;
}
