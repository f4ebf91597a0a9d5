// Parses the command line with CLI11. See the header.
#include "options.hpp"

#include <tailrace/tailrace.h>

#include <CLI/CLI.hpp>
#include <map>

#include "error.hpp"
#include "numbers_list.hpp"

namespace tsunami {
namespace {

// Options that CLI11 reads as text, which are parsed afterwards.
struct Texts {
  std::string fault, gaussian, region;
  std::vector<std::string> gauges;
  bool plane = false, walls = false, no_coriolis = false;
};

template <class T>
CLI::CheckedTransformer one_of(std::map<std::string, T> words) {
  return CLI::CheckedTransformer(std::move(words), CLI::ignore_case);
}

void add_input(CLI::App& app, Options& o, Texts& t) {
  const char* group = "Sea floor";
  app.add_option("--topo", o.topo, "ESRI ASCII grid of heights in metres, plain or .gz")
      ->required()
      ->option_text("FILE (required)")
      ->group(group);
  app.add_option("--refine", o.refine, "points per input point, by bilinear interpolation")
      ->check(CLI::Range(1, 1000))
      ->option_text("N = 1")
      ->group(group);
  app.add_option("--region", t.region, "lon0,lon1,lat0,lat1: use this part of the grid only")
      ->option_text("LIST")
      ->group(group);
  app.add_option("--sea-level", o.sea_level, "height of the sea at rest")->option_text("METRES = 0")->group(group);
  app.add_flag("--plane", t.plane, "the grid is in metres on a plane, not in degrees on the Earth")->group(group);
}

void add_source(CLI::App& app, Texts& t) {
  const char* group = "Source (a fault, a Gaussian, both or none)";
  app.add_option("--fault", t.fault,
                 "strike,dip,rake,length_km,width_km,depth_km,slip_m,lon,lat of a rectangular fault (Okada 1985); "
                 "depth and position of the middle of its top edge")
      ->option_text("LIST")
      ->group(group);
  app.add_option("--gaussian", t.gaussian, "lon,lat,sigma_km,height_m of a hump of water")
      ->option_text("LIST")
      ->group(group);
}

void add_solver(CLI::App& app, Options& o, Texts& t) {
  const char* group = "Solver";
  app.add_option("--steps", o.steps, "stop after this many steps")
      ->check(CLI::PositiveNumber)
      ->option_text("N")
      ->group(group);
  app.add_option("--end-time", o.end_time, "stop at this time, s (default: 3600, unless --steps is given)")
      ->check(CLI::PositiveNumber)
      ->option_text("SECONDS")
      ->group(group);
  app.add_option("--dt", o.solver.dt, "length of a step, s (default: from --cfl)")
      ->check(CLI::PositiveNumber)
      ->option_text("SECONDS")
      ->group(group);
  app.add_option("--cfl", o.solver.cfl, "Courant number of the first step")
      ->check(CLI::Range(1e-3, 0.5))
      ->option_text("0.001..0.5 = 0.45")
      ->group(group);
  app.add_option("--manning", o.solver.manning, "Manning's friction coefficient, s/m^(1/3); 0: none")
      ->check(CLI::Range(0.0, 1.0))
      ->option_text("0..1 = 0.025")
      ->group(group);
  app.add_option("--limiter", o.solver.theta, "1 (minmod, smooth) to 2 (sharp)")
      ->check(CLI::Range(1.0, 2.0))
      ->option_text("1..2 = 1.5")
      ->group(group);
  app.add_flag("--walls", t.walls, "the edges reflect; by default waves leave through them")->group(group);
  app.add_flag("--no-coriolis", t.no_coriolis, "ignore the Earth's rotation")->group(group);
  app.add_option("--threads", o.solver.threads, "threads that compute")
      ->check(CLI::Range(1, 1024))
      ->option_text("N = 1")
      ->group(group);
}

void add_processes(CLI::App& app, Options& o) {
  const char* group = "Processes";
  app.add_option("--processes", o.processes, "processes that share the grid, a slab of rows each")
      ->check(CLI::Range(1, 1024))
      ->option_text("N = 1")
      ->group(group);
  app.add_option("--wait-limit", o.wait_limit, "how long a process waits for the others before it gives up")
      ->check(CLI::PositiveNumber)
      ->option_text("SECONDS = 600")
      ->group(group);
}

void add_output(CLI::App& app, Options& o) {
  const char* group = "Output";
  app.add_option("--output", o.output, "tailrace: written while computing on; hdf5: synchronous; none")
      ->transform(one_of<OutputKind>(
          {{"none", OutputKind::none}, {"hdf5", OutputKind::hdf5}, {"tailrace", OutputKind::tailrace}}))
      ->option_text("{tailrace,hdf5,none} = tailrace")
      ->group(group);
  app.add_option("--out", o.directory, "directory for all files; created if it is missing")
      ->option_text("DIR = out")
      ->group(group);
  app.add_option("--output-every", o.output_every, "steps between outputs (default: a 16th of the run)")
      ->check(CLI::PositiveNumber)
      ->option_text("N")
      ->group(group);
  app.add_option("--precision", o.precision, "precision of the written fields")
      ->transform(one_of<Precision>({{"float32", Precision::float32}, {"float64", Precision::float64}}))
      ->option_text("{float32,float64} = float32")
      ->group(group);
  app.add_option("--sync", o.sync,
                 "hdf5: fdatasync after each output; direct: fields bypass the page cache; none: into the cache "
                 "(measures memory)")
      ->transform(one_of<SyncMode>(
          {{"none", SyncMode::none}, {"fdatasync", SyncMode::fdatasync}, {"direct", SyncMode::direct}}))
      ->option_text("{fdatasync,direct,none} = fdatasync")
      ->group(group);
  app.add_option("--budget", o.budget_mib, "tailrace: MiB of memory (default: room for two outputs)")
      ->check(CLI::PositiveNumber)
      ->option_text("MIB")
      ->group(group);
  app.add_option("--durability", o.durability, "tailrace: the state of the data that close waits for")
      ->check(CLI::IsMember({"accepted", "written", "durable"}))
      ->option_text("{accepted,written,durable} = written")
      ->group(group);
  app.add_option("--backend", o.backend, "tailrace: its storage back end")
      ->check(CLI::IsMember({"auto", "uring", "posix"}))
      ->option_text("{auto,uring,posix} = auto")
      ->group(group);
  app.add_option("--place", o.place, "tailrace: writes in a thread of each process, or in one server for all")
      ->check(CLI::IsMember({"thread", "core"}))
      ->option_text("{thread,core} = thread")
      ->group(group);
  auto* const forward =
      app.add_option("--forward", o.forward, "tailrace: hand the output to this forwarder (may be repeated)")
          ->allow_extra_args(false)
          ->option_text("HOST:PORT")
          ->group(group);
  app.add_option("--key", o.key, "tailrace: the key file of the forwarders")
      ->needs(forward)
      ->option_text("FILE")
      ->group(group);
  forward->needs("--key");
  app.add_option("--file-per", o.file_per, "tailrace: one file per process or per node")
      ->check(CLI::IsMember({"process", "node"}))
      ->option_text("{process,node} = process")
      ->group(group);
  app.add_option("--compress", o.compress, "tailrace: compression of the files")
      ->check(CLI::IsMember({"none", "deflate", "zstd"}))
      ->option_text("{none,deflate,zstd} = none")
      ->group(group);
  app.add_option("--stored", o.stored, "tailrace: precision in the files; float16 loses digits")
      ->check(CLI::IsMember({"full", "float16"}))
      ->option_text("{full,float16} = full")
      ->group(group);
}

void add_report(CLI::App& app, Options& o, Texts& t) {
  const char* group = "Report";
  app.add_option("--gauge", t.gauges, "lon,lat,name: record the sea there into OUT/gauge_NAME.csv (may be repeated)")
      ->allow_extra_args(false)
      ->option_text("LIST")
      ->group(group);
  app.add_option("--json", o.json, "write times, counters and the timeline to this file")
      ->option_text("FILE")
      ->group(group);
  app.add_flag("--trace", o.trace, "tailrace: leave statistics and a trace in OUT, for `tailrace plot`")
      ->group(group);
  app.add_flag("--progress", o.progress, "a progress bar even where stderr is no terminal")->group(group);
  app.add_flag("--quiet", o.quiet, "no progress bar, no summary")->group(group);
}

GaugeOption parse_gauge(const std::string& text) {
  const std::string form = "lon,lat,name";
  const auto parts = split_at_commas(text);
  if (parts.size() != 3) {
    throw Error("--gauge: found " + std::to_string(parts.size()) + " values in '" + text + "', expected 3: " + form);
  }
  const auto at = parse_numbers(parts[0] + "," + parts[1], 2, "--gauge", form);
  const std::string& name = parts[2];
  const bool good = !name.empty() && name.find_first_not_of(
                                         "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                         "0123456789_.-") == std::string::npos;
  if (!good) {
    throw Error("--gauge: found the name '" + name + "', expected letters, digits, '_', '.' and '-'");
  }
  return {at[0], at[1], name};
}

void take_apart(const Texts& t, Options& o) {
  if (!t.fault.empty()) o.fault = parse_fault(t.fault);
  if (!t.gaussian.empty()) o.gaussian = parse_gaussian(t.gaussian);
  if (!t.region.empty()) {
    const auto v = parse_numbers(t.region, 4, "--region", "lon0,lon1,lat0,lat1");
    o.region = Region{v[0], v[1], v[2], v[3]};
  }
  for (const std::string& text : t.gauges) o.gauges.push_back(parse_gauge(text));
  o.solver.geometry = t.plane ? Geometry::plane : Geometry::sphere;
  o.solver.boundary = t.walls ? Boundary::wall : Boundary::open;
  o.solver.coriolis = !t.no_coriolis;
  if (o.steps == 0 && o.end_time == 0) o.end_time = 3600;
}

}  // namespace

ParsedOptions parse_options(int argc, char** argv) {
  CLI::App app{
      "Computes a tsunami: nonlinear shallow-water equations on real bathymetry, from a fault or a Gaussian.\n"
      "Writes surface height and both momenta as openPMD/HDF5 files.",
      "tsunami"};
  app.set_version_flag("--version", "tsunami " TAILRACE_VERSION_STRING, "Print the version, and end");
  app.footer(
      "Example, the 2010 Maule earthquake:\n"
      "  tsunami --topo etopo10min120W60W60S0S.asc.gz --fault 16,14,104,450,100,35,15,-72.668,-35.826 \\\n"
      "          --end-time 18000 --gauge -86.392,-17.975,32412 --out out/maule");
  Options options;
  Texts texts;
  add_input(app, options, texts);
  add_source(app, texts);
  add_solver(app, options, texts);
  add_processes(app, options);
  add_output(app, options);
  add_report(app, options, texts);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    return {std::nullopt, code == 0 ? 0 : 2};
  }
  take_apart(texts, options);
  return {options, 0};
}

const char* name_of(OutputKind kind) {
  switch (kind) {
    case OutputKind::none: return "none";
    case OutputKind::hdf5: return "hdf5";
    case OutputKind::tailrace: return "tailrace";
  }
  return "";
}

}  // namespace tsunami
