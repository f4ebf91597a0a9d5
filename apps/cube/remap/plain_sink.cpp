#include "cube/remap/plain_sink.hpp"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "cube/archive/error.hpp"
#include "cube/remap/partial_file.hpp"

namespace tailrace::cube {
namespace {

constexpr size_t kLine = 64;

// Makes the C library start its write thread on that cpu: threads inherit where they may run.
void start_write_thread(int descriptor, int cpu) {
  aioinit settings{};
  settings.aio_threads = 1;  // as in the thesis: one for each device
  settings.aio_num = 64;
  aio_init(&settings);
  cpu_set_t before;
  sched_getaffinity(0, sizeof before, &before);
  cpu_set_t only;
  CPU_ZERO(&only);
  if (cpu >= 0 && cpu < CPU_SETSIZE) {
    CPU_SET(cpu, &only);
    sched_setaffinity(0, sizeof only, &only);
  }
  aiocb sync{};
  sync.aio_fildes = descriptor;
  if (aio_fsync(O_DSYNC, &sync) == 0) {
    const aiocb* const list[] = {&sync};
    while (aio_suspend(list, 1, nullptr) != 0 && errno == EINTR) {
    }
    aio_return(&sync);
  }
  sched_setaffinity(0, sizeof before, &before);
}

}  // namespace

PlainSink::PlainSink(const std::string& path, const SinkOptions& options)
    : Sink(options.block_bytes),
      path_(path),
      writer_(options.writer),
      durable_(options.durable),
      most_pending_(std::max<uint64_t>(2, options.budget / options.block_bytes)) {
  if (writer_ == Writer::nothing) return;
  descriptor_ = create_partial(path);
  if (writer_ == Writer::pinned || writer_ == Writer::aligned) start_write_thread(descriptor_, options.cpu);
}

PlainSink::~PlainSink() {
  for (Pending& each : pending_) {
    const aiocb* const list[] = {each.control.get()};
    while (aio_error(each.control.get()) == EINPROGRESS) aio_suspend(list, 1, nullptr);
    free_block(each.block);
  }
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::byte* PlainSink::take(uint64_t) {
  const bool aligned = writer_ == Writer::aligned;
  const size_t bytes = (block_bytes() + kLine - 1) / kLine * kLine;
  void* const memory = aligned ? std::aligned_alloc(kLine, bytes) : std::malloc(block_bytes());
  if (memory == nullptr) throw std::bad_alloc();
  return static_cast<std::byte*>(memory);
}

void PlainSink::give_back(std::byte* block) { free_block(block); }
void PlainSink::free_block(std::byte* block) const { std::free(block); }

void PlainSink::write(std::byte* block, size_t bytes, uint64_t offset) {
  if (writer_ == Writer::synchronous) write_now(block, bytes, offset);
  if (writer_ == Writer::synchronous || writer_ == Writer::nothing) return free_block(block);
  const std::lock_guard lock(mutex_);
  while (pending_.size() >= most_pending_) end_oldest();
  pending_.push_back({block, std::make_unique<aiocb>()});
  aiocb& control = *pending_.back().control;
  control.aio_fildes = descriptor_;
  control.aio_buf = block;
  control.aio_nbytes = bytes;
  control.aio_offset = static_cast<off_t>(offset);
  if (aio_write(&control) == 0) return;
  const std::string why = std::strerror(errno);
  pending_.pop_back();
  free_block(block);
  throw Error(partial_name(path_) + ": aio_write: " + why);
}

void PlainSink::finish() {
  const std::lock_guard lock(mutex_);
  while (!pending_.empty()) end_oldest();
  if (writer_ == Writer::nothing) return;
  if (durable_ && ::fdatasync(descriptor_) != 0) {
    throw Error(partial_name(path_) + ": fdatasync: " + std::strerror(errno));
  }
  if (::close(std::exchange(descriptor_, -1)) != 0)
    throw Error(partial_name(path_) + ": close: " + std::strerror(errno));
  if (::rename(partial_name(path_).c_str(), path_.c_str()) != 0)
    throw Error(path_ + ": rename: " + std::strerror(errno));
}

void PlainSink::write_now(const std::byte* block, size_t bytes, uint64_t offset) const {
  while (bytes > 0) {
    const ssize_t written = ::pwrite(descriptor_, block, bytes, static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw Error(partial_name(path_) + ": write: " + std::strerror(errno));
    block += written;
    bytes -= static_cast<size_t>(written);
    offset += static_cast<uint64_t>(written);
  }
}

void PlainSink::end_oldest() {
  const Pending oldest = std::move(pending_.front());
  pending_.pop_front();
  const aiocb* const list[] = {oldest.control.get()};
  while (aio_error(oldest.control.get()) == EINPROGRESS) aio_suspend(list, 1, nullptr);
  const int error = aio_error(oldest.control.get());
  const ssize_t written = aio_return(oldest.control.get());
  const auto bytes = static_cast<size_t>(std::max<ssize_t>(written, 0));
  try {
    if (error != 0) throw Error(partial_name(path_) + ": write: " + std::strerror(error));
    if (bytes < oldest.control->aio_nbytes) {
      write_now(oldest.block + bytes, oldest.control->aio_nbytes - bytes,
                static_cast<uint64_t>(oldest.control->aio_offset) + bytes);
    }
  } catch (const Error&) {
    free_block(oldest.block);
    throw;
  }
  free_block(oldest.block);
}

}  // namespace tailrace::cube
