// Files that are spread over several forwarders: each has its domains, and together they are one file.
#include <gtest/gtest.h>

#include <algorithm>

#include "storage/remote/domains.hpp"
#include "testing/dice.hpp"
#include "testing/forward_rig.hpp"
#include "testing/scratch.hpp"
#include "testing/seeds.hpp"

namespace tailrace::impl {
namespace {

using Kind = Transfer::Kind;
using OnLoss = RemoteFiles::OnLoss;
using Confirm = TransferRecord::Confirm;

std::vector<std::byte> drawn_bytes(Dice& dice, size_t count) {
  std::vector<std::byte> bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(dice.below(256));
  return bytes;
}

TEST(Domains, AllStripesOfAServerAreOneForwarders) {
  for_seeds(200, [](uint64_t seed) {
    Dice dice(seed);
    StripeMap map{1 + dice.below(100), {}};
    for (uint64_t i = 1 + dice.below(6); i > 0; --i) map.servers.push_back(static_cast<uint32_t>(dice.below(9)));
    const size_t forwarders = 1 + dice.below(5);
    const Domains domains(map, forwarders, dice.below(forwarders));
    for (int i = 0; i < 50; ++i) {
      const uint64_t offset = dice.below(3000);
      const uint64_t most = 1 + dice.below(2000);
      ASSERT_EQ(domains.forwarder_of(offset), map.server_of(offset) % forwarders);
      const uint64_t length = domains.length_at(offset, most);
      ASSERT_GE(length, 1u);
      ASSERT_LE(length, most);
      for (uint64_t at = 0; at < length; ++at) {
        ASSERT_EQ(domains.forwarder_of(offset + at), domains.forwarder_of(offset));
      }
      const bool is_longest = length == most || domains.forwarder_of(offset + length) != domains.forwarder_of(offset);
      ASSERT_TRUE(is_longest) << "at " << offset << ", " << length << " of " << most;
    }
  });
}

TEST(Domains, WithoutStripesForwardersTakeTurnsFromTheFilesOwn) {
  const Domains domains(StripeMap{}, 3, 2);
  EXPECT_EQ(domains.forwarder_of(0), 2u);
  EXPECT_EQ(domains.forwarder_of(Domains::kUnit), 0u);
  EXPECT_EQ(domains.forwarder_of(2 * Domains::kUnit + 5), 1u);
  EXPECT_EQ(domains.length_at(10, UINT64_MAX), Domains::kUnit - 10);
  EXPECT_EQ(Domains(StripeMap{}, 1, 0).length_at(10, 1u << 30), 1u << 30);
  const uint64_t last = UINT64_MAX - 7;
  EXPECT_LE(domains.length_at(last, 5), 5u);
}

class Spread : public ::testing::Test {
 protected:
  static constexpr uint64_t kUnit = 1000;

  Spread() {
    for (const char* const host : {"io1", "io2", "io3"}) start(host);
  }
  void start(const std::string& host) { rig_.add_forwarder(host).storage.stripes = StripeMap{kUnit, {0, 1, 2, 3}}; }
  ForwardedClient client(OnLoss on_loss = OnLoss::next, Confirm confirm = Confirm::written) {
    return {rig_, {"io1", "io2", "io3"}, on_loss, confirm, "node", true};
  }
  size_t open_at(const std::string& host) { return rig_.forwarders.at(host)->forwarder.open_files(); }
  uint64_t writes_at(const std::string& host) { return rig_.forwarders.at(host)->storage.writes; }

