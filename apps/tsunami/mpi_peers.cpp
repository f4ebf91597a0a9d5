// Peers by MPI. MPI's default error handler ends the program, so results are not checked.
#include "mpi_peers.hpp"

#include <numeric>

namespace tsunami {
namespace {

int count_of(std::span<const double> box) { return static_cast<int>(box.size()); }

}  // namespace

MpiPeers::MpiPeers(std::size_t halo) {
  MPI_Comm_dup(MPI_COMM_WORLD, &peers_);
  MPI_Comm_rank(peers_, &rank_);
  MPI_Comm_size(peers_, &size_);
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(peers_, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &on_this_node_);
  MPI_Comm_free(&node);
  for (const Side side : {Side::south, Side::north}) {
    if (side == Side::south ? is_southernmost() : is_northernmost()) continue;
    boxes(side).out.resize(halo);
    boxes(side).in.resize(halo);
  }
}

MpiPeers::~MpiPeers() { MPI_Comm_free(&peers_); }

double MpiPeers::exchange(double mine) {
  const double begin = MPI_Wtime();
  const int south = is_southernmost() ? MPI_PROC_NULL : rank_ - 1;
  const int north = is_northernmost() ? MPI_PROC_NULL : rank_ + 1;
  MPI_Request requests[4];
  MPI_Irecv(south_.in.data(), count_of(south_.in), MPI_DOUBLE, south, 0, peers_, &requests[0]);
  MPI_Irecv(north_.in.data(), count_of(north_.in), MPI_DOUBLE, north, 0, peers_, &requests[1]);
  MPI_Isend(south_.out.data(), count_of(south_.out), MPI_DOUBLE, south, 0, peers_, &requests[2]);
  MPI_Isend(north_.out.data(), count_of(north_.out), MPI_DOUBLE, north, 0, peers_, &requests[3]);
  double greatest = mine;
  MPI_Allreduce(&mine, &greatest, 1, MPI_DOUBLE, MPI_MAX, peers_);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  seconds_ += MPI_Wtime() - begin;
  return greatest;
}

std::vector<double> MpiPeers::gather(std::span<const double> mine) {
  const double begin = MPI_Wtime();
  const int count = count_of(mine);
  std::vector<int> counts(static_cast<std::size_t>(size_)), starts(counts.size());
  MPI_Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, peers_);
  std::exclusive_scan(counts.begin(), counts.end(), starts.begin(), 0);
  std::vector<double> all(static_cast<std::size_t>(starts.back() + counts.back()));
  MPI_Allgatherv(mine.data(), count, MPI_DOUBLE, all.data(), counts.data(), starts.data(), MPI_DOUBLE, peers_);
  seconds_ += MPI_Wtime() - begin;
  return all;
}

}  // namespace tsunami
