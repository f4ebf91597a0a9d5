// Evaluator: computes an expression of CubePL for one call path and a range of locations at a time.
//
// A value that is the same for all locations is computed once, and rows element by element in short loops. Where the
// locations take different branches, each of these runs for the locations that take it. Where they differ in another
// way (a return, or a text), the range is computed one by one. So each location has the value that it has alone.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cube/cubepl/elements.hpp"
#include "cube/cubepl/globals.hpp"
#include "cube/cubepl/tree.hpp"
#include "cube/cubepl/value.hpp"

namespace tailrace::cube {

// For what a value is calculated.
struct Place {
  uint32_t call_path = 0;
  Flavour flavour = Flavour::exclusive;
  uint32_t first = 0;                 // location
  uint32_t count = 1;                 // of locations, at most Evaluator::kMostLocations
  bool whole_system = false;          // for the sum over all locations instead; `count` is 1
  bool whole_program = false;         // likewise, of the inclusive values of all roots
  int metric = -1;                    // the number of the metric
  const double* argument1 = nullptr;  // of an aggregation, for each location
  const double* argument2 = nullptr;
};

// Gives expressions the values that they refer to.
class Surroundings {
 public:
  virtual ~Surroundings() = default;

  // Returns the values of a metric, by its number among Symbols::metrics(), at a place. They are in `memory`, which
  // has room for place.count of them, or elsewhere until the next call for another call path.
  virtual const double* metric(uint32_t symbol, const Place& place, double* memory) = 0;
  // Returns a predefined variable; of an array, its element `index`. If it differs between the locations of the
  // place, the result is a row in `memory`, or unset where it is a text. `memory` may be null for one location, and
  // for what does not differ.
  virtual Value predefined(const Predefined& variable, size_t index, const Place& place, double* memory) = 0;
  virtual size_t predefined_size(const Predefined& variable) = 0;
  virtual std::string metric_property(uint32_t symbol, const std::string& property) = 0;
  virtual void set_metric_property(uint32_t symbol, const std::string& property, const std::string& value) = 0;
};

// One thread at a time uses an evaluator; several may share Globals, which none of them changes.
class Evaluator {
 public:
  static constexpr uint32_t kMostLocations = 1024;

  explicit Evaluator(Surroundings& surroundings, const Globals& globals)
      : surroundings_(surroundings), globals_(globals) {}

  // Computes place.count values. It may be called while it computes, for another metric. An assignment to a global
  // variable holds until the end of the evaluation. Throws Error.
  void run(const Program& program, const Place& place, double* values);

  // Returns the value if it is the same for all locations whatever the metrics' values are; nothing if it is unknown.
  std::optional<double> same_for_all(const Program& program, const Place& place);

  // Runs an initialisation, which writes global variables and the properties of metrics.
  void initialise(const Program& program, Globals& globals);

 private:
  using Variable = Elements<Value>;
  struct Frame;
  class Taken;
  enum class Decision : uint8_t { holds, fails, differs };

  Value evaluate(const Node& node);
  bool execute(const Node& statement, Value& result);  // true: it has returned
  bool execute_block(const Node& block, Value& result);
  bool choose(const Node& node, size_t from, Value& result);
  bool repeat(const Node& node, Value& result);
  void print(const Node& node);
  void assign(const Node& node);
  Value merged(const Value& value, const Node& target, const Variable& variable, size_t index);
  Decision decide(const Value& condition) const;
  const double* taking(const Value& condition, bool holds);

  Value metric(const Node& node);
  Value predefined(const Node& node);
  Value variable(const Node& node);
  Value global(const Node& node);
  Variable& hiding(uint32_t global);
  const Variable* find_hiding(uint32_t global) const;
  Value size_of(const Node& node);
  Value call(const Node& node);
  Value random(const Node& node, const Value& most);
  Value logical(const Node& node);
  Value compare_texts(const Node& node);
  Value matches(const Node& node);
  template <typename F>
  Value map(const Value& one, F function);
  template <typename F>
  Value map(const Value& left, const Value& right, F function);
  template <typename F>
  Value pair(const Node& node, F function);

  std::string_view text_of(const Value& value);
  std::string_view keep(std::string text);
  double* memory();
  std::optional<size_t> index_of(const Node& node, size_t child);
  [[noreturn]] void fail(const Node& node, const std::string& reason) const;
  void run_each(const Program& program, const Place& place, double* values);

  Surroundings& surroundings_;
  const Globals& globals_;
  Globals* writable_ = nullptr;  // in an initialisation
  Frame* frame_ = nullptr;       // of the evaluation that is under way
  bool probing_ = false;         // the metrics' values are unknown
  bool for_some_ = false;        // what is evaluated is for some locations of an evaluation that needs it
  // Memory for rows and texts, as a stack: an evaluation gives back what it has taken.
  std::vector<std::unique_ptr<double[]>> rows_;
  size_t rows_used_ = 0;
  std::deque<std::string> texts_;
};

}  // namespace tailrace::cube
