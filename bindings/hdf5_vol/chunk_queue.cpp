#include "chunk_queue.hpp"

#include <algorithm>
#include <utility>

#include "carrier.hpp"

namespace tailrace::hdf5 {

std::atomic<uint64_t> ChunkQueue::bytes_ = 0;
std::atomic<uint64_t> ChunkQueue::added_ = 0;

void ChunkQueue::add(void* under, std::vector<hsize_t> offset, std::shared_ptr<ChunkJob> job) {
  const uint64_t bytes = job->bytes.size();
  bytes_.fetch_add(bytes, std::memory_order_relaxed);
  waiting_.push_back({under, std::move(offset), job, bytes, added_.fetch_add(1, std::memory_order_relaxed)});
  ChunkCrew::instance().submit(std::move(job));
}

// Not given back: a thread of the parent may have been in the middle of it.
void ChunkQueue::leave_to_parent() {
  for (const Waiting& chunk : waiting_) bytes_.fetch_sub(chunk.bytes, std::memory_order_relaxed);
  new std::deque<Waiting>(std::move(waiting_));
  waiting_.clear();
  closing_.clear();
}

void ChunkQueue::place(bool all, std::vector<std::string>& failures) {
  while (!waiting_.empty() && (all || ChunkCrew::instance().is_done(*waiting_.front().job))) place_one(failures);
}

bool ChunkQueue::place_until(const ChunkJob& job, std::optional<ChunkCrew::Deadline> deadline,
                             std::vector<std::string>& failures) {
  while (!job.placed && !waiting_.empty()) {
    if (!ChunkCrew::instance().wait(*waiting_.front().job, deadline)) return false;
    place_one(failures);
  }
  return true;
}

// Chunks may have more than 4 GiB from 2.0 on, and what says how many bytes is longer.
bool ChunkQueue::give(const Waiting& chunk) const {
  const ChunkJob& job = *chunk.job;
  struct {
    const hsize_t* offset;
    uint32_t filters;
    size_t size;
    const void* bytes;
  } of_2{chunk.offset.data(), job.left_out, job.bytes.size(), job.bytes.data()};
  H5VL_native_dataset_chunk_write_t of_1{chunk.offset.data(), job.left_out, static_cast<uint32_t>(job.bytes.size()),
                                         job.bytes.data()};
  void* const below = host_.major() >= 2 ? static_cast<void*>(&of_2) : &of_1;
  H5VL_optional_args_t arguments{H5VL_NATIVE_DATASET_CHUNK_WRITE, below};
  return host_.H5VLdataset_optional(chunk.under, host_.native, &arguments, host_.transfer, nullptr) >= 0;
}

void ChunkQueue::place_one(std::vector<std::string>& failures) {
  const Waiting chunk = std::move(waiting_.front());
  waiting_.pop_front();
  ChunkCrew::instance().wait(*chunk.job);
  const uint64_t left = bytes_.fetch_sub(chunk.bytes, std::memory_order_relaxed) - chunk.bytes;
  const bool given = give(chunk);
  chunk.job->placed = true;
  const uint64_t budget = Carrier::instance().budget();
  ChunkCrew::instance().give_back(std::move(chunk.job->bytes), budget - std::min(budget, left));
  if (!given) {
    std::string where;
    for (const hsize_t at : chunk.offset) where += (where.empty() ? "" : ", ") + std::to_string(at);
    chunk.job->failure = "write '" + path_ + "': HDF5 could not write the chunk at (" + where + ")";
    failures.push_back(chunk.job->failure);
  }
  if (!waiting_.empty()) return;
  for (void* under : closing_) host_.H5VLdataset_close(under, host_.native, host_.transfer, nullptr);
  closing_.clear();
}

}  // namespace tailrace::hdf5
