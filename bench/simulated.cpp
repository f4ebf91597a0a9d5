#include "bench/simulated.hpp"

#include <fcntl.h>
#include <hdf5.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <stdexcept>

#include "bench/statistics.hpp"
#include "tailrace/tailrace.hpp"

namespace bench {
namespace {

namespace fs = std::filesystem;

constexpr size_t kGrid = 16384;                 // doubles: 128 KiB, fits the second-level cache
constexpr uint64_t kPiece = uint64_t{8} << 20;  // bytes of one synchronous transfer
constexpr size_t kHuge = size_t{2} << 20;

// A smoothing of a small grid: arithmetic and cache traffic, like a solver's inner loop.
class Computation {
 public:
  Computation() : values_(kGrid, 1.0), next_(kGrid, 1.0) {}
  void compute(uint64_t passes) {
    for (uint64_t pass = 0; pass < passes; ++pass) {
      for (size_t i = 1; i + 1 < kGrid; ++i) next_[i] = 0.5 * values_[i] + 0.25 * (values_[i - 1] + values_[i + 1]);
      next_[1] += 1e-3;
      std::swap(values_, next_);
    }
  }
  double result() const { return values_[kGrid / 2]; }

 private:
  std::vector<double> values_;
  std::vector<double> next_;
};

// Touched, page-aligned memory, in huge pages if possible.
class Buffer {
 public:
  explicit Buffer(size_t size) : size_((size + kHuge - 1) / kHuge * kHuge) {
    data_ = static_cast<char*>(std::aligned_alloc(kHuge, size_));
    madvise(data_, size_, MADV_HUGEPAGE);
    std::memset(data_, 1, size_);
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { std::free(data_); }
  char* data() { return data_; }

 private:
  size_t size_;
  char* data_;
};

// Marks the block as this iteration's, so that no writer could get away with an old one.
void stamp(char* block, uint64_t bytes, int iteration, double result) {
  for (uint64_t at = 0; at + 16 <= bytes; at += bytes / 64) {
    std::memcpy(block + at, &iteration, sizeof iteration);
    std::memcpy(block + at + 8, &result, sizeof result);
  }
}

void require(bool condition, const char* what) {
  if (!condition) throw std::runtime_error(std::string(what) + ": " + std::strerror(errno));
}

void write_direct(const std::string& name, const char* data, uint64_t bytes) {
  const std::string part = name + ".part";
  int fd = ::open(part.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_DIRECT, 0666);
  if (fd < 0) fd = ::open(part.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0666);
  require(fd >= 0, "open");
  if (fallocate(fd, 0, 0, static_cast<off_t>(bytes)) != 0) require(errno == EOPNOTSUPP, "fallocate");
  for (uint64_t at = 0; at < bytes; at += kPiece) {
    const uint64_t size = std::min(kPiece, bytes - at);
    require(pwrite(fd, data + at, size, static_cast<off_t>(at)) == static_cast<ssize_t>(size), "pwrite");
  }
  require(close(fd) == 0, "close");
  require(std::rename(part.c_str(), name.c_str()) == 0, "rename");
}

void write_hdf5(const std::string& name, const char* data, uint64_t bytes) {
  const hid_t file = H5Fcreate(name.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hsize_t size = bytes;
  const hid_t space = H5Screate_simple(1, &size, nullptr);
  const hid_t set = H5Dcreate2(file, "block", H5T_NATIVE_UINT8, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  const bool ok = set >= 0 && H5Dwrite(set, H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0;
  H5Dclose(set);
  H5Sclose(space);
  require(ok && H5Fclose(file) >= 0, "HDF5");
  const int fd = ::open(name.c_str(), O_RDWR);
  require(fd >= 0 && fdatasync(fd) == 0 && close(fd) == 0, "fdatasync");
}

uint64_t budget(const Work& work) { return 3 * work.bytes + (1 << 20); }

// The process's resident memory, in bytes.
int64_t resident() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return 1024 * std::stoll(line.substr(6));
  }
  return 0;
}

std::string config_text(const Work& work) {
  return "tailrace: 1\nname: bench\nmemory: {budget: " + std::to_string(budget(work)) +
         "}\nstorage: {path: " + work.dir + "}\nlayouts:\n  bytes: {type: uint8, shape: [" +
         std::to_string(work.bytes) + "]}\nvariables:\n  block: {layout: bytes}\n";
}

// One way to write, told of each iteration in turn.
class Writer {
 public:
  Writer(const Work& work, Output output) : work_(work), output_(output), resident_before_(resident()) {
    const bool tailrace = output == Output::tailrace_alloc || output == Output::tailrace_write;
    if (tailrace) client_ = tailrace::open("bench", 0, {.text = config_text(work)});
    if (output != Output::tailrace_alloc) buffer_.emplace(work.bytes);
  }
  // The memory to compute the block of `iteration` into.
  char* block(int iteration) {
    if (output_ != Output::tailrace_alloc) return buffer_->data();
    return reinterpret_cast<char*>(client_.alloc<uint8_t>("block", iteration).data());
  }
  void put(int iteration) {
    const std::string name = work_.dir + "/block_" + std::to_string(iteration);
    switch (output_) {
      case Output::none: return;
      case Output::sync_direct: return write_direct(name, buffer_->data(), work_.bytes);
      case Output::sync_hdf5: return write_hdf5(name, buffer_->data(), work_.bytes);
      case Output::tailrace_alloc: client_.commit("block", iteration); break;
      case Output::tailrace_write:
        client_.write("block", iteration, std::span(reinterpret_cast<const uint8_t*>(buffer_->data()), work_.bytes));
        break;
    }
    client_.end_iteration(iteration);
  }
  // Returns when everything is written.
  void finish(Run& run) {
    if (output_ != Output::tailrace_alloc && output_ != Output::tailrace_write) return;
    client_.flush();
    run.memory_peak = client_.stats().memory_peak;
    run.resident_beside = resident() - resident_before_ - static_cast<int64_t>(budget(work_));
    if (buffer_) run.resident_beside -= static_cast<int64_t>(work_.bytes);
  }
  void close() {
    if (output_ == Output::tailrace_alloc || output_ == Output::tailrace_write) client_.close();
  }

 private:
  const Work& work_;
  const Output output_;
  const int64_t resident_before_;
  tailrace::Client client_;
  std::optional<Buffer> buffer_;
};

}  // namespace

const char* name_of(Output output) {
  switch (output) {
    case Output::none: return "none";
    case Output::sync_direct: return "sync (O_DIRECT)";
    case Output::sync_hdf5: return "sync (HDF5 + fdatasync)";
    case Output::tailrace_alloc: return "tailrace alloc/commit";
    case Output::tailrace_write: return "tailrace write";
  }
  return "?";
}

Run run(const Work& work, Output output) {
  fs::remove_all(work.dir);
  fs::create_directories(work.dir);
  ::sync();
  Computation computation;
  computation.compute(std::min<uint64_t>(work.passes, 1000));
  Writer writer(work, output);
  Run result;
  const double start = now();
  for (int iteration = 0; iteration < work.iterations; ++iteration) {
    const double before = now();
    computation.compute(work.passes);
    const double computed = now();
    char* const block = writer.block(iteration);
    stamp(block, work.bytes, iteration, computation.result());
    writer.put(iteration);
    result.computing += computed - before;
    result.waiting += now() - computed;
  }
  const double before = now();
  writer.finish(result);
  result.waiting += now() - before;
  result.total = now() - start;
  writer.close();
  fs::remove_all(work.dir);
  return result;
}

uint64_t calibrate(double seconds) {
  Computation computation;
  computation.compute(2000);
  const uint64_t passes = 2000;
  const double start = now();
  computation.compute(passes);
  return std::max<uint64_t>(1, static_cast<uint64_t>(seconds / (now() - start) * static_cast<double>(passes)));
}

double warm_memcpy(uint64_t bytes) {
  Buffer from(bytes);
  Buffer to(bytes);
  std::vector<double> times;
  for (int i = 0; i < 9; ++i) {
    const double start = now();
    std::memcpy(to.data(), from.data(), bytes);
    times.push_back(now() - start);
    from.data()[i] = to.data()[bytes - 1];
  }
  return summarise(times).median;
}

}  // namespace bench
