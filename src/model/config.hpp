// Config: everything that a configuration file says, checked, with its parameters put in.
//
// Plain data, made by config/config_yaml and read by everyone else. Constant after it is made.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/action.hpp"

namespace tailrace::impl {

enum class PlaceKind { thread, core };
enum class OnServerLoss { restart, sync, fail };
enum class CpuChoice { automatic, none, list };
enum class WhenFull { block, sync, drop };
enum class Backend { automatic, uring, posix, memory };
enum class Durability { accepted, written, durable };
enum class FilePer { process, node, job };
enum class FormatKind { hdf5 };
enum class ScheduleKind { fifo };
enum class ReadAfter { submitted, written };
enum class Existing { refuse, replace, resume };
enum class OnMissing { publish, keep };
enum class Visibility { written, pending };
enum class Compressor { none, deflate, zstd };
enum class Precision { full, float16 };

enum class ElementType { int8, int16, int32, int64, uint8, uint16, uint32, uint64, float32, float64, long_double };

// How fast writes may go while the program computes.
struct Throttle {
  enum class Kind { none, rate, automatic };
  Kind kind = Kind::none;
  uint64_t rate = 0;  // bytes a second, for Kind::rate

  bool on() const { return kind != Kind::none; }
};

// A unit as openPMD wants it: value_in_SI = factor · value, and the powers of the seven base quantities in openPMD's
// order: length, mass, time, electric current, temperature, amount of substance, luminous intensity.
struct Unit {
  std::string symbol = "1";
  double factor = 1.0;
  std::array<double, 7> dimension{};
};

// An integer that shapes may name: of the file, of the program, or `client`.
struct Parameter {
  std::string name;
  int64_t value = 0;  // at open; Shapes has the present one
};

inline constexpr const char* kClientParameter = "client";  // the client's id, which nobody sets
inline constexpr int32_t kNoParameter = -1;

struct Layout {
  // From which parameter each number came: index into Config::parameters, or kNoParameter. Empty: none from any.
  struct Sources {
    std::vector<int32_t> shape;
    std::vector<int32_t> global_shape;
    std::vector<int32_t> offset;
  };

  std::string name;
  ElementType type = ElementType::float64;
  // Shape of one block, slowest dimension first; 1 to TAILRACE_MAX_RANK entries; 0 only where a parameter says so.
  std::vector<uint64_t> shape;
  std::vector<uint64_t> global_shape;  // of the whole array; same rank; equals shape unless given
  std::vector<uint64_t> offset;        // of the block in the whole array; same rank; zeros unless given
  std::vector<std::string> axes;       // one label a dimension
  std::vector<double> spacing;         // of the grid, per axis, in grid_unit
  std::vector<double> origin;          // of the whole array's first element, per axis, in grid_unit
  Unit grid_unit;                      // factor to metres; dimension of length, or radians for angles
  Sources sources;

  uint64_t elements() const;
  uint64_t bytes() const;
  bool empty() const { return elements() == 0; }
};

// How a variable's bytes are made smaller on their way into files.
struct Compression {
  Compressor filter = Compressor::none;
  int level = 0;                       // of the compressor; 0 for none
  bool shuffle = true;                 // bytes of equal significance are put together before
  uint64_t chunk = uint64_t{1} << 20;  // bytes of the block that are filtered as one, about
  bool adaptive = true;                // less of it when clients would wait otherwise
};

struct Variable {
  std::string name;
  uint32_t layout = 0;  // index into Config::layouts
  Unit unit;
  std::string description;
  uint32_t keep = 0;  // iterations before the present one whose blocks stay in memory for actions
  Compression compress = {};
  Precision precision = Precision::full;
  bool enabled = true;  // at open: whether its blocks are written

