// Promise 1: a failure is on its ticket, or the next call reports it, once; it is counted; and it stops the
// publication of its iteration and of no other.
#include <gtest/gtest.h>

#include "testing/blocks.hpp"
#include "testing/files_rig.hpp"

namespace tailrace::impl {
namespace {

FaultPlan always(FaultOn on, const std::string& path, int error = EIO) {
  return {.rules = {{.on = on, .path_contains = path, .times = FaultRule::kForever, .error = error}}};
}

TEST(SessionFailures, OnTheTicketOfABorrow) {
  SessionRig rig(small_config(8), {.plan = {.rules = {{.on = FaultOn::write, .path_contains = "_000001.h5.part"}}}});
  Client& client = rig.client();
  const std::vector<std::byte> data = page(1);
  const uint64_t bad = client.borrow("a", 1, data.data()).value();
  const uint64_t good = client.borrow("a", 2, data.data()).value();
  EXPECT_OK(client.wait(good, std::nullopt));
  const Status status = client.wait(bad, std::nullopt);
  ASSERT_EQ(status.code(), TAILRACE_IO_ERROR);
  EXPECT_EQ(status.fault().system_errno, EIO);
  EXPECT_EQ(status.fault().operation, "write");
  EXPECT_EQ(status.fault().file, "out/sim_c0_000001.h5.part");
  EXPECT_EQ(status.fault().variable, "a");
  EXPECT_EQ(status.fault().iteration, 1);
  EXPECT_TRUE(rig.told().empty()) << "the ticket has told it";
  EXPECT_EQ(client.wait(bad, std::nullopt).code(), TAILRACE_IO_ERROR) << "still failed, though told";
  ASSERT_OK(client.end_iteration(1));
  ASSERT_OK(client.end_iteration(2));
  ASSERT_OK(client.flush());
  const std::vector<Fault> told = rig.told();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].code, TAILRACE_NOT_PUBLISHED);
  EXPECT_EQ(told[0].iteration, 1);
  EXPECT_EQ(told[0].system_errno, EIO);
  rig.stop();
  EXPECT_EQ(rig.failures().total(), 2u);
  EXPECT_EQ(rig.failures().unseen(), 0u);
  EXPECT_EQ(rig.counters().blocks_failed.get(), 1u);
  EXPECT_EQ(rig.counters().iterations_failed.get(), 1u);
  EXPECT_FALSE(rig.exists(rig.path(1)));
  EXPECT_EQ(rig.published(2)->read(2, "a"), data);
}

// An earlier server died between the rename of a file and the sync of its directory.
TEST(SessionFailures, OfANameThatAnEarlierServerLeftUnsynced) {
  Config config = small_config(8);
  config.storage.durability = Durability::durable;
  FilesRig rig(config, always(FaultOn::sync, "out"));
  KeptMember client(0);
  rig.files.clients().join(client);
  rig.files.complete_publication(7);
  rig.run();
  rig.files.leave(client);
  ASSERT_EQ(client.faults.size(), 1u);
  EXPECT_EQ(client.faults[0].iteration, 7);
  EXPECT_EQ(client.faults[0].system_errno, EIO);
  EXPECT_EQ(client.faults[0].file, "out");
}

TEST(SessionFailures, ByTheNextCallOnceIfNobodyWaits) {
  SessionRig rig(small_config(8), {.plan = always(FaultOn::write, "_000001.h5.part", ENOSPC)});
  Client& client = rig.client();
  const std::vector<std::byte> data = page(1);
  const uint64_t ticket = client.borrow("b", 1, data.data()).value();
  ASSERT_OK(client.flush());
  const std::vector<Fault> told = rig.told();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].system_errno, ENOSPC);
  EXPECT_EQ(told[0].variable, "b");
  EXPECT_TRUE(rig.told().empty());
  const Status again = client.wait(ticket, std::nullopt);
  EXPECT_EQ(again.code(), TAILRACE_IO_ERROR);
  EXPECT_NE(again.fault().message.find("already reported"), std::string::npos);
}

