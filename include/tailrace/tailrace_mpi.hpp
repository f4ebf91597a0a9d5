// tailrace_mpi.hpp: for MPI programs that give ranks to place `core`. Header-only; tailrace itself needs no MPI.
//
//   MPI_Comm computing = tailrace::mpi::split(MPI_COMM_WORLD, "sim.yaml");  // MPI_COMM_NULL: this rank was a server
//   if (computing != MPI_COMM_NULL) {
//     tailrace::Client out = tailrace::mpi::open(computing, "sim.yaml");    // client = rank
//     …
//     out.close();
//     MPI_Comm_free(&computing);
//   }
//   MPI_Finalize();
//
// Both calls are collective over their communicator. Later calls are not: a client never communicates by MPI.
// Programs that leave a core to the server by `mpirun -n` only need tailrace::open(config, rank).
#ifndef TAILRACE_TAILRACE_MPI_HPP
#define TAILRACE_TAILRACE_MPI_HPP

// Skips MPI's deprecated C++ bindings, unless the program has requested them.
#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX 1
#endif
#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1
#endif
#include <dlfcn.h>
#include <mpi.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <tailrace/tailrace.hpp>
#include <tuple>
#include <utility>
#include <vector>

namespace tailrace::mpi {

/// Options of split(). The first two are as in open(): the servers need them, too.
struct SplitOptions {
  std::string path = {};                                         ///< replaces `storage.path`
  std::vector<std::pair<std::string, int64_t>> parameters = {};  ///< replace or add to `parameters:`
  int cores = 1;             ///< ranks of each node that become servers: `place.cores` of the configuration
  std::string program = {};  ///< the path of tailrace-core, if the library does not find it
  double wait = 600;         ///< seconds; a server to which no client comes ends after this time
};

namespace detail {

inline void check_mpi(int code, const char* what) {
  if (code != MPI_SUCCESS) throw std::runtime_error(std::string("tailrace::mpi: ") + what + " failed");
}

/// Returns the ranks of `comm` on this node, in the same order. The caller frees the communicator.
inline MPI_Comm node_of(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm node = MPI_COMM_NULL;
  check_mpi(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  check_mpi(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node), "MPI_Comm_split_type");
  return node;
}

inline std::pair<int, int> rank_and_size(MPI_Comm comm) {
  std::pair<int, int> of;
  check_mpi(MPI_Comm_rank(comm, &of.first), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(comm, &of.second), "MPI_Comm_size");
  return of;
}

/// Returns the number of this node among all nodes, in the order of their first ranks.
inline int number_of_node(MPI_Comm comm, MPI_Comm node) {
  const int first = rank_and_size(node).first == 0 ? 1 : 0;
  int number = 0;
  check_mpi(MPI_Exscan(&first, &number, 1, MPI_INT, MPI_SUM, comm), "MPI_Exscan");
  if (rank_and_size(comm).first == 0) number = 0;  // MPI leaves it undefined there
  check_mpi(MPI_Bcast(&number, 1, MPI_INT, 0, node), "MPI_Bcast");
  return number;
}

/// Returns the number of nodes of `comm`.
inline int count_nodes(MPI_Comm comm, MPI_Comm node) {
  int nodes = rank_and_size(node).first == 0 ? 1 : 0;
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &nodes, 1, MPI_INT, MPI_SUM, comm), "MPI_Allreduce");
  return nodes;
}

/// Parameters that the configuration may name, for a rank that computes: its numbers in the job and on its node.
struct Where {
  int rank = 0;
  int size = 0;
  int local_rank = 0;
  int local_size = 0;
  int node = 0;
  int nodes = 1;

  std::vector<std::pair<std::string, int64_t>> parameters() const {
    return {{"rank", rank}, {"size", size},  {"local_rank", local_rank}, {"local_size", local_size},
            {"node", node}, {"nodes", nodes}};
  }
};

/// Finds the program as the library does; searches PATH if it gets only a name.
inline std::string program_of(const SplitOptions& options) {
  if (!options.program.empty()) return options.program;
  if (const char* named = std::getenv("TAILRACE_SERVER"); named != nullptr && *named != '\0') return named;
  Dl_info library{};
  if (dladdr(reinterpret_cast<const void*>(&tailrace_version), &library) != 0 && library.dli_fname != nullptr) {
    const std::string file = library.dli_fname;
    const std::string directory = file.substr(0, file.rfind('/') + 1);  // "": of a program that is linked statically
    for (const char* place : {"", "../bin/", "../libexec/tailrace/"}) {
      const std::string program = directory + place + "tailrace-core";
      if (!directory.empty() && access(program.c_str(), X_OK) == 0) return program;
    }
  }
  return "tailrace-core";
}

/// Describes a status of waitpid(): "exit status 1", "signal 9 (Killed)".
inline std::string how_it_ended(int status) {
  if (!WIFSIGNALED(status)) return "exit status " + std::to_string(WEXITSTATUS(status));
  const int signal = WTERMSIG(status);
  return "signal " + std::to_string(signal) + " (" + strsignal(signal) + ")";
}

/// The program of a server: a child of this rank, which only waits for it.
class ServerProcess {
 public:
  /// `known` has the parameters that open() will give, so that the configuration can be read. Values that differ
  /// between ranks do not matter here.
  ServerProcess(const std::string& config, int number, const Where& known, const SplitOptions& options) {
    std::vector<std::string> words = {program_of(options),
                                      "--config",
                                      config,
                                      "--server",
                                      std::to_string(number),
                                      "--wait",
                                      std::to_string(options.wait),
                                      "--announce",
                                      std::to_string(kAnnounce)};
    if (!options.path.empty()) words.insert(words.end(), {"--path", options.path});
    std::vector<std::pair<std::string, int64_t>> parameters = known.parameters();
    parameters.insert(parameters.end(), options.parameters.begin(), options.parameters.end());
    for (const auto& [name, value] : parameters) {
      words.insert(words.end(), {"--parameter", name + "=" + std::to_string(value)});
    }
    start(words);
  }
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  /// Returns when clients can come, or when the program has failed and reported it on stderr.
  void wait_ready() {
    if (socket_ < 0) return;
    char text[256];
    while (recv(socket_, text, sizeof text, 0) < 0 && errno == EINTR) {
    }
    close(socket_);
  }

