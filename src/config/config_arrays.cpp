#include "config/config_arrays.hpp"

#include <fmt/format.h>
#include <tailrace/tailrace.h>

#include <algorithm>

#include "base/names/counted.hpp"
#include "base/names/name_index.hpp"
#include "base/names/nearest_word.hpp"
#include "model/shapes.hpp"
#include "model/unit.hpp"

namespace tailrace::impl {
namespace {

constexpr size_t most_layouts = 100'000;
constexpr size_t longest_message = 400;  // bytes, for parse_unit, whose messages repeat the text

constexpr ElementType element_types[] = {
    ElementType::int8,    ElementType::int16,     ElementType::int32,       ElementType::int64,
    ElementType::uint8,   ElementType::uint16,    ElementType::uint32,      ElementType::uint64,
    ElementType::float32, ElementType::float64,   ElementType::long_double, ElementType::boolean,
    ElementType::float16, ElementType::complex64, ElementType::complex128,
};

ElementType read_type(const YamlValue& value) {
  std::vector<std::string_view> words;
  std::vector<ElementType> types;
  for (const ElementType type : element_types) {
    words.emplace_back(name_of(type));
    types.push_back(type);
  }
  words.insert(words.end(), {"float", "double"});
  types.insert(types.end(), {ElementType::float32, ElementType::float64});
  return types[value.choice(words)];
}

// Extents or offsets, and the parameters that they came from.
struct Extents {
  std::vector<uint64_t> numbers;
  std::vector<int32_t> sources;

