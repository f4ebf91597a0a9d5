// CollectiveRead: a collective read, as a schedule that a process carries out step by step. First the processes
// exchange how much they want and from where; then each asks the aggregators, which read for all, and reply.
//
// It waits for nothing but its own reads: its owner calls progress() until it has ended, from one thread at a
// time. All processes that have the file must do so.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "collective/exchange.hpp"
#include "collective/options.hpp"
#include "collective/plan.hpp"
#include "collective/read/own_space.hpp"
#include "collective/read/reading.hpp"
#include "collective/read/request.hpp"
#include "collective/read/source.hpp"

namespace tailrace::collective {

class CollectiveRead {
 public:
  // The environment of this process. All of it stays in use until the read has ended.
  struct Parts {
    Exchange& exchange;
    Source& source;
    OwnSpace& own;
  };

  // `nodes`: the node of each rank. All processes pass equal options and nodes.
  CollectiveRead(Parts parts, const Contribution& mine, std::vector<int> nodes, const Options& options);

  // Continues. Returns true if anything has happened.
  bool progress();
  // Returns true when this process has its data, and has done its part for the others.
  bool has_ended() const { return state_ == State::ended; }
  // Returns true if each process has to read its own data, which this object has not done.
  bool is_individual() const { return individual_; }
  // Returns how many bytes of the process's data the file has, in front of its end.
  uint64_t bytes() const { return bytes_; }
  // Returns the error of the process's own data, 0 if there is none.
  int error() const { return error_; }

 private:
  enum class State : uint8_t { gathering, moving, ended };

  // The requests of this process to one aggregator.
  struct Asking {
    Requests requests;
    std::deque<Requests::Asked> asked;  // without a reply
  };

  bool plan();
  bool ask(Asking& asking);
  bool hear(Asking& asking);
  bool is_own(const Asking& asking) const { return asking.requests.aggregator() == parts_.exchange.rank(); }
  bool is_done() const;

  Parts parts_;
  Contribution mine_;
  std::vector<int> nodes_;
  Options options_;
  State state_ = State::gathering;
  bool individual_ = false;
  int error_ = 0;
  uint64_t bytes_ = 0;
  std::vector<Asking> askings_;
  std::unique_ptr<Reading> reading_;
};

}  // namespace tailrace::collective
