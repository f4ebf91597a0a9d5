// PlainSink: writes without tailrace: synchronously, by POSIX AIO, or not at all. The ways to compare with.
#pragma once

#include <aio.h>

#include <deque>
#include <memory>
#include <mutex>
#include <string>

#include "cube/remap/sink.hpp"

namespace tailrace::cube {

class PlainSink : public Sink {
 public:
  PlainSink(const std::string& path, const SinkOptions& options);
  ~PlainSink() override;

  std::byte* take(uint64_t offset) override;
  void write(std::byte* block, size_t bytes, uint64_t offset) override;
  void give_back(std::byte* block) override;
  void finish() override;

 private:
  struct Pending {
    std::byte* block;
    std::unique_ptr<aiocb> control;  // at an address of its own
  };

  void write_now(const std::byte* block, size_t bytes, uint64_t offset) const;
  void end_oldest();
  void free_block(std::byte* block) const;

  const std::string path_;
  const Writer writer_;
  const bool durable_;
  const size_t most_pending_;
  int descriptor_ = -1;
  std::mutex mutex_;             // guards all below
  std::deque<Pending> pending_;  // in the order of their requests
};

}  // namespace tailrace::cube
