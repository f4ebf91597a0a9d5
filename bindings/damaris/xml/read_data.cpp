#include "damaris/xml/read_data.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <unordered_map>

namespace tailrace::damaris {
namespace {

constexpr size_t kMostRank = 8;
constexpr size_t kMostBlocks = 16000;
constexpr int kMostGroups = 64;  // one inside the other

const std::vector<std::string_view> kTypes = {"short",  "int",  "integer",   "long",   "float", "real",
                                              "double", "char", "character", "string", "label", "undefined"};
constexpr ElementType kElements[] = {ElementType::int16,   ElementType::int32,   ElementType::int32,
                                     ElementType::int64,   ElementType::float32, ElementType::float32,
                                     ElementType::float64, ElementType::int8,    ElementType::int8,
                                     ElementType::text,    ElementType::text,    ElementType::text};

// A group that is being read, with what its variables inherit.
struct Group {
  std::string prefix;  // "a/b/"
  std::string store;
  bool enabled = true;
  int depth = 0;
};

class DataReader {
 public:
  DataReader(bool fortran, Model& to) : fortran_(fortran), to_(to) {}

  // Layouts may come after the variables that use them.
  void read(const Element& data) {
    data.know_children({"parameter", "layout", "variable", "group", "mesh", "curve"});
    for (const Element& child : data.children()) {
      if (child.name() == "parameter") read_parameter(child);
    }
    read_layouts(data, {});
    for (size_t i = 0; i < to_.layouts.size(); ++i) layouts_.emplace(to_.layouts[i].name, i);
    for (size_t i = 0; i < to_.stores.size(); ++i) stores_.emplace(to_.stores[i].name, i);
    read_group(data, {});
    check_meshes(data);
    const auto blocks = to_.variables.size() * static_cast<size_t>(to_.architecture.domains);
    if (blocks <= kMostBlocks) return;
    data.wrong("", std::to_string(blocks) + " blocks, variables times domains",
               "at most " + std::to_string(kMostBlocks));
  }

 private:
  void read_parameter(const Element& element);
  void read_layouts(const Element& in, const Group& group);
  void read_layout(const Element& element, const Group& group);
  void read_ghosts(const Element& element, Layout& to) const;
  void check_layout(const Element& element, const Layout& layout) const;
  void read_group(const Element& in, const Group& group);
  void read_variable(const Element& element, const Group& group);
  void refuse_texts(const Element& element, Variable& variable) const;
  void read_mesh(const Element& element, const Group& group);
  void check_meshes(const Element& data) const;
  void check_coordinates(const Element& data, const Variable& variable, const Mesh& mesh) const;
  Group inner(const Element& element, const Group& group) const;
  void note_name(std::set<std::string>& names, const Element& element, const std::string& name) const;
  // Returns the index of what a variable names: by its whole name, or by its name in an enclosing group.
  static std::optional<size_t> find(const std::unordered_map<std::string, size_t>& in, const std::string& name,
                                    const Group& group);
  static void unknown(const Element& element, const char* attribute, const std::string& name,
                      const std::unordered_map<std::string, size_t>& known);

