// MpiPeers: peers that mpiexec has started, on any machines.
//
// It has the interface of SharedPeers, implemented by MPI calls. All of them are made on the thread that computes, so
// MPI_THREAD_FUNNELED is enough. Waits have no limit: when a process fails, main_mpi.cpp makes MPI end the others.
// Only mpi_peers.cpp and main_mpi.cpp use MPI; they are built if CMake finds one.
#pragma once

#include <mpi.h>

#include "peers.hpp"

namespace tsunami {

class MpiPeers final : public Peers {
 public:
  // Neighbours exchange `halo` numbers. MPI must be initialised, and must not be finalised before this object ends.
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
    std::vector<double> out, in;  // empty if there is no neighbour
  };
  Boxes& boxes(Side side) { return side == Side::south ? south_ : north_; }

  MPI_Comm peers_ = MPI_COMM_NULL;  // a duplicate, so that no other messages are mistaken for these
  int rank_ = 0, size_ = 1, on_this_node_ = 1;
  Boxes south_, north_;
  double seconds_ = 0;
};

}  // namespace tsunami
