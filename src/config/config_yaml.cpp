#include "config/config_yaml.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/names/name_template.hpp"
#include "config/config_actions.hpp"
#include "config/config_arrays.hpp"
#include "config/config_attributes.hpp"
#include "config/config_forward.hpp"
#include "config/config_merge.hpp"
#include "config/config_particles.hpp"
#include "config/config_variables.hpp"
#include "config/config_xdmf.hpp"
#include "config/yaml/yaml_document.hpp"
#include "config/yaml/yaml_reader.hpp"
#include "model/wire/forward_wire.hpp"

namespace tailrace::impl {
namespace {

constexpr int most_cpu = 8191;
constexpr uint64_t least_budget = uint64_t{1} << 20;
constexpr int64_t most_queue_depth = 256;
constexpr int64_t most_batch = 65536;  // requests
constexpr std::chrono::microseconds least_window{10};
constexpr std::chrono::seconds most_window{10};
constexpr uint64_t least_rate = uint64_t{1} << 20;  // bytes a second
constexpr int64_t most_trace_events = 10'000'000;   // half a GB per side
constexpr size_t most_paths = 64;
constexpr uint64_t least_stripe = uint64_t{4} << 10;
constexpr uint64_t most_stripe = uint64_t{1} << 30;
constexpr int64_t most_cores = 64;  // servers per node
constexpr int64_t most_filter_threads = 64;
constexpr int64_t most_clients = 4096;  // clients per node
constexpr int64_t most_nodes = 1'000'000;

bool is_series_name(std::string_view text) {
  // File names append an iteration and a suffix, and may have 255 bytes.
  constexpr size_t longest = 200;
  constexpr std::string_view allowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-";
  return !text.empty() && text.size() <= longest && text.find_first_not_of(allowed) == std::string_view::npos;
}

// Returns false if the file is of another version, which may have other keys.
bool read_version(const YamlValue& top) {
  const auto version = top.require("tailrace", "1, the version of this format");
  if (!version || version->maybe_integer() == 1) return true;
  version->wrong("1, the version of this format");
  return !version->maybe_integer();
}

void read_cpus(const YamlValue& value, PlaceSettings& place) {
  if (value.is_scalar() && (value.raw() == "auto" || value.raw() == "none")) {
    place.choice = value.raw() == "auto" ? CpuChoice::automatic : CpuChoice::none;
    return;
  }
  constexpr std::string_view expected = "auto, none or a list of cpu numbers";
  place.choice = CpuChoice::list;
  const std::vector<YamlValue> items = value.items(expected);
  if (value.is_list() && items.empty()) value.wrong(expected);
  for (const YamlValue& item : items) {
    const int cpu = static_cast<int>(item.integer(0, most_cpu));
    if (!item.is_right()) continue;
    if (std::count(place.cpus.begin(), place.cpus.end(), cpu) > 0) item.wrong("each cpu once");
    place.cpus.push_back(cpu);
  }
}

void read_place(const YamlValue& value, PlaceSettings& place) {
  const auto kind = value.find("kind");
  // Checked before the other keys: this version does not know the keys of later places.
  if (kind && kind->raw() == "node") {
    kind->fault("'node', which is not in this version", "thread or core");
  } else {
    value.choose("kind", {"thread", "core"}, place.kind);
  }
  if (const auto cpus = value.find("cpus")) read_cpus(*cpus, place);
  // The keys of `core` are accepted but ignored in place `thread`, so that changing one word changes the place.
  value.only({"kind", "cpus", "filter_threads", "cores", "clients", "node", "nodes", "server", "on_server_loss",
              "on_missing", "patience"},
             {"servers"});
  if (const auto threads = value.find("filter_threads")) {
    place.filter_threads = static_cast<int>(threads->integer(1, most_filter_threads));
  }
  if (const auto cores = value.find("cores")) place.cores = static_cast<int>(cores->integer(1, most_cores));
  if (const auto server = value.find("server")) place.server = server->text("the path of tailrace-core");
  value.choose("on_server_loss", {"restart", "sync", "fail"}, place.on_server_loss);
  value.choose("on_missing", {"publish", "keep"}, place.on_missing);
  if (const auto patience = value.find("patience")) {
    constexpr double shortest = 1e-9;
    constexpr double longest = 365.0 * 24 * 3600;
    place.patience = patience->seconds(
        shortest, longest,
        fmt::format("seconds, more than 0, at most {}, or a time with its unit, such as '10 min'", longest));
  }
}

// Reads an integer, or the name of a parameter.
int read_count(const YamlValue& value, const Parameters& parameters, int64_t least, int64_t most) {
  if (!value.maybe_integer() && doubts_parameter(value, value.raw())) {
    value.doubt();
    return static_cast<int>(least);
  }
  const auto named = parameters.find(std::string(value.is_scalar() ? value.raw() : ""));
  if (named == parameters.end()) return static_cast<int>(value.integer(least, most));
  if (named->second.is_real() || named->second.whole() < least || named->second.whole() > most) {
    value.fault(fmt::format("the parameter {} = {}", named->first, text_of(named->second)),
                fmt::format("an integer from {} to {}", least, most));
    return static_cast<int>(least);
  }
  return static_cast<int>(named->second.whole());
}

// Reads the keys that differ from node to node.
void read_node(const YamlValue& place, const Parameters& parameters, Config& config) {
  if (const auto clients = place.find("clients")) {
    config.place.clients = read_count(*clients, parameters, 1, most_clients);
  }
  if (const auto node = place.find("node")) config.place.node = read_count(*node, parameters, 0, most_nodes - 1);
  const auto nodes = place.find("nodes");
  if (!nodes) return;
  config.place.nodes = read_count(*nodes, parameters, 1, most_nodes);
  if (config.place.nodes > config.place.node || !place.is_right()) return;
  nodes->fault(std::to_string(config.place.nodes),
               fmt::format("more than the number of this node, {}", config.place.node));
}

// Checks that the clients of shared files are known: a file is complete when all of them have ended the iteration.
void check_shared_files(const YamlValue& top, const Config& config) {
  if (!config.storage.shares_files() || !top.trusts({"place", "storage.file_per"})) return;
  const auto storage = top.find("storage");
  const auto file_per = storage ? storage->find("file_per") : std::nullopt;
  if (!file_per) return;
  const char* const word = name_of(config.storage.file_per);
  if (config.place.kind != PlaceKind::core) {
    file_per->fault(fmt::format("{} with place thread, which knows no other process", word),
                    "process, or place: {kind: core}");
  } else if (config.place.clients == 0) {
    file_per->fault(fmt::format("{}, and no place.clients", word),
                    fmt::format("place.clients: how many clients a {} has", word));
  } else if (config.place.cores > 1) {
    file_per->fault(fmt::format("{} with {} servers of a node", word, config.place.cores), "place.cores: 1");
  }
}

// Returns true if files of that name could be mistaken for a client's or a node's files: "cm1_c0".
bool ends_as_files_do(std::string_view name) {
  const size_t last = name.find_last_not_of("0123456789");
  return last != std::string_view::npos && last + 1 < name.size() &&
         (name.substr(0, last + 1).ends_with("_c") || name.substr(0, last + 1).ends_with("_n"));
}

// The name of a job's files has no number. Only in the plain format can several nodes write them.
void check_file_per_job(const YamlValue& top, const Config& config) {
  if (config.storage.file_per != FilePer::job || !top.trusts({"place", "name", "format"})) return;
  const auto place = top.find("place");
  const auto node = place ? place->find("node") : std::nullopt;
  const auto nodes = place ? place->find("nodes") : std::nullopt;
  const auto name = top.find("name");
  const bool plain = config.format.kind == FormatKind::plain;
  constexpr std::string_view one_node = ": several nodes need format.kind: plain, or file_per: node";
  if (node && config.place.node != 0 && config.place.nodes == 1) {
    node->fault(fmt::format("{} with storage.file_per: job, and no place.nodes", config.place.node),
                "0, or place.nodes: how many nodes the job has");
  } else if (nodes && config.nodes_share_files() && !plain) {
    nodes->fault(fmt::format("{} with storage.file_per: job", config.place.nodes), fmt::format("1{}", one_node));
  } else if (name && ends_as_files_do(config.name)) {
    name->fault(fmt::format("'{}' with storage.file_per: job", config.name),
                "a name that does not end as those of files of clients (_c0) and nodes (_n0) do");
  }
}

// No iteration of a file that several nodes write may lack one of them: no server could tell the others.
void check_nodes_share_files(const YamlValue& top, const Config& config) {
  if (!config.nodes_share_files()) return;
  if (!top.trusts({"place", "storage", "format", "memory", "layouts", "variables", "actions"})) return;
  constexpr std::string_view with = " with files that several nodes write (storage.file_per: job)";
  const auto memory = top.find("memory");
  const auto full = memory ? memory->find("when_full") : std::nullopt;
  if (full && config.memory.when_full == WhenFull::drop) full->fault(fmt::format("drop{}", with), "block or sync");
  const auto missing = top.find("place")->find("on_missing");
  if (missing && config.place.on_missing == OnMissing::keep) missing->fault(fmt::format("keep{}", with), "publish");
  const auto drops = [](const Action& action) { return action.run == Action::Run::drop; };
  if (std::any_of(config.actions.begin(), config.actions.end(), drops)) {
    top.find("actions")->fault(fmt::format("an action 'drop'{}", with), "none");
  }
  const auto variables = top.find("variables");
  for (const Variable& variable : config.variables) {
    if (!has_client(variable.dataset)) continue;
    variables->find(variable.name)
        ->fault_at_key(fmt::format("a dataset with '{{client}}'{}", with), "a dataset of all clients");
  }
}

// A client that continues without its server has only its own blocks, and no plugin host.
void check_sync(const YamlValue& top, const Config& config) {
  if (config.place.on_server_loss != OnServerLoss::sync || !top.trusts({"place", "storage", "actions"})) return;
  const auto place = top.find("place");
  const auto loss = place ? place->find("on_server_loss") : std::nullopt;
  if (!loss) return;
  const auto is_store = [](const Action& action) { return action.run == Action::Run::store; };
  if (config.storage.shares_files()) {
    loss->fault(fmt::format("sync with storage.file_per: {}", name_of(config.storage.file_per)),
                "restart or fail; sync is for files of one process");
  } else if (!std::all_of(config.actions.begin(), config.actions.end(), is_store)) {
    loss->fault("sync with actions", "restart or fail: actions run in a server alone");
  }
}

// The iterations of a file that has its name cannot wait for `tailrace recover` each by itself.
void check_iterations_per_file(const YamlValue& top, const Config& config) {
  if (config.storage.has_file_each() || !top.trusts({"place", "storage", "format"})) return;
  if (config.format.kind == FormatKind::plain) {
    const auto each = top.find("storage")->find("iterations_per_file");
    return each->fault("several with format.kind: plain", "1, or format.kind: hdf5");
  }
  if (config.place.on_missing != OnMissing::keep) return;
  const auto place = top.find("place");
  const auto missing = place ? place->find("on_missing") : std::nullopt;
  if (missing) missing->fault("keep with storage.iterations_per_file", "publish, or iterations_per_file: 1");
}

// Checks that this server's number among all servers is known, because it selects the slot.
void check_slots(const YamlValue& top, const Config& config) {
  if (!config.storage.slots || config.place.nodes > config.place.node || !top.trusts({"place"})) return;
  const auto storage = top.find("storage");
  const auto slots = storage ? storage->find("slots") : std::nullopt;
  if (!slots) return;
  slots->fault(fmt::format("true on node {}, and no place.nodes", config.place.node),
               "place.nodes: how many nodes the job has");
}

// Checks that a forwarder has room for one message while it writes another.
void check_forwarder(const YamlValue& top, const Config& config) {
  constexpr uint64_t least = 2 * kMostForwarded;
  if (config.forward.listen.empty() || config.memory.budget >= least || !top.trusts({"memory.budget"})) return;
  const auto memory = top.find("memory");
  const auto budget = memory ? memory->find("budget") : std::nullopt;
  if (budget) budget->wrong(fmt::format("at least {} for a forwarder (forward.listen)", size_text(least)));
}

void read_memory(const YamlValue& value, Config& config) {
  value.only({"budget", "when_full", "iterations", "prefault"});
  if (const auto budget = value.find("budget")) config.memory.budget = budget->size(least_budget);
  value.choose("when_full", {"block", "sync", "drop"}, config.memory.when_full);
  if (const auto iterations = value.find("iterations")) {
    config.memory.iterations = static_cast<uint32_t>(iterations->integer(1, config.memory.iterations));
  }
  if (const auto prefault = value.find("prefault")) {
    config.memory.prefault = prefault->flag();
    const bool shared = config.place.kind != PlaceKind::thread && prefault->trusts({"place"});
    if (shared && !config.memory.prefault) prefault->wrong("true where the place is not thread, as memory is shared");
  }
}

// Turns "out/" into "out": messages and file names append their own '/'.
std::string without_slashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

std::vector<std::string> read_directories(const YamlValue& value, std::string_view expected) {
  std::vector<std::string> directories;
  std::vector<YamlValue> values = {value};
  if (value.is_list()) values = value.items(expected);
  if (values.empty()) value.wrong(expected);
  if (values.size() > most_paths) {
    value.fault(fmt::format("{} directories", values.size()), fmt::format("at most {}", most_paths));
  }
  for (const YamlValue& item : values) {
    std::string path = without_slashes(item.text(expected));
    if (!item.is_right()) continue;
    if (std::find(directories.begin(), directories.end(), path) != directories.end())
      item.wrong("each directory once");
    directories.push_back(std::move(path));
  }
  return directories;
}

Throttle read_throttle(const YamlValue& value) {
  using Kind = Throttle::Kind;
  if (value.raw() == "none") return {Kind::none, 0};
  if (value.raw() == "auto") return {Kind::automatic, 0};
  return {Kind::rate, value.rate(least_rate, "none, auto")};
}

// The directories of `path` are then the devices of each file, and the first one is the place of all names.
void read_stripe(const YamlValue& value, StorageSettings& storage) {
  value.only({"unit"});
  if (const auto unit = value.find("unit")) {
    storage.stripes.unit = unit->size(least_stripe, most_stripe);
    if (storage.stripes.unit % least_stripe != 0) unit->wrong("a multiple of 4 KiB");
  }
  if (!value.trusts({"storage.path"})) return;
  const size_t devices = storage.paths.size();
  if (devices < 2) {
    const std::string found = devices == 0 ? "no storage.path" : "one directory in storage.path";
    value.fault_at_key(found, "a list of at least 2 directories there, over which each file is striped");
    return;
  }
  storage.stripes.directories = std::move(storage.paths);
  storage.paths = {storage.stripes.directories[0]};
}

uint64_t read_iterations_per_file(const YamlValue& value) {
  if (value.is_scalar() && value.raw() == "all") return 0;
  const std::optional<int64_t> number = value.maybe_integer();
  if (number && *number > 0) return static_cast<uint64_t>(*number);
  value.wrong("a number of 1 or more, or all");
  return 1;
}

void read_storage(const YamlValue& value, StorageSettings& storage) {
  value.only({"path", "files", "backend", "durability", "file_per", "iterations_per_file", "existing", "slots",
              "direct", "queue_depth", "throttle", "stripe"});
  if (const auto path = value.find("path")) {
    storage.paths = read_directories(*path, "a directory, or a list of directories (one a device)");
  }
  if (const auto files = value.find("files")) {
    storage.files = read_directories(*files, "a directory, or a list of directories");
  }
  value.choose("backend", {"auto", "uring", "posix", "memory"}, storage.backend);
  value.choose("durability", {"accepted", "written", "durable"}, storage.durability);
  value.choose("file_per", {"process", "node", "job"}, storage.file_per);
  if (const auto each = value.find("iterations_per_file")) {
    storage.iterations_per_file = read_iterations_per_file(*each);
  }
  value.choose("existing", {"refuse", "replace", "continue"}, storage.existing);
  if (const auto slots = value.find("slots")) storage.slots = slots->flag();
  if (const auto direct = value.find("direct")) storage.direct = direct->flag();
  if (const auto depth = value.find("queue_depth")) {
    storage.queue_depth = static_cast<uint32_t>(depth->integer(1, most_queue_depth));
  }
  if (const auto throttle = value.find("throttle")) storage.throttle = read_throttle(*throttle);
  if (const auto stripe = value.find("stripe")) read_stripe(*stripe, storage);
}

// Reads the names of the files of the plain format.
std::string read_file_template(const YamlValue& value, FilePer file_per) {
  constexpr std::string_view expected = "a file name with '{iteration}' in it once, at most 200 long, without '/'";
  std::string name = value.text(expected);
  const size_t at = name.find(kIterationField);
  const bool once = at != std::string::npos && name.find(kIterationField, at + 1) == std::string::npos;
  if (!once || name.size() > 200 || name.find('/') != std::string::npos || name.front() == '.') value.wrong(expected);
  if (file_per == FilePer::process && !has_client(name) && value.trusts({"storage"})) {
    value.wrong("a name with '{client}', as each client has its own file (storage.file_per)");
  }
  return name;
}

void read_format(const YamlValue& value, Config& config) {
  value.only({"kind", "file", "dimension_scales", "xdmf", "meshes"});
  const auto kind = value.find("kind");
  value.choose("kind", {"hdf5", "plain"}, config.format.kind);
  const bool plain = config.format.kind == FormatKind::plain;
  const auto scales = value.find("dimension_scales");
  if (scales) config.format.dimension_scales = scales->flag();
  if (kind && !kind->is_right()) return;
  if (scales && plain) scales->fault_at_key("this key with the kind plain", "no such key, or kind: hdf5");
  const auto file =
      plain ? value.require("file", "the names of the files, such as 'run_It{iteration}.h5'") : value.find("file");
  if (file && !plain) file->fault_at_key("this key with the kind hdf5", "no such key, or kind: plain");
  if (file && plain) config.format.file = read_file_template(*file, config.storage.file_per);
  read_xdmf(value, config);
}

// Returns the key if the kind of scheduler has it, and reports it if it has not: it would be taken for a setting.
std::optional<YamlValue> schedule_key(const YamlValue& value, const char* key, ScheduleKind kind,
                                      const std::vector<ScheduleKind>& kinds) {
  const auto found = value.find(key);
  if (!found || !value.trusts({"schedule.kind"})) return found;
  if (std::find(kinds.begin(), kinds.end(), kind) != kinds.end()) return found;
  std::vector<std::string_view> words;
  for (const ScheduleKind one : kinds) words.emplace_back(name_of(one));
  found->fault_at_key(fmt::format("a key that '{}' does not have", name_of(kind)),
                      fmt::format("{} with kind {} only", key, one_of(words)));
  return std::nullopt;
}

void read_schedule(const YamlValue& value, ScheduleSettings& schedule) {
  using Kind = ScheduleKind;
  value.only({"kind", "quantum", "batch", "window"});
  value.choose("kind", {"fifo", "hbrr", "twins", "adaptive"}, schedule.kind);
  if (const auto quantum = schedule_key(value, "quantum", schedule.kind, {Kind::hbrr})) {
    schedule.quantum = static_cast<uint32_t>(quantum->integer(1, most_batch));
  }
  if (const auto batch = schedule_key(value, "batch", schedule.kind, {Kind::hbrr, Kind::twins, Kind::adaptive})) {
    schedule.batch = static_cast<uint32_t>(batch->integer(1, most_batch));
  }
  if (const auto window = schedule_key(value, "window", schedule.kind, {Kind::twins})) {
    schedule.window = window->duration(least_window, most_window, "'8 ms' or '0.5 s'");
  }
}

bool is_time(const Unit& unit) { return unit.dimension == std::array<double, 7>{0, 0, 1, 0, 0, 0, 0}; }

void read_time(const YamlValue& value, const Parameters& parameters, Config& config) {
  value.only({"dt", "unit"});
  if (const auto dt = value.find("dt")) {
    int32_t source = kNoParameter;
    config.time.dt = read_number(*dt, parameters, "a number greater than 0", source);
    if (config.time.dt <= 0) dt->wrong("a number greater than 0");
  }
  if (const auto unit = value.find("unit")) config.time.unit = read_unit(*unit, is_time, "a unit of time, such as s");
}

void read_iterations(const YamlValue& value, Config& config) {
  value.only({"attributes"});
  if (const auto attributes = value.find("attributes")) {
    config.iteration_attributes = read_attributes(*attributes, AttributeOf::iteration);
  }
}

void read_log(const YamlValue& value, LogSettings& log) {
  value.only({"level", "file"});
  if (const auto level = value.find("level")) {
    const std::vector<std::string_view> levels = {"info", "warning", "error", "off"};
    log.level = levels[level->choice(levels)];
  }
  if (const auto file = value.find("file")) log.file = file->text("the name of a file");
}

void read_measurements(const YamlValue& value, MeasurementSettings& measurements) {
  value.only({"report", "trace", "trace_events"});
  if (const auto report = value.find("report")) measurements.report = report->flag();
  if (const auto trace = value.find("trace")) measurements.trace = trace->flag();
  if (const auto events = value.find("trace_events")) {
    measurements.trace_events = static_cast<uint64_t>(events->integer(1, most_trace_events));
  }
}

void read_top(const YamlValue& top, Parameters parameters, Config& config) {
  if (top.is_nothing()) return top.fault("an empty file", "a configuration, beginning with 'tailrace: 1'");
  if (!top.is_map()) return top.wrong("a mapping with the keys tailrace, name, layouts, variables and others");
  if (!read_version(top)) return;
  top.only({"tailrace",   "name",    "place",     "memory",    "storage",      "format",     "merge",
            "schedule",   "forward", "time",      "log",       "measurements", "attributes", "iterations",
            "parameters", "layouts", "variables", "particles", "actions",      "python",     "on_signal"});
  constexpr std::string_view name_rule = "a name for the files, of letters, digits, '_', '.' and '-'";
  if (const auto name = top.require("name", name_rule)) config.name = name->name(is_series_name, name_rule);
  if (const auto place = top.find("place")) read_place(*place, config.place);
  if (const auto memory = top.find("memory")) read_memory(*memory, config);
  if (const auto storage = top.find("storage")) read_storage(*storage, config.storage);
  if (const auto merge = top.find("merge")) read_merge(*merge, config.merge);
  if (const auto format = top.find("format")) read_format(*format, config);
  if (const auto schedule = top.find("schedule")) read_schedule(*schedule, config.schedule);
  if (const auto forward = top.find("forward")) read_forward(*forward, config.forward);
  if (const auto signal = top.find("on_signal")) config.drains_at_signals = signal->choice({"ignore", "drain"}) == 1;
  if (const auto log = top.find("log")) read_log(*log, config.log);
  if (const auto measurements = top.find("measurements")) read_measurements(*measurements, config.measurements);
  if (const auto values = top.find("parameters")) read_parameters(*values, parameters);
  for (const auto& [parameter, value] : parameters) config.parameters.push_back({parameter, value});
  if (const auto time = top.find("time")) read_time(*time, parameters, config);
  if (const auto attributes = top.find("attributes")) {
    config.attributes = read_attributes(*attributes, AttributeOf::file);
  }
  if (const auto iterations = top.find("iterations")) read_iterations(*iterations, config);
  if (const auto place = top.find("place")) read_node(*place, parameters, config);
  check_shared_files(top, config);
  check_file_per_job(top, config);
  check_iterations_per_file(top, config);
  check_slots(top, config);
  check_forwarder(top, config);
  // Programs that write only raw files need neither.
  if (const auto layouts = top.find("layouts")) read_layouts(*layouts, parameters, config);
  if (const auto variables = top.find("variables")) read_variables(*variables, config);
  if (const auto format = top.find("format")) read_meshes(*format, config);
  const auto particles = top.find("particles");
  if (particles && config.format.kind == FormatKind::plain) {
    particles->fault_at_key("particles in the format plain", "none, or format.kind: hdf5");
  }
  if (particles) read_particles(*particles, config);
  if (const auto actions = top.find("actions")) read_actions(*actions, config);
  if (const auto python = top.find("python")) read_python(*python, config);
  check_nodes_share_files(top, config);
  check_sync(top, config);
}

void check_flush(const YamlValue& top, const Config& config) {
  if (config.storage.durability != Durability::accepted) return;
  top.find("storage")->find("durability")->wrong("written or durable", "the program relies on flush to wait");
}

// Reads the parameters that the program gave beside the file.
Result<Parameters> program_parameters(const ConfigInput& input) {
  Parameters parameters;
  for (const auto& [name, value] : input.parameters) {
    if (!value.is_finite()) {
      return Status(TAILRACE_INVALID_ARGUMENT,
                    fmt::format("the program's parameter '{}': found {}, expected a finite "
                                "number",
                                name, text_of(value)));
    }
    if (is_identifier(name)) {
      parameters[name] = value;
      continue;
    }
    return Status(TAILRACE_INVALID_ARGUMENT, fmt::format("the program's parameter {}: found this name, expected {}",
                                                         in_quotes(name), identifier_rule));
  }
  parameters.emplace(kClientParameter, static_cast<int64_t>(input.client));
  return parameters;
}

Config defaults(const std::string& file) {
  Config config;
  config.source = file;
  config.actions = default_actions();
  config.time.unit = Unit{"s", 1.0, {0, 0, 1, 0, 0, 0, 0}};
  return config;
}

}  // namespace

// Reads one byte beyond the limit, so that parse_yaml detects a file that is too long.
Result<std::string> read_config_text(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return Status::of_errno("open", path, errno);
  constexpr size_t usual = size_t{64} << 10;
  std::string text(usual, '\0');
  size_t length = 0;
  int error = 0;
  while (length <= yaml_most_bytes) {
    if (length == text.size()) text.resize(std::min(2 * length, yaml_most_bytes + 1));
    const ssize_t count = ::read(fd, text.data() + length, text.size() - length);
    if (count == 0) break;
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) error = errno;
    if (count < 0) break;
    length += static_cast<size_t>(count);
  }
  ::close(fd);
  if (error != 0) return Status::of_errno("read", path, error);
  text.resize(length);
  return text;
}