  const bool fortran_;
  Model& to_;
  std::unordered_map<std::string, size_t> layouts_;
  std::unordered_map<std::string, size_t> stores_;
  std::set<std::string> parameter_names_, layout_names_, variable_names_, mesh_names_;
};

void DataReader::note_name(std::set<std::string>& names, const Element& element, const std::string& name) const {
  if (!name.empty() && !names.insert(name).second) {
    element.wrong("name", "a second one of the name " + in_quotes(name), "each name once");
  }
}

void DataReader::read_parameter(const Element& element) {
  element.know_attributes({"name", "type", "value"});
  Parameter parameter;
  parameter.name = element.required("name");
  note_name(parameter_names_, element, parameter.name);
  element.required("type");
  const size_t type = element.choice("type", kTypes, 1);
  parameter.type = kElements[type];
  const std::string text = element.string("value");
  if (!element.has("value")) element.wrong("value", "no such attribute", "the value at the start");
  const bool real = parameter.type == ElementType::float32 || parameter.type == ElementType::float64;
  if (parameter.type == ElementType::text || parameter.type == ElementType::int8) {
    parameter.value = text;
  } else if (real) {
    const std::optional<double> value = to_real(text);
    if (!value) element.wrong("value", in_quotes(text), "a number, as the type says");
    parameter.value = value.value_or(0);
  } else {
    const std::optional<int64_t> value = to_integer(text);
    const int bits = static_cast<int>(8 * size_of(parameter.type));
    const bool fits =
        value && (bits == 64 || (*value >= -(int64_t{1} << (bits - 1)) && *value < (int64_t{1} << (bits - 1))));
    if (!fits) element.wrong("value", in_quotes(text), "an integer of " + std::to_string(bits) + " bits");
    parameter.value = value.value_or(0);
  }
  to_.parameters.push_back(std::move(parameter));
}

Group DataReader::inner(const Element& element, const Group& group) const {
  Group result;
  result.prefix = group.prefix + element.string("name") + "/";
  result.store = element.string("store", group.store);
  result.enabled = group.enabled && element.flag("enabled", true);
  result.depth = group.depth + 1;
  return result;
}

void DataReader::read_layouts(const Element& in, const Group& group) {
  for (const Element& child : in.children()) {
    if (child.name() == "layout") read_layout(child, group);
    if (child.name() != "group" || group.depth >= kMostGroups) continue;
    read_layouts(child, {group.prefix + child.string("name") + "/", {}, true, group.depth + 1});
  }
}

void DataReader::read_layout(const Element& element, const Group& group) {
  element.know_attributes({"name", "type", "dimensions", "global", "ghosts", "language", "visualizable"});
  Layout layout;
  layout.line = element.line();
  layout.name = group.prefix + element.required("name");
  note_name(layout_names_, element, layout.name);
  element.required("type");
  layout.type = kElements[element.choice("type", kTypes, 6)];
  element.required("dimensions");
  layout.dimensions = element.expressions("dimensions");
  const bool has_global = element.has("global") && element.string("global") != "#";
  layout.global = has_global ? element.expressions("global") : layout.dimensions;
  read_ghosts(element, layout);
  check_layout(element, layout);
  if (read_language(element, fortran_)) {
    std::reverse(layout.dimensions.begin(), layout.dimensions.end());
    std::reverse(layout.global.begin(), layout.global.end());
    std::reverse(layout.ghosts.begin(), layout.ghosts.end());
  }
  to_.layouts.push_back(std::move(layout));
}

// "1:2,0:0" is 1 at the beginning of the first dimension, 2 at its end, none along the second one; "1,0" is 1:1,0:0.
void DataReader::read_ghosts(const Element& element, Layout& to) const {
  const std::string text = element.string("ghosts", "#");
  if (text == "#" || text.empty()) {
    to.ghosts.assign(to.dimensions.size(), {Expression(0), Expression(0)});
    return;
  }
  for (const std::string& part : split_list(text, ',')) {
    const std::vector<std::string> ends = split_list(part, ':');
    if (ends.size() > 2) return element.wrong("ghosts", in_quotes(part), "two numbers: 'lower:upper'");
    try {
      to.ghosts.emplace_back(Expression(ends.front()), Expression(ends.back()));
    } catch (const ExpressionError& error) {
      return element.wrong("ghosts", error.what(), "'lower:upper' for each dimension");
    }
  }
}

void DataReader::check_layout(const Element& element, const Layout& layout) const {
  const size_t rank = layout.dimensions.size();
  if (rank == 0 || layout.global.empty()) return;  // it has been reported
  if (rank > kMostRank) {
    element.wrong("dimensions", std::to_string(rank) + " dimensions", "at most " + std::to_string(kMostRank));
  }
  const std::string expected = std::to_string(rank) + ", as 'dimensions' has";
  if (layout.global.size() != rank)
    element.wrong("global", std::to_string(layout.global.size()) + " items", expected);
  if (layout.ghosts.size() != rank)
    element.wrong("ghosts", std::to_string(layout.ghosts.size()) + " items", expected);
  std::set<std::string> names;
  for (const Expression& one : layout.dimensions) names.insert(one.names().begin(), one.names().end());
  for (const Expression& one : layout.global) names.insert(one.names().begin(), one.names().end());
  for (const auto& [lower, upper] : layout.ghosts) {
    names.insert(lower.names().begin(), lower.names().end());
    names.insert(upper.names().begin(), upper.names().end());
  }
  for (const std::string& name : names) {
    const std::optional<size_t> found = to_.find_parameter(name);
    if (found && std::holds_alternative<int64_t>(to_.parameters[*found].value)) continue;
    std::vector<std::string_view> known;
    for (const Parameter& parameter : to_.parameters) known.emplace_back(parameter.name);
    element.wrong("dimensions", "the name " + in_quotes(name), "an integer parameter", did_you_mean(name, known));
  }
}

void DataReader::read_group(const Element& in, const Group& group) {
  for (const Element& child : in.children()) {
    if (child.name() == "variable") read_variable(child, group);
    if (child.name() == "mesh") read_mesh(child, group);
    if (child.name() == "curve") child.warn("has no effect: tailrace does not show data while they are computed");
    if (child.name() != "group") continue;
    if (group.depth >= kMostGroups) {
      child.wrong("", "more than " + std::to_string(kMostGroups) + " groups in one another", "fewer");
      return;
    }
    child.know_attributes({"name", "enabled", "store"});
    child.know_children({"layout", "variable", "group", "mesh", "curve"});
    child.required("name");
    read_group(child, inner(child, group));
  }
}

std::optional<size_t> DataReader::find(const std::unordered_map<std::string, size_t>& in, const std::string& name,
                                       const Group& group) {
  if (const auto found = in.find(name); found != in.end()) return found->second;
  for (std::string prefix = group.prefix; !prefix.empty();) {
    if (const auto found = in.find(prefix + name); found != in.end()) return found->second;
    prefix.pop_back();
    prefix.resize(prefix.rfind('/') == std::string::npos ? 0 : prefix.rfind('/') + 1);
  }
  return std::nullopt;
}

void DataReader::unknown(const Element& element, const char* attribute, const std::string& name,
                         const std::unordered_map<std::string, size_t>& known) {
  std::vector<std::string_view> names;
  for (const auto& [one, index] : known) names.emplace_back(one);
  std::sort(names.begin(), names.end());
  const std::string hint = did_you_mean(name, names);
  if (names.size() > 8) names.resize(8);
  const std::string list = names.empty() ? ", and there is none" : ": " + one_of(names);
  element.wrong(attribute, in_quotes(name), "the name of a " + std::string(attribute) + list, hint);
}

void DataReader::read_variable(const Element& element, const Group& group) {
  element.know_attributes({"name", "unit", "layout", "enabled", "mesh", "type", "vectorlength", "centering",
                           "visualizable", "time-varying", "store", "script"});
  Variable variable;
  variable.line = element.line();
  variable.name = group.prefix + element.required("name");
  note_name(variable_names_, element, variable.name);
  if (!is_dataset_path(variable.name) && element.has("name")) {
    element.wrong("name", in_quotes(variable.name), "a path of a dataset, such as 'group/T'");
  }
  const std::string layout = element.required("layout");
  if (const auto found = find(layouts_, layout, group)) {
    variable.layout = *found;
  } else if (!layout.empty()) {
    unknown(element, "layout", layout, layouts_);
  }
  if (const std::string store = element.string("store", group.store); !store.empty() && store != "#") {
    const auto found = stores_.find(store);
    if (found != stores_.end()) variable.store = found->second;
    if (found == stores_.end()) unknown(element, "store", store, stores_);
  }
  const std::vector<std::string_view> types = {
      "scalar", "vector", "tensor", "symmetric-tensor", "material", "matspecies", "label", "array", "mesh", "curve"};
  variable.type = types[element.choice("type", types, 0)];
  variable.centering = element.choice("centering", {"zonal", "nodal"}, 0) == 0 ? "zonal" : "nodal";
  const auto named = [&](const char* attribute) {
    std::string value = element.string(attribute);
    return value == "#" ? std::string() : value;
  };
  variable.unit = named("unit");
  variable.mesh = named("mesh");
  variable.script = named("script");
  variable.time_varying = element.flag("time-varying", true);
  variable.visualizable = element.flag("visualizable", true);
  variable.enabled = element.flag("enabled", true) && group.enabled;
  refuse_texts(element, variable);
  to_.variables.push_back(std::move(variable));
}

// Damaris 1.7.1 knows such types of layouts, but neither stores their blocks nor has memory for them.
void DataReader::refuse_texts(const Element& element, Variable& variable) const {
  const bool has_texts =
      variable.layout < to_.layouts.size() && to_.layouts[variable.layout].type == ElementType::text;
  const bool is_stored = variable.store && to_.stores[*variable.store].writes;
  if (!has_texts || !variable.enabled || (!is_stored && variable.script.empty())) return;
  element.warn("its layout has texts, whose lengths nothing tells: its blocks are refused, as by Damaris 1.7.1");
  variable.refused = true;
  variable.store.reset();
  variable.script.clear();
}

void DataReader::read_mesh(const Element& element, const Group& group) {
  element.know_attributes({"name", "type", "topology", "time-varying"});
  element.know_children({"coord", "vertex_global_id", "section_types", "section_sizes", "section_connectivity"});
  const std::vector<std::string_view> types = {"unknown", "rectilinear", "curvilinear", "unstructured",
                                               "point",   "csg",         "amr"};
  Mesh mesh;
  mesh.name = group.prefix + element.required("name");
  note_name(mesh_names_, element, mesh.name);
  element.required("type");
  mesh.type = types[element.choice("type", types, 0)];
  mesh.topology = element.integer("topology", 1, 3, 2);
  element.flag("time-varying", false);
  for (const Element& child : element.children()) {
    if (child.name() != "coord") continue;
    child.know_attributes({"name", "unit", "label"});
    mesh.coordinates.push_back({child.required("name"), child.string("unit"), child.string("label")});
  }
  to_.meshes.push_back(std::move(mesh));
}

// XDMF files show a variable on its mesh if the coordinates are in its store.
void DataReader::check_coordinates(const Element& data, const Variable& variable, const Mesh& mesh) const {
  const bool has_xdmf = variable.store && to_.stores[*variable.store].xdmf != XdmfMode::none;
  const bool is_known = mesh.type == "rectilinear" || mesh.type == "curvilinear" || mesh.type == "point";
  if (!has_xdmf || !variable.visualizable) return;
  const std::string of = "<variable name=" + in_quotes(variable.name) + ">: ";
  if (!is_known) {
    return data.warn_at(variable.line,
                        of + "XDMF files do not show it on its mesh, which is " + in_quotes(mesh.type));
  }
  for (const Coordinate& one : mesh.coordinates) {
    const std::optional<size_t> found = to_.coordinate_of(mesh, one);
    if (found && to_.variables[*found].store == variable.store) continue;
    data.warn_at(variable.line, of + "XDMF files do not show it on its mesh: " + in_quotes(one.variable) +
                                    (found ? " has another store, or none" : " is not a variable"));
  }
}

// A mesh of which nothing is known is only used to show data, and so only a warning.
void DataReader::check_meshes(const Element& data) const {
  std::vector<std::string_view> known(mesh_names_.begin(), mesh_names_.end());
  for (const Variable& variable : to_.variables) {
    const std::string& mesh = variable.mesh;
    if (const std::optional<size_t> found = to_.mesh_of(variable))
      check_coordinates(data, variable, to_.meshes[*found]);
    if (mesh.empty() || to_.mesh_of(variable)) continue;
    const std::string hint = did_you_mean(mesh, known);
    data.warn_at(variable.line, "<variable name=" + in_quotes(variable.name) + ">: there is no mesh " +
                                    in_quotes(mesh) + (hint.empty() ? "" : "; " + hint));
  }
}

}  // namespace

void read_data(const Element& data, bool fortran, Model& to) { DataReader(fortran, to).read(data); }

bool read_language(const Element& element, bool otherwise) {
  const size_t language = element.choice("language", {"unknown", "fortran", "c", "cpp", "python", "r"}, 0);
  return language == 0 ? otherwise : language == 1;
}

}  // namespace tailrace::damaris
