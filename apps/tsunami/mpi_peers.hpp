// MpiPeers: peers that mpiexec has started, on any machines.
//
// The same interface as SharedPeers, by MPI's own calls; all on the thread that computes, so MPI_THREAD_FUNNELED is
// enough. There is no limit to a wait: when a process fails, main_mpi.cpp has MPI end the others. With mpi_peers.cpp
// and main_mpi.cpp all that knows MPI; built where CMake finds one.
#pragma once

#include <mpi.h>

#include "peers.hpp"

namespace tsunami {

class MpiPeers final : public Peers {
 public:
  // Neighbours exchange `halo` numbers. MPI must be initialised, and must not be finalised before this ends.
  explicit MpiPeers(std::size_t halo);
  ~MpiPeers() override;
  MpiPeers(const MpiPeers&) = delete;
  MpiPeers& operator=(const MpiPeers&) = delete;

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int on_this_node() const override { return on_this_node_; }
  std::span<double> outbox(Side side) override { return boxes(side).out; }
  double exchange(double mine) override;
  std::span<const double> inbox(Side side) const override { return side == Side::south ? south_.in : north_.in; }
  std::vector<double> gather(std::span<const double> mine) override;
  double seconds() const override { return seconds_; }

 private:
  struct Boxes {
    std::vector<double> out, in;  // empty where there is no neighbour
  };
  Boxes& boxes(Side side) { return side == Side::south ? south_ : north_; }

  MPI_Comm peers_ = MPI_COMM_NULL;  // of our own, so that nothing else is mistaken for ours
  int rank_ = 0, size_ = 1, on_this_node_ = 1;
  Boxes south_, north_;
  double seconds_ = 0;
};

}  // namespace tsunami
