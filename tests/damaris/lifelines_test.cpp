// Lifelines: both ends in one process. Ends of other programs count for nothing.
#include "damaris/ranks/lifelines.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <thread>

#include "damaris/ranks/failure.hpp"

namespace tailrace::damaris {
namespace {

constexpr const char* kHere = "127.0.0.1";

TEST(Lifelines, EndWithTheLastThatNeedsThem) {
  const LifeToken token{1, 2, 3};
  Lifelines ends(token, 3);
  std::optional<Lifeline> stranger;
  stranger.emplace(kHere, ends.port(), LifeToken{1, 2, 4}, Lifeline::Kind::needs);
  std::optional<Lifeline> first;
  std::optional<Lifeline> second;
  first.emplace(kHere, ends.port(), token, Lifeline::Kind::needs);
  second.emplace(kHere, ends.port(), token, Lifeline::Kind::needs);
  Lifeline waiting(kHere, ends.port(), token, Lifeline::Kind::waits);
  ends.meet();
  stranger->wait();  // it has been turned away
  std::atomic<int> open = 2;
  std::thread watch([&] {
    ends.wait();
    EXPECT_EQ(open, 0);
  });
  for (std::optional<Lifeline>* const one : {&first, &second}) {
    --open;
    one->reset();
  }
  waiting.wait();
  EXPECT_EQ(open, 0);
  watch.join();
}

TEST(Lifelines, NobodyListens) {
  int port = 0;
  {
    const Lifelines ends(LifeToken{}, 1);
    port = ends.port();
  }
  EXPECT_THROW(Lifeline(kHere, port, LifeToken{}, Lifeline::Kind::needs), Failure);
}

}  // namespace
}  // namespace tailrace::damaris
