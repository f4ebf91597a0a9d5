#include "config/config_actions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>

#include "base/names/nearest_word.hpp"
#include "config/config_arrays.hpp"
#include "config/config_variables.hpp"
#include "model/wire/descriptor_wire.hpp"

namespace tailrace::impl {
namespace {

constexpr size_t most_actions = 256;
constexpr std::chrono::hours most_limit{24};
constexpr std::string_view run_rule =
    "store, statistics, drop, \"library:FILE:FUNCTION\" or \"python:FILE:FUNCTION\"";

// Relative names start at the folder of the configuration file; if the program gave the text, at the current
// directory.
std::string absolute(const std::string& path, const Config& config) {
  std::error_code ignored;  // without a current directory the name stays relative
  const auto folder = std::filesystem::path(config.source).parent_path();
  const auto full = std::filesystem::absolute(folder / path, ignored);
  return full.empty() ? path : full.lexically_normal().string();
}

// Reads "track.py:locate", the part of `run` behind the first colon.
void read_function(const YamlValue& value, std::string_view text, const Config& config, Action& action) {
  const size_t colon = text.rfind(':');
  const std::string_view function = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  if (colon == 0 || !is_identifier(function)) {
    return value.wrong(run_rule, "FILE is a path, FUNCTION a name of letters, digits and '_'");
  }
  action.file = absolute(std::string(text.substr(0, colon)), config);
  action.function = function;
}

void read_event(const YamlValue& value, Action& action) {
  const std::string rule = fmt::format("the name of an event, of 1 to {} bytes", kMaxEvent);
  action.event = value.text(rule);
  if (action.event.size() > kMaxEvent) value.wrong(rule);
}

void read_run(const YamlValue& value, const Config& config, Action& action) {
  action.text = value.text(run_rule);
  const size_t colon = action.text.find(':');
  const std::string kind = action.text.substr(0, colon);
  const std::vector<std::string_view> builtins = {"store", "statistics", "drop"};
  const auto builtin = std::find(builtins.begin(), builtins.end(), action.text);
  if (builtin != builtins.end()) {
    constexpr Action::Run runs[] = {Action::Run::store, Action::Run::statistics, Action::Run::drop};
    action.run = runs[builtin - builtins.begin()];
  } else if (colon != std::string::npos && (kind == "library" || kind == "python")) {
    action.run = kind == "library" ? Action::Run::library : Action::Run::python;
    read_function(value, std::string_view(action.text).substr(colon + 1), config, action);
  } else if (!action.text.empty()) {
    const std::string nearest = nearest_word(kind, {"store", "statistics", "drop", "library", "python"});
    value.wrong(run_rule, nearest.empty() ? "" : fmt::format("did you mean {}?", in_quotes(nearest)));
  }
}

void check_place(const YamlValue& run, const Config& config, const Action& action) {
  if (config.place.kind != PlaceKind::thread || action.run == Action::Run::store) return;
  if (!run.trusts({"place"})) return;
  run.fault(in_quotes(action.text) + " in place thread", "only store in place thread",
            "other actions run in place core: write place: {kind: core}");
}

// With scope `node` the server must know how many clients there are.
void read_scope(const YamlValue& value, const Config& config, Action& action) {
  action.scope = static_cast<Action::Scope>(value.choice({"client", "node"}));
  if (action.scope != Action::Scope::node || config.place.kind != PlaceKind::core) return;
  if (!value.trusts({"place"})) return;
  if (config.place.clients == 0) {
    value.fault("'node' without place.clients", "the number of the node's clients in place.clients",
                "the actions wait for that many clients");
  } else if (config.place.cores > 1) {
    value.fault(fmt::format("'node' with place.cores: {}", config.place.cores), "place.cores: 1",
                "no server sees the blocks of another's clients");
  }
}

Action read_action(const YamlValue& value, const Config& config) {
  Action action;
  value.only({"on", "run", "scope", "limit", "variables"});
  const auto on = value.require("on", "the name of an event, such as end_iteration");
  const auto run = value.require("run", run_rule);
  if (on) read_event(*on, action);
  if (run) read_run(*run, config, action);
  const bool known = run && run->is_right();
  if (known && on && on->is_right() && action.run == Action::Run::store && action.event != kEndIteration) {
    on->wrong(kEndIteration, "every iteration is stored, except those in which 'drop' has run");
  }
  if (known) check_place(*run, config, action);
  if (const auto scope = value.find("scope")) read_scope(*scope, config, action);
  const auto limit = value.find("limit");
  const auto variables = value.find("variables");
  for (const auto& of_calls : {limit, variables}) {
    if (known && of_calls && !is_call(action)) {
      of_calls->fault_at_key("a key that " + in_quotes(action.text) + " does not have", "on, run and scope",
                             "remove it");
    }
  }
  if (limit) {
    action.limit = limit->duration(std::chrono::milliseconds(1), most_limit, "'10 s', '500 ms' or '2 min'");
  }
  if (variables) action.variables = read_variable_names(*variables, config, "leave the key out for all");
  std::sort(action.variables.begin(), action.variables.end());
  return action;
}

// Blocks of an iteration stay in memory until its actions have ended, and those of kept iterations longer. The budget
// must leave room for the blocks of the other variables, or the program would wait forever.
void check_memory(const YamlValue& value, const Config& config) {
  if (config.layouts.empty()) return;  // already reported
  if (!value.trusts({"actions", "layouts", "variables", "particles", "memory"})) return;
  std::vector<bool> held(config.variables.size());
  for (const Action& action : config.actions) {
    if (is_call(action) && action.variables.empty()) held.assign(held.size(), true);
    for (const uint32_t variable : action.variables) held[variable] = true;
  }
  unsigned __int128 bytes = 0;
  uint64_t other = 0;
  for (size_t i = 0; i < held.size(); ++i) {
    const Variable& variable = config.variables[i];
    const uint64_t block = config.layout_of(variable).bytes();
    if (held[i]) bytes += static_cast<unsigned __int128>(block) * (uint64_t{1} + variable.keep);
    if (!held[i]) other = std::max(other, block);
  }
  if (bytes + other <= config.memory.budget) return;
  constexpr auto most = static_cast<unsigned __int128>(std::numeric_limits<int64_t>::max());
  value.fault(fmt::format("actions that need {} of blocks in memory at once",
                          size_text(static_cast<uint64_t>(std::min(bytes + other, most)))),
              fmt::format("at most memory.budget, {}", size_text(config.memory.budget)),
              "name fewer 'variables', 'keep' fewer iterations, or raise memory.budget");
}

}  // namespace

std::vector<Action> default_actions() {
  Action store;
  store.event = kEndIteration;
  store.text = "store";
  return {store};
}

void read_actions(const YamlValue& value, Config& config) {
  constexpr std::string_view expected = "a list of actions, such as [{on: end_iteration, run: store}]";
  const std::vector<YamlValue> items = value.items(expected);
  if (value.is_list() && items.empty()) value.wrong(expected, "leave the key out for the default");
  if (items.size() > most_actions) {
    value.fault(fmt::format("{} actions", items.size()), fmt::format("at most {}", most_actions));
  }
  std::vector<Action> actions;
  for (const YamlValue& item : items) {
    Action action = read_action(item, config);
    if (!item.is_right()) continue;
    const bool again = std::any_of(actions.begin(), actions.end(), [&](const Action& other) {
      return other.run == Action::Run::store && action.run == Action::Run::store;
    });
    if (again) item.fault("a second 'store'", "one at most");
    actions.push_back(std::move(action));
  }
  if (items.empty()) return;
  config.actions = std::move(actions);
  check_memory(value, config);
}

void read_python(const YamlValue& value, Config& config) {
  value.only({"environment"});
  if (const auto environment = value.find("environment")) {
    config.python_environment = absolute(environment->text("the folder of a virtual environment"), config);
  }
}

}  // namespace tailrace::impl
