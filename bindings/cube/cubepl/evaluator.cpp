#include "cube/cubepl/evaluator.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "cube/archive/error.hpp"
#include "cube/cubepl/functions.hpp"

namespace tailrace::cube {
namespace {

constexpr size_t kMostRows = 4096;                 // of one evaluation
constexpr uint64_t kMostRepeated = 1'000'000'000;  // times, as in CubePL

// The locations take different ways.
struct Differs {};

bool same(const Value& left, const Value& right) {
  return left.kind == right.kind && left.row == right.row && left.text.data() == right.text.data() &&
         left.text.size() == right.text.size() && (left.number == right.number || left.number != left.number);
}

double number_of(const Value& value) { return value.is_text() ? number_in(value.text) : value.number; }

bool is_number(const Value& value) { return !value.is_row(); }

}  // namespace

struct Evaluator::Frame {
  const Program& program;
  const Place& place;
  std::vector<Variable> locals;  // then those that hide global variables
  std::vector<uint32_t> hidden;  // the global variables
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

void Evaluator::run(const Program& program, const Place& place, double* values) {
  const size_t rows = rows_used_;
  const size_t texts = texts_.size();
  Frame frame{program, place, std::vector<Variable>(program.locals.size()), {}};
  const Setting<Frame*> current(frame_, &frame);
  bool differs = false;
  try {
    const Value value = evaluate(program.root);
    if (value.is_row()) {
      std::copy_n(value.row, place.count, values);
    } else {
      std::fill_n(values, place.count, number_of(value));
    }
  } catch (const Differs&) {
    differs = true;
  }
  rows_used_ = rows;
  texts_.resize(texts);
  if (differs) run_each(program, place, values);
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
  const size_t rows = rows_used_;
  const size_t texts = texts_.size();
  Place all = place;
  all.count = kMostLocations;
  Frame frame{program, all, std::vector<Variable>(program.locals.size()), {}};
  const Setting<Frame*> current(frame_, &frame);
  const Setting<bool> unknown(probing_, true);
  std::optional<double> result;
  try {
    const Value value = evaluate(program.root);
    if (!value.is_row()) result = number_of(value);
  } catch (const Differs&) {
  }
  rows_used_ = rows;
  texts_.resize(texts);
  return result;
}

void Evaluator::initialise(const Program& program, Globals& globals) {
  const Setting<Globals*> writing(writable_, &globals);
  double ignored = 0;
  run(program, Place{}, &ignored);
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
    case Op::print:
      if (!probing_) std::printf("%s\n", std::string(text_of(evaluate(statement.children[0]))).c_str());
      return false;
    case Op::set_metric_property:
      if (writable_ == nullptr) fail(statement, "a metric's property is set outside of an initialisation");
      surroundings_.set_metric_property(statement.slot, statement.text,
                                        std::string(text_of(evaluate(statement.children[0]))));
      return false;
    default: fail(statement, "is no statement");
  }
}

bool Evaluator::choose(const Node& node, size_t from, Value& result) {
  if (from >= node.children.size()) return false;
  if (from + 1 == node.children.size()) return execute_block(node.children[from], result);
  const Value condition = evaluate(node.children[from]);
  if (condition.is_row()) return choose_both(node, from, condition, result);
  if (number_of(condition) != 0) return execute_block(node.children[from + 1], result);
  return choose(node, from + 2, result);
}

// Each location takes its own branch: both are executed, and the variables blended.
bool Evaluator::choose_both(const Node& node, size_t from, const Value& condition, Value& result) {
  if (condition.row == nullptr) throw Differs();
  const std::vector<Variable> before = frame_->locals;
  if (execute_block(node.children[from + 1], result)) throw Differs();
  std::vector<Variable> chosen = std::exchange(frame_->locals, before);
  if (chosen.size() != before.size()) throw Differs();
  if (choose(node, from + 2, result) || frame_->locals.size() != chosen.size()) throw Differs();
  blend(condition, std::move(chosen));
  return false;
}

void Evaluator::blend(const Value& condition, std::vector<Variable> chosen) {
  for (size_t slot = 0; slot < chosen.size(); ++slot) {
    Variable& others = frame_->locals[slot];
    const size_t size = std::max(others.size(), chosen[slot].size());
    others.resize(size);
    chosen[slot].resize(size);
    for (size_t index = 0; index < size; ++index) {
      if (!same(chosen[slot][index], others[index])) {
        others[index] = blended(condition, chosen[slot][index], others[index]);
      }
    }
  }
}

Value Evaluator::blended(const Value& condition, const Value& chosen, const Value& other) {
  if (chosen.is_text() || other.is_text()) throw Differs();
  double* const row = memory();
  for (uint32_t at = 0; at < frame_->place.count; ++at) {
    const Value& one = condition.row[at] != 0 ? chosen : other;
    row[at] = one.is_row() ? one.row[at] : one.number;
  }
  return Value::of_row(row);
}

bool Evaluator::repeat(const Node& node, Value& result) {
  for (uint64_t times = 0; times < kMostRepeated; ++times) {
    const Value condition = evaluate(node.children[0]);
    if (condition.is_row()) throw Differs();
    if (number_of(condition) == 0) return false;
    if (execute_block(node.children[1], result)) return true;
  }
  return false;
}

// children: the value, then the index if there is one.
void Evaluator::assign(const Node& node) {
  Value value = evaluate(node.children[0]);
  const std::optional<size_t> index = index_of(node, 1);
  if (!index) fail(node, "expected an index of 0 to 2^28");
  if (node.op == Op::assign_global && writable_ != nullptr) return writable_->set(node.slot, *index, value);
  size_t slot = node.slot;
  if (node.op == Op::assign_global) {
    const auto found = std::find(frame_->hidden.begin(), frame_->hidden.end(), node.slot);
    slot = frame_->program.locals.size() + static_cast<size_t>(found - frame_->hidden.begin());
    if (found == frame_->hidden.end()) {
      frame_->hidden.push_back(node.slot);
      Variable copy;
      for (size_t at = 0; at < globals_.size(node.slot); ++at) copy.push_back(globals_.get(node.slot, at));
      frame_->locals.push_back(std::move(copy));
    }
  }
  Variable& variable = frame_->locals[slot];
  if (*index >= variable.size()) variable.resize(*index + 1);
  variable[*index] = value.kind == Value::Kind::unset ? Value::of(0.0) : value;
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
      return map(left, right, [](double a, double b) { return a * b; });
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
    case Op::is_defined: return is_defined(node.children[0]);
    case Op::metric_property: return Value::of(keep(surroundings_.metric_property(node.slot, node.text)));
    case Op::block: {
      Value result = Value::of(0.0);
      execute_block(node, result);
      return result;
    }
    default: fail(node, "is no expression");
  }
}

