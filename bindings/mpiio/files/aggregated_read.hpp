// AggregatedRead: a collective read that goes through aggregators while the program goes on, with what it needs until
// it has ended.
//
// The thread of BackgroundReads makes its steps, one at a time, since a step may read from the file: so no call of
// the program waits for that. progress() has the next step made. Requires that any thread may call the MPI.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "collective/read/collective_read.hpp"
#include "mpiio/collective/memory_data.hpp"
#include "mpiio/collective/mpi_exchange.hpp"
#include "mpiio/files/background_access.hpp"
#include "mpiio/files/background_reads.hpp"

namespace tailrace::mpiio {

class AggregatedRead : public BackgroundAccess, public std::enable_shared_from_this<AggregatedRead> {
 public:
  // The file. All of it stays in use until the read has ended; the functions are called in steps.
  struct File {
    std::mutex& in_use;  // held in each step
    collective::Source& source;
    std::function<void()> settle;                     // writes what this process has handed over
    std::function<Outcome(MemorySpace&)> read_alone;  // if no process needs an aggregator
    std::function<Outcome(const collective::Source::End&)> outcome_of;
  };

  // `number`: of the read, among the accesses of the communicator. All processes pass equal nodes and options.
  AggregatedRead(File file, MPI_Comm comm, uint32_t number, MemorySpace space, std::vector<int> nodes,
                 const collective::Options& options)
      : file_(std::move(file)),
        space_(std::move(space)),
        exchange_(comm, number),
        read_({exchange_, file_.source, space_}, space_.contribution(), std::move(nodes), options) {}

  bool progress() override {
    State idle = State::idle;
    if (!state_.compare_exchange_strong(idle, State::in_step, std::memory_order_acq_rel)) return false;
    const bool moved = moved_;
    BackgroundReads::instance().begin([self = shared_from_this()] { self->step(); });
    return moved;
  }
  // Acquire: the program sees the data afterwards; partner: the release in step().
  bool has_ended() const override { return state_.load(std::memory_order_acquire) == State::ended; }
  bool needs_progress() const override { return true; }
  Outcome outcome() const override { return outcome_; }
  uint64_t bytes() const override { return space_.bytes(); }

 private:
  enum class State : uint8_t { idle, in_step, ended };

  // An aggregator may read what this process has handed over, for itself or for others.
  void step() {
    const std::lock_guard in_use(file_.in_use);
    if (!std::exchange(settled_, true)) file_.settle();
    moved_ = read_.progress();
    if (!read_.has_ended()) return state_.store(State::idle, std::memory_order_release);
    outcome_ = read_.is_individual() ? file_.read_alone(space_) : file_.outcome_of({read_.bytes(), read_.error()});
    state_.store(State::ended, std::memory_order_release);
  }

  const File file_;

  // Used by a step; by others before the first step and after the last one. state_ orders that.
  MemorySpace space_;
  MpiExchange exchange_;
  collective::CollectiveRead read_;
  bool settled_ = false;
  bool moved_ = false;
  Outcome outcome_;

  std::atomic<State> state_ = State::idle;
};

}  // namespace tailrace::mpiio
