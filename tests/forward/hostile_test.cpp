// Clients with the right key that do what they may not: they are cut off, and others go on.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <map>

#include "testing/dice.hpp"
#include "testing/forward_rig.hpp"
#include "testing/scratch.hpp"
#include "testing/seeds.hpp"

namespace tailrace::impl {
namespace {

// A client by hand, which sends any bodies.
class HostileClient {
 public:
  explicit HostileClient(ForwardRig& rig)
      : rig_(rig),
        endpoint_(rig.network.endpoint(doorbell_, "hostile")),
        links_(*endpoint_, rig.clock, log_, encode_terms(ForwardTerms::Role::client, "hostile"), {}) {}

  void connect() {
    peer_ = links_.connect("io1");
    while (!links_.is_ready(peer_)) turn();
  }
  bool is_cut_off() const { return !links_.is_ready(peer_); }
  // Keeps the link alive.
  void beat() {
    events_.clear();
    links_.poll(events_);
  }
  void turn() {
    beat();
    rig_.turn();
  }
  void send(std::span<const std::byte> body, uint64_t bulk = 0) {
    const iovec segment{data_.data(), bulk};
    links_.send(peer_, body, {&segment, bulk > 0 ? size_t{1} : size_t{0}}, 1);
    for (int i = 0; i < 30 && !is_cut_off(); ++i) turn();
  }

 private:
  ForwardRig& rig_;
  Doorbell doorbell_;
  KeptLog log_;
  std::unique_ptr<SimEndpoint> endpoint_;
  Links links_;
  PeerId peer_ = 0;
  std::vector<LinkEvent> events_;
  std::vector<std::byte> data_ = std::vector<std::byte>(100'000);
};

class Hostile : public ::testing::Test {
 protected:
  Hostile() { rig_.add_forwarder("io1"); }
  void expect_cut_off(std::span<const std::byte> body, uint64_t bulk, const std::string& what) {
    HostileClient client(rig_);
    client.connect();
    client.send(body, bulk);
    EXPECT_TRUE(client.is_cut_off()) << what;
  }

