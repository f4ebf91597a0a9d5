// The team's threads. See the header.
#include "lab/pattern/compute/team.hpp"

namespace bench {

Team::Team(int threads) : size_(threads), gate_(threads) {
  for (int thread = 1; thread < size_; ++thread) {
    threads_.emplace_back([this, thread] { serve(thread); });
  }
}

Team::~Team() {
  work_ = nullptr;  // ends serve()
  gate_.arrive_and_wait();
}

void Team::each(const std::function<void(int)>& work) {
  if (size_ == 1) return work(0);
  work_ = &work;
  gate_.arrive_and_wait();
  work(0);
  gate_.arrive_and_wait();
}

void Team::hand_out(uint64_t begin, uint64_t end, const std::function<void(uint64_t, int)>& task) {
  if (size_ == 1) {
    for (uint64_t index = begin; index < end; ++index) task(index, 0);
    return;
  }
  next_.store(begin);
  each([&](int thread) {
    // Relaxed: each index goes to one thread whatever the order, and the gate publishes what the tasks wrote.
    for (uint64_t index; (index = next_.fetch_add(1, std::memory_order_relaxed)) < end;) task(index, thread);
  });
}

void Team::serve(int thread) {
  while (true) {
    gate_.arrive_and_wait();
    if (work_ == nullptr) return;
    (*work_)(thread);
    gate_.arrive_and_wait();
  }
}

}  // namespace bench
