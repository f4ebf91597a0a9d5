// ThreadPlace with the test's own sink: what is sent arrives once and in order, at any pace of the sink, and a stop
// loses nothing.
#include "place/thread/thread_place.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

#include "testing/seeds.hpp"

namespace tailrace::impl {
namespace {

constexpr uint64_t kBudget = uint64_t{1} << 20;

// Takes a few verbs at a time, and ends each after some calls of progress().
class SlowSink final : public RequestSink {
 public:
  SlowSink(Channel& channel, Doorbell& doorbell, uint64_t seed)
      : channel_(channel), doorbell_(doorbell), dice_(seed) {}

  bool ready() const override { return open_.size() < 3; }
  void accept(const Descriptor& descriptor) override {
    EXPECT_TRUE(ready());
    sequences.push_back(descriptor.sequence);
    open_.push_back(descriptor);
  }
  void progress() override {
    ++calls;
    // As with a storage: an end comes at any time, and the bell rings for it.
    if (!open_.empty() && dice_.chance(60)) {
      if (open_.front().ticket != kNoTicket) channel_.tickets.end(open_.front().ticket, true);
      open_.erase(open_.begin());
      channel_.client_bell.ring();
    }
    if (!open_.empty()) ring_server();
  }
  bool idle() const override { return open_.empty(); }

  std::vector<uint64_t> sequences;
  uint64_t calls = 0;

 private:
  void ring_server() { EXPECT_EQ(eventfd_write(doorbell_.fd(), 1), 0); }

  Channel& channel_;
  Doorbell& doorbell_;
  Dice dice_;
  std::vector<Descriptor> open_;
};

std::unique_ptr<ThreadPlace> new_place(Doorbell& doorbell) {
  auto place = ThreadPlace::create(kBudget, true, 1, choose_cpus(CpuChoice::none, {}, 0), doorbell);
  EXPECT_TRUE(place.ok());
  return std::move(place).value();
}

TEST(ThreadPlace, EverythingArrivesOnceAndInOrder) {
  for_seeds(5, [](uint64_t seed) {
    Doorbell doorbell;
    const std::unique_ptr<ThreadPlace> place = new_place(doorbell);
    Channel& channel = place->channel();
    SlowSink sink(channel, doorbell, seed);
    place->start(sink);
    constexpr uint64_t kCount = 10000;  // more than the ring holds
    uint64_t last = 0;
    for (uint64_t i = 1; i <= kCount; ++i) {
      Descriptor descriptor;
      descriptor.sequence = i;
      channel.client_bell.wait_until([&] { return (last = channel.tickets.open()) != 0; }, std::nullopt);
      descriptor.ticket = last;
      channel.client_bell.wait_until([&] { return channel.ring.push(descriptor); }, std::nullopt);
      place->ring();
    }
    channel.client_bell.wait_until([&] { return channel.tickets.look(last) == TicketState::done; }, std::nullopt);
    place->stop();
    ASSERT_EQ(sink.sequences.size(), kCount);
    for (uint64_t i = 0; i < kCount; ++i) ASSERT_EQ(sink.sequences[i], i + 1);
  });
}

TEST(ThreadPlace, AStopLetsEverythingEnd) {
  for_seeds(20, [](uint64_t seed) {
    Doorbell doorbell;
    const std::unique_ptr<ThreadPlace> place = new_place(doorbell);
    SlowSink sink(place->channel(), doorbell, seed);
    place->start(sink);
    const uint64_t count = Dice(seed).below(50);
    for (uint64_t i = 1; i <= count; ++i) {
      Descriptor descriptor;
      descriptor.sequence = i;
      ASSERT_TRUE(place->channel().ring.push(descriptor));
      place->ring();
    }
    place->stop();
    EXPECT_EQ(sink.sequences.size(), count);
    EXPECT_TRUE(sink.idle());
    place->stop();  // does nothing
  });
}

TEST(ThreadPlace, NeverStartedAndStartedForNothing) {
  Doorbell doorbell;
  { const std::unique_ptr<ThreadPlace> place = new_place(doorbell); }
  const std::unique_ptr<ThreadPlace> place = new_place(doorbell);
  SlowSink sink(place->channel(), doorbell, 1);
  place->start(sink);
  place->stop();
  EXPECT_EQ(place->channel().memory.size(), kBudget);
  EXPECT_NE(place->description().find("thread"), std::string::npos);
}

// A sink that has no room at first, and gets it while it moves on, without a ring.
class FullAtFirst final : public RequestSink {
 public:
  explicit FullAtFirst(Channel& channel) : channel_(channel) {}
  bool ready() const override { return refused_ == 0 || room_; }
  void accept(const Descriptor& descriptor) override { channel_.tickets.end(descriptor.ticket, true); }
  void progress() override {
    // The second look after the ring had something is the one before falling asleep.
    if (refused_ > 0 && !channel_.ring.empty() && --refused_ == 0) room_ = true;
    channel_.client_bell.ring();
  }
  bool idle() const override { return true; }

