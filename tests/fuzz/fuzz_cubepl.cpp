// Any text as CubePL: an error with its place, or a value; for a range of locations the same as for each of them.
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
    for (uint32_t at = 0; at < place.count; ++at) memory[at] = place.first + at;
    return place.count == 1 ? cube::Value::of(*memory) : cube::Value::of_row(memory);
  }
  size_t predefined_size(const cube::Predefined&) override { return 5; }
  std::string metric_property(uint32_t, const std::string& property) override { return property; }
  void set_metric_property(uint32_t, const std::string&, const std::string&) override {}
};

// Loops may take long, and prints disturb.
bool is_quick(const cube::Node& node) {
  if (node.op == cube::Op::repeat || node.op == cube::Op::print || node.op == cube::Op::assign_local ||
      node.op == cube::Op::assign_global) {
    // An assignment may need much memory: only those without an index.
    if (node.op == cube::Op::repeat || node.op == cube::Op::print || node.children.size() > 1) return false;
  }
  for (const cube::Node& child : node.children) {
    if (!is_quick(child)) return false;
  }
  return true;
}

bool equal(double one, double other) { return one == other || (std::isnan(one) && std::isnan(other)); }

void evaluate(const cube::Program& program) {
  constexpr uint32_t kLocations = 3;
  Made made;
  const cube::Globals globals;
  cube::Evaluator evaluator(made, globals);
  cube::Place place;
  place.count = kLocations;
  double together[kLocations];
  evaluator.run(program, place, together);
  const auto same = evaluator.same_for_all(program, place);
  for (uint32_t at = 0; at < kLocations; ++at) {
    place.first = at;
    place.count = 1;
    double alone = 0;
    evaluator.run(program, place, &alone);
    if (!equal(alone, together[at]) || (same && !equal(*same, alone))) std::abort();
  }
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
