// The order of a run: memory and data, a memcpy of as many bytes, the computing alone, then the file. See the header.
#include "lab/mpiio/run.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "lab/mpiio/computing.hpp"
#include "lab/mpiio/data.hpp"
#include "lab/mpiio/patterns.hpp"
#include "lab/mpiio/reader.hpp"
#include "lab/mpiio/writer.hpp"
#include "lab/pattern/clock.hpp"
#include "lab/pattern/json.hpp"

namespace bench::mpiio {
namespace {

constexpr int kCopies = 5;

// Seconds of one rank. `total` has all others but opening and reading.
struct Times {
  double opening = 0;
  double view = 0;
  std::vector<double> writing;  // of each iteration, in calls that write, and in waiting for them
  double computing = 0;
  double finishing = 0;  // sync and close
  double total = 0;
  double reading = 0;            // afterwards, in all
  double computing_reading = 0;  // that computing alone, as all of it takes
};

// Returns the median time of a memcpy of this rank's bytes of an iteration, while all ranks copy.
double time_copy(uint64_t bytes) {
  const std::vector<char> from(bytes, 1);
  std::vector<char> to(bytes, 2);
  std::vector<double> times;
  for (int i = 0; i <= kCopies; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = now();
    std::memcpy(to.data(), from.data(), bytes);
    asm volatile("" : : "r"(to.data()) : "memory");  // keeps the copy
    if (i > 0) times.push_back(now() - begin);       // the first one warms up
  }
  std::sort(times.begin(), times.end());
  return times[kCopies / 2];
}

// An open file, which it closes.
class File {
 public:
  File(const Options& options, const std::string& path, bool sync) : path_(path), sync_(sync) {
    MPI_Info hints = MPI_INFO_NULL;
    MPI_Info_create(&hints);
    for (const auto& [key, value] : options.hints) MPI_Info_set(hints, key.c_str(), value.c_str());
    check(MPI_File_open(MPI_COMM_WORLD, path.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR, hints, &file_),
          "MPI_File_open");
    MPI_Info_free(&hints);
  }
  MPI_File get() const { return file_; }

  // Makes the file as large as it will be. In a new file, ROMIO writes what it finds in its buffer into the holes
  // between small pieces.
  void reserve(uint64_t bytes) {
    check(MPI_File_set_size(file_, static_cast<MPI_Offset>(bytes)), "MPI_File_set_size");
  }

  // Closes it. With `sync`, everything is on the device then: the first rank looks after that in any case, as an MPI
  // may sync only what the calling process has written.
  void finish(int rank) {
    if (sync_) check(MPI_File_sync(file_), "MPI_File_sync");
    check(MPI_File_close(&file_), "MPI_File_close");
    if (!sync_ || rank != 0) return;
    const int descriptor = ::open(path_.c_str(), O_RDWR | O_CLOEXEC);
    require(descriptor >= 0 && fdatasync(descriptor) == 0 && ::close(descriptor) == 0, "sync " + path_);
  }

 private:
  const std::string path_;
  const bool sync_;
  MPI_File file_ = MPI_FILE_NULL;
};

// Drops what the page cache has of a file that is on the device.
void drop_from_cache(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  require(descriptor >= 0 && fdatasync(descriptor) == 0 &&
              posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED) == 0 && ::close(descriptor) == 0,
          "drop " + path + " from the page cache");
}

// Adds the time that `action` takes.
template <class Action>
void timed(double& seconds, Action action) {
  const double begin = now();
  action();
  seconds += now() - begin;
}

uint64_t sum_of(uint64_t value) {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return value;
}

bool has_holes(const Access& access) { return sum_of(access.bytes()) != access.region; }

void set_view(MPI_File file, const Access& access) {
  check(MPI_File_set_view(file, access.displacement, access.etype, access.file.get(), "native", MPI_INFO_NULL),
        "MPI_File_set_view");
}

// Measures how long it takes to read all iterations. Throws if they are not those of `data`.
void read(const Options& options, const Access& access, Data& data, int rank, Times& times) {
  Computing computing(options.kernel);
  computing.calibrate(options.compute_reading);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < options.iterations; ++i) times.computing_reading += computing.once();
  if (rank == 0) drop_from_cache(options.file);
  MPI_Barrier(MPI_COMM_WORLD);
  File file(options, options.file, options.sync);
  set_view(file.get(), access);
  Reader reader(file.get(), access, options.call);
  std::vector<char> memory(access.memory_bytes);
  for (int iteration = 0; iteration < options.iterations; ++iteration) {
    data.stamp(iteration);
    MPI_Barrier(MPI_COMM_WORLD);
    timed(times.reading, [&] {
      if (options.compute_reading < 0) return reader.read(iteration, memory.data());
      reader.begin(iteration, memory.data());
      computing.once(options.tests, [&] { reader.test(); });
      reader.end();
    });
    for (const Piece& piece : access.pieces) {
      require(std::memcmp(memory.data() + piece.memory, data.memory() + piece.memory, piece.bytes) == 0,
              "what was read is not what was written");
    }
  }
  file.finish(rank);
}

