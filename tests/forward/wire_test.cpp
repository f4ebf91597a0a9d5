// The messages of forwarding: what is encoded is decoded, and what nobody may send is refused.
#include "model/wire/forward_wire.hpp"

#include <gtest/gtest.h>

#include "testing/dice.hpp"
#include "testing/seeds.hpp"

namespace tailrace::impl {
namespace {

using Kind = TransferRecord::Kind;

TransferRecord record_of(Kind kind, uint64_t offset, uint64_t length) {
  TransferRecord record;
  record.file = 7;
  record.kind = kind;
  record.offset = offset;
  record.length = length;
  return record;
}

bool is_accepted(const std::vector<TransferRecord>& records, uint64_t bulk) {
  return decode_transfers(encode_transfers(1, records), bulk).has_value();
}

TEST(ForwardWire, TransfersComeBackAsTheyWere) {
  const std::vector<TransferRecord> sent = {record_of(Kind::write, 5, 10), record_of(Kind::read, 1 << 20, 99),
                                            record_of(Kind::sync, 0, 0)};
  const std::vector<std::byte> body = encode_transfers(4711, sent);
  const auto head = decode_head(body);
  ASSERT_TRUE(head.has_value());
  EXPECT_EQ(head->kind, ForwardKind::transfers);
  EXPECT_EQ(head->number, 4711u);
  const auto came = decode_transfers(body, 10);
  ASSERT_TRUE(came.has_value());
  ASSERT_EQ(came->size(), 3u);
  EXPECT_EQ((*came)[1].offset, uint64_t{1} << 20);
  EXPECT_EQ((*came)[1].length, 99u);
  EXPECT_EQ((*came)[2].kind, Kind::sync);
  EXPECT_EQ(bytes_of_writes(*came), 10u);
  EXPECT_EQ(bytes_of_reads(*came), 99u);
}

TEST(ForwardWire, TransfersThatCannotBeAreRefused) {
  EXPECT_TRUE(is_accepted({record_of(Kind::write, 0, 10)}, 10));
  EXPECT_FALSE(is_accepted({record_of(Kind::write, 0, 10)}, 11)) << "more bytes than the writes have";
  EXPECT_FALSE(is_accepted({record_of(Kind::write, 0, 10)}, 0)) << "no bytes for the write";
  EXPECT_FALSE(is_accepted({record_of(Kind::write, 0, 0)}, 0)) << "an empty write";
  EXPECT_FALSE(is_accepted({record_of(Kind::sync, 0, 5)}, 0)) << "a sync of bytes";
  EXPECT_FALSE(is_accepted({record_of(Kind::read, 0, uint64_t{1} << 63)}, 0)) << "a read of 2^63 bytes";
  EXPECT_FALSE(is_accepted({record_of(Kind::read, 0, kMostForwarded + 1)}, 0));
  EXPECT_FALSE(is_accepted({record_of(Kind::read, UINT64_MAX, 1)}, 0)) << "beyond every file";
  EXPECT_FALSE(is_accepted({record_of(Kind::read, (uint64_t{1} << 62) - 1, 2)}, 0)) << "the end is beyond every file";
  EXPECT_FALSE(is_accepted(std::vector<TransferRecord>(17, record_of(Kind::read, 0, uint64_t{1} << 20)), 0))
      << "more bytes than a message may ask for";
  EXPECT_FALSE(is_accepted(std::vector<TransferRecord>(kMostRecords + 1, record_of(Kind::sync, 0, 0)), 0));
  TransferRecord unknown = record_of(Kind::read, 0, 1);
  unknown.kind = static_cast<Kind>(3);
  EXPECT_FALSE(is_accepted({unknown}, 0));
}

TEST(ForwardWire, CallsAndAnswersComeBackAsTheyWere) {
  ForwardCallMessage call;
  call.record.call = ForwardCall::lock;
  call.record.flags = CallRecord::kRepeated;
  call.text = "/scratch/a.lock";
  call.second = "client 3";
  const auto came = decode_forward_call(encode_call(9, call));
  ASSERT_TRUE(came.has_value());
  EXPECT_EQ(came->record.call, ForwardCall::lock);
  EXPECT_EQ(came->record.flags, CallRecord::kRepeated);
  EXPECT_EQ(came->text, call.text);
  EXPECT_EQ(came->second, call.second);
  ForwardAnswer answer;
  answer.record.code = 301;
  answer.record.system_errno = 28;
  answer.record.value = 77;
  answer.text = "no space";
  answer.servers = {3, 1, 2};
  const auto back = decode_forward_answer(encode_answer(9, answer));
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->record.system_errno, 28);
  EXPECT_EQ(back->record.value, 77u);
  EXPECT_EQ(back->text, "no space");
  EXPECT_EQ(back->servers, answer.servers);
}

TEST(ForwardWire, APathWithANulIsRefused) {
  ForwardCallMessage call;
  call.text = std::string("/scratch/a\0b", 12);
  EXPECT_FALSE(decode_forward_call(encode_call(1, call)).has_value());
}

TEST(ForwardWire, EveryShorterOrLongerMessageIsRefused) {
  ForwardCallMessage call;
  call.text = "/a";
  const std::vector<std::vector<std::byte>> bodies = {
      encode_transfers(1, std::vector{record_of(Kind::sync, 0, 0)}), encode_call(1, call),
      encode_ends(1, std::vector<int64_t>{5, -28}), encode_answer(1, {}), encode_loss({})};
  const auto any = [](std::span<const std::byte> body) {
    return decode_transfers(body, 0) || decode_forward_call(body) || decode_ends(body) ||
           decode_forward_answer(body) || decode_loss(body);
  };
  for (const auto& body : bodies) {
    EXPECT_TRUE(any(body));
    for (size_t size = 0; size < body.size(); ++size) EXPECT_FALSE(any(std::span(body).first(size))) << size;
    std::vector<std::byte> longer = body;
    longer.push_back(std::byte{0});
    EXPECT_FALSE(any(longer));
  }
}

// Changed messages are either refused or mean something that may be sent: nothing is read beyond their end.
TEST(ForwardWire, ChangedMessagesDoNoHarm) {
  for_seeds(1, [](uint64_t seed) {
    Dice dice(seed);
    for (int round = 0; round < 100'000; ++round) {
      ForwardCallMessage call;
      call.text.assign(dice.below(20), 'x');
      std::vector<std::byte> body;
      switch (dice.below(4)) {
        case 0: body = encode_transfers(1, std::vector(1 + dice.below(4), record_of(Kind::read, 0, 5))); break;
        case 1: body = encode_call(dice.below(9), call); break;
        case 2: body = encode_ends(1, std::vector<int64_t>(1 + dice.below(4))); break;
        default: body = encode_answer(1, {{}, call.text, std::vector<uint32_t>(dice.below(3))}); break;
      }
      for (uint64_t i = dice.below(4); i > 0; --i)
        body[dice.below(body.size())] = static_cast<std::byte>(dice.below(256));
      body.resize(dice.below(body.size() + 8));
      if (const auto records = decode_transfers(body, 0)) {
        ASSERT_LE(records->size(), kMostRecords);
        ASSERT_LE(bytes_of_reads(*records), kMostForwarded);
      }
      if (const auto read = decode_forward_call(body)) {
        ASSERT_LE(read->text.size(), kMostForwardText);
      }
      (void)decode_head(body);
      (void)decode_ends(body);
      (void)decode_forward_answer(body);
      (void)decode_loss(body);
    }
  });
}

}  // namespace
}  // namespace tailrace::impl
