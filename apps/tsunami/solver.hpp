// Solver: the nonlinear shallow-water equations on one grid, advanced by steps of one length.
//
// Scheme and sources: kernels.hpp; time: Heun's method (SSP Runge-Kutta of order two: S. Gottlieb, C.-W. Shu, Math.
// Comp. 67, 1998, 73-85). On the sphere the equations and their metric terms are those of M. J. Berger, D. L. George,
// R. J. LeVeque, K. T. Mandli, "The GeoClaw software for depth-averaged flows with adaptive refinement", Adv. Water
// Resour. 34, 2011, 1195-1206, with Coriolis's force.
//
// A step has the same length throughout a run, so that outputs are equally spaced in time; where the water becomes
// too fast for it, the step is divided. Several processes may share the grid: each has a Solver with a slab of rows,
// and passes its edges to the neighbours after every stage (peers.hpp). Results do not depend on the number of
// threads or processes. Never does any I/O.
#pragma once

#include <initializer_list>
#include <memory>
#include <vector>

#include "field.hpp"
#include "kernels.hpp"
#include "metric.hpp"
#include "peers.hpp"
#include "raster.hpp"
#include "team.hpp"

namespace tsunami {

enum class Boundary { open, wall };

struct SolverOptions {
  Geometry geometry = Geometry::sphere;
  Boundary boundary = Boundary::open;
  bool coriolis = true;    // on the sphere
  double manning = 0.025;  // s/m^(1/3); 0: none
  double cfl = 0.45;       // (|u|+c) dt/dx + (|v|+c) dt/dy; depths stay positive up to 1/2
  double theta = 1.5;      // of the limiter: 1 (minmod) to 2 (sharpest)
  double film = 1e-3;      // m; thinner water loses its momentum
  double dt = 0;           // s; 0: from cfl, at the start
  int threads = 1;
};

class Solver {
 public:
  // The bed is `bed`; the water reaches up to `surface` where that is above the bed. Both have the shape of `bed`.
  // With peers, both are this process's slab, of at least `ghosts` rows; constructor, step() and volume() are then
  // collective, and `peers` must outlive the solver. Throws Error (grid reaches a pole, nothing is wet).
  Solver(const Raster& bed, const std::vector<double>& surface, const SolverOptions& options, Peers* peers = nullptr);
  ~Solver();

  // Makes one step. Throws Error if the solution has become so fast that no division of the step helps.
  void step();

  double dt() const { return dt_; }
  double time() const { return static_cast<double>(steps_) * dt_; }
  long steps() const { return steps_; }
  long substeps() const { return substeps_; }
  std::ptrdiff_t nx() const { return nx_; }
  // Returns the rows of this process's slab; row 0 is row first_row() of the whole grid.
  std::ptrdiff_t ny() const { return ny_; }
  std::ptrdiff_t first_row() const { return first_row_; }
  Team& team() { return team_; }

  // Returns the state of this slab. Its ghost rows contain the neighbours' rows, or those beyond the edge.
  const State& state() const { return now_; }
  const Field& bed() const { return bed_; }
  // The rows of a thread of the team: [first, last).
  struct Band {
    std::ptrdiff_t first, last;
  };
  Band band(int thread) const;

  // Returns the m³ of water in the whole grid; not finite if the solution has become unstable.
  double volume() const;

 private:
  struct Lines;  // a thread's scratch rows

  // A stage of a step: computes `out` from `now` and `base`, then applies friction over friction_dt.
  struct Advance {
    const State& now;
    const State& base;
    State& out;
    Stage stage;
    double friction_dt;
  };
  double advance(const Advance& what);
  double advance_band(int thread, const Advance& what);
  void climb(const Advance& what, Lines& lines, std::ptrdiff_t j, std::ptrdiff_t first);
  double finish_row(const Advance& what, Lines& lines, std::ptrdiff_t j);
  double settle(State& state, std::ptrdiff_t j);
  void fill_ghost_columns(State& state, std::ptrdiff_t j);
  void fill_ghost_rows(State& state, Band rows);
  double share(std::initializer_list<Field*> fields, double mine);
  double parts_for(double fastest) const;
  void set_bed(const Raster& bed);

  // Constant after construction.
  const SolverOptions options_;
  const std::ptrdiff_t nx_, ny_, first_row_;
  const Metric metric_;
  Field bed_;
  double dt_ = 0;
  Alone alone_;  // used if there are no peers
  Peers& peers_;

  State now_, next_;
  double speed_ = 0;  // Courant number of `now_` for a step of one second
  long steps_ = 0, substeps_ = 0;
  Team team_;
  std::vector<std::unique_ptr<Lines>> lines_;  // one per thread
  std::vector<double> fastest_;                // one per thread
};

}  // namespace tsunami
