#include "damaris/output/configuration.hpp"

#include <algorithm>
#include <set>

#include "damaris/output/identifier.hpp"
#include "damaris/output/script_program.hpp"
#include "damaris/output/stored_mesh.hpp"

namespace tailrace::damaris {
namespace {

// Makes a name that tailrace allows for a series.
std::string series_name(const std::string& name) {
  std::string result;
  for (const char c : name.substr(0, 100)) {
    const bool fits = is_letter(c) || is_digit(c) || c == '-' || (c == '.' && !result.empty());
    result += fits ? c : '_';
  }
  return result;
}

std::string list_of(const std::vector<std::string>& words) {
  std::string result = "[";
  for (const std::string& word : words) result += (result.size() > 1 ? ", " : "") + word;
  return result + "]";
}

const char* type_name(ElementType type) {
  switch (type) {
    case ElementType::int8:
    case ElementType::text: return "int8";
    case ElementType::int16: return "int16";
    case ElementType::int32: return "int32";
    case ElementType::int64: return "int64";
    case ElementType::float32: return "float32";
    case ElementType::float64: return "float64";
  }
  return "";
}

// Returns the variable's key for XDMF files, whose values are those of nodes if it says nothing.
std::string shown_as(const Variable& variable) {
  if (!variable.visualizable) return ", xdmf: off";
  return variable.centering == "zonal" ? ", xdmf: cell" : "";
}

// Writes the text of a configuration, part by part.
class Writer {
 public:
  Writer(const Model& model, const Outlet& outlet)
      : model_(model),
        outlet_(outlet),
        store_(outlet.scripts ? Store{} : model.stores[outlet.store]),
        blocks_(blocks_of(model, outlet)) {}

  std::string write() {
    put_head();
    put_storage();
    put_parameters();
    put_layouts();
    put_variables();
    put_actions();
    return text_;
  }

 private:
  bool per_server() const { return store_.mode == FileMode::file_per_core; }
  // Blocks have positions in whole arrays. Scripts get them.
  bool has_places() const { return !per_server() || outlet_.scripts; }
  bool in_thread() const { return !outlet_.dedicated && per_server(); }

  void put_head() {
    text_ += "tailrace: 1\n";
    std::string name = series_name(model_.name);
    if (outlet_.scripts) name += "_scripts";
    if (!outlet_.scripts && model_.stores.size() > 1) name += "_" + series_name(store_.name);
    const bool numbered = !in_thread() && per_server() && !outlet_.server.empty() && is_digit(outlet_.server[0]);
    if (numbered) name += "_server" + outlet_.server;
    if (outlet_.is_joint()) name += "_node" + std::to_string(outlet_.node);
    text_ += "name: " + yaml_text(name) + "\n";
    if (in_thread()) {
      text_ += "place: {kind: thread}\n";
      return;
    }
    text_ += "place: {kind: core, clients: " + outlet_.clients;
    if (per_server()) text_ += ", node: " + outlet_.server + ", nodes: " + outlet_.servers;
    if (outlet_.is_joint()) {
      text_ += ", node: " + std::to_string(outlet_.node) + ", nodes: " + std::to_string(outlet_.nodes);
    }
    if (!outlet_.cpus.empty()) {
      std::vector<std::string> cpus;
      for (const int cpu : outlet_.cpus) cpus.push_back(std::to_string(cpu));
      text_ += ", cpus: " + list_of(cpus);
    }
    if (outlet_.patience > 0) text_ += ", patience: " + std::to_string(outlet_.patience);
    text_ += "}\n";
  }