 private:
  Channel& channel_;
  int refused_ = 2;
  bool room_ = false;
};

TEST(ThreadPlace, RoomThatComesWhileFallingAsleepIsUsed) {
  Doorbell doorbell;
  const std::unique_ptr<ThreadPlace> place = new_place(doorbell);
  Channel& channel = place->channel();
  FullAtFirst sink(channel);
  Descriptor descriptor;
  descriptor.ticket = channel.tickets.open();
  ASSERT_TRUE(channel.ring.push(descriptor));
  place->start(sink);
  EXPECT_TRUE(channel.client_bell.wait_until(
      [&] { return channel.tickets.look(descriptor.ticket) == TicketState::done; }, std::chrono::seconds(20)));
  place->stop();
}

// A sink that has something to do now and then, for which nobody rings.
class DueSink final : public RequestSink {
 public:
  explicit DueSink(Channel& channel) : channel_(channel) {}
  bool ready() const override { return true; }
  void accept(const Descriptor& descriptor) override {
    ticket_ = descriptor.ticket;
    looks_ = 20;
  }
  void progress() override {
    if (looks_ == 0 || --looks_ > 0) return;
    channel_.tickets.end(ticket_, true);
    channel_.client_bell.ring();
  }
  bool idle() const override { return looks_ == 0; }
  std::optional<Nanoseconds> due_in() const override {
    return looks_ > 0 ? std::optional(Nanoseconds(1000)) : std::nullopt;
  }

 private:
  Channel& channel_;
  uint64_t ticket_ = kNoTicket;
  int looks_ = 0;
};

TEST(ThreadPlace, WhatIsDueIsDoneThoughNobodyRings) {
  Doorbell doorbell;
  const std::unique_ptr<ThreadPlace> place = new_place(doorbell);
  Channel& channel = place->channel();
  DueSink sink(channel);
  place->start(sink);
  Descriptor descriptor;
  descriptor.ticket = channel.tickets.open();
  ASSERT_TRUE(channel.ring.push(descriptor));
  place->ring();
  EXPECT_TRUE(channel.client_bell.wait_until(
      [&] { return channel.tickets.look(descriptor.ticket) == TicketState::done; }, std::chrono::seconds(20)));
  place->ring();
  place->stop();
}

// Signals belong to the application: the thread takes none.
class MaskSink final : public RequestSink {
 public:
  bool ready() const override { return true; }
  void accept(const Descriptor&) override {}
  void progress() override { pthread_sigmask(SIG_SETMASK, nullptr, &mask); }
  bool idle() const override { return true; }
  sigset_t mask{};
};

TEST(ThreadPlace, TakesNoSignals) {
  Doorbell doorbell;
  const std::unique_ptr<ThreadPlace> place = new_place(doorbell);
  MaskSink sink;
  place->start(sink);
  place->stop();
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1, SIGALRM, SIGCHLD}) EXPECT_EQ(sigismember(&sink.mask, signal), 1);
  sigset_t own;
  pthread_sigmask(SIG_SETMASK, nullptr, &own);
  EXPECT_EQ(sigismember(&own, SIGINT), 0);
}

}  // namespace
}  // namespace tailrace::impl
