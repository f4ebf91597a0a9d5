#include "cube/cubepl/predefined.hpp"

#include <algorithm>

namespace tailrace::cube {
namespace {

using Object = Predefined::Object;
using Property = Predefined::Property;

Value number(double value) { return Value::of(value); }
Value text(const std::string& value) { return Value::of(std::string_view(value)); }

Value of_profile(const PredefinedSource& source, Property property) {
  const Profile& profile = source.profile;
  const auto size = [](const auto& list) { return number(static_cast<double>(list.size())); };
  const auto roots = [](const auto& list) {
    return number(
        static_cast<double>(std::count_if(list.begin(), list.end(), [](const auto& one) { return one.parent < 0; })));
  };
  switch (property) {
    case Property::mirrors: return size(profile.mirrors);
    case Property::metrics: return size(source.metrics);
    case Property::root_metrics: return roots(source.metrics);
    case Property::regions: return size(profile.regions);
    case Property::call_paths: return size(profile.tree);
    case Property::root_call_paths: return roots(profile.tree.paths());
    case Property::locations: return size(profile.locations);
    case Property::groups: return size(profile.groups);
    case Property::nodes: return size(profile.nodes);
    case Property::root_nodes: return roots(profile.nodes);
    case Property::file: return text(source.file);
    default: return number(0);
  }
}

Value of_metric(const std::vector<Metric>& metrics, Property property, size_t index) {
  if (index >= metrics.size()) return {};
  const Metric& metric = metrics[index];
  switch (property) {
    case Property::id: return number(static_cast<double>(index));
    case Property::name: return text(metric.unique_name);
    case Property::other_name: return text(metric.display_name);
    case Property::url: return text(metric.url);
    case Property::description: return text(metric.description);
    case Property::data_type: return text(metric.data_type);
    case Property::unit: return text(metric.unit);
    case Property::expression: return text(metric.expression.text);
    case Property::init_expression: return text(metric.init.text);
    case Property::parent: return number(metric.parent);
    case Property::children:
      return number(static_cast<double>(std::count_if(
          metrics.begin(), metrics.end(), [&](const Metric& one) { return one.parent == static_cast<int>(index); })));
    default: return {};
  }
}

Value of_region(const Profile& profile, Property property, size_t index) {
  if (index >= profile.regions.size()) return {};
  const Region& region = profile.regions[index];
  switch (property) {
    case Property::id: return number(static_cast<double>(index));
    case Property::name: return text(region.name);
    case Property::other_name: return text(region.mangled_name);
    case Property::url: return text(region.url);
    case Property::description: return text(region.description);
    case Property::module: return text(region.module);
    case Property::begin_line: return number(static_cast<double>(region.begin));
    case Property::end_line: return number(static_cast<double>(region.end));
    case Property::paradigm: return text(region.paradigm);
    case Property::role: return text(region.role);
    default: return {};
  }
}

Value of_call_path(const Profile& profile, Property property, size_t index) {
  if (index >= profile.tree.size()) return {};
  const CallPath& path = profile.tree[index];
  switch (property) {
    case Property::id: return number(static_cast<double>(index));
    case Property::children: return number(static_cast<double>(path.children.size()));
    case Property::callee: return number(path.region);
    case Property::parent: return number(path.parent);
    case Property::module: return of_region(profile, Property::module, path.region);
    case Property::line: return of_region(profile, Property::begin_line, path.region);
    default: return {};
  }
}

Value of_node(const Profile& profile, Property property, size_t index) {
  if (index >= profile.nodes.size()) return {};
  const SystemNode& node = profile.nodes[index];
  switch (property) {
    case Property::id: return number(static_cast<double>(index));
    case Property::name: return text(node.name);
    case Property::kind: return text(node.kind);
    case Property::parent: return number(node.parent);
    default: return {};
  }
}

Value of_group(const Profile& profile, Property property, size_t index) {
  if (index >= profile.groups.size()) return {};
  const LocationGroup& group = profile.groups[index];
  switch (property) {
    case Property::id: return number(static_cast<double>(index));
    case Property::name: return text(group.name);
    case Property::rank: return number(static_cast<double>(group.rank));
    case Property::kind: return text(group.type);
    case Property::parent: return number(group.node);
    case Property::is_void: return number(0);
    default: return {};
  }
}

Value of_location(const Profile& profile, Property property, size_t index) {
  if (index >= profile.locations.size()) return {};
  const Location& location = profile.locations[index];
  switch (property) {
    case Property::id: return number(static_cast<double>(index));
    case Property::name: return text(location.name);
    case Property::rank: return number(static_cast<double>(location.rank));
    case Property::kind: return text(location.type);
    case Property::parent: return number(location.group);
    case Property::is_void: return number(0);
    default: return {};
  }
}

Value element(const PredefinedSource& source, const Predefined& variable, size_t index) {
  switch (variable.object) {
    case Object::profile: return of_profile(source, variable.property);
    case Object::metric: return of_metric(source.metrics, variable.property, index);
    case Object::call_path: return of_call_path(source.profile, variable.property, index);
    case Object::region: return of_region(source.profile, variable.property, index);
    case Object::node: return of_node(source.profile, variable.property, index);
    case Object::group: return of_group(source.profile, variable.property, index);
    default: return of_location(source.profile, variable.property, index);
  }
}

// Returns a property of the location with that number, or of its group.
Value of_place(const PredefinedSource& source, const Predefined& variable, uint32_t location) {
  const std::vector<Location>& locations = source.profile.locations;
  if (location >= locations.size()) return {};
  return element(source, variable, variable.object == Object::group ? locations[location].group : location);
}

}  // namespace

Value predefined_value(const PredefinedSource& source, const Predefined& variable, size_t index, const Place& place,
                       double* memory) {
  if (!variable.calculation) return element(source, variable, index);
  switch (variable.object) {
    case Object::metric: return element(source, variable, static_cast<size_t>(place.metric));
    case Object::call_path: return place.whole_program ? Value() : element(source, variable, place.call_path);
    case Object::region:
      if (place.whole_program) return {};
      if (place.call_path >= source.profile.tree.size()) return {};
      return element(source, variable, source.profile.tree[place.call_path].region);
    default: break;
  }
  if (place.whole_system) return {};  // no location
  const Value first = of_place(source, variable, place.first);
  if (place.count == 1 || first.is_text()) return place.count == 1 ? first : Value();
  for (uint32_t at = 0; at < place.count; ++at) memory[at] = of_place(source, variable, place.first + at).number;
  return Value::of_row(memory);
}

std::string metric_property(const Metric& metric, const std::string& property) {
  if (property == "unique name") return metric.unique_name;
  if (property == "display name") return metric.display_name;
  if (property == "uom") return metric.unit;
  if (property == "url") return metric.url;
  if (property == "description") return metric.description;
  return property == "value" && metric.visibility == Metric::Visibility::hidden ? "VOID" : "";
}

size_t predefined_size(const PredefinedSource& source, const Predefined& variable) {
  if (variable.calculation || variable.object == Object::profile) return 1;
  switch (variable.object) {
    case Object::metric: return source.metrics.size();
    case Object::call_path: return source.profile.tree.size();
    case Object::region: return source.profile.regions.size();
    case Object::node: return source.profile.nodes.size();
    case Object::group: return source.profile.groups.size();
    default: return source.profile.locations.size();
  }
}

}  // namespace tailrace::cube
