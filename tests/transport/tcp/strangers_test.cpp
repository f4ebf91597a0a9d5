// Those who have no key, and those who have it and break the protocol: nobody else notices them.
#include <dirent.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>
#include <random>
#include <sstream>

#include "base/net/socket_address.hpp"
#include "base/os/file_descriptor.hpp"
#include "raw_connection.hpp"
#include "testing/seeds.hpp"
#include "transport_rig.hpp"

namespace tailrace::impl {
namespace {

class Strangers : public ::testing::Test {
 protected:
  void start(TransportOptions options = {}) {
    rig_.emplace("tcp");
    options.keys = {test_key()};
    Result<std::unique_ptr<TcpTransport>> made = TcpTransport::create(rig_->listener.doorbell, options);
    ASSERT_TRUE(made.ok()) << message_of(made.status());
    rig_->listener.transport = std::move(made).value();
    rig_->listen();
  }
  // Sends a message with bulk data by a connection that is there.
  void expect_to_work() {
    Bytes bulk(100'000, std::byte{7});
    const iovec all{bulk.data(), bulk.size()};
    rig_->client.transport->send(rig_->at_client, {}, {&all, 1}, 1);
    const TransportEvent message = rig_->next(rig_->listener, Kind::message);
    Bytes into(message.bulk);
    rig_->listener.transport->receive(message.peer, message.arrival, into, 2);
    EXPECT_TRUE(rig_->next(rig_->listener, Kind::received).status.ok());
    EXPECT_TRUE(into == bulk);
    EXPECT_TRUE(rig_->next(rig_->client, Kind::sent).status.ok());
  }

  std::optional<TransportRig> rig_;
};

TEST_F(Strangers, AnotherKeyIsRefusedAndBothEndsSayWhy) {
  start();
  Result<std::unique_ptr<TcpTransport>> made = TcpTransport::create(rig_->client.doorbell, {.keys = {test_key(2)}});
  ASSERT_TRUE(made.ok());
  rig_->client.transport = std::move(made).value();
  rig_->client.transport->connect(rig_->address);
  const Status lost = rig_->next(rig_->client, Kind::lost).status;
  EXPECT_NE(message_of(lost).find(test_key(2).identity), std::string::npos) << message_of(lost);
  EXPECT_EQ(lost.fault().system_errno, EKEYREJECTED);
  const Status refused = rig_->next(rig_->listener, Kind::refused).status;
  EXPECT_NE(message_of(refused).find(test_key(2).identity), std::string::npos) << message_of(refused);
  EXPECT_NE(message_of(refused).find(test_key(1).identity), std::string::npos) << message_of(refused);
  // The one that reports it names the address.
  EXPECT_EQ(message_of(refused).find("127.0.0.1"), std::string::npos) << message_of(refused);
  EXPECT_EQ(message_of(lost).find("127.0.0.1"), std::string::npos) << message_of(lost);
  EXPECT_EQ(rig_->listener.count(Kind::accepted), 0U);
}

TEST_F(Strangers, TheNameOfAKeyIsNotTheKey) {
  start();
  PreSharedKey wrong = test_key(2);
  wrong.identity = test_key(1).identity;
  Result<std::unique_ptr<TcpTransport>> made = TcpTransport::create(rig_->client.doorbell, {.keys = {wrong}});
  ASSERT_TRUE(made.ok());
  rig_->client.transport = std::move(made).value();
  rig_->client.transport->connect(rig_->address);
  EXPECT_FALSE(rig_->next(rig_->client, Kind::lost).status.ok());
  rig_->next(rig_->listener, Kind::refused);
  EXPECT_EQ(rig_->listener.count(Kind::accepted), 0U);
}

// A listener takes an old key beside the new one.
TEST_F(Strangers, OneOfSeveralKeysIsEnough) {
  start();
  for (unsigned char number = 1; number <= 2; ++number) {
    Result<std::unique_ptr<TcpTransport>> made =
        TcpTransport::create(rig_->listener.doorbell, {.keys = {test_key(2), test_key(1)}});
    ASSERT_TRUE(made.ok());
    rig_->listener.transport = std::move(made).value();
    rig_->listener.events.clear();
    rig_->listen();
    Result<std::unique_ptr<TcpTransport>> client =
        TcpTransport::create(rig_->client.doorbell, {.keys = {test_key(number)}});
    ASSERT_TRUE(client.ok());
    rig_->client.transport = std::move(client).value();
    rig_->client.events.clear();
    rig_->connect();
    expect_to_work();
    rig_->listener.transport.reset();
  }
}

// A connection that is there keeps its key.
TEST_F(Strangers, NewKeysAreForNewConnections) {
  start();
  rig_->connect();
  ASSERT_TRUE(rig_->listener.transport->use_keys({test_key(2)}).ok());
  expect_to_work();
  ASSERT_TRUE(rig_->client.transport->use_keys({test_key(2)}).ok());
  rig_->listener.events.clear();
  rig_->client.events.clear();
  rig_->connect();
  expect_to_work();
  ASSERT_TRUE(rig_->client.transport->use_keys({test_key(1)}).ok());
  rig_->client.transport->connect(rig_->address);
  EXPECT_EQ(rig_->next(rig_->client, Kind::lost).status.fault().system_errno, EKEYREJECTED);
}

TEST_F(Strangers, GarbageIsRefusedAndOthersGoOn) {
  start();
  rig_->connect();
  for_seeds(20, [&](uint64_t seed) {
    Dice dice(seed);
    std::vector<Bytes> garbage{Bytes(4096), random_bytes(dice, dice.between(1, 5000)), Bytes(1, std::byte{22})};
    const std::string http = "GET / HTTP/1.1\r\nHost: io1\r\n\r\n";
    garbage.emplace_back(http.size());
    std::memcpy(garbage.back().data(), http.data(), http.size());
    // The beginning of a handshake, and then something else.
    Bytes hello = random_bytes(dice, 300);
    const unsigned char head[] = {22, 3, 1, 1, 0x27, 1, 0, 1, 0x23, 3, 3};
    std::memcpy(hello.data(), head, sizeof head);
    garbage.push_back(hello);
    for (const Bytes& bytes : garbage) {
      RawConnection raw(rig_->address);
      ASSERT_TRUE(raw.is_connected());
      raw.send(bytes);
      const bool is_cut = bytes.size() < 3;  // it might go on
      if (!is_cut) rig_->next(rig_->listener, Kind::refused);
    }
    expect_to_work();
  });
  EXPECT_EQ(rig_->listener.count(Kind::accepted), 0U);
  EXPECT_EQ(rig_->listener.count(Kind::lost), 0U);
}

TEST_F(Strangers, WhoSaysNothingMakesWay) {
  start({.most_strangers = 16, .most_of_one_host = 8});
  std::vector<std::unique_ptr<RawConnection>> silent;
  for (int i = 0; i < 300; ++i) {
    silent.push_back(std::make_unique<RawConnection>(rig_->address));
    if (i % 2 == 0) silent.back()->send(Bytes(3, std::byte{22}));
  }
  rig_->connect();
  expect_to_work();
}

TEST_F(Strangers, WhoTakesTooLongIsDropped) {
  start({.greeting = std::chrono::milliseconds(50)});
  RawConnection slow(rig_->address);
  slow.send(Bytes(3, std::byte{22}));
  EXPECT_EQ(rig_->next(rig_->listener, Kind::refused).status.code(), TAILRACE_TIMEOUT);
  EXPECT_TRUE(rig_->run_until([&] { return slow.is_closed(); }));
}

// Returns how many sockets of this process listen, by the inodes of its descriptors.
size_t listening_sockets() {
  std::set<std::string> own;
  DIR* const directory = ::opendir("/proc/self/fd");
  while (const dirent* entry = ::readdir(directory)) {
    std::array<char, 64> target{};
    const ssize_t size =
        ::readlink(("/proc/self/fd/" + std::string(entry->d_name)).c_str(), target.data(), target.size() - 1);
    if (size > 8 && std::string(target.data()).starts_with("socket:[")) {
      own.insert(std::string(target.data() + 8, static_cast<size_t>(size) - 9));
    }
  }
  ::closedir(directory);
  size_t count = 0;
  for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream lines(table);
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::vector<std::string> fields;
      for (std::string word; words >> word;) fields.push_back(word);
      if (fields.size() > 9 && fields[3] == "0A" && own.contains(fields[9])) ++count;
    }
  }
  return count;
}

TEST_F(Strangers, OnePortIsOpenAtTheListenerAndNoneAtItsClients) {
  const size_t before = listening_sockets();
  start();
  EXPECT_EQ(listening_sockets(), before + 1);
  rig_->connect();
  expect_to_work();
  EXPECT_EQ(listening_sockets(), before + 1);
  rig_->listener.transport.reset();
  EXPECT_EQ(listening_sockets(), before);
}

// Somebody on the way, who has no key: passes bytes on, and changes, doubles or drops some.
class Relay {
 public:
  Relay(int one, int other) : ends_{one, other} {}
  // Returns how many bytes went on.
  size_t step(const std::function<void(Bytes&)>& change) {
    size_t moved = 0;
    for (int from = 0; from < 2; ++from) {
      Bytes bytes(65536);
      const ssize_t got = ::recv(ends_[from], bytes.data(), bytes.size(), MSG_DONTWAIT);
      if (got <= 0) continue;
      bytes.resize(static_cast<size_t>(got));
      change(bytes);
      moved += bytes.size();
      for (size_t sent = 0; sent < bytes.size();) {
        const ssize_t went = ::send(ends_[1 - from], bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
        if (went <= 0) break;
        sent += static_cast<size_t>(went);
      }
    }
    return moved;
  }

 private:
  int ends_[2];
};

TEST_F(Strangers, ChangesOnTheWayEndTheConnection) {
  for_seeds(10, [&](uint64_t seed) {
    Dice dice(seed);
    start();
    const FileDescriptor door(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const SocketAddress any = resolve_address("127.0.0.1:0", AF_INET).value();
    ASSERT_EQ(::bind(door.get(), any.get(), any.size), 0);
    ASSERT_EQ(::listen(door.get(), 1), 0);
    sockaddr_storage bound{};
    socklen_t size = sizeof bound;
    ::getsockname(door.get(), reinterpret_cast<sockaddr*>(&bound), &size);
    RawConnection behind(rig_->address);
    rig_->at_client = rig_->client.transport->connect(text_of_address(bound));
    const FileDescriptor before(::accept(door.get(), nullptr, nullptr));
    Relay relay(before.get(), behind.socket());
    const auto pass = [&](const std::function<bool()>& done, const std::function<void(Bytes&)>& change) {
      return rig_->run_until([&] {
        relay.step(change);
        return done();
      });
    };
    const auto nothing = [](Bytes&) {};
    ASSERT_TRUE(
        pass([&] { return rig_->client.count(Kind::connected) == 1 && rig_->listener.count(Kind::accepted) == 1; },
             nothing));
    Bytes head(3000, std::byte{5});
    rig_->client.transport->send(rig_->at_client, head, {}, 1);
    const uint64_t kind = dice.below(3);
    const auto change = [&](Bytes& bytes) {
      const size_t at = dice.below(bytes.size());
      if (kind == 0) bytes[at] ^= std::byte{1};
      if (kind == 1) bytes.insert(bytes.end(), bytes.begin(), bytes.end());
      if (kind == 2) bytes.erase(bytes.begin() + static_cast<ptrdiff_t>(at));
    };
    bool changed = false;
    const auto once = [&](Bytes& bytes) {
      if (!std::exchange(changed, true)) change(bytes);
    };
    // The rest of a record that lacks a byte comes with the next message.
    EXPECT_TRUE(pass(
        [&] {
          if (changed && kind == 2 && rig_->client.count(Kind::lost) == 0) {
            rig_->client.transport->send(rig_->at_client, head, {}, 2);
          }
          return rig_->listener.count(Kind::lost) == 1;
        },
        once));
    for (const TransportEvent& event : rig_->listener.events) {
      if (event.kind == Kind::message) {
        EXPECT_EQ(event.head, head);
      }
    }
    rig_->listener.events.clear();
    rig_->client.events.clear();
  });
}

// One that has the key asks without end, and takes no answer: the listener stops reading, and goes on when it does.
TEST_F(Strangers, WhoTakesNoAnswersIsNotReadAnyMore) {
  start();
  rig_->connect();
  const std::shared_ptr<const Tls> tls = Tls::create({test_key()}).value();
  RawConnection raw(rig_->address);
  TlsStream stream(tls, raw.socket(), true);
  ASSERT_TRUE(rig_->run_until([&] {
    const Result<bool> done = stream.shake_hands();
    return done.ok() && done.value();
  }));
  const PeerId peer = rig_->next(rig_->listener, Kind::accepted).peer;
  const FrameHead head{.kind = FrameKind::message, .head = 1000};
  Bytes question(sizeof head + head.head);
  std::memcpy(question.data(), &head, sizeof head);
  const Bytes answer(10'000);
  size_t asked = 0;  // bytes
  size_t answered = 0;
  const auto turn = [&](bool asks) {
    rig_->listener.poll();
    for (const TransportEvent& event : rig_->listener.events) {
      if (event.peer != peer || event.kind != Kind::message) continue;
      rig_->listener.transport->send(peer, answer, {}, 1);
      answered += answer.size();
    }
    rig_->listener.events.clear();
    for (bool is_all = asks; is_all;) {
      const size_t wrote = stream.write(std::span(question).subspan(asked % question.size())).value();
      asked += wrote;
      is_all = stream.flush().value() && wrote > 0 && asked % (100 * question.size()) != 0;
    }
  };
  constexpr size_t kMuch = size_t{200} << 20;
  size_t before = 0;
  for (int idle = 0; idle < 100 && answered < kMuch; ++idle) {
    turn(true);
    if (answered > std::exchange(before, answered)) idle = 0;
  }
  EXPECT_LT(answered, kMuch) << "nobody has read them";
  Bytes into(100'000);
  size_t got = 0;
  ASSERT_TRUE(rig_->run_until([&] {
    turn(false);
    (void)stream.flush();
    for (size_t now = 1; now > 0; got += now) now = stream.read(into).value();
    return answered >= asked / question.size() * answer.size() && got >= answered;
  })) << got
      << " of " << answered;
  expect_to_work();
}

// Frames that no honest end sends, by one that has the key.
TEST_F(Strangers, WhoBreaksTheProtocolIsCutOffAlone) {
  start();
  rig_->connect();
  const std::shared_ptr<const Tls> tls = Tls::create({test_key()}).value();
  const auto bytes_of_frame = [](FrameHead head, size_t more) {
    Bytes bytes(sizeof head + more);
    std::memcpy(bytes.data(), &head, sizeof head);
    return bytes;
  };
  const FrameHead wrong[] = {
      {.kind = FrameKind{0}},
      {.kind = FrameKind{77}, .head = 1},
      {.kind = FrameKind::message, .head = Transport::kMostHead + 1},
      {.kind = FrameKind::message, .bulk = 10, .number = 2},
      {.kind = FrameKind::message, .number = 1},
      {.kind = FrameKind::whole},
      {.kind = FrameKind::whole, .bulk = uint64_t{1} << 40},
      {.kind = FrameKind::whole, .bulk = 1, .number = 9},
      {.kind = FrameKind::fetch, .number = 1},
      {.kind = FrameKind::refuse, .number = 3},
      {.kind = FrameKind::bulk, .bulk = 1, .number = 1},
      {.kind = FrameKind::bulk, .bulk = UINT64_MAX, .number = 0},
  };
  for (const FrameHead& frame : wrong) {
    SCOPED_TRACE(static_cast<int>(frame.kind));
    RawConnection raw(rig_->address);
    TlsStream stream(tls, raw.socket(), true);
    bool open = false;
    ASSERT_TRUE(rig_->run_until([&] {
      const Result<bool> done = stream.shake_hands();
      open = done.ok() && done.value();
      return open;
    }));
    const PeerId peer = rig_->next(rig_->listener, Kind::accepted).peer;
    const Bytes bytes = bytes_of_frame(frame, 64);
    EXPECT_EQ(stream.write(bytes).value(), bytes.size());
    EXPECT_TRUE(stream.flush().ok());
    const TransportEvent lost = rig_->next(rig_->listener, Kind::lost);
    EXPECT_EQ(lost.peer, peer);
    EXPECT_NE(message_of(lost.status).find("breaks the protocol"), std::string::npos) << message_of(lost.status);
    expect_to_work();
  }
}

}  // namespace
}  // namespace tailrace::impl
