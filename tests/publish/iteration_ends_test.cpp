// IterationEnds: one iteration more than it remembers, in each direction.
#include "publish/iteration_ends.hpp"

#include <gtest/gtest.h>

namespace tailrace::impl {
namespace {

// Returns the numbers of one iteration more than are remembered, the oldest first.
std::vector<int64_t> one_too_many(bool backwards) {
  std::vector<int64_t> numbers;
  const auto count = static_cast<int64_t>(IterationEnds::kUnpublishedRemembered) + 1;
  for (int64_t i = 0; i < count; ++i) numbers.push_back(backwards ? count - i : i);
  return numbers;
}

TEST(IterationEnds, TheOldestIsForgottenAndTheLatestIsNot) {
  for (const bool backwards : {false, true}) {
    IterationEnds ends;
    for (const int64_t number : one_too_many(backwards)) {
      ends.add_unpublished(number, Status(TAILRACE_DROPPED, "dropped"));
      ASSERT_EQ(ends.writable(number).code(), TAILRACE_DROPPED) << number;
      ends.add_unpublished(number, Status(TAILRACE_DROPPED, "dropped again"));
    }
    const std::vector<int64_t> numbers = one_too_many(backwards);
    EXPECT_TRUE(ends.why_unpublished(numbers[0]).ok());
    EXPECT_FALSE(ends.why_unpublished(numbers[1]).ok());
  }
}

}  // namespace
}  // namespace tailrace::impl
