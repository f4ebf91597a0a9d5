#include "lab/inside/forward_testbed/modelled_storage.hpp"

#include <array>
#include <utility>

namespace tailrace::impl::study {

ModelledStorage::ModelledStorage(std::unique_ptr<Storage> inner, std::unique_ptr<ModelledServers> servers,
                                 const Clock& clock)
    : ForwardingFileSystem(inner->files()), inner_(std::move(inner)), servers_(std::move(servers)), clock_(clock) {}

Result<Opened> ModelledStorage::open(const std::string& path, OpenMode mode, uint32_t device) {
  Result<Opened> opened = ForwardingFileSystem::open(path, mode, device);
  if (!opened.ok()) return opened;
  const Result<NameFacts> facts = stat(path);
  numbers_[opened.value().file] = facts.ok() ? facts.value().identity.number : 0;
  opened.value().stripes = servers_->stripes();
  return opened;
}

void ModelledStorage::submit(const Transfer& transfer) {
  uint64_t bytes = 0;
  for (const iovec& segment : transfer.segments) bytes += segment.iov_len;
  ends_[transfer.tag] = servers_->serve(numbers_.at(transfer.file), transfer.offset, bytes, clock_.now());
  inner_->submit(transfer);
}

size_t ModelledStorage::reap(std::span<Completion> done) {
  std::array<Completion, 64> ended;
  for (size_t count = ended.size(); count == ended.size();) {
    count = inner_->reap(ended);
    for (size_t i = 0; i < count; ++i) {
      const auto end = ends_.extract(ended[i].tag);
      held_.emplace(end.mapped(), ended[i]);
    }
  }
  size_t count = 0;
  while (count < done.size() && !held_.empty() && held_.begin()->first <= clock_.now()) {
    done[count++] = held_.begin()->second;
    held_.erase(held_.begin());
  }
  return count;
}

std::optional<Nanoseconds> ModelledStorage::due() const {
  return held_.empty() ? std::nullopt : std::optional(held_.begin()->first);
}

}  // namespace tailrace::impl::study
