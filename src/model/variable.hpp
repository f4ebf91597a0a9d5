// Variable: a named array that programs write, and the Layout of its blocks: type, shape, place in the whole array.
//
// Plain data, made by config/ from the configuration. Constant after it is made.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/attribute.hpp"
#include "model/number.hpp"
#include "model/unit.hpp"

namespace tailrace::impl {

enum class Compressor { none, deflate, zstd };
enum class Precision { full, float16 };
// Where in a uniform grid the values of a variable are; off: XDMF files do not show it.
enum class XdmfCenter { node, cell, off };

// `boolean` is a byte, 0 or 1; complex numbers are a pair of real and imaginary part.
enum class ElementType {
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  float32,
  float64,
  long_double,
  boolean,
  float16,
  complex64,
  complex128
};

// A number that layouts may name: from the file, from the program, or `client`. Shapes and offsets name integers,
// spacings and origins any.
struct Parameter {
  std::string name;
  Number value;  // at open; Shapes has the present value
};

inline constexpr const char* kClientParameter = "client";  // the client's id, which cannot be set
inline constexpr int32_t kNoParameter = -1;

struct Layout {
  // The parameter that each number came from: an index into Config::parameters, or kNoParameter. Empty: none came
  // from one.
  struct Sources {
    std::vector<int32_t> shape;
    std::vector<int32_t> global_shape;
    std::vector<int32_t> offset;
    std::vector<int32_t> spacing = {};
    std::vector<int32_t> origin = {};
    std::vector<int32_t> patch_offset = {};
    std::vector<int32_t> patch_extent = {};
  };

  std::string name;
  ElementType type = ElementType::float64;
  // Shape of one block, slowest dimension first; 1 to TAILRACE_MAX_RANK entries. An entry is 0 only if a parameter
  // sets it. A scalar has the shape [1], as it is stored; programs hand it over with no dimension.
  std::vector<uint64_t> shape;
  bool scalar = false;
  std::vector<uint64_t> global_shape;  // of the whole array; same rank; equals shape unless given
  std::vector<uint64_t> offset;        // of the block in the whole array; same rank; zeros unless given
  std::vector<std::string> axes;       // one label per dimension
  std::vector<double> spacing;         // of the grid, per axis, in grid_unit
  std::vector<double> origin;          // of the whole array's first element, per axis, in grid_unit
  // The box in which the particles of a block are, by the components of their position; empty: not known.
  std::vector<double> patch_offset = {};
  std::vector<double> patch_extent = {};
  Unit grid_unit;  // factor to metres; dimension of length, or radians for angles
  Sources sources;

  uint64_t elements() const;
  uint64_t bytes() const;
  bool empty() const { return elements() == 0; }
};

// How a variable's bytes are compressed on their way into files.
struct Compression {
  Compressor filter = Compressor::none;
  int level = 0;                       // of the compressor; 0 for none
  bool shuffle = true;                 // bytes of equal significance are grouped before compression
  uint64_t chunk = uint64_t{1} << 20;  // approximate size in bytes of the unit that is filtered
  bool adaptive = true;                // compress less when clients would wait otherwise
};

// A record of openPMD, to which a variable belongs: a scalar, or the components of a vector. A record of particles
// has a value for each particle of its species.
struct Record {
  bool of_particles = false;
  bool vector = false;  // the variable is one component
  // For particles: the values stand for macroparticles, and the power of the weighting that makes one particle's of
  // them.
  bool macro_weighted = false;
  double weighting_power = 0;
  std::vector<double> position = {};  // of a mesh: where in a cell its values are, per axis; empty: zeros
};

// A record of particles that has one value for all of them, and no dataset.
struct ConstantRecord {
  struct Component {
    std::string name;  // empty: of a scalar
    double value = 0;
  };
  std::string species;
  std::string name;
  std::vector<Component> components;
  Unit unit;
  bool macro_weighted = false;
  double weighting_power = 0;
};

struct Variable {
  // A component is "<record>/<component>"; with particles, "<species>/" precedes it.
  std::string name;
  uint32_t layout = 0;  // index into Config::layouts
  Unit unit;
  std::string description;
  uint32_t keep = 0;  // number of earlier iterations whose blocks stay in memory for actions
  Compression compress = {};
  Precision precision = Precision::full;
  std::optional<Number> fill_value = {};  // of elements that are not written; fits the layout's type
  bool enabled = true;                    // at open: true if its blocks are written
  std::vector<Attribute> attributes = {};
  Record record = {};
  // Format plain:
  std::string dataset = {};  // its path in the file, which may have {client}
  XdmfCenter xdmf = XdmfCenter::node;

  // Returns true if blocks of the variable are filtered, and so stored in chunks (filter/pipeline.hpp).
  bool filtered() const { return compress.filter != Compressor::none || precision != Precision::full; }
};

// A mesh of XDMF files, whose coordinates are variables, too.
struct XdmfMesh {
  enum class Kind { rectilinear, curvilinear, points };
  std::string name;
  Kind kind = Kind::rectilinear;
  std::vector<uint32_t> coordinates = {};  // x first; indices into Config::variables
  std::vector<uint32_t> variables = {};    // that have values on it

  bool operator==(const XdmfMesh&) const = default;
};

// Returns the size of one element in bytes.
uint64_t size_of(ElementType type);
bool is_floating(ElementType type);
// Returns the name in the configuration's spelling: "float32", "zstd".
const char* name_of(ElementType type);
const char* name_of(Compressor compressor);

}  // namespace tailrace::impl
