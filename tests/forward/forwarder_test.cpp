// A client whose storage is a forwarder: its files are as if it had written them itself.
#include <gtest/gtest.h>

#include <numeric>

#include "testing/dice.hpp"
#include "testing/forward_rig.hpp"
#include "testing/scratch.hpp"
#include "testing/seeds.hpp"

namespace tailrace::impl {
namespace {

using Kind = Transfer::Kind;

std::vector<std::byte> some_bytes(size_t count, unsigned first = 0) {
  std::vector<std::byte> bytes(count);
  for (size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(first + i * 7);
  return bytes;
}

TEST(Forwarder, WritesAndReadsAFile) {
  const ScratchDirectory scratch;
  ForwardRig rig;
  rig.add_forwarder("io1");
  ForwardedClient client(rig, {"io1"});
  const FileHandle file = client.open(scratch / "a");
  std::vector<std::byte> bytes = some_bytes(100'000);
  EXPECT_EQ(client.run(Kind::write, file, 10, bytes), 100'000);
  EXPECT_EQ(client.run(Kind::sync, file, 0, {}), 0);
  EXPECT_EQ(client.files().size(file).value(), 100'010u);
  std::vector<std::byte> back(100'000);
  EXPECT_EQ(client.run(Kind::read, file, 10, back), 100'000);
  EXPECT_EQ(back, bytes);
  client.files().close(file);
  std::vector<std::byte> expected(10);
  expected.insert(expected.end(), bytes.begin(), bytes.end());
  EXPECT_EQ(bytes_of_file(scratch / "a"), expected);
}

TEST(Forwarder, ReadsAreShortAtTheEndOfAFile) {
  const ScratchDirectory scratch;
  ForwardRig rig;
  rig.add_forwarder("io1");
  ForwardedClient client(rig, {"io1"});
  const FileHandle file = client.open(scratch / "a");
  std::vector<std::byte> bytes = some_bytes(10);
  EXPECT_EQ(client.run(Kind::write, file, 0, bytes), 10);
  std::vector<std::byte> back(10);
  EXPECT_EQ(client.run(Kind::read, file, 6, back), 4);
  EXPECT_EQ(std::vector(back.begin(), back.begin() + 4), std::vector(bytes.begin() + 6, bytes.end()));
  EXPECT_EQ(client.run(Kind::read, file, 10, back), 0);
  EXPECT_EQ(client.run(Kind::read, file, 1000, back), 0);
  client.files().close(file);
}

TEST(Forwarder, NamesAreThoseOfItsFileSystem) {
  const ScratchDirectory scratch;
  ForwardRig rig;
  rig.add_forwarder("io1");
  ForwardedClient client(rig, {"io1"});
  FileSystem& files = client.files();
  ASSERT_TRUE(files.make_directory(scratch / "d/e").ok());
  const FileHandle file = client.open(scratch / "d/e/a.part", OpenMode::fresh);
  std::vector<std::byte> bytes = some_bytes(5);
  EXPECT_EQ(client.run(Kind::write, file, 0, bytes), 5);
  ASSERT_TRUE(files.rename(file, scratch / "d/e/a", true).ok());
  EXPECT_EQ(files.list(scratch / "d/e").value(), std::vector<std::string>{"a"});
  EXPECT_EQ(files.stat(scratch / "d/e/a").value().size, 5u);
  EXPECT_EQ(files.stat(scratch / "d").value().kind, NameFacts::Kind::directory);
  EXPECT_EQ(files.stat(scratch / "none").status().fault().system_errno, ENOENT);
  ASSERT_TRUE(files.truncate(file, 2).ok());
  EXPECT_EQ(files.size(file).value(), 2u);
  ASSERT_TRUE(files.allocate(file, 0, 100).ok());
  EXPECT_EQ(files.size(file).value(), 100u);
  EXPECT_TRUE(files.check_below(scratch.path(), "d/e/a").ok());
  EXPECT_FALSE(files.check_below(scratch.path(), "d/none/a").ok());
  const FileHandle other = client.open(scratch / "b");
  EXPECT_EQ(files.rename(other, scratch / "c", false).code(), TAILRACE_OK);
  files.close(other);
  const FileHandle third = client.open(scratch / "b");
  EXPECT_EQ(files.rename(third, scratch / "c", false).fault().system_errno, EEXIST);
  files.close(third);
  files.close(file);
  ASSERT_TRUE(files.remove(scratch / "d/e/a").ok());
  EXPECT_FALSE(files.remove(scratch / "d/e/a").ok());
}

TEST(Forwarder, ALockKeepsOthersOutUntilItsClientGoes) {
  const ScratchDirectory scratch;
  ForwardRig rig;
  rig.add_forwarder("io1");
  auto first = std::make_unique<ForwardedClient>(rig, std::vector<std::string>{"io1"});
  ForwardedClient second(rig, {"io1"}, RemoteFiles::OnLoss::next, TransferRecord::Confirm::written, "node2");
  auto lock = first->files().lock(scratch / "l", "the first");
  ASSERT_TRUE(lock.ok()) << lock.status().fault().message;
  EXPECT_TRUE(lock.value()->held());
  EXPECT_TRUE(second.files().is_locked(scratch / "l"));
  EXPECT_EQ(second.files().lock(scratch / "l", "the second").status().code(), TAILRACE_CLIENT_IN_USE);
  { const auto gone = std::move(lock).value(); }
  EXPECT_FALSE(second.files().is_locked(scratch / "l"));
  EXPECT_TRUE(second.files().lock(scratch / "l", "the second").ok());
}

TEST(Forwarder, ManySmallWritesTravelTogetherAndAreMerged) {
  const ScratchDirectory scratch;
  ForwardRig rig;
  ForwarderNode& node = rig.add_forwarder("io1");
  ForwardedClient client(rig, {"io1"});
  const FileHandle file = client.open(scratch / "a");
  std::vector<std::byte> bytes = some_bytes(200 * 100);
  std::vector<iovec> segments;
  for (size_t i = 0; i < 200; ++i) segments.push_back({bytes.data() + i * 100, 100});
  for (size_t i = 0; i < 200; ++i) client.submit(Kind::write, file, i * 100, {&segments[i], 1}, i);
  client.run_until_idle();
  for (size_t i = 0; i < 200; ++i) EXPECT_EQ(client.results.at(i), 100);
  client.files().close(file);
  EXPECT_EQ(bytes_of_file(scratch / "a"), bytes);
  EXPECT_LE(node.storage.writes, 4u) << "200 writes of one message are adjacent";
}

TEST(Forwarder, AFailedWriteHasItsErrnoAndOthersGoOn) {
  const ScratchDirectory scratch;
  ForwardRig rig;
  ForwarderNode& node = rig.add_forwarder("io1");
  ForwardedClient client(rig, {"io1"});
  const FileHandle file = client.open(scratch / "a");
  std::vector<std::byte> bytes = some_bytes(10);
  node.storage.failure = ENOSPC;
  EXPECT_EQ(client.run(Kind::write, file, 0, bytes), -ENOSPC);
  node.storage.failure = 0;
  EXPECT_EQ(client.run(Kind::write, file, 0, bytes), 10);
  client.files().close(file);
}

TEST(Forwarder, NeverHoldsMoreThanItsMemoryAndNobodyStarves) {
  const ScratchDirectory scratch;
  ForwardRig rig;
  const uint64_t memory = 2 * kMostForwarded;
  ForwarderNode& node = rig.add_forwarder("io1", {}, memory);
  constexpr size_t kClients = 4;
  constexpr size_t kWrites = 12;
  constexpr size_t kBytes = size_t{6} << 20;
  std::vector<std::unique_ptr<ForwardedClient>> clients;
  std::vector<std::byte> bytes = some_bytes(kBytes);
  const iovec segment{bytes.data(), bytes.size()};
  std::vector<FileHandle> files;
  for (size_t i = 0; i < kClients; ++i) {
    clients.push_back(std::make_unique<ForwardedClient>(rig, std::vector<std::string>{"io1"},
                                                        RemoteFiles::OnLoss::next, TransferRecord::Confirm::written,
                                                        "node" + std::to_string(i)));
    files.push_back(clients[i]->open(scratch / ("f" + std::to_string(i))));
    for (size_t k = 0; k < kWrites; ++k) clients[i]->submit(Kind::write, files[i], k * kBytes, {&segment, 1}, k);
  }
  node.storage.held = true;
  for (int i = 0; i < 200; ++i) {
    for (auto& client : clients) client->reap();
    rig.turn();
  }
  // Nothing ends: the first client must not have taken everything.
  for (const auto& [name, held] : node.forwarder.held_by_client()) EXPECT_GT(held, 0u) << "client " << name;
  node.storage.held = false;
  for (auto& client : clients) client->run_until_idle();
  EXPECT_LE(node.forwarder.memory_peak(), memory);
  for (size_t i = 0; i < kClients; ++i) {
    for (size_t k = 0; k < kWrites; ++k) EXPECT_EQ(clients[i]->results.at(k), static_cast<int64_t>(kBytes));
    clients[i]->files().close(files[i]);
    EXPECT_EQ(std::filesystem::file_size(scratch / ("f" + std::to_string(i))), kWrites * kBytes);
  }
}

// A message that needs half of the memory comes between clients whose small ones always fill most of it.
TEST(Forwarder, ALargeMessageIsNotOvertakenForEver) {
  const ScratchDirectory scratch;
  ForwardRig rig;
  ForwarderNode& node = rig.add_forwarder("io1", {}, 2 * kMostForwarded);
  constexpr size_t kSmall = size_t{1} << 20;
  constexpr uint64_t kWindow = 16;
  std::vector<std::byte> bytes = some_bytes(kMostForwarded);
  const iovec small{bytes.data(), kSmall};
  const iovec large{bytes.data(), bytes.size()};
  std::vector<std::unique_ptr<ForwardedClient>> clients;
  std::vector<FileHandle> files;
  for (size_t i = 0; i < 4; ++i) {
    clients.push_back(std::make_unique<ForwardedClient>(rig, std::vector<std::string>{"io1"},
                                                        RemoteFiles::OnLoss::next, TransferRecord::Confirm::written,
                                                        "node" + std::to_string(i)));
    files.push_back(clients[i]->open(scratch / ("f" + std::to_string(i))));
  }
  uint64_t number = 0;
  const auto fill = [&] {
    for (size_t i = 1; i < clients.size(); ++i) {
      while (clients[i]->under_way < kWindow) {
        ++number;
        clients[i]->submit(Kind::write, files[i], number % 64 * kSmall * 2, {&small, 1}, number);
      }
    }
  };
  node.storage.let_through = 0;
  const auto turn = [&] {
    fill();
    ++node.storage.let_through;
    for (auto& client : clients) client->reap();
    rig.turn();
  };
  for (int i = 0; i < 100; ++i) turn();  // the small ones have filled the memory
  clients[0]->submit(Kind::write, files[0], 0, {&large, 1}, 0);
  const uint64_t before = number;
  for (int i = 0; i < 3000 && clients[0]->under_way > 0; ++i) turn();
  EXPECT_EQ(clients[0]->under_way, 0u) << number - before << " messages have overtaken it";
  node.storage.let_through = UINT64_MAX;
  for (auto& client : clients) client->run_until_idle();
  for (size_t i = 0; i < clients.size(); ++i) clients[i]->files().close(files[i]);
}

TEST(Forwarder, AClientHasSoManyLocksAndNoMore) {
  const ScratchDirectory scratch;
  ForwardRig rig;
  rig.add_forwarder("io1");
  ForwardedClient client(rig, {"io1"});
  std::vector<std::unique_ptr<NameLock>> locks;
  for (size_t i = 0; i < ForwardCalls::kMostLocks; ++i) {
    auto taken = client.files().lock(scratch / std::to_string(i), "the test");
    ASSERT_TRUE(taken.ok()) << i << ": " << taken.status().fault().message;
    locks.push_back(std::move(taken).value());
  }
  EXPECT_EQ(client.files().lock(scratch / "more", "the test").status().fault().system_errno, ENOLCK);
  locks.pop_back();
  EXPECT_TRUE(client.files().lock(scratch / "more", "the test").ok());
}

// Most of its files are entries by hand: a process has not so many descriptors.
TEST(Forwarder, AClientHasSoManyFilesOpenAndNoMore) {
  const ScratchDirectory scratch;
  ForwardRig rig;
  Engine& engine = rig.add_forwarder("io1").engine;
  ForwardFiles files(engine);
  ForwardCalls calls(engine, files);
  ForwardClient client;
  constexpr uint32_t kByHand = 1u << 30;
  for (uint32_t i = 1; i < ForwardCalls::kMostFiles; ++i) client.files[kByHand + i].times = 1;
  const auto call = [&](ForwardCall what, const std::string& path, uint32_t file = 0) {
    ForwardCallMessage message{{}, path, {}};
    message.record.call = what;
    message.record.mode = static_cast<uint32_t>(OpenMode::create);
    message.record.file = file;
    std::optional<AnswerRecord> answer;
    calls.begin(client, message, [&answer](const ForwardAnswer& found, const auto&) { answer = found.record; });
    engine.progress();
    return answer.value();
  };
  const AnswerRecord last = call(ForwardCall::open, scratch / "last");
  EXPECT_EQ(last.code, TAILRACE_OK);
  EXPECT_EQ(call(ForwardCall::open, scratch / "more").system_errno, EMFILE);
  EXPECT_FALSE(std::filesystem::exists(scratch / "more"));
  call(ForwardCall::close, {}, last.file);
  const AnswerRecord next = call(ForwardCall::open, scratch / "more");
  EXPECT_EQ(next.code, TAILRACE_OK);
  call(ForwardCall::close, {}, next.file);
}

// Each read beyond the end of its file asks for the size, and may be made again. The engine keeps room for that.
TEST(Forwarder, ReadsThatAreMadeAgainFindRoomInTheEngine) {
  const ScratchDirectory scratch;
  ForwardRig rig;
  auto& node = rig.forwarders["io1"];
  EngineOptions options;
  options.max_pending = 10'000;  // 8 192 are spare
  node = std::make_unique<ForwarderNode>(rig.network, rig.clock, "io1", Forwarder::Options{}, uint64_t{64} << 20,
                                         options);
  std::vector<std::byte> memory(1000, std::byte{1});
  const iovec segment{memory.data(), memory.size()};
  std::vector<std::unique_ptr<ForwardedClient>> clients;
  for (int i = 0; i < 42; ++i) {
    clients.push_back(std::make_unique<ForwardedClient>(rig, std::vector<std::string>{"io1"}));
    const FileHandle file = clients.back()->open(scratch / ("f" + std::to_string(i)));
    ASSERT_EQ(clients.back()->run(Transfer::Kind::write, file, 0, std::span(memory).first(100)), 100);
    for (uint64_t tag = 0; tag < 250; ++tag)
      clients.back()->submit(Transfer::Kind::read, file, 50, {&segment, 1}, tag);
  }
  node->storage.operations_held = true;
  for (int turns = 0; turns < 300; ++turns) {
    for (const auto& client : clients) client->reap();
    rig.turn();
  }
  EXPECT_GT(node->storage.operations(), 100u);
  node->storage.release_operations();
  for (const auto& client : clients) {
    client->run_until_idle();
    for (const auto& [tag, result] : client->results) EXPECT_EQ(result, tag == ForwardedClient::kAlone ? 100 : 50);
  }
}

TEST(Forwarder, ClientsOfOnePathShareTheFile) {
  const ScratchDirectory scratch;
  ForwardRig rig;
  ForwarderNode& node = rig.add_forwarder("io1");
  ForwardedClient one(rig, {"io1"}, RemoteFiles::OnLoss::next, TransferRecord::Confirm::written, "node1");
  ForwardedClient other(rig, {"io1"}, RemoteFiles::OnLoss::next, TransferRecord::Confirm::written, "node2");
  const FileHandle a = one.open(scratch / "a", OpenMode::update);
  const FileHandle b = other.open(scratch / "a", OpenMode::update);
  EXPECT_EQ(node.forwarder.open_files(), 1u);
  std::vector<std::byte> bytes = some_bytes(1000);
  EXPECT_EQ(one.run(Kind::write, a, 0, bytes), 1000);
  EXPECT_EQ(other.run(Kind::write, b, 1000, bytes), 1000);
  one.files().close(a);
  std::vector<std::byte> back(1000);
  EXPECT_EQ(other.run(Kind::read, b, 0, back), 1000);
  EXPECT_EQ(back, bytes);
  other.files().close(b);
  rig.turn();
  EXPECT_EQ(node.forwarder.open_files(), 0u);
}

TEST(Forwarder, AClientThatGoesLeavesNothing) {
  const ScratchDirectory scratch;
  ForwardRig rig;
  ForwarderNode& node = rig.add_forwarder("io1");
  {
    ForwardedClient client(rig, {"io1"});
    (void)client.open(scratch / "a");
    EXPECT_EQ(node.forwarder.open_files(), 1u);
  }
  for (int i = 0; i < 100; ++i) rig.turn();
  EXPECT_EQ(node.forwarder.open_files(), 0u);
  EXPECT_TRUE(node.forwarder.held_by_client().empty());
  EXPECT_EQ(node.log.text(), "");
}

TEST(Forwarder, ConfirmsWhatItHasReceivedIfThatIsAsked) {
  const ScratchDirectory scratch;
  ForwardRig rig;
  ForwarderNode& node = rig.add_forwarder("io1");
  ForwardedClient client(rig, {"io1"}, RemoteFiles::OnLoss::next, TransferRecord::Confirm::received);
  const FileHandle file = client.open(scratch / "a");
  std::vector<std::byte> bytes = some_bytes(1000);
  node.storage.held = true;
  EXPECT_EQ(client.run(Kind::write, file, 0, bytes), 1000) << "confirmed before it is written";
  node.storage.held = false;
  EXPECT_EQ(client.run(Kind::sync, file, 0, {}), 0);
  node.storage.failure = EIO;
  EXPECT_EQ(client.run(Kind::write, file, 0, bytes), 1000);
  for (int i = 0; i < 100; ++i) rig.turn();
  node.storage.failure = 0;
  EXPECT_EQ(client.run(Kind::sync, file, 0, {}), -EIO) << "the failure of a confirmed write is told";
  EXPECT_FALSE(client.files().rename(file, scratch / "b", true).ok());
  client.files().close(file);
}

// Transfers of random sizes at random places, many at once, against a plain model.
TEST(Forwarder, RandomTransfersAreThoseOfAFile) {
  for_seeds(20, [](uint64_t seed) {
    Dice dice(seed);
    const ScratchDirectory scratch;
    ForwardRig rig(seed);
    rig.add_forwarder("io1");
    ForwardedClient client(rig, {"io1"});
    constexpr size_t kRegion = 400'000;
    constexpr size_t kRegions = 8;
    std::vector<std::byte> model(kRegion * kRegions);
    const FileHandle file = client.open(scratch / "a");
    ASSERT_TRUE(client.files().truncate(file, model.size()).ok());
    for (int round = 0; round < 12; ++round) {
      struct Made {
        std::vector<std::byte> bytes;
        std::vector<iovec> segments;
        Kind kind;
        size_t offset;
      };
      std::vector<Made> made(kRegions);
      client.results.clear();
      for (size_t region = 0; region < kRegions; ++region) {
        Made& one = made[region];
        const size_t most = dice.chance(50) ? 2000 : kRegion;
        const size_t length = 1 + dice.below(most);
        one.offset = region * kRegion + dice.below(kRegion - length + 1);
        one.kind = dice.chance(50) ? Kind::write : Kind::read;
        one.bytes = some_bytes(length, static_cast<unsigned>(dice.below(256)));
        for (size_t at = 0; at < length;) {
          const size_t part = one.segments.size() == 6 ? length - at : 1 + dice.below(length - at);
          one.segments.push_back({one.bytes.data() + at, part});
          at += part;
        }
        client.submit(one.kind, file, one.offset, one.segments, region);
      }
      client.run_until_idle();
      for (size_t region = 0; region < kRegions; ++region) {
        const Made& one = made[region];
        ASSERT_EQ(client.results.at(region), static_cast<int64_t>(one.bytes.size()));
        const auto place = model.begin() + static_cast<ptrdiff_t>(one.offset);
        if (one.kind == Kind::write) {
          std::copy(one.bytes.begin(), one.bytes.end(), place);
        } else {
          ASSERT_TRUE(std::equal(one.bytes.begin(), one.bytes.end(), place)) << "region " << region;
        }
      }
    }
    client.files().close(file);
    EXPECT_EQ(bytes_of_file(scratch / "a"), model);
  });
}

}  // namespace
}  // namespace tailrace::impl
