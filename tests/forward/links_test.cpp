// Links: who has no key is not heard, messages arrive whole, and a silent peer is noticed.
#include "transport/link/links.hpp"

#include <gtest/gtest.h>

#include "testing/forward_rig.hpp"
#include "transport/link/link_wire.hpp"

namespace tailrace::impl {
namespace {

using Kind = LinkEvent::Kind;

// Two ends on a simulated network.
class LinksTest : public ::testing::Test {
 protected:
  struct End {
    End(LinksTest& test, const std::string& host, const ForwardKey& key, Links::Options options = {})
        : endpoint(test.network_.endpoint(doorbell, host)),
          links(*endpoint, test.clock_, log, key, encode_terms(ForwardTerms::Role::client, host), options) {}
    void poll() { links.poll(events); }
    size_t count(Kind kind) const {
      return static_cast<size_t>(
          std::count_if(events.begin(), events.end(), [kind](const LinkEvent& event) { return event.kind == kind; }));
    }
    const LinkEvent& last(Kind kind) const {
      const auto found =
          std::find_if(events.rbegin(), events.rend(), [kind](const LinkEvent& event) { return event.kind == kind; });
      TAILRACE_REQUIRE(found != events.rend());
      return *found;
    }
    Doorbell doorbell;
    KeptLog log;
    std::unique_ptr<SimEndpoint> endpoint;
    Links links;
    std::vector<LinkEvent> events;
  };

  // Lets both ends and the network do what there is to do within `time`.
  void pass(Nanoseconds time, End& one, End& other) {
    const Nanoseconds until = clock_.now() + time;
    while (clock_.now() < until) {
      network_.deliver();
      one.poll();
      other.poll();
      Nanoseconds next = until;
      for (const auto due : {network_.due(), one.links.due(), other.links.due()}) {
        if (due) next = std::min(next, std::max(*due, clock_.now() + Nanoseconds(1)));
      }
      clock_.advance(next - clock_.now());
    }
    network_.deliver();
    one.poll();
    other.poll();
  }

  // Connects `from` to `to`, which listens at "server".
  PeerId connect(End& from, End& to) {
    EXPECT_TRUE(to.links.listen("server").ok());
    const PeerId peer = from.links.connect("server");
    pass(std::chrono::milliseconds(50), from, to);
    return peer;
  }

  // Lets the message that `from` has just sent arrive at `to`, and returns its bulk data.
  std::vector<std::byte> fetch(End& from, End& to) {
    pass(std::chrono::milliseconds(5), from, to);
    const LinkEvent message = to.last(Kind::message);
    std::vector<std::byte> got(message.bulk);
    to.links.receive(message.peer, message.arrival, got, 9);
    pass(std::chrono::milliseconds(5), from, to);
    EXPECT_TRUE(to.last(Kind::received).status.ok());
    return got;
  }

