// thread, core: through the library. With `write` the program keeps its array, with `alloc` it computes in tailrace's
// memory, with `borrow` it lends two arrays in turn.
#include <tailrace/tailrace.hpp>

#include <array>
#include <vector>

#include "lab/core/program_config.hpp"
#include "lab/core/way.hpp"

namespace bench::core {
namespace {

constexpr uint64_t kSlack = uint64_t{1} << 20;

std::string variable_of(const RunOptions& options) {
  const std::string adaptive = options.adaptive ? "" : ", adaptive: false";
  switch (options.compress) {
    case Compress::none: return "";
    case Compress::zstd: return ", compress: {filter: zstd" + adaptive + "}";
    case Compress::float16: return ", precision: float16, compress: {filter: zstd" + adaptive + "}";
  }
  return "";
}

std::string config_of(const RunOptions& options, int process) {
  const std::string count = std::to_string(options.bytes / sizeof(float));
  const std::string all = std::to_string(static_cast<uint64_t>(options.processes) * (options.bytes / sizeof(float)));
  const std::string first = std::to_string(static_cast<uint64_t>(process) * (options.bytes / sizeof(float)));
  const std::string place =
      options.way == WayKind::thread ? "thread" : "core, clients: " + std::to_string(options.processes);
  return "tailrace: 1\nname: run\nplace: {kind: " + place +
         "}\nmemory: {budget: " + std::to_string(static_cast<uint64_t>(options.budget) * options.bytes + kSlack) +
         "}\n" + storage(options.dir, options.file_per_node ? ", file_per: node" : "") +
         "layouts:\n  field: {type: float32, shape: [" + count + "], global: [" + all + "], offset: [" + first +
         "]}\nvariables:\n  field: {layout: field" + variable_of(options) + "}\n";
}

class Tailrace final : public Way {
 public:
  Tailrace(const RunOptions& options, int process)
      : verb_(options.verb), client_(tailrace::open("core_bench", process, {.text = config_of(options, process)})) {
    if (verb_ == HandOver::borrow) other_.resize(options.bytes / sizeof(float));
  }

  std::span<float> block(int64_t iteration, std::span<float> own) override {
    switch (verb_) {
      case HandOver::write: return own;
      case HandOver::alloc: return client_.alloc<float>("field", iteration);
      case HandOver::borrow: break;
    }
    tailrace::Ticket& lent = lent_[iteration % 2];
    if (lent) lent.wait();
    return iteration % 2 == 0 ? own : std::span<float>(other_);
  }

  void put(int64_t iteration, std::span<const float> block) override {
    switch (verb_) {
      case HandOver::write: client_.write("field", iteration, block); break;
      case HandOver::alloc: client_.commit("field", iteration); break;
      case HandOver::borrow: lent_[iteration % 2] = client_.borrow("field", iteration, block); break;
    }
    client_.end_iteration(iteration);
  }

  void flush() override { client_.flush(); }

  void close() override {
    description_ = client_.describe();
    const tailrace::VariableStats of = client_.stats("field");
    filtered_ = {.bytes = of.bytes_filtered,
                 .stored = of.bytes_stored,
                 .seconds = of.filtering.total,
                 .chunks = of.chunks_filtered,
                 .relaxed = of.chunks_relaxed,
                 .skipped = of.chunks_skipped};
    waited_ = client_.stats().seconds_waiting_memory;
    client_.close();
  }

  std::string description() const override { return description_; }
  Filtered filtered() const override { return filtered_; }
  double waited() const override { return waited_; }

 private:
  const HandOver verb_;
  std::vector<float> other_;  // the second array of `borrow`
  tailrace::Client client_;
  std::array<tailrace::Ticket, 2> lent_;
  std::string description_;
  Filtered filtered_;
  double waited_ = 0;
};

}  // namespace

std::unique_ptr<Way> make_tailrace(const RunOptions& options, int process) {
  return std::make_unique<Tailrace>(options, process);
}

}  // namespace bench::core
