#include "hdf5_vol/files/request.hpp"

#include <algorithm>

#include "hdf5_vol/host/errors.hpp"
#include "hdf5_vol/process/process.hpp"

namespace tailrace::hdf5 {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr uint64_t kMillisecond = 1000000;

int64_t milliseconds_until(steady_clock::time_point deadline) {
  return std::max<int64_t>(duration_cast<milliseconds>(deadline - steady_clock::now()).count(), 0);
}

}  // namespace

// After a call that has failed: no event set gets its request, and the program may free the memory. Another failure
// adds nothing to that of the call.
Request::~Request() {
  for (const Part& part : parts_) (void)wait_for(part, {});
}

H5VL_request_status_t Request::wait(uint64_t timeout) {
  // Treat years as no limit.
  const bool bounded = timeout / kMillisecond < uint64_t{1} << 40;
  const milliseconds at_most((timeout + kMillisecond - 1) / kMillisecond);
  const Deadline deadline = bounded ? Deadline(steady_clock::now() + at_most) : std::nullopt;
  while (!parts_.empty()) {
    if (!wait_for(parts_.back(), deadline)) return H5VL_REQUEST_STATUS_IN_PROGRESS;
    parts_.pop_back();
  }
  while (!chunks_.empty()) {
    if (!wait_for(chunks_.front(), deadline)) return H5VL_REQUEST_STATUS_IN_PROGRESS;
    chunks_.pop_front();
  }
  return why_.empty() ? H5VL_REQUEST_STATUS_SUCCEED : H5VL_REQUEST_STATUS_FAIL;
}

bool Request::wait_for(const Part& part, Deadline deadline) {
  const int64_t at_most = deadline ? milliseconds_until(*deadline) : -1;
  const Refusal end = carrier().wait(part.ticket, at_most, part.file);
  if (end.status == TAILRACE_TIMEOUT) return false;
  note_end(end.message);
  return true;
}

// If the file is gone, HDF5 has all its chunks.
bool Request::wait_for(const Chunk& chunk, Deadline deadline) {
  const std::shared_ptr<File> file = chunk.file.lock();
  if (file != nullptr && !chunk.queue->place_until(*chunk.job, deadline, file->failures())) return false;
  note_end(chunk.job->failure);
  return true;
}

void Request::note_end(const std::string& failure) {
  if (why_.empty()) why_ = failure;
  ended_ = std::chrono::system_clock::now();
}

hid_t Request::error_stack() const {
  const hid_t stack = host_.H5Ecreate_stack();
  if (stack >= 0) push_error(host_, stack, "H5Dwrite_async", why_);
  return stack;
}

void Request::execution(uint64_t* begun, uint64_t* took) const {
  using std::chrono::microseconds;
  using std::chrono::nanoseconds;
  if (begun != nullptr)
    *begun = static_cast<uint64_t>(duration_cast<microseconds>(begun_.time_since_epoch()).count());
  const auto end = empty() ? ended_ : std::chrono::system_clock::now();
  if (took != nullptr) *took = static_cast<uint64_t>(duration_cast<nanoseconds>(end - begun_).count());
}

Refusal write_for(Request* request, File& file, uint64_t dataset, std::span<const tailrace_extent> extents,
                  const void* data, bool data_stay) {
  if (request == nullptr) return file.writes().write(dataset, extents, data);
  std::vector<tailrace_ticket> tickets;
  const Refusal refused = data_stay ? file.writes().lend(dataset, extents, data, tickets)
                                    : file.writes().iwrite(dataset, extents, data, tickets);
  for (const tailrace_ticket ticket : tickets) request->add(file.path(), ticket);
  return refused;
}

}  // namespace tailrace::hdf5
