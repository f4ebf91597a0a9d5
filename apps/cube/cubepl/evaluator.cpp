#include "cube/cubepl/evaluator.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "cube/archive/error.hpp"
#include "cube/cubepl/functions.hpp"

namespace tailrace::cube {
namespace {

constexpr size_t kMostRows = 4096;                 // of one evaluation
constexpr size_t kMostTexts = size_t{1} << 24;     // likewise
constexpr size_t kMostElements = size_t{1} << 22;  // of its variables
constexpr uint64_t kMostRepeated = 1'000'000'000;  // times, as in CubePL

// The locations take different ways.
struct Differs {};

bool same(const Value& left, const Value& right) {
  return left.kind == right.kind && left.row == right.row && left.text.data() == right.text.data() &&
         left.text.size() == right.text.size() && (left.number == right.number || left.number != left.number);
}

double number_of(const Value& value) { return value.is_text() ? number_in(value.text) : value.number; }

bool is_number(const Value& value) { return !value.is_row(); }

// Returns the product of two numbers: 0 if one of them is 0, whatever the other one is, and never -0.
double product(double a, double b) {
  const double value = a * b + 0.0;
  return value == value || (a != 0 && b != 0) ? value : 0.0;
}

bool assigns(const Node& node) {
  return node.op == Op::assign_local || node.op == Op::assign_global ||
         std::any_of(node.children.begin(), node.children.end(), assigns);
}

}  // namespace

struct Evaluator::Frame {
  const Program& program;
  const Place& place;
  std::vector<Variable> locals;    // then what was assigned to global variables
  std::vector<uint32_t> assigned;  // these
  size_t elements = 0;             // of all variables
  // Where the locations take different branches: 1 for those that take the present one. Null: all do.
  const double* taking = nullptr;
  bool some_only = false;  // an element was set for some of the locations: of the others it is 0 or was never set
};

// ---- programs ----------------------------------------------------------------------------------------------------

namespace {

// Sets a variable until the end of the block.
template <typename T>
class Setting {
 public:
  Setting(T& variable, T value) : variable_(variable), before_(std::exchange(variable, value)) {}
  ~Setting() { variable_ = before_; }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

 private:
  T& variable_;
  const T before_;
};

}  // namespace

// Gives back what an evaluation has taken of the memory.
class Evaluator::Taken {
 public:
  explicit Taken(Evaluator& evaluator)
      : evaluator_(evaluator), rows_(evaluator.rows_used_), texts_(evaluator.texts_.size()) {}
  ~Taken() {
    evaluator_.rows_used_ = rows_;
    evaluator_.texts_.resize(texts_);
  }
  Taken(const Taken&) = delete;
  Taken& operator=(const Taken&) = delete;

