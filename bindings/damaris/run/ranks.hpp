// Ranks: which ranks of a communicator compute, and which ones are dedicated to writing. The last ranks of each node
// are the dedicated ones, each for an equal part of the node's clients.
#pragma once

#include <cstdint>
#include <vector>

#include "damaris/run/mpi_header.hpp"

namespace tailrace::damaris {

class Ranks {
 public:
  // Collective. Throws Failure, on all ranks, if a node would have no rank left to compute.
  Ranks(MPI_Comm comm, int dedicated_cores);
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;
  ~Ranks();

  bool is_client() const { return is_client_; }
  bool has_servers() const { return dedicated_ > 0; }
  MPI_Comm all() const { return all_; }    // a duplicate, for messages between ranks
  MPI_Comm same() const { return same_; }  // the ranks of this kind: all clients, or all dedicated ones
  int number() const { return number_; }   // among the ranks of this kind
  int nodes() const { return nodes_; }
  // The server of this client, or this server itself, among all servers; its rank in all(); the number of servers.
  int server() const { return server_; }
  int server_rank() const { return server_rank_; }
  int servers() const { return static_cast<int>(server_ranks_.size()); }
  const std::vector<int>& server_ranks() const { return server_ranks_; }
  // The number of clients of that server, of this node, and of all nodes.
  int clients_of_server() const { return clients_of_server_; }
  int clients_of_node() const { return clients_of_node_; }
  int clients() const { return clients_; }
  // The processes of the clients of this server, if they are known here, by their ranks in all().
  const std::vector<std::pair<int, int64_t>>& client_processes() const { return client_processes_; }
  // The cpus on which this server's rank may run; empty: all.
  const std::vector<int>& server_cpus() const { return server_cpus_; }

 private:
  void split(int dedicated_cores);
  void exchange();

  MPI_Comm all_ = MPI_COMM_NULL;
  MPI_Comm node_ = MPI_COMM_NULL;
  MPI_Comm same_ = MPI_COMM_NULL;
  bool is_client_ = true;
  int dedicated_ = 0;
  int number_ = 0;
  int nodes_ = 1;
  int server_ = 0;
  int server_rank_ = -1;
  std::vector<int> server_ranks_;
  int clients_of_server_ = 0;
  int clients_of_node_ = 0;
  int clients_ = 0;
  std::vector<std::pair<int, int64_t>> client_processes_;
  std::vector<int> server_cpus_;
};

}  // namespace tailrace::damaris
