// FileSink: hands over the bytes that a process writes for others, as an aggregator.
#pragma once

#include <tailrace/tailrace.h>

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

 private:
  void note(const process::ProcessClient::Refusal& refused);

  Output& output_;
  std::vector<tailrace_ticket> tickets_;
  int error_ = 0;  // of MPI
};

}  // namespace tailrace::mpiio
