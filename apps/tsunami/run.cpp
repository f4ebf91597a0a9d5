// The main loop and what is around it. See the header.
#include "run.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "error.hpp"
#include "esri_grid.hpp"
#include "npy.hpp"
#include "numbers_list.hpp"
#include "pack.hpp"
#include "problem.hpp"
#include "progress.hpp"

namespace tsunami {
namespace {

constexpr double most_points = 2e9;
constexpr long default_outputs = 16;

Raster read_bed(const Options& options) {
  Raster raster = read_esri_grid(options.topo);
  if (options.region) raster = crop(raster, *options.region);
  const double n = static_cast<double>(options.refine);
  const double points = static_cast<double>(raster.nx) * static_cast<double>(raster.ny) * n * n;
  if (points > most_points) {
    throw Error("--refine " + std::to_string(options.refine) + " would make " + shortest(points) +
                " points, expected at most " + shortest(most_points));
  }
  return refine(raster, options.refine);
}

// The steps of the run: whichever end comes first.
long count_steps(const Options& options, double dt) {
  const double until = options.end_time > 0 ? std::ceil(options.end_time / dt - 1e-9) : 1e18;
  const double steps = options.steps > 0 ? std::min(until, static_cast<double>(options.steps)) : until;
  return std::max(1L, static_cast<long>(steps));
}

OutputSpec make_spec(const Options& options, const Raster& bed, double interval) {
  OutputSpec spec;
  spec.directory = options.directory;
  spec.precision = options.precision;
  spec.nx = bed.nx;
  spec.ny = bed.ny;
  spec.x0 = bed.x0;
  spec.y0 = bed.y0;
  spec.dx = bed.dx;
  spec.dy = bed.dy;
  spec.degrees = options.solver.geometry == Geometry::sphere;
  spec.interval = interval;
  spec.variables = output_variables();
  spec.sync = options.sync;
  spec.durability = options.durability;
  spec.backend = options.backend;
  // Two outputs, each field rounded up to pages, and a little for what else the writer keeps.
  const std::uint64_t room = 2 * variable_count * (spec.bytes_per_field() + 8192) + (std::uint64_t{1} << 20);
  spec.budget = options.budget_mib > 0 ? options.budget_mib << 20 : std::max(room, std::uint64_t{16} << 20);
  return spec;
}

std::unique_ptr<Output> make_output(OutputKind kind, const OutputSpec& spec) {
  switch (kind) {
    case OutputKind::none: return make_none_output(spec);
    case OutputKind::hdf5: return make_hdf5_output(spec);
    case OutputKind::tailrace: return make_tailrace_output(spec);
  }
  return nullptr;
}

// The most memory that the process ever had in use, in bytes; 0 where the system does not tell.
double peak_rss() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    double kib = 0;
    if (word == "VmHWM:" && status >> kib) return kib * 1024;
  }
  return 0;
}

void make_directory(const std::string& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) throw Error("cannot make the directory '" + directory + "': " + error.message());
}

// Hands one iteration to the output; packing is work, the output's calls are waiting.
void write_iteration(Solver& solver, Output& output, const OutputSpec& spec, std::int64_t iteration,
                     Timeline& timeline) {
  using Kind = Event::Kind;
  for (std::size_t variable = 0; variable < variable_count; ++variable) {
    void* field = output.field(variable, iteration);
    timeline.note(Kind::output, iteration);
    pack(solver, static_cast<Variable>(variable), spec.precision, field);
    timeline.note(Kind::pack, iteration);
    output.put(variable, iteration);
    timeline.note(Kind::output, iteration);
  }
  output.end_iteration(iteration);
  timeline.note(Kind::output, iteration, output.counters());
}

void check_sane(const Solver& solver) {
  if (std::isfinite(solver.volume())) return;
  throw Error("the solution is no longer finite after step " + std::to_string(solver.steps()) +
              "; a smaller --dt or --cfl may help");
}

}  // namespace

Result run(const Options& options) {
  const Stopwatch setup;
  Result result;
  Problem problem{read_bed(options), options.sea_level, options.fault, options.gaussian};
  const std::unique_ptr<Solver> solver = make_solver(problem, options.solver);
  result.nx = solver->nx();
  result.ny = solver->ny();
  result.dt = solver->dt();
  result.volume_before = solver->volume();
  const long steps = count_steps(options, solver->dt());
  result.output_every =
      options.output_every > 0 ? options.output_every : std::max(1L, (steps + default_outputs - 1) / default_outputs);
  for (const GaugeOption& g : options.gauges) result.gauges.emplace_back(g.name, g.x, g.y, problem.bed, *solver);

  const bool files = options.output != OutputKind::none || !options.gauges.empty();
  if (files) make_directory(options.directory);
  if (options.output != OutputKind::none) {
    result.bathymetry = (std::filesystem::path(options.directory) / "bathymetry.npy").string();
    write_npy(result.bathymetry, problem.bed);
  }
  const OutputSpec spec = make_spec(options, problem.bed, solver->dt() * static_cast<double>(result.output_every));
  problem.bed = {};  // the solver has its own
  const std::unique_ptr<Output> output = make_output(options.output, spec);
  result.description = output->description();
  Progress progress(options.progress, options.quiet, steps, name_of(options.output));
  result.seconds_setup = setup.seconds();

  result.timeline = Timeline();
  for (Gauge& gauge : result.gauges) gauge.record(*solver);
  while (solver->steps() < steps) {
    solver->step();
    for (Gauge& gauge : result.gauges) gauge.record(*solver);
    progress.show(solver->steps());
    if (solver->steps() % result.output_every != 0) continue;
    check_sane(*solver);
    // Iteration k is at k intervals; so the first one is 1.
    ++result.outputs;
    result.timeline.note(Event::Kind::compute, result.outputs);
    write_iteration(*solver, *output, spec, result.outputs, result.timeline);
  }
  check_sane(*solver);
  result.timeline.note(Event::Kind::compute, result.outputs + 1);  // the steps after the last output, if any
  output->close();
  result.counters = output->counters();
  result.timeline.note(Event::Kind::close, result.outputs, result.counters);
  progress.finish();

  result.steps = solver->steps();
  result.substeps = solver->substeps();
  result.bytes = static_cast<double>(result.outputs) * static_cast<double>(variable_count * spec.bytes_per_field());
  result.volume_after = solver->volume();
  result.files = output->files();
  result.peak_rss = peak_rss();
  for (const Gauge& gauge : result.gauges) {
    gauge.write_csv((std::filesystem::path(options.directory) / ("gauge_" + gauge.name() + ".csv")).string());
  }
  return result;
}

}  // namespace tsunami
