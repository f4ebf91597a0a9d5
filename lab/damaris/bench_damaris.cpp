// bench_damaris: a client that computes and writes in turn by Damaris' calls. Prints, for each way to hand over, the
// time in calls per iteration beside one memcpy of the same bytes into memory that was touched before, and the total
// time beside that of computing, copying and one last write. The files are removed. The last way only waits: it
// prints the processor time of the other ranks and of processes that they have started, for their start and
// afterwards.
//
//   mpiexec -n 2 bench_damaris_<mpi> [--tiny] [--way 0|1|2] [--buffer ITERATIONS] [DIRECTORY]
//
// It also compiles with Damaris' own header and library, which start once in a process: give it one way at a time.
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <Damaris.h>

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

struct Sizes {
  long elements = 8 << 20;  // doubles: 64 MiB
  int iterations = 16;
  double computing = 0.13;  // seconds an iteration
  long buffer = 6;          // iterations for which it has room
};

// Computes for a while, in the processor's cache.
void compute(double seconds) {
  double value = 1;
  for (const auto start = Clock::now(); seconds_since(start) < seconds;) {
    for (int i = 0; i < 1000; ++i) value = value * 1.0000001 + 1e-9;
  }
  if (value == 0) std::puts("");  // so that it is computed
}

double mean(const std::vector<double>& times) {
  double sum = 0;
  for (const double time : times) sum += time;
  return sum / static_cast<double>(times.size());
}

double median(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

void write_description(const std::string& directory, const Sizes& sizes) {
  std::ofstream(directory + "/bench.xml")
      << "<?xml version=\"1.0\"?>\n<simulation name=\"bench\" language=\"c\" "
      << "xmlns=\"http://damaris.gforge.inria.fr/damaris/model\"><architecture><domains count=\"1\"/>"
      << "<dedicated cores=\"1\" nodes=\"0\"/><placement/><buffer name=\"b\" size=\""
      << sizes.buffer * 8 * sizes.elements << "\"/><queue name=\"q\" size=\"100\"/></architecture><data>"
      << "<layout name=\"l\" type=\"double\" dimensions=\"" << sizes.elements << "\"/>"
      << "<variable name=\"t\" layout=\"l\" store=\"s\"/></data>"
      << "<storage><store name=\"s\" type=\"HDF5\"><option key=\"FileMode\">FilePerCore</option>"
      << "<option key=\"XDMFMode\">NoIteration</option><option key=\"FilesPath\">" << directory
      << "/</option></store></storage><actions/><log FileName=\"" << directory << "/bench\" RotationSize=\"5\" "
      << "LogFormat=\"%Message%\" LogLevel=\"error\"/></simulation>";
}

// Hands one iteration over.
int hand_over(bool by_alloc, const std::vector<double>& data) {
  if (!by_alloc) return damaris_write("t", data.data());
  void* memory = nullptr;
  if (damaris_alloc("t", &memory) != DAMARIS_OK) return DAMARIS_ALLOCATION_ERROR;
  std::memcpy(memory, data.data(), data.size() * sizeof(double));  // the program computes its result there
  return damaris_commit("t") != DAMARIS_OK ? DAMARIS_BLOCK_NOT_FOUND : damaris_clear("t");
}

int measure(bool by_alloc, const Sizes& sizes) {
  std::vector<double> data(static_cast<size_t>(sizes.elements), 1.0);
  std::vector<double> copy(data.size(), 2.0);
  std::vector<double> copies;
  std::vector<double> calls;
  double copying = 0;  // for comparison only: no part of the total
  const auto start = Clock::now();
  for (int i = 0; i < sizes.iterations; ++i) {
    compute(sizes.computing);
    const auto before_copy = Clock::now();
    std::memcpy(copy.data(), data.data(), data.size() * sizeof(double));
    copies.push_back(seconds_since(before_copy));
    copying += copies.back();
    const auto before = Clock::now();
    if (const int code = hand_over(by_alloc, data); code != DAMARIS_OK) return code;
    if (const int code = damaris_end_iteration(); code != DAMARIS_OK) return code;
    calls.push_back(seconds_since(before));
  }
  const auto before_stop = Clock::now();
  if (const int code = damaris_stop(); code != DAMARIS_OK) return code;
  const double last = seconds_since(before_stop);
  const double total = seconds_since(start) - copying;
  const double limit = sizes.iterations * (sizes.computing + mean(copies)) + last;
  std::printf(
      "%-13s calls %.2f ms an iteration (worst %.2f), %.3f x memcpy (%.2f ms; of the medians %.3f x); "
      "total %.3f s, %.3f x limit\n",
      by_alloc ? "alloc, commit" : "write", 1e3 * mean(calls), 1e3 * *std::max_element(calls.begin(), calls.end()),
      mean(calls) / mean(copies), 1e3 * mean(copies), median(calls) / median(copies), total, total / limit);
  return DAMARIS_OK;
}

// Returns the processes that `parent` has started, and that have not ended.
std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (std::isdigit(static_cast<unsigned char>(name[0])) == 0) continue;
    std::ifstream file(entry.path() / "stat");
    std::string text;
    std::getline(file, text);
    const size_t state = text.rfind(") ");  // the name before it may contain anything
    if (state == std::string::npos) continue;
    if (std::atol(text.c_str() + state + 4) == parent) found.push_back(static_cast<pid_t>(std::stol(name)));
  }
  return found;
}

