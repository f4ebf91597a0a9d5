// Governor: the rate that it comes to, for simulated programs whose computing writing slows down in known ways.
#include "engine/execute/governor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

namespace tailrace::impl {
namespace {

constexpr double kStorage = 1e9;    // bytes a second
constexpr double kComputing = 0.1;  // seconds, of an undisturbed iteration
constexpr double kBytes = 3e7;      // of an iteration: a third of it at the storage's rate

// A program that computes and hands over in turn, and a storage that writes beside it as fast as it is let.
class Program {
 public:
  // `slowed`: by how much computing takes longer, per second of it, while so many bytes a second are written.
  explicit Program(std::function<double(double)> slowed) : slowed_(std::move(slowed)) {}

  double waited = 0;     // in each iteration
  bool hurries = false;  // somebody waits all the time

  void run(int iterations, Governor& governor) {
    for (int i = 0; i < iterations; ++i) step(governor);
  }
  double rate_now(const Governor& governor) const { return std::min(static_cast<double>(governor.rate()), kStorage); }
  int rests() const { return rests_; }
  // Returns the bytes handed over and not yet written.
  double pending() const { return pending_; }

 private:
  void step(Governor& governor) {
    const double rate = rests_now_ && !hurries ? 0 : hurries ? kStorage : rate_now(governor);
    const double longest = kComputing / (1 - slowed_(rate));  // if there is writing beside all of it
    const double writing = rate > 0 ? std::min(pending_ / rate, longest) : 0;
    const double length = kComputing + waited + writing * slowed_(rate);
    pending_ -= writing * rate;
    now_.time += in_nanoseconds(length);
    now_.waited = in_nanoseconds(waited);
    now_.busy += in_nanoseconds(pending_ >= 0 ? writing * rate / kStorage : 0);
    now_.bytes += static_cast<uint64_t>(writing * rate);
    pending_ += kBytes;
    rests_now_ = governor.ended_iteration(now_).has_value();
    if (rests_now_) ++rests_;
  }
  static Nanoseconds in_nanoseconds(double seconds) { return Nanoseconds(static_cast<int64_t>(seconds * 1e9)); }

  const std::function<double(double)> slowed_;
  Governor::Now now_;
  double pending_ = 0;
  bool rests_now_ = false;
  int rests_ = 0;
};

TEST(Governor, LeavesAProgramAloneThatIsNotSlowed) {
  Governor governor;
  Program program([](double) { return 0.0; });
  for (int i = 0; i < 200; ++i) {
    program.run(1, governor);
    ASSERT_EQ(governor.rate(), Pace::kUnlimited);
  }
  EXPECT_EQ(program.rests(), 12) << "three in a round of about 64 iterations";
}

TEST(Governor, FindsTheRateFromWhichOnWritingDoesHarm) {
  Governor governor;
  Program program([](double rate) { return std::max(0.0, rate / kStorage - 0.5); });
  program.run(100, governor);
  double most = 0;
  double sum = 0;
  for (int i = 0; i < 100; ++i) {
    program.run(1, governor);
    most = std::max(most, program.rate_now(governor));
    sum += program.rate_now(governor);
  }
  EXPECT_LT(sum / 100, 0.65 * kStorage);
  EXPECT_GT(sum / 100, 0.35 * kStorage) << "it is no slower than it need be";
  EXPECT_LE(most, 0.75 * kStorage);
}

TEST(Governor, IsNeverSlowerThanTheIterationNeeds) {
  Governor governor;
  // However slow it is, there is harm; but the slower the less.
  Program program([](double rate) { return 0.8 * rate * rate / (kStorage * kStorage); });
  program.run(200, governor);
  const double needed = kBytes / (1.25 * kComputing);  // no iteration is longer
  EXPECT_GT(program.rate_now(governor), needed);
  EXPECT_LT(program.rate_now(governor), 2 * needed);
  EXPECT_LT(program.pending(), 1.5 * kBytes) << "it falls behind";
}

TEST(Governor, GivesUpWhereSlowerWritingDoesNoLessHarm) {
  Governor governor;
  Program program([](double) { return 0.5; });
  int limited = 0;
  for (int i = 0; i < 200; ++i) {
    program.run(1, governor);
    if (governor.rate() != Pace::kUnlimited) ++limited;
  }
  EXPECT_GT(limited, 0) << "it was tried";
  EXPECT_LT(limited, 20);
}

TEST(Governor, KnowsNothingOfAProgramThatNeverComputesUndisturbed) {
  Governor governor;
  Program program([](double) { return 0.5; });
  program.hurries = true;
  program.run(200, governor);
  EXPECT_EQ(governor.rate(), Pace::kUnlimited);
}

TEST(Governor, TimeThatTheProgramWaitedIsNotComputing) {
  Governor governor;
  Program program([](double) { return 0.0; });
  program.run(20, governor);
  program.waited = 0.2;
  program.run(100, governor);
  EXPECT_EQ(governor.rate(), Pace::kUnlimited);
}

TEST(Governor, FollowsOneClientAlone) {
  Governor governor;
  Program program([](double) { return 0.0; });
  for (int i = 0; i < 100; ++i) {
    program.run(1, governor);
    Governor::Now other;
    other.client = 7;
    other.time = std::chrono::hours(i);  // nonsense
    EXPECT_FALSE(governor.ended_iteration(other).has_value());
  }
  EXPECT_EQ(governor.rate(), Pace::kUnlimited);
}

}  // namespace
}  // namespace tailrace::impl