// "and" and "or" leave the right side out if the left one decides.
Value Evaluator::logical(const Node& node) {
  const Value left = evaluate(node.children[0]);
  if (is_number(left) && node.op != Op::logical_xor) {
    const bool holds = number_of(left) != 0;
    if (holds == (node.op == Op::logical_or)) return Value::of(holds ? 1.0 : 0.0);
    return map(evaluate(node.children[1]), [](double a) { return a != 0 ? 1.0 : 0.0; });
  }
  const Value right = evaluate(node.children[1]);
  switch (node.op) {
    case Op::logical_and: return map(left, right, [](double a, double b) { return a != 0 && b != 0 ? 1.0 : 0.0; });
    case Op::logical_or: return map(left, right, [](double a, double b) { return a != 0 || b != 0 ? 1.0 : 0.0; });
    default: return map(left, right, [](double a, double b) { return (a != 0) != (b != 0) ? 1.0 : 0.0; });
  }
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
  double* const row = memory();
  const Place& place = frame_->place;
  for (uint32_t at = 0; at < place.count; ++at) {
    row[at] = random_number((uint64_t{place.call_path} << 32) + place.first + at, node.line * 1000 + node.column);
  }
  const Value share = place.count == 1 ? Value::of(*row) : Value::of_row(row);
  return map(share, most, [](double a, double b) { return a * b; });
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
    double value = 0;
    return Value::of(*surroundings_.metric(node.slot, place, &value));
  }
  double* const room = memory();
  const double* const row = surroundings_.metric(node.slot, place, room);
  return place.count == 1 ? Value::of(*row) : Value::of_row(row);
}

