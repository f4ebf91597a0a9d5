#include "damaris/ranks/ranks.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdlib>
#include <string>
#include <tailrace/tailrace_mpi.hpp>

#include "damaris/include/Damaris.h"
#include "damaris/ranks/failure.hpp"
#include "process_client/counted.hpp"

namespace tailrace::damaris {
namespace {

void check_mpi(int code, const char* what) {
  if (code != MPI_SUCCESS) throw Failure(DAMARIS_MPI_ERROR, std::string(what) + " has failed");
}

int rank_in(MPI_Comm comm) {
  int rank = 0;
  check_mpi(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  return rank;
}

int size_of(MPI_Comm comm) {
  int size = 0;
  check_mpi(MPI_Comm_size(comm, &size), "MPI_Comm_size");
  return size;
}

// Returns the server, among the `servers` of a node, of the client with this number there.
int server_of(int client, int clients, int servers) {
  return static_cast<int>(static_cast<int64_t>(client) * servers / clients);
}

// Returns the cpus to which this process is bound; none if it may run on all of the machine's.
std::vector<int> own_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  const bool all = static_cast<long>(cpus.size()) >= sysconf(_SC_NPROCESSORS_ONLN);
  return all ? std::vector<int>() : cpus;
}

constexpr double kPoll = 0.01;    // seconds
constexpr size_t kMostCpus = 64;  // of a server, which clients learn

// Everything that a rank tells the others of its node.
struct Card {
  int64_t process = 0;
  int rank = 0;
  int server = -1;  // of a dedicated rank: its number among all servers
  int cpu_count = 0;
  std::array<int, kMostCpus> cpus{};
};

}  // namespace

Ranks::Ranks(MPI_Comm comm, int dedicated_cores, int dedicated_nodes) : dedicated_(dedicated_cores) {
  check_mpi(MPI_Comm_dup(comm, &all_), "MPI_Comm_dup");
  find_node(dedicated_nodes);
  split(dedicated_cores);
  exchange();
}

Ranks::~Ranks() {
  for (MPI_Comm* const comm : {&same_, &node_, &all_}) {
    if (*comm != MPI_COMM_NULL) MPI_Comm_free(comm);
  }
}

void Ranks::find_node(int dedicated_nodes) {
  const char* const imitated = std::getenv("TAILRACE_DAMARIS_NODE_SIZE");
  const int ranks = imitated != nullptr ? std::atoi(imitated) : 0;
  if (ranks > 0) {
    check_mpi(MPI_Comm_split(all_, rank_in(all_) / ranks, rank_in(all_), &node_), "MPI_Comm_split");
  } else {
    check_mpi(MPI_Comm_split_type(all_, MPI_COMM_TYPE_SHARED, rank_in(all_), MPI_INFO_NULL, &node_),
              "MPI_Comm_split_type");
  }
  is_first_of_node_ = rank_in(node_) == 0;
  node_number_ = mpi::detail::number_of_node(all_, node_);
  const int nodes = mpi::detail::count_nodes(all_, node_);
  if (nodes <= dedicated_nodes) {
    throw Failure(DAMARIS_INIT_ERROR, "<dedicated nodes=\"" + std::to_string(dedicated_nodes) + "\">: found " +
                                          process::counted(static_cast<uint64_t>(nodes), "node") + ", expected more");
  }
  is_of_dedicated_node_ = node_number_ >= nodes - dedicated_nodes;
}

void Ranks::split(int dedicated_cores) {
  const int here = size_of(node_);
  int least = is_of_dedicated_node_ ? INT_MAX : here - dedicated_cores;
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_INT, MPI_MIN, all_), "MPI_Allreduce");
  if (least < 1) {
    throw Failure(DAMARIS_INIT_ERROR, "<dedicated cores=\"" + std::to_string(dedicated_cores) +
                                          "\">: found a node with " +
                                          process::counted(static_cast<uint64_t>(least + dedicated_cores), "rank") +
                                          ", expected more (the mpirun of another MPI starts each rank alone)");
  }
  clients_of_node_ = is_of_dedicated_node_ ? 0 : here - dedicated_cores;
  is_client_ = rank_in(node_) < clients_of_node_;
  const int kind = is_of_dedicated_node_ ? 2 : is_client_ ? 1 : 0;
  check_mpi(MPI_Comm_split(all_, kind, rank_in(all_), &same_), "MPI_Comm_split");
  number_ = rank_in(same_);
  clients_ = clients_of_node_;
  nodes_ = 1;
  int counts[2] = {is_first_of_node_ && !is_of_dedicated_node_ ? 1 : 0, is_client_ ? 1 : 0};
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, counts, 2, MPI_INT, MPI_SUM, all_), "MPI_Allreduce");
  nodes_ = counts[0];
  clients_ = counts[1];
}

