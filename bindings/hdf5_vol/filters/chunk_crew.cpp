#include "hdf5_vol/filters/chunk_crew.hpp"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <system_error>
#include <thread>
#include <utility>

#include "process_client/counted.hpp"
#include "process_client/own_thread.hpp"

namespace tailrace::hdf5 {

ChunkCrew::ChunkCrew() {
  const unsigned processors = std::thread::hardware_concurrency();
  try {
    for (unsigned i = 0; i < std::clamp(processors, 2u, 9u) - 1; ++i)
      process::start_own_thread("tailrace-hdf5", [this] { work(); });
  } catch (const std::system_error&) {
    // With fewer threads, or none, a caller that waits for a chunk does the work itself.
  }
}

// Filters may need a few more bytes. If the free buffers do not fit, they are given up one by one.
ByteBuffer ChunkCrew::take_buffer(size_t bytes) {
  constexpr size_t kMore = 64;
  const auto fits = [bytes](const ByteBuffer& buffer) {
    return buffer.capacity() >= bytes + kMore && buffer.capacity() <= 2 * (bytes + kMore);
  };
  ByteBuffer unused;  // freed outside the lock
  {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(free_.rbegin(), free_.rend(), fits);
    const auto taken = found != free_.rend() ? std::prev(found.base()) : free_.begin();
    if (taken != free_.end()) {
      unused = std::move(*taken);
      free_.erase(taken);
      free_bytes_ -= unused.capacity();
    }
  }
  return fits(unused) ? std::move(unused) : ByteBuffer(bytes + kMore);
}

void ChunkCrew::give_back(ByteBuffer buffer, uint64_t most) {
  const std::lock_guard lock(mutex_);
  if (free_bytes_ + buffer.capacity() > most) return;
  free_bytes_ += buffer.capacity();
  free_.push_back(std::move(buffer));
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

bool ChunkCrew::wait(const ChunkJob& job, std::optional<Deadline> deadline) {
  FilterMemory memory;
  std::unique_lock lock(mutex_);
  while (!job.done) {
    if (deadline && std::chrono::steady_clock::now() >= *deadline) return false;
    if (!jobs_.empty()) {
      do_one(lock, memory);
    } else if (deadline) {
      done_.wait_until(lock, *deadline);
    } else {
      done_.wait(lock);
    }
  }
  return true;
}

void ChunkCrew::work() {
  FilterMemory memory;
  std::unique_lock lock(mutex_);
  for (;;) {
    asked_.wait(lock, [this] { return !jobs_.empty(); });
    do_one(lock, memory);
  }
}

void ChunkCrew::do_one(std::unique_lock<std::mutex>& lock, FilterMemory& memory) {
  const std::shared_ptr<ChunkJob> job = std::move(jobs_.front());
  jobs_.pop_front();
  lock.unlock();
  const uint64_t bytes = job->bytes.size();
  const bool filtered = filter_chunk(job->filters, job->bytes, memory);
  lock.lock();
  ++chunks_;
  unfiltered_ += filtered ? 0 : 1;
  bytes_ += bytes;
  bytes_filtered_ += job->bytes.size();
  job->filtered = filtered;
  job->done = true;
  done_.notify_all();
}

void ChunkCrew::report() {
  const std::lock_guard lock(mutex_);
  if (chunks_ == 0) return;
  std::fprintf(stderr,
               "tailrace: %s of HDF5 data, %.1f MiB, filtered beside the program: %.1f MiB then; "
               "%s\n",
               process::counted(chunks_, "chunk").c_str(), static_cast<double>(bytes_) / (1 << 20),
               static_cast<double>(bytes_filtered_) / (1 << 20), process::counted(unfiltered_, "failure").c_str());
}

}  // namespace tailrace::hdf5
