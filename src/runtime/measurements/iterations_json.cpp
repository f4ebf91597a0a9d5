#include "runtime/measurements/iterations_json.hpp"

#include <chrono>

namespace tailrace::impl {
namespace {

using Json = nlohmann::ordered_json;

double seconds(Nanoseconds time) { return std::chrono::duration<double>(time).count(); }

// Returns a time, or null if it is not known yet.
Json moment(Nanoseconds when) { return when == Nanoseconds::zero() ? Json() : Json(seconds(when)); }

const char* name_of(IterationFigures::Outcome outcome) {
  using Outcome = IterationFigures::Outcome;
  switch (outcome) {
    case Outcome::open: return "open";
    case Outcome::published: return "published";
    case Outcome::failed: return "failed";
    case Outcome::dropped: return "dropped";
    case Outcome::empty: return "empty";
  }
  return "open";
}

}  // namespace

Json iterations_json(const std::vector<IterationFigures>& iterations) {
  Json list = Json::array();
  for (const IterationFigures& of : iterations) {
    const bool over = of.next > of.begun;
    list.push_back({{"iteration", of.iteration},
                    {"outcome", name_of(of.outcome)},
                    {"begun", seconds(of.begun)},
                    {"ended", moment(of.ended)},
                    {"left", moment(of.left)},
                    {"period", over ? Json(seconds(of.next - of.begun)) : Json()},
                    {"busy", seconds(of.busy)},
                    {"writing", seconds(of.moving)},
                    {"filtering", seconds(of.filtering)},
                    {"waited", seconds(of.waited)},
                    {"bytes_taken", of.bytes_taken},
                    {"bytes_stored", of.bytes_stored},
                    {"chunks_filtered", of.chunks_filtered},
                    {"chunks_relaxed", of.chunks_relaxed},
                    {"chunks_skipped", of.chunks_skipped}});
  }
  return list;
}

}  // namespace tailrace::impl
