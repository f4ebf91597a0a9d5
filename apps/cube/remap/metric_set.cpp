#include "cube/remap/metric_set.hpp"

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "cube/archive/error.hpp"
#include "cube/cubepl/functions.hpp"
#include "cube/cubepl/parser.hpp"
#include "cube/cubepl/predefined.hpp"

namespace tailrace::cube {

Input::Input(const std::string& path, const std::string& scratch)
    : archive(path, scratch), profile(read_anchor(archive.text(archive.get("anchor.xml")), path + ": anchor.xml")) {
  for (const Metric& metric : profile.metrics) {
    rows.push_back(metric.derived() ? nullptr
                                    : std::make_unique<Rows>(archive, metric.id, data_type(metric.data_type),
                                                             profile.tree.size(), profile.locations.size()));
  }
}

void Input::expect_numbers(size_t metric) const {
  if (!rows[metric] || rows[metric]->type().number) return;
  throw Error(archive.path() + ": metric " + profile.metrics[metric].unique_name +
              ": expected values that are numbers, such as DOUBLE or UINT64, found \"" +
              profile.metrics[metric].data_type + "\"");
}

// Gives initialisations what they refer to: no metric has values yet.
class MetricSet::Initialising : public Surroundings {
 public:
  explicit Initialising(MetricSet& set) : set_(set) {}

  const double* metric(uint32_t, const Place&, double* memory) override {
    *memory = 0;
    return memory;
  }
  Value predefined(const Predefined& variable, size_t index, const Place& place, double* memory) override {
    if (variable.calculation) return {};
    return predefined_value(source(), variable, index, place, memory);
  }
  size_t predefined_size(const Predefined& variable) override { return cube::predefined_size(source(), variable); }

  std::string metric_property(uint32_t symbol, const std::string& property) override {
    const int entry = set_.entry_of(symbol);
    return entry < 0 ? "" : cube::metric_property(set_.entries_[static_cast<size_t>(entry)].metric, property);
  }

  // A metric that does not exist has no property to set.
  void set_metric_property(uint32_t symbol, const std::string& property, const std::string& value) override {
    const int entry = set_.entry_of(symbol);
    if (entry < 0) return;
    Metric& metric = set_.entries_[static_cast<size_t>(entry)].metric;
    if (property == "display name") metric.display_name = value;
    if (property == "uom") metric.unit = value;
    if (property == "url") metric.url = value;
    if (property == "description") metric.description = value;
    if (property != "value" && property != "viztype") return;
    if (same_in_any_case(value, "VOID")) metric.visibility = Metric::Visibility::hidden;
    if (same_in_any_case(value, "GHOST")) metric.visibility = Metric::Visibility::ghost;
    if (same_in_any_case(value, "NORMAL")) metric.visibility = Metric::Visibility::normal;
  }

 private:
  PredefinedSource source() const { return {set_.input_.profile, set_.metrics_, set_.input_.archive.path()}; }

