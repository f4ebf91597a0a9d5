// Clients of a node's server whose configurations differ in what they must have in common: the first key is named,
// with both values.
#include "config/config_difference.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <set>

#include "testing/scratch.hpp"

namespace tailrace::impl {
namespace {

struct Change {
  std::string key;
  std::function<void(Config&)> make;
  std::string found;
  std::string expected;
  bool ignored = false;  // the value of the first client counts
};

// At least one change of each key.
const Change kChanges[] = {
    {"name", [](Config& of) { of.name = "cm2"; }, "cm2", "cm1"},
    {"place.clients", [](Config& of) { of.place.clients = 4; }, "4", "not set"},
    {"place.node", [](Config& of) { of.place.node = 1; }, "1", "0"},
    {"place.nodes", [](Config& of) { of.place.nodes = 2; }, "2", "1"},
    {"place.cores", [](Config& of) { of.place.cores = 2; }, "2", "1"},
    {"place.on_missing", [](Config& of) { of.place.on_missing = OnMissing::keep; }, "keep", "publish"},
    {"place.cpus", [](Config& of) { of.place.choice = CpuChoice::none; }, "none", "auto", true},
    {"place.cpus",
     [](Config& of) {
       of.place.choice = CpuChoice::list;
       of.place.cpus = {1, 3};
     },
     "1, 3", "auto", true},
    {"place.filter_threads", [](Config& of) { of.place.filter_threads = 2; }, "2", "1", true},
    {"place.patience", [](Config& of) { of.place.patience = 1.5; }, "1.5 s", "600 s", true},
    {"storage.path",
     [](Config& of) {
       of.storage.paths = {"a", "c"};
     },
     "a, c", "a, b"},
    // The directories are the same, and so `path` is not what differs.
    {"storage.stripe.unit",
     [](Config& of) {
       of.storage.stripes.directories = of.storage.paths;
       of.storage.paths.resize(1);
     },
     "1 MiB", "not set"},
    {"storage.durability", [](Config& of) { of.storage.durability = Durability::durable; }, "durable", "written"},
    {"storage.file_per", [](Config& of) { of.storage.file_per = FilePer::node; }, "node", "process"},
    {"storage.iterations_per_file", [](Config& of) { of.storage.iterations_per_file = 0; }, "all", "1"},
    {"storage.slots", [](Config& of) { of.storage.slots = true; }, "true", "false"},
    {"storage.backend", [](Config& of) { of.storage.backend = Backend::posix; }, "posix", "auto", true},
    {"storage.direct", [](Config& of) { of.storage.direct = false; }, "false", "true", true},
    {"storage.queue_depth", [](Config& of) { of.storage.queue_depth = 1; }, "1", "8", true},
    {"storage.throttle",
     [](Config& of) {
       of.storage.throttle = {Throttle::Kind::rate, 3 << 20};
     },
     "3 MiB/s", "none", true},
    {"storage.throttle", [](Config& of) { of.storage.throttle.kind = Throttle::Kind::automatic; }, "auto", "none",
     true},
    {"format.kind", [](Config& of) { of.format.kind = FormatKind::plain; }, "plain", "hdf5"},
    {"format.file", [](Config& of) { of.format.file = "a{iteration}"; }, "a{iteration}", "not set"},
    {"format.dimension_scales", [](Config& of) { of.format.dimension_scales = true; }, "true", "false"},
    {"format.xdmf", [](Config& of) { of.format.xdmf = XdmfIterations::first; }, "first", "none"},
    {"format.meshes",
     [](Config& of) {
       of.format.meshes = {{"m", XdmfMesh::Kind::points, {0}, {1}}};
     },
     "m: {kind: points, coordinates: [x], variables: [u]}", "not set"},
    {"merge.enabled", [](Config& of) { of.merge.enabled = false; }, "false", "true"},
    {"merge.overwrite", [](Config& of) { of.merge.overwrite = false; }, "false", "true"},
    {"merge.largest", [](Config& of) { of.merge.largest = 5; }, "5 B", "8 MiB"},
    {"merge.alignment", [](Config& of) { of.merge.alignment = 7; }, "7 B", "not set"},
    {"merge.count", [](Config& of) { of.merge.count = 8; }, "8", "32768"},
    {"merge.bytes", [](Config& of) { of.merge.bytes = 9; }, "9 B", "64 MiB"},
    {"merge.delay", [](Config& of) { of.merge.delay = 0.5; }, "0.5", "0.1"},
    {"merge.by", [](Config& of) { of.merge.by_count = true; }, "count", "storage"},
    {"merge.sieve", [](Config& of) { of.merge.sieve = 0; }, "0 B", "8 KiB"},
    {"merge.waste", [](Config& of) { of.merge.waste = 0.25; }, "0.25", "0.5"},
    {"merge.read_after", [](Config& of) { of.merge.read_after = ReadAfter::written; }, "written", "submitted"},
    {"merge.visibility", [](Config& of) { of.merge.visibility = Visibility::pending; }, "pending", "written"},
    {"schedule.kind", [](Config& of) { of.schedule.kind = ScheduleKind::twins; }, "twins", "fifo"},
    {"schedule.quantum", [](Config& of) { of.schedule.quantum = 1; }, "1", "8"},
    {"schedule.batch", [](Config& of) { of.schedule.batch = 1; }, "1", "16"},
    {"schedule.window", [](Config& of) { of.schedule.window = std::chrono::microseconds(100); }, "100 us", "8 ms"},
    {"forward.servers", [](Config& of) { of.forward.servers = {"io1:4711"}; }, "io1:4711", "not set"},
    {"forward.key", [](Config& of) { of.forward.keys = {"/k"}; }, "/k", "not set"},
    {"forward.on_forwarder_loss", [](Config& of) { of.forward.on_loss = OnForwarderLoss::fail; }, "fail", "next"},
    {"forward.confirm", [](Config& of) { of.forward.confirm = Confirm::received; }, "received", "written"},
    {"forward.spread", [](Config& of) { of.forward.spread = true; }, "domains", "files"},
    {"forward.transport", [](Config& of) { of.forward.ucx = true; }, "ucx", "tcp"},
    {"forward.devices", [](Config& of) { of.forward.devices = "mlx5_0"; }, "mlx5_0", "not set"},
    {"forward.transports", [](Config& of) { of.forward.transports = "rc"; }, "rc", "not set"},
    {"forward.connections", [](Config& of) { of.forward.connections = 4; }, "4", "auto"},
    {"forward.listen", [](Config& of) { of.forward.listen = "0.0.0.0:1"; }, "0.0.0.0:1", "not set"},
    {"forward.roots", [](Config& of) { of.forward.roots = {"/r"}; }, "/r", "not set"},
    {"forward.number", [](Config& of) { of.forward.number = 1; }, "1", "0"},
    {"forward.strangers.most", [](Config& of) { of.forward.strangers.most = 1; }, "1", "256"},
    {"forward.strangers.of_one_address", [](Config& of) { of.forward.strangers.of_one_address = 1; }, "1", "64"},
    {"forward.strangers.time", [](Config& of) { of.forward.strangers.time = std::chrono::seconds(1); }, "1 s", "5 s"},
    {"actions", [](Config& of) { of.actions[0].event = "storm"; },
     "{on: storm, run: store, scope: client, limit: 10 s, variables: all}",
     "{on: end_iteration, run: store, scope: client, limit: 10 s, variables: all}"},
    {"actions", [](Config& of) { of.actions[0].limit *= 2; },
     "{on: end_iteration, run: store, scope: client, limit: 20 s, variables: all}",
     "{on: end_iteration, run: store, scope: client, limit: 10 s, variables: all}"},
    {"actions", [](Config& of) { of.actions[0].variables = {1}; },
     "{on: end_iteration, run: store, scope: client, limit: 10 s, variables: [u]}",
     "{on: end_iteration, run: store, scope: client, limit: 10 s, variables: all}"},
    {"actions", [](Config& of) { of.actions.clear(); }, "not set",
     "{on: end_iteration, run: store, scope: client, limit: 10 s, variables: all}"},
    {"python.environment", [](Config& of) { of.python_environment = "/venv"; }, "/venv", "not set", true},
};

Config some_config() {
  Config config;
  config.name = "cm1";
  config.storage.paths = {"a", "b"};
  config.variables.resize(2);
  config.variables[0].name = "x";
  config.variables[1].name = "u";
  config.actions.resize(1);
  config.actions[0].event = kEndIteration;
  config.actions[0].text = "store";
  return config;
}

TEST(ConfigDifference, NamesTheKeyThatDiffersAndBothValues) {
  const Config config = some_config();
  EXPECT_FALSE(config_difference(config, config));
  EXPECT_TRUE(ignored_differences(config, config).empty());
  for (const Change& change : kChanges) {
    SCOPED_TRACE(change.key);
    Config changed = config;
    change.make(changed);
    const auto difference = config_difference(changed, config);
    const auto ignored = ignored_differences(changed, config);
    EXPECT_EQ(difference.has_value(), !change.ignored);
    ASSERT_EQ(ignored.size(), change.ignored ? 1u : 0u);
    const ConfigDifference& found = change.ignored ? ignored[0] : *difference;
    EXPECT_EQ(found.key, change.key);
    EXPECT_EQ(found.found, change.found);
    EXPECT_EQ(found.expected, change.expected);
  }
}

TEST(ConfigDifference, IsTriedForEachKey) {
  std::set<std::string> changed, all;
  for (const Change& change : kChanges) changed.insert(change.key);
  for (const SharedSetting& setting : shared_settings(some_config())) {
    EXPECT_TRUE(all.insert(setting.key).second) << setting.key;
  }
  EXPECT_EQ(changed, all);
}

TEST(ConfigDifference, ClientsMayHaveTheFileOfAnActionInOtherFolders) {
  Config one = some_config(), other = some_config();
  one.actions[0].file = "/a/track.py";
  other.actions[0].file = "/b/track.py";
  EXPECT_FALSE(config_difference(one, other));
}

TEST(ConfigDifference, TheOrderOfForwardersDoesNotMatter) {
  Config one = some_config(), other = some_config();
  one.forward.servers = {"io1:1", "io2:1"};
  other.forward.servers = {"io2:1", "io1:1"};
  EXPECT_FALSE(config_difference(one, other));
}

// A directory has many names.
TEST(ConfigDifference, PathsAreComparedByWhereTheyLead) {
  const ScratchDirectory scratch;
  namespace fs = std::filesystem;
  fs::create_directories(scratch / "real/out");
  fs::create_directory_symlink(scratch / "real", scratch / "link");
  fs::create_directories(scratch / "other/out");
  Config expected = some_config();
  expected.storage.paths = {scratch / "real/out"};
  for (const char* same : {"real/out/", "real/out/../out", "real/./out", "link/out", "link/../real/out"}) {
    Config found = some_config();
    found.storage.paths = {scratch / same};
    EXPECT_FALSE(config_difference(found, expected)) << same;
    found.storage.stripes.directories = found.storage.paths;
    EXPECT_EQ(config_difference(found, expected)->key, "storage.stripe.unit");
  }
  Config found = some_config();
  found.storage.paths = {scratch / "other/out"};
  EXPECT_EQ(config_difference(found, expected)->key, "storage.path");
}

// A forwarder has them, and this node need not.
TEST(ConfigDifference, PathsOfForwardersAreComparedByTheirText) {
  Config one = some_config(), other = some_config();
  one.forward.servers = other.forward.servers = {"io1:1"};
  one.storage.paths = {"/nowhere/out"};
  other.storage.paths = {"/nowhere/out/../out"};
  EXPECT_FALSE(config_difference(one, other));
  other.storage.paths = {"/nowhere/in"};
  EXPECT_EQ(config_difference(one, other)->key, "storage.path");
}

}  // namespace
}  // namespace tailrace::impl