  const ScratchDirectory scratch_;
  ForwardRig rig_;
};

TransferRecord write_of(uint64_t length) {
  TransferRecord record;
  record.file = 1;
  record.length = length;
  return record;
}

TEST_F(Hostile, MessagesThatMayNotBeSentEndTheLinkAndAreLogged) {
  const std::vector<std::byte> garbage(100, std::byte{0x5a});
  expect_cut_off(garbage, 0, "garbage");
  expect_cut_off(encode_transfers(1, std::vector{write_of(100)}), 100, "a file that is not open");
  expect_cut_off(encode_transfers(1, std::vector{write_of(uint64_t{1} << 63)}), 100, "2^63 bytes");
  expect_cut_off(encode_ends(1, std::vector<int64_t>{1}), 0, "a forwarder's message");
  for (const ForwardCall call : {ForwardCall::close, ForwardCall::size, ForwardCall::allocate, ForwardCall::truncate,
                                 ForwardCall::settle, ForwardCall::rename, ForwardCall::unlock}) {
    ForwardCallMessage message;
    message.record.call = call;
    message.record.file = 5;
    expect_cut_off(encode_call(1, message), 0, "a call on what it does not have");
  }
  EXPECT_GE(rig_.forwarders.at("io1")->log.complaints().size(), 10u);
}

TEST_F(Hostile, AClosedFileIsClosedOnce) {
  HostileClient client(rig_);
  client.connect();
  ForwardCallMessage open;
  open.record.call = ForwardCall::open;
  open.record.mode = static_cast<uint32_t>(OpenMode::update);
  open.text = scratch_ / "a";
  client.send(encode_call(1, open));
  ForwarderNode& node = *rig_.forwarders.at("io1");
  ASSERT_EQ(node.forwarder.open_files(), 1u);
  // A close while the file's write is pending, and once more.
  node.storage.held = true;
  client.send(encode_transfers(2, std::vector{write_of(100)}), 100);
  ForwardCallMessage close;
  close.record.call = ForwardCall::close;
  close.record.file = 1;
  client.send(encode_call(3, close));
  EXPECT_FALSE(client.is_cut_off());
  EXPECT_EQ(node.forwarder.open_files(), 1u) << "its write is pending";
  client.send(encode_call(4, close));
  EXPECT_TRUE(client.is_cut_off());
  node.storage.held = false;
  for (int i = 0; i < 100; ++i) rig_.turn();
  EXPECT_EQ(node.forwarder.open_files(), 0u);
}

// Calls without end by a client that takes no answer: it is cut off before they fill the memory or the engine.
TEST_F(Hostile, CallsWhoseAnswersNobodyFetchesEndTheLink) {
  ForwarderNode& node = *rig_.forwarders.at("io1");
  HostileClient asks(rig_);
  asks.connect();
  ForwardCallMessage status;
  status.record.call = ForwardCall::status;
  for (uint64_t i = 1; i < 100 && !asks.is_cut_off(); ++i) asks.send(encode_call(i, status));
  EXPECT_TRUE(asks.is_cut_off());

  HostileClient truncates(rig_);
  truncates.connect();
  ForwardCallMessage call;
  call.record.call = ForwardCall::open;
  call.record.mode = static_cast<uint32_t>(OpenMode::update);
  call.text = scratch_ / "a";
  truncates.send(encode_call(1, call));
  node.storage.held = true;
  truncates.send(encode_transfers(2, std::vector{write_of(100)}), 100);
  call.record.call = ForwardCall::settle;
  call.record.file = 1;
  call.text.clear();
  for (uint64_t i = 3; i < 103 && !truncates.is_cut_off(); ++i) truncates.send(encode_call(i, call));
  EXPECT_TRUE(truncates.is_cut_off());
  node.storage.held = false;

  HostileClient slow(rig_);
  slow.connect();
  slow.send(encode_call(1, status));
  EXPECT_FALSE(slow.is_cut_off());
  for (int i = 0; i < 1000 && !slow.is_cut_off(); ++i) slow.turn();
  EXPECT_TRUE(slow.is_cut_off()) << "it had more than half a minute for an answer";
}

// Clients for two places of a forwarder, and somebody who has the key and wants to take them all.
class Places : public ::testing::Test {
 protected:
  static constexpr uint32_t kPlaces = 2;
  Places() {
    rig_.add_forwarder("io1", {.most_clients = kPlaces});
    rig_.during_turn = [this] {
      for (const auto& one : hostile_) one->beat();
    };
  }
  void take_place() {
    hostile_.push_back(std::make_unique<HostileClient>(rig_));
    hostile_.back()->connect();
  }
  Status open() {
    Doorbell doorbell;
    return rig_.connect(doorbell, log_, "late", {"io1"}).status();
  }

