// Steps, threads and boundaries of the solver; kernels.cpp has the arithmetic.
#include "solver.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "error.hpp"

namespace tsunami {

using Index = std::ptrdiff_t;

namespace {

constexpr double positive_cfl = 0.5;  // up to here the scheme keeps depths positive
constexpr int max_substeps = 1024;    // per step

// More threads would have bands too thin for the ghost rows' mirror images.
int usable_threads(int wanted, std::size_t rows) {
  return std::clamp(wanted, 1, std::max(1, static_cast<int>(rows / 4)));
}

}  // namespace

// The lines in which a thread works its way up through its rows, once. All values derived from the state are in these
// few lines, so that main memory only contains the state.
struct Solver::Lines {
  explicit Lines(Index n) : along(n), across{Slopes(n), Slopes(n)}, west_east(n), faces{Fluxes(n), Fluxes(n)} {
    for (Field& field : values) field = Field(n, rings - 2 * ghosts);
  }

  static constexpr Index rings = 4;  // rows of values kept: j-1 … j+2, in turn
  double* value(std::size_t which, Index j) { return values[which].row(((j + rings) & (rings - 1)) - ghosts); }
  Primitives primitives(const State& state, Index j) {
    return {state.h.row(j), value(0, j), value(1, j), value(2, j)};
  }
  Slopes& slopes_across_of(Index j) { return across[(j + rings) & 1]; }
  Fluxes& face_below(Index j) { return faces[j & 1]; }