// Tells all ranks where the servers and the forwarders are.
void Ranks::exchange() {
  constexpr int kOther = -1;
  constexpr int kForwarder = -2;
  std::vector<int> numbers(static_cast<size_t>(size_of(all_)));
  const int own = is_client_ ? kOther : number_;
  const int told = leads_dedicated_node() ? kForwarder : is_of_dedicated_node_ ? kOther : own;
  check_mpi(MPI_Allgather(&told, 1, MPI_INT, numbers.data(), 1, MPI_INT, all_), "MPI_Allgather");
  server_ranks_.resize(
      static_cast<size_t>(std::count_if(numbers.begin(), numbers.end(), [](int n) { return n >= 0; })));
  for (size_t rank = 0; rank < numbers.size(); ++rank) {
    if (numbers[rank] >= 0) server_ranks_[static_cast<size_t>(numbers[rank])] = static_cast<int>(rank);
    if (numbers[rank] == kForwarder) forwarder_ranks_.push_back(static_cast<int>(rank));
  }
  meet_node(own);
}

// Tells the ranks of a node which clients belong to which server.
void Ranks::meet_node(int own) {
  Card card;
  card.process = getpid();
  card.rank = rank_in(all_);
  card.server = own;
  const std::vector<int> cpus = own_cpus();
  card.cpu_count = static_cast<int>(std::min(cpus.size(), kMostCpus));
  std::copy_n(cpus.begin(), card.cpu_count, card.cpus.begin());
  std::vector<Card> cards(static_cast<size_t>(size_of(node_)));
  check_mpi(MPI_Allgather(&card, sizeof card, MPI_BYTE, cards.data(), sizeof card, MPI_BYTE, node_), "MPI_Allgather");
  for (const Card& one : cards) {
    if (one.rank != card.rank) node_mates_.push_back(one.rank);
  }
  clients_of_server_ = clients_of_node_;
  if (dedicated_ == 0 || is_of_dedicated_node_) return;
  const int here = rank_in(node_);
  const int mine = is_client_ ? server_of(here, clients_of_node_, dedicated_) : here - clients_of_node_;
  clients_of_server_ = 0;
  for (int client = 0; client < clients_of_node_; ++client) {
    if (server_of(client, clients_of_node_, dedicated_) != mine) continue;
    ++clients_of_server_;
    const Card& of = cards[static_cast<size_t>(client)];
    client_processes_.emplace_back(of.rank, of.process);
  }
  const Card& server = cards[static_cast<size_t>(clients_of_node_ + mine)];
  server_ = server.server;
  server_rank_ = server.rank;
  server_cpus_.assign(server.cpus.begin(), server.cpus.begin() + server.cpu_count);
}

bool Ranks::meet(double seconds) const {
  MPI_Request all = MPI_REQUEST_NULL;
  int done = MPI_Ibarrier(same_, &all) == MPI_SUCCESS ? 0 : 1;
  for (double waited = 0; done == 0 && waited < seconds; waited += kPoll) {
    if (MPI_Test(&all, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) return false;
    if (done == 0) usleep(static_cast<useconds_t>(kPoll * 1e6));
  }
  return done != 0;
}

}  // namespace tailrace::damaris
