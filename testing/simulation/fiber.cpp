#include "testing/simulation/fiber.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "base/assert.hpp"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#include <sanitizer/lsan_interface.h>
#endif

namespace tailrace::impl::simulation {
namespace {

constexpr size_t kStack = size_t{1} << 20;
constexpr size_t kGuard = 4096;  // below the stack, so that an overflow faults at once

// Stacks are reused: touching new ones would cost more than a run.
std::vector<void*>& spare_stacks() {
  static std::vector<void*> stacks;
  return stacks;
}

void* take_stack() {
  std::vector<void*>& spare = spare_stacks();
  if (!spare.empty()) {
    void* const stack = spare.back();
    spare.pop_back();
    return stack;
  }
  void* const mapped =
      mmap(nullptr, kStack + kGuard, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  TAILRACE_REQUIRE(mapped != MAP_FAILED);
  TAILRACE_REQUIRE(mprotect(mapped, kGuard, PROT_NONE) == 0);
  return static_cast<std::byte*>(mapped) + kGuard;
}

#if defined(__SANITIZE_ADDRESS__)
void leave(void** fake, const void* stack, size_t size) { __sanitizer_start_switch_fiber(fake, stack, size); }
void arrive(void* fake, const void** from, size_t* size) { __sanitizer_finish_switch_fiber(fake, from, size); }
void forget_stack(void* stack) { __asan_unpoison_memory_region(stack, kStack); }
// Memory that the stack refers to is not a leak.
void keep_stack(void* stack) { __lsan_register_root_region(stack, kStack); }
#else
void leave(void**, const void*, size_t) {}
void arrive(void*, const void**, size_t*) {}
void forget_stack(void*) {}
void keep_stack(void*) {}
#endif

}  // namespace

Fiber::Fiber(std::function<void()> body) : body_(std::move(body)), stack_(take_stack()) {
  getcontext(&inside_);
  inside_.uc_stack.ss_sp = stack_;
  inside_.uc_stack.ss_size = kStack;
  inside_.uc_link = nullptr;
  const auto self = reinterpret_cast<uintptr_t>(this);
  // makecontext passes ints, so the pointer goes in two halves.
  makecontext(&inside_, reinterpret_cast<void (*)()>(&Fiber::enter), 2, static_cast<unsigned>(self >> 32),
              static_cast<unsigned>(self));
}

Fiber::~Fiber() {
  TAILRACE_REQUIRE(ended_);
  forget_stack(stack_);
  spare_stacks().push_back(stack_);
}

void Fiber::bury(std::unique_ptr<Fiber> fiber) {
  static auto* const graves = new std::vector<std::unique_ptr<Fiber>>;
  keep_stack(fiber->stack_);
  graves->push_back(std::move(fiber));
}

void Fiber::enter(unsigned high, unsigned low) {
  reinterpret_cast<Fiber*>(static_cast<uintptr_t>(high) << 32 | low)->run();
}

void Fiber::run() {
  arrive(nullptr, &outside_stack_, &outside_size_);
  body_();
  ended_ = true;
  leave(nullptr, outside_stack_, outside_size_);
  setcontext(&outside_);
}

void Fiber::resume() {
  TAILRACE_REQUIRE(!ended_);
  leave(&fake_outside_, stack_, kStack);
  swapcontext(&outside_, &inside_);
  arrive(fake_outside_, nullptr, nullptr);
}

void Fiber::suspend() {
  leave(&fake_inside_, outside_stack_, outside_size_);
  swapcontext(&inside_, &outside_);
  arrive(fake_inside_, &outside_stack_, &outside_size_);
}

}  // namespace tailrace::impl::simulation
