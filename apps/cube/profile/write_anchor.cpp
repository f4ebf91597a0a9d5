#include <charconv>
#include <sstream>

#include "cube/profile/anchor_text.hpp"
#include "cube/profile/profile.hpp"

namespace tailrace::cube {
namespace {

void add_text(pugi::xml_node& parent, const char* name, const std::string& text) {
  parent.append_child(name).text().set(text.c_str());
}

void add_code(pugi::xml_node& parent, const char* name, const Metric::Code& code, const char* kind = nullptr) {
  if (code.text.empty()) return;
  pugi::xml_node node = parent.append_child(name);
  if (kind != nullptr) node.append_attribute("cubeplaggrtype") = kind;
  node.text().set(code.text.c_str());
}

void fill(pugi::xml_node& node, const Metric& metric) {
  node.append_attribute("id") = metric.id;
  for (const auto& [kind, name] : kKindNames) {
    if (kind == metric.kind) node.append_attribute("type") = name;
  }
  if (metric.visibility == Metric::Visibility::ghost) node.append_attribute("viztype") = "GHOST";
  if (metric.visibility == Metric::Visibility::hidden) node.append_attribute("viztype") = "VOID";
  add_text(node, "disp_name", metric.display_name);
  add_text(node, "uniq_name", metric.unique_name);
  add_text(node, "dtype", metric.data_type);
  add_text(node, "uom", metric.unit);
  add_text(node, "url", metric.url);
  add_text(node, "descr", metric.description);
  add_code(node, "cubepl", metric.expression);
  if (!metric.expression.text.empty() && !metric.rowwise) node.child("cubepl").append_attribute("rowwise") = "false";
  add_code(node, "cubeplinit", metric.init);
  add_code(node, "cubeplaggr", metric.plus, "plus");
  add_code(node, "cubeplaggr", metric.minus, "minus");
  add_code(node, "cubeplaggr", metric.aggregate, "aggr");
}

// In Cube a parameter is numeric or a string, as its value says.
void add_parameters(pugi::xml_node& node, const CallPath& path) {
  for (const auto& [key, value] : path.parameters) {
    double number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    const bool numeric = error == std::errc() && end == value.data() + value.size();
    pugi::xml_node parameter = node.append_child("parameter");
    parameter.append_attribute("partype") = numeric ? "numeric" : "string";
    parameter.append_attribute("parkey") = key.c_str();
    parameter.append_attribute("parvalue") = value.c_str();
  }
}

void add_program(pugi::xml_node& root, const Profile& profile) {
  pugi::xml_node program = root.append_child("program");
  for (const Region& region : profile.regions) {
    pugi::xml_node node = program.append_child("region");
    node.append_attribute("id") = region.id;
    node.append_attribute("mod") = region.module.c_str();
    node.append_attribute("begin") = static_cast<long long>(region.begin);
    node.append_attribute("end") = static_cast<long long>(region.end);
    add_text(node, "name", region.name);
    add_text(node, "mangled_name", region.mangled_name);
    add_text(node, "paradigm", region.paradigm);
    add_text(node, "role", region.role);
    add_text(node, "url", region.url);
    add_text(node, "descr", region.description);
  }
  std::vector<pugi::xml_node> nodes;
  for (const CallPath& path : profile.tree.paths()) {
    pugi::xml_node parent = path.parent < 0 ? program : nodes[static_cast<size_t>(path.parent)];
    pugi::xml_node node = parent.append_child("cnode");
    node.append_attribute("id") = path.id;
    node.append_attribute("calleeId") = profile.regions[path.region].id;
    add_parameters(node, path);
    nodes.push_back(node);
  }
}

template <typename T>
pugi::xml_node add_place(pugi::xml_node parent, const char* name, const T& place) {
  pugi::xml_node node = parent.append_child(name);
  node.append_attribute("Id") = place.id;
  add_text(node, "name", place.name);
  return node;
}

void add_system(pugi::xml_node& root, const Profile& profile) {
  pugi::xml_node system = root.append_child("system");
  std::vector<pugi::xml_node> nodes;
  for (const SystemNode& one : profile.nodes) {
    nodes.push_back(
        add_place(one.parent < 0 ? system : nodes[static_cast<size_t>(one.parent)], "systemtreenode", one));
    add_text(nodes.back(), "class", one.kind);
  }
  std::vector<pugi::xml_node> groups;
  for (const LocationGroup& one : profile.groups) {
    groups.push_back(add_place(nodes[one.node], "locationgroup", one));
    add_text(groups.back(), "rank", std::to_string(one.rank));
    add_text(groups.back(), "type", one.type);
  }
  for (const Location& one : profile.locations) {
    pugi::xml_node node = add_place(groups[one.group], "location", one);
    add_text(node, "rank", std::to_string(one.rank));
    add_text(node, "type", one.type);
  }
}

void make_document(pugi::xml_document& document, const Profile& profile) {
  pugi::xml_node declaration = document.append_child(pugi::node_declaration);
  declaration.append_attribute("version") = "1.0";
  declaration.append_attribute("encoding") = "UTF-8";
  pugi::xml_node root = document.append_child("cube");
  root.append_attribute("version") = "4.4";
  for (const auto& [key, value] : profile.attributes) {
    pugi::xml_node attribute = root.append_child("attr");
    attribute.append_attribute("key") = key.c_str();
    attribute.append_attribute("value") = value.c_str();
  }
  pugi::xml_node mirrors = root.append_child("doc").append_child("mirrors");
  for (const std::string& mirror : profile.mirrors) add_text(mirrors, "murl", mirror);
  root.append_child("metrics");
  add_program(root, profile);
  add_system(root, profile);
}

// pugixml's own function calls itself for each level, of which an anchor may have any number.
void remove_with_children(pugi::xml_node node) {
  const pugi::xml_node end = node.parent();
  while (node != end) {
    if (const pugi::xml_node child = node.first_child()) {
      node = child;
      continue;
    }
    pugi::xml_node parent = node.parent();
    parent.remove_child(node);
    node = parent;
  }
}

}  // namespace

std::string write_anchor(const Profile& profile, const std::vector<Metric>& metrics) {
  AnchorText anchor(profile.anchor.empty() ? "<none/>" : profile.anchor, "anchor.xml");
  if (profile.anchor.empty()) {
    anchor.document.reset();
    make_document(anchor.document, profile);
  }
  // Whatever the text was, pugixml writes UTF-8.
  pugi::xml_attribute encoding = anchor.document.first_child().attribute("encoding");
  if (anchor.document.first_child().type() == pugi::node_declaration && encoding) encoding = "UTF-8";
  pugi::xml_node root = anchor.document.child("cube");
  const pugi::xml_node old = root.child("metrics");
  pugi::xml_node list = old ? root.insert_child_after("metrics", old) : root.prepend_child("metrics");
  if (old) remove_with_children(old);
  std::vector<pugi::xml_node> nodes;
  for (const Metric& metric : metrics) {
    pugi::xml_node parent = metric.parent < 0 ? list : nodes[static_cast<size_t>(metric.parent)];
    nodes.push_back(parent.append_child("metric"));
    fill(nodes.back(), metric);
  }
  std::ostringstream text;
  anchor.document.save(text, "");  // indentation would grow with the square of the depth of call trees
  return text.str();
}

}  // namespace tailrace::cube
