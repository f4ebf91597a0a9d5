#include "mpiio/files/background_reads.hpp"

#include <pthread.h>

#include <system_error>

#include "process_client/made_once.hpp"
#include "process_client/own_thread.hpp"

namespace tailrace::mpiio {
namespace {

// Never destroyed: its thread ends with the process.
process::MadeOnce<BackgroundReads>& made() {
  static auto* const only = new process::MadeOnce<BackgroundReads>;
  return *only;
}

}  // namespace

BackgroundReads& BackgroundReads::instance() {
  [[maybe_unused]] static const int forks = ::pthread_atfork(nullptr, nullptr, [] { made().forget(); });
  return made().get();
}

void BackgroundReads::begin(std::function<void()> read) {
  {
    const std::lock_guard lock(mutex_);
    try {
      if (!has_thread_) process::start_own_thread("tailrace-read", [this] { run(); });
      has_thread_ = true;
      waiting_.push_back(std::move(read));
      return wake_.notify_one();
    } catch (const std::system_error&) {
    }
  }
  read();
}

void BackgroundReads::finish() {
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [this] { return waiting_.empty() && !is_reading_; });
}

void BackgroundReads::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return !waiting_.empty(); });
    is_reading_ = true;
    std::function<void()> read = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    read();
    read = nullptr;  // what it kept may take a while to end
    lock.lock();
    is_reading_ = false;
    if (waiting_.empty()) idle_.notify_all();
  }
}

}  // namespace tailrace::mpiio
