#include "base/memory/toucher.hpp"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include "base/os/signals_blocked.hpp"

namespace tailrace::impl {
namespace {

constexpr std::chrono::milliseconds kPause{20};

}  // namespace

Toucher::Toucher(size_t bytes, Options options) : bytes_(bytes), options_(std::move(options)) {
  const SignalsBlocked for_the_thread(options_.unblocked);
  try {
    thread_ = std::make_unique<std::thread>([this] {
      pthread_setname_np(pthread_self(), "tailrace-touch");
      if (options_.prepare) options_.prepare();
      run();
    });
  } catch (const std::system_error&) {
    thread_.reset();  // no thread is to be had: memory is touched when it is used
  }
}

Toucher::~Toucher() {
  if (process_ != process_mark()) {
    (void)thread_.release();    // to join it would wait for ever
    (void)interval_.release();  // to destroy it, too, while the parent's thread waits there
    return;
  }
  {
    const std::lock_guard lock(interval_->mutex);
    stop_.store(true, std::memory_order_relaxed);
  }
  interval_->ended.notify_one();
  finish();
}

void Toucher::finish() {
  if (thread_) thread_->join();
  thread_.reset();
}

void Toucher::pass_over(size_t end) {
  const size_t parts = end / kPart * kPart;
  if (parts > passed_over_.load(std::memory_order_relaxed)) passed_over_.store(parts, std::memory_order_relaxed);
}

void Toucher::run() {
  take_all();
  if (options_.improve) improve();
}

// relaxed, for both: a hint that comes late costs time alone; join() orders what the owner does afterwards.
void Toucher::take_all() {
  for (size_t offset = 0;; offset += kPart) {
    offset = std::max(offset, passed_over_.load(std::memory_order_relaxed));
    if (stop_.load(std::memory_order_relaxed)) return;
    if (offset >= bytes_) break;
    if (!options_.take(offset, std::min(kPart, bytes_ - offset))) return;
  }
  if (options_.taken) options_.taken();
}

void Toucher::improve() {
  while (pause() && options_.improve()) {
  }
}

bool Toucher::pause() {
  std::unique_lock lock(interval_->mutex);
  return !interval_->ended.wait_for(lock, kPause, [this] { return stop_.load(std::memory_order_relaxed); });
}

}  // namespace tailrace::impl