Value Evaluator::predefined(const Node& node) {
  const std::optional<size_t> index = index_of(node, 0);
  if (!index) return {};
  using Object = Predefined::Object;
  const Predefined& which = node.predefined;
  const bool of_location = which.calculation && (which.object == Object::location || which.object == Object::group);
  if (of_location && probing_) return Value::of_row(nullptr);
  double* const row = memory();
  const Value value = surroundings_.predefined(node.predefined, *index, frame_->place, row);
  if (value.kind == Value::Kind::unset && of_location && frame_->place.count > 1) throw Differs();
  return value;
}

Value Evaluator::variable(const Node& node) {
  const std::optional<size_t> index = index_of(node, 0);
  const Variable& variable = frame_->locals[node.slot];
  return index && *index < variable.size() ? variable[*index] : Value();
}

Value Evaluator::global(const Node& node) {
  const std::optional<size_t> index = index_of(node, 0);
  if (!index) return {};
  if (writable_ != nullptr) return writable_->get(node.slot, *index);
  const auto hidden = std::find(frame_->hidden.begin(), frame_->hidden.end(), node.slot);
  if (hidden == frame_->hidden.end()) return globals_.get(node.slot, *index);
  const Variable& variable =
      frame_->locals[frame_->program.locals.size() + static_cast<size_t>(hidden - frame_->hidden.begin())];
  return *index < variable.size() ? variable[*index] : Value();
}

Value Evaluator::size_of(const Node& node) {
  size_t size = 0;
  if (node.op == Op::predefined) size = surroundings_.predefined_size(node.predefined);
  if (node.op == Op::local) size = frame_->locals[node.slot].size();
  if (node.op == Op::global) {
    const auto hidden = std::find(frame_->hidden.begin(), frame_->hidden.end(), node.slot);
    const size_t place = frame_->program.locals.size() + static_cast<size_t>(hidden - frame_->hidden.begin());
    size = hidden != frame_->hidden.end() ? frame_->locals[place].size()
                                          : (writable_ != nullptr ? *writable_ : globals_).size(node.slot);
  }
  return Value::of(static_cast<double>(size));
}

Value Evaluator::is_defined(const Node& node) {
  if (node.op == Op::predefined) return Value::of(1.0);
  return Value::of(size_of(node).number > 0 ? 1.0 : 0.0);
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

std::string_view Evaluator::keep(std::string text) { return texts_.emplace_back(std::move(text)); }

double* Evaluator::memory() {
  if (frame_->place.count > 1 && rows_used_ >= kMostRows) throw Differs();
  if (rows_used_ == rows_.size()) rows_.push_back(std::make_unique_for_overwrite<double[]>(kMostLocations));
  return rows_[rows_used_++].get();
}

// Returns 0 if there is no index; nothing for one that no variable can have.
std::optional<size_t> Evaluator::index_of(const Node& node, size_t child) {
  if (child >= node.children.size()) return 0;
  const Value value = evaluate(node.children[child]);
  if (value.is_row()) throw Differs();
  const double index = number_of(value);
  if (!(index > -1) || index >= static_cast<double>(Globals::kMostElements)) return std::nullopt;
  return static_cast<size_t>(index);
}

void Evaluator::fail(const Node& node, const std::string& reason) const {
  throw Error(frame_->program.where + ", line " + std::to_string(node.line) + ", column " +
              std::to_string(node.column) + ": " + reason);
}

}  // namespace tailrace::cube
