#include "config/config_difference.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <system_error>
#include <utility>

#include "config/yaml/yaml_reader.hpp"

namespace tailrace::impl {
namespace {

namespace fs = std::filesystem;
using Shared = SharedSetting::Kind;

constexpr const char* kNotSet = "not set";

// Returns the word of a choice, as the configuration spells it.
template <typename Choice>
std::string word(Choice choice, std::initializer_list<const char*> words) {
  return words.begin()[static_cast<size_t>(choice)];
}
std::string flag(bool value) { return value ? "true" : "false"; }
// Returns a size exactly, in its largest unit.
std::string size(uint64_t bytes) {
  for (const auto& [shift, unit] : {std::pair(30, "GiB"), std::pair(20, "MiB"), std::pair(10, "KiB")}) {
    if (bytes > 0 && bytes % (uint64_t{1} << shift) == 0) return fmt::format("{} {}", bytes >> shift, unit);
  }
  return fmt::format("{} B", bytes);
}
std::string set_or(const std::string& value) { return value.empty() ? kNotSet : value; }
template <typename Values>
std::string list(const Values& values) {
  return values.empty() ? kNotSet : fmt::format("{}", fmt::join(values, ", "));
}

std::string names_of(const std::vector<uint32_t>& variables, const Config& config) {
  std::vector<std::string> names;
  for (const uint32_t variable : variables) {
    const bool known = variable < config.variables.size();
    names.push_back(known ? config.variables[variable].name : fmt::format("number {}", variable));
  }
  return fmt::format("[{}]", fmt::join(names, ", "));
}

// Clients may have the same text in files of different folders, so `file` is left out.
std::string text_of(const Action& action, const Config& config) {
  return fmt::format("{{on: {}, run: {}, scope: {}, limit: {}, variables: {}}}", action.event, action.text,
                     word(action.scope, {"client", "node"}), duration_text(action.limit),
                     action.variables.empty() ? "all" : names_of(action.variables, config));
}

std::string text_of(const XdmfMesh& mesh, const Config& config) {
  const auto& [name, kind, coordinates, variables] = mesh;
  return fmt::format("{}: {{kind: {}, coordinates: {}, variables: {}}}", name,
                     word(kind, {"rectilinear", "curvilinear", "points"}), names_of(coordinates, config),
                     names_of(variables, config));
}

template <typename Parts>
std::string texts_of(const Parts& parts, const Config& config) {
  std::vector<std::string> texts;
  for (const auto& part : parts) texts.push_back(text_of(part, config));
  return list(texts);
}

std::string text_of(const Throttle& throttle) {
  const auto& [kind, rate] = throttle;
  return kind == Throttle::Kind::rate ? size(rate) + "/s" : word(kind, {"none", "", "auto"});
}

std::string text_of_cpus(const PlaceSettings& place) {
  return place.choice == CpuChoice::list ? list(place.cpus) : word(place.choice, {"auto", "none"});
}

using Settings = std::vector<SharedSetting>;

// Each of these functions names all members of a part, so that it does not compile when one is added.

void add_place(const NodePlace& place, Settings& to) {
  const auto& [clients, node, nodes] = place;
  to.push_back({"place.clients", clients == 0 ? kNotSet : std::to_string(clients)});
  to.push_back({"place.node", std::to_string(node)});
  to.push_back({"place.nodes", std::to_string(nodes)});
}

void add_storage(const NodeStorage& storage, bool elsewhere, Settings& to) {
  const auto& [paths, stripes, durability, file_per, iterations_per_file, slots] = storage;
  const auto& [directories, unit] = stripes;
  std::vector<std::string> all = stripes.on() ? directories : paths;
  if (elsewhere) {  // a forwarder has them, and takes them for what their text says
    for (std::string& path : all) path = fs::path(path).lexically_normal().string();
  }
  const std::string text = list(all);
  to.push_back({"storage.path", text, elsewhere ? Shared::equal : Shared::equal_paths, std::move(all)});
  to.push_back({"storage.stripe.unit", stripes.on() ? size(unit) : kNotSet});
  to.push_back({"storage.durability", name_of(durability)});
  to.push_back({"storage.file_per", name_of(file_per)});
  to.push_back(
      {"storage.iterations_per_file", iterations_per_file == 0 ? "all" : std::to_string(iterations_per_file)});
  to.push_back({"storage.slots", flag(slots)});
}

void add_merge(const MergeSettings& merge, Settings& to) {
  const auto& [enabled, overwrite, largest, alignment, count, bytes, delay, sieve, waste, by_count, read_after,
               visibility] = merge;
  to.push_back({"merge.enabled", flag(enabled)});
  to.push_back({"merge.overwrite", flag(overwrite)});
  to.push_back({"merge.largest", size(largest)});
  to.push_back({"merge.alignment", alignment == 0 ? kNotSet : size(alignment)});
  to.push_back({"merge.count", std::to_string(count)});
  to.push_back({"merge.bytes", size(bytes)});
  to.push_back({"merge.delay", fmt::format("{}", delay)});
  to.push_back({"merge.by", by_count ? "count" : "storage"});
  to.push_back({"merge.sieve", size(sieve)});
  to.push_back({"merge.waste", fmt::format("{}", waste)});
  to.push_back({"merge.read_after", word(read_after, {"submitted", "written"})});
  to.push_back({"merge.visibility", word(visibility, {"written", "pending"})});
}

void add_format(const Config& config, Settings& to) {
  const auto& [kind, dimension_scales, file, xdmf, meshes] = config.format;
  to.push_back({"format.kind", word(kind, {"hdf5", "plain"})});
  to.push_back({"format.file", set_or(file)});
  to.push_back({"format.dimension_scales", flag(dimension_scales)});
  to.push_back({"format.xdmf", word(xdmf, {"none", "first", "every"})});
  to.push_back({"format.meshes", texts_of(meshes, config)});
}

void add_schedule(const ScheduleSettings& schedule, Settings& to) {
  const auto& [kind, quantum, batch, window] = schedule;
  to.push_back({"schedule.kind", name_of(kind)});
  to.push_back({"schedule.quantum", std::to_string(quantum)});
  to.push_back({"schedule.batch", std::to_string(batch)});
  to.push_back({"schedule.window", duration_text(window)});
}

void add_forward(const ForwardSettings& forward, Settings& to) {
  const auto& [servers, keys, on_loss, confirm, spread, ucx, devices, transports, connections, listen, roots, number,
               strangers] = forward;
  const auto& [most, of_one_address, time] = strangers;
  std::vector<std::string> sorted = servers;  // their order has no meaning
  std::sort(sorted.begin(), sorted.end());
  to.push_back({"forward.servers", list(sorted)});
  to.push_back({"forward.key", list(keys), Shared::equal_paths, keys});
  to.push_back({"forward.on_forwarder_loss", word(on_loss, {"next", "direct", "fail"})});
  to.push_back({"forward.confirm", word(confirm, {"written", "durable", "received"})});
  to.push_back({"forward.spread", spread ? "domains" : "files"});
  to.push_back({"forward.transport", ucx ? "ucx" : "tcp"});
  to.push_back({"forward.devices", set_or(devices)});
  to.push_back({"forward.transports", set_or(transports)});
  to.push_back({"forward.connections", connections == 0 ? "auto" : std::to_string(connections)});
  to.push_back({"forward.listen", set_or(listen)});
  to.push_back({"forward.roots", list(roots), Shared::equal_paths, roots});
  to.push_back({"forward.number", std::to_string(number)});
  to.push_back({"forward.strangers.most", std::to_string(most)});
  to.push_back({"forward.strangers.of_one_address", std::to_string(of_one_address)});
  to.push_back({"forward.strangers.time", duration_text(time)});
}

// Returns the paths without links and dots. A path that cannot be looked up counts as what its text says.
std::vector<fs::path> places(const std::vector<std::string>& paths) {
  std::vector<fs::path> found;
  for (const std::string& text : paths) {
    std::error_code error;
    const fs::path path = fs::weakly_canonical(text, error);
    found.push_back(error ? fs::path(text).lexically_normal() : path);
    if (!found.back().has_filename()) found.back() = found.back().parent_path();  // "out/" is "out"
  }
  return found;
}

bool are_equal(const SharedSetting& one, const SharedSetting& other) {
  if (one.value == other.value) return true;
  const bool paths = one.kind == Shared::equal_paths && other.kind == Shared::equal_paths;
  return paths && places(one.paths) == places(other.paths);
}

// Returns the settings that differ, of those whose kind is `first` or of the others.
std::vector<ConfigDifference> differences(const Config& found, const Config& expected, bool first) {
  const Settings ones = shared_settings(found);
  const Settings others = shared_settings(expected);
  std::vector<ConfigDifference> all;
  for (size_t i = 0; i < ones.size(); ++i) {
    if ((ones[i].kind == Shared::first) != first || are_equal(ones[i], others[i])) continue;
    all.push_back({ones[i].key, ones[i].value, others[i].value});
  }
  return all;
}

}  // namespace

std::vector<SharedSetting> shared_settings(const Config& config) {
  Settings all;
  const NodeConfig node = config.of_node();
  const auto& [name, place, storage, merge, format, schedule, forward, actions] = node;
  all.push_back({"name", name});
  add_place(place, all);
  all.push_back({"place.cores", std::to_string(config.place.cores)});
  all.push_back({"place.on_missing", word(config.place.on_missing, {"publish", "keep"})});
  all.push_back({"place.cpus", text_of_cpus(config.place), Shared::first});
  all.push_back({"place.filter_threads", std::to_string(config.place.filter_threads), Shared::first});
  all.push_back({"place.patience", fmt::format("{} s", config.place.patience), Shared::first});
  add_storage(storage, forward.on(), all);
  const std::string backend = word(config.storage.backend, {"auto", "uring", "posix", "memory"});
  all.push_back({"storage.backend", backend, Shared::first});
  all.push_back({"storage.direct", flag(config.storage.direct), Shared::first});
  all.push_back({"storage.queue_depth", std::to_string(config.storage.queue_depth), Shared::first});
  all.push_back({"storage.throttle", text_of(config.storage.throttle), Shared::first});
  add_format(config, all);
  add_merge(merge, all);
  add_schedule(schedule, all);
  add_forward(forward, all);
  all.push_back({"actions", texts_of(actions, config)});
  all.push_back({"python.environment", set_or(config.python_environment), Shared::first});
  return all;
}

std::optional<ConfigDifference> config_difference(const Config& found, const Config& expected) {
  const auto all = differences(found, expected, false);
  return all.empty() ? std::nullopt : std::optional(all.front());
}

std::vector<ConfigDifference> ignored_differences(const Config& found, const Config& expected) {
  return differences(found, expected, true);
}

}  // namespace tailrace::impl
