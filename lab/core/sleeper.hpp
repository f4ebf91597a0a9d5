// Sleeper: a sleeping thread on the server's cpu, to measure the cost of waking it: the machine's own part of a call
// that finds the server asleep. It wakes as the server does, by an event counter.
#pragma once

#include <thread>

namespace bench::core {

class Sleeper {
 public:
  // Runs on cpu `cpu`; -1: on any.
  explicit Sleeper(int cpu);
  ~Sleeper();
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;

  // Wakes it, and returns the caller's seconds for that: one system call.
  double wake() const;

 private:
  void sleep() const;

  const int event_;
  std::thread thread_;
};

}  // namespace bench::core
