// The main loop and its preparation. See the header.
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
constexpr std::size_t fewest_rows = 4;  // per process: its ghost rows must all belong to the next process

// Returns the number of rows of the largest slab.
std::size_t most_rows(std::size_t rows, int processes) {
  return (rows + static_cast<std::size_t>(processes) - 1) / static_cast<std::size_t>(processes);
}

// Returns the steps of the run: the earlier of the two ends counts.
long count_steps(const Options& options, double dt) {
  const double until = options.end_time > 0 ? std::ceil(options.end_time / dt - 1e-9) : 1e18;
  const double steps = options.steps > 0 ? std::min(until, static_cast<double>(options.steps)) : until;
  return std::max(1L, static_cast<long>(steps));
}

OutputSpec make_spec(const Options& options, const Raster& whole, const Raster& slab, const Peers& peers,
                     double interval) {
  OutputSpec spec;
  spec.directory = options.directory;
  spec.precision = options.precision;
  spec.process = peers.rank();
  spec.processes = peers.size();
  spec.processes_of_node = peers.on_this_node();
  spec.nx = slab.nx;
  spec.ny = slab.ny;
  spec.rows = whole.ny;
  spec.first_row = slab.first;
  spec.x0 = whole.x0;
  spec.y0 = whole.y0;
  spec.dx = whole.dx;
  spec.dy = whole.dy;
  spec.degrees = options.solver.geometry == Geometry::sphere;
  spec.interval = interval;
  spec.variables = output_variables();
  spec.sync = options.sync;
  spec.durability = options.durability;
  spec.backend = options.backend;
  spec.place = options.place;
  spec.forward = options.forward;
  spec.key = options.key;
  spec.file_per = options.file_per;
  spec.compress = options.compress;
  spec.stored = options.stored;
  spec.trace = options.trace;
  // Space for two outputs of the largest slab, each field rounded up to pages, and a little for other data of the
  // writer.
  const std::uint64_t field = spec.bytes_per_field() / spec.ny * most_rows(whole.ny, peers.size());
  const std::uint64_t room = 2 * variable_count * (field + 8192) + (std::uint64_t{1} << 20);
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

// Returns the most memory that the process ever used, in bytes; 0 if the system does not report it.
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

void check_sane(const Solver& solver) {
  if (std::isfinite(solver.volume())) return;
  throw Error("the solution is no longer finite after step " + std::to_string(solver.steps()) +
              "; a smaller --dt or --cfl may help");
}

// Gathers the share of each process in all processes.
std::vector<Share> gather_shares(const Share& mine, Peers& peers) {
  std::vector<double> numbers = {static_cast<double>(mine.slab.first),
                                 static_cast<double>(mine.slab.count),
                                 mine.seconds_total,
                                 mine.seconds_computing,
                                 mine.seconds_waiting,
                                 mine.seconds_peers,
                                 mine.peak_rss};
  const std::size_t fixed = numbers.size();
  for (const auto& [name, value] : mine.counters) numbers.push_back(value);
  const std::vector<double> all = peers.gather(numbers);
  std::vector<Share> shares;
  for (auto at = all.begin(); at != all.end(); at += static_cast<std::ptrdiff_t>(numbers.size())) {
    Share share{{static_cast<std::size_t>(at[0]), static_cast<std::size_t>(at[1])},
                at[2],
                at[3],
                at[4],
                at[5],
                at[6],
                mine.counters};
    for (std::size_t k = 0; k < share.counters.size(); ++k) {
      share.counters[k].second = at[static_cast<std::ptrdiff_t>(fixed + k)];
    }
    shares.push_back(std::move(share));
  }
  return shares;
}

// Gathers the crests of all gauges, each from the process that has it.
std::vector<GaugeCrest> gather_crests(const std::vector<Gauge>& gauges, Peers& peers) {
  std::vector<double> numbers;
  for (std::size_t k = 0; k < gauges.size(); ++k) {
    if (!gauges[k].is_here()) continue;
    const Crest crest = first_crest(gauges[k].samples(), 0, INFINITY, 0.2);
    numbers.insert(numbers.end(), {static_cast<double>(k), crest.arrival, crest.time, crest.height});
  }
  const std::vector<double> all = peers.gather(numbers);
  std::vector<GaugeCrest> crests;
  for (const Gauge& gauge : gauges) crests.push_back({gauge.name(), gauge.x(), gauge.y(), {}});
  for (std::size_t at = 0; at + 4 <= all.size(); at += 4) {
    crests[static_cast<std::size_t>(all[at])].crest = {all[at + 1], all[at + 2], all[at + 3]};
  }
  return crests;
}

// One run in one process: its slab, its solver and its output, and their results.
class Run {
 public:
  Run(const Options& options, const Raster& coarse, Peers& peers);
  void compute();
  Result finish();

 private:
  void prepare_files(const Raster& slab);
  void write_iteration();

  const Stopwatch setup_;
  const Options& options_;
  Peers& peers_;
  const Raster whole_;  // without heights
  const Slab slab_;
  Result result_;
  std::unique_ptr<Solver> solver_;
  long steps_ = 0;
  std::vector<Gauge> gauges_;
  OutputSpec spec_;
  std::unique_ptr<Output> output_;
  double peers_before_ = 0;  // seconds in collective calls before the first step
};

Run::Run(const Options& options, const Raster& coarse, Peers& peers)
    : options_(options),
      peers_(peers),
      whole_(refined_shape(coarse, options.refine)),
      slab_(slab_of(whole_.ny, peers.rank(), peers.size())) {
  Problem problem{refine(coarse, options.refine, slab_.first, slab_.count), options.sea_level, options.fault,
                  options.gaussian};
  solver_ = make_solver(problem, options.solver, &peers);
  result_.nx = static_cast<std::ptrdiff_t>(whole_.nx);
  result_.ny = static_cast<std::ptrdiff_t>(whole_.ny);
  result_.dt = solver_->dt();
  result_.volume_before = solver_->volume();
  steps_ = count_steps(options, solver_->dt());
  result_.output_every = options.output_every > 0 ? options.output_every
                                                  : std::max(1L, (steps_ + default_outputs - 1) / default_outputs);
  for (const GaugeOption& g : options.gauges) gauges_.emplace_back(g.name, g.x, g.y, whole_, *solver_);
  prepare_files(problem.bed);
  spec_ = make_spec(options, whole_, problem.bed, peers, solver_->dt() * static_cast<double>(result_.output_every));
  problem.bed = {};  // the solver has its own copy
  output_ = make_output(options.output, spec_);
  result_.description = output_->description();
  peers.gather({});  // all are ready: no times include waiting for others' preparations
  peers_before_ = peers.seconds();
  result_.seconds_setup = setup_.seconds();
}

void Run::prepare_files(const Raster& slab) {
  if (options_.output != OutputKind::none || !options_.gauges.empty()) make_directory(options_.directory);
  if (options_.output == OutputKind::none) return;
  result_.bathymetry = (std::filesystem::path(options_.directory) / "bathymetry.npy").string();
  const NpyFile file(result_.bathymetry, whole_.nx, whole_.ny);
  if (peers_.rank() == 0) file.create();
  peers_.gather({});  // the others write into it
  file.write(slab);
}

// Hands one iteration to the output. Packing counts as work, the output's calls as waiting.
void Run::write_iteration() {
  using Kind = Event::Kind;
  Timeline& timeline = result_.timeline;
  const std::int64_t iteration = result_.outputs;
  for (std::size_t variable = 0; variable < variable_count; ++variable) {
    void* field = output_->field(variable, iteration);
    timeline.note(Kind::output, iteration);
    pack(*solver_, static_cast<Variable>(variable), spec_.precision, field);
    timeline.note(Kind::pack, iteration);
    output_->put(variable, iteration);
    timeline.note(Kind::output, iteration);
  }
  output_->end_iteration(iteration);
  timeline.note(Kind::output, iteration, output_->counters());
}

void Run::compute() {
  Progress progress(options_.progress, options_.quiet || peers_.rank() != 0, steps_, name_of(options_.output));
  result_.timeline = Timeline();
  for (Gauge& gauge : gauges_) gauge.record(*solver_);
  while (solver_->steps() < steps_) {
    solver_->step();
    for (Gauge& gauge : gauges_) gauge.record(*solver_);
    progress.show(solver_->steps());
    if (solver_->steps() % result_.output_every != 0) continue;
    check_sane(*solver_);
    // Iteration k is at k intervals, so the first one is 1.
    ++result_.outputs;
    result_.timeline.note(Event::Kind::compute, result_.outputs);
    write_iteration();
  }
  check_sane(*solver_);
  result_.timeline.note(Event::Kind::compute, result_.outputs + 1);  // the steps after the last output, if any
  output_->close();
  result_.counters = output_->counters();
  peers_.gather({});  // the run ends when the last process has closed its output
  result_.timeline.note(Event::Kind::close, result_.outputs, result_.counters);
  progress.finish();
}

Result Run::finish() {
  result_.steps = solver_->steps();
  result_.substeps = solver_->substeps();
  const std::size_t bytes = spec_.bytes_per_field() / spec_.ny * spec_.rows;
  result_.bytes = static_cast<double>(result_.outputs) * static_cast<double>(variable_count * bytes);
  result_.volume_after = solver_->volume();
  result_.files = output_->files();
  for (const Gauge& gauge : gauges_) {
    if (!gauge.is_here()) continue;
    gauge.write_csv((std::filesystem::path(options_.directory) / ("gauge_" + gauge.name() + ".csv")).string());
  }
  result_.gauges = gather_crests(gauges_, peers_);
  const Timeline& times = result_.timeline;
  result_.shares = gather_shares({slab_, times.end(), times.computing(), times.waiting(),
                                  peers_.seconds() - peers_before_, peak_rss(), result_.counters},
                                 peers_);
  for (std::size_t k = 0; k < result_.counters.size(); ++k) {
    result_.counters[k].second = 0;
    for (const Share& share : result_.shares) result_.counters[k].second += share.counters[k].second;
  }
  for (const Share& share : result_.shares) result_.peak_rss += share.peak_rss;
  return result_;
}

}  // namespace

