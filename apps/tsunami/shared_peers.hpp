// SharedPeers: peers that are siblings on one machine and share memory; no MPI, no sockets.
//
// CrewMemory is mapped once, before the processes are forked (crew.hpp). So it has no name, and no other program can
// access it. It is never written to a file and never seen by another build, so it has no version. In a collective
// call each process writes its own part, meets the others at a barrier, and reads their parts. There are two sets of
// parts, used in turn, so that one meeting is enough: a process that writes a set again has met all others since they
// read it.
//
// No process waits forever: stop() ends all waits, and each wait has a limit.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <string>

#include "peers.hpp"

namespace tsunami {

// Thrown by a collective call when the crew has been stopped: another process has failed, and reports why.
class Stopped : public std::exception {
 public:
  const char* what() const noexcept override { return "another process has failed"; }
};

class CrewMemory {
 public:
  // Makes memory for `processes`, which exchange `halo` numbers with each neighbour and gather at most `gathered`
  // each. Throws Error.
  CrewMemory(int processes, std::size_t halo, std::size_t gathered);
  ~CrewMemory();
  CrewMemory(const CrewMemory&) = delete;
  CrewMemory& operator=(const CrewMemory&) = delete;

  // Ends all present and later waits with Stopped. Any process may call it, any number of times.
  void stop();

  // Records `message` as the failure of `rank`; only the first failure is kept.
  void tell_failure(int rank, const std::string& message);
  // The first recorded failure; rank -1 if there is none.
  struct Failure {
    int rank = -1;
    std::string message;
  };
  Failure failure() const;

  int processes() const { return processes_; }

 private:
  friend class SharedPeers;
  struct Head;
  struct Seat;  // of one process

  Head& head() const;
  Seat& seat(int rank) const;
  std::span<double> box(int set, int rank, Side side) const;
  std::span<double> pile(int set, int rank) const;

  const int processes_;
  const std::size_t halo_, gathered_;
  std::size_t bytes_ = 0;
  std::byte* memory_ = nullptr;
};

class SharedPeers final : public Peers {
 public:
  using Seconds = std::chrono::duration<double>;

  // `memory` must outlive this object. `limit` applies to one wait.
  SharedPeers(CrewMemory& memory, int rank, Seconds limit);

  int rank() const override { return rank_; }
  int size() const override { return memory_.processes(); }
  int on_this_node() const override { return size(); }
  std::span<double> outbox(Side side) override;
  double exchange(double mine) override;
  std::span<const double> inbox(Side side) const override;
  std::vector<double> gather(std::span<const double> mine) override;
  double seconds() const override { return seconds_; }

 private:
  int set() const { return static_cast<int>(round_ & 1); }
  bool has_neighbour(Side side) const { return side == Side::south ? !is_southernmost() : !is_northernmost(); }
  void meet();
  void wait_for_others(std::uint32_t word);
  std::string who_is_missing() const;

  CrewMemory& memory_;
  const int rank_;
  const Seconds limit_;
  std::uint64_t round_ = 0;  // number of meetings so far
  double seconds_ = 0;
};

}  // namespace tsunami
