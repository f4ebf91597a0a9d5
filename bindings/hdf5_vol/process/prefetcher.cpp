#include "hdf5_vol/process/prefetcher.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cstdio>
#include <system_error>

#include "process_client/counted.hpp"
#include "process_client/own_thread.hpp"

namespace tailrace::hdf5 {
namespace {

// For one hint Linux reads no more than its own read-ahead, which is rarely set to less than this.
constexpr uint64_t kStep = 128 << 10;  // bytes

}  // namespace

bool Prefetcher::start() {
  if (tried_) return runs_;
  tried_ = true;
  try {
    process::start_own_thread("tailrace-hdf5", [this] { work(); });
    runs_ = true;
  } catch (const std::system_error&) {
    // Without a thread nothing is prefetched.
  }
  return runs_;
}

void Prefetcher::ask(int file, uint64_t dataset, const tailrace_extent& range) {
  const std::lock_guard lock(mutex_);
  if (!start()) return;
  std::erase_if(jobs_, [=](const Job& job) { return job.file == file && job.dataset == dataset; });
  jobs_.push_back({file, dataset, range});
  ++ranges_;
  foreseen_ += range.length;
  asked_.notify_one();
}

void Prefetcher::drop(int file, uint64_t dataset) {
  const std::lock_guard lock(mutex_);
  std::erase_if(jobs_, [=](const Job& job) { return job.file == file && job.dataset == dataset; });
}

void Prefetcher::leave(int file) {
  std::unique_lock lock(mutex_);
  std::erase_if(jobs_, [=](const Job& job) { return job.file == file; });
  stepped_.wait(lock, [=, this] { return busy_ != file; });
}

void Prefetcher::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    asked_.wait(lock, [this] { return !jobs_.empty(); });
    do_step(lock);
  }
}

// The first job stays in the list until it is done, so that others can find and cancel it.
void Prefetcher::do_step(std::unique_lock<std::mutex>& lock) {
  Job& job = jobs_.front();
  const tailrace_extent step{job.rest.offset, std::min(kStep, job.rest.length)};
  const int file = busy_ = job.file;
  job.rest = {step.offset + step.length, job.rest.length - step.length};
  if (job.rest.length == 0) jobs_.pop_front();
  lock.unlock();
  const int failed =
      posix_fadvise(file, static_cast<off_t>(step.offset), static_cast<off_t>(step.length), POSIX_FADV_WILLNEED);
  lock.lock();
  if (failed == 0) brought_ += step.length;
  busy_ = -1;
  stepped_.notify_all();
}

void Prefetcher::report() {
  const std::lock_guard lock(mutex_);
  std::fprintf(stderr,
               "tailrace: %s of HDF5 data, %.1f MiB, foreseen for sequential readers; %.1f MiB "
               "prefetched\n",
               process::counted(ranges_, "range").c_str(), static_cast<double>(foreseen_) / (1 << 20),
               static_cast<double>(brought_) / (1 << 20));
}

}  // namespace tailrace::hdf5
