// bench_damaris: a client that computes and writes in turns by Damaris' calls. Prints, for each way to hand over, the
// time in calls per iteration beside one memcpy of the same bytes into memory that was touched before, and the total
// time beside that of computing, copying and one last write. The files are removed.
//
//   mpiexec -n 2 bench_damaris_<mpi> [--tiny] [--way 0|1|2] [--buffer ITERATIONS] [DIRECTORY]
//
// It also compiles with Damaris' own header and library, which start once in a process: give it one way at a time.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
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
  std::printf("%-13s calls %.2f ms an iteration (worst %.2f), %.3f x memcpy (%.2f ms); total %.3f s, %.3f x limit\n",
              by_alloc ? "alloc, commit" : "write", 1e3 * mean(calls),
              1e3 * *std::max_element(calls.begin(), calls.end()), mean(calls) / mean(copies), 1e3 * mean(copies),
              total, total / limit);
  return DAMARIS_OK;
}

double cpu_seconds(int whom) {
  rusage usage{};
  getrusage(whom, &usage);
  const auto of = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return of(usage.ru_utime) + of(usage.ru_stime);
}

// Runs one program for each way. A last one only waits: the dedicated rank and its server should do nothing then.
int run(const std::string& directory, const Sizes& sizes, int way) {
  int is_client = 0;
  const std::string file = directory + "/bench.xml";
  if (damaris_initialize(file.c_str(), MPI_COMM_WORLD) != DAMARIS_OK) return 1;
  const double before = cpu_seconds(RUSAGE_SELF) + cpu_seconds(RUSAGE_CHILDREN);
  const auto start = Clock::now();
  int code = damaris_start(&is_client);
  if (code == DAMARIS_OK && is_client == 1) {
    if (way == 2) usleep(static_cast<useconds_t>(4e6 * sizes.computing * sizes.iterations));
    code = way == 2 ? damaris_stop() : measure(way == 1, sizes);
  } else if (way == 2) {
    const double used = cpu_seconds(RUSAGE_SELF) + cpu_seconds(RUSAGE_CHILDREN) - before;
    std::printf("idle          the dedicated rank and its server used %.2f %% of a core, with their start\n",
                100 * used / seconds_since(start));
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
