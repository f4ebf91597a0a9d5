// Team: the threads of one kernel, kept between calls, asleep at a barrier while there is nothing to do.
//
// The caller is the first of them. Work is either the same call on each thread, or tasks that go one by one to any
// free thread. Work must not throw.
#pragma once

#include <atomic>
#include <barrier>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace bench {

class Team {
 public:
  explicit Team(int threads);
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;
  ~Team();

  int size() const { return size_; }

  // Calls work(0) … work(size - 1), each on its thread; returns when all have returned.
  void each(const std::function<void(int thread)>& work);

  // Calls task(index, thread) for every index from `begin` to before `end`, in no particular order.
  void hand_out(uint64_t begin, uint64_t end, const std::function<void(uint64_t index, int thread)>& task);

 private:
  void serve(int thread);

  const int size_;
  std::barrier<> gate_;
  std::atomic<uint64_t> next_ = 0;
  // each() writes it before the gate opens; the threads read it while the gate is open.
  const std::function<void(int)>* work_ = nullptr;
  std::vector<std::jthread> threads_;
};

}  // namespace bench
