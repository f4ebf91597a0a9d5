// none: writes nothing. It shows the time of the computation alone.
#include "lab/pattern/write/own_arrays.hpp"
#include "lab/pattern/write/write_worker.hpp"

namespace bench {
namespace {

class None final : public WriteWorker {
 public:
  explicit None(const WriteContext& context) : arrays_(context.options) {}
  char* block(int variable, int iteration) override { return arrays_.of(variable, iteration); }
  void put(int, int) override {}
  void end_iteration(int) override {}
  void finish() override {}
  uint64_t buffer_bytes() const override { return arrays_.held(); }
  bool bypasses_cache() const override { return true; }  // it puts nothing there
  std::string description() const override { return "nothing is written"; }

 private:
  OwnArrays arrays_;
};

}  // namespace

std::unique_ptr<WriteWorker> make_none(const WriteContext& context) { return std::make_unique<None>(context); }

}  // namespace bench
