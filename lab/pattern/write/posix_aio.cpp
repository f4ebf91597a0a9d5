// posix-aio: the naive asynchronous writer of Sid Lakhdar 2017, with glibc's AIO. It copies each block into a new
// buffer from malloc, which aio_write writes to its file through the page cache, with one writing thread for each
// device.
//
// Only --budget bounds the pending blocks. It checks for ended writes at each hand-over, and syncs the files when all
// are written.
#include <aio.h>

#include <cstring>
#include <deque>
#include <map>

#include "lab/pattern/interruption.hpp"
#include "lab/pattern/posix_file.hpp"
#include "lab/pattern/write/own_arrays.hpp"
#include "lab/pattern/write/write_worker.hpp"

namespace bench {
namespace {

class PosixAio final : public WriteWorker {
 public:
  explicit PosixAio(const WriteContext& context)
      : context_(context),
        most_pending_(static_cast<size_t>(context.options.budget) * static_cast<size_t>(context.options.variables)),
        arrays_(context.options) {
    aioinit settings{};
    settings.aio_threads = static_cast<int>(context.folders.count());
    settings.aio_num = static_cast<int>(most_pending_);
    aio_init(&settings);
  }

  // The buffers must outlive the writes, even if the run has failed.
  ~PosixAio() override {
    for (const Pending& pending : pending_) wait_for(pending);
  }

  char* block(int variable, int iteration) override {
    reap();
    return arrays_.of(variable, iteration);
  }

  void put(int variable, int iteration) override {
    const uint64_t bytes = context_.options.block_bytes();
    Span span(context_.trace, EventKind::handover, "write", variable, iteration, bytes);
    reap();
    if (pending_.size() >= most_pending_) {
      Span wait(context_.trace, EventKind::wait, "memory", variable, iteration);
      while (pending_.size() >= most_pending_) retire_oldest();
      wait.end();
    }
    if (variable == 0) {
      files_.emplace(iteration, PosixFile(file_name(iteration), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC));
    }
    Pending& pending = pending_.emplace_back(new_malloc_buffer(bytes), variable, iteration);
    std::memcpy(pending.buffer.get(), arrays_.of(variable, iteration), bytes);
    pending.control.aio_fildes = files_.at(iteration).descriptor();
    pending.control.aio_offset = static_cast<off_t>(bytes * static_cast<uint64_t>(variable));
    pending.control.aio_buf = pending.buffer.get();
    pending.control.aio_nbytes = bytes;
    pending.control.aio_sigevent.sigev_notify = SIGEV_NONE;
    if (aio_write(&pending.control) != 0) {
      const int error = errno;
      pending_.pop_back();
      require(false, "hand '" + file_name(iteration) + "' to aio_write", error);
    }
    span.end();
    pending.handed = now();
    peak_pending_ = std::max(peak_pending_, pending_.size());
  }

  void end_iteration(int) override {}

  void finish() override {
    Span span(context_.trace, EventKind::wait, "flush", -1, -1);
    while (!pending_.empty()) retire_oldest();
    for (int iteration = 0; iteration < context_.options.iterations; ++iteration) {
      PosixFile file(file_name(iteration), O_RDWR | O_CLOEXEC);
      file.sync();
      file.close();
    }
    span.end();
  }

  uint64_t buffer_bytes() const override { return arrays_.held() + peak_pending_ * context_.options.block_bytes(); }
  std::string description() const override {
    return "aio_write of copies in malloc'd buffers, " + std::to_string(context_.folders.count()) +
           " thread(s), through the page cache, fdatasync of all files at the end";
  }

 private:
  struct Pending {
    Pending(MallocBuffer memory, int of_variable, int of_iteration)
        : buffer(std::move(memory)), variable(of_variable), iteration(of_iteration) {}
    MallocBuffer buffer;
    int variable;
    int iteration;
    double handed = 0;
    aiocb control{};
  };

  std::string file_name(int iteration) const { return context_.folders.file(iteration) + ".raw"; }

  static void wait_for(const Pending& pending) {
    const aiocb* const one[] = {&pending.control};
    while (aio_error(&pending.control) == EINPROGRESS) aio_suspend(one, 1, nullptr);
  }

  // Retires ended writes, in the order of hand-over.
  void reap() {
    while (!pending_.empty() && aio_error(&pending_.front().control) != EINPROGRESS) retire_oldest();
  }

  void retire_oldest() {
    Pending& oldest = pending_.front();
    wait_for(oldest);
    stop_if_interrupted();
    const int error = aio_error(&oldest.control);
    const ssize_t written = aio_return(&oldest.control);
    const PosixFile& file = files_.at(oldest.iteration);
    require(error == 0, "write '" + file.name() + "' by AIO", error);
    const auto done = static_cast<uint64_t>(written);
    if (done < oldest.control.aio_nbytes) {  // a short write: write the rest at once
      file.write_at(static_cast<uint64_t>(oldest.control.aio_offset) + done, oldest.buffer.get() + done,
                    oldest.control.aio_nbytes - done);
    }
    context_.times.set(oldest.variable, oldest.iteration, now() - oldest.handed);
    const bool last = oldest.variable + 1 == context_.options.variables;
    const int iteration = oldest.iteration;
    pending_.pop_front();
    if (!last) return;
    files_.at(iteration).close();
    files_.erase(iteration);
  }

  const WriteContext context_;
  const size_t most_pending_;
  OwnArrays arrays_;
  std::map<int, PosixFile> files_;  // of iterations with pending blocks
  std::deque<Pending> pending_;     // oldest first; a deque does not move them
  size_t peak_pending_ = 0;
};

}  // namespace

std::unique_ptr<WriteWorker> make_posix_aio(const WriteContext& context) {
  return std::make_unique<PosixAio>(context);
}

}  // namespace bench
