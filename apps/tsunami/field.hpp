// Field: one quantity on all cells, with two ghost cells on every side. State: the three quantities that the
// equations evolve.
//
// Structure of arrays: a row is contiguous and starts on a cache line. A kernel gets it as a pointer to its cell 0,
// with cells -2 … nx+1 valid. Memory only; no physics here.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>

namespace tsunami {

constexpr std::ptrdiff_t ghosts = 2;

class Field {
 public:
  Field() = default;
  Field(std::ptrdiff_t nx, std::ptrdiff_t ny)
      : stride_((lead + nx + ghosts + line - 1) / line * line), rows_(ny + 2 * ghosts) {
    const auto count = static_cast<std::size_t>(stride_ * rows_);
    cells_.reset(static_cast<double*>(std::aligned_alloc(64, count * sizeof(double))));
    if (cells_ == nullptr) throw std::bad_alloc();
    for (std::size_t k = 0; k < count; ++k) cells_[k] = 0.0;
  }

  // Returns cell 0 of row j; j = -2 … ny+1.
  double* row(std::ptrdiff_t j) { return cells_.get() + (j + ghosts) * stride_ + lead; }
  const double* row(std::ptrdiff_t j) const { return cells_.get() + (j + ghosts) * stride_ + lead; }

 private:
  static constexpr std::ptrdiff_t line = 8;     // doubles per cache line
  static constexpr std::ptrdiff_t lead = line;  // space before cell 0, which aligns it
  struct Free {
    void operator()(double* memory) const { std::free(memory); }
  };

  std::ptrdiff_t stride_ = 0, rows_ = 0;
  std::unique_ptr<double[], Free> cells_;
};

struct State {
  State() = default;
  State(std::ptrdiff_t nx, std::ptrdiff_t ny) : h(nx, ny), hu(nx, ny), hv(nx, ny) {}

  Field h;   // depth of the water, m
  Field hu;  // eastward momentum per area and density, m²/s
  Field hv;  // northward, m²/s
};

}  // namespace tsunami
