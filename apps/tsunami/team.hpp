// Team: the solver's threads, kept between steps.
//
// run(work) calls work(0) … work(n-1), each on its own thread, work(0) on the caller's, and returns when all have
// ended. Threads sleep in a barrier between calls. The user chooses their number (--threads); no more are made.
#pragma once

#include <barrier>
#include <functional>
#include <thread>
#include <vector>

namespace tsunami {

class Team {
 public:
  explicit Team(int threads);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int size() const { return size_; }
  // Runs `work`, which must not throw.
  void run(const std::function<void(int)>& work);

 private:
  void serve(int index);

  const int size_;
  std::barrier<> gate_;
  // run() writes it before the gate opens; the threads read it between opening and closing.
  const std::function<void(int)>* work_ = nullptr;
  std::vector<std::jthread> threads_;
};

}  // namespace tsunami
