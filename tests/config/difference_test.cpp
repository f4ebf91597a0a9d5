// Clients of a node's server whose configurations differ in what they must have in common: the first key is named.
#include "config/config_difference.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace tailrace::impl {
namespace {

struct Change {
  const char* key;
  std::function<void(NodeConfig&)> make;
  const char* found = "another";
  const char* expected = "that of the first client";
};

const Change kChanges[] = {
    {"name", [](NodeConfig& of) { of.name = "cm2"; }, "cm2", "cm1"},
    {"storage.path",
     [](NodeConfig& of) {
       of.storage.paths = {"a", "c"};
     },
     "a, c", "a, b"},
    {"storage.stripe", [](NodeConfig& of) { of.storage.stripes.unit *= 2; }},
    {"storage.durability", [](NodeConfig& of) { of.storage.durability = Durability::durable; }, "durable", "written"},
    {"storage.file_per", [](NodeConfig& of) { of.storage.file_per = FilePer::node; }, "node", "process"},
    {"storage.iterations_per_file", [](NodeConfig& of) { of.storage.iterations_per_file = 9; }, "9", "1"},
    {"storage.slots", [](NodeConfig& of) { of.storage.slots = true; }, "true", "false"},
    {"actions", [](NodeConfig& of) { of.actions[0].event = "storm"; }},
    {"actions", [](NodeConfig& of) { of.actions[0].limit *= 2; }},
    {"actions", [](NodeConfig& of) { of.actions[0].variables = {3}; }},
    {"place.clients", [](NodeConfig& of) { of.place.clients = 4; }, "4", "0"},
    {"place.node", [](NodeConfig& of) { of.place.node = 1; }, "1", "0"},
    {"place.nodes", [](NodeConfig& of) { of.place.nodes = 2; }, "2", "1"},
    {"format.kind", [](NodeConfig& of) { of.format.kind = FormatKind::plain; }},
    {"format.file", [](NodeConfig& of) { of.format.file = "a{iteration}"; }, "a{iteration}", ""},
    {"format.xdmf", [](NodeConfig& of) { of.format.xdmf = XdmfIterations::first; }},
    {"format.meshes", [](NodeConfig& of) { of.format.meshes = {{"m"}}; }},
    {"format.dimension_scales", [](NodeConfig& of) { of.format.dimension_scales = true; }, "true", "false"},
    {"schedule", [](NodeConfig& of) { of.schedule.batch = 1; }},
    {"forward", [](NodeConfig& of) { of.forward.servers = {"io1:4711"}; }},
    {"forward", [](NodeConfig& of) { of.forward.strangers.most = 1; }},
    {"merge.enabled", [](NodeConfig& of) { of.merge.enabled = false; }, "false", "true"},
    {"merge.overwrite", [](NodeConfig& of) { of.merge.overwrite = false; }, "false", "true"},
    {"merge.largest", [](NodeConfig& of) { of.merge.largest = 5; }, "5", "8388608"},
    {"merge.alignment", [](NodeConfig& of) { of.merge.alignment = 7; }, "7", "0"},
    {"merge.count", [](NodeConfig& of) { of.merge.count = 8; }, "8", "32768"},
    {"merge.bytes", [](NodeConfig& of) { of.merge.bytes = 9; }, "9", "67108864"},
    {"merge.delay", [](NodeConfig& of) { of.merge.delay = 0.5; }, "0.5", "0.1"},
    {"merge.by", [](NodeConfig& of) { of.merge.by_count = true; }, "count", "storage"},
    {"merge.sieve", [](NodeConfig& of) { of.merge.sieve = 0; }, "0", "8192"},
    {"merge.waste", [](NodeConfig& of) { of.merge.waste = 0.25; }, "0.25", "0.5"},
    {"merge.read_after", [](NodeConfig& of) { of.merge.read_after = ReadAfter::written; }, "written", "submitted"},
    {"merge.visibility", [](NodeConfig& of) { of.merge.visibility = Visibility::pending; }, "pending", "written"},
};

TEST(ConfigDifference, NamesTheKeyThatDiffers) {
  Config config;
  config.name = "cm1";
  config.storage.paths = {"a", "b"};
  config.actions.resize(1);
  EXPECT_FALSE(config_difference(config.of_node(), config.of_node()));
  for (const Change& change : kChanges) {
    NodeConfig changed = config.of_node();
    change.make(changed);
    const auto difference = config_difference(changed, config.of_node());
    ASSERT_TRUE(difference) << change.key;
    EXPECT_EQ(difference->key, change.key);
    EXPECT_EQ(difference->found, change.found);
    EXPECT_EQ(difference->expected, change.expected);
  }
}

TEST(ConfigDifference, ClientsMayHaveTheFileOfAnActionInOtherFolders) {
  Config one, other;
  one.actions.resize(1);
  other.actions.resize(1);
  one.actions[0].file = "/a/track.py";
  other.actions[0].file = "/b/track.py";
  EXPECT_FALSE(config_difference(one.of_node(), other.of_node()));
}

}  // namespace
}  // namespace tailrace::impl
