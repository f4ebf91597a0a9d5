// bare: what a program gets that writes its own double buffering: two arrays a variable, and one thread that writes
// them as `sync` does, in the order of handing over.
//
// The thread runs where the system puts it. The program waits where the array that it needs has not been written yet.
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

#include "lab/pattern/write/own_arrays.hpp"
#include "lab/pattern/write/plain_file.hpp"
#include "lab/pattern/write/write_worker.hpp"

namespace bench {
namespace {

constexpr int kArrays = 2;  // of a variable

class Bare final : public WriteWorker {
 public:
  explicit Bare(const WriteContext& context)
      : context_(context),
        direct_(context.options.direct && context.folders.can_bypass_cache()),
        arrays_(context.options, kArrays),
        thread_([this](const std::stop_token& stop) { serve(stop); }) {}

  char* block(int variable, int iteration) override {
    wait_for(blocks_before(variable, iteration - kArrays) + 1, "memory", variable, iteration);
    return arrays_.of(variable, iteration);
  }

  void put(int variable, int iteration) override {
    Span span(context_.trace, EventKind::handover, "put", variable, iteration, context_.options.block_bytes());
    const std::lock_guard lock(mutex_);
    fail_as_thread();
    handed_.push_back({variable, iteration, now()});
    changed_.notify_all();
    span.end();
  }

  void end_iteration(int) override {}
  void finish() override { wait_for(blocks_before(0, context_.options.iterations), "flush", -1, -1); }

  int reuse() const override { return kArrays; }
  uint64_t buffer_bytes() const override { return arrays_.held(); }
  bool bypasses_cache() const override { return direct_; }
  std::string description() const override {
    return "one thread and two buffers, " + PlainFile::description(direct_);
  }

 private:
  struct Block {
    int variable;
    int iteration;
    double handed;
  };

  // How many blocks are handed over before this one.
  int64_t blocks_before(int variable, int iteration) const {
    return int64_t{iteration} * context_.options.variables + variable;
  }

  // Waits until this many blocks have been written.
  void wait_for(int64_t blocks, const char* what, int variable, int iteration) {
    std::unique_lock lock(mutex_);
    if (written_ < blocks && !failure_) {
      Span span(context_.trace, EventKind::wait, what, variable, iteration);
      changed_.wait(lock, [&] { return written_ >= blocks || failure_; });
      span.end();
    }
    fail_as_thread();
  }

  // With the mutex held.
  void fail_as_thread() {
    if (failure_) std::rethrow_exception(failure_);
  }

  void serve(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    try {
      while (changed_.wait(lock, stop, [this] { return !handed_.empty(); })) {
        const Block block = handed_.front();
        handed_.pop_front();
        lock.unlock();
        write(block);
        lock.lock();
        context_.times.set(block.variable, block.iteration, now() - block.handed);
        ++written_;
        changed_.notify_all();
      }
    } catch (...) {
      if (!lock.owns_lock()) lock.lock();
      failure_ = std::current_exception();
      changed_.notify_all();
    }
  }

  void write(const Block& block) {
    if (!file_) file_.emplace(context_.options, context_.folders.file(block.iteration), direct_);
    file_->write(block.variable, arrays_.of(block.variable, block.iteration));
    if (block.variable + 1 < context_.options.variables) return;
    file_->publish();
    file_.reset();
  }

  // Constant after construction.
  const WriteContext context_;
  const bool direct_;
  const OwnArrays arrays_;
  // Owned by the thread that writes.
  std::optional<PlainFile> file_;  // of the iteration under way
  // Guarded by the mutex.
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Block> handed_;  // and not yet being written
  int64_t written_ = 0;       // blocks
  std::exception_ptr failure_;
  std::jthread thread_;  // last: it uses what stands above
};

}  // namespace

std::unique_ptr<WriteWorker> make_bare(const WriteContext& context) { return std::make_unique<Bare>(context); }

}  // namespace bench
