// Any text as CubePL: an error with its place, or a value; for a range of locations the same as for each of them. As
// an initialisation, too.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>

#include "cube/archive/error.hpp"
#include "cube/cubepl/evaluator.hpp"
#include "cube/cubepl/parser.hpp"
#include "tests/fuzz/target.hpp"

namespace {

namespace cube = tailrace::cube;

// A profile of 3 locations, in which every metric has other values for each.
class Made : public cube::Surroundings {
 public:
  const double* metric(uint32_t symbol, const cube::Place& place, double* memory) override {
    for (uint32_t at = 0; at < place.count; ++at) {
      memory[at] = place.whole_system ? 9.0 : static_cast<double>(symbol % 7) - 3 + place.first + at;
    }
    return memory;
  }
  cube::Value predefined(const cube::Predefined& variable, size_t index, const cube::Place& place,
                         double* memory) override {
    using Object = cube::Predefined::Object;
    if (!variable.calculation) return cube::Value::of(static_cast<double>(index % 5));
    if (variable.object != Object::location && variable.object != Object::group) return cube::Value::of("MPI_Send");
    if (place.count == 1) return cube::Value::of(static_cast<double>(place.first));
    for (uint32_t at = 0; at < place.count; ++at) memory[at] = place.first + at;
    return cube::Value::of_row(memory);
  }
  size_t predefined_size(const cube::Predefined&) override { return 5; }
  std::string metric_property(uint32_t, const std::string& property) override { return property; }
  void set_metric_property(uint32_t, const std::string&, const std::string&) override {}
};

// Loops may take long, and prints disturb.
bool is_quick(const cube::Node& node) {
  if (node.op == cube::Op::repeat || node.op == cube::Op::print) return false;
  return std::all_of(node.children.begin(), node.children.end(), is_quick);
}

bool equal(double one, double other) { return one == other || (std::isnan(one) && std::isnan(other)); }

constexpr uint32_t kLocations = 3;

// Returns false if it fails.
bool run(cube::Evaluator& evaluator, const cube::Program& program, uint32_t first, uint32_t count, double* values) {
  cube::Place place;
  place.first = first;
  place.count = count;
  try {
    evaluator.run(program, place, values);
    return true;
  } catch (const cube::Error&) {
    return false;
  }
}

void evaluate(const cube::Program& program, cube::Evaluator& evaluator) {
  double alone[kLocations];
  bool fine[kLocations];
  for (uint32_t at = 0; at < kLocations; ++at) fine[at] = run(evaluator, program, at, 1, alone + at);
  for (uint32_t first = 0; first < kLocations; ++first) {
    for (uint32_t count = 2; first + count <= kLocations; ++count) {
      double together[kLocations];
      const bool all_fine = std::all_of(fine + first, fine + first + count, [](bool one) { return one; });
      if (run(evaluator, program, first, count, together) != all_fine) std::abort();
      for (uint32_t at = 0; all_fine && at < count; ++at) {
        if (!equal(alone[first + at], together[at])) std::abort();
      }
    }
  }
  const auto same = evaluator.same_for_all(program, cube::Place{});
  for (uint32_t at = 0; same && at < kLocations; ++at) {
    if (!fine[at] || !equal(*same, alone[at])) std::abort();
  }
}

void evaluate(const cube::Program& program) {
  Made made;
  cube::Globals globals;
  cube::Evaluator evaluator(made, globals);
  evaluate(program, evaluator);
  evaluator.initialise(program, globals);
  evaluate(program, evaluator);  // with what it has set
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    cube::Symbols symbols;
    const cube::Program program =
        cube::parse({reinterpret_cast<const char*>(data), size}, cube::Source{"fuzz", 1}, symbols);
    if (is_quick(program.root)) evaluate(program);
  } catch (const cube::Error& error) {
    if (std::strlen(error.what()) == 0) std::abort();
  }
  return 0;
}
