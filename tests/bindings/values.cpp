// values CONFIG FIRST: writes the values of tests/python/languages/test_languages.py by the C++ interface, in the
// iterations FIRST and FIRST + 1, and reads them back; before that, those of FIRST − 1,
// which an earlier run has written.
#include <algorithm>
#include <array>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <span>
#include <stdexcept>
#include <string>
#include <tailrace/tailrace.hpp>
#include <vector>

namespace {

using Complex = std::complex<double>;

// All values of an iteration.
struct Values {
  explicit Values(int64_t step) : count(static_cast<size_t>((3 + 2 * step) % 5)) {
    for (size_t i = 0; i < count; ++i) {
      const auto real = static_cast<double>(i);
      t.push_back(static_cast<double>(step) + 0.5 * real);
      x.push_back(static_cast<double>(step) + real);
      y.push_back(0.25 * real);
      id.push_back(uint64_t{1} << 63 | (1000 * static_cast<uint64_t>(step) + i));
    }
    for (int k = 0; k < 2; ++k) {
      const auto at = static_cast<size_t>(k);
      ex[at] = {static_cast<double>(step + k), static_cast<double>(k)};
      ey[at] = {-static_cast<double>(step), k + 1.0};
      narrow[at] = {static_cast<float>(step) + 0.5F * static_cast<float>(k), -static_cast<float>(k)};
    }
    for (int k = 0; k < 3; ++k) {
      flags[static_cast<size_t>(k)] = (step + k) % 2 == 0;
      half[static_cast<size_t>(k)].bits = static_cast<uint16_t>(0x3c00 + 0x400 * (step + k));  // 2^(step + k)
    }
    energy = 2.5 * static_cast<double>(step);
    for (int32_t& value : deep) value = static_cast<int32_t>(100 * step + (&value - deep.data()));
  }

  size_t count;
  std::vector<double> t, x, y;
  std::vector<uint64_t> id;
  std::array<Complex, 2> ex, ey;
  std::array<std::complex<float>, 2> narrow;
  std::array<bool, 3> flags;
  std::array<tailrace::Half, 3> half;
  double energy = 0;
  std::array<int32_t, 12> deep;
};

void set_parameters(tailrace::Client& out, int64_t step) {
  const auto at = static_cast<double>(step);
  out.set_parameters({{"n", static_cast<int64_t>(Values(step).count)}, {"left", 1.5 + at}, {"x0", 0.5 * at}});
}

template <class R>
void expect_read(tailrace::Client& out, const char* variable, int64_t step, const R& expected) {
  R found = expected;
  for (auto& value : found) value = {};
  out.read(variable, step, found);
  if (std::memcmp(found.data(), expected.data(), expected.size() * sizeof(expected[0])) == 0) return;
  throw std::runtime_error(std::string(variable) + " was read back wrong");
}

void read_back(tailrace::Client& out, int64_t step) {
  const Values v(step);
  set_parameters(out, step);
  expect_read(out, "T", step, v.t);
  expect_read(out, "E/x", step, v.ex);
  expect_read(out, "E/y", step, v.ey);
  expect_read(out, "narrow", step, v.narrow);
  expect_read(out, "flags", step, v.flags);
  expect_read(out, "half", step, v.half);
  expect_read(out, "deep", step, v.deep);
  expect_read(out, "electrons/position/x", step, v.x);
  expect_read(out, "electrons/id", step, v.id);
  if (out.read<double>("energy", step) != v.energy) throw std::runtime_error("a scalar was read back wrong");
}

void write(tailrace::Client& out, int64_t step) {
  const Values v(step);
  set_parameters(out, step);
  out.write("T", step, v.t);
  out.write("E/x", step, v.ex);
  const std::span<Complex> memory = out.alloc<Complex>("E/y", step);
  std::copy(v.ey.begin(), v.ey.end(), memory.begin());
  out.commit("E/y", step);
  out.write("narrow", step, v.narrow);
  out.write("flags", step, v.flags);
  out.write("half", step, v.half);
  out.write("deep", step, v.deep);
  out.write("energy", step, v.energy);
  out.write("electrons/position/x", step, v.x);
  out.write("electrons/position/y", step, v.y);
  out.write("electrons/id", step, v.id);
  out.attribute(step, "note", "from the program");
  out.attribute(step, "tags", std::vector<std::string>{"a", "bc"});
  out.attribute(step, "norms", std::vector<double>{0.5, 1.5});
  out.attribute(step, "counts", std::vector<int64_t>{step, 2});
  out.attribute("E/x", step, "wave", "a wave");
  out.attribute("E/x", step, "number", step);
  if (step % 2 == 0) {
    out.end_iteration(step, {.time = 1.5 * static_cast<double>(step), .dt = 0.125});
  } else {
    out.end_iteration(step);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const int64_t first = std::strtoll(argv[2], nullptr, 10);
  try {
    tailrace::Client out = tailrace::open(argv[1], 0);
    if (out.last_iteration().value_or(-1) != first - 1) throw std::runtime_error("another last iteration");
    const double scale = first % 2 == 0 ? 0.25 : 1.5;
    if (out.last_time().value_or(0.0) != (first > 0 ? scale * static_cast<double>(first - 1) : 0.0)) {
      throw std::runtime_error("another time of the last iteration");
    }
    if (first > 0) read_back(out, first - 1);
    for (int64_t step = first; step < first + 2; ++step) {
      write(out, step);
      read_back(out, step);
    }
    out.close();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
