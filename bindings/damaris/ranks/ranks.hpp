// Ranks: which ranks of a communicator compute, and which ones are dedicated to writing. The last nodes are dedicated
// ones, and of the others the last ranks, each for an equal part of the node's clients.
//
// To try several nodes on one machine, set TAILRACE_DAMARIS_NODE_SIZE: that many ranks count as one node.
#pragma once

#include <cstdint>
#include <vector>

#include "damaris/ranks/mpi_header.hpp"

namespace tailrace::damaris {

class Ranks {
 public:
  // Collective. Throws Failure, on all ranks, if a node would have no rank left to compute, or no node is left.
  Ranks(MPI_Comm comm, int dedicated_cores, int dedicated_nodes);
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;
  ~Ranks();

  bool is_client() const { return is_client_; }
  bool has_servers() const { return dedicated_ > 0; }
  bool is_of_dedicated_node() const { return is_of_dedicated_node_; }
  bool leads_dedicated_node() const { return is_of_dedicated_node_ && is_first_of_node_; }
  bool is_first_of_node() const { return is_first_of_node_; }
  int node() const { return node_number_; }  // among all nodes
  // The first ranks of the dedicated nodes, and the other ranks of this node, by their ranks in all().
  const std::vector<int>& forwarder_ranks() const { return forwarder_ranks_; }
  const std::vector<int>& node_mates() const { return node_mates_; }
  MPI_Comm all() const { return all_; }    // a duplicate, for messages between ranks
  MPI_Comm same() const { return same_; }  // the ranks of this kind: all clients, or all dedicated ones
  int number() const { return number_; }   // among the ranks of this kind
  int nodes() const { return nodes_; }     // without the dedicated ones
  // The server of this client, or this server itself, among all servers; its rank in all(); the number of servers.
  int server() const { return server_; }
  int server_rank() const { return server_rank_; }
  bool is_first_server_of_node() const { return dedicated_ == 0 || server_ % dedicated_ == 0; }
  int servers() const { return static_cast<int>(server_ranks_.size()); }
  const std::vector<int>& server_ranks() const { return server_ranks_; }
  // The number of clients of that server, of this node, and of all nodes.
  int clients_of_server() const { return clients_of_server_; }
  int clients_of_node() const { return clients_of_node_; }
  int clients() const { return clients_; }
  // The processes of the clients of this server, if they are known here, by their ranks in all().
  const std::vector<std::pair<int, int64_t>>& client_processes() const { return client_processes_; }
  // Waits for the other ranks of this kind, at most this many seconds. Returns false if some have not arrived.
  bool meet(double seconds) const;
  // The cpus on which this server's rank may run; empty: all.
  const std::vector<int>& server_cpus() const { return server_cpus_; }

 private:
  void find_node(int dedicated_nodes);
  void split(int dedicated_cores);
  void exchange();
  void meet_node(int own);

  MPI_Comm all_ = MPI_COMM_NULL;
  MPI_Comm node_ = MPI_COMM_NULL;
  MPI_Comm same_ = MPI_COMM_NULL;
  bool is_client_ = true;
  bool is_of_dedicated_node_ = false;
  bool is_first_of_node_ = false;
  int node_number_ = 0;
  std::vector<int> forwarder_ranks_;
  std::vector<int> node_mates_;
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
