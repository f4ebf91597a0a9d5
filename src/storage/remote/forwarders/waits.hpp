// Waits: what tasks of a remote storage wait for: the answers of forwarders, and conditions, some with a time limit.
//
// One thread, the engine's. A Call or a Condition whose task is destroyed is not waited for any more.
#pragma once

#include <coroutine>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <vector>

#include "storage/remote/forwarders/forwarder_set.hpp"

namespace tailrace::impl {

class Waits {
 public:
  // The answer to a call; none: its link is gone, and it is unknown whether it was carried out.
  struct Reply {
    std::optional<ForwardAnswer> answer = {};
    std::vector<std::byte> bulk = {};
  };

  // Awaits the answer to a call, which is made when it is awaited.
  class Call {
   public:
    // `bulk`: the answer may have bulk data.
    Call(Waits& waits, size_t forwarder, ForwardCallMessage message, bool bulk = false)
        : waits_(waits), forwarder_(forwarder), message_(std::move(message)), bulk_(bulk) {}

    ~Call() { waits_.calls_.erase(number_); }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

    bool await_ready() const { return !waits_.forwarders_.answers(forwarder_); }
    void await_suspend(std::coroutine_handle<> task) {
      task_ = task;
      number_ = waits_.forwarders_.begin_call(forwarder_, message_, bulk_);
      waits_.calls_[number_] = this;
    }
    Reply await_resume() { return std::move(reply_); }

   private:
    friend class Waits;
    Waits& waits_;
    const size_t forwarder_;
    const ForwardCallMessage message_;
    const bool bulk_;
    uint64_t number_ = 0;
    std::coroutine_handle<> task_;
    Reply reply_;
  };

  // Awaits that a condition holds, or that it is time. Returns true if it holds.
  class Condition {
   public:
    Condition(Waits& waits, std::function<bool()> holds, Nanoseconds until = Nanoseconds::max())
        : waits_(waits), holds_(std::move(holds)), until_(until) {}

    ~Condition() { waits_.conditions_.remove(this); }
    Condition(const Condition&) = delete;
    Condition& operator=(const Condition&) = delete;

    bool await_ready() const { return holds_(); }
    void await_suspend(std::coroutine_handle<> task) {
      task_ = task;
      waits_.conditions_.push_back(this);
    }
    bool await_resume() const { return holds_(); }

   private:
    friend class Waits;
    Waits& waits_;
    const std::function<bool()> holds_;
    const Nanoseconds until_;
    std::coroutine_handle<> task_;
  };

  explicit Waits(ForwarderSet& forwarders) : forwarders_(forwarders) {}

  // Awaits that the time has passed.
  Condition pause(Nanoseconds time) {
    return Condition(
        *this, [] { return false; }, forwarders_.now() + time);
  }
  // Takes the answer to a call.
  void answered(uint64_t call, Reply reply);
  // Goes on with the tasks whose conditions hold. Returns true if there were any.
  bool progress();
  // Returns when progress() must be called even if nothing happens.
  std::optional<Nanoseconds> due() const;

 private:
  ForwarderSet& forwarders_;
  std::map<uint64_t, Call*> calls_;  // by number
  std::list<Condition*> conditions_;
};

}  // namespace tailrace::impl
