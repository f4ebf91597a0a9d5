#include "config/config_particles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/names/counted.hpp"
#include "config/config_arrays.hpp"
#include "config/config_variables.hpp"

namespace tailrace::impl {
namespace {

constexpr size_t most_species = 10'000;
constexpr size_t most_records = 10'000;

// The keys of a record that has datasets, and of a constant one.
struct Weighting {
  bool macro_weighted = false;
  double power = 0;
};

Weighting read_weighting(const YamlValue& entry) {
  Weighting weighting;
  if (const auto macro = entry.find("macro_weighted")) weighting.macro_weighted = macro->flag();
  if (const auto power = entry.find("weighting_power")) weighting.power = power->number("a number");
  return weighting;
}

ConstantRecord read_constant(const YamlValue& entry, const YamlValue& value, const std::string& species) {
  entry.only({"value", "unit", "macro_weighted", "weighting_power"});
  ConstantRecord record;
  record.species = species;
  record.name = entry.key();
  if (value.is_map()) {
    for (const YamlValue& component : value.entries("a mapping of components to numbers")) {
      if (!is_identifier(component.key())) {
        component.fault_at_key("the name " + in_quotes(component.key()), std::string(identifier_rule));
      }
      record.components.push_back({component.key(), component.number("a number")});
    }
    if (record.components.empty()) value.wrong("at least one component");
  } else {
    record.components.push_back({"", value.number("a number, or a mapping of components to numbers")});
  }
  const auto any = [](const Unit&) { return true; };
  if (const auto unit = entry.find("unit")) record.unit = read_unit(*unit, any, "a unit");
  const Weighting weighting = read_weighting(entry);
  record.macro_weighted = weighting.macro_weighted;
  record.weighting_power = weighting.power;
  return record;
}

// A record of particles has one value for each particle.
void check_layout(const YamlValue& entry, const Variable& variable, const Config& config) {
  if (variable.layout >= config.layouts.size()) return;
  const Layout& layout = config.layout_of(variable);
  if (!trusts_layout(entry, layout)) return;
  if (layout.shape.size() == 1 && !layout.scalar) return;
  const std::string found = layout.scalar ? "no dimension" : fmt::format("{} dimensions", layout.shape.size());
  entry.fault_at_key(fmt::format("layout '{}' of {}", layout.name, found),
                     "a layout of one dimension: the particles");
}

void read_record(const YamlValue& entry, const std::string& species, const std::optional<uint32_t>& layout,
                 const NameIndex& layouts, Config& config) {
  if (const auto value = entry.find("value")) {
    config.constants.push_back(read_constant(entry, *value, species));
    return;
  }
  entry.only({"layout", "unit", "description", "compress", "precision", "fill_value", "keep", "enabled", "attributes",
              "components", "macro_weighted", "weighting_power"});
  Variable settings = read_settings(entry, layout, layouts, config);
  const Weighting weighting = read_weighting(entry);
  settings.record.of_particles = true;
  settings.record.macro_weighted = weighting.macro_weighted;
  settings.record.weighting_power = weighting.power;
  check_layout(entry, settings, config);
  const auto listed = entry.find("components");
  for (Variable& one : with_components(settings, species + "/" + entry.key(),
                                       listed ? read_components(*listed) : std::vector<std::string>())) {
    config.variables.push_back(std::move(one));
  }
}

void read_species(const YamlValue& entry, const NameIndex& layouts, Config& config) {
  entry.only({"layout", "records"});
  std::optional<uint32_t> layout;
  if (const auto named = entry.find("layout")) layout = find_layout(*named, layouts, config);
  const auto records = entry.require("records", "the records of the particles, such as {id: {layout: ids}}");
  if (!records) return;
  for (const YamlValue& record : read_named(*records, "at least one record", most_records)) {
    read_record(record, entry.key(), layout, layouts, config);
  }
}

// A patch is a box in the coordinates of the positions.
void check_patches(const YamlValue& entry, const Config& config) {
  if (!entry.is_right()) return;
  const std::string prefix = entry.key() + "/position";
  const auto components =
      static_cast<size_t>(std::count_if(config.variables.begin(), config.variables.end(), [&](const Variable& one) {
        return one.record.of_particles && (one.name == prefix || one.name.starts_with(prefix + "/"));
      }));
  for (const Variable& variable : config.variables) {
    if (!variable.record.of_particles || !variable.name.starts_with(entry.key() + "/")) continue;
    const Layout& layout = config.layout_of(variable);
    if (layout.patch_offset.empty() || layout.patch_offset.size() == components) continue;
    if (!trusts_layout(entry, layout)) continue;
    entry.fault_at_key(
        fmt::format("layout '{}' with a patch of {}", layout.name, counted(layout.patch_offset.size(), "number")),
        fmt::format("{} of them, as the record 'position' has", components));
    return;
  }
}

}  // namespace

void read_particles(const YamlValue& value, Config& config) {
  const NameIndex layouts(config.layouts);
  for (const YamlValue& entry : read_named(value, "at least one species of particles", most_species)) {
    read_species(entry, layouts, config);
    if (!config.layouts.empty()) check_patches(entry, config);
  }
  if (!value.trusts({"variables", "particles"})) return;
  std::set<std::string> names;
  for (const Variable& variable : config.variables) {
    if (names.insert(variable.name).second) continue;
    value.fault(fmt::format("two variables '{}'", variable.name), "a name of its own for each variable");
  }
}

}  // namespace tailrace::impl
