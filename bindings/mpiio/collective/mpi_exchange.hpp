// MpiExchange: the messages of one collective access, by MPI. It calls MPI only inside its own functions.
#pragma once

#include <list>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "collective/exchange.hpp"
#include "mpiio/mpi/mpi_header.hpp"

namespace tailrace::mpiio {

class MpiExchange : public collective::Exchange {
 public:
  // `number`: of the access, among those of the communicator; accesses at the same time have different ones.
  MpiExchange(MPI_Comm comm, uint32_t number);

  uint32_t rank() const override { return rank_; }
  void gather(const collective::Contribution& mine) override;
  const std::vector<collective::Contribution>* gathered() override;
  void send(collective::Kind kind, uint32_t to, collective::Message message) override;
  size_t unsent(uint32_t to) override;
  bool all_sent() override;
  std::optional<collective::Message> receive(collective::Kind kind, uint32_t from) override;

 private:
  struct Sending {
    collective::Kind kind;
    uint32_t to = 0;
    collective::Message message;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  struct Receiving {
    collective::Message message;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  int tag(collective::Kind kind) const;
  void look_after_sends();

  const MPI_Comm comm_;
  const uint32_t number_;
  uint32_t rank_ = 0;
  collective::Contribution mine_;
  std::vector<collective::Contribution> all_;
  MPI_Request gather_ = MPI_REQUEST_NULL;
  std::list<Sending> sending_;
  std::map<std::pair<collective::Kind, uint32_t>, Receiving> receiving_;
};

}  // namespace tailrace::mpiio
