// Raw files whose last bytes are written when they are complete (TAILRACE_FILE_SEAL), when storage fails or is slow.
#include <gtest/gtest.h>

#include <algorithm>

#include "testing/raw_files_rig.hpp"

namespace tailrace::impl {
namespace {

constexpr int kWrite = TAILRACE_FILE_WRITE;
constexpr int kSeal = TAILRACE_FILE_WRITE | TAILRACE_FILE_SEAL;
constexpr std::chrono::milliseconds kNow{0};
constexpr uint64_t kBytes = 100;

std::vector<std::byte> seal() { return std::vector<std::byte>(8, std::byte{'s'}); }

// Returns the final contents of a file: a block, followed by the seal.
std::vector<std::byte> whole(uint64_t number) {
  std::vector<std::byte> bytes = block(kBytes, number);
  const std::vector<std::byte> end = seal();
  bytes.insert(bytes.end(), end.begin(), end.end());
  return bytes;
}

uint32_t open_and_write(SessionRig& rig, const std::string& path, uint64_t number) {
  const uint32_t file = open_raw(rig, path, kSeal);
  const tailrace_extent extent{0, kBytes};
  EXPECT_EQ(said(rig.client().files().write(file, {&extent, 1}, block(kBytes, number).data())), "ok");
  return file;
}

TEST(SealedFiles, AreSealedWhenTheyAreWhole) {
  SessionRig rig(memory_config(), {.shut = true});
  const uint32_t file = open_and_write(rig, "a.raw", 1);
  ASSERT_OK(rig.client().files().seal(file, kBytes, seal()));
  const uint64_t ticket = iclose_raw(rig, file);
  EXPECT_EQ(rig.client().wait(ticket, kNow).code(), TAILRACE_TIMEOUT) << "its bytes cannot be there yet";
  EXPECT_TRUE(rig.exists("out/a.raw"));
  for (const int mode : {kWrite, kSeal, static_cast<int>(TAILRACE_FILE_READ)}) {
    EXPECT_EQ(rig.client().files().open("a.raw", mode).status().code(), TAILRACE_WRONG_ORDER) << mode;
  }
  rig.gate().open();
  ASSERT_OK(rig.client().wait(ticket, std::nullopt));
  ASSERT_OK(rig.client().files().close(open_raw(rig, "a.raw", kWrite)));
  EXPECT_TRUE(rig.told().empty());
  rig.stop();
  EXPECT_EQ(*rig.bytes("out/a.raw"), whole(1));
  rig.client().pool().collect();
  EXPECT_EQ(rig.client().pool().held(), 0u);
}

TEST(SealedFiles, OneWithoutASealIsClosedAsAnyOther) {
  SessionRig rig(memory_config());
  ASSERT_OK(rig.client().files().close(open_and_write(rig, "a.raw", 1)));
  rig.stop();
  EXPECT_EQ(*rig.bytes("out/a.raw"), block(kBytes, 1));
  EXPECT_TRUE(rig.told().empty());
}

TEST(SealedFiles, BadCallsAreRefused) {
  SessionRig rig(memory_config());
  const uint32_t plain = open_raw(rig, "plain.raw", kWrite);
  EXPECT_EQ(rig.client().files().seal(plain, 0, seal()).code(), TAILRACE_INVALID_ARGUMENT);
  const uint32_t file = open_raw(rig, "a.raw", kSeal);
  EXPECT_EQ(rig.client().files().seal(file, 0, {}).code(), TAILRACE_INVALID_ARGUMENT);
  EXPECT_EQ(rig.client().files().seal(file, 0, std::vector<std::byte>(17)).code(), TAILRACE_INVALID_ARGUMENT);
  EXPECT_EQ(rig.client().files().seal(file, UINT64_MAX, seal()).code(), TAILRACE_INVALID_ARGUMENT);
  EXPECT_EQ(rig.client().files().seal(99, 0, seal()).code(), TAILRACE_INVALID_ARGUMENT);
  for (const int mode :
       {int{TAILRACE_FILE_SEAL}, TAILRACE_FILE_READ | TAILRACE_FILE_SEAL, kSeal | TAILRACE_FILE_PUBLISH}) {
    EXPECT_EQ(rig.client().files().open("b.raw", mode).status().code(), TAILRACE_INVALID_ARGUMENT) << mode;
  }
  ASSERT_OK(rig.client().files().close(file));
  EXPECT_EQ(rig.client().files().seal(file, 0, seal()).code(), TAILRACE_CLOSED);
}

TEST(SealedFiles, OneThatIsGivenUpHasNoSeal) {
  SessionRig rig(memory_config());
  const uint32_t file = open_and_write(rig, "a.raw", 1);
  ASSERT_OK(rig.client().files().seal(file, kBytes, seal()));
  ASSERT_OK(rig.client().files().give_up(file));
  EXPECT_EQ(rig.client().files().close(file).code(), TAILRACE_NOT_PUBLISHED);
  rig.stop();
  EXPECT_EQ(*rig.bytes("out/a.raw"), block(kBytes, 1));
}

TEST(SealedFiles, OneThatIsNotClosedHasNoSealAndIsTold) {
  SessionRig rig(memory_config());
  const uint32_t file = open_and_write(rig, "a.raw", 1);
  ASSERT_OK(rig.client().files().seal(file, kBytes, seal()));
  rig.client().finish();
  const std::vector<Fault> told = rig.told();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].code, TAILRACE_NOT_PUBLISHED);
  EXPECT_EQ(told[0].file, "out/a.raw");
  rig.stop();
  EXPECT_EQ(*rig.bytes("out/a.raw"), block(kBytes, 1));
}

