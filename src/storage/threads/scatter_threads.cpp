#include "storage/threads/scatter_threads.hpp"

#include <pthread.h>

#include <optional>
#include <system_error>
#include <utility>

#include "base/os/signals_blocked.hpp"

namespace tailrace::impl {
namespace {

Capabilities with_scattered(Capabilities inner) {
  inner.scatters = true;
  return inner;
}

}  // namespace

ScatterThreads::ScatterThreads(std::unique_ptr<Storage> inner, Doorbell& doorbell, std::shared_ptr<CpuGroup> cpus)
    : inner_(std::move(inner)),
      capabilities_(with_scattered(inner_->capabilities())),
      doorbell_(doorbell),
      cpus_(std::move(cpus)) {}

ScatterThreads::~ScatterThreads() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

// Without any thread, the write is carried out here.
void ScatterThreads::submit(const Transfer& transfer) {
  if (!transfer.scattered) return inner_->submit(transfer);
  bool needs_thread = false;
  {
    const MutexLock lock(mutex_);
    needs_thread = waiting_.size() >= idle_;
  }
  const bool started = needs_thread && threads_.size() < kMostThreads && start_thread();
  if (!started && threads_.empty()) {
    const Completion end = carry_out(transfer);
    const MutexLock lock(mutex_);
    ended_.push_back(end);
    return doorbell_.wake();
  }
  {
    const MutexLock lock(mutex_);
    waiting_.push_back(transfer);
  }
  wake_.notify_one();
}

// Returns false if the system can start no more threads.
bool ScatterThreads::start_thread() {
  const SignalsBlocked blocked;
  try {
    threads_.emplace_back([this] { run(); });
  } catch (const std::system_error&) {
    return false;
  }
  return true;
}

size_t ScatterThreads::reap(std::span<Completion> done) {
  size_t count = 0;
  {
    const MutexLock lock(mutex_);
    while (count < done.size() && !ended_.empty()) {
      done[count++] = ended_.front();
      ended_.pop_front();
    }
  }
  return count + inner_->reap(done.subspan(count));
}

Completion ScatterThreads::carry_out(const Transfer& transfer) {
  return {transfer.tag, inner_->files_of_threads().scatter(transfer.file, transfer.offset, transfer.segments)};
}

void ScatterThreads::run() {
  pthread_setname_np(pthread_self(), "tailrace-scatter");
  std::optional<CpuGroup::Member> here;
  if (cpus_) here.emplace(*cpus_);
  MutexLock lock(mutex_);
  for (;;) {
    ++idle_;
    while (!stopping_ && waiting_.empty()) wake_.wait(mutex_);
    --idle_;
    if (waiting_.empty()) return;
    const Transfer transfer = waiting_.front();
    waiting_.pop_front();
    lock.unlock();
    const Completion end = carry_out(transfer);
    lock.lock();
    ended_.push_back(end);
    doorbell_.wake();
  }
}

}  // namespace tailrace::impl
