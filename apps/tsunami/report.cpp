// Writes reports. See the header.
#include "report.hpp"

#include <cstdio>
#include <fstream>

#include "error.hpp"
#include "json.hpp"

namespace tsunami {
namespace {

const char* name_of(Event::Kind kind) {
  switch (kind) {
    case Event::Kind::compute: return "compute";
    case Event::Kind::pack: return "pack";
    case Event::Kind::output: return "output";
    case Event::Kind::close: return "close";
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
  json.number("processes", o.processes);
  json.number("cfl", o.solver.cfl);
  json.number("manning", o.solver.manning);
  json.number("limiter", o.solver.theta);
  json.text("geometry", o.solver.geometry == Geometry::sphere ? "sphere" : "plane");
  json.text("precision", o.precision == Precision::float32 ? "float32" : "float64");
  json.text("sync", name_of(o.sync));
  json.text("durability", o.durability);
  json.text("place", o.place);
  json.number("forwarders", static_cast<double>(o.forward.size()));
  json.text("file_per", o.file_per);
  json.text("compress", o.compress);
  json.text("stored", o.stored);
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

void put_gauges(JsonWriter& json, const std::vector<GaugeCrest>& gauges) {
  json.begin_array("gauges");
  for (const GaugeCrest& gauge : gauges) {
    json.begin_object();
    json.text("name", gauge.name);
    json.number("x", gauge.x);
    json.number("y", gauge.y);
    json.number("highest_m", gauge.crest.height);
    json.number("highest_at_s", gauge.crest.time);
    json.number("arrival_s", gauge.crest.arrival);
    json.end_object();
  }
  json.end_array();
}

void put_processes(JsonWriter& json, const std::vector<Share>& shares) {
  json.begin_array("processes");
  for (const Share& share : shares) {
    json.begin_object();
    json.number("first_row", static_cast<double>(share.slab.first));
    json.number("rows", static_cast<double>(share.slab.count));
    json.number("seconds_total", share.seconds_total);
    json.number("seconds_computing", share.seconds_computing);
    json.number("seconds_waiting", share.seconds_waiting);
    json.number("seconds_peers", share.seconds_peers);
    json.number("peak_rss_bytes", share.peak_rss);
    put_counters(json, share.counters);
    json.end_object();
  }
  json.end_array();
}

void write_json(const Options& options, const Result& result) {
  JsonWriter json;
  json.begin_object();
  json.text("program", "tsunami");
  json.text("output", name_of(options.output));
  json.text("description", result.description);
  json.number("seconds_total", result.timeline.end());
  json.number("seconds_computing", result.timeline.computing());
  json.number("seconds_waiting", result.timeline.waiting());
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
  put_processes(json, result.shares);
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
  std::printf("%td x %td cells, %ld steps of %.3f s; output: %s\n", r.nx, r.ny, r.steps, r.dt, r.description.c_str());
  if (r.shares.size() > 1) std::printf("on %zu processes; times are those of the first:\n", r.shares.size());
  std::printf(
      "%.3f s in total: %.3f s computing, %.3f s waiting for output (%lld outputs, %.1f MiB); peak %.0f MiB\n",
      r.timeline.end(), r.timeline.computing(), r.timeline.waiting(), static_cast<long long>(r.outputs),
      r.bytes / 1048576, r.peak_rss / 1048576);
  for (const GaugeCrest& gauge : r.gauges) {
    std::printf("gauge %s: highest %.3f m at %.0f s\n", gauge.name.c_str(), gauge.crest.height, gauge.crest.time);
  }
  if (!r.files.empty()) std::printf("%s … %s\n", r.files.front().c_str(), r.files.back().c_str());
  if (!options.json.empty()) std::printf("%s\n", options.json.c_str());
}

}  // namespace

void report(const Options& options, const Result& result) {
  if (!options.json.empty()) write_json(options, result);
  if (!options.quiet) print_summary(options, result);
}

}  // namespace tsunami
