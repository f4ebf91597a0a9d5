#include "storage/threads/scatter_threads.hpp"

namespace tailrace::impl {
namespace {

Capabilities with_scattered(Capabilities inner) {
  inner.scatters = true;
  return inner;
}

Completion carry_out(FileSystem& files, const Transfer& transfer) {
  return {transfer.tag, files.scatter(transfer.file, transfer.offset, transfer.segments)};
}

}  // namespace

ScatterThreads::ScatterThreads(std::unique_ptr<Storage> inner, Doorbell& doorbell, std::shared_ptr<CpuGroup> cpus)
    : inner_(std::move(inner)),
      capabilities_(with_scattered(inner_->capabilities())),
      doorbell_(doorbell),
      threads_({"tailrace-pieces", kMostThreads, std::move(cpus)}, doorbell,
               [this](const Transfer& write) { return carry_out(*files_, write); }) {}

// Without any thread, the write is carried out here.
void ScatterThreads::submit(const Transfer& transfer) {
  if (!transfer.scattered) return inner_->submit(transfer);
  if (files_ == nullptr) files_ = &inner_->files_of_threads();
  Transfer write = transfer;
  if (threads_.submit(write)) return;
  ended_here_.push_back(carry_out(*files_, write));
  doorbell_.wake();
}

size_t ScatterThreads::reap(std::span<Completion> done) {
  size_t count = 0;
  for (; count < done.size() && !ended_here_.empty(); ended_here_.pop_front()) done[count++] = ended_here_.front();
  while (count < done.size()) {
    const std::optional<Completion> end = threads_.reap();
    if (!end) break;
    done[count++] = *end;
  }
  return count + inner_->reap(done.subspan(count));
}

}  // namespace tailrace::impl
