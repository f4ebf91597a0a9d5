#include "base/limited_log.hpp"

#include <fmt/format.h>

#include <utility>

namespace tailrace::impl {
namespace {

bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

}  // namespace

uint64_t MessageCounts::add(LogLevel level, std::string_view kind) {
  Kind& of = kinds_[kind];
  of.level = level;
  return ++of.count;
}

void MessageCounts::say_rest(Log& to) const {
  for (const auto& [kind, of] : kinds_) {
    uint64_t said = of.count;
    while (!is_said(said)) --said;
    if (of.count == said) continue;
    to.put(of.level, fmt::format("{} more message{} of the kind '{}', {} in all", of.count - said,
                                 of.count - said == 1 ? "" : "s", kind, of.count));
  }
}

class LimitedLog::Part final : public Log {
 public:
  Part(LimitedLog& of, bool counts_itself) : of_(of), counts_itself_(counts_itself) {}
  ~Part() override {
    const MutexLock lock(of_.mutex_);
    counts_.say_rest(of_.to_);
    if (counts_itself_ && counts_.empty()) --of_.parts_;
  }
  void put(LogLevel level, std::string_view message) override { of_.put(level, message); }
  void put_of_kind(LogLevel level, std::string_view kind, std::string_view message) override {
    const MutexLock lock(of_.mutex_);
    of_.count(counts_itself_ ? counts_ : of_.counts_, level, kind, message);
  }

 private:
  LimitedLog& of_;
  const bool counts_itself_;
  MessageCounts counts_ TAILRACE_GUARDED_BY(of_.mutex_);
};

LimitedLog::~LimitedLog() { counts_.say_rest(to_); }

std::unique_ptr<Log> LimitedLog::part() {
  const MutexLock lock(mutex_);
  const bool has_room = parts_ < kMostParts;
  if (has_room) ++parts_;
  return std::make_unique<Part>(*this, has_room);
}

void LimitedLog::put(LogLevel level, std::string_view message) {
  if (level < level_) return;
  if (message.size() <= kMostMessage) return to_.put(level, message);
  size_t end = kMostMessage;
  while (end > 0 && continues_character(message[end])) --end;
  to_.put(level, fmt::format("{} … and {} more byte{}", message.substr(0, end), message.size() - end,
                             message.size() - end == 1 ? "" : "s"));
}

void LimitedLog::put_of_kind(LogLevel level, std::string_view kind, std::string_view message) {
  const MutexLock lock(mutex_);
  count(counts_, level, kind, message);
}

void LimitedLog::count(MessageCounts& counts, LogLevel level, std::string_view kind, std::string_view message) {
  if (level < level_) return;
  const uint64_t number = counts.add(level, kind);
  if (!MessageCounts::is_said(number)) return;
  if (number <= MessageCounts::kFirst) return put(level, message);
  put(level, fmt::format("{} (message {} of its kind; only some are said)", message, number));
}

}  // namespace tailrace::impl
