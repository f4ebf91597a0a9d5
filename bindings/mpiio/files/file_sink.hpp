// FileSink: hands over the bytes that a process writes for others, as an aggregator.
#pragma once

#include <tailrace/tailrace.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "collective/write/sink.hpp"
#include "mpiio/pending/file_key.hpp"
#include "process_client/process_client.hpp"

namespace tailrace::mpiio {

class FileSink : public collective::Sink {
 public:
  FileSink(tailrace_file file, const FileKey& key, std::string path)
      : file_(file), key_(key), path_(std::move(path)) {}

  void write(std::span<const tailrace_extent> extents, std::span<const std::byte> bytes) override;
  std::optional<int> ended() override;

 private:
  void note(const process::ProcessClient::Refusal& refused);

  const tailrace_file file_;
  const FileKey key_;
  const std::string path_;
  std::vector<tailrace_ticket> tickets_;
  int error_ = 0;  // of MPI
};

}  // namespace tailrace::mpiio
