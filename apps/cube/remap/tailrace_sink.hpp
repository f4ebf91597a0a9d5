// TailraceSink: lends the blocks of one pool to tailrace, whose thread writes them.
#pragma once

#include <tailrace/tailrace.h>

#include <deque>
#include <mutex>
#include <string>

#include "cube/remap/block_pool.hpp"
#include "cube/remap/sink.hpp"

namespace tailrace::cube {

class TailraceSink : public Sink {
 public:
  TailraceSink(const std::string& path, const SinkOptions& options);
  ~TailraceSink() override;

  std::byte* take(uint64_t offset) override;
  void write(std::byte* block, size_t bytes, uint64_t offset) override;
  void give_back(std::byte* block) override;
  void finish() override;

 private:
  struct Lent {
    std::byte* block;
    tailrace_ticket ticket;
  };

  void check(tailrace_status status) const;
  bool has_ended(const Lent& lent) const;
  void reclaim_oldest();

  const std::string path_;
  std::mutex mutex_;  // guards all below: one thread at a time calls tailrace
  BlockPool pool_;
  std::deque<Lent> lent_;
  tailrace_client* client_ = nullptr;
  tailrace_file file_{};
};

}  // namespace tailrace::cube