struct Case {
  FaultOn on;
  Durability durability;
};

class FailedSeal : public testing::TestWithParam<Case> {};

TEST_P(FailedSeal, IsTold) {
  SessionRig rig(memory_config(64, GetParam().durability),
                 {.plan = {.rules = {{.on = GetParam().on, .path_contains = "a.raw"}}}});
  const uint32_t file = open_and_write(rig, "a.raw", 1);
  ASSERT_OK(rig.client().files().seal(file, kBytes, seal()));
  const Status failed = rig.client().wait(iclose_raw(rig, file), std::nullopt);
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.code(), TAILRACE_NOT_PUBLISHED) << said(failed);
  EXPECT_EQ(failed.fault().operation, "file_close");
  EXPECT_EQ(failed.fault().file, "out/a.raw");
  EXPECT_EQ(failed.fault().system_errno, EIO);
  rig.stop();
  const auto left = rig.bytes("out/a.raw");
  EXPECT_TRUE(!left || left->size() <= kBytes) << "it is sealed";
}

INSTANTIATE_TEST_SUITE_P(Faults, FailedSeal,
                         testing::Values(Case{FaultOn::write, Durability::written},
                                         Case{FaultOn::write, Durability::durable},
                                         Case{FaultOn::sync, Durability::durable}));

// The order that `durable` promises: data, sync, seal, sync, sync of the directory.
TEST(SealedFiles, AreDurableBeforeTheyAreSealed) {
  SessionRig rig(memory_config(64, Durability::durable));
  const uint32_t file = open_and_write(rig, "a.raw", 1);
  ASSERT_OK(rig.client().files().seal(file, kBytes, seal()));
  ASSERT_OK(rig.client().files().close(file));
  rig.stop();
  std::vector<FaultOn> order;
  for (const FaultEvent& event : rig.events()) {
    const bool ends = event.what == FaultEvent::What::ended && (event.path == "out/a.raw" || event.path == "out");
    if (ends && event.on != FaultOn::open) order.push_back(event.on);
  }
  EXPECT_EQ(order,
            (std::vector<FaultOn>{FaultOn::write, FaultOn::sync, FaultOn::write, FaultOn::sync, FaultOn::sync}));
  EXPECT_EQ(*rig.bytes("out/a.raw"), whole(1));
}

}  // namespace
}  // namespace tailrace::impl