  void put_storage() {
    if (outlet_.budget > 0) text_ += "memory: {budget: " + std::to_string(outlet_.budget) + "}\n";
    auto [directory, prefix] = place_of(store_);
    if (outlet_.scripts) directory = outlet_.directory;
    const char* const file_per = in_thread() ? "process" : per_server() ? "node" : "job";
    text_ += "storage: {path: " + yaml_text(directory) + ", file_per: " + file_per +
             ", existing: " + (outlet_.goes_on ? "continue" : "replace") + "}\n";
    const std::string server = in_thread() ? "_Pr{client}" : per_server() ? "_Pr{node}" : "";
    text_ +=
        "format:\n  kind: plain\n  file: " + yaml_text(prefix + model_.name + "_It{iteration}" + server + ".h5") +
        "\n";
    put_meshes();
    if (outlet_.forwarders.empty() || outlet_.scripts) return;
    std::vector<std::string> servers;
    for (const std::string& one : outlet_.forwarders) servers.push_back(yaml_text(one));
    text_ += "forward: {servers: " + list_of(servers) + ", key: " + yaml_text(outlet_.key) +
             ", on_forwarder_loss: direct}\n";
  }

  bool has_xdmf() const { return store_.xdmf != XdmfMode::none; }
  // Without offsets, the origin of a block is its position.
  bool has_origins() const { return has_xdmf() && per_server(); }

  // A mesh has coordinates of its own in each domain.
  void put_meshes() {
    if (!has_xdmf()) return;
    text_ += std::string("  xdmf: ") + (store_.xdmf == XdmfMode::every_iteration ? "every" : "first") + "\n";
    const std::vector<StoredMesh> meshes = meshes_of(model_, blocks_);
    if (!meshes.empty()) text_ += "  meshes:\n";
    for (const StoredMesh& mesh : meshes) {
      text_ += "    " + mesh.name + ": {kind: " + mesh.kind + ", coordinates: " + list_of(mesh.coordinates) +
               ", variables: " + list_of(mesh.variables) + "}\n";
    }
  }

  BlockShape shape(const StoredBlock& block) const {
    const Layout& layout = model_.layouts[model_.variables[block.variable].layout];
    const std::vector<uint64_t> none(layout.dimensions.size(), 0);
    return outlet_.empty_at_first ? BlockShape{none, none, none, none} : shape_of(layout, at_start(model_));
  }

  void put_parameters() {
    if (blocks_.empty()) return;
    text_ += "parameters:\n";
    for (const StoredBlock& block : blocks_) {
      const BlockShape now = shape(block);
      for (size_t axis = 0; axis < block.shape.size(); ++axis) {
        text_ += "  " + block.shape[axis] + ": " + std::to_string(now.inner[axis]) + "\n";
        if (has_places()) text_ += "  " + block.global[axis] + ": " + std::to_string(now.global[axis]) + "\n";
        if (has_places() || has_origins()) text_ += "  " + block.offset[axis] + ": 0\n";
      }
    }
  }

  void put_layouts() {
    if (!blocks_.empty()) text_ += "layouts:\n";
    for (const StoredBlock& block : blocks_) {
      const Layout& layout = model_.layouts[model_.variables[block.variable].layout];
      text_ += "  " + block.name + ": {type: " + type_name(layout.type) + ", shape: " + list_of(block.shape);
      if (has_places()) text_ += ", global: " + list_of(block.global) + ", offset: " + list_of(block.offset);
      if (has_origins()) text_ += ", origin: " + list_of(block.offset);
      text_ += "}\n";
    }
  }

  void put_variables() {
    if (!blocks_.empty()) text_ += "variables:\n";
    for (const StoredBlock& block : blocks_) {
      const Variable& variable = model_.variables[block.variable];
      std::string dataset = variable.name;
      if (per_server()) dataset += "/P{client}";
      if (per_server() && model_.architecture.domains > 1) dataset += "/B" + std::to_string(block.block);
      text_ += "  " + block.name + ": {layout: " + block.name + ", dataset: " + yaml_text(dataset) +
               (variable.enabled ? "" : ", enabled: false") + (has_xdmf() ? shown_as(variable) : "") + "}\n";
    }
  }

