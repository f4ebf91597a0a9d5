// Fiber: a function with its own stack that can stop in the middle and continue later, on the same thread.
//
// It is the lowest part of the simulator: World decides which fiber runs. It informs the sanitizers of each switch. A
// fiber is only destroyed after its end; one that never ends is buried.
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
  // From inside: returns to the caller of resume().
  void suspend();

  bool ended() const { return ended_; }
  // Keeps a fiber that will never continue, and its stack, for the life of the process: others may refer to objects
  // on it.
  static void bury(std::unique_ptr<Fiber> fiber);

 private:
  static void enter(unsigned high, unsigned low);
  void run();

  std::function<void()> body_;
  bool ended_ = false;
  void* stack_ = nullptr;
  ucontext_t inside_{};
  ucontext_t outside_{};
  // The address sanitizer's own state, which it needs back after a switch.
  void* fake_inside_ = nullptr;
  void* fake_outside_ = nullptr;
  const void* outside_stack_ = nullptr;
  size_t outside_size_ = 0;
};

}  // namespace tailrace::impl::simulation
