// FailureLog: it reports each failure once, its memory is bounded, and it forgets none.
#include "channel/failure_log.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace tailrace::impl {
namespace {

// A log in private memory.
struct Kept {
  FailureLog::Shared shared;
  std::vector<FailureRecord> records{FailureLog::kKept};
  FailureLog log{shared, records};
};

Status fault(int number) { return Status(TAILRACE_IO_ERROR, std::to_string(number)); }

TEST(FailureLog, OldestFirstAndEachOnce) {
  Kept kept_log;
  FailureLog& log = kept_log.log;
  EXPECT_FALSE(log.take_oldest());
  log.add(0, fault(1));
  log.add(7, fault(2));
  log.add(0, fault(3));
  EXPECT_EQ(log.unseen(), 3u);
  EXPECT_EQ(log.take(7)->status.fault().message, "2");
  EXPECT_FALSE(log.take(7));
  EXPECT_EQ(log.take_oldest()->status.fault().message, "1");
  EXPECT_EQ(log.take_oldest()->status.fault().message, "3");
  EXPECT_FALSE(log.take_oldest());
  EXPECT_EQ(log.unseen(), 0u);
  EXPECT_EQ(log.total(), 3u);
}

TEST(FailureLog, PastItsBoundOnlyTheNumberIsKept) {
  Kept kept_log;
  FailureLog& log = kept_log.log;
  const int kept = static_cast<int>(FailureLog::kKept);
  for (int i = 1; i <= kept + 5; ++i) log.add(static_cast<uint64_t>(i), fault(i));
  EXPECT_EQ(log.unseen(), FailureLog::kKept + 5);
  EXPECT_FALSE(log.take(FailureLog::kKept + 1));
  for (int i = 1; i <= kept; ++i) ASSERT_EQ(log.take_oldest()->status.fault().message, std::to_string(i));
  const auto rest = log.take_oldest();
  ASSERT_TRUE(rest);
  EXPECT_NE(rest->status.fault().message.find("5 more requests failed"), std::string::npos);
  EXPECT_EQ(log.unseen(), 0u);
  EXPECT_FALSE(log.take_oldest());
  log.add(0, fault(9));
  EXPECT_EQ(log.take_oldest()->status.fault().message, "9");
  EXPECT_EQ(log.total(), FailureLog::kKept + 6);
}

TEST(FailureLog, TwoThreads) {
  Kept kept_log;
  FailureLog& log = kept_log.log;
  constexpr int kCount = 2000;
  std::thread adder([&] {
    for (int i = 0; i < kCount; ++i) log.add(static_cast<uint64_t>(i % 3), fault(i));
  });
  uint64_t told = 0;
  const auto tell = [&](const std::optional<FailureLog::Entry>& entry) {
    if (!entry) return;
    const std::string& message = entry->status.fault().message;
    told += message.find("more") == std::string::npos ? 1 : std::stoull(message);
  };
  for (int i = 0; i < kCount; ++i) tell(i % 2 == 0 ? log.take_oldest() : log.take(1));
  adder.join();
  while (log.unseen() > 0) tell(log.take_oldest());
  EXPECT_EQ(told, static_cast<uint64_t>(kCount));
  EXPECT_EQ(log.total(), static_cast<uint64_t>(kCount));
}

}  // namespace
}  // namespace tailrace::impl
