#include "cube/remap/output_plan.hpp"

#include <algorithm>
#include <atomic>

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
  if (!stored.type.number) stored.type = data_type("DOUBLE");
  return stored;
}

// Finds the rows of computed metrics that may be other than 0.
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
        if (values.is_zero(one.entry, path)) continue;
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

bool uses_globals(const Node& node) {
  return node.op == Op::global || node.op == Op::assign_global ||
         std::any_of(node.children.begin(), node.children.end(), uses_globals);
}

// If metrics that stay derived need the global variables that the initialisations of others set, which are now stored
// or left out, the first of them gets these.
void keep_initialisations(const MetricSet& set, std::vector<Metric>& metrics) {
  Metric* first = nullptr;
  bool needed = false;
  for (Metric& metric : metrics) {
    if (!metric.derived()) continue;
    if (first == nullptr) first = &metric;
    for (const MetricSet::Entry& entry : set.entries()) {
      if (!entry.listed || entry.metric.unique_name != metric.unique_name) continue;
      for (const auto* program : {&entry.expression, &entry.plus, &entry.minus}) {
        needed = needed || (*program && uses_globals((*program)->root));
      }
    }
  }
  if (!needed) return;
  std::string all = "{\n";
  for (const MetricSet::Entry& entry : set.entries()) {
    if (entry.listed && !entry.metric.init.text.empty())
      all += "${initialisation} = " + entry.metric.init.text + ";\n";
  }
  for (Metric& metric : metrics) metric.init = {};
  first->init.text = all + "return 0;\n}";
}

}  // namespace

uint64_t OutputPlan::bytes() const {
  uint64_t sum = 0;
  for (const StoredMetric& one : stored) sum += one.row_bytes * one.paths.size();
  return sum;
}

OutputPlan plan_output(const MetricSet& set, ByteOrder order, bool keep_derived, unsigned threads) {
  OutputPlan plan;
  std::vector<int> place;  // of each listed metric in the output; -1: left out
  for (size_t entry = 0; entry < set.entries().size() && set.entries()[entry].listed; ++entry) {
    const MetricSet::Entry& one = set.entries()[entry];
    place.push_back(-1);
    if (one.hidden()) continue;
    Metric metric = one.metric;
    metric.id = static_cast<unsigned>(plan.metrics.size());
    place.back() = static_cast<int>(metric.id);
    // The children of one that is left out move up.
    while (metric.parent >= 0 && place[static_cast<size_t>(metric.parent)] < 0) {
      metric.parent = set.entries()[static_cast<size_t>(metric.parent)].metric.parent;
    }
    if (metric.parent >= 0) metric.parent = place[static_cast<size_t>(metric.parent)];
    const bool stays = keep_derived ? one.metric.derived() : stays_derived(one);
    if (!stays && (one.expression || one.input >= 0)) {
      StoredMetric stored = one.expression ? computed(set, entry) : copied(set, entry);
      stored.entry = entry;
      stored.id = metric.id;
      stored.index.order = order;
      stored.row_bytes = stored.type.bytes() * set.input().profile.locations.size();
      metric.kind = stored.flavour == Flavour::inclusive ? Metric::Kind::inclusive : Metric::Kind::exclusive;
      metric.data_type = stored.type.name;
      plan.stored.push_back(std::move(stored));
    }
    if (!stays && !keep_derived) metric.expression = metric.init = metric.plus = metric.minus = metric.aggregate = {};
    plan.metrics.push_back(std::move(metric));
  }
  if (!keep_derived) keep_initialisations(set, plan.metrics);
  find_rows(set, plan.stored, threads);
  return plan;
}

}  // namespace tailrace::cube