  const ScratchDirectory scratch_;
  ForwardRig rig_;
};

TEST_F(Spread, EachForwarderWritesItsDomains) {
  Dice dice(1);
  ForwardedClient of = client();
  const FileHandle file = of.open(scratch_ / "a");
  EXPECT_EQ(open_at("io1") + open_at("io2") + open_at("io3"), 1u) << "opened where nothing is written";
  const std::vector<std::byte> bytes = drawn_bytes(dice, 8 * kUnit);
  std::vector<std::byte> sent = bytes;
  EXPECT_EQ(of.run(Kind::write, file, 0, sent), static_cast<int64_t>(bytes.size()));
  EXPECT_EQ(of.run(Kind::sync, file, 0, {}), 0);
  // Servers 0 and 3 are next to each other in the file, and belong to the first forwarder.
  EXPECT_EQ(writes_at("io1"), 3u);
  EXPECT_EQ(writes_at("io2"), 2u);
  EXPECT_EQ(writes_at("io3"), 2u);
  std::vector<std::byte> got(bytes.size());
  EXPECT_EQ(of.run(Kind::read, file, 0, got), static_cast<int64_t>(bytes.size()));
  EXPECT_EQ(got, bytes);
  ASSERT_TRUE(of.files().rename(file, scratch_ / "b", false).ok());
  of.files().close(file);
  for (int i = 0; i < 20; ++i) rig_.turn();
  EXPECT_EQ(open_at("io1") + open_at("io2") + open_at("io3"), 0u);
  EXPECT_EQ(bytes_of_file(scratch_ / "b"), bytes);
}

TEST_F(Spread, ReadsAreShortAtTheEndOfTheFile) {
  Dice dice(2);
  ForwardedClient of = client();
  const FileHandle file = of.open(scratch_ / "a");
  std::vector<std::byte> bytes = drawn_bytes(dice, 2500);
  EXPECT_EQ(of.run(Kind::write, file, 0, bytes), 2500);
  std::vector<std::byte> got(5000);
  EXPECT_EQ(of.run(Kind::read, file, 500, got), 2000);
  EXPECT_TRUE(std::equal(got.begin(), got.begin() + 2000, bytes.begin() + 500));
  EXPECT_EQ(of.files().size(file).value(), 2500u);
  of.files().close(file);
}

TEST_F(Spread, AFailureInOneDomainEndsTheTransferThere) {
  Dice dice(3);
  ForwardedClient of = client();
  const FileHandle file = of.open(scratch_ / "a");
  std::vector<std::byte> bytes = drawn_bytes(dice, 3 * kUnit);
  rig_.forwarders.at("io2")->storage.failure = ENOSPC;
  EXPECT_EQ(of.run(Kind::write, file, 0, bytes), 1000) << "what was written before it counts";
  EXPECT_EQ(of.run(Kind::write, file, kUnit, {bytes.data(), kUnit}), -ENOSPC);
  of.files().close(file);
}

TEST_F(Spread, ADomainOfALostForwarderMoves) {
  Dice dice(4);
  ForwardedClient of = client();
  const FileHandle file = of.open(scratch_ / "a");
  const std::vector<std::byte> bytes = drawn_bytes(dice, 8 * kUnit);
  std::vector<std::byte> sent = bytes;
  EXPECT_EQ(of.run(Kind::write, file, 0, sent), static_cast<int64_t>(bytes.size()));
  for (const char* const host : {"io1", "io2", "io3"}) rig_.forwarders.at(host)->storage.held = true;
  const iovec segment{sent.data(), sent.size()};
  of.submit(Kind::write, file, 0, {&segment, 1}, 1);
  for (int i = 0; i < 50; ++i) {
    of.reap();
    rig_.turn();
  }
  ASSERT_EQ(of.under_way, 1u);
  rig_.kill("io2");
  for (const char* const host : {"io1", "io3"}) rig_.forwarders.at(host)->storage.held = false;
  of.run_until_idle();
  EXPECT_EQ(of.results.at(1), static_cast<int64_t>(bytes.size()));
  ASSERT_TRUE(of.files().rename(file, scratch_ / "b", false).ok());
  of.files().close(file);
  EXPECT_EQ(bytes_of_file(scratch_ / "b"), bytes);
}

// The forwarder of a domain confirms a write, and dies before it has carried it out.
TEST_F(Spread, ALossInOneDomainFailsTheWholeFile) {
  Dice dice(5);
  ForwardedClient of = client(OnLoss::next, Confirm::received);
  const FileHandle file = of.open(scratch_ / "a");
  std::vector<std::byte> bytes = drawn_bytes(dice, 8 * kUnit);
  for (const char* const host : {"io1", "io2", "io3"}) rig_.forwarders.at(host)->storage.held = true;
  EXPECT_EQ(of.run(Kind::write, file, 0, bytes), static_cast<int64_t>(bytes.size()));
  rig_.kill("io2");
  for (const char* const host : {"io1", "io3"}) rig_.forwarders.at(host)->storage.held = false;
  EXPECT_LT(of.run(Kind::sync, file, 0, {}), 0);
  EXPECT_EQ(of.files().rename(file, scratch_ / "b", false).code(), TAILRACE_SERVER_LOST);
  of.files().close(file);
}

// The part of a lost forwarder moves to this node while the forwarder of the whole file renames it.
TEST_F(Spread, ADomainMovesToThisNodeWhileTheFileIsRenamed) {
  Dice dice(6);
  for (int round = 0; round < 12; ++round) {  // the name says which forwarder is asked about it
    ForwardedClient of = client(OnLoss::direct);
    const std::string name = std::to_string(round);
    const FileHandle file = of.open(scratch_ / (name + ".part"));
    const std::string home = open_at("io1") > 0 ? "io1" : (open_at("io2") > 0 ? "io2" : "io3");
    const std::string lost = home == "io1" ? "io2" : "io1";
    std::vector<std::byte> bytes = drawn_bytes(dice, 8 * kUnit);
    EXPECT_EQ(of.run(Kind::write, file, 0, bytes), static_cast<int64_t>(bytes.size()));
    rig_.kill(lost);
    for (auto& [host, node] : rig_.forwarders) node->storage.operations_held = true;
    of.storage().submit(FileOperation{.kind = FileOperation::Kind::rename, .file = file, .path = scratch_ / name});
    const auto is_asked = [&] {
      return std::any_of(rig_.forwarders.begin(), rig_.forwarders.end(), [&](const auto& of_host) {
        return of_host.second->storage.operations() > (of_host.first == home ? 1u : 0u);
      });
    };
    while (!is_asked() && !of.log.has("goes on by itself")) {
      of.reap();
      rig_.turn();
    }
    for (auto& [host, node] : rig_.forwarders) {
      if (host != home) node->storage.release_operations();
    }
    rig_.forwarders.at(home)->storage.release_operations();
    std::optional<FileOperationEnd> end;
    while (!(end = of.storage().reap_operation())) {
      of.reap();
      rig_.turn();
    }
    EXPECT_TRUE(end->status.ok()) << end->status.fault().message;
    EXPECT_EQ(of.run(Kind::write, file, 0, bytes), static_cast<int64_t>(bytes.size()));
    of.files().close(file);
    EXPECT_EQ(bytes_of_file(scratch_ / name), bytes);
    start(lost);
  }
}

TEST_F(Spread, RandomTransfersAreThoseOfAFile) {
  for_seeds(20, [](uint64_t seed) {
    Dice dice(seed);
    const ScratchDirectory scratch;
    ForwardRig rig(seed);
    std::vector<std::string> hosts;
    StripeMap stripes{1 + dice.below(20'000), {}};
    for (uint64_t i = 1 + dice.below(5); i > 0; --i) stripes.servers.push_back(static_cast<uint32_t>(dice.below(7)));
    for (const char* const host : {"io1", "io2", "io3", "io4"}) {
      rig.add_forwarder(host).storage.stripes = stripes;
      hosts.emplace_back(host);
    }
    ForwardedClient client(rig, hosts, OnLoss::next, Confirm::written, "node", true);
    std::vector<std::byte> model(100'000);
    const FileHandle file = client.open(scratch / "a");
    ASSERT_TRUE(client.files().truncate(file, model.size()).ok());
    for (int i = 0; i < 60; ++i) {
      const size_t length = 1 + dice.below(dice.chance(50) ? 2000 : model.size() / 2);
      const size_t offset = dice.below(model.size() - length + 1);
      std::vector<std::byte> bytes = drawn_bytes(dice, length);
      std::vector<iovec> segments;
      for (size_t at = 0; at < length;) {
        const size_t part = segments.size() == 6 ? length - at : 1 + dice.below(length - at);
        segments.push_back({bytes.data() + at, part});
        at += part;
      }
      const auto place = model.begin() + static_cast<ptrdiff_t>(offset);
      const bool writes = dice.chance(60);
      if (writes) std::copy(bytes.begin(), bytes.end(), place);
      client.results.clear();
      client.submit(writes ? Kind::write : Kind::read, file, offset, segments, 1);
      client.run_until_idle();
      // A reader of several pieces gets what it asked for, too: a forwarder ends each piece whole.
      ASSERT_EQ(client.results.at(1), static_cast<int64_t>(length));
      const bool is_right = writes || std::equal(bytes.begin(), bytes.end(), place);
      ASSERT_TRUE(is_right) << "transfer " << i;
    }
    client.files().close(file);
    EXPECT_EQ(bytes_of_file(scratch / "a"), model);
  });
}

}  // namespace
}  // namespace tailrace::impl
