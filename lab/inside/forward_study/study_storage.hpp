// StudyStorage: the simulated parallel file system as a forwarder's storage. Implements the port storage/storage.hpp.
//
// It says when a transfer has ended, and never touches the memory of one.
#pragma once

#include <deque>
#include <functional>
#include <utility>

#include "lab/inside/forward_study/study_files.hpp"
#include "storage/storage.hpp"

namespace tailrace::impl::study {

class StudyStorage final : public Storage {
 public:
  // Borrows the file system. Calls `ended` whenever there is something to reap.
  StudyStorage(ParallelFileSystem& files, uint32_t depth, std::function<void()> ended)
      : files_(files), names_(files), capabilities_{"study", depth, kSegments, 0}, ended_(std::move(ended)) {}

  const Capabilities& capabilities() const override { return capabilities_; }
  FileSystem& files() override { return names_; }
  void use_memory(std::span<std::byte>) override {}

  void submit(const Transfer& transfer) override {
    TAILRACE_REQUIRE(transfer.kind != Transfer::Kind::sync);
    Extent extent{transfer.offset, 0};
    for (const iovec& segment : transfer.segments) extent.length += segment.iov_len;
    const Completion completion{transfer.tag, static_cast<int64_t>(extent.length)};
    files_.transfer(transfer.kind == Transfer::Kind::write, transfer.file, extent, [this, completion] {
      done_.push_back(completion);
      ended_();
    });
  }

  size_t reap(std::span<Completion> done) override {
    size_t count = 0;
    while (count < done.size() && !done_.empty()) {
      done[count++] = done_.front();
      done_.pop_front();
    }
    return count;
  }

 private:
  static constexpr uint32_t kSegments = 1024;  // as the system's IOV_MAX

  ParallelFileSystem& files_;
  StudyFiles names_;
  const Capabilities capabilities_;
  const std::function<void()> ended_;
  std::deque<Completion> done_;  // at most `depth`
};

}  // namespace tailrace::impl::study
