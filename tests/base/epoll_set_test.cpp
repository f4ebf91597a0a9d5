// EpollSet: which events it reports, how often, and with a client that misuses a shared event counter.
#include "base/os/epoll_set.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <thread>
#include <vector>

#include "base/os/unix_socket.hpp"

namespace tailrace::impl {
namespace {

using namespace std::chrono_literals;
using Trigger = EpollSet::Trigger;

void raise(int counter, uint64_t by = 1) { ASSERT_EQ(write(counter, &by, sizeof by), 8); }

class EpollSetTest : public ::testing::Test {
 protected:
  std::vector<uint64_t> now() {
    const std::span<const uint64_t> tags = set.wait(0s);
    std::vector<uint64_t> sorted(tags.begin(), tags.end());
    std::sort(sorted.begin(), sorted.end());
    return sorted;
  }
  using Tags = std::vector<uint64_t>;

  Result<EpollSet> made = EpollSet::create();
  EpollSet& set = made.value();
  const FileDescriptor a{eventfd(0, EFD_NONBLOCK)};
  const FileDescriptor b{eventfd(0, EFD_NONBLOCK)};
};

TEST_F(EpollSetTest, ReportsTagsOfWhatIsReady) {
  ASSERT_TRUE(set.add(a.get(), 7, Trigger::level).ok());
  ASSERT_TRUE(set.add(b.get(), std::numeric_limits<uint64_t>::max(), Trigger::edge).ok());
  EXPECT_EQ(now(), Tags{});
  raise(a.get());
  EXPECT_EQ(now(), Tags{7});
  raise(b.get());
  EXPECT_EQ(now(), (Tags{7, std::numeric_limits<uint64_t>::max()}));
  EXPECT_EQ(now(), Tags{7}) << "level: as long as nobody has read it; edge: once";
}

TEST_F(EpollSetTest, AnEdgeTriggeredCounterIsABellThatNobodyReads) {
  ASSERT_TRUE(set.add(a.get(), 1, Trigger::edge).ok());
  for (int i = 0; i < 1000; ++i) {
    raise(a.get());
    ASSERT_EQ(now(), Tags{1});
    ASSERT_EQ(now(), Tags{});
  }
}

TEST_F(EpollSetTest, WhoSharesTheCounterCanOnlySilenceHimself) {
  ASSERT_TRUE(set.add(a.get(), 1, Trigger::edge).ok());
  ASSERT_TRUE(set.add(b.get(), 2, Trigger::edge).ok());
  const FileDescriptor hostile(dup(a.get()));
  uint64_t count = 0;
  raise(hostile.get());
  ASSERT_EQ(read(hostile.get(), &count, sizeof count), 8);  // emptied before anyone looked
  ASSERT_EQ(fcntl(hostile.get(), F_SETFL, 0), 0);           // and a read would wait now
  raise(b.get());
  EXPECT_EQ(now(), Tags{2});
  raise(hostile.get(), std::numeric_limits<uint64_t>::max() - 1);  // filled
  EXPECT_EQ(now(), Tags{1});
  raise(b.get());
  EXPECT_EQ(now(), Tags{2});
}

TEST_F(EpollSetTest, WhatIsRemovedIsSilentThoughOthersHaveIt) {
  const FileDescriptor other(dup(a.get()));
  ASSERT_TRUE(set.add(a.get(), 1, Trigger::level).ok());
  raise(other.get());
  ASSERT_EQ(now(), Tags{1});
  set.remove(a.get());
  EXPECT_EQ(now(), Tags{});
}

TEST_F(EpollSetTest, TheEndOfAConnectionIsReported) {
  Result<std::pair<UnixSocket, UnixSocket>> ends = UnixSocket::pair();
  ASSERT_TRUE(ends.ok());
  ASSERT_TRUE(set.add(ends.value().first.fd(), 5, Trigger::level).ok());
  EXPECT_EQ(now(), Tags{});
  { const UnixSocket ended = std::move(ends.value().second); }
  EXPECT_EQ(now(), Tags{5});
}

TEST_F(EpollSetTest, ManyAreReportedInTurns) {
  std::vector<FileDescriptor> many;
  for (size_t i = 0; i < 3 * EpollSet::kAtOnce; ++i) {
    many.emplace_back(eventfd(1, 0));
    ASSERT_TRUE(set.add(many.back().get(), i, Trigger::edge).ok());
  }
  std::vector<uint64_t> seen;
  for (Tags tags = now(); !tags.empty(); tags = now()) seen.insert(seen.end(), tags.begin(), tags.end());
  std::sort(seen.begin(), seen.end());
  ASSERT_EQ(seen.size(), many.size());
  for (size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i], i);
}

TEST_F(EpollSetTest, SleepsUntilSomethingHappens) {
  ASSERT_TRUE(set.add(a.get(), 1, Trigger::edge).ok());
  std::thread other([this] { raise(a.get()); });
  const std::span<const uint64_t> tags = set.wait(std::nullopt);
  ASSERT_EQ(tags.size(), 1u);
  EXPECT_EQ(tags[0], 1u);
  other.join();
  EXPECT_TRUE(set.wait(1ns).empty()) << "or for the time given";
}

TEST_F(EpollSetTest, RefusesWhatCannotBeWaitedFor) {
  EXPECT_EQ(set.add(-1, 0, Trigger::level).fault().system_errno, EBADF);
  ASSERT_TRUE(set.add(a.get(), 0, Trigger::level).ok());
  EXPECT_EQ(set.add(a.get(), 1, Trigger::level).fault().system_errno, EEXIST);
}

}  // namespace
}  // namespace tailrace::impl