// Returns the median time to open and close a small file.
double time_opens(const Options& options, int rank) {
  constexpr int kBytes = 1024;
  const std::vector<char> bytes(kBytes, 'x');
  std::vector<double> times;
  for (int i = 0; i < options.opens; ++i) {
    const std::string path = options.file + "." + std::to_string(i);
    MPI_Barrier(MPI_COMM_WORLD);
    double& seconds = times.emplace_back(0.0);
    std::optional<File> file;
    timed(seconds, [&] { file.emplace(options, path, false); });
    check(MPI_File_write_at_all(file->get(), MPI_Offset{kBytes} * rank, bytes.data(), kBytes, MPI_BYTE,
                                MPI_STATUS_IGNORE),
          "MPI_File_write_at_all");
    timed(seconds, [&] { file->finish(rank); });
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) ::unlink(path.c_str());
  }
  std::sort(times.begin(), times.end());
  return times.empty() ? 0 : times[times.size() / 2];
}

Times write(const Options& options, const std::string& path, const Access& access, Data& data, Computing& computing,
            int rank) {
  Times times;
  MPI_Barrier(MPI_COMM_WORLD);
  const double opening = now();
  File file(options, path, options.sync);
  if (has_holes(access)) file.reserve(access.region * static_cast<uint64_t>(options.iterations));
  times.opening = now() - opening;
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = now();
  timed(times.view, [&] { set_view(file.get(), access); });
  Writer writer(file.get(), access, options.call);
  for (int iteration = 0; iteration < options.iterations; ++iteration) {
    data.stamp(iteration);
    double& writing = times.writing.emplace_back(0.0);
    timed(writing, [&] { writer.begin(iteration, data.memory()); });
    times.computing += computing.once(options.tests, [&] { timed(writing, [&] { writer.test(); }); });
    timed(writing, [&] { writer.end(); });
  }
  timed(times.finishing, [&] { file.finish(rank); });
  times.total = now() - begin;
  return times;
}

// Writes one iteration to a file of its own, synchronously; returns the time of the slowest rank.
double synchronous_write(Options options, const Access& access, Data& data, int rank) {
  const std::string path = options.file + ".auto";
  options.iterations = 1;
  options.sync = true;
  options.call = Call::write_all;
  Computing nothing(options.kernel);
  const Times times = write(options, path, access, data, nothing, rank);
  const double seconds = largest(times.total);
  if (rank == 0) ::unlink(path.c_str());
  MPI_Barrier(MPI_COMM_WORLD);
  return seconds;
}

// Returns the largest of all ranks' values, for each place.
std::vector<double> largest_each(std::vector<double> values) {
  MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return values;
}

std::string library() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(text, &length);
  return std::string(text, strcspn(text, ",\n"));
}

Json hints_of(const Options& options) {
  Json hints = Json::object();
  for (const auto& [key, value] : options.hints) hints[key] = value;
  return hints;
}

}  // namespace

std::string run(const Options& options) {
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const Access access = make_access(options.shape, {static_cast<uint64_t>(rank), static_cast<uint64_t>(ranks)});
  Data data(access);
  const double copy = time_copy(access.bytes());
  const double opens = time_opens(options, rank);
  Computing computing(options.kernel);
  computing.calibrate(options.compute_auto ? synchronous_write(options, access, data, rank) : options.compute);
  double alone = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < options.iterations; ++i) alone += computing.once();
  Times times = write(options, options.file, access, data, computing, rank);
  if (options.read) read(options, access, data, rank, times);
  return text_of({{"mpiio_run", 1},
                  {"pattern", name_of(options.shape.pattern)},
                  {"call", name_of(options.call)},
                  {"hints", hints_of(options)},
                  {"library", library()},
                  {"ranks", ranks},
                  {"iterations", options.iterations},
                  {"bytes", sum_of(access.bytes())},
                  {"region_bytes", access.region},
                  {"calls", access.calls},
                  {"pieces", sum_of(access.pieces.size())},
                  {"seconds_copy", largest(copy)},
                  {"seconds_computing_alone", largest(alone)},
                  {"seconds_open_close", largest(opens)},
                  {"seconds_opening", largest(times.opening)},
                  {"seconds_view", largest(times.view)},
                  {"seconds_writing", largest_each(times.writing)},
                  {"seconds_computing", largest(times.computing)},
                  {"seconds_finishing", largest(times.finishing)},
                  {"seconds_total", largest(times.total)},
                  {"seconds_reading", largest(times.reading)},
                  {"seconds_computing_reading", largest(times.computing_reading)},
                  {"result", computing.result()}});
}

}  // namespace bench::mpiio
