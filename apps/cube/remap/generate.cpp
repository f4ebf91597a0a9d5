#include "cube/remap/generate.hpp"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <random>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "cube/archive/data_type.hpp"
#include "cube/archive/error.hpp"
#include "cube/archive/index.hpp"
#include "cube/archive/tar_layout.hpp"
#include "cube/profile/profile.hpp"
#include "cube/remap/metric_set.hpp"
#include "cube/remap/partial_file.hpp"

namespace tailrace::cube {
namespace {

using Report = std::function<void(uint64_t done, uint64_t all)>;

// Writes an archive from its begin to its end. Without finish(), nothing is left of it.
class ArchiveFile {
 public:
  explicit ArchiveFile(const std::string& path)
      : path_(path), partial_(partial_name(path)), file_(fdopen(create_partial(path), "wb"), &std::fclose) {
    if (!file_) throw Error(partial_ + ": open: " + std::strerror(errno));
  }
  ~ArchiveFile() {
    if (!finished_) std::remove(partial_.c_str());
  }
  ArchiveFile(const ArchiveFile&) = delete;
  ArchiveFile& operator=(const ArchiveFile&) = delete;

  void add(const std::string& name, std::string_view bytes) {
    begin();
    put(bytes);
    end(name);
  }
  // A member that comes in parts, and whose size is known at its end. `head` then replaces its first bytes.
  void begin() {
    put(std::string(TarLayout::kHeaderBytes, '\0'));
    bytes_ = 0;
  }
  void put(std::string_view bytes) {
    if (std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size()) fail();
    bytes_ += bytes.size();
  }
  void end(const std::string& name, std::string_view head = "") {
    const TarLayout::Place place = layout_.add(name, bytes_);
    const uint64_t end = place.offset + bytes_;
    seek(place.header);
    put(place.header_bytes);
    put(head);
    seek(end);
    put(std::string(place.padding, '\0'));
  }
  void finish() {
    put(std::string(TarLayout::kEndBytes, '\0'));
    if (std::fclose(file_.release()) != 0) fail();
    if (std::rename(partial_.c_str(), path_.c_str()) != 0) throw Error(path_ + ": cannot be renamed");
    finished_ = true;
  }

 private:
  void seek(uint64_t offset) {
    if (fseeko(file_.get(), static_cast<off_t>(offset), SEEK_SET) != 0) fail();
  }
  [[noreturn]] void fail() const { throw Error(partial_ + ": write failed: " + std::strerror(errno)); }

