// LimitedLog: a log that nobody can fill. For the server of a node, whose clients decide how much there is to say.
//
// Of each kind of message it passes on the first few, and of the rest the 8th, 16th, 32nd …; at its end it says how
// many it left out. Each client's messages are counted in a part of its own, so that one client cannot hide what is
// said of another. The number of parts is limited as well: what is said of clients that come later is counted
// together.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/log.hpp"
#include "base/mutex.hpp"

namespace tailrace::impl {

// How many messages of each kind there were. Not thread-safe.
class MessageCounts {
 public:
  static constexpr uint64_t kFirst = 4;  // messages of a kind that are all said

  // One more message of that kind: which one it is. `kind` stays.
  uint64_t add(LogLevel level, std::string_view kind);
  static bool is_said(uint64_t number) { return number <= kFirst || (number & (number - 1)) == 0; }
  bool empty() const { return kinds_.empty(); }
  // A line for each kind of which messages were left out since the last one that was said.
  void say_rest(Log& to) const;

 private:
  struct Kind {
    uint64_t count = 0;
    LogLevel level = LogLevel::info;  // of the latest
  };
  std::map<std::string_view, Kind> kinds_;
};

class LimitedLog final : public Log {
 public:
  static constexpr int kMostParts = 256;        // that have something to say, or still may
  static constexpr size_t kMostMessage = 2000;  // bytes; of a longer message the end is cut off

  // Messages below `level` are not counted. `to` is borrowed.
  LimitedLog(Log& to, LogLevel level) : to_(to), level_(level) {}
  ~LimitedLog() override;

  // Not limited in number: for what the user asked to see.
  void put(LogLevel level, std::string_view message) override;
  void put_of_kind(LogLevel level, std::string_view kind, std::string_view message) override;
  // It counts by itself, as long as there are not too many; silent ones that have ended do not matter. The part ends
  // before this does.
  std::unique_ptr<Log> part() override;

 private:
  class Part;

  void count(MessageCounts& counts, LogLevel level, std::string_view kind, std::string_view message);

  Log& to_;
  const LogLevel level_;
  Mutex mutex_;
  MessageCounts counts_ TAILRACE_GUARDED_BY(mutex_);  // of this and of the parts beyond the limit
  int parts_ TAILRACE_GUARDED_BY(mutex_) = 0;
};

}  // namespace tailrace::impl
