// A log that clients can fill without limit: it stays small, and no client hides another's lines.
#include "base/limited_log.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "testing/kept_log.hpp"

namespace tailrace::impl {
namespace {

TEST(LimitedLog, SaysTheFirstOfAKindAndFewOfTheRest) {
  KeptLog lines;
  {
    LimitedLog log(lines, LogLevel::info);
    for (int i = 1; i <= 100; ++i) log.warning("stranger {} is refused", i);
    const std::vector<std::string> expected = {"stranger 1 is refused",
                                               "stranger 2 is refused",
                                               "stranger 3 is refused",
                                               "stranger 4 is refused",
                                               "stranger 8 is refused (message 8 of its kind; only some are said)",
                                               "stranger 16 is refused (message 16 of its kind; only some are said)",
                                               "stranger 32 is refused (message 32 of its kind; only some are said)",
                                               "stranger 64 is refused (message 64 of its kind; only some are said)"};
    EXPECT_EQ(lines.texts(), expected);
    log.warning("something else");
    EXPECT_EQ(lines.texts().back(), "something else");
  }
  EXPECT_EQ(lines.texts().back(), "36 more messages of the kind 'stranger {} is refused', 100 in all");
}

TEST(LimitedLog, OneClientDoesNotHideAnother) {
  KeptLog lines;
  LimitedLog log(lines, LogLevel::warning);
  const std::unique_ptr<Log> honest = log.part();
  {
    const std::unique_ptr<Log> hostile = log.part();
    for (int i = 0; i < 100000; ++i) hostile->warning("iteration {} is dropped", i);
  }
  EXPECT_TRUE(lines.has("34464 more messages of the kind 'iteration {} is dropped', 100000 in all"));
  honest->warning("iteration {} is dropped", 4711);
  EXPECT_EQ(lines.texts().back(), "iteration 4711 is dropped");
}

// Clients that come and go, in any number, do not hide one that was here before.
TEST(LimitedLog, ClientsThatComeAndGoDoNotFillIt) {
  KeptLog lines;
  {
    LimitedLog log(lines, LogLevel::warning);
    const std::unique_ptr<Log> honest = log.part();
    for (int i = 0; i < 100000; ++i) log.part()->warning("client {} is lost", i);
    honest->warning("client {} is lost", -1);
    EXPECT_EQ(lines.texts().back(), "client -1 is lost");
  }
  EXPECT_LT(lines.texts().size(), LimitedLog::kMostParts + 30U);
  EXPECT_TRUE(lines.has("in all")) << "those that were not said are not counted";
}

TEST(LimitedLog, WhoHadNothingToSayTakesNoPlace) {
  KeptLog lines;
  LimitedLog log(lines, LogLevel::warning);
  for (int i = 0; i < 100000; ++i) log.part()->info("client {} has come", i);  // not asked for
  EXPECT_TRUE(lines.texts().empty());
  const std::unique_ptr<Log> one = log.part();
  const std::unique_ptr<Log> other = log.part();
  for (int i = 0; i < 1000; ++i) one->warning("client {} is lost", i);
  other->warning("client {} is lost", -1);
  EXPECT_EQ(lines.texts().back(), "client -1 is lost");
}

TEST(LimitedLog, ALongMessageIsCut) {
  KeptLog lines;
  LimitedLog log(lines, LogLevel::warning);
  log.warning("client is refused: {}", std::string(8 << 20, 'x'));
  ASSERT_EQ(lines.texts().size(), 1U);
  EXPECT_LT(lines.texts()[0].size(), LimitedLog::kMostMessage + 100);
  EXPECT_TRUE(lines.has("more bytes"));
  // Not cut within a character.
  std::string umlauts;
  for (int i = 0; i < 2000; ++i) umlauts += "ü";
  log.warning("{}", "a" + umlauts);
  const std::string cut = lines.texts().back();
  const size_t end = cut.find(" …");
  ASSERT_NE(end, std::string::npos);
  EXPECT_EQ((end - 1) % 2, 0U);
}

TEST(LimitedLog, WhatTheUserAskedForIsNotLimited) {
  KeptLog lines;
  LimitedLog log(lines, LogLevel::info);
  for (int i = 0; i < 100; ++i) log.put(LogLevel::info, "an action prints");
  EXPECT_EQ(lines.texts().size(), 100U);
}

}  // namespace
}  // namespace tailrace::impl
