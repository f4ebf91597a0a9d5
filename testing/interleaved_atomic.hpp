// InterleavedAtomic<T> replaces std::atomic<T>, and Watched<T> a plain T, in code that explore() drives.
//
// Each operation of an InterleavedAtomic is a scheduling point. The atomic remembers every value it has had and the
// thread that stored it, and the explorer keeps vector clocks. So a load may see an older value wherever C++ allows
// it, by its memory order and by what happened before: a missing acquire, release or store-load order shows even on a
// machine that never reorders. It does not model fences, reads from the future, and consume. A Watched fails the
// schedule if two threads use it and nothing orders them. Outside explored threads both are plain.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

namespace tailrace::impl::testing {

inline constexpr size_t kMaxInterleavedThreads = 8;

// A thread's knowledge of the others: the number of each one's steps that happened before its own next step.
using VectorClock = std::array<uint32_t, kMaxInterleavedThreads>;

// The part of an atomic that does not depend on its type: which thread stored when, and what each store ordered.
class InterleavedHistory {
 public:
  InterleavedHistory();

  // Each begins with the scheduling point, and updates the clocks for an operation of that order.
  size_t begin_load(std::memory_order order);  // returns the number of the store to read from
  void begin_exclusive();                      // for an operation that reads or replaces the newest value
  void end_store(std::memory_order order);
  void end_exchange(std::memory_order order);         // it stored, having read the newest value
  void end_failed_exchange(std::memory_order order);  // it only read the newest value
  bool fails_for_nothing();                           // asks whether a weak compare-exchange fails spuriously
  void note(const char* operation, const std::string& value) const;  // adds a line to the trace, if there is one

 private:
  struct Store {
    int thread;     // -1: before the threads began
    uint32_t time;  // the thread's own count of steps
    bool seq_cst;
    VectorClock orders;  // what happens before an acquire load of it
  };
  struct Read {
    int thread;
    uint32_t time;
    size_t store;
  };
  size_t oldest_readable(std::memory_order order) const;
  void append(std::memory_order order, const VectorClock& inherited);

  std::vector<Store> stores_;
  std::vector<Read> reads_;
};

bool tracing();

template <class T>
class InterleavedAtomic {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  using value_type = T;
  static constexpr bool is_always_lock_free = true;

  InterleavedAtomic() : InterleavedAtomic(T{}) {}
  InterleavedAtomic(T value) : values_{{value}} {}  // NOLINT: implicit, as in std::atomic
  InterleavedAtomic(const InterleavedAtomic&) = delete;
  InterleavedAtomic& operator=(const InterleavedAtomic&) = delete;

  T load(std::memory_order order = std::memory_order_seq_cst) const {
    const T value = values_[history_.begin_load(order)].value;
    note("load", value);
    return value;
  }
  operator T() const { return load(); }

  void store(T value, std::memory_order order = std::memory_order_seq_cst) {
    history_.begin_exclusive();
    values_.push_back({value});
    history_.end_store(order);
    note("store", value);
  }
  T operator=(T value) {  // NOLINT: returns a value, as in std::atomic
    store(value);
    return value;
  }

  T exchange(T value, std::memory_order order = std::memory_order_seq_cst) {
    return modify("exchange", order, [value](T) { return value; });
  }

  bool compare_exchange_strong(T& expected, T desired, std::memory_order success, std::memory_order failure) {
    return compare_exchange(expected, desired, success, failure, false);
  }
  bool compare_exchange_strong(T& expected, T desired, std::memory_order order = std::memory_order_seq_cst) {
    return compare_exchange(expected, desired, order, failure_order(order), false);
  }
  bool compare_exchange_weak(T& expected, T desired, std::memory_order success, std::memory_order failure) {
    return compare_exchange(expected, desired, success, failure, true);
  }
  bool compare_exchange_weak(T& expected, T desired, std::memory_order order = std::memory_order_seq_cst) {
    return compare_exchange(expected, desired, order, failure_order(order), true);
  }

  T fetch_add(T value, std::memory_order order = std::memory_order_seq_cst) {
    return modify("fetch_add", order, [value](T old) { return static_cast<T>(old + value); });
  }
  T fetch_sub(T value, std::memory_order order = std::memory_order_seq_cst) {
    return modify("fetch_sub", order, [value](T old) { return static_cast<T>(old - value); });
  }
  T fetch_or(T value, std::memory_order order = std::memory_order_seq_cst) {
    return modify("fetch_or", order, [value](T old) { return static_cast<T>(old | value); });
  }
  T fetch_and(T value, std::memory_order order = std::memory_order_seq_cst) {
    return modify("fetch_and", order, [value](T old) { return static_cast<T>(old & value); });
  }
  T fetch_xor(T value, std::memory_order order = std::memory_order_seq_cst) {
    return modify("fetch_xor", order, [value](T old) { return static_cast<T>(old ^ value); });
  }
  T operator++() { return static_cast<T>(fetch_add(T{1}) + 1); }
  T operator--() { return static_cast<T>(fetch_sub(T{1}) - 1); }
  T operator++(int) { return fetch_add(T{1}); }
  T operator--(int) { return fetch_sub(T{1}); }

 private:
  // A struct, since a vector of bool holds no bools.
  struct Value {
    T value;
  };

  template <class Change>
  T modify(const char* operation, std::memory_order order, Change change) {
    history_.begin_exclusive();
    const T old = values_.back().value;
    const T value = change(old);
    values_.push_back({value});
    history_.end_exchange(order);
    note(operation, value);
    return old;
  }

  bool compare_exchange(T& expected, T desired, std::memory_order success, std::memory_order failure, bool weak) {
    history_.begin_exclusive();
    const T old = values_.back().value;
    const bool equal = std::memcmp(&old, &expected, sizeof old) == 0;
    if (!equal || (weak && history_.fails_for_nothing())) {
      history_.end_failed_exchange(failure);
      note(equal ? "compare_exchange failed for nothing, saw" : "compare_exchange failed, saw", old);
      expected = old;
      return false;
    }
    values_.push_back({desired});
    history_.end_exchange(success);
    note("compare_exchange", desired);
    return true;
  }

  static constexpr std::memory_order failure_order(std::memory_order order) {
    if (order == std::memory_order_acq_rel) return std::memory_order_acquire;
    if (order == std::memory_order_release) return std::memory_order_relaxed;
    return order;
  }

  void note(const char* operation, const T& value) const {
    if (!tracing()) return;
    if constexpr (std::is_integral_v<T>) {
      history_.note(operation, std::to_string(value));
    } else {
      history_.note(operation, "(a value)");
    }
  }

  std::vector<Value> values_;
  mutable InterleavedHistory history_;
};

// The part of a Watched that does not depend on its type: the thread that used it last.
class AccessHistory {
 public:
  void on_read() const;
  void on_write();

 private:
  int writer_ = -1;
  uint32_t written_ = 0;
  mutable VectorClock read_{};
};

template <class T>
class Watched {
 public:
  Watched() = default;
  Watched(T value) : value_(value) {}  // NOLINT: implicit, to replace a T
  Watched(const Watched& other) : value_(other.get()) {}
  Watched& operator=(const Watched& other) { return *this = other.get(); }
  Watched& operator=(T value) {
    history_.on_write();
    value_ = value;
    return *this;
  }
  T get() const {
    history_.on_read();
    return value_;
  }
  operator T() const { return get(); }

 private:
  T value_{};
  AccessHistory history_;
};

}  // namespace tailrace::impl::testing