  Field values[3];  // eta, u, v
  Slopes along;
  Slopes across[2];
  Fluxes west_east;
  Fluxes faces[2];
};

Solver::Solver(const Raster& bed, const std::vector<double>& surface, const SolverOptions& options, Peers* peers)
    : options_(options),
      nx_(static_cast<Index>(bed.nx)),
      ny_(static_cast<Index>(bed.ny)),
      first_row_(static_cast<Index>(bed.first)),
      metric_(make_metric(bed, options.geometry, options.coriolis)),
      bed_(nx_, ny_),
      peers_(peers != nullptr ? *peers : alone_),
      now_(nx_, ny_),
      next_(nx_, ny_),
      team_(usable_threads(options.threads, bed.ny)) {
  for (int thread = 0; thread < team_.size(); ++thread) lines_.push_back(std::make_unique<Lines>(nx_));
  fastest_.assign(static_cast<std::size_t>(team_.size()), 0.0);
  set_bed(bed);
  for (Index j = 0; j < ny_; ++j) {
    for (Index i = 0; i < nx_; ++i) {
      now_.h.row(j)[i] = std::max(0.0, surface[static_cast<std::size_t>(j * nx_ + i)] - bed_.row(j)[i]);
    }
    speed_ = std::max(speed_, settle(now_, j));
  }
  fill_ghost_rows(now_, {0, ny_});
  speed_ = share({&now_.h, &now_.hu, &now_.hv}, speed_);
  if (!(speed_ > 0)) throw Error("nothing is wet: the whole bathymetry lies above the sea level");
  dt_ = options.dt > 0 ? options.dt : options.cfl / speed_;
}

Solver::~Solver() = default;

void Solver::set_bed(const Raster& bed) {
  const bool wall = options_.boundary == Boundary::wall;  // a wall has the mirror image, so that it sees itself
  for (Index j = 0; j < ny_; ++j) {
    double* row = bed_.row(j);
    for (Index i = 0; i < nx_; ++i) row[i] = bed.at(static_cast<std::size_t>(i), static_cast<std::size_t>(j));
    for (Index k = 0; k < ghosts; ++k) {
      row[-1 - k] = row[wall ? k : 0];
      row[nx_ + k] = row[wall ? nx_ - 1 - k : nx_ - 1];
    }
  }
  for (Index k = 0; k < ghosts; ++k) {
    const Index mirror = wall ? k : 0;
    std::copy_n(bed_.row(mirror) - ghosts, nx_ + 2 * ghosts, bed_.row(-1 - k) - ghosts);
    std::copy_n(bed_.row(ny_ - 1 - mirror) - ghosts, nx_ + 2 * ghosts, bed_.row(ny_ + k) - ghosts);
  }
  share({&bed_}, 0.0);
}

Solver::Band Solver::band(int thread) const {
  const Index threads = team_.size();
  return {ny_ * thread / threads, ny_ * (thread + 1) / threads};
}

void Solver::fill_ghost_columns(State& state, Index j) {
  const bool wall = options_.boundary == Boundary::wall;
  for (Field* field : {&state.h, &state.hu, &state.hv}) {
    double* row = field->row(j);
    const double sign = wall && field == &state.hu ? -1.0 : 1.0;
    for (Index k = 0; k < ghosts; ++k) {
      row[-1 - k] = sign * row[wall ? k : 0];
      row[nx_ + k] = sign * row[wall ? nx_ - 1 - k : nx_ - 1];
    }
  }
}

// Fills the ghost rows beside these rows, if there are any; only beyond the whole grid's edges.
void Solver::fill_ghost_rows(State& state, Band rows) {
  const bool wall = options_.boundary == Boundary::wall;
  for (Field* field : {&state.h, &state.hu, &state.hv}) {
    const double sign = wall && field == &state.hv ? -1.0 : 1.0;
    for (Index k = 0; k < ghosts; ++k) {
      const Index mirror = wall ? k : 0;
      const auto copy = [&](Index from, Index to) {
        for (Index i = -ghosts; i < nx_ + ghosts; ++i) field->row(to)[i] = sign * field->row(from)[i];
      };
      if (rows.first == 0 && peers_.is_southernmost()) copy(mirror, -1 - k);
      if (rows.last == ny_ && peers_.is_northernmost()) copy(ny_ - 1 - mirror, ny_ + k);
    }
  }
}

// Fills ghost rows from the neighbours' rows, with their ghost columns. Collective; returns the greatest `mine`.
double Solver::share(std::initializer_list<Field*> fields, double mine) {
  const auto width = static_cast<std::size_t>(nx_ + 2 * ghosts);
  const auto each_row = [&](Index first, auto&& act) {
    std::size_t at = 0;
    for (Field* field : fields) {
      for (Index k = 0; k < ghosts; ++k, at += width) act(at, field->row(first + k) - ghosts);
    }
  };
  const auto put = [&](Index first, std::span<double> box) {
    if (box.empty()) return;
    each_row(first, [&](std::size_t at, const double* row) { std::copy_n(row, width, &box[at]); });
  };
  const auto take = [&](Index first, std::span<const double> box) {
    if (box.empty()) return;
    each_row(first, [&](std::size_t at, double* row) { std::copy_n(&box[at], width, row); });
  };
  put(0, peers_.outbox(Side::south));
  put(ny_ - ghosts, peers_.outbox(Side::north));
  const double greatest = peers_.exchange(mine);
  take(-ghosts, peers_.inbox(Side::south));
  take(ny_, peers_.inbox(Side::north));
  return greatest;
}

// Completes the work on a row. Returns its largest Courant number for a step of one second.
double Solver::settle(State& state, Index j) {
  const auto k = static_cast<std::size_t>(j);
  const double across = std::max(metric_.north[k], metric_.south[k]);
  const double fastest =
      settle_row({state.h.row(j), state.hu.row(j), state.hv.row(j)}, options_.film, metric_.east[k], across, nx_);
  fill_ghost_columns(state, j);
  return fastest;
}

// Advances by one row: computes what row j needs and the rows below it have not computed. `first` begins the band.
void Solver::climb(const Advance& what, Lines& lines, Index j, Index first) {
  const State& now = what.now;
  const auto values = [&](Index row) { return lines.primitives(now, row); };
  if (j + 2 < first - ghosts) return;
  primitives_row({now.h.row(j + 2), now.hu.row(j + 2), now.hv.row(j + 2)}, bed_.row(j + 2), options_.film, nx_,
                 {lines.value(0, j + 2), lines.value(1, j + 2), lines.value(2, j + 2)});
  if (j + 1 < first - 1) return;
  slopes_across(values(j), values(j + 1), values(j + 2), nx_, options_.theta, lines.slopes_across_of(j + 1));
  if (j + 1 < first) return;
  fluxes_across(values(j), lines.slopes_across_of(j), values(j + 1), lines.slopes_across_of(j + 1), nx_,
                lines.face_below(j + 1));
}

// Updates row j. Returns its largest Courant number for a step of one second.
double Solver::finish_row(const Advance& what, Lines& lines, Index j) {
  const auto k = static_cast<std::size_t>(j);
  const Primitives values = lines.primitives(what.now, j);
  slopes_along(values, nx_, options_.theta, lines.along);
  fluxes_along(values, lines.along, nx_, lines.west_east);
  const RowState out{what.out.h.row(j), what.out.hu.row(j), what.out.hv.row(j)};
  update_row(what.stage,
             {metric_.east[k], metric_.north[k], metric_.south[k], metric_.dy_inverse, metric_.tangent[k],
              metric_.coriolis[k]},
             {lines.west_east, lines.along, lines.face_below(j), lines.face_below(j + 1), lines.slopes_across_of(j)},
             values, {what.now.h.row(j), what.now.hu.row(j), what.now.hv.row(j)},
             {what.base.h.row(j), what.base.hu.row(j), what.base.hv.row(j)}, out, nx_);
  if (what.friction_dt > 0) friction_row(out, options_.manning, options_.film, what.friction_dt, nx_);
  return settle(what.out, j);
}

double Solver::advance_band(int thread, const Advance& what) {
  const Band rows = band(thread);
  Lines& lines = *lines_[static_cast<std::size_t>(thread)];
  double fastest = 0;
  // The first rounds only fill the lines: with values from row first-2, slopes from first-1, a face below first.
  for (Index j = rows.first - 4; j < rows.first; ++j) climb(what, lines, j, rows.first);
  for (Index j = rows.first; j < rows.last; ++j) {
    climb(what, lines, j, rows.first);
    fastest = std::max(fastest, finish_row(what, lines, j));
  }
  fill_ghost_rows(what.out, rows);
  return fastest;
}

double Solver::advance(const Advance& what) {
  team_.run([&](int thread) { fastest_[static_cast<std::size_t>(thread)] = advance_band(thread, what); });
  return share({&what.out.h, &what.out.hu, &what.out.hv}, *std::max_element(fastest_.begin(), fastest_.end()));
}

// Returns into how many parts a step must be divided; NaN or infinite if the solution is.
double Solver::parts_for(double fastest) const {
  return std::max(std::ceil(dt_ * fastest / positive_cfl - 1e-9), 1.0);
}

void Solver::step() {
  double left = 1.0;  // share of the step
  double parts = parts_for(speed_);
  while (left > 0) {
    if (!(parts <= max_substeps)) {
      throw Error("step " + std::to_string(steps_ + 1) + " would need more than " + std::to_string(max_substeps) +
                  " parts: the solution has become unstable");
    }
    const double part = std::min(left, 1.0 / parts);
    const double dt = dt_ * part;
    // The first stage may be faster than its start: this part is then repeated, in halves.
    if (!(dt * advance({now_, now_, next_, {dt, 0.0}, 0.0}) <= positive_cfl)) {
      parts *= 2;
      continue;
    }
    speed_ = advance({next_, now_, now_, {dt, 0.5}, options_.manning > 0 ? dt : 0.0});
    left = left - part < 1e-9 ? 0.0 : left - part;
    parts = std::max(parts, parts_for(speed_));
    ++substeps_;
  }
  ++steps_;
}

double Solver::volume() const {
  std::vector<double> rows;
  for (Index j = 0; j < ny_; ++j) {
    double row = 0;
    for (Index i = 0; i < nx_; ++i) row += now_.h.row(j)[i];
    rows.push_back(row * metric_.area[static_cast<std::size_t>(j)]);
  }
  // Adds row by row from the south, whichever process has them, so that the sum does not depend on their number.
  double sum = 0;
  for (const double row : peers_.gather(rows)) sum += row;
  return sum;
}

}  // namespace tsunami