  // Returns true if blocks of the variable are filtered, and so stored in chunks (filter/pipeline.hpp).
  bool filtered() const { return compress.filter != Compressor::none || precision != Precision::full; }
};

struct Config {
  std::string source;  // file name, for messages
  std::string name;    // files are named after it
  struct {
    PlaceKind kind = PlaceKind::thread;
    CpuChoice choice = CpuChoice::automatic;
    std::vector<int> cpus;  // for CpuChoice::list
    int filter_threads = 1;
    // Place `core`:
    int cores = 1;       // servers of a node
    int clients = 0;     // of a node; 0: not said
    int node = 0;        // the node's number, for the names of its files
    int nodes = 1;       // of the job
    std::string server;  // the program; empty: where it usually is
    OnServerLoss on_server_loss = OnServerLoss::restart;
    OnMissing on_missing = OnMissing::publish;  // what becomes of files that a client which never came shares
    double patience = 600.0;                    // seconds
  } place;
  struct {
    uint64_t budget = uint64_t{256} << 20;  // bytes
    WhenFull when_full = WhenFull::block;
    uint32_t iterations = 256;  // unfinished at once, at most
    bool prefault = true;       // taken from the system at the start; else page by page, when it is first used
  } memory;
  struct {
    std::vector<std::string> paths;  // one directory a device; files go to them in turn
    std::vector<std::string> files;  // below which raw files lie; empty: the first of `paths`
    Backend backend = Backend::automatic;
    Durability durability = Durability::written;
    FilePer file_per = FilePer::process;
    Existing existing = Existing::refuse;  // what becomes of the files of an earlier run of this series
    bool slots = false;                    // place `core`: servers write one after the other
    bool direct = true;                    // bypass the page cache where it can be done
    uint32_t queue_depth = 8;              // transfers under way at once
    Throttle throttle;                     // of writes, while nobody waits for them
  } storage;
  struct {
    bool enabled = true;                   // what lies side by side is joined; small writes gather for it
    bool overwrite = true;                 // bytes that are overwritten before they leave are not written
    uint64_t largest = uint64_t{8} << 20;  // bytes of what is joined
    uint64_t alignment = 0;                // where it is cut; 0: at blocks of the storage
    uint32_t count = 32768;                // writes that gather at most …
    uint64_t bytes = uint64_t{64} << 20;   // … bytes …
    double delay = 0.1;                    // … seconds, on idle storage; see holds_writes()
    uint64_t sieve = uint64_t{8} << 10;    // bytes of a hole that a read goes over
    double waste = 0.5;                    // share of what it reads that holes may be
    bool by_count = false;                 // so many gather always, however busy the storage is
    ReadAfter read_after = ReadAfter::submitted;
    Visibility visibility = Visibility::written;  // of one client's writes to reads of others
  } merge;
  struct {
    FormatKind kind = FormatKind::hdf5;  // of the files of iterations
  } format;
  struct {
    ScheduleKind kind = ScheduleKind::fifo;  // in which order requests begin that wait for nothing
  } schedule;
  struct {
    double dt = 1.0;  // time between iterations k and k+1, in `unit`
    Unit unit;        // dimension of time
  } time;
  struct {
    bool report = false;              // write what was counted and timed, at close
    bool trace = false;               // write what happened when, at close
    uint64_t trace_events = 100'000;  // kept of each side at most
  } measurements;
  struct {
    std::string level = "warning";  // info, warning, error, off
    std::string file;               // empty: stderr
  } log;
  std::vector<Parameter> parameters;  // sorted by name
  std::vector<Layout> layouts;        // as the parameters are at open
  std::vector<Variable> variables;
  std::vector<Action> actions;  // in the order of the file; {end_iteration, store} unless given
  // Folders of environments for Python actions. The first must fit; empty: the second if it does, or VIRTUAL_ENV.
  std::string python_environment;  // as the configuration says
  std::string program_python;      // of the program, if that is in Python

  const Layout& layout_of(const Variable& variable) const { return layouts[variable.layout]; }
  // The directories that raw files lie below; relative paths below the first.
  std::span<const std::string> file_roots() const {
    return storage.files.empty() ? std::span(storage.paths).first(1) : std::span(storage.files);
  }
  // Where the raw file `path` lies, which plain_file_path() has made.
  std::string file_path(const std::string& path) const {
    const std::string& root = file_roots().front();
    if (path.starts_with('/')) return path;
    return root.ends_with('/') ? root + path : root + "/" + path;
  }
  // Returns true if the blocks of several clients share files.
  bool shares_files() const { return storage.file_per != FilePer::process; }
  // Returns true if small writes may gather although the storage is idle, so that a caller that waits for them must
  // say so. They do not gather for `delay` if a program that finds no memory does not wait: it would find less.
  bool holds_writes() const {
    const bool delayed = place.kind == PlaceKind::core && memory.when_full == WhenFull::block && merge.delay > 0;
    return merge.enabled && (merge.by_count || delayed);
  }
  // Index of the variable, or -1.
  int find_variable(std::string_view variable) const;
  // Index of the parameter, or -1.
  int find_parameter(std::string_view parameter) const;
};

// Size of one element, in bytes.
uint64_t size_of(ElementType type);
bool is_floating(ElementType type);
// "float32", "written", as the configuration spells them.
const char* name_of(ElementType type);
const char* name_of(Durability durability);
const char* name_of(FilePer file_per);
const char* name_of(Compressor compressor);
// Returns the beginning of the names of a client's files: "cm1_c3" for its own, "cm1_n0" for a node's, "cm1" for a
// job's.
std::string series_of(const Config& config, int client);

}  // namespace tailrace::impl
