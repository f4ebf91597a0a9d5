// FailureLog: what went wrong with accepted requests, on its way from the server to the client, until the client has
// seen it (promise 1).
//
// A ring of fixed-width records in memory that both sides see, and what the client has taken out of it and not yet
// told. Bounded: failures that find no room are counted, and told as a number. The client's look for failures on
// each call is one load. Each side has an object of its own over the same memory (or both use one in one process:
// they touch different members).
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
  static constexpr uint32_t kKept = 256;  // causes, in the ring and again by the client

  struct Entry {
    uint64_t ticket = 0;  // 0: none
    Status status;
  };

  // The shared part, all zero at first.
  struct Shared {
    SpscRing<FailureRecord>::Counters ring;
    alignas(64) std::atomic<uint64_t> added{0};  // written by the server; failures ever
    std::atomic<uint64_t> lost{0};               // written by the server; of these, the ones without a record
  };

  // Both outlive the log. The number of records is a power of two.
  FailureLog(Shared& shared, std::span<FailureRecord> records) : shared_(&shared), ring_(shared.ring, records) {}

  // The server.
  void add(uint64_t ticket, const Status& status);

  // The client, all of these. A failure of its own, which never was the server's:
  void add_own(Status status);
  // Failures that have not been taken yet.
  uint64_t unseen() const { return total() - taken_; }
  // All failures ever.
  // relaxed: whoever must see a certain failure has seen its ticket's end, which was released after it.
  uint64_t total() const { return shared_->added.load(std::memory_order_relaxed) + own_; }
  // Takes the oldest failure, or the one of `ticket`; it counts as seen then.
  std::optional<Entry> take_oldest();
  std::optional<Entry> take(uint64_t ticket);
  // Returns the failures that have not been taken, the oldest first, as far as their causes are kept here. Takes
  // nothing.
  const std::deque<Entry>& untaken() {
    collect();
    return entries_;
  }

 private:
  void collect();

  Shared* shared_;
  SpscRing<FailureRecord> ring_;
  // The client's.
  std::deque<Entry> entries_;
  uint64_t own_ = 0;
  uint64_t taken_ = 0;
  uint64_t lost_told_ = 0;
};

}  // namespace tailrace::impl