  const std::string path_;
  const std::string partial_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  TarLayout layout_;
  uint64_t bytes_ = 0;  // of the member that is being written
  bool finished_ = false;
};

std::string_view view(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Compresses rows one by one.
class RowPacker {
 public:
  explicit RowPacker(ByteOrder order) : order_(order) {}

  // Returns the compressed row, until the next call.
  std::string_view pack(std::span<const std::byte> row) {
    packed_.resize(compressBound(row.size()));
    uLongf bytes = packed_.size();
    compress2(reinterpret_cast<Bytef*>(packed_.data()), &bytes, reinterpret_cast<const Bytef*>(row.data()),
              row.size(), 1);
    for (const uint64_t number : {plain_, compressed_, uint64_t{bytes}}) append(places_, number);
    plain_ += row.size();
    compressed_ += bytes;
    ++rows_;
    return std::string_view(packed_).substr(0, bytes);
  }
  // Returns what precedes the rows; of as many bytes whatever they were.
  std::string head(uint64_t rows) const {
    std::string head = "ZCUBEX.DATA";
    append(head, rows);
    head += places_;
    head.resize(head.size() + (rows - rows_) * 3 * sizeof(uint64_t));
    return head;
  }

 private:
  void append(std::string& text, uint64_t number) const {
    if (order_ != kNativeOrder) number = __builtin_bswap64(number);
    text.append(reinterpret_cast<const char*>(&number), sizeof number);
  }

  const ByteOrder order_;
  std::string packed_;
  std::string places_;
  uint64_t plain_ = 0;
  uint64_t compressed_ = 0;
  uint64_t rows_ = 0;
};

// Writes the rows of one metric. `fill` makes each, in this machine's byte order.
void add_rows(ArchiveFile& file, unsigned metric, const DataType& type, const Index& index, uint64_t locations,
              bool compress, bool dense, const std::function<void(uint32_t id, std::span<std::byte> row)>& fill) {
  std::vector<std::byte> row(locations * type.bytes());
  RowPacker packer(index.order);
  const auto head = [&] { return compress ? packer.head(index.ids.size()) : "CUBEX.DATA"; };
  file.begin();
  file.put(head());
  for (const uint32_t id : index.ids) {
    fill(id, row);
    if (index.order != kNativeOrder) swap_bytes(type, row.data(), locations, row.data());
    file.put(compress ? packer.pack(row) : view(row));
  }
  const std::string name = std::to_string(metric);
  file.end(name + ".data", head());
  file.add(name + ".index", encode_index(index, dense));
}

struct RegionKind {
  const char* name;
  const char* paradigm;
  const char* role;
};

constexpr RegionKind kRegions[] = {
    {"main", "user", "function"},
    {"MPI_Init", "mpi", "function"},
    {"MPI_Send", "mpi", "point2point"},
    {"MPI_Recv", "mpi", "point2point"},
    {"MPI_Waitall", "mpi", "point2point"},
    {"MPI_Barrier", "mpi", "barrier"},
    {"MPI_Allreduce", "mpi", "all2all"},
    {"MPI_Bcast", "mpi", "one2all"},
    {"MPI_Reduce", "mpi", "all2one"},
    {"MPI_Put", "mpi", "rma"},
    {"MPI_Win_fence", "mpi", "rma"},
    {"MPI_File_open", "mpi", "file io"},
    {"MPI_File_write_all", "mpi", "file io"},
    {"MPI_File_read", "mpi", "file io"},
    {"MPI_Finalize", "mpi", "function"},
    {"!$omp parallel @solve.c:10", "openmp", "parallel"},
    {"!$omp for @solve.c:20", "openmp", "loop"},
    {"!$omp implicit barrier @solve.c:30", "openmp", "implicit barrier"},
    {"!$omp critical @solve.c:40", "openmp", "critical"},
    {"pthread_mutex_lock", "pthread", "mutex"},
    {"TRACE BUFFER FLUSH", "measurement", "artificial"},
    {"initialise", "user", "function"},
    {"solve", "user", "function"},
    {"smooth", "user", "function"},
    {"residual", "user", "function"},
    {"write_output", "user", "function"},
};
constexpr size_t kUserRegions = 5;  // the last ones: they call others

bool is_user(size_t region) { return region == 0 || region >= std::size(kRegions) - kUserRegions; }

Profile make_profile(const GeneratorOptions& options) {
  Profile profile;
  profile.attributes = {{"Creator", "tailrace cube generate"}, {"CUBE_CT_AGGR", "SUM"}};
  profile.mirrors = {"https://perftools.pages.jsc.fz-juelich.de/"};
  for (size_t at = 0; at < std::size(kRegions); ++at) {
    const RegionKind& kind = kRegions[at];
    profile.regions.push_back({static_cast<uint32_t>(at), kind.name, kind.name, is_user(at) ? "solve.c" : "",
                               kind.paradigm, kind.role, "", "", -1, -1});
  }
  std::mt19937_64 random(options.seed);
  std::vector<CallPath> paths;
  std::vector<int32_t> open;  // from the root to the latest call path that may call others
  for (uint32_t at = 0; at < options.call_paths; ++at) {
    CallPath path;
    path.id = at;
    while (open.size() > 1 && (open.size() > 24 || random() % 5 < 2)) open.pop_back();
    path.parent = open.empty() ? -1 : open.back();
    const bool inner = random() % 3 == 0;
    path.region = at == 0 ? 0
                          : static_cast<uint32_t>(inner ? std::size(kRegions) - 1 - random() % kUserRegions
                                                        : 1 + random() % (std::size(kRegions) - 1));
    paths.push_back(path);
    if (is_user(path.region)) open.push_back(static_cast<int32_t>(at));
  }
  profile.tree = CallTree(std::move(paths));
  profile.nodes = {{0, -1, "machine", "machine"}, {1, 0, "node 0", "node"}};
  const uint32_t processes = std::clamp<uint32_t>(options.processes, 1, std::max(1u, options.threads));
  for (uint32_t process = 0; process < processes; ++process) {
    profile.groups.push_back({process, process, "MPI Rank " + std::to_string(process), "process", 1});
  }
  for (uint32_t at = 0; at < options.threads; ++at) {
    const auto process = static_cast<uint32_t>(uint64_t{at} * processes / options.threads);
    const auto first = static_cast<uint32_t>((uint64_t{process} * options.threads + processes - 1) / processes);
    const uint32_t rank = at - first;
    profile.locations.push_back(
        {at, rank, rank == 0 ? "Master thread" : "OMP thread " + std::to_string(rank), "thread", process});
  }
  return profile;
}

Metric make_metric(unsigned id) {
  struct Known {
    const char* name;
    const char* type;
    const char* unit;
    Metric::Kind kind;
  };
  constexpr Known kKnown[] = {{"visits", "UINT64", "occ", Metric::Kind::exclusive},
                              {"time", "DOUBLE", "sec", Metric::Kind::inclusive},
                              {"min_time", "MINDOUBLE", "sec", Metric::Kind::exclusive},
                              {"max_time", "MAXDOUBLE", "sec", Metric::Kind::exclusive},
                              {"bytes_sent", "UINT64", "bytes", Metric::Kind::exclusive},
                              {"bytes_received", "UINT64", "bytes", Metric::Kind::exclusive}};
  Metric metric;
  metric.id = id;
  if (id < std::size(kKnown)) {
    metric.unique_name = kKnown[id].name;
    metric.data_type = kKnown[id].type;
    metric.unit = kKnown[id].unit;
    metric.kind = kKnown[id].kind;
  } else {
    metric.unique_name = "PAPI_" + std::to_string(id - std::size(kKnown));
    metric.data_type = "UINT64";
    metric.unit = "#";
    metric.kind = Metric::Kind::inclusive;
  }
  metric.display_name = metric.unique_name;
  return metric;
}

// Values of a metric are products of a weight of the call path and one of the location.
class Values {
 public:
  Values(const Profile& profile, uint64_t seed) {
    std::mt19937_64 random(seed ^ 0x5eed);
    for (const CallPath& path : profile.tree.paths()) {
      own_.push_back(static_cast<double>(1 + random() % 1000));
      sends_.push_back(std::string_view(profile.regions[path.region].name).starts_with("MPI_"));
    }
    all_ = own_;
    for (size_t at = all_.size(); at-- > 1;) {
      const int32_t parent = profile.tree[at].parent;
      if (parent >= 0) all_[static_cast<size_t>(parent)] += all_[at];
    }
    for (size_t at = 0; at < profile.locations.size(); ++at)
      location_.push_back(static_cast<double>(1 + random() % 64));
  }

  bool has(const Metric& metric, uint32_t path) const { return !is_traffic(metric) || sends_[path]; }

  void fill(const Metric& metric, uint32_t path, std::span<std::byte> row) const {
    const bool inclusive = metric.kind == Metric::Kind::inclusive;
    double weight = inclusive ? all_[path] : own_[path];
    if (metric.unit == "sec") weight *= 1e-6;
    if (metric.unique_name.starts_with("PAPI_")) weight *= static_cast<double>(metric.id);
    if (metric.data_type != "UINT64") {
      auto* const to = reinterpret_cast<double*>(row.data());
      for (size_t at = 0; at < location_.size(); ++at) to[at] = weight * location_[at];
    } else {
      auto* const to = reinterpret_cast<uint64_t*>(row.data());
      for (size_t at = 0; at < location_.size(); ++at) to[at] = static_cast<uint64_t>(weight * location_[at]);
    }
  }

 private:
  static bool is_traffic(const Metric& metric) { return metric.unit == "bytes"; }

  std::vector<double> own_;  // weights of call paths
  std::vector<double> all_;  // with those below them
  std::vector<bool> sends_;  // call paths that have bytes
  std::vector<double> location_;
};

uint32_t path_of(const Profile& profile, const Metric& metric, uint32_t id) {
  return metric.kind == Metric::Kind::inclusive ? profile.tree.by_wide_id(id) : id;
}

}  // namespace

void generate(const GeneratorOptions& options, const std::string& path, const Report& progress) {
  const Profile profile = make_profile(options);
  const Values values(profile, options.seed);
  std::vector<Metric> metrics;
  for (unsigned id = 0; id < options.metrics; ++id) metrics.push_back(make_metric(id));
  const auto index_of = [&](const Metric& metric) {
    Index index;
    index.order = options.big_endian ? ByteOrder::big : ByteOrder::little;
    for (uint32_t id = 0; id < options.call_paths; ++id) {
      if (values.has(metric, path_of(profile, metric, id))) index.ids.push_back(id);
    }
    return index;
  };
  ArchiveFile file(path);
  uint64_t done = 0, all = 0;
  for (const Metric& metric : metrics) all += uint64_t{8} * index_of(metric).ids.size() * options.threads;
  for (const Metric& metric : metrics) {
    const Index index = index_of(metric);
    const bool dense = options.dense && index.ids.size() == options.call_paths;
    add_rows(file, metric.id, data_type(metric.data_type), index, options.threads, options.compress, dense,
             [&](uint32_t id, std::span<std::byte> row) {
               values.fill(metric, path_of(profile, metric, id), row);
               done += row.size();
               if (progress) progress(done, all);
             });
  }
  file.add("anchor.xml", write_anchor(profile, metrics));
  file.finish();
}

void enlarge(const std::string& from, uint32_t copies, const std::string& path, const Report& progress) {
  const Input input(from);
  Profile large;
  large.attributes = input.profile.attributes;
  large.mirrors = input.profile.mirrors;
  large.regions = input.profile.regions;
  large.tree = input.profile.tree;
  const auto add_copy = [](const auto& list, auto& to, uint32_t copy, auto shift) {
    uint32_t ids = 0;  // there may be gaps
    for (const auto& one : list) ids = std::max(ids, one.id + 1);
    for (auto one : list) {
      one.id += copy * ids;
      shift(one);
      to.push_back(std::move(one));
    }
  };
  for (uint32_t copy = 0; copy < copies; ++copy) {
    const auto nodes = static_cast<int32_t>(copy * input.profile.nodes.size());
    const auto groups = static_cast<uint32_t>(copy * input.profile.groups.size());
    add_copy(input.profile.nodes, large.nodes, copy, [&](SystemNode& one) {
      if (one.parent >= 0) one.parent += nodes;
    });
    add_copy(input.profile.groups, large.groups, copy, [&](LocationGroup& one) {
      one.node += static_cast<uint32_t>(nodes);
      one.rank += groups;
    });
    add_copy(input.profile.locations, large.locations, copy, [&](Location& one) { one.group += groups; });
  }
  ArchiveFile file(path);
  uint64_t done = 0, all = 0;
  for (const std::unique_ptr<Rows>& rows : input.rows) {
    if (rows) all += rows->index().ids.size() * rows->row_bytes() * copies;
  }
  for (size_t at = 0; at < input.profile.metrics.size(); ++at) {
    if (!input.rows[at]) continue;
    const Rows& rows = *input.rows[at];
    add_rows(file, input.profile.metrics[at].id, rows.type(), rows.index(), large.locations.size(), false, false,
             [&](uint32_t id, std::span<std::byte> row) {
               rows.read(id, row.first(rows.row_bytes()));
               for (uint32_t copy = 1; copy < copies; ++copy) {
                 std::copy_n(row.begin(), rows.row_bytes(),
                             row.begin() + static_cast<std::ptrdiff_t>(copy * rows.row_bytes()));
               }
               done += row.size();
               if (progress) progress(done, all);
             });
  }
  if (const Member* const specification = input.archive.find("remapping.spec")) {
    file.add("remapping.spec", input.archive.text(*specification));
  }
  file.add("anchor.xml", write_anchor(large, input.profile.metrics));
  file.finish();
}

}  // namespace tailrace::cube
