// hdf5_random [COUNT]: random programs of HDF5 calls, COUNT of them (1), each from a seed. With HDF5_VOL_CONNECTOR
// and HDF5_PLUGIN_PATH the connector carries their data.
//
// Each program runs in a separate process, and compares what it reads with a plain model. When it has ended, another
// process reads its files with plain HDF5. It prints the seeds; TAILRACE_SEED=… repeats one, TAILRACE_TRACE=1 names
// its steps, and TAILRACE_KEEP=1 leaves its files. Exit code 1: something differed, or a process died.
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <cstring>
#include <filesystem>
#include <functional>
#include <string>

#include "program.hpp"

namespace tailrace::test {
namespace {

constexpr int kSteps = 120;

// Executes this program anew: a forked process closes no file without waiting for it.
[[noreturn]] void execute(const char* seed, const char* directory) {
  execl("/proc/self/exe", "hdf5_random", "--run", seed, directory, nullptr);
  CHECK(!"executed");
}

// Returns true if `work` succeeds in a separate process.
bool ends_well(const std::function<void()>& work) {
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    work();
    std::exit(0);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child);
  if (WIFSIGNALED(status)) std::fprintf(stderr, "ended by signal %d\n", WTERMSIG(status));
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// Waits for processes that the program has left: in place core the server, which ends after its clients.
bool orphans_end_well() {
  bool well = true;
  for (int status = 0; waitpid(-1, &status, 0) > 0;) {
    well &= WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (!well) std::fprintf(stderr, "the server ended with status %d\n", status);
  }
  return well;
}

void run(uint64_t seed, const std::string& directory) {
  // Locks and sockets of the connector; the server belongs to this program alone, and ends with it.
  setenv("XDG_RUNTIME_DIR", directory.c_str(), 1);
  setenv("TAILRACE_RUNTIME_DIR", (directory + "/run").c_str(), 1);
  Program program(seed, directory);
  program.run(kSteps);
  save(program.models(), directory + "/models");
}

void look(const std::string& directory) {
  unsetenv("HDF5_VOL_CONNECTOR");
  for (const Model& model : load(directory + "/models")) {
    const Id file{H5Fopen(model.file.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose};
    const Id data{H5Dopen2(file.get(), model.name.c_str(), H5P_DEFAULT), H5Dclose};
    compare_whole(data.get(), model);
    compare_properties(data.get(), model);
  }
}

bool try_seed(uint64_t seed) {
  std::string directory = std::filesystem::temp_directory_path() / "tailrace_XXXXXX";
  CHECK(mkdtemp(directory.data()) != nullptr);
  bool well = ends_well([&] { execute(std::to_string(seed).c_str(), directory.c_str()); });
  well &= orphans_end_well();
  well = well && ends_well([&] { look(directory); });
  if (std::getenv("TAILRACE_KEEP") != nullptr) {
    std::fprintf(stderr, "the files are in %s\n", directory.c_str());
  } else {
    std::filesystem::remove_all(directory);
  }
  if (!well) std::fprintf(stderr, "repeat with TAILRACE_SEED=%llu\n", static_cast<unsigned long long>(seed));
  return well;
}

}  // namespace
}  // namespace tailrace::test

int main(int argc, char** argv) {
  if (argc == 4 && std::strcmp(argv[1], "--run") == 0) {
    tailrace::test::run(std::strtoull(argv[2], nullptr, 10), argv[3]);
    return 0;
  }
  const char* const given = std::getenv("TAILRACE_SEED");
  const uint64_t first = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  const int count = given != nullptr || argc < 2 ? 1 : std::atoi(argv[1]);
  bool well = prctl(PR_SET_CHILD_SUBREAPER, 1) == 0;
  for (int i = 0; i < count && well; ++i) {
    const uint64_t seed = first + static_cast<uint64_t>(i);
    // Each on its own line: if ctest stops a test after its limit, it shows only whole lines.
    std::printf("TAILRACE_SEED=%llu\n", static_cast<unsigned long long>(seed));
    std::fflush(stdout);
    well = tailrace::test::try_seed(seed);
  }
  return well ? 0 : 1;
}
