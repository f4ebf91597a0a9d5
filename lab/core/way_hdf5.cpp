// hdf5: what programs do today. Each process writes a file for each iteration with the plain HDF5 library, and syncs
// it. With compression the program filters while it waits: chunks of 1 MiB, shuffle and zstd at level 3, as in
// tailrace.
#include <hdf5.h>

#include "lab/core/way.hpp"
#include "lab/core/zstd_filter.hpp"
#include "lab/pattern/posix_file.hpp"

namespace bench::core {
namespace {

constexpr hsize_t kChunk = (hsize_t{1} << 20) / sizeof(float);
constexpr unsigned kLevel = 3;

// An identifier of HDF5, closed at its end.
class Id {
 public:
  Id(hid_t id, herr_t (*close)(hid_t), const std::string& what) : id_(id), close_(close) {
    if (id < 0) throw RunError("HDF5 cannot " + what);
  }
  ~Id() {
    if (id_ >= 0) close_(id_);
  }
  Id(const Id&) = delete;
  Id& operator=(const Id&) = delete;
  operator hid_t() const { return id_; }
  // The close may be the first to report failures of earlier writes.
  void end(const std::string& what) {
    const herr_t closed = close_(id_);
    id_ = -1;
    if (closed < 0) throw RunError("HDF5 cannot " + what);
  }

 private:
  hid_t id_;
  herr_t (*const close_)(hid_t);
};

class Hdf5 final : public Way {
 public:
  Hdf5(const RunOptions& options, int process)
      : stem_(options.dir + "/hdf5_c" + std::to_string(process) + "_"),
        compress_(options.compress == Compress::zstd) {
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // only the exception reports failures
    if (compress_) register_zstd_filter();
  }

  void put(int64_t iteration, std::span<const float> block) override {
    const std::string name = stem_ + std::to_string(iteration) + ".h5";
    write(name, block);
    PosixFile file(name, O_RDWR | O_CLOEXEC);
    file.sync();
    file.close();
  }

  std::string description() const override {
    return std::string("HDF5 library, ") + (compress_ ? "chunks of 1 MiB, shuffle, zstd 3" : "contiguous") +
           ", through the page cache, fdatasync of each file";
  }

 private:
  void write(const std::string& name, std::span<const float> block) const {
    Id file(H5Fcreate(name.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose, "create '" + name + "'");
    const hsize_t size = block.size();
    const Id space(H5Screate_simple(1, &size, nullptr), H5Sclose, "make a shape");
    const Id how(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "make a property list");
    if (compress_) {
      const hsize_t chunk = std::min(size, kChunk);
      const bool set = H5Pset_chunk(how, 1, &chunk) >= 0 && H5Pset_shuffle(how) >= 0 &&
                       H5Pset_filter(how, kZstdFilter, H5Z_FLAG_MANDATORY, 1, &kLevel) >= 0;
      if (!set) throw RunError("HDF5 cannot set the filters");
    }
    {
      const Id set(H5Dcreate2(file, "field", H5T_NATIVE_FLOAT, space, H5P_DEFAULT, how, H5P_DEFAULT), H5Dclose,
                   "create a dataset in '" + name + "'");
      const bool good = H5Dwrite(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, block.data()) >= 0;
      if (!good) throw RunError("HDF5 cannot write '" + name + "'");
    }
    file.end("close '" + name + "'");
  }

  const std::string stem_;
  const bool compress_;
};

}  // namespace

std::unique_ptr<Way> make_hdf5(const RunOptions& options, int process) {
  return std::make_unique<Hdf5>(options, process);
}

}  // namespace bench::core
