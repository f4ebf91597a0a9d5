// LimitedLog: a log that no client can flood. Used by a node's server, whose clients decide how much it logs.
//
// It passes on the first few messages of each kind, and then the 8th, 16th, 32nd …; at its end it logs how many it
// left out. It counts each client's messages in a separate part, so that one client cannot suppress the messages
// about another. The number of parts is limited as well: messages about all later clients are counted together.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/log.hpp"
#include "base/mutex.hpp"

namespace tailrace::impl {

// MessageCounts: how many messages of each kind there were. Not thread-safe.
class MessageCounts {
 public:
  static constexpr uint64_t kFirst = 4;  // messages of a kind that are all logged

  // Counts one more message of that kind and returns its number, from 1. `kind` must outlive this object.
  uint64_t add(LogLevel level, std::string_view kind);
  static bool is_said(uint64_t number) { return number <= kFirst || (number & (number - 1)) == 0; }
  bool empty() const { return kinds_.empty(); }
  // Logs, for each kind, how many messages were left out since the last one that was logged.
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
  static constexpr int kMostParts = 256;        // parts that have logged something, or still may
  static constexpr size_t kMostMessage = 2000;  // bytes; longer messages are cut

  // Does not count messages below `level`. Borrows `to`.
  LimitedLog(Log& to, LogLevel level) : to_(to), level_(level) {}
  ~LimitedLog() override;

  // Logs a message without limiting the number: for output that the user asked for.
  void put(LogLevel level, std::string_view message) override;
  void put_of_kind(LogLevel level, std::string_view kind, std::string_view message) override;
  // Returns a log that counts its messages separately, unless there are kMostParts already; parts that ended without
  // a message do not count. The part must end before this object.
  std::unique_ptr<Log> part() override;

 private:
  class Part;

  void count(MessageCounts& counts, LogLevel level, std::string_view kind, std::string_view message);

  Log& to_;
  const LogLevel level_;
  Mutex mutex_;
  MessageCounts counts_ TAILRACE_GUARDED_BY(mutex_);  // of this log and of the parts beyond the limit
  int parts_ TAILRACE_GUARDED_BY(mutex_) = 0;
};

}  // namespace tailrace::impl
