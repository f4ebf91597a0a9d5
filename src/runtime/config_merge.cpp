#include "runtime/config_merge.hpp"

#include <chrono>

namespace tailrace::impl {
namespace {

constexpr uint64_t least_access = uint64_t{4} << 10;
constexpr int64_t most_requests = 1 << 20;
constexpr uint64_t most_hole = uint64_t{1} << 20;
constexpr double most_delay = 60.0;

}  // namespace

void read_merge(const YamlValue& value, Config& config) {
  value.only({"enabled", "overwrite", "largest", "alignment", "count", "bytes", "delay", "sieve", "waste",
              "read_after", "visibility"});
  auto& merge = config.merge;
  if (const auto enabled = value.find("enabled")) merge.enabled = enabled->flag();
  if (const auto overwrite = value.find("overwrite")) merge.overwrite = overwrite->flag();
  if (const auto largest = value.find("largest")) merge.largest = largest->size(least_access);
  if (const auto alignment = value.find("alignment")) merge.alignment = alignment->size(1);
  if (const auto count = value.find("count")) merge.count = static_cast<uint32_t>(count->integer(1, most_requests));
  if (const auto bytes = value.find("bytes")) merge.bytes = bytes->size(1);
  if (const auto delay = value.find("delay")) {
    constexpr std::string_view expected = "a number of seconds from 0 to 60";
    merge.delay = delay->number(expected);
    if (merge.delay < 0 || merge.delay > most_delay) delay->wrong(expected);
  }
  if (const auto sieve = value.find("sieve")) merge.sieve = sieve->size(0, most_hole);
  if (const auto waste = value.find("waste")) {
    constexpr std::string_view expected = "a share from 0 to 1";
    merge.waste = waste->number(expected);
    if (merge.waste < 0 || merge.waste > 1) waste->wrong(expected);
  }
  if (const auto after = value.find("read_after")) {
    constexpr ReadAfter choices[] = {ReadAfter::submitted, ReadAfter::written};
    merge.read_after = choices[after->choice({"submitted", "written"})];
  }
  if (const auto visibility = value.find("visibility")) {
    constexpr Visibility choices[] = {Visibility::written, Visibility::pending};
    merge.visibility = choices[visibility->choice({"written", "pending"})];
  }
}

EngineOptions engine_options(const Config& config, bool timed) {
  const auto& merge = config.merge;
  EngineOptions options;
  options.merge.largest = merge.enabled ? merge.largest : 0;
  options.merge.alignment = merge.alignment;
  options.merge.sieve = merge.sieve;
  options.merge.waste = merge.waste;
  options.morph = merge.overwrite;
  options.gather.on = merge.enabled;
  options.gather.count = merge.count;
  options.gather.bytes = merge.bytes;
  if (timed)
    options.gather.delay = std::chrono::duration_cast<Nanoseconds>(std::chrono::duration<double>(merge.delay));
  using ForReads = EngineOptions::ReadAfter;
  options.read_after = merge.visibility == Visibility::pending ? ForReads::any : ForReads::submitted;
  if (merge.read_after == ReadAfter::written) options.read_after = ForReads::written;
  return options;
}

}  // namespace tailrace::impl
