// FailureLog: carries the failures of accepted requests from the server to the client, and keeps them until the
// client has seen them (promise 1).
//
// It is a ring of fixed-width records in memory that both sides see, and the client's list of failures that it took
// from the ring and has not reported yet. Bounded: failures that find no room are counted, and reported as a number.
// The client's check for failures on each call is one load. Each side has an object of its own over the same memory.
// (In one process both may use one object: they touch different members.)
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>

#include "base/status.hpp"
#include "base/sync/spsc_ring.hpp"
#include "model/wire/failure_wire.hpp"

namespace tailrace::impl {

class FailureLog {
 public:
  static constexpr uint32_t kKept = 256;  // causes, in the ring and again on the client's side

  struct Entry {
    uint64_t ticket = 0;  // 0: no ticket
    Status status;
  };

  // The shared part, initially zero.
  struct Shared {
    SpscRing<FailureRecord>::Counters ring;
    alignas(64) std::atomic<uint64_t> added{0};  // written by the server; all failures so far
    std::atomic<uint64_t> lost{0};               // written by the server; failures without a record
  };

  // Both outlive the log. The number of records is a power of two.
  FailureLog(Shared& shared, std::span<FailureRecord> records) : shared_(&shared), ring_(shared.ring, records) {}

  // Only the server calls this.
  void add(uint64_t ticket, const Status& status);

  // Adds a failure of the client itself, which the server does not know. Only the client calls this and the next
  // ones.
  void add_own(Status status);
  // Returns the number of failures that have not been taken yet.
  uint64_t unseen() const { return total() - taken_; }
  // Returns the number of all failures so far.
  // relaxed: a caller that must see a certain failure has seen its ticket's end, which was released after it.
  uint64_t total() const { return shared_->added.load(std::memory_order_relaxed) + own_; }
  // Takes the oldest failure, or that of `ticket`; it then counts as seen.
  std::optional<Entry> take_oldest();
  std::optional<Entry> take(uint64_t ticket);
  // Returns the failures that have not been taken, oldest first, as far as their causes are kept here. Takes none.
  const std::deque<Entry>& untaken() {
    collect();
    return entries_;
  }

 private:
  void collect();

  Shared* shared_;
  SpscRing<FailureRecord> ring_;
  // Used by the client only.
  std::deque<Entry> entries_;
  uint64_t own_ = 0;
  uint64_t taken_ = 0;
  uint64_t lost_told_ = 0;
};

}  // namespace tailrace::impl
