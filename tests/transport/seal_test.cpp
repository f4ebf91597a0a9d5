// Sealer and Opener: what one seals the other opens, and nothing else.
#include "transport/secure/seal.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <numeric>

#include "secure_rig.hpp"
#include "testing/seeds.hpp"

namespace tailrace::impl {
namespace {

const Secret kKey = key_of(7).secret;

// A message on its way, with its bulk data as they travel.
struct Sent {
  Bytes body;
  Bytes message;
  Bytes bulk;
};

// Cuts `bytes` into segments at random places; some are empty.
std::vector<iovec> segments_of(Dice& dice, Bytes& bytes) {
  std::vector<iovec> segments;
  for (size_t at = 0; at < bytes.size();) {
    const size_t length = std::min(bytes.size() - at, dice.below(dice.chance(50) ? 100 : 5000));
    segments.push_back({bytes.data() + at, length});
    at += length;
  }
  if (dice.chance(20)) segments.push_back({nullptr, 0});
  return segments;
}

Sent send(Sealer& sealer, const Bytes& body, Bytes bulk = {}) {
  Sent sent{body, {}, std::move(bulk)};
  const iovec whole{sent.bulk.data(), sent.bulk.size()};
  TAILRACE_REQUIRE(sealer.seal(body, std::span(&whole, sent.bulk.empty() ? 0 : 1), sent.message).ok());
  return sent;
}

// Sends messages of random sizes and opens them in another order, but none too late.
void exchange(uint64_t seed) {
  Dice dice(seed);
  const bool hides = dice.chance(50);
  Sealer sealer(kKey, hides);
  Opener opener(kKey, hides);
  std::vector<std::pair<Sent, Bytes>> under_way;  // with the plain bulk data
  for (int i = 0; i < 100; ++i) {
    Bytes plain = random_bytes(dice, dice.chance(30) ? 0 : dice.below(20'000));
    Sent sent{random_bytes(dice, dice.chance(5) ? kMostSealedBody : dice.below(500)), {}, plain};
    const std::vector<iovec> parts = segments_of(dice, plain);
    const Status sealed = hides ? sealer.seal_hidden(sent.body, parts, sent.bulk, sent.message)
                                : sealer.seal(sent.body, parts, sent.message);
    ASSERT_TRUE(sealed.ok());
    ASSERT_EQ(sent.message.size(), sent.body.size() + kSealOverhead);
    ASSERT_EQ(sent.bulk == plain, !hides || plain.empty());
    under_way.emplace_back(std::move(sent), std::move(plain));
    while (under_way.size() > 20 || (i == 99 && !under_way.empty())) {
      const auto one = under_way.begin() + static_cast<std::ptrdiff_t>(dice.below(under_way.size()));
      auto& [come, bulk] = *one;
      const Result<Unsealed> opened = opener.open(come.message, come.bulk.size());
      ASSERT_TRUE(opened.ok()) << message_of(opened.status());
      ASSERT_EQ(opened.value().body, come.body);
      ASSERT_EQ(opened.value().bulk.bytes, bulk.size());
      if (!hides) {
        ASSERT_TRUE(opener.check_bulk(opened.value().bulk, segments_of(dice, come.bulk)).ok());
      }
      ASSERT_TRUE(opener.open_bulk(opened.value().bulk, come.bulk).ok());
      ASSERT_EQ(come.bulk, bulk);
      under_way.erase(one);
    }
  }
}

TEST(Seal, OpensWhatWasSealed) { for_seeds(20, exchange); }

TEST(Seal, EncryptsInPlace) {
  Dice dice(1);
  const Bytes plain = random_bytes(dice, 100'000);
  Sealer sealer(kKey, true);
  Opener opener(kKey, true);
  Bytes bulk = plain;
  Bytes message;
  const iovec whole{bulk.data(), bulk.size()};
  ASSERT_TRUE(sealer.seal_hidden({}, std::span(&whole, 1), bulk, message).ok());
  EXPECT_NE(bulk, plain);
  const Result<Unsealed> opened = opener.open(message, bulk.size());
  ASSERT_TRUE(opened.ok());
  ASSERT_TRUE(opener.open_bulk(opened.value().bulk, bulk).ok());
  EXPECT_EQ(bulk, plain);
}

TEST(Seal, NobodyCanReadABodyOrHiddenBulkData) {
  const std::string secret = "a path that is nobody's business";
  Sealer sealer(kKey, true);
  Bytes bulk = bytes_of(secret);
  Bytes message;
  const iovec whole{bulk.data(), bulk.size()};
  ASSERT_TRUE(sealer.seal_hidden(bytes_of(secret), std::span(&whole, 1), bulk, message).ok());
  for (const Bytes& sent : {message, bulk}) {
    const Bytes word = bytes_of(secret.substr(7, 5));
    EXPECT_EQ(std::search(sent.begin(), sent.end(), word.begin(), word.end()), sent.end());
  }
}

TEST(Seal, TheSameMessageNeverLooksTheSame) {
  Sealer sealer(kKey, false);
  const Bytes first = send(sealer, Bytes(64)).message;
  const Bytes second = send(sealer, Bytes(64)).message;
  EXPECT_FALSE(std::equal(first.begin() + sizeof(SealHead), first.end(), second.begin() + sizeof(SealHead)));
}

TEST(Seal, EveryChangedByteOfAMessageIsRefused) {
  Sealer sealer(kKey, false);
  Opener opener(kKey, false);
  const Sent sent = send(sealer, bytes_of("body"), bytes_of("bulk data"));
  for (size_t at = 0; at < sent.message.size(); ++at) {
    for (unsigned other = 1; other < 256; ++other) {
      Bytes changed = sent.message;
      changed[at] ^= static_cast<std::byte>(other);
      ASSERT_FALSE(opener.open(changed, sent.bulk.size()).ok()) << "byte " << at << ", by " << other;
    }
  }
  EXPECT_TRUE(opener.open(sent.message, sent.bulk.size()).ok()) << "refused messages change nothing";
}

TEST(Seal, EveryOtherLengthOfAMessageIsRefused) {
  Sealer sealer(kKey, false);
  Opener opener(kKey, false);
  const Sent sent = send(sealer, bytes_of("body"));
  for (size_t size = 0; size < 300; ++size) {
    if (size == sent.message.size()) continue;
    Bytes other = sent.message;
    other.resize(size);
    ASSERT_FALSE(opener.open(other, 0).ok()) << size;
  }
  expect_refused(opener.open(Bytes(kSealOverhead - 1), 0).status(), EPROTO, {"55 bytes", "56 to 32768"});
  expect_refused(opener.open(Bytes(kMostSealed + 1), 0).status(), EPROTO, {"32769 bytes"});
}

TEST(Seal, EveryChangedByteOfBulkDataIsRefused) {
  Opener opener(kKey, false);
  Sealer sealer(kKey, false);
  Sent sent = send(sealer, {}, bytes_of("bulk data of more than one block"));
  const Result<Unsealed> opened = opener.open(sent.message, sent.bulk.size());
  ASSERT_TRUE(opened.ok());
  for (std::byte& byte : sent.bulk) {
    for (unsigned other = 1; other < 256; ++other) {
      byte ^= static_cast<std::byte>(other);
      ASSERT_FALSE(opener.open_bulk(opened.value().bulk, sent.bulk).ok());
      byte ^= static_cast<std::byte>(other);
    }
  }
  EXPECT_TRUE(opener.open_bulk(opened.value().bulk, sent.bulk).ok());
}

TEST(Seal, EveryChangedByteOfHiddenBulkDataIsRefused) {
  Opener opener(kKey, true);
  Sealer sealer(kKey, true);
  Bytes plain = bytes_of("bulk data of more than one block");
  Sent sent{{}, {}, Bytes(plain.size())};
  const iovec whole{plain.data(), plain.size()};
  ASSERT_TRUE(sealer.seal_hidden({}, std::span(&whole, 1), sent.bulk, sent.message).ok());
  const Result<Unsealed> opened = opener.open(sent.message, sent.bulk.size());
  ASSERT_TRUE(opened.ok());
  for (size_t at = 0; at < sent.bulk.size(); ++at) {
    for (unsigned other = 1; other < 256; ++other) {
      Bytes changed = sent.bulk;
      changed[at] ^= static_cast<std::byte>(other);
      expect_refused(opener.open_bulk(opened.value().bulk, changed), EBADMSG, {"32 bytes of bulk data of message 0"});
      ASSERT_NE(changed, plain);
    }
  }
  EXPECT_TRUE(opener.open_bulk(opened.value().bulk, sent.bulk).ok());
  EXPECT_EQ(sent.bulk, plain);
}

TEST(Seal, BulkDataOfAnotherMessageAreRefused) {
  Sealer sealer(kKey, false);
  Opener opener(kKey, false);
  Sent first = send(sealer, {}, Bytes(100, std::byte{1}));
  Sent second = send(sealer, {}, Bytes(100, std::byte{2}));
  const Result<Unsealed> opened = opener.open(first.message, 100);
  ASSERT_TRUE(opened.ok() && opener.open(second.message, 100).ok());
  expect_refused(opener.open_bulk(opened.value().bulk, second.bulk), EBADMSG, {"message 0"});
  EXPECT_TRUE(opener.open_bulk(opened.value().bulk, first.bulk).ok());
}

TEST(Seal, BulkDataOfAnotherSizeAreRefused) {
  Sealer sealer(kKey, false);
  Opener opener(kKey, false);
  const Sent sent = send(sealer, {}, Bytes(100));
  expect_refused(opener.open(sent.message, 99).status(), EBADMSG, {"99 bytes of bulk data, expected 100"});
  expect_refused(opener.open(sent.message, uint64_t{1} << 63).status(), EBADMSG);
  EXPECT_TRUE(opener.open(sent.message, 100).ok());
}

TEST(Seal, AMessageIsAcceptedOnce) {
  Sealer sealer(kKey, false);
  Opener opener(kKey, false);
  std::vector<Sent> all;
  for (int i = 0; i < 50; ++i) all.push_back(send(sealer, bytes_of("body")));
  for (const Sent& sent : all) EXPECT_TRUE(opener.open(sent.message, 0).ok());
  for (size_t i = 0; i < all.size(); ++i) {
    expect_refused(opener.open(all[i].message, 0).status(), EALREADY,
                   {"message " + std::to_string(i) + " has come a second time"});
  }
}

TEST(Seal, MessagesMayOvertakeEachOtherWithinTheWindow) {
  Sealer sealer(kKey, false);
  Opener opener(kKey, false);
  std::vector<Sent> all;
  for (int i = 0; i < 1025; ++i) all.push_back(send(sealer, {}));
  EXPECT_TRUE(opener.open(all[1024].message, 0).ok());
  expect_refused(opener.open(all[0].message, 0).status(), EALREADY,
                 {"message 0", "after message 1024", "1023 behind"});
  for (size_t i = 1023; i >= 1; --i) ASSERT_TRUE(opener.open(all[i].message, 0).ok()) << i;
  for (size_t i = 0; i <= 1024; ++i) ASSERT_FALSE(opener.open(all[i].message, 0).ok()) << i;
}

TEST(Seal, MessagesOfTheOtherDirectionAndOfAnotherSessionAreRefused) {
  const Met met = meet(key_of(1));
  const Met later = meet(key_of(1), {}, {}, 2);
  Opener server(met.server.to_server, false);
  for (const Secret& key : {met.server.to_client, later.client.to_server, later.client.to_client}) {
    Sealer sealer(key, false);
    expect_refused(server.open(send(sealer, bytes_of("body")).message, 0).status(), EBADMSG, {"wrong tag"});
  }
  Sealer client(met.client.to_server, false);
  EXPECT_TRUE(server.open(send(client, bytes_of("body")).message, 0).ok());
}

TEST(Seal, EndsThatDisagreeAboutEncryptionAreTold) {
  Sealer plain(kKey, false);
  Sealer hiding(kKey, true);
  expect_refused(Opener(kKey, true).open(send(plain, {}).message, 0).status(), EPROTO, {"flags 0, expected 1"});
  expect_refused(Opener(kKey, false).open(send(hiding, {}).message, 0).status(), EPROTO, {"flags 1, expected 0"});
}

TEST(Seal, NumbersEndBeforeTheyRepeat) {
  Sealer sealer(kKey, false, kSequenceLimit - 2);
  Opener opener(kKey, false);
  EXPECT_TRUE(opener.open(send(sealer, {}).message, 0).ok());
  const Sent last = send(sealer, bytes_of("last"));
  EXPECT_TRUE(opener.open(last.message, 0).ok());
  EXPECT_FALSE(opener.open(last.message, 0).ok());
  for (int i = 0; i < 3; ++i) {
    Bytes message = bytes_of("untouched");
    expect_refused(sealer.seal({}, {}, message), EOVERFLOW, {"2^63 messages"});
    EXPECT_EQ(message, bytes_of("untouched"));
  }
  Sealer hiding(kKey, true, kSequenceLimit);
  Bytes message;
  expect_refused(hiding.seal_hidden({}, {}, {}, message), EOVERFLOW);
}

TEST(Seal, ANumberBeyondTheEndIsRefused) {
  Opener opener(kKey, false);
  Sealer sealer(kKey, false);
  Sent sent = send(sealer, {});
  SealHead head;
  head.sequence = kSequenceLimit;
  std::memcpy(sent.message.data(), &head, sizeof head);
  expect_refused(opener.open(sent.message, 0).status(), EOVERFLOW, {"message 9223372036854775808"});
}

void send_hostile_messages(uint64_t seed) {
  Dice dice(seed);
  Sealer sealer(kKey, false);
  Opener opener(kKey, false);
  std::vector<Sent> genuine;
  for (int i = 0; i < 20; ++i)
    genuine.push_back(send(sealer, random_bytes(dice, dice.below(60)), Bytes(dice.below(3))));
  std::vector<bool> has_come(genuine.size());
  for (int i = 0; i < 1000; ++i) {
    const size_t which = dice.below(genuine.size());
    const Sent& sent = genuine[which];
    const Bytes message = damaged(dice, sent.message);
    const uint64_t bulk = dice.chance(90) ? sent.bulk.size() : dice.below(3);
    const bool is_right = message == sent.message && bulk == sent.bulk.size() && !has_come[which];
    const Result<Unsealed> opened = opener.open(message, bulk);
    ASSERT_EQ(opened.ok(), is_right);
    if (is_right) has_come[which] = true;
    ASSERT_TRUE(opened.ok() || !message_of(opened.status()).empty());
  }
  for (size_t i = 0; i < genuine.size(); ++i) {
    EXPECT_EQ(opener.open(genuine[i].message, genuine[i].bulk.size()).ok(), !has_come[i]);
  }
}

TEST(Seal, FiftyThousandHostileMessagesAreRefused) { for_seeds(50, send_hostile_messages); }

}  // namespace
}  // namespace tailrace::impl
