#include "hdf5_vol/files/file_chunks.hpp"

#include <algorithm>
#include <iterator>

namespace tailrace::hdf5 {

FileChunks::Token FileChunks::key_of(const H5O_token_t& token) {
  Token key;
  std::copy(std::begin(token.__data), std::end(token.__data), key.begin());
  return key;
}

const ChunkCache* FileChunks::cache_of(const H5O_token_t& token) const {
  const auto found = caches_.find(key_of(token));
  return found != caches_.end() ? &found->second : nullptr;
}

std::shared_ptr<ChunkQueue> FileChunks::queue_of(const H5O_token_t& token) {
  std::shared_ptr<ChunkQueue>& queue = queues_[key_of(token)];
  if (queue == nullptr) queue = std::make_shared<ChunkQueue>(host_, path_);
  return queue;
}

void FileChunks::place() {
  for (const auto& [token, queue] : queues_) queue->place(false, failures_);
  // Forgets empty queues that no open object uses.
  std::erase_if(queues_, [](const auto& entry) { return entry.second.use_count() == 1 && entry.second->empty(); });
}

bool FileChunks::place_oldest() {
  ChunkQueue* oldest = nullptr;
  for (const auto& [token, queue] : queues_) {
    if (!queue->empty() && (oldest == nullptr || queue->number() < oldest->number())) oldest = queue.get();
  }
  if (oldest != nullptr) oldest->place_one(failures_);
  return oldest != nullptr;
}

void FileChunks::settle() {
  for (const auto& [token, queue] : queues_) queue->place(true, failures_);
}

void FileChunks::leave_to_parent() {
  for (const auto& [token, queue] : queues_) queue->leave_to_parent();
}

}  // namespace tailrace::hdf5
