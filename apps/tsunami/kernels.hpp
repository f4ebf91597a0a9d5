// Kernels: the arithmetic of the scheme, one row of cells at a time.
//
// Second-order well-balanced finite volumes with hydrostatic reconstruction: E. Audusse, F. Bouchut, M.-O. Bristeau,
// R. Klein, B. Perthame, "A fast and stable well-balanced scheme with hydrostatic reconstruction for shallow water
// flows", SIAM J. Sci. Comput. 25(6), 2004, 2050-2065. Limiter: generalised minmod (B. van Leer, J. Comput. Phys. 32,
// 1979, 101-136; A. Kurganov & E. Tadmor, J. Comput. Phys. 160, 2000, 241-282). Riemann solver: HLLC (E. F. Toro, M.
// Spruce, W. Speares, Shock Waves 4, 1994, 25-34) with S. F. Davis's speeds (SIAM J. Sci. Stat. Comput. 9, 1988,
// 445-473). Velocity near dry land: A. Kurganov & G. Petrova, Commun. Math. Sci. 5(1), 2007, 133-160. Friction:
// Manning's law, semi-implicit.
//
// Every loop runs over contiguous memory without branches, for the vectoriser. Only kernels.cpp is compiled with
// relaxed floating-point rules, so it must never test whether a number is finite.
#pragma once

#include <cstddef>
#include <vector>

namespace tsunami {

constexpr double gravity = 9.81;  // m/s²

// Values of one row. All pointers are to cell 0; cells -2 … n+1 are valid.
struct Primitives {
  const double* h;
  const double* eta;  // surface height, h + b
  const double* u;
  const double* v;
};

// Limited slopes of one row: the differences between the two sides of each cell.
struct Slopes {
  explicit Slopes(std::ptrdiff_t n);
  std::vector<double> h, eta, u, v;
};

// Fluxes through one row of faces, without the hydrostatic pressure of the cell itself, which cancels against the
// bed. So water at rest gives exact zeros, not differences of large numbers.
struct Fluxes {
  explicit Fluxes(std::ptrdiff_t n);
  std::vector<double> mass, normal, transverse;
  std::vector<double> pressure_jump;  // normal flux for the cell behind the face = normal - pressure_jump
};

// Slopes along a row (of cells -1 … n, stored from index 0), and across rows (of cells 0 … n-1).
void slopes_along(const Primitives& row, std::ptrdiff_t n, double theta, Slopes& out);
void slopes_across(const Primitives& south, const Primitives& row, const Primitives& north, std::ptrdiff_t n,
                   double theta, Slopes& out);

// Fluxes through the faces 0 … n of a row (face i lies before cell i), and between two rows.
void fluxes_along(const Primitives& row, const Slopes& slopes, std::ptrdiff_t n, Fluxes& out);
void fluxes_across(const Primitives& south, const Slopes& south_slopes, const Primitives& north,
                   const Slopes& north_slopes, std::ptrdiff_t n, Fluxes& out);

// The geometry that one row's update needs in addition to the fluxes.
struct RowGeometry {
  double east, north, south, dy_inverse;  // see Metric
  double tangent, coriolis;
};

struct RowFluxes {
  const Fluxes& west_east;  // faces 0 … n
  const Slopes& along;
  const Fluxes& south;
  const Fluxes& north;
  const Slopes& across;
};

struct RowState {
  double* h;
  double* hu;
  double* hv;
};

struct ConstRowState {
  const double* h;
  const double* hu;
  const double* hv;
};

// out = keep · base + (1 - keep) · (now + dt · L(now)): a stage of Heun's method (keep 0, then 1/2). `out` may be
// `base`.
struct Stage {
  double dt, keep;
};
void update_row(const Stage& stage, const RowGeometry& geometry, const RowFluxes& fluxes, const Primitives& values,
                const ConstRowState& now, const ConstRowState& base, const RowState& out, std::ptrdiff_t n);

// Surface height and velocities from the state, for cells -2 … n+1.
struct PrimitiveRow {
  double* eta;
  double* u;
  double* v;
};
void primitives_row(const ConstRowState& state, const double* bed, double film, std::ptrdiff_t n,
                    const PrimitiveRow& out);

// Removes the momentum that a film thinner than `film` cannot have. Returns the largest (|u| + c) · east + (|v| + c)
// · across over cells 0 … n-1, 1/s.
double settle_row(const RowState& state, double film, double east, double across, std::ptrdiff_t n);

// Slows the water of one row by Manning's law over the time dt, where it is shallower than 200 m.
void friction_row(const RowState& state, double manning, double film, double dt, std::ptrdiff_t n);

}  // namespace tsunami
