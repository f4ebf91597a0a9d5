// Runs the team's threads. See the header.
#include "team.hpp"

namespace tsunami {

Team::Team(int threads) : size_(threads), gate_(threads) {
  for (int index = 1; index < size_; ++index) {
    threads_.emplace_back([this, index] { serve(index); });
  }
}

Team::~Team() {
  work_ = nullptr;
  gate_.arrive_and_wait();
}

void Team::run(const std::function<void(int)>& work) {
  if (size_ == 1) {
    work(0);
    return;
  }
  work_ = &work;
  gate_.arrive_and_wait();
  work(0);
  gate_.arrive_and_wait();
}

void Team::serve(int index) {
  while (true) {
    gate_.arrive_and_wait();
    if (work_ == nullptr) return;
    (*work_)(index);
    gate_.arrive_and_wait();
  }
}

}  // namespace tsunami
