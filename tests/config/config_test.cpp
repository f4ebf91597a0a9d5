// Reading of configurations: right files field by field, wrong files message by message.
//
// The first line of each file in wrong/ has the expected error:
//   # expect: line=5 column=3 key=storage.durability message=did you mean
// The column may be left out; the message is a part of the text after the key. Files in several/ have the expected
// errors in comments behind the lines: "# mistake KEY: TEXT".
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/names/name_index.hpp"
#include "config/config_yaml.hpp"

namespace tailrace::impl {
namespace {

using Extents = std::vector<uint64_t>;
using Powers = std::array<double, 7>;

std::string right(const std::string& name) { return std::string(TEST_FOLDER "/right/") + name; }

Result<Config> read_text(const std::string& text) {
  ConfigInput input;
  input.file = "given.yaml";
  input.text = text;
  return read_config(input);
}

Result<Config> read_path(const std::string& path) {
  ConfigInput input;
  input.file = path;
  return read_config(input);
}

// The smallest configuration with `section` in it.
Result<Config> read_with(const std::string& section) {
  return read_text("tailrace: 1\nname: a\n" + section +
                   "\nlayouts:\n  l: {type: int8, shape: [4]}\nvariables:\n  v: {layout: l}\n");
}

std::string message_of(const Result<Config>& result) { return result.ok() ? "" : result.status().fault().message; }

TEST(right, a_file_for_the_whole_job) {
  const auto result = read_path(right("file_per_job.yaml"));
  ASSERT_TRUE(result.ok()) << message_of(result);
  EXPECT_EQ(result.value().storage.file_per, FilePer::job);
  EXPECT_TRUE(result.value().storage.shares_files());
  EXPECT_EQ(series_of(result.value(), 3), "cm1_c");
}

TEST(right, design_example) {
  const auto result = read_path(right("design.yaml"));
  ASSERT_TRUE(result.ok()) << message_of(result);
  const Config& config = result.value();
  EXPECT_EQ(config.source, right("design.yaml"));
  EXPECT_EQ(config.name, "cm1");
  EXPECT_EQ(config.place.kind, PlaceKind::thread);
  EXPECT_EQ(config.place.choice, CpuChoice::automatic);
  EXPECT_EQ(config.memory.budget, uint64_t{1} << 30);
  EXPECT_EQ(config.memory.when_full, WhenFull::block);
  EXPECT_EQ(config.storage.paths, std::vector<std::string>{"out"});
  EXPECT_EQ(config.storage.backend, Backend::automatic);
  EXPECT_EQ(config.storage.durability, Durability::written);
  EXPECT_EQ(config.storage.file_per, FilePer::process);
  EXPECT_EQ(config.time.dt, 6.0);
  EXPECT_EQ(config.time.unit.symbol, "s");
  EXPECT_EQ(config.log.level, "info");
  EXPECT_EQ(config.log.file, "cm1.log");
  ASSERT_EQ(config.layouts.size(), 1u);
  const Layout& layout = config.layouts[0];
  EXPECT_EQ(layout.name, "volume");
  EXPECT_EQ(layout.type, ElementType::float32);
  EXPECT_EQ(layout.shape, (Extents{200, 44, 44}));
  EXPECT_EQ(layout.global_shape, (Extents{200, 176, 88}));
  EXPECT_EQ(layout.offset, (Extents{0, 132, 44}));
  EXPECT_EQ(layout.axes, (std::vector<std::string>{"z", "y", "x"}));
  EXPECT_EQ(layout.bytes(), 4u * 200 * 44 * 44);
  ASSERT_EQ(config.variables.size(), 1u);
  EXPECT_EQ(config.variables[0].name, "temperature");
  EXPECT_EQ(config.variables[0].unit.symbol, "K");
  EXPECT_EQ(config.variables[0].unit.dimension, (Powers{0, 0, 0, 0, 1, 0, 0}));
}

TEST(right, stripes) {
  const auto result = read_path(right("stripes.yaml"));
  ASSERT_TRUE(result.ok()) << message_of(result);
  const Stripes& stripes = result.value().storage.stripes;
  EXPECT_TRUE(stripes.on());
  EXPECT_EQ(stripes.directories, (std::vector<std::string>{"/nvme0/out", "/nvme1/out"}));
  EXPECT_EQ(stripes.unit, uint64_t{256} << 10);
  EXPECT_EQ(result.value().storage.paths, std::vector<std::string>{"/nvme0/out"}) << "that of the names";

  const auto by_default = read_with("storage: {stripe: {}, path: [a, b]}");
  ASSERT_TRUE(by_default.ok()) << message_of(by_default);
  EXPECT_EQ(by_default.value().storage.stripes.unit, uint64_t{1} << 20);
  EXPECT_FALSE(read_with("storage: {path: [a, b]}").value().storage.stripes.on());

  ConfigInput input;
  input.file = right("stripes.yaml");
  input.path_override = "elsewhere";
  EXPECT_NE(message_of(read_config(input)).find("storage.stripe: found one directory"), std::string::npos);
}

TEST(right, defaults) {
  const auto result = read_path(right("least.yaml"));
  ASSERT_TRUE(result.ok()) << message_of(result);
  const Config& config = result.value();
  EXPECT_EQ(config.place.kind, PlaceKind::thread);
  EXPECT_EQ(config.place.choice, CpuChoice::automatic);
  EXPECT_TRUE(config.place.cpus.empty());
  EXPECT_EQ(config.place.cores, 1);
  EXPECT_EQ(config.place.nodes, 1);
  EXPECT_EQ(config.place.server, "");
  EXPECT_EQ(config.place.on_server_loss, OnServerLoss::restart);
  EXPECT_EQ(config.memory.budget, uint64_t{256} << 20);
  EXPECT_EQ(config.memory.when_full, WhenFull::block);
  EXPECT_EQ(config.storage.paths, std::vector<std::string>{"."});
  EXPECT_EQ(config.storage.backend, Backend::automatic);
  EXPECT_EQ(config.storage.durability, Durability::written);
  EXPECT_FALSE(config.storage.slots);
  EXPECT_TRUE(config.storage.direct);
  EXPECT_EQ(config.storage.queue_depth, 8u);
  EXPECT_FALSE(config.storage.throttle.on());
  EXPECT_FALSE(config.forward.on());
  EXPECT_EQ(config.schedule.kind, ScheduleKind::fifo);
  EXPECT_EQ(config.schedule.quantum, 8u);
  EXPECT_EQ(config.schedule.batch, 16u);
  EXPECT_EQ(config.schedule.window, std::chrono::milliseconds(8));
  EXPECT_TRUE(config.merge.enabled);
  EXPECT_TRUE(config.merge.overwrite);
  EXPECT_EQ(config.merge.delay, 0.1);
  EXPECT_EQ(config.merge.sieve, uint64_t{8} << 10);
  EXPECT_EQ(config.merge.waste, 0.5);
  EXPECT_FALSE(config.merge.by_count);
  EXPECT_EQ(config.merge.read_after, ReadAfter::submitted);
  EXPECT_EQ(config.merge.visibility, Visibility::written);
  EXPECT_EQ(config.time.dt, 1.0);
  EXPECT_EQ(config.time.unit.dimension, (Powers{0, 0, 1, 0, 0, 0, 0}));
  EXPECT_EQ(config.log.level, "warning");
  EXPECT_EQ(config.log.file, "");
  EXPECT_FALSE(config.measurements.report);
  EXPECT_FALSE(config.measurements.trace);
  EXPECT_EQ(config.measurements.trace_events, 100'000u);
  const Layout& layout = config.layouts.at(0);
  EXPECT_EQ(layout.type, ElementType::float64);
  EXPECT_EQ(layout.global_shape, Extents{7});
  EXPECT_EQ(layout.offset, Extents{0});
  EXPECT_EQ(layout.axes, std::vector<std::string>{"x"});
  EXPECT_EQ(layout.spacing, std::vector<double>{1.0});
  EXPECT_EQ(layout.origin, std::vector<double>{0.0});
  EXPECT_EQ(layout.grid_unit.symbol, "m");
  EXPECT_EQ(layout.grid_unit.dimension, (Powers{1, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(config.variables.at(0).unit.symbol, "1");
  EXPECT_EQ(config.variables.at(0).unit.factor, 1.0);
  EXPECT_EQ(config.variables.at(0).description, "");
}

TEST(right, place_core) {
  const auto result = read_path(right("core.yaml"));
  ASSERT_TRUE(result.ok()) << message_of(result);
  const auto& place = result.value().place;
  EXPECT_EQ(place.kind, PlaceKind::core);
  EXPECT_EQ(place.choice, CpuChoice::none);
  EXPECT_EQ(place.cores, 2);
  EXPECT_EQ(place.clients, 24);
  EXPECT_EQ(place.node, 7);
  EXPECT_EQ(place.nodes, 8);
  EXPECT_TRUE(result.value().storage.slots);
  EXPECT_EQ(place.server, "/opt/bin/tailrace-core");
  EXPECT_EQ(place.on_server_loss, OnServerLoss::fail);
  const auto sync = read_with("place: {kind: core, on_server_loss: sync}");
  ASSERT_TRUE(sync.ok()) << sync.status().fault().message;
  EXPECT_EQ(sync.value().place.on_server_loss, OnServerLoss::sync);
  EXPECT_EQ(place.patience, 2.5);
}

TEST(right, the_program_may_know_the_clients_of_a_node) {
  ConfigInput input;
  input.file = right("core.yaml");
  input.parameters = {{"local_size", 3}};
  const auto result = read_config(input);
  ASSERT_TRUE(result.ok()) << message_of(result);
  EXPECT_EQ(result.value().place.clients, 3);
}

TEST(right, the_program_may_know_the_nodes) {
  ConfigInput input;
  input.text =
      "tailrace: 1\nname: sim\nplace: {kind: core, node: node, nodes: nodes}\nstorage: {slots: true}\n"
      "layouts: {field: {type: float64, shape: [7]}}\nvariables: {a: {layout: field}}\n";
  input.parameters = {{"node", 4}, {"nodes", 5}};
  const auto result = read_config(input);
  ASSERT_TRUE(result.ok()) << message_of(result);
  EXPECT_EQ(result.value().place.nodes, 5);
}

TEST(right, keys_of_place_core_may_stand_in_place_thread) {
  const auto result = read_with("place: {kind: thread, cores: 2, nodes: 3, on_server_loss: fail}");
  ASSERT_TRUE(result.ok()) << message_of(result);
  EXPECT_EQ(result.value().place.kind, PlaceKind::thread);
}

TEST(right, every_key) {
  ConfigInput input;
  input.file = right("full.yaml");
  input.client = 5;
  const auto result = read_config(input);
  ASSERT_TRUE(result.ok()) << message_of(result);
  const Config& config = result.value();
  EXPECT_EQ(config.name, "tsunami.run-2_b");
  EXPECT_EQ(config.place.choice, CpuChoice::list);
  EXPECT_EQ(config.place.cpus, (std::vector<int>{1, 3}));
  EXPECT_EQ(config.memory.budget, uint64_t{1536} << 20);
  EXPECT_EQ(config.memory.when_full, WhenFull::drop);
  EXPECT_EQ(config.storage.paths, (std::vector<std::string>{"/nvme0/out", "/nvme1/out"}));
  EXPECT_EQ(config.storage.backend, Backend::posix);
  EXPECT_EQ(config.storage.durability, Durability::durable);
  EXPECT_FALSE(config.storage.direct);
  EXPECT_EQ(config.storage.queue_depth, 32u);
  EXPECT_EQ(config.storage.throttle.kind, Throttle::Kind::rate);
  EXPECT_EQ(config.storage.throttle.rate, uint64_t{800} << 20);
  EXPECT_EQ(config.forward.servers, (std::vector<std::string>{"io1:4711", "[fe80::1]:4712"}));
  EXPECT_EQ(config.forward.keys, (std::vector<std::string>{"~/.config/tailrace/key", "/etc/tailrace/old"}));
  EXPECT_EQ(config.forward.on_loss, OnForwarderLoss::direct);
  EXPECT_TRUE(config.forward.spread);
  EXPECT_EQ(config.forward.confirm, Confirm::durable);
  EXPECT_FALSE(config.forward.ucx);
  EXPECT_EQ(config.forward.listen, "0.0.0.0:0");
  EXPECT_EQ(config.forward.roots, (std::vector<std::string>{"/scratch", "/work"}));
  EXPECT_EQ(std::pair(config.forward.number, config.forward.connections), std::pair(3u, 4u));
  EXPECT_EQ(config.forward.strangers.most, 1000u);
  EXPECT_EQ(config.forward.strangers.of_one_address, 500u);
  EXPECT_EQ(config.forward.strangers.time, std::chrono::seconds(2));
  EXPECT_FALSE(config.merge.enabled);
  EXPECT_FALSE(config.merge.overwrite);
  EXPECT_EQ(config.merge.largest, uint64_t{1} << 20);
  EXPECT_EQ(config.merge.alignment, uint64_t{64} << 10);
  EXPECT_EQ(config.merge.count, 100u);
  EXPECT_EQ(config.merge.bytes, uint64_t{2} << 20);
  EXPECT_EQ(config.merge.delay, 0.002);
  EXPECT_EQ(config.merge.sieve, 1000u);
  EXPECT_EQ(config.merge.waste, 0.25);
  EXPECT_TRUE(config.merge.by_count);
  EXPECT_EQ(config.merge.read_after, ReadAfter::written);
  EXPECT_EQ(config.merge.visibility, Visibility::pending);
  EXPECT_EQ(config.schedule.kind, ScheduleKind::twins);
  EXPECT_EQ(config.schedule.batch, 32u);
  EXPECT_EQ(config.schedule.window, std::chrono::microseconds(2500));
  EXPECT_EQ(config.time.dt, 2.5);
  EXPECT_EQ(config.time.unit.factor, 60.0);
  EXPECT_EQ(config.log.level, "error");
  EXPECT_TRUE(config.measurements.report);
  EXPECT_TRUE(config.measurements.trace);
  EXPECT_EQ(config.measurements.trace_events, 5000u);
  ASSERT_EQ(config.layouts.size(), 3u);
  const Layout& surface = config.layouts[0];
  EXPECT_EQ(surface.type, ElementType::float32);
  EXPECT_EQ(surface.global_shape, (Extents{40, 30}));
  EXPECT_EQ(surface.offset, (Extents{20, 20}));
  EXPECT_EQ(surface.axes, (std::vector<std::string>{"lat", "lon"}));
  EXPECT_EQ(surface.spacing, (std::vector<double>{0.25, -0.5}));
  EXPECT_EQ(surface.origin, (std::vector<double>{-30, 280.5}));
  EXPECT_EQ(surface.grid_unit.symbol, "deg");
  EXPECT_EQ(config.layouts[1].axes, (std::vector<std::string>{"w", "z", "y", "x"}));
  EXPECT_EQ(config.layouts[1].bytes(), 120u);
  EXPECT_EQ(config.layouts[2].offset, (Extents{5, 0}));
  EXPECT_EQ(config.find_variable("counts"), 3);
  EXPECT_EQ(config.layout_of(config.variables[3]).name, "per_client");
  EXPECT_EQ(config.variables[0].description, "sea surface above rest");
  EXPECT_EQ(config.variables[0].unit.factor, 0.01);
  EXPECT_EQ(config.variables[1].unit.dimension, (Powers{2, 0, -1, 0, 0, 0, 0}));
}

TEST(right, schedulers) {
  const auto hbrr = read_path(right("hbrr.yaml"));
  ASSERT_TRUE(hbrr.ok()) << message_of(hbrr);
  EXPECT_EQ(hbrr.value().schedule.kind, ScheduleKind::hbrr);
  EXPECT_EQ(hbrr.value().schedule.quantum, 4u);
  EXPECT_EQ(hbrr.value().schedule.batch, 64u);
  const auto adaptive = read_with("schedule: {batch: 1, kind: adaptive}");
  ASSERT_TRUE(adaptive.ok()) << message_of(adaptive);
  EXPECT_EQ(adaptive.value().schedule.kind, ScheduleKind::adaptive);
  EXPECT_EQ(adaptive.value().schedule.batch, 1u);
}

TEST(right, times) {
  const std::pair<const char*, int64_t> cases[] = {
      {"10 us", 10'000},         {"0.125 ms", 125'000},    {"8ms", 8'000'000},
      {"\"2.5 ms\"", 2'500'000}, {"10000 ns", 10'000},     {"0.3 s", 300'000'000},
      {"1e-3 s", 1'000'000},     {"10 s", 10'000'000'000}, {"0.1 min", 6'000'000'000},
  };
  for (const auto& [text, nanoseconds] : cases) {
    const auto result = read_with(std::string("schedule: {kind: twins, window: ") + text + "}");
    ASSERT_TRUE(result.ok()) << message_of(result);
    EXPECT_EQ(result.value().schedule.window, Nanoseconds(nanoseconds)) << text;
  }
}

TEST(right, times_are_seconds_or_have_a_unit) {
  const std::pair<const char*, double> cases[] = {{"2", 2.0},     {"0.25", 0.25},    {"2 s", 2.0},
                                                  {"500ms", 0.5}, {"0.5 min", 30.0}, {"\"20 ms\"", 0.02},
                                                  {"1e1 s", 10.0}};
  for (const auto& [text, seconds] : cases) {
    const auto result = read_with(std::string("place: {patience: ") + text + "}\nmerge: {delay: " + text + "}");
    ASSERT_TRUE(result.ok()) << message_of(result);
    EXPECT_EQ(result.value().place.patience, seconds) << text;
    EXPECT_EQ(result.value().merge.delay, seconds) << text;
  }
}

TEST(right, where_shapes_come_from) {
  const auto read = read_text(
      "tailrace: 1\nname: run\nparameters: {n: 0, total: 7}\nlayouts:\n"
      "  list: {type: int8, shape: [n, 2], global: [total, 2], offset: [total, 0]}\n  own: {type: int8, shape: [2, "
      "n]}\n"
      "variables:\n  a: {layout: list}\n  b: {layout: own, enabled: false}\n");
  ASSERT_TRUE(read.ok()) << message_of(read);
  const Config& config = read.value();
  ASSERT_EQ(config.parameters.size(), 3u);
  EXPECT_EQ(config.parameters[0].name, "client");
  EXPECT_EQ(config.find_parameter("n"), 1);
  EXPECT_EQ(config.find_parameter("total"), 2);
  EXPECT_EQ(config.find_parameter("m"), -1);
  EXPECT_EQ(config.parameters[2].value, 7);
  using Sources = std::vector<int32_t>;
  const Layout& list = config.layouts[0];
  EXPECT_EQ(list.sources.shape, (Sources{1, kNoParameter}));
  EXPECT_EQ(list.sources.global_shape, (Sources{2, kNoParameter}));
  EXPECT_EQ(list.sources.offset, (Sources{2, kNoParameter}));
  EXPECT_EQ(config.layouts[1].sources.global_shape, (Sources{kNoParameter, 1}))
      << "the shape, as nothing else is said";
  EXPECT_TRUE(config.layouts[1].empty());
  EXPECT_TRUE(config.variables[0].enabled);
  EXPECT_FALSE(config.variables[1].enabled);
}

TEST(right, compression) {
  const auto full = read_path(right("full.yaml"));
  ASSERT_TRUE(full.ok()) << message_of(full);
  const std::vector<Variable>& variables = full.value().variables;
  EXPECT_FALSE(variables[0].filtered());
  const Compression& flux = variables[1].compress;
  EXPECT_FALSE(flux.adaptive);
  EXPECT_EQ(flux.filter, Compressor::deflate);
  EXPECT_EQ(flux.level, 4);
  EXPECT_FALSE(flux.shuffle);
  EXPECT_EQ(flux.chunk, uint64_t{256} << 10);
  const Compression& frames = variables[2].compress;
  EXPECT_TRUE(frames.adaptive);
  EXPECT_EQ(frames.filter, Compressor::zstd);
  EXPECT_EQ(frames.level, 3);
  EXPECT_TRUE(frames.shuffle);
  EXPECT_EQ(frames.chunk, uint64_t{1} << 20);
  EXPECT_EQ(variables[2].precision, Precision::full);
  EXPECT_TRUE(variables[2].filtered());
  EXPECT_TRUE(std::isnan(variables[0].fill_value->real()));
  EXPECT_FALSE(variables[1].fill_value);
  EXPECT_EQ(variables[2].fill_value, Number(255));
  const auto design = read_path(right("design.yaml"));
  ASSERT_TRUE(design.ok()) << message_of(design);
  EXPECT_EQ(design.value().variables[0].precision, Precision::float16);
  EXPECT_EQ(design.value().variables[0].compress.filter, Compressor::zstd);
}

TEST(right, actions) {
  const auto result = read_path(right("actions.yaml"));
  ASSERT_TRUE(result.ok()) << message_of(result);
  const Config& config = result.value();
  ASSERT_EQ(config.actions.size(), 5u);
  const std::vector<Action>& actions = config.actions;
  EXPECT_EQ(actions[0].event, kEndIteration);
  EXPECT_EQ(actions[0].run, Action::Run::store);
  EXPECT_EQ(actions[1].run, Action::Run::statistics);
  EXPECT_EQ(actions[1].scope, Action::Scope::client);
  EXPECT_EQ(actions[1].limit, kDefaultActionLimit);
  EXPECT_EQ(actions[1].variables, (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(actions[2].event, "storm");
  EXPECT_EQ(actions[2].run, Action::Run::python);
  EXPECT_EQ(actions[2].file, right("track.py"));
  EXPECT_EQ(actions[2].function, "locate");
  EXPECT_EQ(actions[2].scope, Action::Scope::node);
  EXPECT_EQ(actions[2].limit, std::chrono::seconds(5));
  EXPECT_TRUE(actions[2].variables.empty());
  EXPECT_EQ(actions[2].text, "python:track.py:locate");
  EXPECT_EQ(actions[3].run, Action::Run::library);
  EXPECT_EQ(actions[3].file, "/opt/lib:64/libtrack.so");
  EXPECT_EQ(actions[3].limit, std::chrono::seconds(90));
  EXPECT_EQ(actions[3].variables, std::vector<uint32_t>{1});
  EXPECT_EQ(actions[4].run, Action::Run::drop);
  EXPECT_EQ(config.variables[0].keep, 3u);
  EXPECT_EQ(config.variables[1].keep, 0u);
  EXPECT_EQ(config.python_environment, TEST_FOLDER "/venv");
}

TEST(right, without_actions_iterations_are_stored) {
  const auto result = read_path(right("least.yaml"));
  ASSERT_TRUE(result.ok()) << message_of(result);
  ASSERT_EQ(result.value().actions.size(), 1u);
  EXPECT_EQ(result.value().actions[0].event, kEndIteration);
  EXPECT_EQ(result.value().actions[0].run, Action::Run::store);
}

TEST(right, the_example_of_the_documentation) {
  std::ifstream file(TEST_FOLDER "/../../docs/formats/configuration.md");
  std::ostringstream page;
  page << file.rdbuf();
  const std::string text = page.str();
  const size_t fence = text.find("```yaml\n");
  ASSERT_NE(fence, std::string::npos);
  const size_t begin = fence + 8;
  const auto result = read_text(text.substr(begin, text.find("```", begin) - begin));
  ASSERT_TRUE(result.ok()) << message_of(result);
  EXPECT_EQ(result.value().variables.size(), 3u);
}

TEST(right, every_element_type) {
  for (int i = 0; i <= static_cast<int>(ElementType::long_double); ++i) {
    const auto type = static_cast<ElementType>(i);
    const auto result = read_text(std::string("tailrace: 1\nname: a\nlayouts:\n  l: {type: ") + name_of(type) +
                                  ", shape: [4]}\nvariables:\n  v: {layout: l}\n");
    ASSERT_TRUE(result.ok()) << message_of(result);
    EXPECT_EQ(result.value().layouts[0].type, type);
  }
}

TEST(right, sizes) {
  const std::pair<const char*, uint64_t> cases[] = {
      {"1048576", 1048576},         {"1048576 B", 1048576},
      {"1024KiB", 1048576},         {"1 MiB", 1048576},
      {"\"2 MiB\"", 2097152},       {"2.5 MiB", 2621440},
      {"2000 kB", 2000000},         {"3 MB", 3000000},
      {"1 GB", 1000000000},         {"1 TB", 1000000000000},
      {"1 TiB", uint64_t{1} << 40}, {"1048576 TiB", uint64_t{1} << 60},
  };
  for (const auto& [text, bytes] : cases) {
    const auto result = read_with(std::string("memory: {budget: ") + text + "}");
    ASSERT_TRUE(result.ok()) << message_of(result);
    EXPECT_EQ(result.value().memory.budget, bytes) << text;
  }
}

// As many as a striped file has objects (kMostObjects), and one more.
TEST(right, so_many_directories) {
  std::string list;
  for (int i = 0; i < 64; ++i) list += (i == 0 ? "d" : ", d") + std::to_string(i);
  const auto most = read_with("storage: {stripe: {unit: 1 MiB}, path: [" + list + "]}");
  ASSERT_TRUE(most.ok()) << message_of(most);
  EXPECT_EQ(most.value().storage.stripes.directories.size(), 64u);
  const auto more = read_with("storage: {stripe: {unit: 1 MiB}, path: [" + list + ", e]}");
  EXPECT_NE(message_of(more).find("storage.path: found 65 directories, expected at most 64"), std::string::npos)
      << message_of(more);
}

TEST(right, aliases_are_put_in) {
  const auto result = read_text(
      "tailrace: 1\nname: a\nlayouts:\n  l: &grid {type: int8, shape: [4]}\n  m: *grid\nvariables:\n  v: {layout: "
      "m}\n");
  ASSERT_TRUE(result.ok()) << message_of(result);
  EXPECT_EQ(result.value().layouts.at(1).name, "m");
  EXPECT_EQ(result.value().layouts.at(1).shape, Extents{4});
}

TEST(program, its_path_replaces_all_paths) {
  ConfigInput input;
  input.file = right("full.yaml");
  input.path_override = "elsewhere/";
  const auto result = read_config(input);
  ASSERT_TRUE(result.ok()) << message_of(result);
  EXPECT_EQ(result.value().storage.paths, std::vector<std::string>{"elsewhere"});
}

TEST(program, its_directory_of_raw_files_replaces_the_given_one) {
  ConfigInput input;
  input.file = "given.yaml";
  input.text = "tailrace: 1\nname: a\nstorage: {path: out, files: elsewhere/}\n";
  const auto given = read_config(input);
  ASSERT_TRUE(given.ok()) << message_of(given);
  EXPECT_EQ(given.value().storage.file_path("a/b"), "elsewhere/a/b");
  input.files_override = "/";
  const auto replaced = read_config(input);
  ASSERT_TRUE(replaced.ok()) << message_of(replaced);
  EXPECT_EQ(replaced.value().storage.file_path("a/b"), "/a/b");
  input.files_override.reset();
  input.text = "tailrace: 1\nname: a\nstorage: {path: out, files: [/first, /second]}\n";
  const auto several = read_config(input);
  ASSERT_TRUE(several.ok()) << message_of(several);
  EXPECT_EQ(several.value().storage.file_path("a/b"), "/first/a/b");
  EXPECT_EQ(several.value().storage.file_path("/second/a"), "/second/a");
  input.text = "tailrace: 1\nname: a\nstorage: {path: out}\n";
  const auto none = read_config(input);
  ASSERT_TRUE(none.ok()) << message_of(none);
  EXPECT_EQ(none.value().storage.file_path("a/b"), "out/a/b");
}

TEST(program, may_rely_on_flush_to_wait) {
  ConfigInput input;
  input.file = "given.yaml";
  input.text = "tailrace: 1\nname: a\nstorage: {path: out, durability: accepted}\n";
  EXPECT_TRUE(read_config(input).ok());
  input.flush_waits = true;
  EXPECT_EQ(
      message_of(read_config(input)),
      "given.yaml:3:34: storage.durability: found 'accepted', expected written or durable; the program relies on "
      "flush to wait");
  for (const std::string other : {"storage: {durability: written}", "storage: {durability: durable}", "log: {}"}) {
    input.text = "tailrace: 1\nname: a\n" + other + "\n";
    const auto result = read_config(input);
    EXPECT_TRUE(result.ok()) << message_of(result);
  }
}

TEST(program, its_parameters_replace_and_add) {
  ConfigInput input;
  input.file = "given.yaml";
  input.text =
      "tailrace: 1\nname: a\nparameters: {nx: 4}\nlayouts:\n  l: {type: int8, shape: [nx, ny]}\nvariables:\n"
      "  v: {layout: l}\n";
  input.parameters = {{"nx", 6}, {"ny", 7}};
  const auto result = read_config(input);
  ASSERT_TRUE(result.ok()) << message_of(result);
  EXPECT_EQ(result.value().layouts.at(0).shape, (Extents{6, 7}));
}

TEST(program, its_mistakes_are_invalid_arguments) {
  ConfigInput input;
  input.file = right("least.yaml");
  input.parameters = {{"n x", 6}};
  EXPECT_EQ(read_config(input).status().code(), TAILRACE_INVALID_ARGUMENT);
  input.parameters.clear();
  input.path_override = "";
  EXPECT_EQ(read_config(input).status().code(), TAILRACE_INVALID_ARGUMENT);
}

TEST(file, that_is_not_there) {
  const auto result = read_path(right("missing.yaml"));
  ASSERT_FALSE(result.ok());
  const Status status = result.status();
  EXPECT_EQ(status.code(), TAILRACE_IO_ERROR);
  EXPECT_EQ(status.fault().system_errno, ENOENT);
  EXPECT_EQ(status.fault().file, right("missing.yaml"));
}

TEST(file, that_is_a_directory) {
  const auto result = read_path(TEST_FOLDER);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status().code(), TAILRACE_IO_ERROR);
  EXPECT_EQ(result.status().fault().system_errno, EISDIR);
}

TEST(file, that_is_too_long) {
  const auto result = read_with("# " + std::string(size_t{16} << 20, 'x'));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status().code(), TAILRACE_INVALID_CONFIG);
  EXPECT_NE(message_of(result).find("at most 16777216 bytes"), std::string::npos) << message_of(result);
}

TEST(file, that_is_nothing_but_brackets) {
  // yaml-cpp recurses for each bracket; it must stop before the stack overflows.
  for (const char* bracket : {"[", "{", "- ", "? ", "[{", "&a "}) {
    std::string text;
    while (text.size() < 200'000) text += bracket;
    const auto result = read_text(text);
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.status().code(), TAILRACE_INVALID_CONFIG);
  }
}

// A configuration of so many variables, each with a layout of its own.
std::string with_variables(int count) {
  std::string layouts;
  std::string variables;
  for (int i = 0; i < count; ++i) {
    const std::string number = std::to_string(i);
    layouts += "  l" + number + ": {type: int8, shape: [4]}\n";
    variables += "  v" + number + ": {layout: l" + number + ", unit: K}\n";
  }
  return "tailrace: 1\nname: a\nlayouts:\n" + layouts + "variables:\n" + variables;
}

TEST(many, variables_and_layouts) {
  constexpr int count = 50'000;
  const auto result = read_text(with_variables(count));
  ASSERT_TRUE(result.ok()) << message_of(result);
  const Config& config = result.value();
  ASSERT_EQ(config.variables.size(), size_t{count});
  const NameIndex index(config.variables);
  for (int i = 0; i < count; i += 999) {
    const std::string number = std::to_string(i);
    const std::optional<uint32_t> found = index.find("v" + number);
    ASSERT_TRUE(found);
    EXPECT_EQ(config.layout_of(config.variables[*found]).name, "l" + number);
  }
  EXPECT_FALSE(index.find("v"));
}

// The message lists declared names, but not all of so many.
TEST(many, words_are_not_all_told) {
  std::string text = with_variables(1000);
  const auto result = read_text(text.replace(text.find("v17: {layout: l17"), 17, "v17: {layout: nil"));
  EXPECT_FALSE(result.ok());
  EXPECT_LT(message_of(result).size(), 1000u) << message_of(result);
  EXPECT_NE(message_of(result).find("or one of 968 more"), std::string::npos) << message_of(result);
}

// ---- wrong files

// The parts of a message.
struct Told {
  std::string line, column, key, rest;
};

// The text between `from` and `to`; everything after `from` if `to` is empty. Empty if they are not there.
std::string between(const std::string& text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  if (at == std::string::npos) return {};
  const size_t begin = at + from.size();
  const size_t end = to.empty() ? text.size() : text.find(to, begin);
  return end == std::string::npos ? "" : text.substr(begin, end - begin);
}

// "# expect: line=5 column=3 key=storage.durability message=did you mean"
Told expectation_of(const std::string& path) {
  std::ifstream file(path);
  std::string first;
  std::getline(file, first);
  Told told;
  if (!first.starts_with("# expect: line=")) return told;
  told.line = between(first, "line=", " ");
  told.column = between(first, " column=", " ");
  told.key = between(first, " key=", " message=");
  told.rest = between(first, " message=", "");
  return told;
}

// "FILE:5:3: storage.durability: found …"
Told take_apart(const std::string& message, const std::string& path) {
  Told told;
  if (!message.starts_with(path + ":")) return told;
  std::istringstream stream(message.substr(path.size() + 1));
  std::getline(stream, told.line, ':');
  std::getline(stream, told.column, ':');
  std::string key_and_rest;
  std::getline(stream, key_and_rest, '\0');
  told.key = between(key_and_rest, " ", ": found ");
  told.rest = "found " + between(key_and_rest, ": found ", "");
  return told;
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(TEST_FOLDER "/" + folder)) {
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class Wrong : public testing::TestWithParam<std::string> {};

TEST_P(Wrong, is_told_with_place_key_and_hint) {
  const std::string path = std::string(TEST_FOLDER "/wrong/") + GetParam() + ".yaml";
  const Told expected = expectation_of(path);
  ASSERT_FALSE(expected.rest.empty()) << path << ": the first line has not the form that this test reads";

  const auto result = read_path(path);
  ASSERT_FALSE(result.ok());
  const Status status = result.status();
  const std::string& message = status.fault().message;
  if (std::getenv("TAILRACE_SHOW") != nullptr) printf("%s\n", message.c_str());
  EXPECT_EQ(status.code(), TAILRACE_INVALID_CONFIG);
  EXPECT_EQ(status.fault().file, path);

  const Told told = take_apart(message, path);
  EXPECT_EQ(told.line, expected.line) << message;
  EXPECT_TRUE(expected.column.empty() || told.column == expected.column) << message;
  EXPECT_FALSE(told.column.empty()) << message;
  EXPECT_EQ(told.key, expected.key) << message;
  EXPECT_NE(told.rest.find(", expected "), std::string::npos) << message;
  EXPECT_NE(told.rest.find(expected.rest), std::string::npos) << message;
  EXPECT_EQ(message.find(" more mistake"), std::string::npos) << "one mistake causes others: " << message;
}

INSTANTIATE_TEST_SUITE_P(file, Wrong, testing::ValuesIn(names_in("wrong")),
                         [](const auto& test) { return test.param; });

TEST(wrong, there_are_enough_files) { EXPECT_GE(names_in("wrong").size(), 40u); }

// ---- several mistakes in a file

// The mistakes that a file expects of itself: "KEY: TEXT" behind "# mistake" at the end of a line, and behind each
// "; mistake" there.
std::vector<Told> expectations_in(const std::string& path) {
  std::vector<Told> all;
  std::ifstream file(path);
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    const std::string start = "mistake ";
    size_t at = line.find("# " + start);
    if (at == std::string::npos) continue;
    for (at += 2; at != std::string::npos;) {
      const size_t end = line.find("; " + start, at);
      const std::string one =
          line.substr(at + start.size(), end == std::string::npos ? end : end - at - start.size());
      all.push_back({std::to_string(number), "", one.substr(0, one.find(": ")), between(one, ": ", "")});
      at = end == std::string::npos ? end : end + 2;
    }
  }
  return all;
}

std::string list_of(const std::vector<Mistake>& mistakes) {
  std::string list;
  for (const Mistake& mistake : mistakes) list += "  " + mistake.message + "\n";
  return list;
}

class Several : public testing::TestWithParam<std::string> {};

TEST_P(Several, mistakes_are_told_at_once_and_each_once) {
  const std::string path = std::string(TEST_FOLDER "/several/") + GetParam() + ".yaml";
  const std::vector<Told> expected = expectations_in(path);
  ConfigInput input;
  input.file = path;
  std::vector<Mistake> mistakes;
  const auto result = read_config(input, &mistakes);
  ASSERT_FALSE(result.ok());
  ASSERT_FALSE(mistakes.empty());
  EXPECT_EQ(mistakes.size(), expected.size()) << list_of(mistakes);
  for (size_t i = 0; i < std::min(mistakes.size(), expected.size()); ++i) {
    EXPECT_EQ(std::to_string(mistakes[i].line), expected[i].line) << list_of(mistakes);
    EXPECT_EQ(mistakes[i].key, expected[i].key);
    EXPECT_NE(mistakes[i].message.find(expected[i].rest), std::string::npos) << mistakes[i].message;
    EXPECT_TRUE(mistakes[i].message.starts_with(path + ":" + expected[i].line + ":")) << mistakes[i].message;
  }
  const std::string& message = result.status().fault().message;
  const size_t more = mistakes.size() - 1;
  EXPECT_TRUE(message.starts_with(mistakes[0].message)) << message;
  EXPECT_EQ(message.find("and " + std::to_string(more) + " more mistake") != std::string::npos, more > 0) << message;
}

INSTANTIATE_TEST_SUITE_P(file, Several, testing::ValuesIn(names_in("several")),
                         [](const auto& test) { return test.param; });

TEST(several, no_more_than_a_hundred_mistakes) {
  std::string text = "tailrace: 1\nname: a\nparameters:\n";
  for (int i = 0; i < 200; ++i) text += "  p" + std::to_string(i) + ": x\n";
  ConfigInput input;
  input.text = text;
  std::vector<Mistake> mistakes;
  const auto result = read_config(input, &mistakes);
  ASSERT_FALSE(result.ok());
  ASSERT_EQ(mistakes.size(), 100u);
  EXPECT_EQ(mistakes.back().key, "parameters.p99");
  EXPECT_NE(message_of(result).find("at least 99 more mistakes"), std::string::npos) << message_of(result);
}

TEST(several, a_right_file_has_none) {
  std::vector<Mistake> mistakes(3);
  ConfigInput input;
  input.file = right("full.yaml");
  ASSERT_TRUE(read_config(input, &mistakes).ok());
  EXPECT_TRUE(mistakes.empty());
}

}  // namespace
}  // namespace tailrace::impl
