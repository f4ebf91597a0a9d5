#include "config/config_merge.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace tailrace::impl {
namespace {

constexpr uint64_t least_access = uint64_t{4} << 10;
constexpr int64_t most_requests = 1 << 20;
constexpr uint64_t most_hole = uint64_t{1} << 20;
constexpr double most_delay = 60.0;
constexpr const char* kBy[] = {"storage", "count"};
constexpr const char* kReadAfter[] = {"submitted", "written"};
constexpr const char* kVisibility[] = {"written", "pending"};

// Returns the values of a configuration, key by key.
std::vector<std::pair<const char*, std::string>> texts(const Config& config) {
  const auto& merge = config.merge;
  const auto flag = [](bool value) { return std::string(value ? "true" : "false"); };
  return {{"enabled", flag(merge.enabled)},
          {"overwrite", flag(merge.overwrite)},
          {"largest", std::to_string(merge.largest)},
          {"alignment", std::to_string(merge.alignment)},
          {"count", std::to_string(merge.count)},
          {"bytes", std::to_string(merge.bytes)},
          {"delay", fmt::format("{}", merge.delay)},
          {"by", kBy[merge.by_count ? 1 : 0]},
          {"sieve", std::to_string(merge.sieve)},
          {"waste", fmt::format("{}", merge.waste)},
          {"read_after", kReadAfter[merge.read_after == ReadAfter::written ? 1 : 0]},
          {"visibility", kVisibility[merge.visibility == Visibility::pending ? 1 : 0]}};
}

}  // namespace

void read_merge(const YamlValue& value, Config& config) {
  value.only({"enabled", "overwrite", "largest", "alignment", "count", "bytes", "delay", "by", "sieve", "waste",
              "read_after", "visibility"});
  auto& merge = config.merge;
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
  if (const auto by = value.find("by")) merge.by_count = by->choice({kBy[0], kBy[1]}) == 1;
  if (const auto sieve = value.find("sieve")) merge.sieve = sieve->size(0, most_hole);
  if (const auto waste = value.find("waste")) {
    constexpr std::string_view expected = "a share from 0 to 1";
    merge.waste = waste->number(expected);
    if (merge.waste < 0 || merge.waste > 1) waste->wrong(expected);
  }
  if (const auto after = value.find("read_after")) {
    constexpr ReadAfter choices[] = {ReadAfter::submitted, ReadAfter::written};
    merge.read_after = choices[after->choice({kReadAfter[0], kReadAfter[1]})];
  }
  if (const auto visibility = value.find("visibility")) {
    constexpr Visibility choices[] = {Visibility::written, Visibility::pending};
    merge.visibility = choices[visibility->choice({kVisibility[0], kVisibility[1]})];
  }
}

std::optional<MergeDifference> merge_difference(const Config& found, const Config& expected) {
  const auto one = texts(found);
  const auto other = texts(expected);
  for (size_t i = 0; i < one.size(); ++i) {
    const auto& [key, text] = one[i];
    if (text != other[i].second) return MergeDifference{fmt::format("merge.{}", key), text, other[i].second};
  }
  return std::nullopt;
}

}  // namespace tailrace::impl
