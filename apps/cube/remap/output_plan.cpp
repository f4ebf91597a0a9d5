#include "cube/remap/output_plan.hpp"

#include <algorithm>
#include <atomic>
#include <set>

#include "cube/archive/error.hpp"
#include "cube/cubepl/parser.hpp"
#include "cube/remap/metric_values.hpp"
#include "cube/remap/team.hpp"

namespace tailrace::cube {
namespace {

// Returns the call paths in the order of the rows of that flavour.
uint32_t path_of(const CallTree& tree, Flavour flavour, uint32_t id) {
  return flavour == Flavour::inclusive ? tree.by_wide_id(id) : id;
}

StoredMetric copied(const MetricSet& set, size_t entry) {
  const MetricSet::Entry& one = set.entries()[entry];
  const Rows& rows = *set.input().rows[static_cast<size_t>(one.input)];
  if (!rows.type().known()) set.input().expect_numbers(static_cast<size_t>(one.input));
  StoredMetric stored;
  stored.copied = true;
  stored.flavour = one.metric.kind == Metric::Kind::inclusive ? Flavour::inclusive : Flavour::exclusive;
  stored.type = rows.type();
  stored.index.ids = rows.index().ids;
  for (const uint32_t id : stored.index.ids) {
    stored.paths.push_back(path_of(set.input().profile.tree, stored.flavour, id));
  }
  return stored;
}

StoredMetric computed(const MetricSet& set, size_t entry) {
  StoredMetric stored;
  stored.flavour = set.entries()[entry].metric.kind == Metric::Kind::prederived_inclusive ? Flavour::inclusive
                                                                                          : Flavour::exclusive;
  stored.type = data_type(set.entries()[entry].metric.data_type);
  if (!stored.type.known()) {
    throw Error(set.name() + ": metric " + set.entries()[entry].metric.unique_name +
                ": expected a type of values, such as DOUBLE or UINT64, found \"" + stored.type.name + "\"");
  }
  if (!stored.type.number) stored.type = data_type("DOUBLE");
  return stored;
}

// Finds the rows of computed metrics that may have other values than those that are taken where there is no row.
void find_rows(const MetricSet& set, std::vector<StoredMetric>& stored, unsigned threads) {
  std::vector<StoredMetric*> open;
  for (StoredMetric& one : stored) {
    if (!one.copied) open.push_back(&one);
  }
  std::atomic<size_t> next{0};
  run_team(threads, [&](unsigned) {
    MetricValues values(set);
    const CallTree& tree = set.input().profile.tree;
    for (size_t at = next++; at < open.size(); at = next++) {
      StoredMetric& one = *open[at];
      for (uint32_t id = 0; id < tree.size(); ++id) {
        const uint32_t path = path_of(tree, one.flavour, id);
        if (values.is_neutral(one.entry, path)) continue;
        one.index.ids.push_back(id);
        one.paths.push_back(path);
      }
    }
  });
}

// Stored values are combined by their sum, so a metric with an aggregation of its own stays a program, too.
bool stays_derived(const MetricSet::Entry& entry) {
  return entry.metric.kind == Metric::Kind::postderived || entry.plus || entry.minus;
}

// Finds what the programs of an output need that other programs set or define.
class Needs {
 public:
  Needs(const MetricSet& set, const std::vector<bool>& stays) : set_(set), stays_(stays) {}

  // Returns true if the entry, which stays derived, needs an initialisation or a definition of another one.
  bool of(const MetricSet::Entry& entry) const {
    for (const auto* program : {&entry.expression, &entry.plus, &entry.minus}) {
      if (*program && of((*program)->root)) return true;
    }
    return false;
  }
  // Returns true if the definition goes where the program is stored or left out whose it is.
  bool is_lost(const MetricSet::Definition& definition) const {
    return definition.by >= 0 &&
           !(static_cast<size_t>(definition.by) < stays_.size() && stays_[static_cast<size_t>(definition.by)]);
  }

