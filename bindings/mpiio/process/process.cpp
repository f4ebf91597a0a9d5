#include "mpiio/process/process.hpp"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "mpiio/process/collective_counts.hpp"
#include "process_client/client_settings.hpp"

namespace tailrace::mpiio {
namespace {

// Never destroyed: MPI closes files very late.
struct Process {
  Process();
  // Sets what a word says that only this door has. Returns false if it is none of these.
  bool read_own(const std::string& key, const std::string& value);

  process::ProcessClient client;
  Choices choices;
  std::string profile;  // as the settings name it
  bool carries = true;
  bool keeps_order = true;
  bool may_write_here = true;
  bool may_share_buffer = true;
};

Process& instance() {
  static Process* const only = new Process;
  return *only;
}

// Returns true if the processes of the program leave no cpu of this node free, as the launchers of MPI say. While one
// waits for another one it does not sleep: a server that is pinned to its cpu would hardly run.
bool takes_all_cpus() {
  for (const char* name : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"}) {
    const char* const ranks = std::getenv(name);
    if (ranks != nullptr) return std::atol(ranks) >= ::sysconf(_SC_NPROCESSORS_ONLN);
  }
  return false;
}

bool Process::read_own(const std::string& key, const std::string& value) {
  if (key == "relaxed") {
    keeps_order = false;
    return true;
  }
  if (key == "profile=") {
    profile = value;
    return !value.empty();
  }
  if (key == "collective=") return take_algorithm(value, choices);
  uint32_t& aggregators = choices.writes.aggregators;
  const char* const end = value.data() + value.size();
  const auto [last, error] = std::from_chars(value.data(), end, aggregators);
  return key == "aggregators=" && error == std::errc() && last == end && aggregators > 0;
}

// TAILRACE_MPIIO_NODE_SIZE=n, for tests of what happens on several nodes: n processes with neighbouring ranks count
// as a node, with a runtime directory of its own, where its processes meet each other and their server.
void divide_into_nodes() {
  const char* const size = std::getenv("TAILRACE_MPIIO_NODE_SIZE");
  if (size == nullptr || std::atol(size) < 1) return;
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK"}) {
    const char* const rank = std::getenv(name);
    if (rank == nullptr) continue;
    const char* const named = std::getenv("TAILRACE_RUNTIME_DIR");
    const std::string directory =
        named != nullptr && *named != '\0' ? std::string(named) : "/dev/shm/tailrace-" + std::to_string(::getuid());
    if (directory.find(".node-") != std::string::npos) return;  // a parent has done it
    const std::string node = std::to_string(std::atol(rank) / std::atol(size));
    ::setenv("TAILRACE_RUNTIME_DIR", (directory + ".node-" + node).c_str(), 1);
    return;
  }
}

// Release and acquire order what the function uses.
std::atomic<void (*)(bool)> before_end{nullptr};

void end() {
  if (const auto hand_over = before_end.load(std::memory_order_acquire)) hand_over(false);
  instance().client.end();
}

void end_by_signal() {
  if (const auto hand_over = before_end.load(std::memory_order_acquire)) hand_over(true);
  instance().client.end_by_signal();
}

Process::Process()
    : client({"MPI-IO", "mpiio", end, end_by_signal, [] { return CollectiveCounts::instance().text(); }}) {
  divide_into_nodes();
  const char* const text = std::getenv("TAILRACE_MPIIO");
  process::ClientSettings settings;
  settings.direct = true;  // programs write long runs, and sync them
  const std::string wrong = process::read_settings(
      text != nullptr ? text : "", settings,
      "collective=auto, tune, individual, two_phase, dynamic or static, aggregators=NUMBER, "
      "profile=FILE, relaxed",
      [this](const std::string& key, const std::string& value) { return read_own(key, value); });
  choices.reads = choices.writes;
  settings.pinned = settings.place != "core" || !takes_all_cpus();
  const bool has_merger = settings.place == "core" || !settings.forward.empty();
  if (has_merger) choices.writes.large_piece = 4096;
  may_share_buffer = !has_merger && settings.config.empty() && keeps_order;
  may_write_here = settings.forward.empty() && settings.config.empty();
  carries = wrong.empty() && client.configure(settings);
  if (!carries) std::fprintf(stderr, "tailrace: MPI-IO is not carried: TAILRACE_MPIIO: %s\n", wrong.c_str());
}

void before_fork() { instance().client.before_fork(); }
void after_fork_in_parent() { instance().client.after_fork_in_parent(); }
void after_fork_in_child() { instance().client.after_fork_in_child(); }

}  // namespace

process::ProcessClient& carrier() {
  [[maybe_unused]] static const int forks = pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
  return instance().client;
}

void set_before_end(void (*hand_over)(bool at_signal)) { before_end.store(hand_over, std::memory_order_release); }

bool carries_anything() { return instance().carries; }

bool keeps_order() { return instance().keeps_order; }

bool may_write_here() { return instance().may_write_here; }

bool may_share_buffer() { return instance().may_share_buffer; }

Choices choices() { return instance().choices; }

std::string profile() {
  if (!instance().profile.empty()) return instance().profile;
  for (const auto& [name, below] : {std::pair("XDG_CACHE_HOME", ""), std::pair("HOME", "/.cache")}) {
    const char* const directory = std::getenv(name);
    if (directory != nullptr && *directory == '/') return std::string(directory) + below + "/tailrace/mpiio-profile";
  }
  return {};
}

bool exchanges_in_background() {
  const collective::Algorithm algorithm = instance().choices.writes.algorithm;
  return algorithm != collective::Algorithm::automatic && algorithm != collective::Algorithm::individual;
}

}  // namespace tailrace::mpiio