TEST(SessionFailures, OfAWriteThatHasNoTicket) {
  SessionRig rig(small_config(8), {.plan = always(FaultOn::write, "_000001.h5.part")});
  ASSERT_OK(rig.client().write("a", 1, page(1).data()));
  ASSERT_OK(rig.client().write("b", 1, page(1).data()));
  ASSERT_OK(rig.client().flush());
  EXPECT_EQ(rig.client().unseen_failures(), 2u);
  EXPECT_EQ(rig.told().size(), 2u);
  rig.client().pool().collect();
  EXPECT_EQ(rig.client().pool().held(), 0u) << "memory of failed blocks comes back";
}

TEST(SessionFailures, ABlockThatCannotBeAllocated) {
  Config config = sample_config({"out"}, {{"large", ElementType::uint8, {1 << 17}}, {"c", ElementType::uint8, {10}}});
  config.memory.budget = 1 << 20;
  SessionRig rig(config, {.plan = always(FaultOn::allocate, "_000001.h5.part", ENOSPC)});
  const std::vector<std::byte> data = block(1 << 17, 3);
  for (int64_t iteration = 0; iteration < 3; ++iteration) {
    ASSERT_OK(rig.client().write("large", iteration, data.data()));
    ASSERT_OK(rig.client().write("c", iteration, data.data()));
    ASSERT_OK(rig.client().end_iteration(iteration));
  }
  ASSERT_OK(rig.client().flush());
  const std::vector<Fault> told = rig.told();
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told[0].operation, "allocate");
  EXPECT_EQ(told[0].system_errno, ENOSPC);
  EXPECT_EQ(told[0].variable, "large");
  for (const Fault& fault : told) EXPECT_EQ(fault.iteration, 1) << fault.message;
  rig.stop();
  EXPECT_EQ(rig.published(1), nullptr);
  EXPECT_NE(rig.published(0), nullptr);
  EXPECT_EQ(rig.published(2)->read(2, "large"), data);
}

TEST(SessionFailures, AFileThatCannotBeMade) {
  SessionRig rig(small_config(8), {.plan = always(FaultOn::open, "_000001.h5.part", EROFS)});
  for (int64_t iteration = 0; iteration < 3; ++iteration) {
    ASSERT_OK(rig.client().write("a", iteration, page(1).data()));
    ASSERT_OK(rig.client().write("b", iteration, page(1).data()));
    ASSERT_OK(rig.client().end_iteration(iteration));
  }
  ASSERT_OK(rig.client().flush());
  const std::vector<Fault> told = rig.told();
  EXPECT_EQ(told.size(), 3u);  // two blocks and the iteration
  for (const Fault& fault : told) {
    EXPECT_EQ(fault.system_errno, EROFS) << fault.message;
    EXPECT_EQ(fault.iteration, 1);
  }
  rig.stop();
  EXPECT_EQ(rig.counters().iterations_published.get(), 2u);
  EXPECT_EQ(rig.counters().iterations_failed.get(), 1u);
  EXPECT_EQ(rig.counters().blocks_failed.get(), 2u);
}

TEST(SessionFailures, ARenameThatFails) {
  SessionRig rig(small_config(8), {.plan = always(FaultOn::rename, "_000001", EACCES)});
  for (int64_t iteration = 0; iteration < 3; ++iteration) {
    ASSERT_OK(rig.client().write("a", iteration, page(1).data()));
    ASSERT_OK(rig.client().end_iteration(iteration));
  }
  ASSERT_OK(rig.client().flush());
  const std::vector<Fault> told = rig.told();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].operation, "rename");
  EXPECT_EQ(told[0].iteration, 1);
  EXPECT_EQ(told[0].system_errno, EACCES);
  rig.stop();
  EXPECT_FALSE(rig.exists(rig.path(1)));
  EXPECT_NE(Hdf5File::open(*rig.bytes(rig.path(1) + ".part")), nullptr) << "complete: recovery can publish it";
  EXPECT_EQ(rig.counters().iterations_published.get(), 2u);
  EXPECT_EQ(rig.counters().iterations_failed.get(), 1u);
}

