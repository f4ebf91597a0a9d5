// Config: the contents of a configuration file, checked, with its parameters substituted.
//
// Plain data, made by config/config_yaml and read by all others. Constant after it is made.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "model/action.hpp"
#include "model/attribute.hpp"
#include "model/number.hpp"

namespace tailrace::impl {

enum class PlaceKind { thread, core };
enum class OnServerLoss { restart, sync, fail };
enum class CpuChoice { automatic, none, list };
enum class WhenFull { block, sync, drop };
enum class Backend { automatic, uring, posix, memory };
enum class Durability { accepted, written, durable };
enum class FilePer { process, node, job };
enum class FormatKind { hdf5, plain };  // openPMD in HDF5, or HDF5 alone
// Which iterations have an XDMF file beside their file.
enum class XdmfIterations { none, first, every };
// Where in a uniform grid the values of a variable are; off: XDMF files do not show it.
enum class XdmfCenter { node, cell, off };
enum class ScheduleKind { fifo, hbrr, twins, adaptive };
// Names who has the files of a forwarder that is lost: the next forwarder, this node itself, or nobody.
enum class OnForwarderLoss { next, direct, fail };
// When a forwarder confirms a write: when it is written, durable, or in the forwarder's memory.
enum class Confirm { written, durable, received };
enum class ReadAfter { submitted, written };
enum class Existing { refuse, replace, resume };
enum class OnMissing { publish, keep };
enum class Visibility { written, pending };
enum class Compressor { none, deflate, zstd };
enum class Precision { full, float16 };

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

// The rate of writes while the program computes.
struct Throttle {
  enum class Kind { none, rate, automatic };
  Kind kind = Kind::none;
  uint64_t rate = 0;  // bytes a second, for Kind::rate

  bool on() const { return kind != Kind::none; }
};

// The stripes in which a file below the first of several directories lies on all of them.
struct Stripes {
  std::vector<std::string> directories;  // one a device; empty: files are not striped
  uint64_t unit = uint64_t{1} << 20;     // bytes

  bool on() const { return !directories.empty(); }
  bool operator==(const Stripes&) const = default;
};

// A unit in openPMD's form: value_in_SI = factor · value, and the powers of the seven base quantities in openPMD's
// order: length, mass, time, electric current, temperature, amount of substance, luminous intensity.
struct Unit {
  std::string symbol = "1";
  double factor = 1.0;
  std::array<double, 7> dimension{};
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
  std::optional<Number> fill_value = {};  // of elements that nobody writes; fits the layout's type
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

struct Config {
  std::string source;              // file name, for messages
  std::string name;                // file names begin with it
  bool drains_at_signals = false;  // before a signal ends the process
  struct {
    PlaceKind kind = PlaceKind::thread;
    CpuChoice choice = CpuChoice::automatic;
    std::vector<int> cpus;  // for CpuChoice::list
    int filter_threads = 1;
    // Place `core`:
    int cores = 1;       // servers per node
    int clients = 0;     // clients per node; 0: not given
    int node = 0;        // the node's number, for the names of its files
    int nodes = 1;       // nodes of the job
    std::string server;  // path of the server program; empty: its usual place
    OnServerLoss on_server_loss = OnServerLoss::restart;
    OnMissing on_missing = OnMissing::publish;  // what to do with shared files if a client never came
    double patience = 600.0;                    // seconds
  } place;
  struct {
    uint64_t budget = uint64_t{256} << 20;  // bytes
    WhenFull when_full = WhenFull::block;
    uint32_t iterations = 256;  // most iterations unfinished at once
    bool prefault = true;       // taken from the system at the start; else page by page, on first use
  } memory;
  struct {
    std::vector<std::string> paths;  // one directory per device; files are distributed over them in turn
    std::vector<std::string> files;  // directories of raw files; empty: the first of `paths`
    Stripes stripes;                 // over several directories; then `paths` is the first of them
    Backend backend = Backend::automatic;
    Durability durability = Durability::written;
    FilePer file_per = FilePer::process;
    uint64_t iterations_per_file = 1;      // so many numbers of iterations have a file; 0: all
    Existing existing = Existing::refuse;  // what to do with files of an earlier run of this series
    bool slots = false;                    // place `core`: servers write in turn
    bool direct = true;                    // bypass the page cache where possible
    uint32_t queue_depth = 8;              // transfers in progress at once
    Throttle throttle;                     // of writes, while nobody waits for them
  } storage;
  struct {
    bool enabled = true;                   // adjacent accesses are joined; small writes gather for it
    bool overwrite = true;                 // bytes that are overwritten before they are written are skipped
    uint64_t largest = uint64_t{8} << 20;  // most bytes of a joined access
    uint64_t alignment = 0;                // joined accesses are cut at its multiples; 0: at the storage's blocks
    uint32_t count = 32768;                // limits of gathered writes: their number …
    uint64_t bytes = uint64_t{64} << 20;   // … their bytes …
    double delay = 0.1;                    // … and seconds on idle storage; see holds_writes()
    uint64_t sieve = uint64_t{8} << 10;    // most bytes of a hole that a read covers
    double waste = 0.5;                    // most share of a read that may be holes
    bool by_count = false;                 // always gather `count` writes, however busy the storage is
    ReadAfter read_after = ReadAfter::submitted;
    Visibility visibility = Visibility::written;  // of one client's writes to other clients' reads
  } merge;
  struct {
    FormatKind kind = FormatKind::hdf5;  // format of iteration files
    bool dimension_scales = false;       // the axes of meshes have their coordinates in the file
    std::string file = {};               // plain: their names, with the fields of base/names/name_template.hpp
    XdmfIterations xdmf = XdmfIterations::none;
    std::vector<XdmfMesh> meshes = {};
  } format;
  struct Schedule {
    ScheduleKind kind = ScheduleKind::fifo;             // order in which requests that wait for nothing begin
    uint32_t quantum = 8;                               // hbrr: most requests of a file that go in one turn
    uint32_t batch = 16;                                // all but fifo: most requests that are merged together
    Nanoseconds window = std::chrono::milliseconds(8);  // twins: time for one data server

