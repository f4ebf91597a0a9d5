// Synchronous output by plain HDF5, as in a solver without tailrace. The files have the same openPMD content.
//
// It writes one file per process and iteration, with one contiguous dataset per field, which put() writes completely
// before it returns. An iteration ends with fdatasync (the default), so that storage is measured and not memory. Or
// its fields bypass the page cache (direct): HDF5 lays the file out, and the bytes go with O_DIRECT to the offsets
// that HDF5 assigned. Files get their final name when complete. Only this file of the application uses HDF5.
#include <fcntl.h>
#include <hdf5.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <new>

#include "error.hpp"
#include "metric.hpp"
#include "numbers_list.hpp"
#include "output.hpp"

namespace tsunami {
namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t piece = std::size_t{8} << 20;  // of one direct write

// An HDF5 identifier; the function that belongs to it closes it.
class Id {
 public:
  Id(hid_t id, herr_t (*closing)(hid_t), const std::string& what) : id_(id), close_(closing) {
    if (id_ < 0) throw Error("HDF5 cannot " + what);
  }
  ~Id() {
    if (id_ >= 0) close_(id_);
  }
  Id(Id&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Id& operator=(Id&&) = delete;
  operator hid_t() const { return id_; }  // NOLINT: implicit on purpose

  // Closing may write, so its failure must not be lost.
  void close(const std::string& what) {
    if (close_(std::exchange(id_, -1)) < 0) throw Error("HDF5 cannot " + what);
  }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

void put_attribute(hid_t at, const char* name, hid_t type, const Id& space, const void* value) {
  const Id attribute(H5Acreate2(at, name, type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose,
                     std::string("make the attribute ") + name);
  if (H5Awrite(attribute, type, value) < 0) throw Error(std::string("HDF5 cannot write the attribute ") + name);
}

void put_text(hid_t at, const char* name, const std::string& text) {
  const Id type(H5Tcopy(H5T_C_S1), H5Tclose, "copy a type");
  H5Tset_size(type, text.size() + 1);
  const Id space(H5Screate(H5S_SCALAR), H5Sclose, "make a dataspace");
  put_attribute(at, name, type, space, text.c_str());
}

void put_texts(hid_t at, const char* name, const std::vector<std::string>& texts) {
  std::size_t longest = 0;
  for (const auto& text : texts) longest = std::max(longest, text.size() + 1);
  std::string block(longest * texts.size(), '\0');
  for (std::size_t k = 0; k < texts.size(); ++k) block.replace(k * longest, texts[k].size(), texts[k]);
  const Id type(H5Tcopy(H5T_C_S1), H5Tclose, "copy a type");
  H5Tset_size(type, longest);
  const hsize_t count = texts.size();
  const Id space(H5Screate_simple(1, &count, nullptr), H5Sclose, "make a dataspace");
  put_attribute(at, name, type, space, block.data());
}

void put_number(hid_t at, const char* name, double value) {
  const Id space(H5Screate(H5S_SCALAR), H5Sclose, "make a dataspace");
  put_attribute(at, name, H5T_NATIVE_DOUBLE, space, &value);
}

void put_numbers(hid_t at, const char* name, const std::vector<double>& values) {
  const hsize_t count = values.size();
  const Id space(H5Screate_simple(1, &count, nullptr), H5Sclose, "make a dataspace");
  put_attribute(at, name, H5T_NATIVE_DOUBLE, space, values.data());
}

Id make_group(hid_t at, const std::string& name) {
  return {H5Gcreate2(at, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose, "make the group " + name};
}

class Hdf5Output final : public Output {
 public:
  explicit Hdf5Output(const OutputSpec& spec) : spec_(spec) {
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    const std::size_t bytes = (spec_.bytes_per_field() + page - 1) / page * page;
    field_.reset(static_cast<std::byte*>(std::aligned_alloc(page, bytes)));
    if (!field_) throw std::bad_alloc();
    std::memset(field_.get(), 0, bytes);
  }
  ~Hdf5Output() override { abandon(); }

  void* field(std::size_t, std::int64_t) override { return field_.get(); }

  void put(std::size_t variable, std::int64_t iteration) override {
    if (file_.empty()) begin(iteration);
    const VariableSpec& v = spec_.variables[variable];
    const hsize_t shape[2] = {spec_.ny, spec_.nx};
    const Id space(H5Screate_simple(2, shape, nullptr), H5Sclose, "make a dataspace");
    const Id layout(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "make a property list");
    H5Pset_layout(layout, H5D_CONTIGUOUS);
    H5Pset_alloc_time(layout, H5D_ALLOC_TIME_EARLY);
    H5Pset_fill_time(layout, H5D_FILL_TIME_NEVER);
    const Id data(H5Dcreate2(meshes(), v.name.c_str(), type(), space, H5P_DEFAULT, layout, H5P_DEFAULT), H5Dclose,
                  "make the dataset " + v.name + " in " + file_);
    describe(data, v);
    if (spec_.sync == SyncMode::direct) {
      write_direct(H5Dget_offset(data));
    } else if (H5Dwrite(data, type(), H5S_ALL, H5S_ALL, H5P_DEFAULT, field_.get()) < 0) {
      throw Error("HDF5 cannot write " + v.name + " to '" + file_ + "': " + std::strerror(errno));
    }
  }

  void end_iteration(std::int64_t) override {
    const std::string unfinished = file_ + ".part";
    open_.pop_back();  // meshes
    if (H5Fflush(open_.front(), H5F_SCOPE_LOCAL) < 0) throw Error("HDF5 cannot flush '" + unfinished + "'");
    open_.front().close("close '" + unfinished + "': " + std::strerror(errno));
    open_.clear();
    if (spec_.sync == SyncMode::fdatasync && ::fdatasync(descriptor_) != 0) fail("sync", unfinished);
    close_descriptor();
    if (std::rename(unfinished.c_str(), file_.c_str()) != 0) fail("rename", unfinished);
    file_.clear();
    files_ = begun_;
  }

  void close() override {}

  std::string description() const override {
    switch (spec_.sync) {
      case SyncMode::none: return "plain HDF5, synchronous, into the page cache";
      case SyncMode::fdatasync: return "plain HDF5, synchronous, fdatasync after each iteration";
      case SyncMode::direct: return "HDF5 metadata, synchronous, fields written with O_DIRECT";
    }
    return "";
  }

  std::vector<std::string> files() const override { return files_; }

 private:
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };

  // Returns the beginning of the names of a process's files.
  std::string series_of(int process) const {
    return spec_.processes == 1 ? spec_.name : spec_.name + "_p" + std::to_string(process);
  }
  hid_t type() const { return spec_.precision == Precision::float32 ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE; }
  hid_t meshes() const { return open_.back(); }

  [[noreturn]] void fail(const char* operation, const std::string& file) const {
    throw Error(std::string("cannot ") + operation + " '" + file + "': " + std::strerror(errno));
  }

  void begin(std::int64_t iteration) {
    char number[32];
    std::snprintf(number, sizeof number, "_%06lld.h5", static_cast<long long>(iteration));
    const auto named = [&](int process) {
      return (std::filesystem::path(spec_.directory) / (series_of(process) + number)).string();
    };
    file_ = named(spec_.process);
    for (int process = 0; process < spec_.processes; ++process) begun_.push_back(named(process));
    const std::string unfinished = file_ + ".part";
    const Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "make a property list");
    H5Pset_alignment(access, page, page);
    H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V18);
    open_.emplace_back(H5Fcreate(unfinished.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access), H5Fclose,
                       "make the file '" + unfinished + "': " + std::strerror(errno));
    // Opens a descriptor of its own: HDF5's own one ends with H5Fclose, which also writes the last metadata.
    const int direct = spec_.sync == SyncMode::direct ? O_DIRECT : 0;
    descriptor_ = ::open(unfinished.c_str(), O_RDWR | O_CLOEXEC | direct);
    if (descriptor_ < 0) fail("open", unfinished);
    describe_series(open_.front());
    Id series = make_group(open_.front(), "data");
    Id group = make_group(series, std::to_string(iteration));
    put_number(group, "time", static_cast<double>(iteration) * spec_.interval);
    put_number(group, "dt", spec_.interval);
    put_number(group, "timeUnitSI", 1.0);
    open_.push_back(make_group(group, "meshes"));
  }

  void describe_series(hid_t root) const {
    put_text(root, "openPMD", "1.1.0");
    const Id space(H5Screate(H5S_SCALAR), H5Sclose, "make a dataspace");
    const std::uint32_t no_extension = 0;
    put_attribute(root, "openPMDextension", H5T_NATIVE_UINT32, space, &no_extension);
    put_text(root, "basePath", "/data/%T/");
    put_text(root, "meshesPath", "meshes/");
    put_text(root, "iterationEncoding", "fileBased");
    put_text(root, "iterationFormat", series_of(spec_.process) + "_%06T");
    put_text(root, "software", "tsunami");
  }

  void describe(hid_t data, const VariableSpec& v) const {
    put_text(data, "geometry", "cartesian");
    put_text(data, "dataOrder", "C");
    put_texts(data, "axisLabels",
              spec_.degrees ? std::vector<std::string>{"latitude", "longitude"} : std::vector<std::string>{"y", "x"});
    put_numbers(data, "gridSpacing", {spec_.dy, spec_.dx});
    put_numbers(data, "gridGlobalOffset", {spec_.y0 + static_cast<double>(spec_.first_row) * spec_.dy, spec_.x0});
    put_number(data, "gridUnitSI", spec_.degrees ? degree : 1.0);
    put_numbers(data, "position", {0.0, 0.0});
    put_numbers(data, "unitDimension", v.dimension);
    put_number(data, "unitSI", 1.0);
    put_number(data, "timeOffset", 0.0);
    put_text(data, "unit", v.unit);
    put_text(data, "description", v.description);
  }

  // Writes the body with O_DIRECT, and the ragged end, less than a page, without.
  void write_direct(haddr_t offset) {
    const std::size_t size = spec_.bytes_per_field();
    const std::size_t body = size / page * page;
    if (offset == HADDR_UNDEF || offset % page != 0) throw Error("HDF5 did not align a field of '" + file_ + "'");
    write_all(descriptor_, 0, body, offset);
    if (body == size) return;
    const std::string unfinished = file_ + ".part";
    const int buffered = ::open(unfinished.c_str(), O_WRONLY | O_CLOEXEC);
    if (buffered < 0) fail("open", unfinished);
    write_all(buffered, body, size, offset);
    ::close(buffered);
  }

  void write_all(int descriptor, std::size_t from, std::size_t to, haddr_t offset) const {
    while (from < to) {
      const ssize_t written =
          ::pwrite(descriptor, field_.get() + from, std::min(piece, to - from), static_cast<off_t>(offset + from));
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) fail("write", file_ + ".part");
      from += static_cast<std::size_t>(written);
    }
  }

  void close_descriptor() {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = -1;
  }

  // Ends the files after a failure: a file that was begun stays as .part.
  void abandon() {
    while (!open_.empty()) open_.pop_back();
    close_descriptor();
  }

  const OutputSpec spec_;
  std::unique_ptr<std::byte[], Free> field_;
  std::vector<Id> open_;  // the file of the present iteration, then its group of meshes
  std::string file_;      // its final name; empty between iterations
  int descriptor_ = -1;
  std::vector<std::string> begun_, files_;  // of all processes; the second up to the latest ended one
};

}  // namespace

std::unique_ptr<Output> make_hdf5_output(const OutputSpec& spec) { return std::make_unique<Hdf5Output>(spec); }

}  // namespace tsunami
