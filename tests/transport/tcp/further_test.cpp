// Further connections of a peer: that they are made and used, how they end, and those who have the key and break
// their rules.
#include <dirent.h>
#include <netinet/in.h>
#include <sys/resource.h>

#include <set>

#include "raw_connection.hpp"
#include "testing/seeds.hpp"

namespace tailrace::impl {
namespace {

constexpr size_t kBulk = 3 * kMostPiece + 1000;  // four pieces

// Returns the sockets of this process that are connected to this address.
std::vector<int> sockets_to(const std::string& address) {
  std::vector<int> sockets;
  DIR* const directory = ::opendir("/proc/self/fd");
  while (const dirent* const entry = ::readdir(directory)) {
    const int descriptor = std::atoi(entry->d_name);
    sockaddr_storage peer{};
    socklen_t size = sizeof peer;
    const bool is_there = ::getpeername(descriptor, reinterpret_cast<sockaddr*>(&peer), &size) == 0;
    if (is_there && peer.ss_family == AF_INET && text_of_address(peer) == address) sockets.push_back(descriptor);
  }
  ::closedir(directory);
  return sockets;
}

class Further : public ::testing::Test {
 protected:
  // The listener has this many connections for each peer, and the client four.
  void start(TransportOptions options = {.connections = 4}) {
    rig_.emplace("tcp4");
    options.keys = {test_key()};
    Result<std::unique_ptr<TcpTransport>> made = TcpTransport::create(rig_->listener.doorbell, options);
    ASSERT_TRUE(made.ok()) << message_of(made.status());
    rig_->listener.transport = std::move(made).value();
    rig_->listen();
  }
  // Sends a message with bulk data from one side to the other, and compares.
  void exchange(Side& from, size_t size) {
    Side& to = rig_->other(from);
    Bytes bulk = random_bytes(dice_, size);
    const iovec all{bulk.data(), bulk.size()};
    from.transport->send(rig_->peer_of(from), {}, {&all, 1}, 1);
    const TransportEvent message = rig_->next(to, Kind::message);
    Bytes into(message.bulk);
    to.transport->receive(message.peer, message.arrival, into, 2);
    EXPECT_TRUE(rig_->next(to, Kind::received).status.ok());
    EXPECT_TRUE(rig_->next(from, Kind::sent).status.ok());
    EXPECT_TRUE(into == bulk);
  }
  // Connects the client, and exchanges until all further connections are there.
  void connect(size_t connections) {
    rig_->connect();
    exchange(rig_->client, kBulk);
    EXPECT_TRUE(rig_->run_until([&] { return sockets_to(rig_->address).size() >= connections; }));
    for (int i = 0; i < 20; ++i) exchange(i % 2 == 0 ? rig_->client : rig_->listener, kBulk);
    EXPECT_EQ(sockets_to(rig_->address).size(), connections);
  }
  void expect_to_work() { exchange(rig_->client, kBulk); }

  // A peer by hand, whose bulk data the listener has asked for: `number` 1, kBulk bytes, to into_. Sets invitation_.
  std::unique_ptr<RawPeer> raw_peer() {
    auto peer = std::make_unique<RawPeer>(*rig_);
    raw_ = rig_->next(rig_->listener, Kind::accepted).peer;
    peer->send({.kind = FrameKind::message, .bulk = kBulk, .number = 1});
    const TransportEvent message = rig_->next(rig_->listener, Kind::message);
    into_.assign(kBulk, std::byte{0});
    rig_->listener.transport->receive(message.peer, message.arrival, into_, 5);
    peer->next(FrameKind::fetch);
    invitation_ = peer->next(FrameKind::invite);
    secret_ = peer->body;
    return peer;
  }
  // Asks to join with a secret.
  std::unique_ptr<RawPeer> asking(uint64_t peer, std::span<const std::byte> secret) {
    auto further = std::make_unique<RawPeer>(*rig_, true);
    further->send({.kind = FrameKind::join, .head = static_cast<uint32_t>(secret.size()), .number = peer}, secret);
    return further;
  }
  std::unique_ptr<RawPeer> joined() {
    auto further = asking(invitation_.number, secret_);
    further->next(FrameKind::joined);
    return further;
  }
  static FrameHead piece(uint32_t place, uint64_t bytes = kMostPiece) {
    return {.kind = FrameKind::bulk, .head = place, .bulk = bytes, .number = 1};
  }
  void expect_refused(RawPeer& further) {
    EXPECT_NE(message_of(rig_->next(rig_->listener, Kind::refused).status).find("secret"), std::string::npos);
    EXPECT_TRUE(rig_->run_until([&] { return further.is_closed(); }));
    EXPECT_EQ(rig_->listener.count(Kind::lost), 0U);
  }
  // The listener has cut off the peer by hand, after the end of its receive, and nobody else.
  void expect_cut(const std::string& why) {
    const TransportEvent lost = rig_->next(rig_->listener, Kind::lost);
    EXPECT_EQ(lost.peer, raw_);
    EXPECT_NE(message_of(lost.status).find(why), std::string::npos) << message_of(lost.status);
    const std::optional<TransportEvent> received = rig_->listener.take(Kind::received);
    ASSERT_TRUE(received);
    EXPECT_EQ(received->tag, 5U);
    EXPECT_FALSE(received->status.ok());
    expect_to_work();
  }

