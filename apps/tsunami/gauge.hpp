// Gauge: the record that a buoy at one point of the sea would make.
//
// It samples a solver after every step, keeps the series in memory, and writes it as CSV at the end. With several
// processes, the one whose slab contains the point does so; in the others the gauge stays empty. It never disturbs
// the solver, and is not part of the measured output.
#pragma once

#include <string>
#include <vector>

#include "raster.hpp"
#include "solver.hpp"

namespace tsunami {

class Gauge {
 public:
  struct Sample {
    double time, eta, hu, hv;  // s, m, m²/s
  };

  // Interpolates between the cells around (x, y) that are wet at the start. `grid` is the whole grid; its heights are
  // not read. Throws Error if (x, y) is outside the grid or all four cells are dry.
  Gauge(std::string name, double x, double y, const Raster& grid, const Solver& solver);

  void record(const Solver& solver);

  // Returns true if the point is in the slab of the solver given at the beginning.
  bool is_here() const { return !corners_.empty(); }
  const std::string& name() const { return name_; }
  const std::vector<Sample>& samples() const { return samples_; }
  double x() const { return x_; }
  double y() const { return y_; }

  // Writes the record. Throws Error.
  void write_csv(const std::string& file) const;

 private:
  struct Corner {
    std::ptrdiff_t i, j;
    double weight;
  };

  std::string name_;
  double x_, y_;
  std::vector<Corner> corners_;  // the wet cells around the point; weights add up to 1
  std::vector<Sample> samples_;
};

// The first crest of a record. It is the highest sample between `from` and `until`; its arrival is the time at which
// the record first reaches `share` of its height.
struct Crest {
  double arrival, time, height;
};
Crest first_crest(const std::vector<Gauge::Sample>& samples, double from, double until, double share);

}  // namespace tsunami
