// LedgerRecords, compared with a plain list that is searched from one end to the other.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "recovery/ledger_records.hpp"
#include "testing/dice.hpp"
#include "testing/seeds.hpp"

namespace tailrace::impl {
namespace {

using Kind = LedgerRecord::Kind;

LedgerRecord random_record(Dice& dice, uint64_t number) {
  LedgerRecord record;
  record.kind = dice.chance(30) ? Kind::unpublished : Kind::accepted;
  record.client = static_cast<int32_t>(dice.below(4)) - 1;
  record.iteration = static_cast<int64_t>(dice.below(4)) - 3;
  record.descriptor.sequence = number;
  return record;
}

void expect_equal(const LedgerRecords& found, const std::vector<LedgerRecord>& plain) {
  ASSERT_EQ(found.size(), plain.size());
  const auto equal = [](const LedgerRecord& a, const LedgerRecord& b) {
    return std::memcmp(static_cast<const void*>(&a), static_cast<const void*>(&b), sizeof a) == 0;
  };
  ASSERT_TRUE(std::equal(found.begin(), found.end(), plain.begin(), equal));
  for (const Kind kind : {Kind::accepted, Kind::unpublished}) {
    const auto of_kind = [kind](const LedgerRecord& of) { return of.kind == kind; };
    ASSERT_EQ(found.count(kind), static_cast<size_t>(std::count_if(plain.begin(), plain.end(), of_kind)));
  }
}

void erase_some(Dice& dice, LedgerRecords& records, std::vector<LedgerRecord>& plain) {
  const LedgerRecord like = random_record(dice, 0);
  const auto goes = [&like](const LedgerRecord& of) { return of.kind == like.kind; };
  const auto in_iteration = [&](const LedgerRecord& of) { return of.iteration == like.iteration && goes(of); };
  switch (dice.below(4)) {
    case 0:
      records.erase_of(like.iteration, like.client, goes);
      std::erase_if(plain, [&](const LedgerRecord& of) { return of.client == like.client && in_iteration(of); });
      return;
    case 1:
      records.erase_of_all(like.iteration, goes);
      std::erase_if(plain, in_iteration);
      return;
    case 2: ASSERT_EQ(records.erase_if(in_iteration), std::erase_if(plain, in_iteration)); return;
    default: break;
  }
  records.erase_first(goes);
  const auto first = std::find_if(plain.begin(), plain.end(), goes);
  if (first != plain.end()) plain.erase(first);
}

void run(uint64_t seed) {
  Dice dice(seed);
  LedgerRecords records;
  std::vector<LedgerRecord> plain;
  for (uint64_t number = 1; number <= 300; ++number) {
    const LedgerRecord record = random_record(dice, number);
    records.add(record);
    plain.push_back(record);
    if (dice.chance(12)) {
      ASSERT_NO_FATAL_FAILURE(erase_some(dice, records, plain));
    }
    if (dice.chance(1)) records.replace(std::exchange(plain, records.copy()));
    ASSERT_NO_FATAL_FAILURE(expect_equal(records, plain)) << number;
    const auto is_here = [&](const LedgerRecord& of) {
      return of.iteration == record.iteration && of.client == record.client;
    };
    std::vector<uint64_t> seen;
    records.visit_of(record.iteration, record.client,
                     [&](const LedgerRecord& of) { seen.push_back(of.descriptor.sequence); });
    ASSERT_TRUE(std::is_sorted(seen.begin(), seen.end()));
    ASSERT_EQ(seen.size(), static_cast<size_t>(std::count_if(plain.begin(), plain.end(), is_here)));
  }
}

TEST(LedgerRecords, AreThoseOfAPlainList) { for_seeds(10, run); }

}  // namespace
}  // namespace tailrace::impl
