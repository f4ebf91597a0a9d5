// sync: the simplest good synchronous writer. A file for each iteration, its blocks one after the other, space
// reserved first, written in large pieces that bypass the page cache, and renamed when complete.
//
// With --direct off (or if the file system has no O_DIRECT) it writes through the page cache and syncs each file.
#include <cstdio>
#include <optional>

#include "bench/pattern/posix_file.hpp"
#include "bench/pattern/write/own_arrays.hpp"
#include "bench/pattern/write/write_worker.hpp"

namespace bench {
namespace {

constexpr uint64_t kPiece = uint64_t{8} << 20;  // bytes of one transfer
constexpr uint64_t kUnit = 4096;                // O_DIRECT needs multiples of this

class Sync final : public WriteWorker {
 public:
  explicit Sync(const WriteContext& context)
      : context_(context),
        // Whole units: the arrays have that length too, and the excess is cut off at the end.
        room_((context.options.block_bytes() + kUnit - 1) / kUnit * kUnit),
        direct_(context.options.direct && context.folders.can_bypass_cache()),
        arrays_(context.options) {}

  char* block(int variable, int iteration) override { return arrays_.of(variable, iteration); }

  void put(int variable, int iteration) override {
    Span span(context_.trace, EventKind::handover, "sync", variable, iteration, context_.options.block_bytes());
    if (!file_) open(iteration);
    const char* const data = arrays_.of(variable, iteration);
    const uint64_t start = static_cast<uint64_t>(variable) * room_;
    for (uint64_t at = 0; at < room_; at += kPiece) {
      file_->write_at(start + at, data + at, std::min(kPiece, room_ - at));
    }
    if (variable + 1 == context_.options.variables) publish(iteration);
    context_.times.set(variable, iteration, span.end());
  }

  void end_iteration(int) override {}
  void finish() override {}
  uint64_t buffer_bytes() const override { return arrays_.held(); }
  bool bypasses_cache() const override { return direct_; }

  std::string description() const override {
    const std::string start = "pwrite in pieces of 8 MiB into a reserved file, ";
    if (direct_) return start + "O_DIRECT, renamed when whole";
    return start + "through the page cache, fdatasync of each file, renamed when whole";
  }

 private:
  void open(int iteration) {
    file_.emplace(context_.folders.file(iteration) + ".part",
                  O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC | (direct_ ? O_DIRECT : 0));
    file_->reserve(room_ * static_cast<uint64_t>(context_.options.variables));
  }

  void publish(int iteration) {
    const auto variables = static_cast<uint64_t>(context_.options.variables);
    if (room_ != context_.options.block_bytes()) {
      file_->resize(room_ * (variables - 1) + context_.options.block_bytes());
    }
    if (!direct_) file_->sync();
    file_->close();
    const std::string name = context_.folders.file(iteration);
    require(std::rename(file_->name().c_str(), name.c_str()) == 0, "rename '" + file_->name() + "'");
    file_.reset();
  }

  const WriteContext context_;
  const uint64_t room_;  // of a block in the file
  const bool direct_;
  OwnArrays arrays_;
  std::optional<PosixFile> file_;  // of the present iteration
};

}  // namespace

std::unique_ptr<WriteWorker> make_sync(const WriteContext& context) { return std::make_unique<Sync>(context); }

}  // namespace bench
