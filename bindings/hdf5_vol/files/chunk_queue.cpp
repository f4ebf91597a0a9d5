#include "hdf5_vol/files/chunk_queue.hpp"

#include <algorithm>
#include <utility>

#include "hdf5_vol/host/inquiry.hpp"
#include "hdf5_vol/process/process.hpp"

namespace tailrace::hdf5 {

std::atomic<uint64_t> ChunkQueue::bytes_ = 0;
std::atomic<uint64_t> ChunkQueue::added_ = 0;

void ChunkQueue::add(void* under, std::vector<hsize_t> offset, std::vector<hsize_t> shape,
                     std::shared_ptr<ChunkJob> job) {
  const uint64_t bytes = job->bytes.size();
  bytes_.fetch_add(bytes, std::memory_order_relaxed);
  const uint64_t number = added_.fetch_add(1, std::memory_order_relaxed);
  newest_[offset] = number;
  waiting_.push_back({under, std::move(offset), std::move(shape), job, bytes, number});
  Process::instance().crew().submit(std::move(job));
}

// The chunks are not freed: a thread of the parent may have been using them.
void ChunkQueue::leave_to_parent() {
  for (const Waiting& chunk : waiting_) bytes_.fetch_sub(chunk.bytes, std::memory_order_relaxed);
  new std::deque<Waiting>(std::move(waiting_));
  waiting_.clear();
  newest_.clear();
  closing_.clear();
}

void ChunkQueue::place(bool all, std::vector<std::string>& failures) {
  while (!waiting_.empty() && (all || Process::instance().crew().is_done(*waiting_.front().job))) place_one(failures);
}

bool ChunkQueue::place_until(const ChunkJob& job, std::optional<ChunkCrew::Deadline> deadline,
                             std::vector<std::string>& failures) {
  while (!job.placed && !waiting_.empty()) {
    if (!Process::instance().crew().wait(*waiting_.front().job, deadline)) return false;
    place_one(failures);
  }
  return true;
}

// A chunk that was written again is no longer needed: the newer one has all of it.
bool ChunkQueue::give(const Waiting& chunk) {
  const auto newest = newest_.find(chunk.offset);
  if (newest->second != chunk.number) return true;
  newest_.erase(newest);
  ++(chunk.job->filtered ? filtered_ : unfiltered_);
  return chunk.job->filtered ? give_filtered(chunk) : give_unfiltered(chunk);
}

// From 2.0 on, chunks may have more than 4 GiB, and the field for the size is wider. (See largest_chunk().)
bool ChunkQueue::give_filtered(const Waiting& chunk) const {
  const ChunkJob& job = *chunk.job;
  struct {
    const hsize_t* offset;
    uint32_t filters;
    size_t size;
    const void* bytes;
  } of_2{chunk.offset.data(), 0, job.bytes.size(), job.bytes.data()};
  H5VL_native_dataset_chunk_write_t of_1{chunk.offset.data(), 0, static_cast<uint32_t>(job.bytes.size()),
                                         job.bytes.data()};
  void* const below = host_.major() >= 2 ? static_cast<void*>(&of_2) : &of_1;
  H5VL_optional_args_t arguments{H5VL_NATIVE_DATASET_CHUNK_WRITE, below};
  return host_.H5VLdataset_optional(chunk.under, host_.native, &arguments, host_.transfer, nullptr) >= 0;
}

// HDF5 decides about a chunk that a filter failed with. This could be done here with a mask of the filters left out,
// but HDF5 remembers the chunk's earlier mask (1.14.5 and 2.0), and cannot read the chunk at once.
bool ChunkQueue::give_unfiltered(const Waiting& chunk) const {
  const std::vector<hsize_t>& shape = chunk.shape;
  hid_t type = get(host_, chunk.under, H5VL_DATASET_GET_TYPE);
  hid_t space = get(host_, chunk.under, H5VL_DATASET_GET_SPACE);
  hid_t memory = host_.H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
  void* under = chunk.under;
  const void* bytes = chunk.job->bytes.data();
  const bool done =
      type >= 0 && space >= 0 && memory >= 0 && select(chunk, space, memory) &&
      host_.H5VLdataset_write(1, &under, host_.native, &type, &memory, &space, host_.transfer, &bytes, nullptr) >= 0;
  if (memory >= 0) host_.H5Sclose(memory);
  if (space >= 0) host_.H5Sclose(space);
  if (type >= 0) host_.H5Tclose(type);
  return done;
}

// Selects the part of the chunk within the dataset's extent, in the dataset's space and in the chunk's own.
bool ChunkQueue::select(const Waiting& chunk, hid_t space, hid_t memory) const {
  std::vector<hsize_t> count(chunk.shape.size());
  if (host_.H5Sget_simple_extent_dims(space, count.data(), nullptr) < 0) return false;
  for (size_t axis = 0; axis < count.size(); ++axis) {
    count[axis] = std::min(chunk.shape[axis], count[axis] - std::min(count[axis], chunk.offset[axis]));
  }
  const std::vector<hsize_t> zero(count.size());
  const auto select_from = [&](hid_t of, const std::vector<hsize_t>& begin) {
    return host_.H5Sselect_hyperslab(of, H5S_SELECT_SET, begin.data(), nullptr, count.data(), nullptr) >= 0;
  };
  return select_from(space, chunk.offset) && select_from(memory, zero);
}

void ChunkQueue::place_one(std::vector<std::string>& failures) {
  const Waiting chunk = std::move(waiting_.front());
  waiting_.pop_front();
  Process::instance().crew().wait(*chunk.job);
  const uint64_t left = bytes_.fetch_sub(chunk.bytes, std::memory_order_relaxed) - chunk.bytes;
  const bool given = give(chunk);
  chunk.job->placed = true;
  const uint64_t budget = carrier().budget();
  Process::instance().crew().give_back(std::move(chunk.job->bytes), budget - std::min(budget, left));
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
