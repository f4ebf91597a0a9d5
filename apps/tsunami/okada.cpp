// Okada (1985), equations (25) (strike slip), (26) (dip slip), (28) and (29) (the I's), in Chinnery's notation (24).
#include "okada.hpp"

#include <cmath>
#include <numbers>

namespace tsunami {
namespace {

constexpr double mu_ratio = 0.5;    // mu / (lambda + mu), of a Poisson solid
constexpr double vertical = 1e-9;   // below this cosine, the limits for cos(dip) = 0 are used: equation (29)
constexpr double singular = 1e-12;  // R + eta as a share of R; below it, its logarithm and inverse are replaced

// The terms that strike slip and dip slip share at one corner (xi, eta).
struct Corner {
  double xi, eta, q, sin_dip, cos_dip;
  double r, y, d;        // R, y~ and d~
  double log_r_eta;      // ln(R + eta)
  double inverse_r_eta;  // 1 / (R (R + eta))
  double angle;          // atan(xi eta / (q R))

  Corner(double xi_, double eta_, double q_, double s, double c) : xi(xi_), eta(eta_), q(q_), sin_dip(s), cos_dip(c) {
    r = std::sqrt(xi * xi + eta * eta + q * q);
    y = eta * c + q * s;
    d = eta * s - q * c;
    // On the line above the edge, R + eta vanishes. There Okada's rule (ii) sets the inverse to zero and the
    // logarithm to -ln(R - eta).
    const bool on_line = r + eta <= singular * r;
    log_r_eta = on_line ? -std::log(r - eta) : std::log(r + eta);
    inverse_r_eta = on_line ? 0.0 : 1.0 / (r * (r + eta));
    angle = q == 0.0 ? 0.0 : std::atan(xi * eta / (q * r));
  }
};

struct Integrals {
  double i1, i2, i3, i4, i5;
};

Integrals integrals(const Corner& p) {
  const double a = mu_ratio;
  const double rd = p.r + p.d;
  Integrals out{};
  if (std::abs(p.cos_dip) < vertical) {
    out.i1 = -a / 2 * p.xi * p.q / (rd * rd);
    out.i3 = a / 2 * (p.eta / rd + p.y * p.q / (rd * rd) - p.log_r_eta);
    out.i4 = -a * p.q / rd;
    out.i5 = -a * p.xi * p.sin_dip / rd;
  } else {
    const double x = std::sqrt(p.xi * p.xi + p.q * p.q);
    const double tangent = p.sin_dip / p.cos_dip;
    out.i5 = p.xi == 0.0 ? 0.0
                         : a * 2 / p.cos_dip *
                               std::atan((p.eta * (x + p.q * p.cos_dip) + x * (p.r + x) * p.sin_dip) /
                                         (p.xi * (p.r + x) * p.cos_dip));
    out.i4 = a / p.cos_dip * (std::log(rd) - p.sin_dip * p.log_r_eta);
    out.i3 = a * (p.y / (p.cos_dip * rd) - p.log_r_eta) + tangent * out.i4;
    out.i1 = a * (-p.xi / (p.cos_dip * rd)) - tangent * out.i5;
  }
  out.i2 = -a * p.log_r_eta - out.i3;
  return out;
}

Displacement strike_slip(const Corner& p, const Integrals& i) {
  return {p.xi * p.q * p.inverse_r_eta + p.angle + i.i1 * p.sin_dip,
          p.y * p.q * p.inverse_r_eta + p.q * p.cos_dip * p.r * p.inverse_r_eta + i.i2 * p.sin_dip,
          p.d * p.q * p.inverse_r_eta + p.q * p.sin_dip * p.r * p.inverse_r_eta + i.i4 * p.sin_dip};
}

Displacement dip_slip(const Corner& p, const Integrals& i) {
  const double both = p.sin_dip * p.cos_dip;
  const double inverse_r_xi = p.r + p.xi <= singular * p.r ? 0.0 : 1.0 / (p.r * (p.r + p.xi));
  return {p.q / p.r - i.i3 * both, p.y * p.q * inverse_r_xi + p.cos_dip * p.angle - i.i1 * both,
          p.d * p.q * inverse_r_xi + p.sin_dip * p.angle - i.i5 * both};
}

}  // namespace

Displacement okada(const OkadaFault& fault, double x, double y) {
  const double s = std::sin(fault.dip), c = std::cos(fault.dip);
  const double p = y * c + fault.depth * s;
  const double q = y * s - fault.depth * c;
  Displacement sum{0, 0, 0};
  for (int corner = 0; corner < 4; ++corner) {
    const bool far_end = (corner & 1) != 0, shallow = (corner & 2) != 0;
    const double sign = far_end == shallow ? 1.0 : -1.0;  // f(x, p) - f(x, p - W) - f(x - L, p) + f(x - L, p - W)
    const Corner at(far_end ? x - fault.length : x, shallow ? p - fault.width : p, q, s, c);
    const Integrals i = integrals(at);
    const Displacement strike = strike_slip(at, i), dip = dip_slip(at, i);
    const double us = -sign * fault.strike_slip / (2 * std::numbers::pi);
    const double ud = -sign * fault.dip_slip / (2 * std::numbers::pi);
    sum.x += us * strike.x + ud * dip.x;
    sum.y += us * strike.y + ud * dip.y;
    sum.z += us * strike.z + ud * dip.z;
  }
  return sum;
}

}  // namespace tsunami
