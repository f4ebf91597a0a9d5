#include "cube/remap/metric_values.hpp"

#include <algorithm>
#include <numeric>

#include "cube/archive/error.hpp"
#include "cube/cubepl/predefined.hpp"

namespace tailrace::cube {
namespace {

uint64_t key(size_t entry, Flavour flavour) { return entry * 2 + (flavour == Flavour::inclusive ? 1 : 0); }

// Returns true if expression or rows give the values of that flavour, without other call paths.
bool is_own(const Metric& metric, Flavour flavour) {
  switch (metric.kind) {
    case Metric::Kind::exclusive:
    case Metric::Kind::prederived_exclusive: return flavour == Flavour::exclusive;
    case Metric::Kind::inclusive:
    case Metric::Kind::prederived_inclusive: return flavour == Flavour::inclusive;
    default: return true;
  }
}

}  // namespace

Number::Combine combination(const Metric& metric) {
  if (metric.data_type == "MINDOUBLE") return Number::Combine::least;
  return metric.data_type == "MAXDOUBLE" ? Number::Combine::greatest : Number::Combine::sum;
}

MetricValues::MetricValues(const MetricSet& set)
    : set_(set),
      locations_(static_cast<uint32_t>(set.input().profile.locations.size())),
      evaluator_(*this, set.globals()) {}
MetricValues::~MetricValues() = default;

void MetricValues::row(size_t entry, Flavour flavour, uint32_t call_path, std::span<double> to) {
  Place place;
  place.call_path = call_path;
  place.flavour = flavour;
  for (place.first = 0; place.first < locations_; place.first += place.count) {
    place.count = std::min(Evaluator::kMostLocations, locations_ - place.first);
    double* const memory = to.data() + place.first;
    const double* const found = values(entry, place, memory);
    if (found != memory) std::copy_n(found, place.count, memory);
  }
}

bool MetricValues::is_exact(size_t entry) const {
  const MetricSet::Entry& one = set_.entries()[entry];
  if (one.input < 0 || one.hidden()) return false;
  const std::optional<Number>& number = set_.input().rows[static_cast<size_t>(one.input)]->type().number;
  return number && number->is_integer();
}

void MetricValues::row(size_t entry, Flavour flavour, uint32_t call_path, std::span<Integer> to) {
  const MetricSet::Entry& one = set_.entries()[entry];
  read(one, call_path, to);
  if (is_own(one.metric, flavour)) return;
  std::vector<Integer> other(locations_);
  const auto take = [&](uint32_t path, Integer sign) {
    read(one, path, std::span(other));
    for (size_t at = 0; at < to.size(); ++at) to[at] += sign * other[at];
  };
  const CallPath& path = set_.input().profile.tree[call_path];
  if (flavour == Flavour::inclusive) {
    for (uint32_t below = call_path + 1; below < path.end; ++below) take(below, 1);
  } else {
    for (const uint32_t child : path.children) take(child, -1);
  }
}

bool MetricValues::is_neutral(size_t entry, uint32_t call_path) {
  const MetricSet::Entry& one = set_.entries()[entry];
  if (one.hidden()) return true;
  if (!one.expression) return one.input < 0;
  Place place;
  place.call_path = call_path;
  place.metric = static_cast<int>(entry);
  place.flavour = one.metric.kind == Metric::Kind::prederived_inclusive ? Flavour::inclusive : Flavour::exclusive;
  return evaluator_.same_for_all(*one.expression, place) == neutral(combination(one.metric));
}

double MetricValues::total(size_t entry, Flavour flavour, uint32_t call_path) {
  const auto [kept, made] = totals_.try_emplace(key(entry, flavour), UINT32_MAX, 0.0);
  if (!made && kept->second.first == call_path) return kept->second.second;
  const double sum = is_exact(entry) ? static_cast<double>(exact_total(entry, flavour, call_path))
                                     : computed_total(entry, flavour, call_path);
  totals_[key(entry, flavour)] = {call_path, sum};
  return sum;
}

Integer MetricValues::exact_total(size_t entry, Flavour flavour, uint32_t call_path) {
  integers_.resize(locations_);
  row(entry, flavour, call_path, std::span(integers_));
  return std::accumulate(integers_.begin(), integers_.end(), Integer{0});
}

double MetricValues::computed_total(size_t entry, Flavour flavour, uint32_t call_path) {
  const MetricSet::Entry& one = set_.entries()[entry];
  double sum = 0;
  if (one.metric.kind == Metric::Kind::postderived && !one.hidden()) {
    Place place;
    place.call_path = call_path;
    place.flavour = flavour;
    place.metric = static_cast<int>(entry);
    place.whole_system = true;
    evaluator_.run(*one.expression, place, &sum);
    return sum;
  }
  std::vector<double> all(locations_);
  row(entry, flavour, call_path, std::span(all));
  return combined(one, all);
}

// Other call paths than the present one are the inner object's.
double MetricValues::program_total(size_t entry) {
  if (const auto found = program_totals_.find(entry); found != program_totals_.end()) return found->second;
  const MetricSet::Entry& one = set_.entries()[entry];
  const CallTree& tree = set_.input().profile.tree;
  double sum = 0;
  if (one.metric.kind == Metric::Kind::postderived && !one.hidden()) {
    Place place;
    place.flavour = Flavour::inclusive;
    place.metric = static_cast<int>(entry);
    place.whole_system = place.whole_program = true;
    evaluator_.run(*one.expression, place, &sum);
  } else if (is_exact(entry)) {
    Integer all = 0;
    for (uint32_t path = 0; path < tree.size(); path = tree[path].end) {
      all += exact_total(entry, Flavour::inclusive, path);
    }
    sum = static_cast<double>(all);
  } else {
    std::vector<double> roots;
    for (uint32_t path = 0; path < tree.size(); path = tree[path].end) {
      roots.push_back(inner().total(entry, Flavour::inclusive, path));
    }
    sum = combined(one, roots);
  }
  program_totals_[entry] = sum;
  return sum;
}

// Returns the sum, or what takes its place; for no values, what a row that is left out has.
double MetricValues::combined(const MetricSet::Entry& entry, const std::vector<double>& values) {
  if (values.empty()) return entry.hidden() ? 0.0 : neutral(combination(entry.metric));
  std::vector<double> result(1, values[0]);
  for (size_t at = 1; at < values.size(); ++at) combine(entry, entry.plus, result, {&values[at], 1}, true);
  return result[0];
}

// ---- Surroundings ------------------------------------------------------------------------------------------------

const double* MetricValues::metric(uint32_t symbol, const Place& place, double* memory) {
  const int entry = set_.entry_of(symbol);
  if (entry < 0) {
    std::fill_n(memory, place.count, 0.0);
    return memory;
  }
  if (!place.whole_system) return values(static_cast<size_t>(entry), place, memory);
  if (place.whole_program) {
    *memory = program_total(static_cast<size_t>(entry));
    return memory;
  }
  *memory = total(static_cast<size_t>(entry), place.flavour, place.call_path);
  return memory;
}

PredefinedSource MetricValues::source() const {
  return {set_.input().profile, set_.metrics(), set_.input().archive.path()};
}

Value MetricValues::predefined(const Predefined& variable, size_t index, const Place& place, double* memory) {
  return predefined_value(source(), variable, index, place, memory);
}

size_t MetricValues::predefined_size(const Predefined& variable) { return cube::predefined_size(source(), variable); }

std::string MetricValues::metric_property(uint32_t symbol, const std::string& property) {
  const int entry = set_.entry_of(symbol);
  return entry < 0 ? "" : cube::metric_property(set_.entries()[static_cast<size_t>(entry)].metric, property);
}

// ---- rows --------------------------------------------------------------------------------------------------------

const double* MetricValues::values(size_t entry, const Place& place, double* memory) {
  const MetricSet::Entry& one = set_.entries()[entry];
  if (one.hidden() || (!one.expression && one.input < 0)) {
    std::fill_n(memory, place.count, one.hidden() ? 0.0 : neutral(combination(one.metric)));
    return memory;
  }
  if (one.expression && is_own(one.metric, place.flavour)) {
    Place own = place;
    own.metric = static_cast<int>(entry);
    evaluator_.run(*one.expression, own, memory);
    return memory;
  }
  return whole_row(entry, place.flavour, place.call_path).values.data() + place.first;
}

const MetricValues::Kept& MetricValues::whole_row(size_t entry, Flavour flavour, uint32_t call_path) {
  Kept& kept = kept_[key(entry, flavour)];
  if (kept.call_path == call_path) return kept;
  const MetricSet::Entry& one = set_.entries()[entry];
  kept.call_path = UINT32_MAX;
  kept.values.resize(locations_);
  if (is_own(one.metric, flavour)) {
    read(one, call_path, std::span(kept.values));
  } else if (is_exact(entry)) {
    integers_.resize(locations_);
    row(entry, flavour, call_path, std::span(integers_));
    std::transform(integers_.begin(), integers_.end(), kept.values.begin(),
                   [](Integer value) { return static_cast<double>(value); });
  } else if (flavour == Flavour::inclusive) {
    add_subtree(entry, call_path, kept.values);
  } else {
    take_children_off(entry, call_path, kept.values);
  }
  kept.call_path = call_path;
  return kept;
}

template <typename T>
void MetricValues::read(const MetricSet::Entry& entry, uint32_t call_path, std::span<T> to) {
  const CallTree& tree = set_.input().profile.tree;
  set_.input().expect_numbers(static_cast<size_t>(entry.input));
  const uint32_t id = entry.metric.kind == Metric::Kind::inclusive ? tree.wide_id(call_path) : call_path;
  set_.input().rows[static_cast<size_t>(entry.input)]->read(id, to, memory_);
}

// Inclusive values of a metric with exclusive ones.
void MetricValues::add_subtree(size_t entry, uint32_t call_path, std::vector<double>& sums) {
  const MetricSet::Entry& one = set_.entries()[entry];
  std::vector<double> next(locations_);
  for (uint32_t below = call_path; below < set_.input().profile.tree[call_path].end; ++below) {
    std::span<double> to = below == call_path ? std::span(sums) : std::span(next);
    if (one.expression) {
      inner().row(entry, Flavour::exclusive, below, to);
    } else {
      read(one, below, to);
    }
    if (below != call_path) combine(one, one.plus, sums, next, true);
  }
}

// Exclusive values of a metric with inclusive ones.
void MetricValues::take_children_off(size_t entry, uint32_t call_path, std::vector<double>& values) {
  const MetricSet::Entry& one = set_.entries()[entry];
  const auto load = [&](uint32_t path, std::span<double> to) {
    if (one.expression) {
      inner().row(entry, Flavour::inclusive, path, to);
    } else {
      read(one, path, to);
    }
  };
  load(call_path, values);
  if (!one.minus && combination(one.metric) != Number::Combine::sum) return;
  other_.resize(locations_);
  for (const uint32_t child : set_.input().profile.tree[call_path].children) {
    load(child, other_);
    combine(one, one.minus, values, other_, false);
  }
}

void MetricValues::combine(const MetricSet::Entry& entry, const std::optional<Program>& how,
                           std::vector<double>& left, std::span<const double> right, bool add) {
  double* const to = left.data();
  const double* const from = right.data();
  const size_t count = right.size();
  if (how) {
    double results[Evaluator::kMostLocations];
    Place place;
    for (uint32_t first = 0; first < count; first += place.count) {
      place.count = std::min<uint32_t>(Evaluator::kMostLocations, static_cast<uint32_t>(count) - first);
      place.argument1 = to + first;
      place.argument2 = from + first;
      evaluator_.run(*how, place, results);
      std::copy_n(results, place.count, to + first);
    }
  } else if (!add) {
    for (size_t at = 0; at < count; ++at) to[at] -= from[at];
  } else {
    switch (combination(entry.metric)) {
      case Number::Combine::sum:
        for (size_t at = 0; at < count; ++at) to[at] += from[at];
        break;
      case Number::Combine::least:
        for (size_t at = 0; at < count; ++at) to[at] = std::min(to[at], from[at]);
        break;
      case Number::Combine::greatest:
        for (size_t at = 0; at < count; ++at) to[at] = std::max(to[at], from[at]);
        break;
    }
  }
}

MetricValues& MetricValues::inner() {
  if (!inner_) inner_ = std::make_unique<MetricValues>(set_);
  return *inner_;
}

}  // namespace tailrace::cube
