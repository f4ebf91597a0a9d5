// ClientRings: verbs that wait in a ring while the host has no room are not left there when the server sleeps.
#include "place/client_rings.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "channel/channel_memory.hpp"

namespace tailrace::impl {
namespace {

constexpr uint64_t kPool = 4096;

// A host that gets room only when it moves on.
class HostWithoutRoom final : public ClientRings::Host {
 public:
  bool has_room = false;
  std::vector<uint64_t> taken;  // sequences

  Status check(int, const Descriptor&) const override { return {}; }
  void accept(int, const Descriptor& verb) override { taken.push_back(verb.sequence); }
  bool settled(int) const override { return true; }
  void leave(int) override {}
  bool released(int) const override { return true; }
  void dismiss(int) override {}
  void progress() override { has_room = true; }
  bool ready() const override { return has_room; }
};

// Found by the simulator (core, seed 81): the room came in the last round before the server slept, and nothing was
// left to wake it.
TEST(ClientRings, RoomThatComesLateIsUsedBeforeSleep) {
  const ChannelMemory layout({.variables = 1, .ring = 4, .tickets = 4, .blocks = 4});
  const std::unique_ptr<std::byte, void (*)(void*)> memory(
      static_cast<std::byte*>(std::aligned_alloc(4096, kPool + layout.bytes())), std::free);
  std::byte* const parts = memory.get() + kPool;
  layout.construct(parts);
  Channel client = layout.view(parts, {memory.get(), kPool});
  Channel server = layout.view(parts, {memory.get(), kPool});
  HostWithoutRoom host;
  ClientRings rings(host);
  rings.add(0, server, ChannelMemory::control(parts).server_asleep, 0);
  Descriptor verb;
  verb.sequence = 1;
  ASSERT_TRUE(client.ring.push(verb));
  EXPECT_TRUE(rings.work().more) << "there is room now, and a verb";
  EXPECT_TRUE(rings.work().more);
  EXPECT_EQ(host.taken, std::vector<uint64_t>{1});
  EXPECT_FALSE(rings.work().more) << "nothing is left";
  rings.lose(0, false);
  EXPECT_DEATH(rings.lose(0, true), "stage") << "a client goes once";
  EXPECT_EQ(rings.work().dismissed, (std::vector<std::pair<int, bool>>{{0, false}}));
}

}  // namespace
}  // namespace tailrace::impl
