#include "storage/threads/operation_threads.hpp"

#include <pthread.h>

#include <optional>
#include <system_error>
#include <utility>

#include "base/os/signals_blocked.hpp"

namespace tailrace::impl {
namespace {

Capabilities with_threads(Capabilities inner, OperationThreads::Carries carries) {
  if (carries == OperationThreads::Carries::all) inner.operations = OperationThreads::kMostThreads;
  return inner;
}

}  // namespace

OperationThreads::OperationThreads(std::unique_ptr<Storage> inner, Doorbell& doorbell, std::shared_ptr<CpuGroup> cpus,
                                   Carries carries)
    : inner_(std::move(inner)),
      carries_(carries),
      capabilities_(with_threads(inner_->capabilities(), carries)),
      doorbell_(doorbell),
      cpus_(std::move(cpus)) {}

OperationThreads::~OperationThreads() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

// Without any thread, a call is carried out here.
void OperationThreads::submit(FileOperation operation) {
  if (carries_ == Carries::calls && operation.kind != FileOperation::Kind::call) {
    return inner_->submit(std::move(operation));
  }
  bool needs_thread = false;
  {
    const MutexLock lock(mutex_);
    needs_thread = waiting_.size() >= idle_;
  }
  const bool started = needs_thread && threads_.size() < kMostThreads && start_thread();
  if (!started && threads_.empty()) return inner_->submit(std::move(operation));
  {
    const MutexLock lock(mutex_);
    waiting_.push_back(std::move(operation));
  }
  wake_.notify_one();
}

// Returns false if the system can start no more threads.
bool OperationThreads::start_thread() {
  const SignalsBlocked blocked;
  try {
    threads_.emplace_back([this, &files = inner_->files_of_threads()] { run(files); });
  } catch (const std::system_error&) {
    return false;
  }
  return true;
}

std::optional<FileOperationEnd> OperationThreads::reap_operation() {
  {
    const MutexLock lock(mutex_);
    if (!ended_.empty()) {
      FileOperationEnd end = std::move(ended_.front());
      ended_.pop_front();
      return end;
    }
  }
  return inner_->reap_operation();
}

void OperationThreads::run(FileSystem& files) {
  pthread_setname_np(pthread_self(), "tailrace-names");
  std::optional<CpuGroup::Member> here;
  if (cpus_) here.emplace(*cpus_);
  MutexLock lock(mutex_);
  for (;;) {
    ++idle_;
    while (!stopping_ && waiting_.empty()) wake_.wait(mutex_);
    --idle_;
    if (waiting_.empty()) return;
    const FileOperation operation = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    FileOperationEnd end = carry_out(files, operation);
    lock.lock();
    ended_.push_back(std::move(end));
    doorbell_.wake();
  }
}

}  // namespace tailrace::impl
