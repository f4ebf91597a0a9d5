// AggregatedWrite: a collective write that goes through aggregators, with what it needs until it has ended.
#pragma once

#include <utility>
#include <vector>

#include "collective/write/collective_write.hpp"
#include "mpiio/collective/hints.hpp"
#include "mpiio/collective/memory_data.hpp"
#include "mpiio/collective/mpi_exchange.hpp"
#include "mpiio/files/background_access.hpp"
#include "mpiio/files/file_sink.hpp"

namespace tailrace::mpiio {

class AggregatedWrite : public BackgroundAccess {
 public:
  // The processes that have the file open. `comm` is for their exchanges.
  struct Processes {
    MPI_Comm comm = MPI_COMM_NULL;
    std::vector<int> nodes;
    Choices choices;
  };

  // `number`: of the write, among those of the communicator.
  AggregatedWrite(Output& output, const Processes& all, uint32_t number, MemoryData data)
      : data_(std::move(data)),
        sink_(output),
        exchange_(all.comm, number),
        write_({exchange_, sink_, data_}, data_.contribution(), all.nodes, all.choices.writes) {}

  bool progress() override { return write_.progress(); }
  bool has_ended() const override { return write_.has_ended(); }
  bool needs_progress() const override { return true; }
  Outcome outcome() const override { return {write_.error(), write_.error() == MPI_SUCCESS ? data_.bytes() : 0}; }
  uint64_t bytes() const override { return data_.bytes(); }
  // As that of CollectiveWrite.
  bool is_individual() const { return write_.is_individual(); }
  const MemoryData& data() const { return data_; }

 private:
  MemoryData data_;
  FileSink sink_;
  MpiExchange exchange_;
  collective::CollectiveWrite write_;
};

}  // namespace tailrace::mpiio