  const ScratchDirectory scratch_;
  ForwardRig rig_;
  KeptLog log_;
  std::vector<std::unique_ptr<HostileClient>> hostile_;
};

TEST_F(Places, WhoNeverGreetsHasNone) {
  Doorbell doorbell;
  const auto silent = rig_.network.endpoint(doorbell, "silent");
  for (uint32_t i = 0; i < 10 * kPlaces; ++i) silent->connect("io1");
  for (int i = 0; i < 10; ++i) rig_.turn(std::chrono::milliseconds(1));
  const Status opened = open();
  EXPECT_TRUE(opened.ok()) << opened.fault().message;
  std::vector<TransportEvent> heard;
  const Nanoseconds until = rig_.clock.now() + std::chrono::seconds(3);
  while (rig_.clock.now() < until) rig_.turn();
  silent->poll(heard);
  EXPECT_EQ(std::count_if(heard.begin(), heard.end(),
                          [](const TransportEvent& event) { return event.kind == TransportEvent::Kind::lost; }),
            10 * kPlaces);
}

TEST_F(Places, WhoHasNothingOpenGivesWay) {
  for (uint32_t i = 0; i < kPlaces; ++i) take_place();
  ForwardedClient client(rig_, {"io1"});
  EXPECT_TRUE(hostile_.front()->is_cut_off());
  EXPECT_FALSE(hostile_.back()->is_cut_off());
  EXPECT_NE(rig_.forwarders.at("io1")->log.text().find("has nothing open"), std::string::npos);
  const FileHandle file = client.open(scratch_ / "a");
  for (uint32_t i = 0; i < 10 * kPlaces; ++i) take_place();
  std::vector<std::byte> bytes(1000, std::byte{5});
  EXPECT_EQ(client.run(Transfer::Kind::write, file, 0, bytes), 1000) << "who has a file open keeps its place";
  EXPECT_TRUE(client.log.complaints().empty()) << client.log.text();
  client.files().close(file);
  for (uint32_t i = 0; i < 10 * kPlaces; ++i) take_place();
  client.files().close(client.open(scratch_ / "b"));  // it has lost its place, and takes one again
}

TEST_F(Places, WhoeverComesWhenAllAreInUseIsRefused) {
  std::vector<std::unique_ptr<ForwardedClient>> clients;
  for (uint32_t i = 0; i < kPlaces; ++i) {
    clients.push_back(std::make_unique<ForwardedClient>(rig_, std::vector<std::string>{"io1"}));
    (void)clients.back()->open(scratch_ / std::to_string(i));
  }
  EXPECT_EQ(open().code(), TAILRACE_SERVER_LOST);
  EXPECT_NE(rig_.forwarders.at("io1")->log.text().find("there are 2 clients"), std::string::npos);
  clients.pop_back();
  for (int i = 0; i < 20; ++i) rig_.turn();
  EXPECT_TRUE(open().ok());
}

// Changed and made-up messages, from clients that come again when they are cut off, beside one that works.
TEST_F(Hostile, ManyMessagesDisturbNobody) {
  for_seeds(1, [this](uint64_t seed) {
    Dice dice(seed);
    ForwardedClient good(rig_, {"io1"}, RemoteFiles::OnLoss::next, TransferRecord::Confirm::written, "good");
    const FileHandle file = good.open(scratch_ / "good");
    std::optional<HostileClient> bad;
    std::vector<std::byte> bytes(1000, std::byte{7});
    for (int round = 0; round < 3000; ++round) {
      if (!bad || bad->is_cut_off()) {
        bad.reset();
        bad.emplace(rig_);
        bad->connect();
      }
      ForwardCallMessage call;
      call.record.call = static_cast<ForwardCall>(1 + dice.below(15));
      call.record.file = static_cast<uint32_t>(dice.below(4));
      call.record.mode = static_cast<uint32_t>(dice.below(8));
      call.record.length = dice.chance(90) ? dice.below(100'000) : UINT64_MAX - dice.below(5);
      call.record.offset = dice.chance(90) ? dice.below(4) : uint64_t{1} << dice.below(64);
      call.text = scratch_ / ("bad" + std::to_string(dice.below(3)));
      call.second = dice.chance(50) ? "x" : "../x";
      std::vector<TransferRecord> records(1 + dice.below(3), write_of(1 + dice.below(50)));
      for (TransferRecord& record : records) {
        record.file = static_cast<uint32_t>(1 + dice.below(4));
        record.kind = static_cast<TransferRecord::Kind>(dice.below(3));
        if (record.kind == TransferRecord::Kind::sync) record.length = 0;
      }
      std::vector<std::byte> body =
          dice.chance(50) ? encode_call(1 + dice.below(9), call) : encode_transfers(1 + dice.below(9), records);
      if (dice.chance(30)) body[dice.below(body.size())] = static_cast<std::byte>(dice.below(256));
      bad->send(body, dice.chance(80) ? bytes_of_writes(records) : dice.below(300));
      if (round % 100 == 0) {
        ASSERT_EQ(good.run(Transfer::Kind::write, file, static_cast<uint64_t>(round) * 10, bytes), 1000);
      }
    }
    bad.reset();
    good.files().close(file);
    for (int i = 0; i < 100; ++i) rig_.turn();
  });
}

// A forwarder by hand, which takes files and writes, and answers as it is told.
class LyingForwarder {
 public:
  explicit LyingForwarder(ForwardRig& rig)
      : rig_(rig),
        endpoint_(rig.network.endpoint(doorbell_, "liar")),
        links_(*endpoint_, rig.clock, log_, encode_terms(Forwarder::terms({}), "liar"), {}) {
    EXPECT_TRUE(links_.listen("liar").ok());
    rig.during_turn = [this] { step(); };
  }

  // The writes that have come, and are not answered.
  std::vector<ForwardHead> writes;
  bool takes_bytes = true;  // so that they are sent

  void die() {
    rig_.during_turn = {};
    endpoint_->die();
  }
  void answer(const ForwardHead& write, int64_t result) {
    links_.send(peer_, encode_ends(write.number, std::vector<int64_t>{result}), {}, 1);
  }

 private:
  void step() {
    events_.clear();
    links_.poll(events_);
    for (LinkEvent& event : events_) {
      if (event.kind == LinkEvent::Kind::ready) peer_ = event.peer;
      if (event.kind != LinkEvent::Kind::message) continue;
      const auto head = decode_head(event.body);
      ASSERT_TRUE(head);
      if (event.bulk > 0 && takes_bytes) links_.refuse(event.peer, event.arrival);
      if (head->kind == ForwardKind::transfers) writes.push_back(*head);
      if (head->kind != ForwardKind::call) continue;
      ForwardAnswer answer;
      answer.record.file = 1;
      links_.send(event.peer, encode_answer(head->number, answer), {}, 1);
    }
  }

  ForwardRig& rig_;
  Doorbell doorbell_;
  KeptLog log_;
  std::unique_ptr<SimEndpoint> endpoint_;
  Links links_;
  PeerId peer_ = 0;
  std::vector<LinkEvent> events_;
};

// Its answers to two messages came in one poll: the first ended the link, and the second the client, or transfers
// that were to be sent again.
TEST(LyingForwarder, AnImpossibleAnswerEndsTheLinkAndNothingElse) {
  for (const bool takes_bytes : {true, false}) {
    ForwardRig rig(1, {.reorder = false});
    LyingForwarder liar(rig);
    liar.takes_bytes = takes_bytes;
    const ScratchDirectory scratch;
    const std::string path = scratch / "file";
    std::ofstream(path).flush();
    ForwardedClient client(rig, {"liar"}, RemoteFiles::OnLoss::direct);
    const FileHandle file = client.open(path, OpenMode::update);
    std::vector<std::byte> bytes(8192);
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i % 251);
    const iovec segments[] = {{bytes.data(), 4096}, {bytes.data() + 4096, 4096}};
    for (uint64_t tag = 0; tag < 2; ++tag) {
      client.submit(Transfer::Kind::write, file, tag * 4096, {&segments[tag], 1}, tag);
      client.reap();
    }
    for (int turn = 0; turn < 100 && liar.writes.size() < 2; ++turn) {
      client.reap();
      rig.turn();
    }
    ASSERT_EQ(liar.writes.size(), 2u);
    liar.answer(liar.writes[0], 8192);
    liar.answer(liar.writes[1], 4096);
    for (int turn = 0; turn < 10; ++turn) rig.turn();
    client.reap();
    liar.die();
    client.run_until_idle();
    EXPECT_EQ(client.results, (std::map<uint64_t, int64_t>{{0, 4096}, {1, 4096}}));
    EXPECT_NE(client.log.text().find("impossible results"), std::string::npos);
    client.files().close(file);
    std::ifstream written(path, std::ios::binary);
    const std::string found{std::istreambuf_iterator<char>(written), {}};
    EXPECT_TRUE(found == std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  }
}

}  // namespace
}  // namespace tailrace::impl
