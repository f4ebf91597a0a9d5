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
    End(LinksTest& test, const std::string& host, int key, Links::Options options = {})
        : endpoint(test.network_.endpoint(doorbell, host, [this](Nanoseconds limit) { waited = limit; })),
          links(*endpoint, test.clock_, log, encode_terms(ForwardTerms::Role::client, host), options) {
      endpoint->use_key(key);
    }
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
    Nanoseconds waited{0};  // the limit of the last wait()
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
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

TEST_F(LinksTest, BothEndsLearnTheTermsOfTheOther) {
  End server(*this, "server", 0);
  End client(*this, "client", 0);
  connect(client, server);
  ASSERT_EQ(client.count(Kind::ready), 1u);
  ASSERT_EQ(server.count(Kind::ready), 1u);
  EXPECT_EQ(server.last(Kind::ready).terms, encode_terms(ForwardTerms::Role::client, "client"));
  EXPECT_EQ(client.last(Kind::ready).terms, encode_terms(ForwardTerms::Role::client, "server"));
}

TEST_F(LinksTest, MessagesArriveWithTheirData) {
  End server(*this, "server", 0);
  End client(*this, "client", 0);
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

TEST_F(LinksTest, AnotherKeyIsRefusedAndNothingOfItIsHeard) {
  End server(*this, "server", 0);
  End client(*this, "client", 1);
  connect(client, server);
  EXPECT_TRUE(server.events.empty());
  ASSERT_FALSE(server.log.complaints().empty());
  const std::string line = server.log.complaints().front();
  EXPECT_EQ(line.find("client"), line.rfind("client")) << line;
  ASSERT_EQ(client.count(Kind::lost), 1u);
  EXPECT_FALSE(client.last(Kind::lost).status.ok());
  EXPECT_EQ(client.count(Kind::ready), 0u);
}

TEST_F(LinksTest, AnIdleLinkStaysAndASilentOneIsNoticedWithinTwoSeconds) {
  End server(*this, "server", 0);
  End client(*this, "client", 0);
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
  End server(*this, "server", 0, {.silence = milliseconds(2000), .lease = milliseconds(2000)});
  End client(*this, "client", 0);
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

// Found by a program whose close took 200 ms: the end of a link is an event of the next poll.
TEST_F(LinksTest, NobodyWaitsBeforeTheEndOfALinkIsReported) {
  End server(*this, "server", 0);
  End client(*this, "client", 0);
  connect(client, server);
  client.links.wait(std::chrono::milliseconds(5));
  EXPECT_EQ(client.waited, std::chrono::milliseconds(5));
  server.endpoint->die();
  for (int rounds = 0; rounds < 1000 && client.links.due() != Nanoseconds::zero(); ++rounds) {
    clock_.advance(std::chrono::microseconds(100));
    network_.deliver();
    client.poll();
  }
  ASSERT_EQ(client.count(Kind::lost), 0u);
  client.links.wait(std::chrono::milliseconds(5));
  EXPECT_EQ(client.waited, Nanoseconds::zero());
  client.poll();
  EXPECT_EQ(client.count(Kind::lost), 1u);
}

TEST_F(LinksTest, ConnectionsAreRefusedWhereAProcessHasEnded) {
  auto server = std::make_unique<End>(*this, "server", 0);
  End client(*this, "client", 0);
  connect(client, *server);
  End bystander(*this, "bystander", 0);
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

TEST_F(LinksTest, AConnectionWithoutAGreetingEnds) {
  End server(*this, "server", 0, {.greeting = std::chrono::seconds(1)});
  ASSERT_TRUE(server.links.listen("server").ok());
  Doorbell doorbell;
  const auto silent = network_.endpoint(doorbell, "silent");
  std::vector<TransportEvent> heard;
  for (int i = 0; i < 8; ++i) silent->connect("server");
  End other(*this, "other", 0);
  pass(std::chrono::seconds(2), server, other);
  silent->poll(heard);
  EXPECT_EQ(std::count_if(heard.begin(), heard.end(),
                          [](const TransportEvent& event) { return event.kind == TransportEvent::Kind::lost; }),
            8);
  EXPECT_TRUE(server.events.empty());
}

// A peer that has the key, but greets differently from this version, is ignored.
TEST_F(LinksTest, OtherGreetingsEndTheLink) {
  End server(*this, "server", 0);
  ASSERT_TRUE(server.links.listen("server").ok());
  End other(*this, "other", 0);
  const auto greeting = [](uint32_t magic, uint16_t version) {
    const LinkGreeting one{.magic = magic, .version = version};
    const auto bytes = std::as_bytes(std::span(&one, 1));
    return std::vector<std::byte>(bytes.begin(), bytes.end());
  };
  const uint16_t version = Links::Options().version;
  std::vector<std::byte> longer = greeting(LinkGreeting::kMagic, version);
  longer.push_back({});
  for (const std::vector<std::byte>& wrong : {bytes_from(""), bytes_from("hello"), longer, greeting(1, version),
                                              greeting(LinkGreeting::kMagic, version + 1)}) {
    Doorbell doorbell;
    const auto endpoint = network_.endpoint(doorbell, "client");
    const PeerId peer = endpoint->connect("server");
    pass(std::chrono::milliseconds(1), server, other);
    std::vector<TransportEvent> heard;
    endpoint->poll(heard);
    endpoint->send(peer, wrong, {}, 1);
    pass(std::chrono::milliseconds(50), server, other);
    heard.clear();
    endpoint->poll(heard);
    ASSERT_FALSE(heard.empty());
    EXPECT_EQ(heard.back().kind, TransportEvent::Kind::lost);
    EXPECT_TRUE(server.events.empty());
  }
  EXPECT_NE(server.log.text().find("version"), std::string::npos) << server.log.text();
}

}  // namespace
}  // namespace tailrace::impl
