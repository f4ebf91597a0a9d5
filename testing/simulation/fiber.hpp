// Fiber: a function with a stack of its own that can stop in the middle and go on later, on the same thread.
//
// The lowest part of the simulator: who goes on when is for World to say. Tells the sanitizers of each switch. A
// fiber that has not ended is not destroyed: one that never will is buried.
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <functional>
#include <memory>

namespace tailrace::impl::simulation {

class Fiber {
 public:
  explicit Fiber(std::function<void()> body);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // From outside: runs the fiber until it suspends itself or ends.
  void resume();
  // From inside: back to who resumed it.
  void suspend();

  bool ended() const { return ended_; }
  // Keeps a fiber that will not go on, and its stack, as long as the process lives: others may refer to what is on
  // it.
  static void bury(std::unique_ptr<Fiber> fiber);

 private:
  static void enter(unsigned high, unsigned low);
  void run();

  std::function<void()> body_;
  bool ended_ = false;
  void* stack_ = nullptr;
  ucontext_t inside_{};
  ucontext_t outside_{};
  // The address sanitizer's own state, which it wants back after a switch.
  void* fake_inside_ = nullptr;
  void* fake_outside_ = nullptr;
  const void* outside_stack_ = nullptr;
  size_t outside_size_ = 0;
};

}  // namespace tailrace::impl::simulation
