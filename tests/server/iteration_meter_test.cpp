// IterationMeter: the iteration for which time counts, in simulated time; and the iterations of a session.
#include "server/verbs/iteration_meter.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

#include "testing/blocks.hpp"
#include "testing/sim_clock.hpp"

namespace tailrace::impl {
namespace {

using Outcome = IterationRecord::Outcome;
using std::chrono::microseconds;

TEST(IterationMeter, CutsTheTimeWhereAnIterationBegins) {
  IterationLog::Shared shared;
  IterationLog log(shared);
  SimClock clock;
  clock.advance(microseconds(1000));
  IterationMeter meter(log, clock, Nanoseconds(500));
  meter.look({.moving = true, .filtering = false, .filtered = Nanoseconds(500)});
  clock.advance(microseconds(50));  // of no iteration's turn
  meter.begin(0);
  meter.took(0, 10);
  clock.advance(microseconds(20));
  meter.look({.moving = false, .filtering = true, .filtered = Nanoseconds(500)});
  clock.advance(microseconds(30));
  meter.end(0, microseconds(4));
  meter.begin(1);  // while filters work
  clock.advance(microseconds(7));
  meter.look({.moving = true, .filtering = false, .filtered = Nanoseconds(37'500)});
  meter.begin(1);
  clock.advance(microseconds(100));
  meter.look({.moving = false, .filtering = false, .filtered = Nanoseconds(37'500)});
  meter.left(0, Outcome::published, clock.now());
  clock.advance(microseconds(1000));
  meter.look({.moving = false, .filtering = false, .filtered = Nanoseconds(37'500)});
  const std::vector<IterationFigures> all = log.read();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].begun, microseconds(1050));
  EXPECT_EQ(all[0].next, all[1].begun);
  EXPECT_EQ(all[0].ended, microseconds(1100));
  EXPECT_EQ(all[0].left, microseconds(1207));
  EXPECT_EQ(all[0].outcome, Outcome::published);
  EXPECT_EQ(all[0].waited, microseconds(4));
  EXPECT_EQ(all[0].bytes_taken, 10u);
  EXPECT_EQ(all[0].moving, microseconds(20));
  EXPECT_EQ(all[0].busy, microseconds(50));
  EXPECT_EQ(all[0].filtering, Nanoseconds(0)) << "the chunk ended in the next turn";
  EXPECT_EQ(all[1].moving, microseconds(100));
  EXPECT_EQ(all[1].busy, microseconds(107));
  EXPECT_EQ(all[1].filtering, microseconds(37));
  EXPECT_EQ(all[1].next, Nanoseconds(0));
}

TEST(IterationMeter, GoesOnForAServerThatDied) {
  IterationLog::Shared shared;
  SimClock clock;
  clock.advance(microseconds(1));
  {
    IterationMeter meter(IterationLog(shared), clock, Nanoseconds(0));
    meter.begin(3);
    meter.took(3, 10);
    meter.look({.moving = true});
    clock.advance(microseconds(5));
    meter.look({.moving = false});
  }
  clock.advance(microseconds(1000));
  IterationMeter meter(IterationLog(shared), clock, Nanoseconds(0));
  meter.begin(3);
  meter.look({.moving = true});
  clock.advance(microseconds(2));
  meter.look({.moving = false});
  meter.stored(3, 10);
  const std::vector<IterationFigures> all = IterationLog::read(shared);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].busy, microseconds(7));
  EXPECT_EQ(all[0].begun, microseconds(1));
  EXPECT_EQ(all[0].bytes_taken, 10u);
  EXPECT_EQ(all[0].bytes_stored, 10u);
}

// In any run, the busy time of all turns is the server's busy time, from the first turn on.
TEST(IterationMeter, LosesNoTime) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    IterationLog::Shared shared;
    SimClock clock;
    clock.advance(Nanoseconds(1));
    IterationMeter meter(IterationLog(shared), clock, Nanoseconds(0));
    IterationMeter::Activity activity;
    Nanoseconds busy{0};
    int64_t next = 0;
    meter.begin(next++);
    for (int step = 0; step < 500; ++step) {
      const Nanoseconds passed(static_cast<int64_t>(random() % 1000));
      clock.advance(passed);
      if (activity.moving || activity.filtering) busy += passed;
      switch (random() % 4) {
        case 0:
          meter.begin(next < 100 && random() % 2 == 0 ? next++
                                                      : static_cast<int64_t>(random() % static_cast<uint64_t>(next)));
          break;
        case 1: activity.moving = !activity.moving; break;
        case 2: activity.filtering = !activity.filtering; break;
        default: activity.filtered += Nanoseconds(3); break;
      }
      meter.look(activity);
    }
    meter.look({.moving = false, .filtering = false, .filtered = activity.filtered});
    Nanoseconds noted{0};
    Nanoseconds filtering{0};
    for (const IterationFigures& figures : IterationLog::read(shared)) {
      noted += figures.busy;
      filtering += figures.filtering;
      EXPECT_LE(figures.moving, figures.busy);
      if (figures.next != Nanoseconds(0)) {
        EXPECT_LE(figures.busy, figures.next - figures.begun);
      }
    }
    EXPECT_EQ(noted, busy);
    EXPECT_EQ(filtering, activity.filtered);
  }
}

TEST(Iterations, OfASessionSayWhatCameAndWhatBecameOfIt) {
  SessionRigOptions options;
  options.plan.rules = {{.on = FaultOn::write, .path_contains = "_000003", .times = FaultRule::kForever}};
  SessionRig rig(small_config(16), options);
  for (int64_t iteration = 0; iteration < 5; ++iteration) {
    (void)rig.client().write("a", iteration, page(1).data());
    (void)rig.client().write("b", iteration, page(2).data());
    (void)rig.client().end_iteration(iteration);
  }
  rig.client().finish();
  rig.stop();
  const std::vector<IterationFigures> all = rig.iterations();
  ASSERT_EQ(all.size(), 5u);
  for (size_t i = 0; i < all.size(); ++i) {
    SCOPED_TRACE(i);
    EXPECT_EQ(all[i].iteration, static_cast<int64_t>(i));
    EXPECT_GT(all[i].begun, Nanoseconds(0));
    EXPECT_GE(all[i].ended, all[i].begun);
    EXPECT_GE(all[i].left, all[i].begun);
    EXPECT_EQ(all[i].next, i + 1 < all.size() ? all[i + 1].begun : Nanoseconds(0));
    EXPECT_EQ(all[i].bytes_taken, 2 * 4096u);
    EXPECT_EQ(all[i].outcome, i == 3 ? Outcome::failed : Outcome::published);
    if (i != 3) {
      EXPECT_EQ(all[i].bytes_stored, 2 * 4096u);
    }
  }
}

TEST(Iterations, ThatAreDroppedSaySo) {
  Config config = small_config(2);
  config.memory.when_full = WhenFull::drop;
  SessionRigOptions options;
  options.shut = true;
  SessionRig rig(std::move(config), options);
  EXPECT_OK(rig.client().write("a", 0, page(1).data()));
  EXPECT_OK(rig.client().write("b", 0, page(1).data()));
  EXPECT_EQ(rig.client().write("a", 1, page(1).data()).code(), TAILRACE_DROPPED);
  rig.gate().open();
  EXPECT_EQ(rig.client().end_iteration(1).code(), TAILRACE_DROPPED);
  EXPECT_OK(rig.client().end_iteration(0));
  rig.client().finish();
  rig.stop();
  const std::vector<IterationFigures> all = rig.iterations();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].outcome, Outcome::published);
  EXPECT_EQ(all[1].outcome, Outcome::dropped);
}

}  // namespace
}  // namespace tailrace::impl