    bool operator==(const Schedule&) const = default;
  } schedule;
  struct Forward {
    std::vector<std::string> servers;  // addresses of the forwarders, HOST:PORT; empty: this node writes itself
    std::vector<std::string> keys;     // key files: of a forwarder all that it takes, of a client one
    OnForwarderLoss on_loss = OnForwarderLoss::next;
    Confirm confirm = Confirm::written;
    bool spread = false;     // each forwarder has its domains of each file, not all of some files
    bool ucx = false;        // the transport is UCX, on a network that is trusted as a whole, and not TCP with TLS
    std::string devices;     // that UCX may use
    std::string transports;  // that UCX may use; empty: it chooses
    // For a forwarder itself:
    std::string listen;              // its address, HOST:PORT
    std::vector<std::string> roots;  // the directories in which clients may write; absolute
    uint32_t number = 0;             // its number among the forwarders, from 0
    // Connections that have not shown yet that they have a key.
    struct Strangers {
      uint32_t most = 256;
      uint32_t of_one_address = 64;
      Nanoseconds time = std::chrono::seconds(5);  // for a handshake
      bool operator==(const Strangers&) const = default;
    } strangers;

    bool on() const { return !servers.empty(); }
    bool operator==(const Forward&) const = default;
  } forward;
  struct {
    double dt = 1.0;  // time between iterations k and k+1, in `unit`
    Unit unit;        // its dimension is time
  } time;
  struct {
    bool report = false;              // write counters and timings at close
    bool trace = false;               // write a trace of events at close
    uint64_t trace_events = 100'000;  // most events kept per side
  } measurements;
  struct {
    std::string level = "warning";  // info, warning, error, off
    std::string file;               // empty: stderr
  } log;
  std::vector<Attribute> attributes;            // of each file
  std::vector<Attribute> iteration_attributes;  // of each iteration
  std::vector<Parameter> parameters;            // sorted by name
  std::vector<Layout> layouts;                  // with the parameters' values at open
  std::vector<Variable> variables;
  std::vector<ConstantRecord> constants;  // of particles
  std::vector<Action> actions;            // in the order of the file; {end_iteration, store} unless given
  // Folders of environments for Python actions. The first must fit. If it is empty, the second is used if it fits,
  // else VIRTUAL_ENV.
  std::string python_environment;  // from the configuration
  std::string program_python;      // the program's own, if it is in Python

  const Layout& layout_of(const Variable& variable) const { return layouts[variable.layout]; }
  bool has_particles() const;
  // Returns the directories that contain raw files. Relative paths start at the first.
  std::span<const std::string> file_roots() const {
    return storage.files.empty() ? std::span(storage.paths).first(1) : std::span(storage.files);
  }
  // Returns where the raw file `path` lies; plain_file_path() has made the path.
  std::string file_path(const std::string& path) const {
    const std::string& root = file_roots().front();
    if (path.starts_with('/')) return path;
    return root.ends_with('/') ? root + path : root + "/" + path;
  }
  // Returns true if the blocks of several clients share files.
  bool shares_files() const { return storage.file_per != FilePer::process; }
  // Returns true if several nodes write each file together.
  bool nodes_share_files() const { return storage.file_per == FilePer::job && place.nodes > 1; }
  // Returns true if each iteration has a file of its own.
  bool has_file_each() const { return storage.iterations_per_file == 1; }
  // Returns true if small writes may gather while the storage is idle: a caller that waits for its writes must then
  // mark them immediate. They do not gather for `delay` if the program does not wait when memory is full: it would
  // find less of it.
  bool holds_writes() const {
    const bool delayed = place.kind == PlaceKind::core && memory.when_full == WhenFull::block && merge.delay > 0;
    return merge.enabled && (merge.by_count || delayed);
  }
  // Returns the index of the variable, or -1.
  int find_variable(std::string_view variable) const;
  // Returns the index of the parameter, or -1.
  int find_parameter(std::string_view parameter) const;
};

// Returns the size of one element in bytes.
uint64_t size_of(ElementType type);
bool is_floating(ElementType type);
// Returns the name in the configuration's spelling: "float32", "written".
const char* name_of(ElementType type);
const char* name_of(Durability durability);
const char* name_of(FilePer file_per);
const char* name_of(Compressor compressor);
const char* name_of(ScheduleKind kind);
// Returns the common beginning of a client's file names: "cm1_c3" for its own files, "cm1_n0" for a node's, "cm1" for
// a job's.
std::string series_of(const Config& config, int client);
// Returns the rest of the name of the lock that belongs to the server of shared files: "n3", or "job".
std::string shared_writer_of(const Config& config);

}  // namespace tailrace::impl
