// Records gauges and evaluates their records. See the header.
#include "gauge.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>

#include "error.hpp"
#include "numbers_list.hpp"

namespace tsunami {

Gauge::Gauge(std::string name, double x, double y, const Raster& grid, const Solver& solver)
    : name_(std::move(name)), x_(x), y_(y) {
  const double across = (x - grid.x0) / grid.dx, up = (y - grid.y0) / grid.dy;
  if (!(across >= 0 && across <= static_cast<double>(grid.nx - 1) && up >= 0 &&
        up <= static_cast<double>(grid.ny - 1))) {
    throw Error("--gauge " + name_ + ": found " + shortest(x) + ", " + shortest(y) + ", expected a point from " +
                shortest(grid.x0) + " to " + shortest(grid.x(grid.nx - 1)) + " by " + shortest(grid.y0) + " to " +
                shortest(grid.y(grid.ny - 1)));
  }
  const auto i0 = std::min(static_cast<std::ptrdiff_t>(across), static_cast<std::ptrdiff_t>(grid.nx) - 2);
  const auto row = std::min(static_cast<std::ptrdiff_t>(up), static_cast<std::ptrdiff_t>(grid.ny) - 2);
  const double s = across - static_cast<double>(i0), t = up - static_cast<double>(row);
  const std::ptrdiff_t j0 = row - solver.first_row();  // the row above may be a ghost row, the neighbour's
  if (j0 < 0 || j0 >= solver.ny()) return;
  double sum = 0;
  for (const Corner& corner : {Corner{i0, j0, (1 - s) * (1 - t)}, Corner{i0 + 1, j0, s * (1 - t)},
                               Corner{i0, j0 + 1, (1 - s) * t}, Corner{i0 + 1, j0 + 1, s * t}}) {
    if (solver.state().h.row(corner.j)[corner.i] <= 0 || corner.weight <= 0) continue;
    corners_.push_back(corner);
    sum += corner.weight;
  }
  if (corners_.empty()) {
    throw Error("--gauge " + name_ + ": " + shortest(x) + ", " + shortest(y) + " lies on dry land");
  }
  for (Corner& corner : corners_) corner.weight /= sum;
}

void Gauge::record(const Solver& solver) {
  if (!is_here()) return;
  Sample sample{solver.time(), 0, 0, 0};
  for (const Corner& c : corners_) {
    const State& state = solver.state();
    sample.eta += c.weight * (state.h.row(c.j)[c.i] + solver.bed().row(c.j)[c.i]);
    sample.hu += c.weight * state.hu.row(c.j)[c.i];
    sample.hv += c.weight * state.hv.row(c.j)[c.i];
  }
  samples_.push_back(sample);
}

void Gauge::write_csv(const std::string& file) const {
  std::ofstream out(file);
  out << "time_s,eta_m,hu_m2_per_s,hv_m2_per_s\n";
  for (const Sample& s : samples_) {
    out << shortest(s.time) << ',' << shortest(s.eta) << ',' << shortest(s.hu) << ',' << shortest(s.hv) << '\n';
  }
  out.close();
  if (!out) throw Error("cannot write the gauge's record '" + file + "'");
}

Crest first_crest(const std::vector<Gauge::Sample>& samples, double from, double until, double share) {
  Crest crest{NAN, NAN, -INFINITY};
  for (const auto& s : samples) {
    if (s.time >= from && s.time <= until && s.eta > crest.height) {
      crest.height = s.eta;
      crest.time = s.time;
    }
  }
  for (const auto& s : samples) {
    if (s.time < from || s.eta < share * crest.height) continue;
    crest.arrival = s.time;
    break;
  }
  return crest;
}

}  // namespace tsunami