  // Scripts see each iteration; it is not stored.
  void put_actions() {
    if (!outlet_.scripts) return;
    text_ += outlet_.logs_output ? "log: {level: info}\nactions:\n" : "actions:\n";
    for (const std::string& program : outlet_.programs) {
      text_ += "  - {on: end_iteration, run: " + yaml_text("python:" + program + ":" + kScriptFunction) +
               ", scope: node, limit: 10 min}\n";
    }
    text_ += "  - {on: end_iteration, run: drop, scope: node}\n";
  }

  const Model& model_;
  const Outlet& outlet_;
  const Store store_;
  const std::vector<StoredBlock> blocks_;
  std::string text_;
};

std::vector<std::string> numbered(const std::string& name, const char* what, size_t count) {
  std::vector<std::string> names;
  for (size_t i = 0; i < count; ++i) names.push_back(name + what + std::to_string(i));
  return names;
}

// Returns the blocks of the variables for which `wanted` returns true.
template <class Wanted>
std::vector<StoredBlock> blocks_if(const Model& model, const Wanted& wanted) {
  std::vector<StoredBlock> blocks;
  std::set<std::string> taken;
  for (size_t index = 0; index < model.variables.size(); ++index) {
    const Variable& variable = model.variables[index];
    if (!wanted(variable)) continue;
    const size_t rank = model.layouts[variable.layout].dimensions.size();
    for (int64_t block = 0; block < model.architecture.domains; ++block) {
      std::string name = identifier(variable.name);
      if (model.architecture.domains > 1) name += "_b" + std::to_string(block);
      while (!taken.insert(name).second) name += "_";
      blocks.push_back({index, block, name, numbered(name, "_n", rank), numbered(name, "_whole", rank),
                        numbered(name, "_at", rank)});
    }
  }
  return blocks;
}

}  // namespace

std::vector<StoredBlock> blocks_of(const Model& model, size_t store) {
  return blocks_if(model, [store](const Variable& variable) { return variable.store == store; });
}

std::vector<StoredBlock> script_blocks_of(const Model& model) {
  return blocks_if(model, [](const Variable& variable) { return !variable.script.empty() && variable.enabled; });
}

std::vector<StoredBlock> blocks_of(const Model& model, const Outlet& outlet) {
  return outlet.scripts ? script_blocks_of(model) : blocks_of(model, outlet.store);
}

std::vector<size_t> stores_in_use(const Model& model) {
  std::set<size_t> used;
  for (const Variable& variable : model.variables) {
    if (variable.store && model.stores[*variable.store].writes) used.insert(*variable.store);
  }
  return {used.begin(), used.end()};
}

std::string configuration_of(const Model& model, const Outlet& outlet) { return Writer(model, outlet).write(); }

std::array<std::string, 2> place_of(const Store& store) {
  const size_t slash = store.path.rfind('/');
  if (slash == std::string::npos) return {".", store.path};
  return {slash == 0 ? "/" : store.path.substr(0, slash), store.path.substr(slash + 1)};
}

std::string yaml_text(const std::string& text) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') result += '\\';
    if (byte < ' ') {
      result += std::string("\\x") + kDigits[byte / 16] + kDigits[byte % 16];
    } else {
      result += c;
    }
  }
  return result + "\"";
}

uint64_t largest_block(const Model& model, size_t store, const Expression::Lookup& lookup) {
  uint64_t largest = 0;
  for (const Variable& variable : model.variables) {
    if (variable.store != store) continue;
    const Layout& layout = model.layouts[variable.layout];
    try {
      const BlockShape shape = shape_of(layout, lookup);
      largest = std::max(largest, shape.elements_inside() * size_of(layout.type));
    } catch (const ExpressionError&) {
      // The program sets its parameters later.
    }
  }
  return largest;
}

Expression::Lookup at_start(const Model& model) {
  return [&model](const std::string& name) -> std::optional<int64_t> {
    const std::optional<size_t> found = model.find_parameter(name);
    if (!found) return std::nullopt;
    const auto* const value = std::get_if<int64_t>(&model.parameters[*found].value);
    return value ? std::optional(*value) : std::nullopt;
  };
}

}  // namespace tailrace::damaris