TEST(SessionFailures, ASyncThatFails) {
  for (const uint64_t first : {0, 1}) {  // the one before the head, the one after it
    Config config = small_config(8);
    config.storage.durability = Durability::durable;
    SessionRig rig(config, {.plan = {.rules = {{.on = FaultOn::sync, .path_contains = ".part", .first = first}}}});
    ASSERT_OK(rig.client().write("a", 1, page(1).data()));
    ASSERT_OK(rig.client().end_iteration(1));
    ASSERT_OK(rig.client().flush());
    const std::vector<Fault> told = rig.told();
    ASSERT_EQ(told.size(), 1u);
    EXPECT_EQ(told[0].operation, "sync") << told[0].message;
    EXPECT_EQ(told[0].iteration, 1);
    rig.stop();
    EXPECT_FALSE(rig.exists(rig.path(1)));
    EXPECT_EQ(rig.counters().iterations_failed.get(), 1u);
  }
}

TEST(SessionFailures, ASyncOfTheDirectoryThatFails) {
  Config config = small_config(8, {"directory"});
  config.storage.durability = Durability::durable;
  SessionRig rig(config, {.plan = {.rules = {{.on = FaultOn::sync, .path_contains = "", .first = 2}}}});
  ASSERT_OK(rig.client().write("a", 1, page(1).data()));
  ASSERT_OK(rig.client().end_iteration(1));
  ASSERT_OK(rig.client().flush());
  const std::vector<Fault> told = rig.told();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].file, "directory");
  EXPECT_EQ(told[0].iteration, 1);
  rig.stop();
  EXPECT_NE(rig.published(1), nullptr);
  EXPECT_EQ(rig.counters().iterations_failed.get(), 1u) << "published, but not durable";
}

TEST(SessionFailures, MoreThanAreKeptAreStillCounted) {
  SessionRig rig(small_config(8), {.plan = always(FaultOn::write, ".part")});
  const uint64_t blocks = FailureLog::kKept + 100;
  for (uint64_t i = 0; i < blocks; ++i) ASSERT_OK(rig.client().write("c", 0, page(1).data()));
  ASSERT_OK(rig.client().flush());
  EXPECT_EQ(rig.client().unseen_failures(), blocks);
  const std::vector<Fault> told = rig.told();
  ASSERT_EQ(told.size(), FailureLog::kKept + 1);
  EXPECT_NE(told.back().message.find("100 more requests failed"), std::string::npos) << told.back().message;
  EXPECT_EQ(rig.client().unseen_failures(), 0u);
  EXPECT_EQ(rig.counters().blocks_failed.get(), blocks);
}

TEST(SessionFailures, ARewriteDoesNotHealAnIteration) {
  SessionRig rig(small_config(8), {.plan = {.rules = {{.on = FaultOn::write, .path_contains = "_000001.h5.part"}}}});
  const std::vector<std::byte> data = page(1);
  const uint64_t bad = rig.client().borrow("a", 1, data.data()).value();
  EXPECT_EQ(rig.client().wait(bad, std::nullopt).code(), TAILRACE_IO_ERROR);
  const uint64_t good = rig.client().borrow("a", 1, data.data()).value();
  EXPECT_OK(rig.client().wait(good, std::nullopt));
  ASSERT_OK(rig.client().end_iteration(1));
  ASSERT_OK(rig.client().flush());
  ASSERT_EQ(rig.told().size(), 1u);
  rig.stop();
  EXPECT_FALSE(rig.exists(rig.path(1)));
}

}  // namespace
}  // namespace tailrace::impl