  void wait_end() {
    int status = 0;
    while (process_ > 0 && waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
    note_end(status);
  }

  /// Ends a program that no client has come to.
  void terminate() {
    if (process_ > 0) kill(process_, SIGTERM);
  }

  /// Returns true if the program has ended, or was never started. Does not wait.
  bool has_ended() {
    int status = 0;
    if (process_ > 0 && waitpid(process_, &status, WNOHANG) != 0) note_end(status);
    return process_ <= 0;
  }

 private:
  void note_end(int status) {
    // The clients start another one, or fail and report why: no failure is silent.
    if (process_ > 0 && status != 0) {
      std::fprintf(stderr, "tailrace::mpi: a server ended with %s\n", how_it_ended(status).c_str());
    }
    process_ = -1;
  }

  static constexpr int kAnnounce = 3;  // descriptor on which the program announces that it is ready

  void start(std::vector<std::string>& words) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return;
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], kAnnounce);
    const int error = posix_spawnp(&process_, arguments[0], &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    socket_ = ends[0];
    if (error == 0) return;
    process_ = -1;
    std::fprintf(stderr, "tailrace::mpi: the server's program '%s' cannot be started: %s\n", arguments[0],
                 std::generic_category().message(error).c_str());
  }

  pid_t process_ = -1;
  int socket_ = -1;
};

}  // namespace detail

/// Makes servers of the last `cores` ranks of each node. Returns the communicator of all other ranks, in the same
/// order, when the servers are ready. On a rank that becomes a server it returns MPI_COMM_NULL after the last client
/// has left. Throws std::invalid_argument, on all ranks, if a node would have no rank left to compute.
inline MPI_Comm split(MPI_Comm comm, const std::string& config, const SplitOptions& options = {}) {
  MPI_Comm node = detail::node_of(comm);
  const auto [local_rank, local_size] = detail::rank_and_size(node);
  const int computing_here = local_size - options.cores;
  int least = computing_here;
  detail::check_mpi(MPI_Allreduce(&computing_here, &least, 1, MPI_INT, MPI_MIN, comm), "MPI_Allreduce");
  if (least < 1 || options.cores < 1) {
    const int all_ranks = detail::rank_and_size(comm).second;
    MPI_Comm_free(&node);
    throw std::invalid_argument("tailrace::mpi::split: a node has " + std::to_string(least + options.cores) +
                                " ranks, expected more than the " + std::to_string(options.cores) + " servers" +
                                (all_ranks == 1 ? " (the mpirun of another MPI starts each rank alone)" : ""));
  }
  const bool serves = local_rank >= computing_here;
  MPI_Comm computing = MPI_COMM_NULL;
  const auto [rank, all] = detail::rank_and_size(comm);
  const int nodes = detail::count_nodes(comm, node);
  int servers = serves ? 1 : 0;
  detail::check_mpi(MPI_Allreduce(MPI_IN_PLACE, &servers, 1, MPI_INT, MPI_SUM, comm), "MPI_Allreduce");
  detail::check_mpi(MPI_Comm_split(comm, serves ? MPI_UNDEFINED : 0, rank, &computing), "MPI_Comm_split");
  if (!serves) {
    detail::check_mpi(MPI_Barrier(node), "MPI_Barrier");  // the node's servers are ready
    MPI_Comm_free(&node);
    return computing;
  }
  const detail::Where known{.size = all - servers, .local_size = computing_here, .nodes = nodes};
  detail::ServerProcess server(config, local_rank - computing_here, known, options);
  server.wait_ready();
  detail::check_mpi(MPI_Barrier(node), "MPI_Barrier");
  MPI_Comm_free(&node);
  server.wait_end();
  return MPI_COMM_NULL;
}

/// Opens the client whose number is the rank in `comm`. The configuration gets the parameters rank and size,
/// local_rank and local_size (of the ranks of `comm` on this node), node (its number), and nodes (their number);
/// those in `options` take precedence. Collective: returns when all ranks have opened, or failed to. Otherwise the
/// server, which ends with its last client, could end before a slow rank comes.
inline Client open(MPI_Comm comm, const std::string& config, Options options = {}) {
  MPI_Comm node = detail::node_of(comm);
  detail::Where where;
  std::tie(where.local_rank, where.local_size) = detail::rank_and_size(node);
  std::tie(where.rank, where.size) = detail::rank_and_size(comm);
  where.node = detail::number_of_node(comm, node);
  where.nodes = detail::count_nodes(comm, node);
  MPI_Comm_free(&node);
  const auto known = where.parameters();
  options.parameters.insert(options.parameters.begin(), known.begin(), known.end());
  std::optional<Client> client;
  std::exception_ptr failure;
  try {
    client.emplace(tailrace::open(config, where.rank, options));
  } catch (...) {
    failure = std::current_exception();  // the others must not wait for this rank
  }
  detail::check_mpi(MPI_Barrier(comm), "MPI_Barrier");
  if (failure) std::rethrow_exception(failure);
  return std::move(*client);
}

}  // namespace tailrace::mpi

#endif  // TAILRACE_TAILRACE_MPI_HPP