  MetricSet& set_;
};

MetricSet::MetricSet(const Input& input, std::vector<Metric> metrics, const std::string& name, const Warn& warn)
    : input_(input), name_(name), metrics_(metrics) {
  add_entries(std::move(metrics));
  std::vector<Program> initialisations;
  for (const Entry& entry : entries_) {
    if (!entry.listed) continue;
    if (auto program = parse_code(entry.metric.init, entry, "initialisation")) {
      initialisations.push_back(std::move(*program));
    }
  }
  add_defined(-1);
  parse_all();
  resolve(warn);
  initialise(initialisations);
  refuse_cycles();
}

// A metric without an expression has the rows of the profile's metric of its name.
void MetricSet::add_entries(std::vector<Metric> metrics) {
  std::unordered_map<std::string, size_t> numbers;
  for (size_t at = 0; at < input_.profile.metrics.size(); ++at) numbers[input_.profile.metrics[at].unique_name] = at;
  std::vector<bool> taken(input_.profile.metrics.size());
  for (Metric& metric : metrics) {
    Entry entry;
    entry.listed = true;
    const auto found = numbers.find(metric.unique_name);
    if (found != numbers.end()) {
      taken[found->second] = true;
      if (!metric.derived() && !input_.profile.metrics[found->second].derived()) {
        entry.input = static_cast<int>(found->second);
        metric.kind = input_.profile.metrics[found->second].kind;
        metric.data_type = input_.profile.metrics[found->second].data_type;
      }
    }
    entry.metric = std::move(metric);
    entries_.push_back(std::move(entry));
  }
  for (size_t at = 0; at < taken.size(); ++at) {
    if (taken[at]) continue;
    Entry entry;
    entry.metric = input_.profile.metrics[at];
    entry.input = entry.metric.derived() ? -1 : static_cast<int>(at);
    entries_.push_back(std::move(entry));
  }
}

const std::string& MetricSet::file_of(const Entry& entry) const {
  return entry.listed || entry.definition ? name_ : input_.archive.path();
}

std::optional<Program> MetricSet::parse_code(const Metric::Code& code, const Entry& entry, const std::string& kind) {
  const bool blank = code.text.find_first_not_of(" \t\r\n") == std::string::npos;
  if (blank) return std::nullopt;
  const Source source{file_of(entry) + ": metric " + entry.metric.unique_name + ": " + kind,
                      static_cast<uint32_t>(std::max<size_t>(1, code.line))};
  return parse(code.text, source, symbols_);
}

void MetricSet::parse_all() {
  for (size_t at = 0; at < entries_.size(); ++at) {
    Entry& entry = entries_[at];
    if (!entry.metric.derived()) continue;
    entry.expression = parse_code(entry.metric.expression, entry, "expression");
    entry.plus = parse_code(entry.metric.plus, entry, "aggregation +");
    entry.minus = parse_code(entry.metric.minus, entry, "aggregation -");
    if (!entry.expression) {
      throw Error(file_of(entry) + ": metric " + entry.metric.unique_name + ": expected an expression, found none");
    }
    add_defined(static_cast<int>(at));
  }
  entries_.insert(entries_.end(), std::make_move_iterator(defined_.begin()), std::make_move_iterator(defined_.end()));
  defined_.clear();
}

// Takes the metrics that the program which was parsed last defines.
void MetricSet::add_defined(int by) {
  for (size_t at = defined_.size(); at < symbols_.defined().size(); ++at) {
    const Symbols::Defined& defined = symbols_.defined()[at];
    const bool post = defined.kind == Metric::Kind::postderived;
    const char* const flavour = post ? "" : defined.kind == Metric::Kind::prederived_inclusive ? "i" : "e";
    Entry entry;
    entry.metric.unique_name = entry.metric.display_name = defined.name;
    entry.metric.kind = defined.kind;
    entry.metric.visibility = Metric::Visibility::ghost;
    entry.metric.data_type = "DOUBLE";
    entry.expression = defined.program;
    entry.definition = Definition{std::string("cube::metric::") + (post ? "post" : "pre") +
                                      "derived::" + defined.name + "(" + flavour + ") << " + defined.text + "\n>>;\n",
                                  by};
    defined_.push_back(std::move(entry));
  }
}

void MetricSet::resolve(const Warn& warn) {
  std::unordered_map<std::string, int> numbers;
  for (size_t at = 0; at < entries_.size(); ++at) {
    numbers.try_emplace(entries_[at].metric.unique_name, static_cast<int>(at));
  }
  for (const std::string& name : symbols_.metrics()) {
    const auto found = numbers.find(name);
    entry_of_.push_back(found == numbers.end() ? -1 : found->second);
    if (found == numbers.end()) warn(name_ + ": there is no metric " + name + ": its values are 0");
  }
}

void MetricSet::initialise(const std::vector<Program>& programs) {
  Initialising surroundings(*this);
  Evaluator evaluator(surroundings, globals_);
  for (const Program& program : programs) evaluator.initialise(program, globals_);
}

namespace {

void collect_metrics(const Node& node, std::vector<uint32_t>& symbols) {
  if (node.op == Op::metric) symbols.push_back(node.slot);
  for (const Node& child : node.children) collect_metrics(child, symbols);
}

}  // namespace

// A metric must not need its own value. Depth first; the recursion is as deep as the chain of references.
void MetricSet::refuse_cycles() const {
  enum class State : uint8_t { fresh, open, done };
  std::vector<State> states(entries_.size(), State::fresh);
  const std::function<void(size_t)> visit = [&](size_t at) {
    if (states[at] == State::done) return;
    const Entry& entry = entries_[at];
    if (states[at] == State::open) {
      throw Error(file_of(entry) + ": metric " + entry.metric.unique_name +
                  ": its expression needs the metric itself");
    }
    states[at] = State::open;
    std::vector<uint32_t> symbols;
    for (const auto* program : {&entry.expression, &entry.plus, &entry.minus}) {
      if (*program) collect_metrics((*program)->root, symbols);
    }
    for (const uint32_t symbol : symbols) {
      if (entry_of_[symbol] >= 0 && !entry.hidden()) visit(static_cast<size_t>(entry_of_[symbol]));
    }
    states[at] = State::done;
  };
  for (size_t at = 0; at < entries_.size(); ++at) visit(at);
}

}  // namespace tailrace::cube
