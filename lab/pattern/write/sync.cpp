// sync: the simplest good synchronous writer, with a file for each iteration (plain_file.hpp).
#include <optional>

#include "lab/pattern/write/own_arrays.hpp"
#include "lab/pattern/write/plain_file.hpp"
#include "lab/pattern/write/write_worker.hpp"

namespace bench {
namespace {

class Sync final : public WriteWorker {
 public:
  explicit Sync(const WriteContext& context)
      : context_(context),
        direct_(context.options.direct && context.folders.can_bypass_cache()),
        arrays_(context.options) {}

  char* block(int variable, int iteration) override { return arrays_.of(variable, iteration); }

  void put(int variable, int iteration) override {
    Span span(context_.trace, EventKind::handover, "sync", variable, iteration, context_.options.block_bytes());
    if (!file_) file_.emplace(context_.options, context_.folders.file(iteration), direct_);
    file_->write(variable, arrays_.of(variable, iteration));
    if (variable + 1 == context_.options.variables) {
      file_->publish();
      file_.reset();
    }
    context_.times.set(variable, iteration, span.end());
  }

  void end_iteration(int) override {}
  void finish() override {}
  uint64_t buffer_bytes() const override { return arrays_.held(); }
  bool bypasses_cache() const override { return direct_; }
  std::string description() const override { return PlainFile::description(direct_); }

 private:
  const WriteContext context_;
  const bool direct_;
  OwnArrays arrays_;
  std::optional<PlainFile> file_;  // of the present iteration
};

}  // namespace

std::unique_ptr<WriteWorker> make_sync(const WriteContext& context) { return std::make_unique<Sync>(context); }

}  // namespace bench
