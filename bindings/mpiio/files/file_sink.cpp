#include "mpiio/files/file_sink.hpp"

#include "mpiio/process/process.hpp"
#include "mpiio/transfer/failures.hpp"

namespace tailrace::mpiio {
namespace {

// Adds the time of its life to `spent`.
class Stopwatch {
 public:
  explicit Stopwatch(std::chrono::nanoseconds& spent) : spent_(spent) {}
  ~Stopwatch() { spent_ += std::chrono::steady_clock::now() - start_; }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  std::chrono::nanoseconds& spent_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

void FileSink::write(std::span<const tailrace_extent> extents, std::span<const std::byte> bytes) {
  const Stopwatch watch(spent_);
  note(output_.iwrite(extents, bytes.data(), tickets_));
}

// Another call may have learned of a failure before, and kept it for the file.
void FileSink::note(const Refusal& refused) {
  if (refused.status == TAILRACE_OK) return;
  const int kept = take_failures(output_.path());
  const int error = kept != 0 ? kept : report_failure(refused.message, refused.system_errno);
  if (error_ == 0) error_ = error;
}

// A failure of another write stays for that one, or for the next call. It waits for a moment: a server holds small
// writes back for others while nothing waits for them.
std::optional<int> FileSink::ended() {
  const Stopwatch watch(spent_);
  while (!tickets_.empty()) {
    const Refusal end = carrier().wait(tickets_.back(), 1, output_.path());
    if (end.status == TAILRACE_TIMEOUT) return std::nullopt;
    tickets_.pop_back();
    note(end);
  }
  return error_;
}

}  // namespace tailrace::mpiio
