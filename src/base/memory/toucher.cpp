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
  orders_->target = target_of(0);
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
    (void)thread_.release();  // to join it would wait forever
    (void)orders_.release();  // to destroy them, too, while the parent's thread waits there
    return;
  }
  {
    const std::lock_guard lock(orders_->mutex);
    orders_->stop = true;
  }
  orders_->changed.notify_one();
  finish();
}

void Toucher::finish() {
  if (thread_) thread_->join();
  thread_.reset();
}

// relaxed, here and in take_next(): a hint that comes late costs time alone; join() orders what the owner does
// afterwards.
void Toucher::pass_over(size_t end) {
  const size_t parts = end / kPart * kPart;
  if (parts > passed_over_.load(std::memory_order_relaxed)) passed_over_.store(parts, std::memory_order_relaxed);
}

// acquire: who reads it uses the memory; partner: the release in take_next().
size_t Toucher::taken() const { return taken_.load(std::memory_order_acquire); }

void Toucher::use(size_t end) {
  const size_t target = target_of(end);
  {
    const std::lock_guard lock(orders_->mutex);
    if (target <= orders_->target) return;
    orders_->target = target;
  }
  orders_->changed.notify_one();
}

size_t Toucher::target_of(size_t end) const {
  const size_t used = std::min(end, bytes_);
  const size_t ahead = std::max(used, options_.ahead);
  return ahead >= bytes_ - used ? bytes_ : used + ahead;
}

void Toucher::run() {
  size_t offset = 0;
  bool more = true;
  bool improving = false;
  while (more || improving) {
    switch (next(offset, more, improving)) {
      case Next::take:
        more = take_next(offset);
        improving = options_.improve != nullptr;
        break;
      case Next::improve: improving = options_.improve(); break;
      case Next::end: return;
    }
  }
}

Toucher::Next Toucher::next(size_t offset, bool more, bool improving) {
  std::unique_lock lock(orders_->mutex);
  const auto is_ordered = [&] { return orders_->stop || (more && (offset < orders_->target || offset >= bytes_)); };
  if (improving) {
    orders_->changed.wait_for(lock, kPause, is_ordered);
  } else {
    orders_->changed.wait(lock, is_ordered);
  }
  if (orders_->stop) return Next::end;
  return is_ordered() ? Next::take : Next::improve;
}

bool Toucher::take_next(size_t& offset) {
  offset = std::max(offset, passed_over_.load(std::memory_order_relaxed));
  if (offset >= bytes_) {
    if (options_.taken) options_.taken();
    return false;
  }
  const size_t size = std::min(kPart, bytes_ - offset);
  if (!options_.take(offset, size)) return false;
  taken_.store(offset + size, std::memory_order_release);
  offset += kPart;
  return true;
}

}  // namespace tailrace::impl
