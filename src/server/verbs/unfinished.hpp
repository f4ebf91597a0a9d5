// Unfinished: the sequence numbers of a client's verbs that have not ended. One thread.
//
// Verbs come in order, and end nearly in order: add() and end() cost a few steps and, in the long run, no memory from
// the system.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>

namespace tailrace::impl {

class Unfinished {
 public:
  bool empty() const { return verbs_.empty(); }
  // Returns the smallest. REQUIRES: it is not empty.
  uint64_t first() const { return verbs_.front().sequence; }

  // Adds a verb. Its sequence is mostly larger than all before.
  void add(uint64_t sequence) {
    const bool last = verbs_.empty() || verbs_.back().sequence < sequence;
    verbs_.insert(last ? verbs_.end() : find(sequence), {sequence, false});
  }
  // Ends a verb that was added and has not ended. Ignores all others.
  void end(uint64_t sequence) {
    const auto at = find(sequence);
    if (at == verbs_.end() || at->sequence != sequence) return;
    at->ended = true;
    while (!verbs_.empty() && verbs_.front().ended) verbs_.pop_front();
  }

 private:
  struct Verb {
    uint64_t sequence;
    bool ended;
  };

  std::deque<Verb>::iterator find(uint64_t sequence) {
    return std::lower_bound(verbs_.begin(), verbs_.end(), sequence,
                            [](const Verb& verb, uint64_t other) { return verb.sequence < other; });
  }

  std::deque<Verb> verbs_;  // by sequence; the first has not ended
};

}  // namespace tailrace::impl
