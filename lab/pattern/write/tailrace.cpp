// tailrace: through the library, with one of its three verbs.
//
// alloc computes into memory of the pool, write copies the program's arrays, and borrow lends them. It lends a few
// arrays of the program in turn, and waits for their tickets before it uses them again; or (--buffers malloc) a new
// one each time, which it frees when its ticket has ended.
#include <tailrace/tailrace.hpp>

#include <deque>
#include <optional>

#include "lab/pattern/write/library_times.hpp"
#include "lab/pattern/write/own_arrays.hpp"
#include "lab/pattern/write/tailrace_config.hpp"
#include "lab/pattern/write/write_worker.hpp"

namespace bench {
namespace {

class Tailrace final : public WriteWorker {
 public:
  explicit Tailrace(const WriteContext& context)
      : context_(context),
        verb_(context.options.verb),
        fresh_(context.options.buffers == Buffers::malloc),
        most_lent_(static_cast<size_t>(context.options.budget) * static_cast<size_t>(context.options.variables)),
        // Lent blocks use no memory of the pool.
        config_(tailrace_config(context.options, context.folders, verb_ == Verb::borrow ? 0 : context.options.budget,
                                context.trace.on())),
        written_(context.times, context.options.variables) {
    const bool off_line = context.options.buffers == Buffers::unaligned;
    if (verb_ != Verb::alloc && !fresh_) {
      arrays_.emplace(context.options, reuse(), off_line ? Buffer::Start::off_any_line : Buffer::Start::page);
    }
    client_ = tailrace::open("pattern", 0, {.text = config_.text});
  }

  char* block(int variable, int iteration) override {
    poll(variable);
    if (verb_ == Verb::alloc) {
      Span span(context_.trace, EventKind::handover, "alloc", variable, iteration, bytes());
      data_ = reinterpret_cast<char*>(client_.alloc<uint8_t>(name(variable), iteration).data());
      span.end();
    } else if (verb_ == Verb::borrow && fresh_) {
      Span span(context_.trace, EventKind::handover, "alloc", variable, iteration, bytes());
      if (lent_.size() >= most_lent_) wait_while([this] { return lent_.size() >= most_lent_; }, variable, iteration);
      buffer_ = new_malloc_buffer(bytes());
      data_ = buffer_.get();
      touch(data_, bytes());
      span.end();
    } else {
      if (is_lent(variable, iteration - reuse())) {
        wait_while([&] { return is_lent(variable, iteration - reuse()); }, variable, iteration);
      }
      data_ = arrays_->of(variable, iteration);
    }
    return data_;
  }

  void put(int variable, int iteration) override {
    static const char* const names[] = {"commit", "write", "borrow"};
    poll(variable);
    Span span(context_.trace, EventKind::handover, names[static_cast<int>(verb_)], variable, iteration, bytes());
    const std::span<const uint8_t> data(reinterpret_cast<const uint8_t*>(data_), bytes());
    switch (verb_) {
      case Verb::alloc: client_.commit(name(variable), iteration); break;
      case Verb::write: client_.write(name(variable), iteration, data); break;
      case Verb::borrow:
        lent_.push_back({client_.borrow(name(variable), iteration, data), variable, iteration, std::move(buffer_)});
    }
    span.end();
    peak_lent_ = std::max(peak_lent_, lent_.size());
  }

  void end_iteration(int iteration) override {
    Span span(context_.trace, EventKind::handover, "end_iteration", -1, iteration);
    client_.end_iteration(iteration);
    span.end();
  }

  void finish() override {
    if (!lent_.empty()) wait_while([this] { return !lent_.empty(); }, -1, -1);
    Span span(context_.trace, EventKind::wait, "flush", -1, -1);
    client_.flush();
    span.end();
    written_.look_at_all(client_);
    description_ = client_.describe();
  }

  void close() override { client_.close(); }

  // Returns the number of iterations after which the program computes into the same array again.
  int reuse() const override { return verb_ == Verb::borrow && !fresh_ ? context_.options.arrays : 1; }
  uint64_t buffer_bytes() const override { return fresh_ ? peak_lent_ * bytes() : arrays_ ? arrays_->held() : 0; }
  uint64_t budget_bytes() const override { return config_.budget; }
  bool bypasses_cache() const override { return context_.options.direct && context_.folders.can_bypass_cache(); }
  std::string library_trace() const override {
    return context_.trace.on() ? tailrace_trace_file(context_.folders) : "";
  }
  std::string description() const override { return description_; }

 private:
  struct Lent {
    tailrace::Ticket ticket;
    int variable;
    int iteration;
    MallocBuffer buffer;
  };

  uint64_t bytes() const { return context_.options.block_bytes(); }
  static std::string name(int variable) { return "v" + std::to_string(variable); }

  bool is_lent(int variable, int iteration) const {
    for (const Lent& lent : lent_) {
      if (lent.variable == variable && lent.iteration == iteration) return true;
    }
    return false;
  }

  // Notes which blocks were written, and takes back lent arrays, in the order of hand-over.
  void poll(int variable) {
    written_.look(client_, variable);
    while (!lent_.empty() && lent_.front().ticket.test()) lent_.pop_front();
  }

  template <class Condition>
  void wait_while(Condition condition, int variable, int iteration) {
    Span span(context_.trace, EventKind::wait, "wait", variable, iteration);
    while (condition()) {
      lent_.front().ticket.wait();
      lent_.pop_front();
    }
    span.end();
  }

  const WriteContext context_;
  const Verb verb_;
  const bool fresh_;  // a new buffer for each block
  const size_t most_lent_;
  const TailraceConfig config_;
  LibraryTimes written_;
  std::string description_;
  std::optional<OwnArrays> arrays_;
  MallocBuffer buffer_;    // for the present block
  char* data_ = nullptr;   // for the present block
  std::deque<Lent> lent_;  // oldest first
  size_t peak_lent_ = 0;
  tailrace::Client client_;  // last, so that it closes before the arrays that it has borrowed go
};

}  // namespace

std::unique_ptr<WriteWorker> make_tailrace(const WriteContext& context) {
  return std::make_unique<Tailrace>(context);
}

}  // namespace bench