  SimClock clock_;
  SimNetwork network_{clock_, 1, {}};
};

std::vector<std::byte> bytes_from(const std::string& text) {
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

TEST_F(LinksTest, BothEndsLearnTheTermsOfTheOther) {
  End server(*this, "server", key_of(1));
  End client(*this, "client", key_of(1));
  connect(client, server);
  ASSERT_EQ(client.count(Kind::ready), 1u);
  ASSERT_EQ(server.count(Kind::ready), 1u);
  EXPECT_EQ(server.last(Kind::ready).terms, encode_terms(ForwardTerms::Role::client, "client"));
  EXPECT_EQ(client.last(Kind::ready).terms, encode_terms(ForwardTerms::Role::client, "server"));
}

TEST_F(LinksTest, MessagesArriveWithTheirData) {
  End server(*this, "server", key_of(1));
  End client(*this, "client", key_of(1));
  const PeerId peer = connect(client, server);
  std::vector<std::byte> data = bytes_from("some bytes of data");
  const iovec segment{data.data(), data.size()};
  client.links.send(peer, bytes_from("hello"), {&segment, 1}, 5);
  pass(std::chrono::milliseconds(5), client, server);
  ASSERT_EQ(server.count(Kind::message), 1u);
  const LinkEvent message = server.last(Kind::message);
  EXPECT_EQ(message.body, bytes_from("hello"));
  EXPECT_EQ(message.bulk, data.size());
  EXPECT_EQ(client.count(Kind::sent), 0u) << "the data have not been fetched";
  std::vector<std::byte> got(message.bulk);
  server.links.receive(message.peer, message.arrival, got, 9);
  pass(std::chrono::milliseconds(5), client, server);
  ASSERT_EQ(server.count(Kind::received), 1u);
  EXPECT_TRUE(server.last(Kind::received).status.ok());
  EXPECT_EQ(got, data);
  ASSERT_EQ(client.count(Kind::sent), 1u);
  EXPECT_EQ(client.last(Kind::sent).tag, 5u);
}

// One of the ends wants bulk data to be encrypted: both encrypt.
TEST_F(LinksTest, DataAreEncryptedIfOneEndWantsIt) {
  Links::Options encrypting;
  encrypting.encrypts_bulk = true;
  for (const bool server_wants : {false, true}) {
    SCOPED_TRACE(server_wants);
    End server(*this, "server", key_of(1), server_wants ? encrypting : Links::Options{});
    End client(*this, "client", key_of(1), server_wants ? Links::Options{} : encrypting);
    const PeerId peer = connect(client, server);
    const std::vector<std::byte> data = bytes_from("some bytes of data, and some more");
    // In the sender's own memory: two segments with a gap, which are joined where they lie.
    std::vector<std::byte> own = data;
    own.insert(own.begin() + 10, 7, std::byte{});
    const iovec segments[] = {{own.data(), 10}, {own.data() + 17, data.size() - 10}};
    client.links.send(peer, bytes_from("own"), segments, 5, own);
    const std::vector<std::byte> travelling(own.begin(), own.begin() + static_cast<std::ptrdiff_t>(data.size()));
    EXPECT_NE(travelling, data);
    EXPECT_EQ(fetch(client, server), data);
    EXPECT_EQ(client.last(Kind::sent).tag, 5u);
    // From memory that stays as it is. What is encrypted is a copy: changes after the call do not matter.
    std::vector<std::byte> kept = data;
    const iovec whole{kept.data(), kept.size()};
    client.links.send(peer, bytes_from("copy"), {&whole, 1}, 6);
    EXPECT_EQ(kept, data);
    kept[3] = std::byte{};
    EXPECT_EQ(fetch(client, server), data);
    // The other way.
    server.links.send(server.last(Kind::message).peer, bytes_from("back"), {&whole, 1}, 7);
    EXPECT_EQ(fetch(server, client), kept);
  }
}

TEST_F(LinksTest, AnotherKeyIsRefusedAndNothingOfItIsHeard) {
  End server(*this, "server", key_of(1));
  End client(*this, "client", key_of(2));
  connect(client, server);
  EXPECT_TRUE(server.events.empty());
  EXPECT_FALSE(server.log.lines.empty());
  ASSERT_EQ(client.count(Kind::lost), 1u);
  EXPECT_FALSE(client.last(Kind::lost).status.ok());
  EXPECT_EQ(client.count(Kind::ready), 0u);
}

// Somebody on the way changes a byte of the data.
TEST_F(LinksTest, ChangedDataEndTheLink) {
  End server(*this, "server", key_of(1));
  End client(*this, "client", key_of(1));
  const PeerId peer = connect(client, server);
  std::vector<std::byte> data(1000, std::byte{1});
  const iovec segment{data.data(), data.size()};
  client.links.send(peer, bytes_from("x"), {&segment, 1}, 5);
  data[500] = std::byte{2};
  pass(std::chrono::milliseconds(5), client, server);
  const LinkEvent message = server.last(Kind::message);
  std::vector<std::byte> got(message.bulk);
  server.links.receive(message.peer, message.arrival, got, 9);
  pass(std::chrono::milliseconds(5), client, server);
  ASSERT_EQ(server.count(Kind::received), 1u);
  EXPECT_FALSE(server.last(Kind::received).status.ok());
  EXPECT_EQ(server.count(Kind::lost), 1u);
  EXPECT_EQ(client.count(Kind::lost), 1u);
}

TEST_F(LinksTest, AnIdleLinkStaysAndASilentOneIsNoticedWithinTwoSeconds) {
  End server(*this, "server", key_of(1));
  End client(*this, "client", key_of(1));
  connect(client, server);
  pass(std::chrono::minutes(1), client, server);
  EXPECT_EQ(client.count(Kind::lost), 0u);
  network_.silence("client", "server");
  const Nanoseconds before = clock_.now();
  while (client.count(Kind::lost) == 0 && clock_.now() - before < std::chrono::seconds(10)) {
    pass(std::chrono::milliseconds(10), client, server);
  }
  EXPECT_LE(clock_.now() - before, std::chrono::seconds(2));
  EXPECT_EQ(client.last(Kind::lost).status.code(), TAILRACE_TIMEOUT);
}

// Messages come all the time, but answer only what was sent long ago.
TEST_F(LinksTest, LateMessagesKeepNoLease) {
  using std::chrono::milliseconds;
  End server(*this, "server", key_of(1), {.silence = milliseconds(2000), .lease = milliseconds(2000)});
  End client(*this, "client", key_of(1));
  connect(client, server);
  const PeerId peer = server.last(Kind::ready).peer;
  pass(std::chrono::minutes(1), client, server);
  EXPECT_TRUE(server.links.has_lease(peer));
  for (int late = 0; late <= 2500; late += 500) {  // no message is far behind the one before it
    network_.delay("client", "server", milliseconds(late));
    pass(milliseconds(3000), client, server);
  }
  EXPECT_FALSE(server.links.has_lease(peer));
  ASSERT_EQ(server.count(Kind::lost), 1u);
  EXPECT_EQ(server.last(Kind::lost).status.code(), TAILRACE_TIMEOUT);
}

TEST_F(LinksTest, ConnectionsAreRefusedWhereAProcessHasEnded) {
  auto server = std::make_unique<End>(*this, "server", key_of(1));
  End client(*this, "client", key_of(1));
  connect(client, *server);
  End bystander(*this, "bystander", key_of(1));
  network_.silence("client", "server");
  server.reset();
  client.links.connect("server");
  pass(std::chrono::seconds(5), client, bystander);
  EXPECT_EQ(client.count(Kind::lost), 2u);
  EXPECT_FALSE(client.last(Kind::lost).refused) << "its host may be out of reach";
  network_.restore("client", "server");
  client.links.connect("server");
  pass(std::chrono::seconds(5), client, bystander);
  EXPECT_EQ(client.count(Kind::lost), 3u);
  EXPECT_TRUE(client.last(Kind::lost).refused);
}

TEST_F(LinksTest, AConnectionWithoutAHandshakeEnds) {
  End server(*this, "server", key_of(1), {.greeting = std::chrono::seconds(1), .most_strangers = 4});
  ASSERT_TRUE(server.links.listen("server").ok());
  Doorbell doorbell;
  const auto stranger = network_.endpoint(doorbell, "stranger");
  std::vector<TransportEvent> heard;
  for (int i = 0; i < 8; ++i) stranger->connect("server");
  End other(*this, "other", key_of(1));
  pass(std::chrono::milliseconds(5), server, other);
  stranger->poll(heard);
  pass(std::chrono::milliseconds(5), server, other);
  stranger->poll(heard);
  const auto lost = [&heard] {
    return std::count_if(heard.begin(), heard.end(),
                         [](const TransportEvent& event) { return event.kind == TransportEvent::Kind::lost; });
  };
  EXPECT_EQ(lost(), 4) << "the oldest make room";
  pass(std::chrono::seconds(2), server, other);
  stranger->poll(heard);
  EXPECT_EQ(lost(), 8);
  EXPECT_TRUE(server.events.empty());
}

TEST_F(LinksTest, AMessageThatIsSentTwiceIsRefused) {
  End server(*this, "server", key_of(1));
  ASSERT_TRUE(server.links.listen("server").ok());
  // A client by hand, so that it can send the same bytes again.
  Doorbell doorbell;
  const auto endpoint = network_.endpoint(doorbell, "client");
  ClientHandshake handshake(key_of(1), {2, 2}, encode_terms(ForwardTerms::Role::client, "client"));
  const PeerId peer = endpoint->connect("server");
  End other(*this, "other", key_of(1));
  std::vector<TransportEvent> heard;
  const auto next = [&]() -> std::vector<std::byte> {
    for (int i = 0; i < 50; ++i) {
      pass(std::chrono::milliseconds(1), server, other);
      endpoint->poll(heard);
      for (TransportEvent& event : heard) {
        if (event.kind != TransportEvent::Kind::message) continue;
        std::vector<std::byte> head = std::move(event.head);
        heard.clear();
        return head;
      }
    }
    ADD_FAILURE() << "no message";
    return {};
  };
  pass(std::chrono::milliseconds(1), server, other);
  endpoint->poll(heard);
  endpoint->send(peer, handshake.hello(), {}, 1);
  auto finished = handshake.finish(next());
  ASSERT_TRUE(finished.ok()) << finished.status().fault().message;
  endpoint->send(peer, finished.value().proof, {}, 2);
  (void)next();
  Sealer sealer(finished.value().keys.to_server, false);
  std::vector<std::byte> message;
  ASSERT_TRUE(sealer.seal(bytes_from(std::string(sizeof(LinkHead), '\0') + "once"), {}, message).ok());
  endpoint->send(peer, message, {}, 3);
  pass(std::chrono::milliseconds(5), server, other);
  EXPECT_EQ(server.count(Kind::message), 1u);
  EXPECT_EQ(server.count(Kind::lost), 0u);
  endpoint->send(peer, message, {}, 4);
  pass(std::chrono::milliseconds(5), server, other);
  EXPECT_EQ(server.count(Kind::message), 1u);
  EXPECT_EQ(server.count(Kind::lost), 1u);
}

}  // namespace
}  // namespace tailrace::impl
