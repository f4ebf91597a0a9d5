#include "runtime/measurements/files_json.hpp"

namespace tailrace::impl {
namespace {

using Json = nlohmann::ordered_json;

const char* name_of(FileFigures::Kind kind) {
  switch (kind) {
    case FileFigures::Kind::raw: return "raw";
    case FileFigures::Kind::others: return "others";
    case FileFigures::Kind::iterations: return "iterations";
  }
  return "raw";
}

// Returns pairs of a bucket's smallest size and its count; leaves out empty buckets.
Json sizes_json(const SizeHistogram::Figures& of) {
  Json pairs = Json::array();
  for (uint32_t index = 0; index < SizeHistogram::kBuckets; ++index) {
    if (of.buckets[index] > 0) pairs.push_back({SizeHistogram::least(index), of.buckets[index]});
  }
  return {{"count", of.count()}, {"bytes", of.bytes}, {"most", of.most}, {"histogram", std::move(pairs)}};
}

}  // namespace

Json file_json(const FileFigures& of) {
  const bool named = of.kind == FileFigures::Kind::raw;
  return {{"kind", name_of(of.kind)},
          {"path", named ? Json(of.path) : Json()},
          {"writes", of.writes},
          {"bytes_written", of.bytes_written},
          {"reads", of.reads},
          {"bytes_read", of.bytes_read},
          {"requests_merged", of.merged},
          {"bytes_overwritten", of.overwritten},
          {"bytes_from_memory", of.stolen},
          {"bytes_sieved", of.sieved},
          {"before", sizes_json(of.before)},
          {"after", sizes_json(of.after)}};
}

}  // namespace tailrace::impl
