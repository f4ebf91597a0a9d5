#include "mpiio/files/file_sink.hpp"

#include "mpiio/files/failures.hpp"
#include "mpiio/files/process.hpp"

namespace tailrace::mpiio {

void FileSink::write(std::span<const tailrace_extent> extents, std::span<const std::byte> bytes) {
  const Refusal refused = carrier().iwrite(file_, extents, bytes.data(), tickets_);
  if (refused.status == TAILRACE_OK) return;
  const int earlier = take_failures(path_);
  error_ = earlier != 0 ? earlier : report_failure(refused.message, refused.system_errno);
}

// The failures of a file are reported once, whichever ticket they belong to.
std::optional<int> FileSink::ended() {
  while (!tickets_.empty()) {
    if (carrier().wait(tickets_.back(), 0, path_).status == TAILRACE_TIMEOUT) return std::nullopt;
    tickets_.pop_back();
  }
  const int failed = take_failures(path_);
  if (error_ == 0) error_ = failed;
  return error_;
}

}  // namespace tailrace::mpiio