 private:
  bool of(const Node& node) const {
    if (node.op == Op::global || node.op == Op::assign_global || node.op == Op::metric_property) return true;
    if (node.op == Op::metric && is_defined_elsewhere(node.slot)) return true;
    return std::any_of(node.children.begin(), node.children.end(), [&](const Node& child) { return of(child); });
  }
  bool is_defined_elsewhere(uint32_t symbol) const {
    const int entry = set_.entry_of(symbol);
    if (entry < 0) return false;
    const auto& definition = set_.entries()[static_cast<size_t>(entry)].definition;
    return definition && (definition->by < 0 || is_lost(*definition));
  }

  const MetricSet& set_;
  const std::vector<bool>& stays_;  // derived, of the listed entries
};

// Returns one initialisation that does what those of all metrics do. Each of them has variables of its own.
std::string joined_initialisations(const MetricSet& set, const Needs& needs) {
  std::set<std::string> globals;
  std::string all = "{\n";
  size_t number = 0;
  for (const MetricSet::Entry& entry : set.entries()) {
    const Metric::Code& init = entry.metric.init;
    if (!entry.listed || init.text.find_first_not_of(" \t\r\n") == std::string::npos) continue;
    const std::string suffix = "_of_initialisation_" + std::to_string(++number);
    all += "${initialisation} = " + rename_locals(init.text, Source{set.name(), 1}, globals, suffix) + ";\n";
  }
  for (const MetricSet::Entry& entry : set.entries()) {
    if (entry.definition && needs.is_lost(*entry.definition)) all += entry.definition->statement;
  }
  return all + "return 0;\n}";
}

// If metrics that stay derived need what the initialisations of others set, or what the programs of others define,
// the first of them gets all of it: the others are stored or left out.
void keep_initialisations(const MetricSet& set, const std::vector<bool>& stays, std::vector<Metric>& metrics) {
  const Needs needs(set, stays);
  bool needed = false;
  for (size_t entry = 0; entry < stays.size(); ++entry)
    needed = needed || (stays[entry] && needs.of(set.entries()[entry]));
  if (!needed) return;
  const auto first = std::find_if(metrics.begin(), metrics.end(), [](const Metric& one) { return one.derived(); });
  for (Metric& metric : metrics) metric.init = {};
  first->init.text = joined_initialisations(set, needs);
}

}  // namespace

uint64_t OutputPlan::bytes() const {
  uint64_t sum = 0;
  for (const StoredMetric& one : stored) sum += one.row_bytes * one.paths.size();
  return sum;
}

OutputPlan plan_output(const MetricSet& set, ByteOrder order, bool keep_derived, unsigned threads) {
  OutputPlan plan;
  std::vector<int> place;   // of each listed metric in the output; -1: left out
  std::vector<bool> stays;  // derived, of each listed metric
  for (size_t entry = 0; entry < set.entries().size() && set.entries()[entry].listed; ++entry) {
    const MetricSet::Entry& one = set.entries()[entry];
    place.push_back(-1);
    stays.push_back(false);
    if (one.hidden()) continue;
    Metric metric = one.metric;
    metric.id = static_cast<unsigned>(plan.metrics.size());
    place.back() = static_cast<int>(metric.id);
    // The children of one that is left out move up.
    while (metric.parent >= 0 && place[static_cast<size_t>(metric.parent)] < 0) {
      metric.parent = set.entries()[static_cast<size_t>(metric.parent)].metric.parent;
    }
    if (metric.parent >= 0) metric.parent = place[static_cast<size_t>(metric.parent)];
    stays.back() = keep_derived ? one.metric.derived() : stays_derived(one);
    if (!stays.back() && (one.expression || one.input >= 0)) {
      StoredMetric stored = one.expression ? computed(set, entry) : copied(set, entry);
      stored.entry = entry;
      stored.id = metric.id;
      stored.index.order = order;
      stored.row_bytes = stored.type.bytes() * set.input().profile.locations.size();
      metric.kind = stored.flavour == Flavour::inclusive ? Metric::Kind::inclusive : Metric::Kind::exclusive;
      metric.data_type = stored.type.name;
      plan.stored.push_back(std::move(stored));
    }
    if (!stays.back() && !keep_derived)
      metric.expression = metric.init = metric.plus = metric.minus = metric.aggregate = {};
    plan.metrics.push_back(std::move(metric));
  }
  if (!keep_derived) keep_initialisations(set, stays, plan.metrics);
  find_rows(set, plan.stored, threads);
  return plan;
}

}  // namespace tailrace::cube