Raster read_bed(const Options& options) {
  Raster raster = read_esri_grid(options.topo);
  if (options.region) raster = crop(raster, *options.region);
  const Raster fine = refined_shape(raster, options.refine);
  const double points = static_cast<double>(fine.nx) * static_cast<double>(fine.ny);
  if (points > most_points) {
    throw Error("--refine " + std::to_string(options.refine) + " would make " + shortest(points) +
                " points, expected at most " + shortest(most_points));
  }
  const auto processes = static_cast<std::size_t>(options.processes);
  if (processes > 1 && fine.ny < fewest_rows * processes) {
    throw Error("--processes " + std::to_string(processes) + ": found " + std::to_string(fine.ny) +
                " rows of bathymetry, expected at least " + std::to_string(fewest_rows) + " for each process");
  }
  return raster;
}

PeersNeed needed_of_peers(const Options& options, const Raster& coarse) {
  const Raster whole = refined_shape(coarse, options.refine);
  // Three fields, with their ghost columns; one number per row for the volume, and the numbers gathered at the end.
  const std::size_t halo = 3 * ghosts * (whole.nx + 2 * ghosts);
  const std::size_t gathered = std::max(most_rows(whole.ny, options.processes), 64 + 4 * options.gauges.size());
  return {halo, gathered};
}

Result run(const Options& options, const Raster& coarse, Peers& peers) {
  Run run(options, coarse, peers);
  run.compute();
  return run.finish();
}

}  // namespace tsunami
