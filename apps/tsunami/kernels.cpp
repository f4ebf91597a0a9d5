// The arithmetic of the scheme. See the header for its sources.
#include "kernels.hpp"

#include <cmath>

namespace tsunami {
namespace {

using Index = std::ptrdiff_t;

inline double smaller(double a, double b) { return a < b ? a : b; }
inline double larger(double a, double b) { return a > b ? a : b; }

// Returns 1/h, but tends to 0 in a film.
inline double gentle_inverse(double h, double film2) { return 2.0 * h / (h * h + larger(h * h, film2)); }

// Returns the generalised minmod of the differences to both neighbours. For theta from 1 to 2 the face values lie
// between the neighbours' values: that keeps depths positive, and a lake at rest beside dry land at rest.
inline double limited(double behind, double ahead, double theta) {
  const double steep = theta * smaller(std::abs(behind), std::abs(ahead));
  const double size = smaller(steep, 0.5 * std::abs(behind + ahead));
  return behind * ahead > 0.0 ? std::copysign(size, ahead) : 0.0;
}

// One side of a face.
struct Side {
  double h, eta, normal, transverse;
};

struct FaceFlux {
  double mass, normal, transverse, pressure_jump;
};

inline FaceFlux face_flux(const Side& left, const Side& right) {
  // Hydrostatic reconstruction: both sides use the higher of the two beds.
  const double bed = larger(left.eta - left.h, right.eta - right.h);
  const double hl = larger(0.0, left.eta - bed), hr = larger(0.0, right.eta - bed);
  const double cl = std::sqrt(gravity * hl), cr = std::sqrt(gravity * hr);
  const double sl = smaller(0.0, smaller(left.normal - cl, right.normal - cr));
  const double sr = larger(0.0, larger(left.normal + cl, right.normal + cr));
  const double inverse = 1.0 / larger(sr - sl, 1e-30);  // both sides dry: nothing flows, and 0 · 1e30 is 0
  const double ql = hl * left.normal, qr = hr * right.normal;
  const double jump = 0.5 * gravity * (hr - hl) * (hr + hl);
  FaceFlux flux;
  flux.mass = (sr * ql - sl * qr + sl * sr * (hr - hl)) * inverse;
  // HLL's momentum flux minus the pressure of the left side, arranged so that equal pressures cancel exactly.
  flux.normal = (sr * ql * left.normal - sl * qr * right.normal + sl * sr * (qr - ql) - sl * jump) * inverse;
  flux.transverse = flux.mass * (flux.mass > 0.0 ? left.transverse : right.transverse);
  flux.pressure_jump = jump;
  return flux;
}

}  // namespace

Slopes::Slopes(Index n) {
  for (auto* line : {&h, &eta, &u, &v}) line->assign(static_cast<std::size_t>(n) + 2, 0.0);
}

Fluxes::Fluxes(Index n) {
  for (auto* line : {&mass, &normal, &transverse, &pressure_jump}) line->assign(static_cast<std::size_t>(n) + 1, 0.0);
}

namespace {

void slope_along(const double* __restrict q, double* __restrict out, Index n, double theta) {
  for (Index i = 0; i < n + 2; ++i) out[i] = limited(q[i - 1] - q[i - 2], q[i] - q[i - 1], theta);
}

void slope_across(const double* __restrict south, const double* __restrict q, const double* __restrict north,
                  double* __restrict out, Index n, double theta) {
  for (Index i = 0; i < n; ++i) out[i] = limited(q[i] - south[i], north[i] - q[i], theta);
}

}  // namespace

void slopes_along(const Primitives& row, Index n, double theta, Slopes& out) {
  slope_along(row.h, out.h.data(), n, theta);
  slope_along(row.eta, out.eta.data(), n, theta);
  slope_along(row.u, out.u.data(), n, theta);
  slope_along(row.v, out.v.data(), n, theta);
}

void slopes_across(const Primitives& south, const Primitives& row, const Primitives& north, Index n, double theta,
                   Slopes& out) {
  slope_across(south.h, row.h, north.h, out.h.data(), n, theta);
  slope_across(south.eta, row.eta, north.eta, out.eta.data(), n, theta);
  slope_across(south.u, row.u, north.u, out.u.data(), n, theta);
  slope_across(south.v, row.v, north.v, out.v.data(), n, theta);
}

void fluxes_along(const Primitives& row, const Slopes& slopes, Index n, Fluxes& out) {
  const double *h = row.h, *eta = row.eta, *u = row.u, *v = row.v;
  const double *dh = slopes.h.data(), *deta = slopes.eta.data();
  const double *du = slopes.u.data(), *dv = slopes.v.data();
  double *mass = out.mass.data(), *normal = out.normal.data();
  double *transverse = out.transverse.data(), *jump = out.pressure_jump.data();
#pragma GCC ivdep
  for (Index i = 0; i <= n; ++i) {
    // The slope of cell i is stored at i + 1.
    const Side left{h[i - 1] + 0.5 * dh[i], eta[i - 1] + 0.5 * deta[i], u[i - 1] + 0.5 * du[i],
                    v[i - 1] + 0.5 * dv[i]};
    const Side right{h[i] - 0.5 * dh[i + 1], eta[i] - 0.5 * deta[i + 1], u[i] - 0.5 * du[i + 1],
                     v[i] - 0.5 * dv[i + 1]};
    const FaceFlux flux = face_flux(left, right);
    mass[i] = flux.mass;
    normal[i] = flux.normal;
    transverse[i] = flux.transverse;
    jump[i] = flux.pressure_jump;
  }
}

void fluxes_across(const Primitives& south, const Slopes& south_slopes, const Primitives& north,
                   const Slopes& north_slopes, Index n, Fluxes& out) {
  const double *hs = south.h, *es = south.eta, *us = south.u, *vs = south.v;
  const double *hn = north.h, *en = north.eta, *un = north.u, *vn = north.v;
  const double *dhs = south_slopes.h.data(), *des = south_slopes.eta.data();
  const double *dus = south_slopes.u.data(), *dvs = south_slopes.v.data();
  const double *dhn = north_slopes.h.data(), *den = north_slopes.eta.data();
  const double *dun = north_slopes.u.data(), *dvn = north_slopes.v.data();
  double *mass = out.mass.data(), *normal = out.normal.data();
  double *transverse = out.transverse.data(), *jump = out.pressure_jump.data();
#pragma GCC ivdep
  for (Index i = 0; i < n; ++i) {
    const Side left{hs[i] + 0.5 * dhs[i], es[i] + 0.5 * des[i], vs[i] + 0.5 * dvs[i], us[i] + 0.5 * dus[i]};
    const Side right{hn[i] - 0.5 * dhn[i], en[i] - 0.5 * den[i], vn[i] - 0.5 * dvn[i], un[i] - 0.5 * dun[i]};
    const FaceFlux flux = face_flux(left, right);
    mass[i] = flux.mass;
    normal[i] = flux.normal;
    transverse[i] = flux.transverse;
    jump[i] = flux.pressure_jump;
  }
}

void update_row(const Stage& stage, const RowGeometry& geometry, const RowFluxes& fluxes, const Primitives& values,
                const ConstRowState& now, const ConstRowState& base, const RowState& out, Index n) {
  const double *xm = fluxes.west_east.mass.data(), *xn = fluxes.west_east.normal.data();
  const double *xt = fluxes.west_east.transverse.data(), *xj = fluxes.west_east.pressure_jump.data();
  const double *sm = fluxes.south.mass.data(), *sn = fluxes.south.normal.data();
  const double *st = fluxes.south.transverse.data(), *sj = fluxes.south.pressure_jump.data();
  const double *nm = fluxes.north.mass.data(), *nn = fluxes.north.normal.data(), *nt = fluxes.north.transverse.data();
  const double *eta_along = fluxes.along.eta.data() + 1, *eta_across = fluxes.across.eta.data();
  const double e = geometry.east, no = geometry.north, so = geometry.south;
  const double keep = stage.keep, take = 1.0 - stage.keep, dt = stage.dt;
  // Reads and writes touch only cell i, so that `out` may be `base`.
#pragma GCC ivdep
  for (Index i = 0; i < n; ++i) {
    const double weight = gravity * now.h[i];
    const double turn = geometry.coriolis + values.u[i] * geometry.tangent;
    const double dh = -e * (xm[i + 1] - xm[i]) - (no * nm[i] - so * sm[i]);
    const double du =
        -e * (xn[i + 1] - (xn[i] - xj[i]) + weight * eta_along[i]) - (no * nt[i] - so * st[i]) + turn * now.hv[i];
    const double dv = -e * (xt[i + 1] - xt[i]) - (no * nn[i] - so * (sn[i] - sj[i])) -
                      geometry.dy_inverse * weight * eta_across[i] - turn * now.hu[i];
    // The step keeps h ≥ 0 except for rounding.
    out.h[i] = larger(0.0, keep * base.h[i] + take * (now.h[i] + dt * dh));
    out.hu[i] = keep * base.hu[i] + take * (now.hu[i] + dt * du);
    out.hv[i] = keep * base.hv[i] + take * (now.hv[i] + dt * dv);
  }
}

void primitives_row(const ConstRowState& state, const double* bed, double film, Index n, const PrimitiveRow& out) {
  const double *h = state.h, *hu = state.hu, *hv = state.hv;
  double *eta = out.eta, *u = out.u, *v = out.v;
  const double film2 = film * film;
#pragma GCC ivdep
  for (Index i = -2; i < n + 2; ++i) {
    const double inverse = gentle_inverse(h[i], film2);
    eta[i] = h[i] + bed[i];
    u[i] = hu[i] * inverse;
    v[i] = hv[i] * inverse;
  }
}

double settle_row(const RowState& state, double film, double east, double across, Index n) {
  double *h = state.h, *hu = state.hu, *hv = state.hv;
  const double film2 = film * film;
  double fastest = 0.0;
#pragma GCC ivdep
  for (Index i = 0; i < n; ++i) {
    const double inverse = gentle_inverse(h[i], film2);
    const double u = hu[i] * inverse, v = hv[i] * inverse;
    const double c = std::sqrt(gravity * h[i]);
    hu[i] = h[i] * u;
    hv[i] = h[i] * v;
    fastest = larger(fastest, (std::abs(u) + c) * east + (std::abs(v) + c) * across);
  }
  return fastest;
}

void friction_row(const RowState& state, double manning, double film, double dt, Index n) {
  constexpr double deepest = 200.0;  // m; in deeper water, friction is far below the scheme's own error
  const double factor = dt * gravity * manning * manning;
  for (Index i = 0; i < n; ++i) {
    const double h = state.h[i];
    if (h >= deepest || h <= film) continue;
    const double speed = std::sqrt(state.hu[i] * state.hu[i] + state.hv[i] * state.hv[i]) / h;
    const double slowed = 1.0 / (1.0 + factor * speed / (h * std::cbrt(h)));
    state.hu[i] *= slowed;
    state.hv[i] *= slowed;
  }
}

}  // namespace tsunami
