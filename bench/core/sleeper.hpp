// Sleeper: a thread asleep on the server's cpu, and what it costs to wake it: the machine's own part of a call that
// finds the server asleep. It is woken as the server is, by an event counter.
#pragma once

#include <thread>

namespace bench::core {

class Sleeper {
 public:
  // On cpu `cpu`; -1: on any.
  explicit Sleeper(int cpu);
  ~Sleeper();
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;

  // Seconds that waking it takes the caller: one system call.
  double wake() const;

 private:
  void sleep() const;

  const int event_;
  std::thread thread_;
};

}  // namespace bench::core
