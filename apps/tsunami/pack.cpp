// Packs fields. See the header.
#include "pack.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <bit>

namespace tsunami {

std::vector<VariableSpec> output_variables() {
  return {{"eta",
           "m",
           {1, 0, 0, 0, 0, 0, 0},
           "height of the water's surface above sea level; on dry land, of the ground"},
          {"hu", "m^2/s", {2, 0, -1, 0, 0, 0, 0}, "depth times eastward velocity"},
          {"hv", "m^2/s", {2, 0, -1, 0, 0, 0, 0}, "depth times northward velocity"}};
}

namespace {

// Stores bypass the cache: this program does not read the packed field again, and the state makes better use of the
// cache. finish_streaming() makes a thread's stores visible to others.
#if defined(__SSE2__) && defined(__x86_64__)
void stream(double* to, double value) {
  _mm_stream_si64(reinterpret_cast<long long*>(to), std::bit_cast<long long>(value));
}
void stream(float* to, float value) { _mm_stream_si32(reinterpret_cast<int*>(to), std::bit_cast<int>(value)); }
void finish_streaming() { _mm_sfence(); }
#else
template <class T>
void stream(T* to, T value) {
  *to = value;
}
void finish_streaming() {}
#endif

template <class T>
void pack_rows(const Solver& solver, Variable variable, Solver::Band rows, T* out) {
  const std::ptrdiff_t n = solver.nx();
  const State& state = solver.state();
  for (std::ptrdiff_t j = rows.first; j < rows.last; ++j) {
    T* to = out + j * n;
    if (variable == eta) {
      const double *h = state.h.row(j), *b = solver.bed().row(j);
      for (std::ptrdiff_t i = 0; i < n; ++i) stream(to + i, static_cast<T>(h[i] + b[i]));
    } else {
      const double* from = (variable == hu ? state.hu : state.hv).row(j);
      for (std::ptrdiff_t i = 0; i < n; ++i) stream(to + i, static_cast<T>(from[i]));
    }
  }
  finish_streaming();
}

}  // namespace

void pack(Solver& solver, Variable variable, Precision precision, void* out) {
  solver.team().run([&](int thread) {
    const Solver::Band rows = solver.band(thread);
    if (precision == Precision::float32) {
      pack_rows(solver, variable, rows, static_cast<float*>(out));
    } else {
      pack_rows(solver, variable, rows, static_cast<double*>(out));
    }
  });
}

}  // namespace tsunami
