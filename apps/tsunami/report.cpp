// Reports. See the header.
#include "report.hpp"

#include <cstdio>
#include <fstream>

#include "error.hpp"
#include "json.hpp"

namespace tsunami {
namespace {

using Kind = Event::Kind;

struct Times {
  double total, computing, waiting;
};

Times times_of(const Timeline& timeline) {
  return {timeline.end(), timeline.total(Kind::compute) + timeline.total(Kind::pack),
          timeline.total(Kind::output) + timeline.total(Kind::close)};
}

const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::compute: return "compute";
    case Kind::pack: return "pack";
    case Kind::output: return "output";
    case Kind::close: return "close";
  }
  return "";
}

const char* name_of(SyncMode sync) {
  switch (sync) {
    case SyncMode::none: return "none";
    case SyncMode::fdatasync: return "fdatasync";
    case SyncMode::direct: return "direct";
  }
  return "";
}

void put_counters(JsonWriter& json, const Output::Counters& counters) {
  json.begin_object("counters");
  for (const auto& [name, value] : counters) json.number(name, value);
  json.end_object();
}

void put_parameters(JsonWriter& json, const Options& o, const Result& r) {
  json.begin_object("parameters");
  json.text("topo", o.topo);
  json.number("refine", static_cast<double>(o.refine));
  json.number("nx", static_cast<double>(r.nx));
  json.number("ny", static_cast<double>(r.ny));
  json.number("dt", r.dt);
  json.number("output_every", static_cast<double>(r.output_every));
  json.number("threads", o.solver.threads);
  json.number("cfl", o.solver.cfl);
  json.number("manning", o.solver.manning);
  json.number("limiter", o.solver.theta);
  json.text("geometry", o.solver.geometry == Geometry::sphere ? "sphere" : "plane");
  json.text("precision", o.precision == Precision::float32 ? "float32" : "float64");
  json.text("sync", name_of(o.sync));
  json.text("durability", o.durability);
  json.text("directory", o.directory);
  json.end_object();
}

void put_timeline(JsonWriter& json, const Timeline& timeline) {
  json.begin_array("timeline");
  for (const Event& event : timeline.events()) {
    json.begin_object();
    json.text("kind", name_of(event.kind));
    json.number("iteration", static_cast<double>(event.iteration));
    json.number("start", event.start);
    json.number("end", event.end);
    if (!event.counters.empty()) put_counters(json, event.counters);
    json.end_object();
  }
  json.end_array();
}

void put_gauges(JsonWriter& json, const std::vector<Gauge>& gauges) {
  json.begin_array("gauges");
  for (const Gauge& gauge : gauges) {
    const Crest crest = first_crest(gauge.samples(), 0, INFINITY, 0.2);
    json.begin_object();
    json.text("name", gauge.name());
    json.number("x", gauge.x());
    json.number("y", gauge.y());
    json.number("highest_m", crest.height);
    json.number("highest_at_s", crest.time);
    json.number("arrival_s", crest.arrival);
    json.end_object();
  }
  json.end_array();
}

}  // namespace

void write_json(const Options& options, const Result& result) {
  const Times times = times_of(result.timeline);
  JsonWriter json;
  json.begin_object();
  json.text("program", "tsunami");
  json.text("output", name_of(options.output));
  json.text("description", result.description);
  json.number("seconds_total", times.total);
  json.number("seconds_computing", times.computing);
  json.number("seconds_waiting", times.waiting);
  json.number("seconds_setup", result.seconds_setup);
  json.number("bytes", result.bytes);
  json.number("outputs", static_cast<double>(result.outputs));
  json.number("steps", static_cast<double>(result.steps));
  json.number("substeps", static_cast<double>(result.substeps));
  json.number("peak_rss_bytes", result.peak_rss);
  json.number("volume_before_m3", result.volume_before);
  json.number("volume_after_m3", result.volume_after);
  put_parameters(json, options, result);
  put_counters(json, result.counters);
  put_gauges(json, result.gauges);
  json.text("bathymetry", result.bathymetry);
  json.begin_array("files");
  for (const std::string& file : result.files) json.text("", file);
  json.end_array();
  put_timeline(json, result.timeline);
  json.end_object();
  std::ofstream out(options.json);
  out << json.document() << '\n';
  out.close();
  if (!out) throw Error("cannot write the report '" + options.json + "'");
}

void print_summary(const Options& options, const Result& r) {
  const Times times = times_of(r.timeline);
  std::printf("%td x %td cells, %ld steps of %.3f s; output: %s\n", r.nx, r.ny, r.steps, r.dt, r.description.c_str());
  std::printf(
      "%.3f s in total: %.3f s computing, %.3f s waiting for output (%lld outputs, %.1f MiB); peak %.0f MiB\n",
      times.total, times.computing, times.waiting, static_cast<long long>(r.outputs), r.bytes / 1048576,
      r.peak_rss / 1048576);
  for (const Gauge& gauge : r.gauges) {
    const Crest crest = first_crest(gauge.samples(), 0, INFINITY, 0.2);
    std::printf("gauge %s: highest %.3f m at %.0f s\n", gauge.name().c_str(), crest.height, crest.time);
  }
  if (!r.files.empty()) std::printf("%s … %s\n", r.files.front().c_str(), r.files.back().c_str());
  if (!options.json.empty()) std::printf("%s\n", options.json.c_str());
}

}  // namespace tsunami
