// AggregatedWrite: a collective write that goes through aggregators, with what it needs until it has ended.
#pragma once

#include <chrono>
#include <utility>
#include <vector>

#include "collective/write/collective_write.hpp"
#include "mpiio/collective/hints.hpp"
#include "mpiio/collective/memory_data.hpp"
#include "mpiio/collective/mpi_exchange.hpp"
#include "mpiio/files/background_access.hpp"
#include "mpiio/files/file_sink.hpp"
#include "mpiio/process/collective_counts.hpp"

namespace tailrace::mpiio {

class AggregatedWrite : public BackgroundAccess {
 public:
  // The processes that have the file open. `comm` is for their exchanges.
  struct Processes {
    MPI_Comm comm = MPI_COMM_NULL;
    std::vector<int> nodes;
    Choices choices;
  };

  // `number`: of the write, among those of the communicator. `in_background`: the program goes on meanwhile, so only
  // the time inside progress() counts as the write's.
  AggregatedWrite(Output& output, const Processes& all, uint32_t number, MemoryData data, bool in_background)
      : in_background_(in_background),
        data_(std::move(data)),
        sink_(output),
        exchange_(all.comm, number),
        write_({exchange_, sink_, data_}, data_.contribution(), all.nodes, all.choices.writes) {}

  bool progress() override {
    const auto now = Clock::now();
    const bool moved = write_.progress();
    inside_ += Clock::now() - now;
    if (write_.has_ended() && !std::exchange(counted_, true) && !write_.is_individual()) {
      const std::chrono::nanoseconds all = in_background_ ? inside_ : Clock::now() - start_;
      CollectiveCounts::instance().exchanged(all - sink_.spent(), sink_.spent());
    }
    return moved;
  }
  bool has_ended() const override { return write_.has_ended(); }
  bool needs_progress() const override { return true; }
  Outcome outcome() const override { return {write_.error(), write_.error() == MPI_SUCCESS ? data_.bytes() : 0}; }
  uint64_t bytes() const override { return data_.bytes(); }
  // As that of CollectiveWrite.
  bool is_individual() const { return write_.is_individual(); }
  const MemoryData& data() const { return data_; }

 private:
  using Clock = std::chrono::steady_clock;

  const bool in_background_;
  const Clock::time_point start_ = Clock::now();
  Clock::duration inside_{0};
  bool counted_ = false;
  MemoryData data_;
  FileSink sink_;
  MpiExchange exchange_;
  collective::CollectiveWrite write_;
};

}  // namespace tailrace::mpiio
