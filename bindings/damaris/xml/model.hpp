// Model: a simulation as Damaris describes it in XML. Plain data, checked; names of groups are part of the names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "damaris/xml/expression.hpp"

namespace tailrace::damaris {

enum class ElementType { int8, int16, int32, int64, float32, float64, text };
enum class FileMode { file_per_core, collective };
enum class XdmfMode { none, first_iteration, every_iteration };
// Says who must have raised an event before its action runs, and where it runs: on the server of one client, on it
// when all of its clients have raised the event, or on all servers (at once, or when all clients have).
enum class Scope { core, group, broadcast, global };

struct Parameter {
  std::string name;
  ElementType type = ElementType::int32;
  std::variant<int64_t, double, std::string> value;
};

// In C order, the slowest dimension first, also for Fortran.
struct Layout {
  std::string name;
  ElementType type = ElementType::float64;
  std::vector<Expression> dimensions;
  std::vector<Expression> global;
  std::vector<std::pair<Expression, Expression>> ghosts;  // at the lower and the upper end of each dimension
  size_t line = 0;
};

struct Variable {
  std::string name;
  size_t layout = 0;            // index into Model::layouts
  std::optional<size_t> store;  // index into Model::stores; none: it is not stored
  std::string unit;
  std::string mesh;
  std::string type = "scalar";
  std::string centering = "zonal";
  std::string script;
  bool time_varying = true;
  bool visualizable = true;
  bool enabled = true;
  bool refused = false;  // it was to be stored or given to a script, and has texts, for which neither is possible
  size_t line = 0;
};

struct Coordinate {
  std::string variable;
  std::string unit;
  std::string label;
};

struct Mesh {
  std::string name;
  std::string type;
  int64_t topology = 2;
  std::vector<Coordinate> coordinates;
};

struct Store {
  std::string name;
  bool writes = true;  // false for type "null"
  FileMode mode = FileMode::file_per_core;
  XdmfMode xdmf = XdmfMode::none;
  std::string path;       // the beginning of file names: a directory, or more
  int64_t frequency = 1;  // stores each n-th iteration
};

struct Event {
  std::string name;
  std::string action;   // the name of a function
  std::string library;  // empty: of the program
  Scope scope = Scope::core;
  bool local = false;  // runs in the client that raises it
};

struct Script {
  std::string name;
  std::string file;
  int64_t frequency = 1;
};

struct Architecture {
  int64_t domains = 1;          // blocks of a variable for each client
  int64_t dedicated_cores = 0;  // of each node
  int64_t dedicated_nodes = 0;
  uint64_t buffer = uint64_t{64} << 20;  // bytes of a node
};

struct Model {
  std::string name;
  Architecture architecture;
  std::vector<Parameter> parameters;
  std::vector<Layout> layouts;
  std::vector<Variable> variables;
  std::vector<Mesh> meshes;
  std::vector<Store> stores;
  std::vector<Event> events;
  std::vector<Script> scripts;

  // Return the index, or none.
  std::optional<size_t> find_parameter(const std::string& parameter) const;
  std::optional<size_t> find_variable(const std::string& variable) const;
  // Return the index of the mesh that a variable is on, and that of the variable that is a coordinate of a mesh.
  // Names may leave out the groups.
  std::optional<size_t> mesh_of(const Variable& variable) const;
  std::optional<size_t> coordinate_of(const Mesh& mesh, const Coordinate& coordinate) const;
};

// Returns the size of an element in bytes.
size_t size_of(ElementType type);

}  // namespace tailrace::damaris
