// cpp_model DIRECTORY: writes times, attributes and new types by the C++ interface, and reads them back. The tests in
// Python look at the file.
#include <array>
#include <complex>
#include <cstdio>
#include <string>
#include <tailrace/tailrace.hpp>
#include <vector>

namespace {

constexpr const char* kConfig = R"(
tailrace: 1
name: cpp
memory: {budget: 1 MiB}
parameters: {left: 0.5}
layouts:
  pair: {type: complex128, shape: [n], origin: [left]}
  flags: {type: bool, shape: [2]}
  half: {type: float16, shape: [2]}
  one: {type: float64, shape: []}
variables:
  E: {layout: pair, components: [x, y]}
  flags: {layout: flags}
  half: {layout: half}
  energy: {layout: one}
)";

bool expect(bool condition, const char* what) {
  if (!condition) std::fprintf(stderr, "failed: %s\n", what);
  return condition;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  tailrace::Client out = tailrace::open("cpp.yaml", 0, {.text = kConfig, .path = argv[1], .parameters = {{"n", 2}}});
  using Complex = std::complex<double>;
  const std::vector<Complex> pair = {{1, 2}, {3, 4}};
  out.set_parameters({{"left", 0.75}});
  out.write("E/x", 3, pair);
  const std::span<Complex> memory = out.alloc<Complex>("E/y", 3);
  memory[0] = memory[1] = 1.0;
  out.commit("E/y", 3);
  const std::array<bool, 2> flags = {true, false};
  const std::array<tailrace::Half, 2> halves = {{{0x3c00}, {0xc000}}};
  out.write("flags", 3, flags);
  out.write("half", 3, halves);
  out.write("energy", 3, 2.5);
  out.attribute(3, "note", "a text");
  out.attribute(3, "tags", std::vector<std::string>{"a", "b"});
  out.attribute(3, "count", 3);
  out.attribute(3, "norms", std::vector<double>{0.5, 1.5});
  out.attribute("E/x", 3, "axis", int64_t{0});
  out.end_iteration(3, {.time = 4.5});
  std::vector<Complex> back(2);
  out.read("E/x", 3, back);
  std::array<double, 1> energy{};
  bool good = expect(back == pair, "complex numbers read back");
  try {
    out.read("energy", 3, energy);
  } catch (const tailrace::Error& error) {
    good = expect(false, error.what());
  }
  good = expect(energy[0] == 2.5, "a scalar reads back") && good;
  out.close();
  return good ? 0 : 1;
}