  void add(uint64_t number, int32_t source) {
    numbers.push_back(number);
    sources.push_back(source);
  }
};

// Finds the parameter that the value names; reports it if there is none. None also if its value is wrong.
Parameters::const_iterator find_parameter(const YamlValue& value, const Parameters& parameters,
                                          std::string_view number) {
  const auto parameter = parameters.find(value.raw());
  if (doubts_parameter(value, value.raw())) {
    value.doubt();
    return parameters.end();
  }
  if (parameter != parameters.end()) return parameter;
  std::vector<std::string_view> names;
  for (const auto& [name, unused] : parameters) names.emplace_back(name);
  const std::string nearest = nearest_word(value.raw(), names);
  value.fault(fmt::format("{}, which is not a parameter", in_quotes(value.raw())),
              fmt::format("{} or a parameter ({})", number, one_of(names)),
              nearest.empty() ? "define it under 'parameters:', or let the program give it"
                              : fmt::format("did you mean {}?", in_quotes(nearest)));
  return parameter;
}

// Reads one extent or offset: an integer, or the name of a parameter, which may change later and may be 0.
void read_extent(const YamlValue& value, const Parameters& parameters, int64_t least, Extents& to) {
  if (!value.is_scalar() || !is_identifier(value.raw())) {
    if (!value.maybe_integer()) {
      value.wrong(fmt::format("an integer of {} or more, or the name of a parameter", least));
      return to.add(1, kNoParameter);
    }
    return to.add(static_cast<uint64_t>(value.integer(least)), kNoParameter);
  }
  const auto parameter = find_parameter(value, parameters, "an integer");
  if (parameter == parameters.end()) return to.add(1, kNoParameter);
  if (parameter->second.is_real() || parameter->second.whole() < 0) {
    value.fault(fmt::format("the parameter '{}' with the value {}", parameter->first, text_of(parameter->second)),
                parameter->second.is_real() ? "an integer of 0 or more" : "a value of 0 or more");
    return to.add(1, kNoParameter);
  }
  to.add(static_cast<uint64_t>(parameter->second.whole()),
         static_cast<int32_t>(std::distance(parameters.begin(), parameter)));
}

// Reads a list with one item per dimension. `rank` is 0 for the shape itself, which sets the rank.
std::vector<YamlValue> read_per_axis(const YamlValue& value, size_t rank, std::string_view what) {
  std::vector<YamlValue> items = value.items(fmt::format("a list of {}", what));
  if (!value.is_list()) return {};
  if (rank == 0 && items.size() > TAILRACE_MAX_RANK) {
    value.fault(fmt::format("a list of {} items", items.size()),
                fmt::format("one of at most {} {}", TAILRACE_MAX_RANK, what));
    return {};
  }
  if (rank != 0 && items.size() != rank) {
    value.fault(fmt::format("a list of {} items", items.size()),
                fmt::format("one of {} {}, as 'shape' has", rank, what));
    return {};
  }
  return items;
}

Extents read_extents(const YamlValue& value, const Parameters& parameters, size_t rank, int64_t least) {
  Extents extents;
  for (const YamlValue& item : read_per_axis(value, rank, "integers or parameters")) {
    read_extent(item, parameters, least, extents);
  }
  return extents;
}

// Reads spacings or origins, and the parameters that they came from.
void read_numbers(const YamlValue& value, const Parameters& parameters, bool may_be_zero,
                  std::vector<double>& numbers, std::vector<int32_t>& sources) {
  const size_t rank = numbers.size();
  sources.assign(rank, kNoParameter);
  size_t axis = 0;
  for (const YamlValue& item : read_per_axis(value, rank, "numbers or parameters")) {
    numbers[axis] = read_number(item, parameters, "a finite number", sources[axis]);
    if (!may_be_zero && numbers[axis] == 0) item.wrong("a number other than 0");
    ++axis;
  }
}

std::vector<std::string> read_labels(const YamlValue& value, size_t rank) {
  std::vector<std::string> labels;
  for (const YamlValue& item : read_per_axis(value, rank, "axis labels")) {
    std::string label = item.text("an axis label, such as x");
    if (!item.is_right()) continue;
    if (std::find(labels.begin(), labels.end(), label) != labels.end())
      item.wrong("a label of its own for each axis");
    labels.push_back(std::move(label));
  }
  return labels;
}

void put(Extents extents, std::vector<uint64_t>& numbers, std::vector<int32_t>& sources) {
  numbers = std::move(extents.numbers);
  sources = std::move(extents.sources);
}

// Reads shape, global shape and offset: all of equal rank, with the block inside the whole.
void read_place(const YamlValue& value, const YamlValue& shape, const Parameters& parameters, Layout& layout) {
  const size_t rank = layout.shape.size();
  layout.global_shape = layout.shape;
  layout.sources.global_shape = layout.sources.shape;
  layout.offset.assign(rank, 0);
  layout.sources.offset.assign(rank, kNoParameter);
  const auto global = value.find("global");
  if (global) put(read_extents(*global, parameters, rank, 1), layout.global_shape, layout.sources.global_shape);
  const auto offset = value.find("offset");
  if (offset) put(read_extents(*offset, parameters, rank, 0), layout.offset, layout.sources.offset);
  if (layout.global_shape.size() != rank || layout.offset.size() != rank) return;
  if (!shape.is_right() || (global && !global->is_right()) || (offset && !offset->is_right())) return;
  if (const std::optional<size_t> i = dimension_outside(layout)) {
    const YamlValue& culprit = offset ? *offset : global ? *global : shape;
    culprit.fault(fmt::format("offset {} and shape {} in dimension {}", layout.offset[*i], layout.shape[*i], *i),
                  fmt::format("both together at most the global extent {}", layout.global_shape[*i]));
  }
}

void check_size(const YamlValue& shape, const Layout& layout, const Config& config) {
  if (!shape.is_right()) return;
  const std::optional<uint64_t> bytes = checked_bytes(layout.shape, layout.type);
  if (!bytes || !checked_bytes(layout.global_shape, layout.type)) {
    return shape.fault(fmt::format("layout '{}' with more than 2^63 bytes", layout.name), "a smaller shape",
                       bytes ? "the global shape is too large" : "the shape is too large");
  }
  if (*bytes <= config.memory.budget || !shape.trusts({"memory"})) return;
  shape.fault(fmt::format("layout '{}' with blocks of {} bytes", layout.name, *bytes),
              fmt::format("blocks that fit into the memory budget of {} bytes", config.memory.budget),
              fmt::format("a budget of {} is enough for one block at a time", size_text(*bytes)));
}

std::vector<std::string> default_labels(size_t rank) {
  const std::vector<std::string> all = {"s", "t", "u", "v", "w", "z", "y", "x"};
  return {all.end() - static_cast<std::ptrdiff_t>(rank), all.end()};
}

bool has_only(const Unit& unit, size_t quantity) {
  for (size_t i = 0; i < unit.dimension.size(); ++i) {
    if (unit.dimension[i] != 0 && i != quantity) return false;
  }
  return true;
}

// A grid is measured in lengths, or in angles, which have no dimension.
bool is_grid_unit(const Unit& unit) {
  return has_only(unit, 0) && (unit.dimension[0] == 0 || unit.dimension[0] == 1);
}

void read_grid(const YamlValue& value, const Parameters& parameters, Layout& layout) {
  const size_t rank = layout.shape.size();
  layout.axes = default_labels(rank);
  layout.spacing.assign(rank, 1.0);
  layout.origin.assign(rank, 0.0);
  layout.grid_unit = Unit{"m", 1.0, {1, 0, 0, 0, 0, 0, 0}};
  if (const auto axes = value.find("axes")) layout.axes = read_labels(*axes, rank);
  if (const auto spacing = value.find("spacing")) {
    read_numbers(*spacing, parameters, false, layout.spacing, layout.sources.spacing);
  }
  if (const auto origin = value.find("origin")) {
    read_numbers(*origin, parameters, true, layout.origin, layout.sources.origin);
  }
  if (const auto unit = value.find("unit")) {
    layout.grid_unit = read_unit(*unit, is_grid_unit, "a unit of length or angle, such as m, km or deg");
  }
}

// Reads the box of the particles of a block.
void read_patch(const YamlValue& value, const Parameters& parameters, Layout& layout) {
  value.only({"offset", "extent"});
  constexpr std::string_view expected = "a list of numbers or parameters, one for each component of the position";
  const auto offset = value.require("offset", expected);
  const auto extent = value.require("extent", expected);
  if (!offset || !extent) return;
  const auto read = [&](const YamlValue& list, std::vector<double>& numbers, std::vector<int32_t>& sources) {
    for (const YamlValue& item : list.items(expected)) {
      numbers.push_back(read_number(item, parameters, "a finite number", sources.emplace_back()));
    }
  };
  read(*offset, layout.patch_offset, layout.sources.patch_offset);
  read(*extent, layout.patch_extent, layout.sources.patch_extent);
  if (!value.is_right()) return;
  if (layout.patch_extent.size() == layout.patch_offset.size() && !layout.patch_offset.empty()) return;
  extent->fault(counted(layout.patch_extent.size(), "number"),
                counted(std::max<size_t>(1, layout.patch_offset.size()), "number") + ", as 'offset' has");
}

// A scalar has no dimension in the program, and one of one element in the file, as openPMD requires.
void read_scalar(const YamlValue& value, Layout& layout) {
  for (const std::string_view key : {"global", "offset", "axes", "spacing", "origin", "unit", "patch"}) {
    if (const auto found = value.find(key)) found->fault_at_key("this key with a scalar", "no such key");
  }
  layout.scalar = true;
  layout.shape = layout.global_shape = {1};
  layout.offset = {0};
  layout.sources.shape = layout.sources.global_shape = layout.sources.offset = {kNoParameter};
  layout.axes = {"x"};
  layout.spacing = {1.0};
  layout.origin = {0.0};
  layout.grid_unit = Unit{"m", 1.0, {1, 0, 0, 0, 0, 0, 0}};
}

Layout read_layout(const YamlValue& value, const Parameters& parameters, const Config& config) {
  Layout layout;
  layout.name = value.key();
  value.only({"type", "shape", "global", "offset", "axes", "spacing", "origin", "unit", "patch"});
  const auto type = value.require("type", "an element type such as float32 or float64");
  const auto shape = value.require("shape", "a list of extents, slowest dimension first; [] for a scalar");
  if (type) layout.type = read_type(*type);
  if (const auto patch = value.find("patch")) read_patch(*patch, parameters, layout);
  if (!shape) return layout;
  put(read_extents(*shape, parameters, 0, 1), layout.shape, layout.sources.shape);
  if (layout.shape.empty()) {
    if (shape->is_right()) read_scalar(value, layout);
    return layout;
  }
  read_place(value, *shape, parameters, layout);
  check_size(*shape, layout, config);
  read_grid(value, parameters, layout);
  return layout;
}

}  // namespace

bool is_identifier(std::string_view text) {
  constexpr size_t longest = 200;
  if (text.empty() || text.size() > longest) return false;
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (!is_letter(text.front())) return false;
  return std::all_of(text.begin(), text.end(), [&](char c) { return is_letter(c) || is_digit(c); });
}

void check_name(const YamlValue& value) {
  if (!is_identifier(value.key()))
    value.fault_at_key("the name " + in_quotes(value.key()), std::string(identifier_rule));
}

// Returns the entries of a map that must have entries, each with a valid name.
std::vector<YamlValue> read_named(const YamlValue& value, std::string_view expected, size_t most) {
  std::vector<YamlValue> entries = value.entries(expected);
  if (value.is_map() && entries.empty()) value.wrong(expected);
  if (entries.size() > most) {
    value.fault(fmt::format("{} entries", entries.size()), fmt::format("at most {}", most));
  }
  for (const YamlValue& entry : entries) check_name(entry);
  return entries;
}

uint32_t find_layout(const YamlValue& value, const NameIndex& layouts, const Config& config) {
  const auto found = value.is_scalar() ? layouts.find(value.raw()) : std::nullopt;
  if (found) return *found;
  if (!value.is_right() || (config.layouts.empty() && !value.trusts({"layouts"}))) return 0;
  std::vector<std::string_view> names;
  for (const Layout& layout : config.layouts) names.emplace_back(layout.name);
  const std::string nearest = nearest_word(value.raw(), names);
  value.wrong("the name of a layout (" + one_of(names) + ")",
              nearest.empty() ? "" : fmt::format("did you mean {}?", in_quotes(nearest)));
  return 0;
}

double read_number(const YamlValue& value, const Parameters& parameters, std::string_view expected, int32_t& source) {
  source = kNoParameter;
  if (!value.is_scalar() || !is_identifier(value.raw())) return value.number(expected);
  const auto parameter = find_parameter(value, parameters, "a number");
  if (parameter == parameters.end()) return 1;
  source = static_cast<int32_t>(std::distance(parameters.begin(), parameter));
  return parameter->second.real();
}

bool doubts_parameter(const YamlValue& value, const std::string& name) {
  return !value.trusts({"parameters." + printable(name)});
}

bool trusts_layout(const YamlValue& value, const Layout& layout) {
  return value.is_right() && value.trusts({"layouts." + printable(layout.name)});
}

void read_parameters(const YamlValue& value, Parameters& parameters) {
  for (const YamlValue& entry : value.entries("a mapping of names to numbers")) {
    check_name(entry);
    if (entry.key() == kClientParameter) {
      entry.fault_at_key("the name 'client'", "another name", "'client' is the id of the client, set by the program");
    }
    // Digits alone are an integer, even if it is too long.
    const bool whole = entry.raw().find_first_not_of("+-0123456789") == std::string::npos;
    const Number number = whole ? Number(entry.integer(std::numeric_limits<int64_t>::min()))
                                : Number(entry.number("an integer of at most 64 bits, or a number"));
    parameters.emplace(entry.key(), number);
  }
}

void read_layouts(const YamlValue& value, const Parameters& parameters, Config& config) {
  constexpr std::string_view expected = "at least one layout, such as {field: {type: float64, shape: [100, 200]}}";
  for (const YamlValue& entry : read_named(value, expected, most_layouts)) {
    config.layouts.push_back(read_layout(entry, parameters, config));
  }
}

Unit read_unit(const YamlValue& value, bool (*accept)(const Unit&), std::string_view expected) {
  if (!value.is_scalar()) {
    value.wrong(expected, "write 1 for no unit");
    return {};
  }
  const Result<Unit> unit = parse_unit(value.raw());
  if (!unit.ok()) {
    value.wrong(expected, printable(unit.status().fault().message, longest_message));
    return {};
  }
  if (!accept(unit.value())) value.wrong(expected, "its dimension is another one");
  return unit.value();
}

}  // namespace tailrace::impl
