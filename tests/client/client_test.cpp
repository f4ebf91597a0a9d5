// The verbs over a storage that works: what is handed over is published, and calls out of order are refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <thread>

#include "server/iteration_limit.hpp"
#include "testing/blocks.hpp"

namespace tailrace::impl {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

TEST(Session, WriteAllocAndBorrowAreAllPublished) {
  for (const Durability durability : {Durability::accepted, Durability::written, Durability::durable}) {
    Config config = small_config(16);
    config.storage.durability = durability;
    SessionRig rig(config);
    Client& client = rig.client();
    for (int64_t iteration = 0; iteration < 10; ++iteration) {
      const auto number = static_cast<uint64_t>(iteration);
      ASSERT_OK(client.write("a", iteration, page(number).data()));
      Result<void*> memory = client.alloc("b", iteration);
      ASSERT_OK(memory.status());
      EXPECT_EQ(reinterpret_cast<uintptr_t>(memory.value()) % 4096, 0u);
      EXPECT_EQ(client.alloc("b", iteration).value(), memory.value());
      std::memcpy(memory.value(), page(number + 100).data(), 4096);
      ASSERT_OK(client.commit("b", iteration));
      const std::vector<std::byte> own = block(100, number + 200);
      const Result<uint64_t> ticket = client.borrow("c", iteration, own.data());
      ASSERT_OK(ticket.status());
      ASSERT_OK(client.signal("storm", iteration));
      ASSERT_OK(client.end_iteration(iteration));
      ASSERT_OK(client.wait(ticket.value(), std::nullopt));
      ASSERT_OK(client.wait(ticket.value(), std::chrono::milliseconds(0)));
    }
    ASSERT_OK(client.flush());
    client.finish();
    rig.stop();
    EXPECT_TRUE(rig.told().empty());
    for (int64_t iteration = 0; iteration < 10; ++iteration) {
      const auto number = static_cast<uint64_t>(iteration);
      const std::unique_ptr<Hdf5File> file = rig.published(iteration);
      ASSERT_NE(file, nullptr);
      EXPECT_EQ(file->read(iteration, "a"), page(number));
      EXPECT_EQ(file->read(iteration, "b"), page(number + 100));
      EXPECT_EQ(file->read(iteration, "c"), block(100, number + 200));
      EXPECT_FALSE(rig.exists(rig.path(iteration) + ".part"));
    }
    EXPECT_EQ(rig.counters().blocks_written.get(), 30u);
    EXPECT_EQ(rig.counters().bytes_written.get(), 10 * (8192u + 100));
    EXPECT_EQ(rig.counters().iterations_published.get(), 10u);
    EXPECT_EQ(client.counters().blocks_accepted, 30u);
    EXPECT_EQ(client.counters().signals, 10u);
    client.pool().collect();
    EXPECT_EQ(client.pool().held(), 0u);
  }
}

TEST(Session, VariablesAreFoundInAnyOrder) {
  SessionRig rig(small_config(8));
  for (const char* name : {"a", "b", "c", "c", "a", "c", "b", "b", "a", "a"}) {
    EXPECT_EQ(rig.client().find(name).value(), static_cast<uint32_t>(name[0] - 'a'));
    EXPECT_EQ(rig.client().find("d").status().code(), TAILRACE_UNKNOWN_VARIABLE);
  }
}

TEST(Session, TheLastWriteOfAVariableCounts) {
  SessionRig rig(small_config(8));
  for (uint64_t i = 0; i < 50; ++i) ASSERT_OK(rig.client().write("a", 0, page(i).data()));
  ASSERT_OK(rig.client().end_iteration(0));
  rig.stop();
  EXPECT_EQ(rig.published(0)->read(0, "a"), page(49));
}

TEST(Session, ByFlushAllEndedIterationsArePublished) {
  SessionRig rig(small_config(8));
  for (int64_t iteration = 0; iteration < 20; ++iteration) {
    ASSERT_OK(rig.client().write("a", iteration, page(1).data()));
    ASSERT_OK(rig.client().end_iteration(iteration));
    ASSERT_OK(rig.client().flush());
    EXPECT_EQ(rig.counters().iterations_published.get(), static_cast<uint64_t>(iteration) + 1);
    EXPECT_EQ(rig.counters().blocks_written.get(), static_cast<uint64_t>(iteration) + 1);
  }
}

TEST(Session, FlushOfAcceptedReturnsAtOnce) {
  Config config = small_config(8);
  config.storage.durability = Durability::accepted;
  SessionRig rig(config, {.shut = true});
  ASSERT_OK(rig.client().write("a", 0, page(1).data()));
  ASSERT_OK(rig.client().flush());
  EXPECT_EQ(rig.counters().blocks_written.get(), 0u);
}

TEST(Session, WaitTimesOutAndTheRequestGoesOn) {
  SessionRig rig(small_config(8), {.shut = true});
  const std::vector<std::byte> own = page(5);
  const uint64_t ticket = rig.client().borrow("a", 0, own.data()).value();
  EXPECT_EQ(rig.client().wait(ticket, std::chrono::milliseconds(0)).code(), TAILRACE_TIMEOUT);
  EXPECT_EQ(rig.client().wait(ticket, std::chrono::milliseconds(1)).code(), TAILRACE_TIMEOUT);
  rig.gate().open();
  // The longest possible time: without limit, and without an overflow.
  EXPECT_OK(rig.client().wait(ticket, std::chrono::milliseconds(kMax)));
  EXPECT_OK(rig.client().wait(kNoTicket, std::nullopt));
  EXPECT_EQ(rig.client().wait(ticket + 1, std::nullopt).code(), TAILRACE_INVALID_ARGUMENT);
}

TEST(Session, ALongTimeOutIsNotCutShort) {
  SessionRig rig(small_config(8), {.shut = true});
  const std::vector<std::byte> own = page(5);
  const uint64_t ticket = rig.client().borrow("a", 0, own.data()).value();
  std::atomic<bool> returned{false};
  std::thread opener([&] {
    rig.gate().wait_for(1);
    EXPECT_FALSE(returned);
    rig.gate().open();
  });
  EXPECT_OK(rig.client().wait(ticket, std::chrono::milliseconds(kMax)));
  returned = true;
  opener.join();
}

TEST(Session, WhatIsOutOfOrderIsRefused) {
  SessionRig rig(small_config(8));
  Client& client = rig.client();
  const std::vector<std::byte> data = page(1);
  EXPECT_EQ(client.write("none", 0, data.data()).code(), TAILRACE_UNKNOWN_VARIABLE);
  EXPECT_EQ(client.write("a", -1, data.data()).code(), TAILRACE_INVALID_ARGUMENT);
  EXPECT_EQ(client.end_iteration(-1).code(), TAILRACE_INVALID_ARGUMENT);
  EXPECT_EQ(client.signal("e", -1).code(), TAILRACE_INVALID_ARGUMENT);
  EXPECT_EQ(client.read("a", -1, nullptr).code(), TAILRACE_INVALID_ARGUMENT);
  EXPECT_EQ(client.commit("a", 0).code(), TAILRACE_WRONG_ORDER);
  EXPECT_EQ(client.commit("a", -1).code(), TAILRACE_WRONG_ORDER);
  EXPECT_EQ(client.signal("", 0).code(), TAILRACE_INVALID_ARGUMENT);
  EXPECT_EQ(client.signal(std::string(32, 'e'), 0).code(), TAILRACE_INVALID_ARGUMENT);
  EXPECT_OK(client.signal(std::string(31, 'e'), 0));
  ASSERT_OK(client.alloc("a", 0).status());
  const Status open = client.end_iteration(0);
  EXPECT_EQ(open.code(), TAILRACE_WRONG_ORDER);
  EXPECT_EQ(open.fault().variable, "a");
  EXPECT_EQ(open.fault().iteration, 0);
  EXPECT_OK(client.commit("a", 0));
  EXPECT_EQ(client.commit("a", 0).code(), TAILRACE_WRONG_ORDER);
  EXPECT_OK(client.end_iteration(0));
  EXPECT_EQ(client.write("a", 0, data.data()).code(), TAILRACE_WRONG_ORDER);
  EXPECT_EQ(client.alloc("a", 0).status().code(), TAILRACE_WRONG_ORDER);
  EXPECT_EQ(client.borrow("a", 0, data.data()).status().code(), TAILRACE_WRONG_ORDER);
  EXPECT_EQ(client.signal("e", 0).code(), TAILRACE_WRONG_ORDER);
  EXPECT_OK(client.end_iteration(77));  // no block was handed over for it
  EXPECT_EQ(client.write("a", 77, data.data()).code(), TAILRACE_WRONG_ORDER);
  EXPECT_OK(client.flush());
  rig.stop();
  EXPECT_TRUE(rig.told().empty()) << "what was refused is no failure of an earlier request";
  EXPECT_NE(rig.published(0), nullptr);
  EXPECT_FALSE(rig.exists(rig.path(77)));
}

TEST(Session, NoMoreThan64OpenIterations) {
  SessionRig rig(small_config(4));
  Client& client = rig.client();
  for (int64_t iteration = 0; iteration < 64; ++iteration) ASSERT_OK(client.write("c", iteration, page(1).data()));
  const Status refused = client.write("c", 64, page(1).data());
  EXPECT_EQ(refused.code(), TAILRACE_WRONG_ORDER);
  EXPECT_NE(refused.fault().message.find("oldest is 0"), std::string::npos) << refused.fault().message;
  ASSERT_OK(client.write("a", 63, page(2).data()));  // that iteration is open
  ASSERT_OK(client.end_iteration(0));
  ASSERT_OK(client.write("c", 64, page(1).data()));
  for (int64_t iteration = 1; iteration <= 64; ++iteration) ASSERT_OK(client.end_iteration(iteration));
  rig.stop();
  EXPECT_EQ(rig.counters().iterations_published.get(), 65u);
}

TEST(Session, ABlockLargerThanTheBudget) {
  Config config = sample_config({"out"}, {{"large", ElementType::uint8, {8193}}, {"small", ElementType::uint8, {8}}});
  config.memory.budget = 8192;
  SessionRig rig(config);
  const std::vector<std::byte> data = block(8193, 1);
  EXPECT_EQ(rig.client().write("large", 0, data.data()).code(), TAILRACE_TOO_LARGE);
  EXPECT_EQ(rig.client().alloc("large", 0).status().code(), TAILRACE_TOO_LARGE);
  EXPECT_OK(rig.client().write("small", 0, data.data()));
  EXPECT_OK(rig.client().end_iteration(0));
  rig.stop();
  EXPECT_EQ(rig.published(0)->variables(0), std::vector<std::string>{"small"});
}

// 4096 tickets are pending, and one more is asked for.
TEST(Session, TicketsRunOutAndComeBack) {
  constexpr uint64_t kAll = ChannelSizes{}.tickets;
  SessionRig rig(small_config(4), {.shut = true});
  const std::vector<std::byte> data = page(3);
  std::atomic<uint64_t> borrowed{0};
  std::thread opener([&] {
    for (uint64_t now = 0; (now = borrowed.load()) < kAll;) borrowed.wait(now);
    rig.gate().open();
  });
  std::vector<uint64_t> tickets;
  for (uint64_t i = 0; i < kAll + 500; ++i) {
    const Result<uint64_t> ticket =
        rig.client().borrow(i % 2 == 0 ? "a" : "b", static_cast<int64_t>(i % 32), data.data());
    ASSERT_OK(ticket.status());
    tickets.push_back(ticket.value());
    borrowed.fetch_add(1);
    borrowed.notify_all();
  }
  opener.join();
  for (const uint64_t ticket : tickets) EXPECT_OK(rig.client().wait(ticket, std::nullopt));
  for (int64_t iteration = 0; iteration < 32; ++iteration) ASSERT_OK(rig.client().end_iteration(iteration));
  rig.stop();
  EXPECT_EQ(rig.counters().iterations_published.get(), 32u);
}

TEST(Session, AStopWithWorkPendingFinishesIt) {
  SessionRig rig(small_config(64), {.shut = true});
  for (int64_t iteration = 0; iteration < 30; ++iteration) {
    ASSERT_OK(rig.client().write("a", iteration, page(static_cast<uint64_t>(iteration)).data()));
    ASSERT_OK(rig.client().end_iteration(iteration));
  }
  rig.stop();
  for (int64_t iteration = 0; iteration < 30; ++iteration) {
    ASSERT_NE(rig.published(iteration), nullptr);
    EXPECT_EQ(rig.published(iteration)->read(iteration, "a"), page(static_cast<uint64_t>(iteration)));
  }
}

TEST(Session, CloseTellsOfIterationsThatWereNotEnded) {
  SessionRig rig(small_config(8));
  ASSERT_OK(rig.client().write("a", 1, page(1).data()));
  ASSERT_OK(rig.client().end_iteration(1));
  ASSERT_OK(rig.client().write("a", 2, page(1).data()));
  ASSERT_OK(rig.client().write("b", 2, page(1).data()));
  ASSERT_OK(rig.client().write("a", 3, page(1).data()));
  ASSERT_OK(rig.client().alloc("b", 3).status());
  rig.client().finish();
  const std::vector<Fault> told = rig.told();
  ASSERT_EQ(told.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(told[i].code, TAILRACE_NOT_PUBLISHED);
    EXPECT_EQ(told[i].iteration, static_cast<int64_t>(i) + 2);
  }
  rig.stop();
  EXPECT_TRUE(rig.exists(rig.path(1)));
  EXPECT_FALSE(rig.exists(rig.path(2)));
  EXPECT_TRUE(rig.exists(rig.path(2) + ".part"));
  EXPECT_EQ(Hdf5File::open(*rig.bytes(rig.path(2) + ".part")), nullptr);
}

// For `durable` there is a sync between each two of: everything else, the head, the new name.
TEST(Session, DurableSyncsBetweenBodyHeadAndName) {
  Config config = small_config(8);
  config.storage.durability = Durability::durable;
  SessionRig rig(config);
  ASSERT_OK(rig.client().write("a", 0, page(1).data()));
  ASSERT_OK(rig.client().end_iteration(0));
  ASSERT_OK(rig.client().flush());
  rig.stop();
  std::string order;
  for (const FaultEvent& event : rig.events()) {
    if (event.on == FaultOn::rename) order += "R";
    if (event.what != FaultEvent::What::ended) continue;
    if (event.on == FaultOn::write) order += event.offset == 0 ? "H" : "w";
    if (event.on == FaultOn::sync) order += event.path == "out" ? "D" : "s";
  }
  order.erase(std::unique(order.begin(), order.end()), order.end());
  EXPECT_EQ(order, "wsHsRD");
}

// Whatever the storage delays: the head begins when every other byte of the file is written, and the new name comes
// after the head.
TEST(Session, TheHeadIsWrittenLast) {
  for (const Durability durability : {Durability::accepted, Durability::written, Durability::durable}) {
    Config config = small_config(16);
    config.storage.durability = durability;
    SessionRig rig(config, {.plan = {.delay_reaps = 30, .reorder = true}, .shut = true});
    for (int64_t iteration = 0; iteration < 5; ++iteration) {
      ASSERT_OK(rig.client().write("a", iteration, page(1).data()));
      ASSERT_OK(rig.client().write("b", iteration, page(1).data()));
      ASSERT_OK(rig.client().end_iteration(iteration));
    }
    rig.stop();
    std::map<std::string, int> under_way;  // writes, by file
    std::map<std::string, bool> has_head;
    for (const FaultEvent& event : rig.events()) {
      if (event.on == FaultOn::rename) {
        EXPECT_TRUE(has_head[event.path]);
        EXPECT_EQ(under_way[event.path], 0);
      }
      if (event.on != FaultOn::write) continue;
      if (event.what == FaultEvent::What::begun) {
        EXPECT_FALSE(has_head[event.path]) << "a write after the head";
        if (event.offset == 0) {
          EXPECT_EQ(under_way[event.path], 0) << "the head, while other bytes travel";
          has_head[event.path] = true;
        }
        ++under_way[event.path];
      } else {
        --under_way[event.path];
      }
    }
    EXPECT_EQ(has_head.size(), 5u);
  }
}

TEST(Session, FilesGoToTheDevicesInTurn) {
  SessionRig rig(small_config(8, {"one", "two"}));
  for (int64_t iteration = 0; iteration < 6; ++iteration) {
    ASSERT_OK(rig.client().write("a", iteration, page(1).data()));
    ASSERT_OK(rig.client().end_iteration(iteration));
  }
  rig.stop();
  for (int64_t iteration = 0; iteration < 6; ++iteration) EXPECT_NE(rig.published(iteration), nullptr) << iteration;
  EXPECT_TRUE(rig.exists("two/sim_c0_000003.h5"));
}

// A stream of small blocks without a pause: rings, queues and publications wrap many times.
TEST(Session, ManySmallIterations) {
  Config config = small_config(4);
  config.storage.durability = Durability::durable;
  SessionRig rig(config, {.engine = {}, .shut = false});
  for (int64_t iteration = 0; iteration < 2000; ++iteration) {
    ASSERT_OK(rig.client().write("c", iteration, page(static_cast<uint64_t>(iteration)).data()));
    ASSERT_OK(rig.client().end_iteration(iteration));
  }
  ASSERT_OK(rig.client().flush());
  rig.stop();
  EXPECT_EQ(rig.counters().iterations_published.get(), 2000u);
  EXPECT_EQ(rig.published(1999)->read(1999, "c"), block(100, 1999));
}

// As many publications under way as there may be.
TEST(Session, ManyPublicationsPendingAtOnce) {
  Config config = small_config(16);
  config.storage.durability = Durability::durable;
  SessionRig rig(config, {.shut = true});
  const int64_t most = iteration_limit(config, UINT32_MAX);
  for (int64_t iteration = 0; iteration < most; ++iteration) {
    ASSERT_OK(rig.client().write("c", iteration, page(static_cast<uint64_t>(iteration)).data()));
    ASSERT_OK(rig.client().end_iteration(iteration));
  }
  rig.gate().open();
  ASSERT_OK(rig.client().flush());
  rig.stop();
  EXPECT_EQ(rig.counters().iterations_published.get(), static_cast<uint64_t>(most));
}

}  // namespace
}  // namespace tailrace::impl
