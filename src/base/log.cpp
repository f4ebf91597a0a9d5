#include "base/log.hpp"

#include <spdlog/logger.h>
#include <spdlog/sinks/ansicolor_sink.h>
#include <spdlog/sinks/basic_file_sink.h>

#include <cerrno>

namespace tailrace::impl {
namespace {

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::info: return spdlog::level::info;
    case LogLevel::warning: return spdlog::level::warn;
    case LogLevel::error: return spdlog::level::err;
    case LogLevel::off: return spdlog::level::off;
  }
  TAILRACE_ASSERT(false);
}

class SpdLog final : public Log {
 public:
  SpdLog(LogLevel level, spdlog::sink_ptr sink, const std::string& who) : logger_(who, std::move(sink)) {
    logger_.set_level(to_spdlog(level));
    logger_.set_pattern("%n %l: %v");
    logger_.flush_on(spdlog::level::info);
  }
  void put(LogLevel level, std::string_view message) override { logger_.log(to_spdlog(level), message); }

 private:
  spdlog::logger logger_;
};

class WholeLog final : public Log {
 public:
  explicit WholeLog(Log& of) : of_(of) {}
  void put(LogLevel level, std::string_view message) override { of_.put(level, message); }
  void put_of_kind(LogLevel level, std::string_view kind, std::string_view message) override {
    of_.put_of_kind(level, kind, message);
  }

 private:
  Log& of_;
};

}  // namespace

std::unique_ptr<Log> Log::part() { return std::make_unique<WholeLog>(*this); }

Result<std::unique_ptr<Log>> open_log(LogLevel level, const std::string& path, const std::string& who) {
  if (path.empty()) {
    auto sink = std::make_shared<spdlog::sinks::ansicolor_stderr_sink_mt>();
    return std::unique_ptr<Log>(new SpdLog(level, std::move(sink), who));
  }
  try {  // spdlog reports a file that it cannot open by an exception; exceptions end here
    auto sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(path);
    return std::unique_ptr<Log>(new SpdLog(level, std::move(sink), who));
  } catch (const spdlog::spdlog_ex&) {
    return Status::of_errno("open log", path, errno);
  }
}

}  // namespace tailrace::impl
