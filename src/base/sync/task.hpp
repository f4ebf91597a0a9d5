// Task: a function that waits without holding its thread: a coroutine of C++20.
//
// A task begins when another task awaits it, or start() is called. It runs on the thread that resumes it. The task
// that awaits it gets its result. A task that waits may be destroyed.
//
// GCC 12 destroys a braced temporary in the operand of co_await twice: give every argument a name.
#pragma once

#include <coroutine>
#include <cstdlib>
#include <optional>
#include <utility>

namespace tailrace::impl {

template <class T>
class [[nodiscard]] Task {
 public:
  struct promise_type;
  using Handle = std::coroutine_handle<promise_type>;

  // Resumes the task that awaits this one.
  struct End {
    bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(Handle ended) const noexcept { return ended.promise().waiter; }
    void await_resume() const noexcept {}
  };
  struct promise_type {
    std::optional<T> result;
    std::coroutine_handle<> waiter = std::noop_coroutine();

    Task get_return_object() { return Task(Handle::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    End final_suspend() noexcept { return {}; }
    template <class Value>
    void return_value(Value&& value) {
      result.emplace(std::forward<Value>(value));
    }
    void unhandled_exception() { std::abort(); }  // as anywhere on the server's thread
  };

  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Task& operator=(Task&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Task() {
    if (handle_) handle_.destroy();
  }

  void start() { handle_.resume(); }
  bool is_over() const { return handle_.done(); }
  // Returns the result of a task that is over, once.
  T take() { return std::move(*handle_.promise().result); }

  bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> waiter) noexcept {
    handle_.promise().waiter = waiter;
    return handle_;
  }
  T await_resume() { return take(); }

 private:
  explicit Task(Handle handle) : handle_(handle) {}

  Handle handle_;
};

}  // namespace tailrace::impl
