#include "config/config_variables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "base/names/counted.hpp"
#include "base/names/name_template.hpp"
#include "base/names/nearest_word.hpp"
#include "config/config_arrays.hpp"
#include "config/config_attributes.hpp"
#include "config/config_xdmf.hpp"

namespace tailrace::impl {
namespace {

constexpr size_t most_variables = 100'000;
constexpr int64_t most_keep = 1000;  // iterations
constexpr uint64_t least_chunk = uint64_t{4} << 10;
constexpr uint64_t most_chunk = uint64_t{1} << 30;

bool is_any_unit(const Unit&) { return true; }

struct LevelRange {
  int least;
  int most;
  int usual;
};

LevelRange levels_of(Compressor compressor) {
  switch (compressor) {
    case Compressor::none: return {0, 0, 0};
    case Compressor::deflate: return {0, 9, 1};
    case Compressor::zstd: return {1, 19, 3};
  }
  TAILRACE_ASSERT(false);
}

Compressor read_compressor(const YamlValue& value) {
  return static_cast<Compressor>(value.choice({"none", "deflate", "zstd"}, "deflate is HDF5's gzip"));
}

uint64_t read_chunk(const YamlValue& value) {
  const uint64_t bytes = value.size(least_chunk);
  if (bytes <= most_chunk) return bytes;
  value.wrong(fmt::format("a size from {} to {}", size_text(least_chunk), size_text(most_chunk)));
  return most_chunk;
}

// Reads either a filter's name alone (`zstd`) or a mapping.
Compression read_compression(const YamlValue& value) {
  Compression compression;
  if (value.is_scalar()) {
    compression.filter = read_compressor(value);
    compression.level = levels_of(compression.filter).usual;
    return compression;
  }
  value.only({"filter", "level", "shuffle", "chunk", "adaptive"});
  const auto filter = value.require("filter", "none, deflate or zstd");
  if (!filter) return compression;
  compression.filter = read_compressor(*filter);
  const LevelRange levels = levels_of(compression.filter);
  compression.level = levels.usual;
  const auto level = value.find("level");
  if (!filter->is_right()) return compression;
  if (level && compression.filter == Compressor::none) {
    level->fault_at_key("a level", "none, as nothing is compressed by the filter 'none'");
  } else if (level) {
    compression.level = static_cast<int>(level->integer(levels.least, levels.most));
  }
  if (const auto shuffle = value.find("shuffle")) compression.shuffle = shuffle->flag();
  if (const auto chunk = value.find("chunk")) compression.chunk = read_chunk(*chunk);
  if (const auto adaptive = value.find("adaptive")) compression.adaptive = adaptive->flag();
  return compression;
}

// `layout`: that of the variable; nullptr if it is not known.
Precision read_precision(const YamlValue& value, const Layout* layout) {
  const auto precision = static_cast<Precision>(value.choice({"full", "float16"}));
  if (precision == Precision::full || layout == nullptr || is_floating(layout->type)) return precision;
  if (!trusts_layout(value, *layout)) return precision;
  value.fault(fmt::format("float16 for elements of {}", name_of(layout->type)),
              "full, or a layout of float32, float64 or long_double");
  return Precision::full;
}

struct IntegerRange {
  int64_t least;
  int64_t most;
};

template <class T>
constexpr IntegerRange range_of() {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  const bool is_wide = std::numeric_limits<T>::max() > static_cast<uint64_t>(kMost);
  return {static_cast<int64_t>(std::numeric_limits<T>::min()),
          is_wide ? kMost : static_cast<int64_t>(std::numeric_limits<T>::max())};
}

// Returns the integers of a type; none if it is not one of integers.
std::optional<IntegerRange> integers_of(ElementType type) {
  switch (type) {
    case ElementType::boolean: return IntegerRange{0, 1};
    case ElementType::int8: return range_of<int8_t>();
    case ElementType::int16: return range_of<int16_t>();
    case ElementType::int32: return range_of<int32_t>();
    case ElementType::int64: return range_of<int64_t>();
    case ElementType::uint8: return range_of<uint8_t>();
    case ElementType::uint16: return range_of<uint16_t>();
    case ElementType::uint32: return range_of<uint32_t>();
    case ElementType::uint64: return range_of<uint64_t>();
    default: return std::nullopt;
  }
}

double largest_of(ElementType type, Precision precision) {
  constexpr double kLargestHalf = 65504;
  if (type == ElementType::float16 || precision == Precision::float16) return kLargestHalf;
  const bool is_single = type == ElementType::float32 || type == ElementType::complex64;
  return is_single ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max();
}

// Reads a value that the elements of the type can have.
Number read_fill_value(const YamlValue& value, ElementType type, Precision precision) {
  if (type == ElementType::uint64) {  // numbers of the configuration have 63 bits and a sign
    const std::optional<int64_t> number = value.maybe_integer();
    if (number && *number >= 0) return *number;
    value.wrong(fmt::format("an integer from 0 to {}", std::numeric_limits<int64_t>::max()));
    return int64_t{0};
  }
  if (const auto integers = integers_of(type)) return value.integer(integers->least, integers->most);
  if (value.is_scalar() && value.raw() == "nan") return std::numeric_limits<double>::quiet_NaN();
  const double number = value.number("a number, or nan");
  const double most = largest_of(type, precision);
  if (std::abs(number) > most) value.wrong(fmt::format("a number from {} to {}, or nan", -most, most));
  return number;
}

// Reads where in a cell the values of a mesh are: one number for each axis, from 0 to 1.
std::vector<double> read_position(const YamlValue& value, const Layout& layout) {
  constexpr std::string_view expected = "a number from 0 to 1 for each axis";
  std::vector<double> position;
  for (const YamlValue& item : value.items(expected)) {
    position.push_back(item.number(expected));
    if (position.back() < 0 || position.back() > 1) item.wrong(expected);
  }
  if (!trusts_layout(value, layout)) return position;
  if (position.size() != layout.shape.size()) {
    value.fault(fmt::format("a list of {} items", position.size()),
                fmt::format("one of {}, as 'shape' has", counted(layout.shape.size(), "number")));
  }
  return position;
}

// Reads the positions of a vector's components: a mapping, or one list for all.
void read_positions(const YamlValue& value, const Config& config, std::vector<Variable>& components) {
  if (!value.is_map()) {
    for (Variable& one : components) one.record.position = read_position(value, config.layout_of(one));
    return;
  }
  for (const YamlValue& entry : value.entries("a mapping of components to positions")) {
    const auto of = std::find_if(components.begin(), components.end(),
                                 [&](const Variable& one) { return one.name.ends_with("/" + entry.key()); });
    if (of == components.end()) {
      entry.fault_at_key(in_quotes(entry.key()), "a component of this variable");
    } else {
      of->record.position = read_position(entry, config.layout_of(*of));
    }
  }
}

// Returns true if the text is a path of an HDF5 dataset below the root: "a/b".
bool is_dataset_path(std::string_view path) {
  constexpr size_t longest = 500;
  if (path.empty() || path.size() > longest || path.front() == '/' || path.back() == '/') return false;
  for (size_t at = 0; at <= path.size();) {
    const size_t end = std::min(path.find('/', at), path.size());
    const std::string_view part = path.substr(at, end - at);
    if (part.empty() || part == "." || part == "..") return false;
    at = end + 1;
  }
  return true;
}

// Reads where in a file of the plain format the variable is: by default under its name.
void read_dataset(const YamlValue& entry, const Config& config, std::vector<Variable>& variables) {
  const auto dataset = entry.find("dataset");
  if (config.format.kind != FormatKind::plain) {
    if (dataset) dataset->fault_at_key("this key with the format hdf5", "no such key, or format.kind: plain");
    return;
  }
  if (const auto components = entry.find("components")) {
    components->fault_at_key("components in the format plain", "a variable for each, or format.kind: hdf5");
    return;
  }
  Variable& variable = variables.front();
  variable.dataset = variable.name;
  if (dataset) variable.dataset = dataset->name(is_dataset_path, "a path of a dataset, such as 'group/T/P{client}'");
  const bool shared = config.storage.file_per != FilePer::process && !has_client(variable.dataset);
  if (!shared || !variable.filtered()) return;
  entry.fault_at_key("a filtered variable in a dataset of all clients", "a 'dataset' with '{client}', or no filter");
}

// Returns true if the variable may be missing because of another mistake.
bool doubts_variable(const YamlValue& item) {
  const bool of_vector = item.is_scalar() && item.raw().find('/') != std::string::npos;
  if (of_vector) return !item.trusts({"variables", "particles"});
  return !item.trusts({"variables." + printable(item.raw())});
}

}  // namespace

std::vector<uint32_t> read_variable_names(const YamlValue& value, const Config& config, std::string_view hint) {
  constexpr std::string_view expected = "a list of variables";
  const std::vector<YamlValue> items = value.items(expected);
  if (value.is_list() && items.empty()) value.wrong(expected, std::string(hint));
  std::vector<uint32_t> found;
  const NameIndex variables(config.variables);
  for (const YamlValue& item : items) {
    const auto index = item.is_scalar() ? variables.find(item.raw()) : std::nullopt;
    if (!index) {
      if (doubts_variable(item)) continue;
      std::vector<std::string_view> names;
      for (const Variable& variable : config.variables) names.emplace_back(variable.name);
      const std::string nearest = nearest_word(item.raw(), names);
      item.wrong("the name of a variable",
                 nearest.empty() ? "" : fmt::format("did you mean {}?", in_quotes(nearest)));
    } else if (std::find(found.begin(), found.end(), *index) != found.end()) {
      item.wrong("each variable once");
    } else {
      found.push_back(*index);
    }
  }
  return found;
}

std::vector<std::string> read_components(const YamlValue& value) {
  std::vector<std::string> components;
  constexpr std::string_view expected = "a list of components, such as [x, y, z]";
  const std::vector<YamlValue> items = value.items(expected);
  if (value.is_list() && items.empty()) value.wrong(expected);
  for (const YamlValue& item : items) {
    std::string component = item.name(is_identifier, identifier_rule);
    if (std::find(components.begin(), components.end(), component) != components.end()) item.wrong("each once");
    components.push_back(std::move(component));
  }
  return components;
}

Variable read_settings(const YamlValue& entry, const std::optional<uint32_t>& layout, const NameIndex& layouts,
                       const Config& config) {
  Variable variable;
  variable.layout = layout.value_or(0);
  const auto own = layout ? entry.find("layout") : entry.require("layout", "the name of a layout");
  if (own) variable.layout = find_layout(*own, layouts, config);
  if (const auto unit = entry.find("unit")) variable.unit = read_unit(*unit, is_any_unit, "a unit");
  if (const auto description = entry.find("description")) variable.description = description->prose();
  if (const auto compress = entry.find("compress")) variable.compress = read_compression(*compress);
  const bool known = variable.layout < config.layouts.size() && (own ? own->is_right() : layout.has_value());
  const Layout* const of = known ? &config.layout_of(variable) : nullptr;
  if (const auto precision = entry.find("precision")) variable.precision = read_precision(*precision, of);
  const auto fill = entry.find("fill_value");
  if (fill && of != nullptr && trusts_layout(*fill, *of)) {
    variable.fill_value = read_fill_value(*fill, of->type, variable.precision);
  }
  if (const auto keep = entry.find("keep")) variable.keep = static_cast<uint32_t>(keep->integer(0, most_keep));
  if (const auto enabled = entry.find("enabled")) variable.enabled = enabled->flag();
  if (const auto attributes = entry.find("attributes")) {
    variable.attributes = read_attributes(*attributes, AttributeOf::variable);
  }
  return variable;
}

std::vector<Variable> with_components(const Variable& record, const std::string& name,
                                      const std::vector<std::string>& components) {
  std::vector<Variable> variables(std::max<size_t>(1, components.size()), record);
  for (size_t i = 0; i < variables.size(); ++i) {
    variables[i].name = components.empty() ? name : name + "/" + components[i];
    variables[i].record.vector = !components.empty();
  }
  return variables;
}

void read_variables(const YamlValue& value, Config& config) {
  constexpr std::string_view expected = "at least one variable, such as {temperature: {layout: field, unit: K}}";
  const NameIndex layouts(config.layouts);
  for (const YamlValue& entry : read_named(value, expected, most_variables)) {
    entry.only({"layout", "unit", "description", "compress", "precision", "fill_value", "keep", "enabled",
                "attributes", "components", "position", "dataset", "xdmf"});
    const Variable settings = read_settings(entry, std::nullopt, layouts, config);
    const auto listed = entry.find("components");
    std::vector<Variable> variables =
        with_components(settings, entry.key(), listed ? read_components(*listed) : std::vector<std::string>());
    read_dataset(entry, config, variables);
    if (const auto xdmf = entry.find("xdmf")) variables.front().xdmf = read_xdmf_center(*xdmf, config);
    const auto position = entry.find("position");
    const auto layout = entry.find("layout");
    const bool known =
        layout && layout->is_right() && settings.layout < config.layouts.size() && (!listed || listed->is_right());
    if (position && known) read_positions(*position, config, variables);
    std::move(variables.begin(), variables.end(), std::back_inserter(config.variables));
  }
}

}  // namespace tailrace::impl
