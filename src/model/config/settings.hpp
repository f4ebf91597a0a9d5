// The settings of a configuration, part by part. Functions take the parts that they need.
//
// The parts with operator== hold the settings that all clients of a node share; NodeConfig has them (config.hpp).
// Others may differ from client to client. Plain data, made by config/ and constant after that.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "model/variable.hpp"

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
enum class ScheduleKind { fifo, hbrr, twins, adaptive };
// Names who has the files of a forwarder that is lost: the next forwarder, this node itself, or none.
enum class OnForwarderLoss { next, direct, fail };
// When a forwarder confirms a write: when it is written, durable, or in the forwarder's memory.
enum class Confirm { written, durable, received };
enum class ReadAfter { submitted, written };
enum class Existing { refuse, replace, resume };
enum class OnMissing { publish, keep };
enum class Visibility { written, pending };

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

// Where the writer runs: what all clients of a node share.
struct NodePlace {
  int clients = 0;  // clients per node; 0: not given
  int node = 0;     // the node's number, for the names of its files
  int nodes = 1;    // nodes of the job

  bool operator==(const NodePlace&) const = default;
};

struct PlaceSettings : NodePlace {
  PlaceKind kind = PlaceKind::thread;
  CpuChoice choice = CpuChoice::automatic;
  std::vector<int> cpus;  // for CpuChoice::list
  int filter_threads = 1;
  // Place `core`:
  int cores = 1;       // servers per node
  std::string server;  // path of the server program; empty: its usual place
  OnServerLoss on_server_loss = OnServerLoss::restart;
  OnMissing on_missing = OnMissing::publish;  // what to do with shared files if a client never came
  double patience = 600.0;                    // seconds
};

struct MemorySettings {
  uint64_t budget = uint64_t{256} << 20;  // bytes
  WhenFull when_full = WhenFull::block;
  uint32_t iterations = 256;  // most iterations unfinished at once
  bool prefault = true;       // taken from the system at the start; else page by page, on first use
};

// Where the bytes go: what all clients of a node share.
struct NodeStorage {
  std::vector<std::string> paths;  // one directory per device; files are distributed over them in turn
  Stripes stripes;                 // over several directories; then `paths` is the first of them
  Durability durability = Durability::written;
  FilePer file_per = FilePer::process;
  uint64_t iterations_per_file = 1;  // how many iteration numbers share a file; 0: all
  bool slots = false;                // place `core`: servers write in turn

  // Returns true if the blocks of several clients share files.
  bool shares_files() const { return file_per != FilePer::process; }
  // Returns true if each iteration has a file of its own.
  bool has_file_each() const { return iterations_per_file == 1; }
  bool operator==(const NodeStorage&) const = default;
};

struct StorageSettings : NodeStorage {
  std::vector<std::string> files;  // directories of raw files; empty: the first of `paths`
  Backend backend = Backend::automatic;
  Existing existing = Existing::refuse;  // what to do with files of an earlier run of this series
  bool direct = true;                    // bypass the page cache where possible
  uint32_t queue_depth = 8;              // transfers in progress at once
  Throttle throttle;                     // of writes, while nothing waits for them

  // Returns the directories that contain raw files. Relative paths start at the first.
  std::span<const std::string> file_roots() const {
    return files.empty() ? std::span(paths).first(1) : std::span(files);
  }
  // Returns where the raw file `path` lies; plain_file_path() has made the path.
  std::string file_path(const std::string& path) const {
    const std::string& root = file_roots().front();
    if (path.starts_with('/')) return path;
    return root.ends_with('/') ? root + path : root + "/" + path;
  }
};

struct MergeSettings {
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

  bool operator==(const MergeSettings&) const = default;
};

struct FormatSettings {
  FormatKind kind = FormatKind::hdf5;  // format of iteration files
  bool dimension_scales = false;       // the axes of meshes have their coordinates in the file
  std::string file = {};               // plain: their names, with the fields of base/names/name_template.hpp
  XdmfIterations xdmf = XdmfIterations::none;
  std::vector<XdmfMesh> meshes = {};

  bool operator==(const FormatSettings&) const = default;
};

struct ScheduleSettings {
  ScheduleKind kind = ScheduleKind::fifo;             // order in which requests that wait for nothing begin
  uint32_t quantum = 8;                               // hbrr: most requests of a file that go in one turn
  uint32_t batch = 16;                                // all but fifo: most requests that are merged together
  Nanoseconds window = std::chrono::milliseconds(8);  // twins: time for one data server

  bool operator==(const ScheduleSettings&) const = default;
};

struct ForwardSettings {
  std::vector<std::string> servers;  // addresses of the forwarders, HOST:PORT; empty: this node writes itself
  std::vector<std::string> keys;     // key files: of a forwarder all that it takes, of a client one
  OnForwarderLoss on_loss = OnForwarderLoss::next;
  Confirm confirm = Confirm::written;
  bool spread = false;       // each forwarder has its domains of each file, not all of some files
  bool ucx = false;          // the transport is UCX, on a network that is trusted as a whole, and not TCP with TLS
  std::string devices;       // that UCX may use
  std::string transports;    // that UCX may use; empty: it chooses
  uint32_t connections = 0;  // of a client with a forwarder, over TCP; 0: as many as the cpus allow
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
  bool operator==(const ForwardSettings&) const = default;
};

struct MeasurementSettings {
  bool report = false;              // write counters and timings at close
  bool trace = false;               // write a trace of events at close
  uint64_t trace_events = 100'000;  // most events kept per side
};

struct LogSettings {
  std::string level = "warning";  // info, warning, error, off
  std::string file;               // empty: stderr
};

// Returns the name in the configuration's spelling: "written".
inline const char* name_of(Durability one) {
  return std::array{"accepted", "written", "durable"}[static_cast<size_t>(one)];
}
inline const char* name_of(FilePer one) { return std::array{"process", "node", "job"}[static_cast<size_t>(one)]; }
inline const char* name_of(ScheduleKind one) {
  return std::array{"fifo", "hbrr", "twins", "adaptive"}[static_cast<size_t>(one)];
}

}  // namespace tailrace::impl
