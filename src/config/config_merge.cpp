#include "config/config_merge.hpp"

namespace tailrace::impl {
namespace {

constexpr uint64_t least_access = uint64_t{4} << 10;
constexpr int64_t most_requests = 1 << 20;
constexpr uint64_t most_hole = uint64_t{1} << 20;
constexpr double most_delay = 60.0;

}  // namespace

void read_merge(const YamlValue& value, MergeSettings& merge) {
  value.only({"enabled", "overwrite", "largest", "alignment", "count", "bytes", "delay", "by", "sieve", "waste",
              "read_after", "visibility"});
  if (const auto enabled = value.find("enabled")) merge.enabled = enabled->flag();
  if (const auto overwrite = value.find("overwrite")) merge.overwrite = overwrite->flag();
  if (const auto largest = value.find("largest")) merge.largest = largest->size(least_access);
  if (const auto alignment = value.find("alignment")) merge.alignment = alignment->size(1);
  if (const auto count = value.find("count")) merge.count = static_cast<uint32_t>(count->integer(1, most_requests));
  if (const auto bytes = value.find("bytes")) merge.bytes = bytes->size(1);
  if (const auto delay = value.find("delay")) {
    merge.delay =
        delay->seconds(0, most_delay, "a number of seconds from 0 to 60, or a time with its unit, such as '100 ms'");
  }
  if (const auto by = value.find("by")) merge.by_count = by->choice({"storage", "count"}) == 1;
  if (const auto sieve = value.find("sieve")) merge.sieve = sieve->size(0, most_hole);
  if (const auto waste = value.find("waste")) {
    constexpr std::string_view expected = "a share from 0 to 1";
    merge.waste = waste->number(expected);
    if (merge.waste < 0 || merge.waste > 1) waste->wrong(expected);
  }
  value.choose("read_after", {"submitted", "written"}, merge.read_after);
  value.choose("visibility", {"written", "pending"}, merge.visibility);
}

}  // namespace tailrace::impl
