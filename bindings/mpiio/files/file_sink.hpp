// FileSink: hands over the bytes that a process writes for others, as an aggregator.
#pragma once

#include <tailrace/tailrace.h>

#include <chrono>
#include <optional>
#include <span>
#include <vector>

#include "collective/write/sink.hpp"
#include "mpiio/transfer/output.hpp"

namespace tailrace::mpiio {

class FileSink : public collective::Sink {
 public:
  explicit FileSink(Output& output) : output_(output) {}

  void write(std::span<const tailrace_extent> extents, std::span<const std::byte> bytes) override;
  std::optional<int> ended() override;
  // Returns how long the calls have taken.
  std::chrono::nanoseconds spent() const { return spent_; }

 private:
  void note(const process::ProcessClient::Refusal& refused);

  Output& output_;
  std::vector<tailrace_ticket> tickets_;
  int error_ = 0;  // of MPI
  std::chrono::nanoseconds spent_{0};
};

}  // namespace tailrace::mpiio