  std::optional<TransportRig> rig_;
  Dice dice_{1};
  PeerId raw_ = 0;
  Bytes into_;
  Bytes secret_;
  FrameHead invitation_;
};

TEST_F(Further, AreMadeOnceThereAreBulkData) {
  start();
  rig_->connect();
  for (int i = 0; i < 20; ++i) exchange(rig_->client, 10'000);
  EXPECT_EQ(sockets_to(rig_->address).size(), 1U);
  exchange(rig_->client, kBulk);
  EXPECT_TRUE(rig_->run_until([&] { return sockets_to(rig_->address).size() == 4; }));
}

// Each end may want fewer than the other.
TEST_F(Further, AreAsManyAsBothEndsWant) {
  for (const size_t listeners : {1, 2, 3, 8}) {
    start({.connections = listeners});
    connect(std::min<size_t>(listeners, 4));
  }
}

// A piece by each of several connections, the last one first.
TEST_F(Further, PiecesComeInAnyOrder) {
  start();
  const auto first = raw_peer();
  const auto further = joined();
  const Bytes all = random_bytes(dice_, kBulk);
  further->send(piece(3, 1000), std::span(all).subspan(3 * kMostPiece));
  first->send(piece(1), std::span(all).subspan(kMostPiece, kMostPiece));
  EXPECT_EQ(rig_->listener.count(Kind::received), 0U);
  further->send(piece(0), std::span(all).first(kMostPiece));
  further->send(piece(2), std::span(all).subspan(2 * kMostPiece, kMostPiece));
  EXPECT_TRUE(rig_->next(rig_->listener, Kind::received).status.ok());
  EXPECT_TRUE(into_ == all);
}

// The listener deals its pieces out to all connections.
TEST_F(Further, CarryBulkDataOfTheListener) {
  start();
  const auto first = raw_peer();
  const auto further = joined();
  Bytes bulk = random_bytes(dice_, kBulk);
  const iovec all{bulk.data(), bulk.size()};
  rig_->listener.transport->send(raw_, {}, {&all, 1}, 9);
  first->next(FrameKind::message);
  first->send({.kind = FrameKind::fetch, .number = 1});
  for (RawPeer* const one : {first.get(), further.get(), first.get(), further.get()}) {
    const FrameHead head = one->next(FrameKind::bulk);
    EXPECT_TRUE(std::equal(one->body.begin(), one->body.end(),
                           bulk.begin() + static_cast<ptrdiff_t>(head.head * kMostPiece)));
  }
  EXPECT_TRUE(rig_->next(rig_->listener, Kind::sent).status.ok());
}

TEST_F(Further, APieceThatComesTwiceCutsThePeer) {
  start();
  connect(4);
  for (const bool by_further : {false, true}) {
    const auto first = raw_peer();
    const auto further = joined();
    const Bytes bytes(kMostPiece);
    further->send(piece(1), bytes);
    (by_further ? further : first)->send(piece(1), bytes);
    expect_cut("twice");
  }
}

// The second one begins while the first one is under way: no two threads may write to the same bytes.
TEST_F(Further, APieceThatTwoConnectionsSendAtOnceCutsThePeer) {
  start();
  connect(4);
  const auto first = raw_peer();
  const auto further = joined();
  further->send(piece(0), Bytes(1000));
  first->send(piece(0), Bytes(1000));
  expect_cut("twice");
}

TEST_F(Further, APieceThatIsNoneCutsThePeer) {
  start();
  connect(4);
  for (const FrameHead& wrong : {piece(4), piece(UINT32_MAX), piece(3), piece(3, 999), piece(0, kMostPiece - 1),
                                 piece(0, 1), piece(0, 0), piece(0, kBulk), piece(0, UINT64_MAX)}) {
    SCOPED_TRACE(std::to_string(wrong.head) + ", " + std::to_string(wrong.bulk));
    const auto first = raw_peer();
    joined()->send(wrong);
    expect_cut("were not requested");
  }
}

TEST_F(Further, OtherFramesCutThePeer) {
  start();
  connect(4);
  for (const FrameKind kind :
       {FrameKind::message, FrameKind::fetch, FrameKind::invite, FrameKind::join, FrameKind::joined, FrameKind{10}}) {
    const auto first = raw_peer();
    joined()->send({.kind = kind, .number = 0});
    expect_cut("kind");
  }
  // By the first one of a caller as well.
  for (const FrameKind kind : {FrameKind::invite, FrameKind::join, FrameKind::joined, FrameKind::beat}) {
    raw_peer()->send({.kind = kind, .head = sizeof(JoinSecret)}, Bytes(sizeof(JoinSecret)));
    expect_cut("kind");
  }
}

TEST_F(Further, AWrongSecretIsRefused) {
  start();
  connect(4);
  const auto first = raw_peer();
  for (size_t at = 0; at < secret_.size(); ++at) {
    Bytes wrong = secret_;
    wrong[at] ^= std::byte{1};
    expect_refused(*asking(invitation_.number, wrong));
  }
  expect_refused(*asking(invitation_.number + 1000, secret_));
  joined();
}

// A client has the key, and a secret of its own.
TEST_F(Further, TheSecretOfAnotherPeerIsRefused) {
  start();
  connect(4);
  const auto first = raw_peer();
  expect_refused(*asking(rig_->at_listener, secret_));
  const FrameHead invitation = invitation_;
  const auto other = raw_peer();
  EXPECT_NE(invitation.number, invitation_.number);
  expect_refused(*asking(invitation.number, secret_));
  expect_to_work();
}

TEST_F(Further, ASecretIsGoodForAsManyAsTheListenerAllows) {
  start({.connections = 3});
  const auto first = raw_peer();
  EXPECT_EQ(invitation_.bulk, 2U);
  const auto second = joined();
  const auto third = joined();
  expect_refused(*asking(invitation_.number, secret_));
}

TEST_F(Further, ASecretIsGoodForATime) {
  start({.connections = 4, .invitation = Nanoseconds::zero()});
  const auto first = raw_peer();
  expect_refused(*asking(invitation_.number, secret_));
  // Honest ends then have one connection.
  rig_->connect();
  for (int i = 0; i < 5; ++i) expect_to_work();
}

TEST_F(Further, ASecretEndsWithItsPeer) {
  start();
  raw_peer()->drop();
  rig_->next(rig_->listener, Kind::lost);
  expect_refused(*asking(invitation_.number, secret_));
}

// A peer that does not ask, or asks for something else, stays a stranger.
TEST_F(Further, IsAStrangerUntilItHasJoined) {
  start({.greeting = std::chrono::seconds(1), .connections = 4});
  RawPeer silent(*rig_, true);
  RawPeer(*rig_, true).send({.kind = FrameKind::message});
  EXPECT_NE(message_of(rig_->next(rig_->listener, Kind::refused).status).find("kind"), std::string::npos);
  RawPeer(*rig_, true).send({.kind = FrameKind::join, .head = 3}, Bytes(3));
  EXPECT_NE(message_of(rig_->next(rig_->listener, Kind::refused).status).find("length"), std::string::npos);
  EXPECT_EQ(rig_->next(rig_->listener, Kind::refused).status.code(), TAILRACE_TIMEOUT);
  EXPECT_TRUE(rig_->run_until([&] { return silent.is_closed(); }));
  EXPECT_EQ(rig_->listener.count(Kind::accepted), 0U);
}

TEST_F(Further, OneThatDiesInAPieceIsTheLossOfThePeer) {
  start();
  connect(4);
  const auto first = raw_peer();
  const auto further = joined();
  const auto third = joined();
  further->send(piece(2), Bytes(1000));
  further->drop();
  expect_cut("closed the connection");
  EXPECT_TRUE(rig_->run_until([&] { return first->is_closed() && third->is_closed(); }));
}

// The first one is there and beats; pieces that were to come by the other never will.
TEST_F(Further, OneThatFallsSilentIsTheLossOfThePeer) {
  for (const bool says_goodbye : {false, true}) {
    start({.connections = 4, .silence = std::chrono::milliseconds(400)});
    const auto first = raw_peer();
    const auto further = joined();
    further->send(piece(2), Bytes(1000));
    if (says_goodbye) further->say_goodbye();
    const TransportEvent lost = rig_->next(rig_->listener, Kind::lost);
    EXPECT_EQ(lost.peer, raw_);
    EXPECT_NE(message_of(lost.status).find("silent"), std::string::npos) << message_of(lost.status);
    const std::optional<TransportEvent> received = rig_->listener.take(Kind::received);
    ASSERT_TRUE(received);
    EXPECT_FALSE(received->status.ok());
  }
}

TEST_F(Further, OneThatOnlyBeatsIsNoLoss) {
  start({.connections = 4, .silence = std::chrono::milliseconds(400)});
  const auto first = raw_peer();
  const auto further = joined();
  for (int beats = 0; beats < 12; ++beats) {
    further->next(FrameKind::beat);
    further->send({.kind = FrameKind::beat});
  }
  EXPECT_EQ(rig_->listener.count(Kind::lost), 0U);
  for (uint32_t place = 0; place * kMostPiece < kBulk; ++place) {
    const uint64_t bytes = std::min(kMostPiece, kBulk - place * kMostPiece);
    (place % 2 == 0 ? *first : *further).send(piece(place, bytes), Bytes(bytes));
  }
  EXPECT_TRUE(rig_->next(rig_->listener, Kind::received).status.ok());
}

// Further connections leave descriptors to files.
TEST_F(Further, AreNotMadeWhereDescriptorsAreFew) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit few = before;
  few.rlim_cur = 12;
  start();
  rig_->connect();
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  exchange(rig_->client, kBulk);
  exchange(rig_->listener, kBulk);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  for (int i = 0; i < 5; ++i) expect_to_work();
}

// A peer that leaves says so by all of its connections. What it has sent last by the first one arrives all the same.
TEST_F(Further, TheLastMessageOfAPeerThatLeavesArrives) {
  start();
  const auto first = raw_peer();
  {
    const auto further = joined();
    further->say_goodbye();
  }
  EXPECT_FALSE(rig_->run_until([&] { return rig_->listener.count(Kind::lost) > 0; }, 100));
  first->send({.kind = FrameKind::message, .head = 3}, Bytes(3));
  EXPECT_EQ(rig_->next(rig_->listener, Kind::message).head.size(), 3U);
  first->say_goodbye();
  rig_->next(rig_->listener, Kind::lost);
}

TEST_F(Further, TheLastMessageArrivesWhileBulkDataMove) {
  for_seeds(10, [&](uint64_t seed) {
    dice_ = Dice(seed);
    start();
    connect(4);
    Side& leaves = dice_.chance(50) ? rig_->client : rig_->listener;
    Side& stays = rig_->other(leaves);
    Bytes bulk(8 * kBulk);
    Bytes into(bulk.size());
    const iovec all{bulk.data(), bulk.size()};
    stays.transport->send(rig_->peer_of(stays), {}, {&all, 1}, 1);
    leaves.transport->send(rig_->peer_of(leaves), {}, {&all, 1}, 1);
    const TransportEvent message = rig_->next(stays, Kind::message);
    stays.transport->receive(message.peer, message.arrival, into, 2);
    for (uint64_t i = dice_.below(6); i > 0; --i) (dice_.chance(50) ? leaves : stays).poll();
    const Bytes last = random_bytes(dice_, 100);
    leaves.transport->send(rig_->peer_of(leaves), last, {}, 3);
    leaves.transport->close(rig_->peer_of(leaves));
    EXPECT_EQ(rig_->next(stays, Kind::message).head, last);
    rig_->next(stays, Kind::lost);
    EXPECT_EQ(stays.count(Kind::sent), 1U);
    EXPECT_EQ(stays.count(Kind::received), 1U);
  });
}

// A caller leaves while its further connections are being made: these are half made, or have just asked to join. What
// it has sent takes several turns to come.
TEST_F(Further, AllMessagesArriveOfAPeerThatLeavesEarly) {
  for_seeds(20, [&](uint64_t seed) {
    dice_ = Dice(seed);
    start();
    rig_->connect();
    Bytes bulk(kBulk);
    const iovec all{bulk.data(), bulk.size()};
    rig_->client.transport->send(rig_->at_client, {}, {&all, 1}, 1);
    const TransportEvent message = rig_->next(rig_->listener, Kind::message);
    Bytes into(message.bulk);
    rig_->listener.transport->receive(message.peer, message.arrival, into, 2);
    for (uint64_t i = dice_.below(40); i > 0; --i) (dice_.chance(50) ? rig_->client : rig_->listener).poll();
    constexpr size_t kMessages = 150;
    const Bytes head(Transport::kMostHead);
    for (size_t i = 0; i < kMessages; ++i) rig_->client.transport->send(rig_->at_client, head, {}, 3);
    rig_->client.transport->close(rig_->at_client);
    rig_->next(rig_->listener, Kind::lost);
    EXPECT_EQ(rig_->listener.count(Kind::message), kMessages);
  });
}

// Any of the sockets breaks at any time. Both ends hear of it after the ends of all sends and receives, whose memory
// is free then: here it is freed at once, under the threads of a turn if there still were any.
TEST_F(Further, MemoryIsFreeWhenAnEndIsTold) {
  for_seeds(8, [&](uint64_t seed) {
    dice_ = Dice(seed);
    start();
    connect(4);
    const std::vector<int> sockets = sockets_to(rig_->address);
    std::map<std::pair<Side*, uint64_t>, Bytes> memory;
    uint64_t last = 0;
    const auto send = [&](Side& side) {
      Bytes& bulk = memory[{&side, ++last}] = random_bytes(dice_, dice_.between(1, 2 * kBulk));
      const iovec all{bulk.data(), bulk.size()};
      side.transport->send(rig_->peer_of(side), {}, {&all, 1}, last);
    };
    for (int i = 0; i < 12; ++i) send(i % 2 == 0 ? rig_->client : rig_->listener);
    const uint64_t broken_at = dice_.between(1, 30);
    uint64_t step = 0;
    ASSERT_TRUE(rig_->run_until([&] {
      if (++step == broken_at) ::shutdown(sockets[dice_.below(sockets.size())], SHUT_RDWR);
      for (Side* const side : {&rig_->client, &rig_->listener}) {
        while (const std::optional<TransportEvent> sent = side->take(Kind::sent)) memory.erase({side, sent->tag});
        while (const std::optional<TransportEvent> end = side->take(Kind::received)) memory.erase({side, end->tag});
        while (const std::optional<TransportEvent> message = side->take(Kind::message)) {
          if (side->count(Kind::lost) > 0) continue;
          Bytes& into = memory[{side, ++last}];
          into.resize(message->bulk);
          side->transport->receive(message->peer, message->arrival, into, last);
        }
      }
      return rig_->client.count(Kind::lost) == 1 && rig_->listener.count(Kind::lost) == 1;
    }));
    EXPECT_TRUE(memory.empty());
    EXPECT_TRUE(sockets_to(rig_->address).empty());
  });
}

}  // namespace
}  // namespace tailrace::impl
