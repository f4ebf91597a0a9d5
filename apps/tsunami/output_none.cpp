// No output: the run for comparison. Fields are still packed, into memory that is reused.
#include "output.hpp"

namespace tsunami {
namespace {

class NoneOutput final : public Output {
 public:
  explicit NoneOutput(const OutputSpec& spec) : field_(spec.bytes_per_field()) {}

  void* field(std::size_t, std::int64_t) override { return field_.data(); }
  void put(std::size_t, std::int64_t) override {}
  void end_iteration(std::int64_t) override {}
  void close() override {}
  std::string description() const override { return "none: fields are packed and thrown away"; }
  std::vector<std::string> files() const override { return {}; }

 private:
  std::vector<std::byte> field_;
};

}  // namespace

std::unique_ptr<Output> make_none_output(const OutputSpec& spec) { return std::make_unique<NoneOutput>(spec); }

}  // namespace tsunami
