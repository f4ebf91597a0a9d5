// CollectiveWrite: a collective write, as a schedule that a process carries out step by step. First the processes
// exchange how much they have and where; then parts go to aggregators, which write; then the members learn the end.
//
// It never blocks: its owner calls progress() until it has ended, from one thread at a time. All processes
// that have the file must do so.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "collective/exchange.hpp"
#include "collective/options.hpp"
#include "collective/plan.hpp"
#include "collective/write/aggregation.hpp"
#include "collective/write/own_data.hpp"
#include "collective/write/sender.hpp"
#include "collective/write/sink.hpp"

namespace tailrace::collective {

class CollectiveWrite {
 public:
  // The environment of this process. All of it stays in use until the write has ended.
  struct Parts {
    Exchange& exchange;
    Sink& sink;
    const OwnData& own;
  };

  // `nodes`: the node of each rank. All processes pass equal options and nodes.
  CollectiveWrite(Parts parts, const Contribution& mine, std::vector<int> nodes, const Options& options);

  // Continues. Returns true if anything has happened.
  bool progress();
  // Returns true when this process's data are written, its memory is not needed any more, and it has done its part
  // for the others.
  bool has_ended() const { return state_ == State::ended; }
  // Returns true if each process has to write its own data, which this object has not done.
  bool is_individual() const { return individual_; }
  // Returns the error of the process's own data, 0 if there is none.
  int error() const { return error_; }

 private:
  enum class State : uint8_t { gathering, moving, ended };

  bool plan();
  bool send();
  bool send_own();
  bool hear_ends();
  bool is_done() const;

  Parts parts_;
  Contribution mine_;
  std::vector<int> nodes_;
  Options options_;
  State state_ = State::gathering;
  bool individual_ = false;
  int error_ = 0;
  std::vector<Sender> senders_;
  std::optional<Sender> own_sender_;  // to itself
  std::unique_ptr<Aggregation> aggregation_;
  std::vector<uint32_t> awaited_;  // aggregators that have not reported the end
};

}  // namespace tailrace::collective