// Returns the processor time that a process has used so far, all its threads together.
double cpu_seconds(pid_t process) {
  clockid_t clock{};
  timespec used{};
  if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &used) != 0) return 0;
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

// The other ranks of this node: the dedicated one, if there are two.
class Others {
 public:
  explicit Others(MPI_Comm all) {
    int size = 0;
    MPI_Comm_size(all, &size);
    const long own = getpid();
    std::vector<long> processes(static_cast<size_t>(size));
    MPI_Allgather(&own, 1, MPI_LONG, processes.data(), 1, MPI_LONG, all);
    for (const long process : processes) {
      if (process != own) ranks_.push_back(static_cast<pid_t>(process));
    }
    before_ = used();
  }
  // Waits, and prints what they have used meanwhile: in the first quarter, with their start, and in the rest.
  void watch(double seconds) const {
    const auto start = Clock::now();
    usleep(static_cast<useconds_t>(0.25e6 * seconds));
    const double after_start = used();
    const double starting = seconds_since(start);
    usleep(static_cast<useconds_t>(0.75e6 * seconds));
    const double idle = 100 * (used() - after_start) / (seconds_since(start) - starting);
    std::printf(
        "%-13s the dedicated rank and its server used %.3f s of a core for their start, in the first %.1f s; "
        "then %.2f %% of a core\n",
        "idle", after_start - before_, starting, idle);
  }

 private:
  double used() const {
    double sum = 0;
    for (const pid_t rank : ranks_) {
      sum += cpu_seconds(rank);
      for (const pid_t child : children_of(rank)) sum += cpu_seconds(child);
    }
    return sum;
  }

  std::vector<pid_t> ranks_;
  double before_ = 0;
};

// Runs one program for each way. A last one only waits: the dedicated rank and its server should do nothing then.
int run(const std::string& directory, const Sizes& sizes, int way) {
  int is_client = 0;
  const std::string file = directory + "/bench.xml";
  if (damaris_initialize(file.c_str(), MPI_COMM_WORLD) != DAMARIS_OK) return 1;
  const Others others(MPI_COMM_WORLD);
  int code = damaris_start(&is_client);
  if (code == DAMARIS_OK && is_client == 1) {
    if (way == 2) others.watch(4 * sizes.computing * sizes.iterations);
    code = way == 2 ? damaris_stop() : measure(way == 1, sizes);
  }
  return code != DAMARIS_OK || damaris_finalize() != DAMARIS_OK;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Sizes sizes;
  std::string directory = ".";
  int first = 0;
  int last = 2;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--tiny") {
      sizes = {1 << 10, 2, 0.01, sizes.buffer};
    } else if (word == "--way" && i + 1 < argc) {
      first = last = std::atoi(argv[++i]);
    } else if (word == "--buffer" && i + 1 < argc) {
      sizes.buffer = std::atol(argv[++i]);
    } else {
      directory = argv[i];
    }
  }
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) write_description(directory, sizes);
  int failures = 0;
  for (int way = first; way <= last; ++way) {
    MPI_Barrier(MPI_COMM_WORLD);
    const auto start = Clock::now();
    failures += run(directory, sizes, way);
    MPI_Barrier(MPI_COMM_WORLD);  // Damaris' damaris_stop does not wait until all is written
    if (rank == 0 && way < 2) std::printf("%-13s until all ranks have finished %.3f s\n", "", seconds_since(start));
    std::fflush(stdout);
    for (int i = 0; rank == 0 && i < sizes.iterations; ++i) {
      std::filesystem::remove(directory + "/bench_It" + std::to_string(i) + "_Pr0.h5");
    }
  }
  if (rank == 0) std::filesystem::remove(directory + "/bench.xml");
  MPI_Finalize();
  return failures == 0 ? 0 : 1;
}
