// Ledger: one record more than each of its limits, as the next server reads it.
#include <gtest/gtest.h>

#include <cerrno>

#include "recovery/ledger.hpp"
#include "recovery/ledger_file.hpp"
#include "testing/kept_log.hpp"
#include "testing/scratch.hpp"

namespace tailrace::impl {
namespace {

class LedgerLimits : public ::testing::Test {
 protected:
  LedgerLimits()
      : directory_(
            std::move(PrivateDirectory::open(scratch_.path() + "/node", PrivateDirectory::Missing::create)).value()) {
  }

  Ledger next_server() {
    return std::move(Ledger::open(std::move(LedgerFile::open(directory_, "ledger")).value(), log_)).value();
  }

  static Descriptor write(int64_t iteration, uint64_t sequence) {
    Descriptor descriptor;
    descriptor.verb = Verb::write;
    descriptor.iteration = iteration;
    descriptor.sequence = sequence;
    return descriptor;
  }

  ScratchDirectory scratch_;
  PrivateDirectory directory_;
  KeptLog log_;
};

// It keeps 4096 of them.
TEST_F(LedgerLimits, TheLatestOfTooManyUnpublishedIterationsAreKept) {
  constexpr int64_t kCount = 4097;
  Ledger ledger = next_server();
  for (int64_t i = 0; i < kCount; ++i) {
    const int64_t iteration = kCount - i;  // a program may number them downwards
    ledger.accepted(0, write(iteration, static_cast<uint64_t>(i) + 1));
    ledger.unpublished(0, iteration, Status::of_errno("write", "f", ENOSPC));
  }
  ASSERT_EQ(ledger.records().size(), static_cast<size_t>(kCount - 1));
  EXPECT_EQ(ledger.records().front().iteration, kCount - 1);
  EXPECT_EQ(ledger.records().back().iteration, 1);
  const Ledger next = next_server();
  EXPECT_GE(next.records().size(), ledger.records().size());
  EXPECT_EQ(next.records().back().iteration, 1);
  EXPECT_EQ(Ledger::failure_of(next.records().back()).fault().system_errno, ENOSPC);
}

// The store has up to 1024 struck-out records.
TEST_F(LedgerLimits, WhatIsStruckOutIsGoneBeyondTheLimitAndWhatIsNotStays) {
  {
    Ledger ledger = next_server();
    ledger.accepted(0, write(5000, 1));
    for (int64_t i = 0; i < 3000; ++i) {
      ledger.accepted(0, write(i, static_cast<uint64_t>(i) + 2));
      ledger.left(0, i);
    }
    ledger.accepted(0, write(5001, 4000));
  }
  Ledger ledger = next_server();
  ASSERT_EQ(ledger.records().size(), 2u);
  EXPECT_EQ(ledger.records().front().iteration, 5000);
  EXPECT_EQ(ledger.last_sequence(0), 4000u);
}

}  // namespace
}  // namespace tailrace::impl
