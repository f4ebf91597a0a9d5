// sync-hdf5: what a program does today. A file for each iteration with the plain HDF5 library, a contiguous dataset
// for each variable, then fdatasync.
#include <hdf5.h>

#include "lab/pattern/posix_file.hpp"
#include "lab/pattern/write/own_arrays.hpp"
#include "lab/pattern/write/write_worker.hpp"

namespace bench {
namespace {

class SyncHdf5 final : public WriteWorker {
 public:
  explicit SyncHdf5(const WriteContext& context) : context_(context), arrays_(context.options) {
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // only the exception reports failures
  }
  ~SyncHdf5() override {
    if (file_ >= 0) H5Fclose(file_);
  }

  char* block(int variable, int iteration) override { return arrays_.of(variable, iteration); }

  void put(int variable, int iteration) override {
    Span span(context_.trace, EventKind::handover, "sync", variable, iteration, context_.options.block_bytes());
    const std::string name = file_name(iteration);
    if (file_ < 0) file_ = H5Fcreate(name.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    require(file_ >= 0, "create '" + name + "' by HDF5");
    const hsize_t size = context_.options.block_bytes();
    const hid_t space = H5Screate_simple(1, &size, nullptr);
    const hid_t set = H5Dcreate2(file_, ("v" + std::to_string(variable)).c_str(), H5T_NATIVE_UINT8, space,
                                 H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const bool written = set >= 0 && H5Dwrite(set, H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                                              arrays_.of(variable, iteration)) >= 0;
    const int error = errno;
    H5Dclose(set);
    H5Sclose(space);
    require(written, "write '" + name + "' by HDF5", error);
    if (variable + 1 == context_.options.variables) close_file(name);
    context_.times.set(variable, iteration, span.end());
  }

  void end_iteration(int) override {}
  void finish() override {}
  uint64_t buffer_bytes() const override { return arrays_.held(); }
  std::string description() const override {
    return "HDF5 library, contiguous datasets, through the page cache, fdatasync of each file";
  }

 private:
  std::string file_name(int iteration) const { return context_.folders.file(iteration) + ".h5"; }

  void close_file(const std::string& name) {
    const bool closed = H5Fclose(file_) >= 0;
    file_ = -1;
    require(closed, "close '" + name + "' by HDF5");
    PosixFile file(name, O_RDWR | O_CLOEXEC);
    file.sync();
    file.close();
  }

  const WriteContext context_;
  OwnArrays arrays_;
  hid_t file_ = -1;  // of the present iteration
};

}  // namespace

std::unique_ptr<WriteWorker> make_sync_hdf5(const WriteContext& context) {
  return std::make_unique<SyncHdf5>(context);
}

}  // namespace bench
