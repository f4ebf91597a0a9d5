#include "config/yaml/yaml_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/names/nearest_word.hpp"

namespace tailrace::impl {
namespace {

bool has_control(std::string_view text, std::string_view allowed) {
  return std::any_of(text.begin(), text.end(), [&](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 || byte == 0x7f) && allowed.find(c) == std::string_view::npos;
  });
}

template <class T>
std::optional<T> whole_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  if (text.starts_with('+')) return std::nullopt;
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

struct SizeUnit {
  std::string_view name;
  uint64_t bytes;
};

constexpr SizeUnit size_units[] = {
    {"", 1},
    {"B", 1},
    {"KiB", uint64_t{1} << 10},
    {"MiB", uint64_t{1} << 20},
    {"GiB", uint64_t{1} << 30},
    {"TiB", uint64_t{1} << 40},
    {"kB", 1'000},
    {"MB", 1'000'000},
    {"GB", 1'000'000'000},
    {"TB", 1'000'000'000'000},
};

// Fractions of a unit are accepted ("1.5 GiB"), fractions of a byte are not. A size of 2^63 bytes or more becomes
// 2^63.
std::optional<uint64_t> size_of_text(std::string_view text) {
  const size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
  std::string_view unit = text.substr(digits);
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  const auto known = std::find_if(std::begin(size_units), std::end(size_units),
                                  [&](const SizeUnit& candidate) { return candidate.name == unit; });
  if (known == std::end(size_units)) return std::nullopt;
  constexpr uint64_t limit = uint64_t{1} << 63;
  if (const auto whole = whole_number<uint64_t>(text.substr(0, digits))) {
    return *whole > limit / known->bytes ? limit : *whole * known->bytes;
  }
  const auto broken = whole_number<double>(text.substr(0, digits));
  if (!broken) return std::nullopt;
  const double bytes = *broken * static_cast<double>(known->bytes);
  if (bytes >= 0x1p63) return limit;
  if (bytes != std::floor(bytes)) return std::nullopt;
  return static_cast<uint64_t>(bytes);
}

struct TimeUnit {
  std::string_view name;
  int64_t nanoseconds;
};

constexpr TimeUnit time_units[] = {
    {"h", 3'600'000'000'000}, {"min", 60'000'000'000}, {"s", 1'000'000'000},
    {"ms", 1'000'000},        {"us", 1'000},           {"ns", 1},
};

// Reads a time, such as "5 s". Fractions of a nanosecond are rounded.
std::optional<Nanoseconds> time_of_text(std::string_view text) {
  constexpr double longest = 0x1p62;
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  while (text.starts_with(' ')) text.remove_prefix(1);
  for (const TimeUnit& unit : time_units) {
    const double time = number * static_cast<double>(unit.nanoseconds);
    const bool possible = time >= 0 && time < longest;  // false for NaN, too
    if (text == unit.name && possible) return Nanoseconds(std::llround(time));
  }
  return std::nullopt;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& known) {
  const std::string nearest = nearest_word(word, known);
  return nearest.empty() ? "" : fmt::format("did you mean {}?", in_quotes(nearest));
}

// The last word of an invalid size is most likely its unit.
std::string size_hint(std::string_view text) {
  const size_t at = text.find_first_not_of("0123456789. ");
  if (at == std::string_view::npos) return {};
  const std::string_view unit = text.substr(at);
  const auto is_unit = [&](const SizeUnit& known) { return known.name == unit; };
  if (std::any_of(std::begin(size_units), std::end(size_units), is_unit)) return {};
  if (unit == "k" || unit == "K" || unit == "M" || unit == "G" || unit == "T") {
    return fmt::format("did you mean '{}iB'?", unit == "k" ? "K" : unit);
  }
  return did_you_mean(unit, {"KiB", "MiB", "GiB", "TiB"});
}

// Returns a hint for a scalar that was meant as the value of the mapping's main key: `place: core`.
std::string as_a_map(const YamlNode& node, std::string_view main_key) {
  if (node.kind != YamlNode::Kind::scalar || !node.has_key) return {};
  const std::string value = node.in_quotes ? fmt::format("\"{}\"", node.text) : node.text;
  return fmt::format("write {}: {{{}: {}}}", node.key, main_key, value);
}

YamlPlace key_place_of(const YamlNode& node) { return node.has_key ? node.key_place : node.place; }

std::string found_in(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::nothing: return "nothing";
    case YamlNode::Kind::scalar: return (node.in_quotes ? "the text " : "") + in_quotes(node.text);
    case YamlNode::Kind::list: return node.children.empty() ? "an empty list" : "a list";
    case YamlNode::Kind::map: return node.children.empty() ? "an empty mapping" : "a mapping";
  }
  TAILRACE_ASSERT(false);
}

}  // namespace

std::string YamlValue::text(std::string_view expected) const {
  if (!is_scalar() || node_->text.empty() || has_control(node_->text, "")) {
    wrong(expected);
    return {};
  }
  return node_->text;
}

std::string YamlValue::prose() const {
  if (is_scalar() && !has_control(node_->text, "\n\t")) return node_->text;
  wrong("a text", "put it in quotes, or write \"\" for none");
  return {};
}

std::string YamlValue::name(bool (*accept)(std::string_view), std::string_view expected) const {
  if (is_scalar() && accept(node_->text)) return node_->text;
  wrong(expected);
  return {};
}

std::optional<int64_t> YamlValue::maybe_integer() const {
  if (!is_scalar() || node_->in_quotes) return std::nullopt;
  return whole_number<int64_t>(node_->text);
}

int64_t YamlValue::integer(int64_t least, int64_t most) const {
  const std::optional<int64_t> value = maybe_integer();
  if (value && *value >= least && *value <= most) return *value;
  const bool bounded = most != std::numeric_limits<int64_t>::max();
  const bool any = least == std::numeric_limits<int64_t>::min();
  wrong(any       ? "an integer of at most 64 bits"
        : bounded ? fmt::format("an integer from {} to {}", least, most)
                  : fmt::format("an integer of {} or more", least),
        is_scalar() && node_->in_quotes ? "leave out the quotes" : "");
  return least;
}

std::optional<double> YamlValue::maybe_number() const {
  const std::optional<double> value =
      is_scalar() && !node_->in_quotes ? whole_number<double>(node_->text) : std::nullopt;
  return value && std::isfinite(*value) ? value : std::nullopt;
}

double YamlValue::number(std::string_view expected) const {
  if (const std::optional<double> value = maybe_number()) return *value;
  wrong(expected, is_scalar() && node_->in_quotes ? "leave out the quotes" : "");
  return 1.0;
}

bool YamlValue::flag() const {
  if (is_scalar() && node_->text == "true" && !node_->in_quotes) return true;
  if (is_scalar() && node_->text == "false" && !node_->in_quotes) return false;
  const std::string& word = node_->text;
  const bool yes = word == "yes" || word == "on" || word == "1" || nearest_word(word, {"true"}) == "true";
  const bool no = word == "no" || word == "off" || word == "0" || nearest_word(word, {"false"}) == "false";
  wrong("true or false", yes ? "did you mean 'true'?" : no ? "did you mean 'false'?" : "");
  return false;
}

uint64_t YamlValue::size(uint64_t least, uint64_t most) const {
  const std::optional<uint64_t> bytes = is_scalar() ? size_of_text(node_->text) : std::nullopt;
  if (bytes && *bytes >= least && *bytes <= most) return *bytes;
  const bool tells_most = most != kMostSize || (bytes && *bytes > most);
  wrong(fmt::format("a size such as '1 GiB', '256 MiB' or a number of bytes, at least {}{}", size_text(least),
                    tells_most ? fmt::format(", at most {}", size_text(most)) : ""),
        size_hint(node_->text));
  return most;
}

uint64_t YamlValue::rate(uint64_t least, std::string_view words) const {
  std::string_view text = is_scalar() ? std::string_view(node_->text) : std::string_view();
  const bool by_second = text.ends_with("/s");
  if (by_second) text.remove_suffix(2);
  const std::optional<uint64_t> bytes = by_second ? size_of_text(text) : std::nullopt;
  if (bytes && *bytes >= least && *bytes <= kMostSize) return *bytes;
  const bool is_size = !by_second && is_scalar() && size_of_text(node_->text);
  const bool tells_most = bytes && *bytes > kMostSize;
  wrong(fmt::format("{}, or a rate such as '800 MiB/s', at least {}/s{}", words, size_text(least),
                    tells_most ? fmt::format(", at most {}/s", size_text(kMostSize)) : ""),
        is_size ? fmt::format("did you mean '{}/s'?", node_->text) : "");
  return least;
}

Nanoseconds YamlValue::duration(Nanoseconds least, Nanoseconds most, std::string_view examples) const {
  const std::optional<Nanoseconds> time = is_scalar() ? time_of_text(node_->text) : std::nullopt;
  if (time && *time >= least && *time <= most) return *time;
  const bool is_number = is_scalar() && whole_number<double>(node_->text).has_value();
  wrong(fmt::format("a time from {} to {}, such as {}", duration_text(least), duration_text(most), examples),
        is_number ? "write the unit, too" : "");
  return least;
}

double YamlValue::seconds(double least, double most, std::string_view expected) const {
  std::optional<double> seconds = maybe_number();
  const std::optional<Nanoseconds> time = is_scalar() ? time_of_text(node_->text) : std::nullopt;
  if (time) seconds = std::chrono::duration<double>(*time).count();
  if (seconds && *seconds >= least && *seconds <= most) return *seconds;
  wrong(expected, is_scalar() && node_->in_quotes && !time ? "leave out the quotes" : "");
  return least;
}

size_t YamlValue::choice(const std::vector<std::string_view>& words, std::string_view remark) const {
  const auto known = std::find(words.begin(), words.end(), std::string_view(node_->text));
  if (is_scalar() && known != words.end()) return static_cast<size_t>(known - words.begin());
  const std::string meant = did_you_mean(node_->text, words);
  wrong(one_of(words), meant.empty() ? std::string(remark) : meant);
  return 0;
}

std::string YamlValue::path_of(std::string_view key) const {
  return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

YamlValue YamlValue::child(const YamlNode& node) const { return {node, path_of(printable(node.key)), *report_}; }

std::vector<YamlValue> YamlValue::items(std::string_view expected) const {
  std::vector<YamlValue> items;
  if (!is_list()) wrong(expected, maybe_integer() ? fmt::format("write [{}] for one", printable(node_->text)) : "");
  if (!is_list()) return items;
  for (size_t i = 0; i < node_->children.size(); ++i) {
    items.emplace_back(node_->children[i], fmt::format("{}[{}]", path_, i), *report_);
  }
  return items;
}

std::vector<YamlValue> YamlValue::entries(std::string_view expected) const {
  std::vector<YamlValue> entries;
  if (!is_map()) wrong(expected);
  if (!is_map()) return entries;
  for (const YamlNode& entry : node_->children) entries.push_back(child(entry));
  return entries;
}

std::optional<YamlValue> YamlValue::find(std::string_view key) const {
  if (!is_map()) return std::nullopt;
  for (const YamlNode& entry : node_->children) {
    if (entry.key == key) return child(entry);
  }
  return std::nullopt;
}

std::optional<YamlValue> YamlValue::require(std::string_view key, std::string_view expected) const {
  std::optional<YamlValue> value = find(key);
  if (!value && !report_->is_wrong(path_)) {
    report_->fault(key_place_of(*node_), path_of(key), {"no such key", std::string(expected), "it is required"});
  }
  return value;
}

void YamlValue::only(const std::vector<std::string_view>& known, const std::vector<std::string_view>& later) const {
  if (!is_map()) return wrong("a mapping with the keys " + one_of(known), as_a_map(*node_, known.front()));
  for (const YamlNode& entry : node_->children) {
    const auto is_key = [&](std::string_view word) { return word == entry.key; };
    if (report_->full() || std::any_of(known.begin(), known.end(), is_key)) continue;
    const bool planned = std::any_of(later.begin(), later.end(), is_key);
    report_->fault(entry.key_place, child(entry).path(),
                   {planned ? "a key that is not in this version" : "an unknown key", one_of(known),
                    planned ? "remove it" : did_you_mean(entry.key, known)});
    const std::string meant = planned ? "" : nearest_word(entry.key, known);
    if (!meant.empty() && !find(meant)) report_->doubt(path_of(meant));
  }
}

bool YamlValue::trusts(std::initializer_list<std::string_view> paths) const {
  return std::none_of(paths.begin(), paths.end(),
                      [&](std::string_view path) { return report_->doubts(std::string(path)); });
}

void YamlValue::wrong(std::string_view expected, std::string hint) const {
  fault(found_in(*node_), std::string(expected), std::move(hint));
}

void YamlValue::fault(std::string found, std::string expected, std::string hint) const {
  // A missing value has no place of its own.
  report_->fault(is_nothing() ? key_place_of(*node_) : node_->place, path_,
                 {std::move(found), std::move(expected), std::move(hint)});
}

void YamlValue::fault_at_key(std::string found, std::string expected, std::string hint) const {
  report_->fault(key_place_of(*node_), path_, {std::move(found), std::move(expected), std::move(hint)});
}

std::string size_text(uint64_t bytes) {
  constexpr uint64_t tib = uint64_t{1} << 40;
  constexpr uint64_t mib = uint64_t{1} << 20;
  constexpr uint64_t kib = uint64_t{1} << 10;
  if (bytes >= tib && bytes % tib == 0) return fmt::format("{} TiB", bytes / tib);
  if (bytes >= mib) return fmt::format("{} MiB", bytes / mib + (bytes % mib != 0 ? 1 : 0));
  return fmt::format("{} KiB", bytes / kib + (bytes % kib != 0 ? 1 : 0));
}

std::string duration_text(Nanoseconds time) {
  const auto unit = std::find_if(std::begin(time_units), std::end(time_units), [&](const TimeUnit& candidate) {
    return time.count() % candidate.nanoseconds == 0;
  });
  return fmt::format("{} {}", time.count() / unit->nanoseconds, unit->name);
}

}  // namespace tailrace::impl
