#include "chunk_crew.hpp"

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>
#include <utility>

namespace tailrace::hdf5 {

namespace {

std::atomic<ChunkCrew*> only = nullptr;  // never destroyed: its threads end with the process
std::mutex making;

}  // namespace

// Acquires what the store below releases: whoever sees the crew sees it made.
ChunkCrew& ChunkCrew::instance() {
  if (ChunkCrew* const crew = only.load(std::memory_order_acquire)) return *crew;
  const std::lock_guard lock(making);
  if (only.load(std::memory_order_relaxed) == nullptr) only.store(new ChunkCrew, std::memory_order_release);
  return *only.load(std::memory_order_relaxed);
}

void ChunkCrew::forget() { only.store(nullptr, std::memory_order_relaxed); }

ChunkCrew::ChunkCrew() {
  const unsigned processors = std::thread::hardware_concurrency();
  try {
    for (unsigned i = 0; i < std::clamp(processors, 2u, 9u) - 1; ++i) std::thread([this] { work(); }).detach();
  } catch (const std::system_error&) {
    // There are fewer, or none: whoever waits for a chunk does what is to be done.
  }
}

void ChunkCrew::submit(std::shared_ptr<ChunkJob> job) {
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
  }
  asked_.notify_one();
}

bool ChunkCrew::is_done(const ChunkJob& job) {
  const std::lock_guard lock(mutex_);
  return job.done;
}

void ChunkCrew::wait(const ChunkJob& job) {
  std::unique_lock lock(mutex_);
  while (!job.done) {
    if (jobs_.empty()) {
      done_.wait(lock);
    } else {
      do_one(lock);
    }
  }
}

void ChunkCrew::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    asked_.wait(lock, [this] { return !jobs_.empty(); });
    do_one(lock);
  }
}

void ChunkCrew::do_one(std::unique_lock<std::mutex>& lock) {
  const std::shared_ptr<ChunkJob> job = std::move(jobs_.front());
  jobs_.pop_front();
  lock.unlock();
  const uint32_t left_out = filter_chunk(job->filters, job->bytes);
  lock.lock();
  job->left_out = left_out;
  job->done = true;
  done_.notify_all();
}

}  // namespace tailrace::hdf5