Result<Config> read_config(const ConfigInput& input, std::vector<Mistake>* mistakes) {
  const std::string file = input.file.empty() ? "(configuration)" : input.file;
  Result<Parameters> parameters = program_parameters(input);
  if (!parameters.ok()) return parameters.status();
  if (input.path_override && input.path_override->empty()) {
    return Status(TAILRACE_INVALID_ARGUMENT, "the program's output path: found an empty one, expected a directory");
  }
  Result<std::string> text = input.text ? Result<std::string>(*input.text) : read_config_text(input.file);
  if (!text.ok()) return text.status();

  YamlReport report(file);
  Config config = defaults(file);
  if (const std::optional<YamlNode> root = parse_yaml(text.value(), report)) {
    const YamlValue top(*root, "", report);
    read_top(top, std::move(parameters).value(), config);
    if (input.flush_waits) check_flush(top, config);
  }
  if (mistakes != nullptr) *mistakes = report.mistakes();
  if (!report.ok()) return report.status();

  if (input.path_override && config.storage.stripes.on()) {
    return Status(TAILRACE_INVALID_CONFIG,
                  "storage.stripe: found one directory, the program's output path, expected "
                  "storage.path to give all directories of the files");
  }
  if (input.path_override) config.storage.paths = {without_slashes(*input.path_override)};
  if (input.files_override) config.storage.files = {without_slashes(*input.files_override)};
  if (config.storage.paths.empty()) config.storage.paths = {"."};
  config.program_python = input.program_python;
  return config;
}

}  // namespace tailrace::impl