 private:
  Evaluator& evaluator_;
  const size_t rows_;
  const size_t texts_;
};

void Evaluator::run(const Program& program, const Place& place, double* values) {
  try {
    const Taken taken(*this);
    Frame frame{program, place, std::vector<Variable>(program.locals.size()), {}};
    const Setting<Frame*> current(frame_, &frame);
    const Value value = evaluate(program.root);
    if (value.is_row()) {
      std::copy_n(value.row, place.count, values);
    } else {
      std::fill_n(values, place.count, number_of(value));
    }
  } catch (const Differs&) {
    if (for_some_) throw;
    run_each(program, place, values);
  }
}

void Evaluator::run_each(const Program& program, const Place& place, double* values) {
  if (place.count == 1) throw Error(program.where + ": the value is a row, for one location");
  for (uint32_t location = 0; location < place.count; ++location) {
    Place one = place;
    one.first += location;
    one.count = 1;
    if (one.argument1 != nullptr) one.argument1 += location;
    if (one.argument2 != nullptr) one.argument2 += location;
    run(program, one, values + location);
  }
}

std::optional<double> Evaluator::same_for_all(const Program& program, const Place& place) {
  Place all = place;
  all.count = kMostLocations;
  const Taken taken(*this);
  Frame frame{program, all, std::vector<Variable>(program.locals.size()), {}};
  const Setting<Frame*> current(frame_, &frame);
  const Setting<bool> unknown(probing_, true);
  try {
    const Value value = evaluate(program.root);
    if (!value.is_row()) return number_of(value);
  } catch (const Differs&) {
  }
  return std::nullopt;
}

void Evaluator::initialise(const Program& program, Globals& globals) {
  const Setting<Globals*> writing(writable_, &globals);
  double ignored = 0;
  run(program, Place{}, &ignored);
}

// ---- branches ----------------------------------------------------------------------------------------------------

// Returns where the locations go that take the present branch.
Evaluator::Decision Evaluator::decide(const Value& condition) const {
  if (!condition.is_row()) return number_of(condition) != 0 ? Decision::holds : Decision::fails;
  if (condition.row == nullptr) throw Differs();
  bool holds = false;
  bool fails = false;
  for (uint32_t at = 0; at < frame_->place.count; ++at) {
    if (frame_->taking != nullptr && frame_->taking[at] == 0) continue;
    (condition.row[at] != 0 ? holds : fails) = true;
  }
  return holds && fails ? Decision::differs : holds ? Decision::holds : Decision::fails;
}

// Returns those of them for which the condition holds, or does not.
const double* Evaluator::taking(const Value& condition, bool holds) {
  double* const row = memory();
  for (uint32_t at = 0; at < frame_->place.count; ++at) {
    const bool here = frame_->taking == nullptr || frame_->taking[at] != 0;
    row[at] = here && (condition.row[at] != 0) == holds ? 1 : 0;
  }
  return row;
}

// ---- statements --------------------------------------------------------------------------------------------------

bool Evaluator::execute_block(const Node& block, Value& result) {
  for (const Node& statement : block.children) {
    if (execute(statement, result)) return true;
  }
  return false;
}

bool Evaluator::execute(const Node& statement, Value& result) {
  switch (statement.op) {
    case Op::give: result = evaluate(statement.children[0]); return true;
    case Op::assign_local:
    case Op::assign_global: assign(statement); return false;
    case Op::choose: return choose(statement, 0, result);
    case Op::repeat: return repeat(statement, result);
    case Op::nothing: return false;
    case Op::print: print(statement); return false;
    case Op::set_metric_property:
      if (writable_ == nullptr) fail(statement, "a metric's property is set outside of an initialisation");
      surroundings_.set_metric_property(statement.slot, statement.text,
                                        std::string(text_of(evaluate(statement.children[0]))));
      return false;
    default: fail(statement, "is not a statement");
  }
}

// Once for each location.
void Evaluator::print(const Node& node) {
  const Value value = evaluate(node.children[0]);
  if (probing_) return;
  if (frame_->place.count > 1 || for_some_) throw Differs();
  std::printf("%s\n", std::string(text_of(value)).c_str());
}

bool Evaluator::choose(const Node& node, size_t from, Value& result) {
  if (from >= node.children.size()) return false;
  if (from + 1 == node.children.size()) return execute_block(node.children[from], result);
  const Value condition = evaluate(node.children[from]);
  switch (decide(condition)) {
    case Decision::holds: return execute_block(node.children[from + 1], result);
    case Decision::fails: return choose(node, from + 2, result);
    default: break;
  }
  // A block that some locations have left is not gone on with for the others.
  {
    const Setting<const double*> some(frame_->taking, taking(condition, true));
    if (execute_block(node.children[from + 1], result)) throw Differs();
  }
  const Setting<const double*> others(frame_->taking, taking(condition, false));
  if (choose(node, from + 2, result)) throw Differs();
  return false;
}

bool Evaluator::repeat(const Node& node, Value& result) {
  const Setting<const double*> going_on(frame_->taking, frame_->taking);
  bool differs = false;
  for (uint64_t times = 0; times < kMostRepeated; ++times) {
    const Value condition = evaluate(node.children[0]);
    const Decision decision = decide(condition);
    if (decision == Decision::fails) return false;
    if (decision == Decision::differs) {
      frame_->taking = taking(condition, true);
      differs = true;
    }
    if (!execute_block(node.children[1], result)) continue;
    if (differs) throw Differs();
    return true;
  }
  return false;
}

// children: the value, then the index if there is one.
void Evaluator::assign(const Node& node) {
  Value value = evaluate(node.children[0]);
  if (value.kind == Value::Kind::unset) value = Value::of(0.0);
  const std::optional<size_t> index = index_of(node, 1);
  if (!index) fail(node, "expected an index of 0 to 2^28");
  if (node.op == Op::assign_global && writable_ != nullptr) {
    if (writable_->set(node.slot, *index, value)) return;
    fail(node, "expected at most 2^26 elements of global variables, found more");
  }
  Variable& variable = node.op == Op::assign_local ? frame_->locals[node.slot] : hiding(node.slot);
  if (frame_->taking != nullptr) value = merged(value, node, variable, *index);
  if (variable.set(*index, value) && ++frame_->elements > kMostElements) {
    fail(node, "expected at most 2^22 elements of variables in one evaluation, found more");
  }
}

// Returns the value for the locations that take the present branch, and that of the element for the others.
Value Evaluator::merged(const Value& value, const Node& target, const Variable& variable, size_t index) {
  const Value* before = variable.find(index);
  Value global;
  if (before == nullptr && target.op == Op::assign_global) {
    global = globals_.get(target.slot, index);
    if (global.kind != Value::Kind::unset) before = &global;
  }
  if (before == nullptr) frame_->some_only = true;
  const Value other = before == nullptr ? Value::of(0.0) : *before;
  if (before != nullptr && same(value, other)) return value;
  if (value.is_text() || other.is_text()) throw Differs();
  double* const row = memory();
  for (uint32_t at = 0; at < frame_->place.count; ++at) {
    const Value& one = frame_->taking[at] != 0 ? value : other;
    row[at] = one.is_row() ? one.row[at] : one.number;
  }
  return Value::of_row(row);
}

// ---- expressions -------------------------------------------------------------------------------------------------

Value Evaluator::evaluate(const Node& node) {
  const auto child = [&](size_t at) { return evaluate(node.children[at]); };
  switch (node.op) {
    case Op::number: return Value::of(node.number);
    case Op::text: return Value::of(std::string_view(node.text));
    case Op::local: return variable(node);
    case Op::global: return global(node);
    case Op::predefined: return predefined(node);
    case Op::metric: return metric(node);
    case Op::argument: {
      const double* const row = node.slot == 1 ? frame_->place.argument1 : frame_->place.argument2;
      if (row == nullptr) fail(node, "arg1 and arg2 are for aggregations only");
      return frame_->place.count == 1 ? Value::of(*row) : Value::of_row(row);
    }
    case Op::add: return pair(node, [](double a, double b) { return a + b; });
    case Op::subtract: return pair(node, [](double a, double b) { return a - b; });
    case Op::multiply: {
      const Value left = child(0);
      const Value right = child(1);
      if ((is_number(left) && number_of(left) == 0) || (is_number(right) && number_of(right) == 0)) {
        return Value::of(0.0);
      }
      return map(left, right, product);
    }
    case Op::divide: return pair(node, [](double a, double b) { return b == 0 ? 0.0 : a / b; });
    case Op::power: return pair(node, [](double a, double b) { return std::pow(a, b); });
    case Op::negate: return map(child(0), [](double a) { return -a; });
    case Op::less: return pair(node, [](double a, double b) { return a < b ? 1.0 : 0.0; });
    case Op::less_equal: return pair(node, [](double a, double b) { return a <= b ? 1.0 : 0.0; });
    case Op::greater: return pair(node, [](double a, double b) { return a > b ? 1.0 : 0.0; });
    case Op::greater_equal: return pair(node, [](double a, double b) { return a >= b ? 1.0 : 0.0; });
    case Op::equal: return pair(node, [](double a, double b) { return a == b ? 1.0 : 0.0; });
    case Op::not_equal: return pair(node, [](double a, double b) { return a != b ? 1.0 : 0.0; });
    case Op::same_text:
    case Op::same_text_any_case: return compare_texts(node);
    case Op::matches: return matches(node);
    case Op::logical_and:
    case Op::logical_or:
    case Op::logical_xor: return logical(node);
    case Op::logical_not: return map(child(0), [](double a) { return a == 0 ? 1.0 : 0.0; });
    case Op::call: return call(node);
    case Op::size_of: return size_of(node.children[0]);
    case Op::is_defined: {
      const Node& about = node.children[0];
      return Value::of(about.op == Op::predefined || size_of(about).number > 0 ? 1.0 : 0.0);
    }
    case Op::metric_property: return Value::of(keep(surroundings_.metric_property(node.slot, node.text)));
    case Op::block: {
      Value result = Value::of(0.0);
      execute_block(node, result);
      return result;
    }
    default: fail(node, "is not an expression");
  }
}

// "and" and "or" evaluate the right side for the locations for which the left one does not decide.
Value Evaluator::logical(const Node& node) {
  const Value left = evaluate(node.children[0]);
  if (node.op == Op::logical_xor) {
    return map(left, evaluate(node.children[1]), [](double a, double b) { return (a != 0) != (b != 0) ? 1.0 : 0.0; });
  }
  const bool is_and = node.op == Op::logical_and;
  if (left.is_row() && left.row == nullptr) {
    if (assigns(node.children[1])) throw Differs();
    return left;
  }
  const Decision decision = decide(left);
  if (decision == (is_and ? Decision::fails : Decision::holds)) return Value::of(is_and ? 0.0 : 1.0);
  const bool differs = decision == Decision::differs;
  const Setting<const double*> some(frame_->taking, differs ? taking(left, is_and) : frame_->taking);
  const Value right = evaluate(node.children[1]);
  if (!differs) return map(right, [](double a) { return a != 0 ? 1.0 : 0.0; });
  if (is_and) return map(left, right, [](double a, double b) { return a != 0 && b != 0 ? 1.0 : 0.0; });
  return map(left, right, [](double a, double b) { return a != 0 || b != 0 ? 1.0 : 0.0; });
}

Value Evaluator::compare_texts(const Node& node) {
  const Value left = evaluate(node.children[0]);
  const Value right = evaluate(node.children[1]);
  const std::string_view one = text_of(left);
  const std::string_view other = text_of(right);
  const bool equal = node.op == Op::same_text ? one == other : same_in_any_case(one, other);
  return Value::of(equal ? 1.0 : 0.0);
}

Value Evaluator::matches(const Node& node) {
  return Value::of(node.regex->matches(text_of(evaluate(node.children[0]))) ? 1.0 : 0.0);
}

Value Evaluator::call(const Node& node) {
  const Value first = evaluate(node.children[0]);
  switch (node.function) {
    case Function::min:
      return map(first, evaluate(node.children[1]), [](double a, double b) { return b < a ? b : a; });
    case Function::max:
      return map(first, evaluate(node.children[1]), [](double a, double b) { return b > a ? b : a; });
    case Function::lowercase: return Value::of(keep(lowercase(text_of(first))));
    case Function::uppercase: return Value::of(keep(uppercase(text_of(first))));
    case Function::env: {
      const char* const value = std::getenv(std::string(text_of(first)).c_str());
      return Value::of(keep(value == nullptr ? "" : value));
    }
    case Function::random: return random(node, first);
    // These two are common in rows, and short.
    case Function::pos: return map(first, [](double a) { return a > 0 ? a : 0.0; });
    case Function::abs: return map(first, [](double a) { return std::fabs(a); });
    default: return map(first, [function = node.function](double a) { return function_value(function, a); });
  }
}

// Depends on the place alone, so that a run can be repeated.
Value Evaluator::random(const Node& node, const Value& most) {
  if (probing_) return Value::of_row(nullptr);
  const Place& place = frame_->place;
  const auto share = [&](uint32_t at) {
    return random_number((uint64_t{place.call_path} << 32) + place.first + at, node.line * 1000 + node.column);
  };
  const auto scaled = [](double a, double b) { return a * b; };
  if (place.count == 1) return map(Value::of(share(0)), most, scaled);
  double* const row = memory();
  for (uint32_t at = 0; at < place.count; ++at) row[at] = share(at);
  return map(Value::of_row(row), most, scaled);
}

Value Evaluator::metric(const Node& node) {
  if (probing_) return Value::of_row(nullptr);
  Place place = frame_->place;
  if (node.reference.call == Reference::Call::exclusive) place.flavour = Flavour::exclusive;
  if (node.reference.call == Reference::Call::inclusive) place.flavour = Flavour::inclusive;
  if (node.reference.system != Reference::System::location || place.whole_system) {
    place.whole_system = true;
    place.whole_program = place.whole_program || node.reference.system == Reference::System::whole_program;
    place.count = 1;
  }
  double single = 0;
  double* const room = place.count == 1 ? &single : memory();
  const Setting<bool> some(for_some_, for_some_ || frame_->taking != nullptr);
  try {
    const double* const row = surroundings_.metric(node.slot, place, room);
    return place.count == 1 ? Value::of(*row) : Value::of_row(row);
  } catch (const Error&) {
    // The metric's own program has run for all locations: it may have failed for one that does not need it.
    if (!for_some_) throw;
    throw Differs();
  }
}

Value Evaluator::predefined(const Node& node) {
  const std::optional<size_t> index = index_of(node, 0);
  if (!index) return {};
  using Object = Predefined::Object;
  const Predefined& which = node.predefined;
  const bool of_location = which.calculation && (which.object == Object::location || which.object == Object::group);
  if (of_location && probing_) return Value::of_row(nullptr);
  double* const row = of_location && frame_->place.count > 1 ? memory() : nullptr;
  const Value value = surroundings_.predefined(node.predefined, *index, frame_->place, row);
  if (value.kind == Value::Kind::unset && row != nullptr) throw Differs();
  return value;
}

Value Evaluator::variable(const Node& node) {
  const std::optional<size_t> index = index_of(node, 0);
  const Value* const found = index ? frame_->locals[node.slot].find(*index) : nullptr;
  return found == nullptr ? Value() : *found;
}

// Returns what was assigned to a global variable in this evaluation, which hides its elements.
Evaluator::Variable& Evaluator::hiding(uint32_t global) {
  const auto found = std::find(frame_->assigned.begin(), frame_->assigned.end(), global);
  const size_t at = frame_->program.locals.size() + static_cast<size_t>(found - frame_->assigned.begin());
  if (found == frame_->assigned.end()) {
    frame_->assigned.push_back(global);
    frame_->locals.emplace_back();
  }
  return frame_->locals[at];
}

const Evaluator::Variable* Evaluator::find_hiding(uint32_t global) const {
  const auto found = std::find(frame_->assigned.begin(), frame_->assigned.end(), global);
  if (found == frame_->assigned.end()) return nullptr;
  return &frame_->locals[frame_->program.locals.size() + static_cast<size_t>(found - frame_->assigned.begin())];
}

Value Evaluator::global(const Node& node) {
  const std::optional<size_t> index = index_of(node, 0);
  if (!index) return {};
  if (writable_ != nullptr) {
    const Value value = writable_->get(node.slot, *index);
    return value.is_text() ? Value::of(keep(std::string(value.text))) : value;  // it may be set again
  }
  const Variable* const hiding = find_hiding(node.slot);
  const Value* const found = hiding == nullptr ? nullptr : hiding->find(*index);
  return found == nullptr ? globals_.get(node.slot, *index) : *found;
}

Value Evaluator::size_of(const Node& node) {
  size_t size = 0;
  if (node.op == Op::predefined) size = surroundings_.predefined_size(node.predefined);
  if (node.op != Op::predefined && frame_->some_only) throw Differs();
  if (node.op == Op::local) size = frame_->locals[node.slot].size();
  if (node.op == Op::global) {
    size = (writable_ != nullptr ? *writable_ : globals_).size(node.slot);
    if (const Variable* const hiding = find_hiding(node.slot)) size = std::max(size, hiding->size());
  }
  return Value::of(static_cast<double>(size));
}

// ---- rows and texts ----------------------------------------------------------------------------------------------

template <typename F>
Value Evaluator::map(const Value& one, F function) {
  if (is_number(one)) return Value::of(function(number_of(one)));
  if (one.row == nullptr) return one;
  double* const row = memory();
  const double* const from = one.row;
  for (uint32_t at = 0; at < frame_->place.count; ++at) row[at] = function(from[at]);
  return Value::of_row(row);
}

template <typename F>
Value Evaluator::map(const Value& left, const Value& right, F function) {
  if (is_number(left) && is_number(right)) return Value::of(function(number_of(left), number_of(right)));
  if (probing_) return Value::of_row(nullptr);
  double* const row = memory();
  const uint32_t count = frame_->place.count;
  if (is_number(left)) {
    const double number = number_of(left);
    for (uint32_t at = 0; at < count; ++at) row[at] = function(number, right.row[at]);
  } else if (is_number(right)) {
    const double number = number_of(right);
    for (uint32_t at = 0; at < count; ++at) row[at] = function(left.row[at], number);
  } else {
    for (uint32_t at = 0; at < count; ++at) row[at] = function(left.row[at], right.row[at]);
  }
  return Value::of_row(row);
}

// The operands have an order: they may assign variables.
template <typename F>
Value Evaluator::pair(const Node& node, F function) {
  const Value left = evaluate(node.children[0]);
  const Value right = evaluate(node.children[1]);
  return map(left, right, function);
}

std::string_view Evaluator::text_of(const Value& value) {
  switch (value.kind) {
    case Value::Kind::unset: return "";
    case Value::Kind::text: return value.text;
    case Value::Kind::number: return keep(text_of_number(value.number));
    default: throw Differs();
  }
}

std::string_view Evaluator::keep(std::string text) {
  if (texts_.size() >= kMostTexts) {
    throw Error(frame_->program.where + ": expected at most 2^24 texts in one evaluation, found more");
  }
  return texts_.emplace_back(std::move(text));
}

// For a row of several locations.
double* Evaluator::memory() {
  if (rows_used_ >= kMostRows) throw Differs();
  if (rows_used_ == rows_.size()) rows_.push_back(std::make_unique_for_overwrite<double[]>(kMostLocations));
  return rows_[rows_used_++].get();
}

// Returns 0 if there is no index; nothing for one that no variable can have.
std::optional<size_t> Evaluator::index_of(const Node& node, size_t child) {
  if (child >= node.children.size()) return 0;
  const Value value = evaluate(node.children[child]);
  if (value.is_row()) throw Differs();
  const double index = number_of(value);
  if (!(index > -1) || index >= static_cast<double>(Globals::kMostIndices)) return std::nullopt;
  return static_cast<size_t>(index);
}

void Evaluator::fail(const Node& node, const std::string& reason) const {
  throw Error(frame_->program.where + ", line " + std::to_string(node.line) + ", column " +
              std::to_string(node.column) + ": " + reason);
}

}  // namespace tailrace::cube
