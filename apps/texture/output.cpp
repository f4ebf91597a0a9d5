// The three outputs. See the header.
#include "output.hpp"

#include <array>
#include <limits>
#include <vector>

#include "error.hpp"
#include "shared_file.hpp"

namespace texture {
namespace {

class NoOutput : public Output {
 public:
  explicit NoOutput(std::size_t values) : plane_(values) {}
  float* buffer() override { return plane_.data(); }
  void write() override {}
  void finish() override {}

 private:
  std::vector<float> plane_;
};

// The file, of which this rank sees its block of one plane after another.
class PlanesFile : public SharedFile {
 public:
  explicit PlanesFile(const OutputOptions& o) : SharedFile(o.file, MPI_MODE_CREATE | MPI_MODE_WRONLY) {
    view_block(0, {o.shape.channels, o.filters}, o.shape, o.block);
  }

  // Returns when all that was written is on the disk.
  void sync() { check(MPI_File_sync(handle()), "MPI_File_sync"); }
  void finish() {
    sync();
    close();
  }
};

class Blocking : public Output {
 public:
  Blocking(const OutputOptions& options, std::size_t values)
      : file_(options), sync_each_(options.sync_each), plane_(values) {}
  float* buffer() override { return plane_.data(); }
  void write() override {
    const int count = static_cast<int>(plane_.size());
    file_.check(MPI_File_write_all(file_.handle(), plane_.data(), count, MPI_FLOAT, MPI_STATUS_IGNORE),
                "MPI_File_write_all");
    if (sync_each_) file_.sync();
  }
  void finish() override { file_.finish(); }

 private:
  PlanesFile file_;
  const bool sync_each_;
  std::vector<float> plane_;
};

// Gives the place of each plane: MPICH 4.0 moves the file pointer of MPI_File_iwrite_all too late, and two calls
// under way write to one place.
class Nonblocking : public Output {
 public:
  Nonblocking(const OutputOptions& options, std::size_t values) : file_(options) {
    for (std::vector<float>& plane : planes_) plane.resize(values);
  }
  float* buffer() override {
    wait(turn_);
    return planes_[turn_].data();
  }
  void write() override {
    const std::vector<float>& plane = planes_[turn_];
    const int count = static_cast<int>(plane.size());
    const MPI_Offset at = written_++ * count;  // in the view
    file_.check(MPI_File_iwrite_at_all(file_.handle(), at, plane.data(), count, MPI_FLOAT, &requests_[turn_]),
                "MPI_File_iwrite_at_all");
    turn_ = 1 - turn_;
  }
  void test() override {
    int done = 0;
    for (MPI_Request& request : requests_) file_.check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
  }
  void finish() override {
    wait(turn_);
    wait(1 - turn_);
    file_.finish();
  }

 private:
  void wait(std::size_t turn) { file_.check(MPI_Wait(&requests_[turn], MPI_STATUS_IGNORE), "MPI_Wait"); }

  PlanesFile file_;
  std::array<std::vector<float>, 2> planes_;
  std::array<MPI_Request, 2> requests_ = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  std::size_t turn_ = 0;
  MPI_Offset written_ = 0;  // planes
};

}  // namespace

std::unique_ptr<Output> make_output(const OutputOptions& options) {
  const long values = options.block.pixels();
  if (values > std::numeric_limits<int>::max()) throw Error("a rank has over 2^31 pixels: use more ranks");
  const auto size = static_cast<std::size_t>(values);
  switch (options.kind) {
    case OutputKind::blocking: return std::make_unique<Blocking>(options, size);
    case OutputKind::nonblocking: return std::make_unique<Nonblocking>(options, size);
    case OutputKind::none: break;
  }
  return std::make_unique<NoOutput>(size);
}

}  // namespace texture
