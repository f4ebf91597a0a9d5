#include "model/attribute.hpp"

#include <fmt/format.h>
#include <tailrace/tailrace.h>

#include <algorithm>
#include <array>
#include <bit>
#include <span>

#include "base/names/counted.hpp"
#include "base/names/utf8.hpp"

namespace tailrace::impl {
namespace {

// openPMD's and HDF5's attributes, which tailrace writes. A program may set the file's `author`, `comment`,
// `software`, `softwareVersion`, `softwareDependencies` and `machine`.
constexpr std::array<std::string_view, 9> kOfFile = {"openPMD",    "openPMDextension",  "basePath",
                                                     "meshesPath", "iterationEncoding", "iterationFormat",
                                                     "date",       "particlesPath",     "rankTable"};
constexpr std::array<std::string_view, 4> kOfIteration = {"time", "dt", "timeUnitSI", "closed"};
constexpr std::array<std::string_view, 20> kOfVariable = {
    "geometry", "dataOrder",     "axisLabels",     "gridSpacing",   "gridGlobalOffset", "gridUnitSI",    "timeOffset",
    "unitSI",   "unitDimension", "position",       "unit",          "description",      "CLASS",         "NAME",
    "value",    "shape",         "DIMENSION_LIST", "macroWeighted", "weightingPower",   "REFERENCE_LIST"};

std::span<const std::string_view> reserved(AttributeOf of) {
  switch (of) {
    case AttributeOf::file: return kOfFile;
    case AttributeOf::iteration: return kOfIteration;
    case AttributeOf::variable: break;
  }
  return kOfVariable;
}

const char* name_of(AttributeOf of) {
  switch (of) {
    case AttributeOf::file: return "of the file";
    case AttributeOf::iteration: return "of the iteration";
    case AttributeOf::variable: break;
  }
  return "of a variable";
}

bool is_printable(std::string_view text) {
  return is_utf8(text) && std::none_of(text.begin(), text.end(), [](char c) {
           const auto byte = static_cast<unsigned char>(c);
           return byte < 0x20 || byte == 0x7f || c == '/';
         });
}

// Returns the bytes of a list of texts in the file: a table of fixed width.
size_t table_bytes(const std::vector<std::string>& texts) {
  size_t longest = 0;
  for (const std::string& text : texts) longest = std::max(longest, text.size());
  return (longest + 1) * texts.size();
}

Status refuse_attribute(std::string message) { return Status(TAILRACE_INVALID_ARGUMENT, std::move(message)); }

template <class T>
std::string list_of(const std::vector<T>& values) {
  constexpr size_t most = 4;
  std::string text = "[";
  for (size_t i = 0; i < std::min(values.size(), most); ++i) {
    text += (i > 0 ? ", " : "") + text_of(AttributeValue(values[i]));
  }
  return text + (values.size() > most ? ", …]" : "]");
}

}  // namespace

Status check_attribute_name(AttributeOf of, std::string_view name) {
  if (name.empty() || name.size() > kMostAttributeName || !is_printable(name)) {
    return refuse_attribute(
        fmt::format("found an attribute's name of {}, expected 1 to {} bytes of UTF-8 without control "
                    "characters and '/'",
                    counted(name.size(), "byte"), kMostAttributeName));
  }
  const std::span<const std::string_view> taken = reserved(of);
  if (name.starts_with("tailrace") || std::find(taken.begin(), taken.end(), name) != taken.end()) {
    return refuse_attribute(fmt::format(
        "found the attribute '{}', which tailrace writes {} itself, expected another name", name, name_of(of)));
  }
  return {};
}

Status check_attribute_value(const AttributeValue& value) {
  const auto has_nul = [](const std::string& text) { return text.find('\0') != std::string::npos; };
  const Status empty = refuse_attribute("found an attribute without elements, expected at least one");
  const Status nul = refuse_attribute("found a text with a NUL byte, expected none");
  if (const auto* text = std::get_if<std::string>(&value)) return has_nul(*text) ? nul : Status();
  if (const auto* texts = std::get_if<std::vector<std::string>>(&value)) {
    if (texts->empty()) return empty;
    if (std::any_of(texts->begin(), texts->end(), has_nul)) return nul;
    const size_t bytes = table_bytes(*texts);
    if (bytes <= kMostTextTable) return {};
    return refuse_attribute(fmt::format(
        "found a list of {} that takes {} bytes in the file, where each has the width of the longest, expected "
        "at most {}",
        counted(texts->size(), "text"), bytes, kMostTextTable));
  }
  if (const auto* reals = std::get_if<std::vector<double>>(&value)) return reals->empty() ? empty : Status();
  if (const auto* wholes = std::get_if<std::vector<int64_t>>(&value)) return wholes->empty() ? empty : Status();
  return {};
}

bool same_bits(const AttributeValue& a, const AttributeValue& b) {
  if (a.index() != b.index()) return false;
  const auto same = [](double x, double y) { return std::bit_cast<uint64_t>(x) == std::bit_cast<uint64_t>(y); };
  if (const auto* number = std::get_if<double>(&a)) return same(*number, std::get<double>(b));
  if (const auto* numbers = std::get_if<std::vector<double>>(&a)) {
    return std::ranges::equal(*numbers, std::get<std::vector<double>>(b), same);
  }
  return a == b;
}

std::string text_of(const AttributeValue& value) {
  constexpr size_t longest = 48;
  if (const auto* whole = std::get_if<int64_t>(&value)) return std::to_string(*whole);
  if (const auto* real = std::get_if<double>(&value)) return fmt::format("{}", *real);
  if (const auto* text = std::get_if<std::string>(&value)) {
    return fmt::format("'{}{}'", text->substr(0, longest), text->size() > longest ? "…" : "");
  }
  if (const auto* wholes = std::get_if<std::vector<int64_t>>(&value)) return list_of(*wholes);
  if (const auto* reals = std::get_if<std::vector<double>>(&value)) return list_of(*reals);
  return list_of(std::get<std::vector<std::string>>(value));
}

}  // namespace tailrace::impl
