// LedgerFile: what one server has written is what the next one reads, at whatever moment the first one died.
#include "recovery/ledger_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <vector>

#include "recovery/ledger.hpp"
#include "testing/kept_log.hpp"
#include "testing/scratch.hpp"

namespace tailrace::impl {
namespace {

LedgerRecord line(uint64_t sequence) {
  LedgerRecord record;
  record.client = 3;
  record.descriptor.verb = Verb::write;
  record.descriptor.sequence = sequence;
  return record;
}

class LedgerFileTest : public ::testing::Test {
 protected:
  LedgerFileTest() : directory_(open_directory()) {}

  PrivateDirectory open_directory() {
    auto directory = PrivateDirectory::open(scratch_.path() + "/node", PrivateDirectory::Missing::create);
    EXPECT_TRUE(directory.ok());
    return std::move(directory).value();
  }

  std::unique_ptr<LedgerFile> next_server() {
    auto file = LedgerFile::open(directory_, "ledger");
    EXPECT_TRUE(file.ok());
    return std::move(file).value();
  }

  static std::vector<uint64_t> read(LedgerFile& file) {
    const auto lines = file.read();
    EXPECT_TRUE(lines.ok());
    std::vector<uint64_t> sequences;
    for (const LedgerRecord& record : lines.value()) sequences.push_back(record.descriptor.sequence);
    return sequences;
  }

  ScratchDirectory scratch_;
  PrivateDirectory directory_;
};

TEST_F(LedgerFileTest, TheNextServerReadsWhatThereIs) {
  std::vector<uint64_t> expected;
  for (int server = 0; server < 3; ++server) {
    const auto file = next_server();
    EXPECT_EQ(read(*file), expected);
    for (int i = 0; i < 1500; ++i) {
      expected.push_back(expected.size() + 1);
      ASSERT_TRUE(file->append(line(expected.back())).ok());
    }
  }
  EXPECT_EQ(read(*next_server()), expected);
}

TEST_F(LedgerFileTest, AnotherListTakesThePlaceOfAll) {
  const auto file = next_server();
  for (uint64_t i = 1; i <= 2000; ++i) ASSERT_TRUE(file->append(line(i)).ok());
  const std::vector<LedgerRecord> kept = {line(7), line(1999)};
  ASSERT_TRUE(file->replace(kept).ok());
  ASSERT_TRUE(file->append(line(2001)).ok());
  EXPECT_EQ(read(*next_server()), (std::vector<uint64_t>{7, 1999, 2001}));
  ASSERT_TRUE(file->replace({}).ok());
  EXPECT_EQ(read(*next_server()), std::vector<uint64_t>{});
}

// Every byte of the line is written except its kind.
TEST_F(LedgerFileTest, ALineThatIsNotWholeIsNotThere) {
  {
    const auto file = next_server();
    ASSERT_TRUE(file->append(line(1)).ok());
  }
  const int raw = ::open((directory_.path() + "/ledger").c_str(), O_WRONLY);
  const LedgerRecord torn = line(2);
  constexpr size_t kRest = offsetof(LedgerRecord, client);
  const auto* const bytes = reinterpret_cast<const char*>(&torn) + kRest;
  ASSERT_EQ(pwrite(raw, bytes, sizeof torn - kRest, sizeof torn + kRest), static_cast<ssize_t>(sizeof torn - kRest));
  close(raw);
  const auto file = next_server();
  EXPECT_EQ(read(*file), std::vector<uint64_t>{1});
  ASSERT_TRUE(file->append(line(3)).ok());
  EXPECT_EQ(read(*next_server()), (std::vector<uint64_t>{1, 3}));
}

// No file of this process can grow beyond a limit while this lives.
class LimitOfFiles {
 public:
  explicit LimitOfFiles(rlim_t bytes) {
    std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  }
  ~LimitOfFiles() { EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &before_), 0); }
  LimitOfFiles(const LimitOfFiles&) = delete;
  LimitOfFiles& operator=(const LimitOfFiles&) = delete;

 private:
  rlimit before_{};
};

constexpr rlim_t kRoomAtFirst = 64 << 10;

TEST_F(LedgerFileTest, WithoutRoomThereIsRoomToSaySo) {
  std::vector<uint64_t> expected;
  {
    const LimitOfFiles limit(kRoomAtFirst);
    const auto file = next_server();
    (void)read(*file);
    while (file->append(line(expected.size() + 1)).ok()) expected.push_back(expected.size() + 1);
    EXPECT_EQ(expected.size(), kRoomAtFirst / sizeof(LedgerRecord) - 1);
    const std::vector<LedgerRecord> many(expected.size() + 1, line(7));
    EXPECT_FALSE(file->replace(many).ok());
    EXPECT_EQ(directory_.names().value(), std::vector<std::string>{"ledger"}) << "no memory is held for nothing";
    file->append_last(line(4000));
  }
  expected.push_back(4000);
  const auto file = next_server();
  EXPECT_EQ(read(*file), expected);
  ASSERT_TRUE(file->replace({}).ok());
  EXPECT_EQ(read(*next_server()), std::vector<uint64_t>{});
}

TEST_F(LedgerFileTest, WithoutAnyRoomNoServerBegins) {
  const LimitOfFiles limit(kRoomAtFirst - 1);
  EXPECT_FALSE(next_server()->read().ok());
}

// Promise 5: the next server must not take up a ledger that lacks verbs, or ends of iterations.
TEST_F(LedgerFileTest, ALedgerThatCouldNotBeWrittenSaysSoUntilItCan) {
  KeptLog log;
  const auto next_ledger = [&] { return std::move(Ledger::open(next_server(), log)).value(); };
  Descriptor verb;
  verb.verb = Verb::signal;
  {
    Ledger ledger = next_ledger();
    EXPECT_TRUE(ledger.is_whole().ok());
    const LimitOfFiles limit(kRoomAtFirst);
    for (verb.iteration = 0; verb.iteration < 2; ++verb.iteration) {
      for (int call = 0; call < 400; ++call) {
        ++verb.sequence;
        ledger.accepted(3, verb);
      }
    }
    EXPECT_EQ(next_ledger().is_whole().fault().system_errno, EFBIG);
    ledger.left(3, 0);
    const Ledger next = next_ledger();
    EXPECT_TRUE(next.is_whole().ok()) << "what is left has room";
    EXPECT_EQ(next.records().size(), 400u);
    EXPECT_EQ(next.last_sequence(3), 800u);
  }
}

// Struck-out records do no harm.
TEST_F(LedgerFileTest, ALedgerThatCannotBeShortenedIsStillTrue) {
  KeptLog log;
  Ledger ledger = std::move(Ledger::open(next_server(), log)).value();
  Descriptor verb;
  verb.verb = Verb::signal;
  for (verb.iteration = 0; verb.iteration < 1000; ++verb.iteration) {
    ++verb.sequence;
    ledger.accepted(3, verb);
  }
  int64_t iteration = 1;
  while (iteration < 600) ledger.left(3, iteration++);  // the file has room for all lines now
  {
    const LimitOfFiles limit(kRoomAtFirst - 1);
    while (iteration < 1000) ledger.left(3, iteration++);
  }
  const Ledger next = std::move(Ledger::open(next_server(), log)).value();
  EXPECT_TRUE(next.is_whole().ok()) << next.is_whole().fault().message;
  ASSERT_EQ(next.records().size(), 1u);
  EXPECT_EQ(next.records().front().iteration, 0);
}

TEST_F(LedgerFileTest, NothingIsLeftOfARemovedOne) {
  const auto file = next_server();
  ASSERT_TRUE(file->append(line(1)).ok());
  file->remove();
  EXPECT_EQ(directory_.names().value(), std::vector<std::string>{});
  EXPECT_EQ(read(*next_server()), std::vector<uint64_t>{});
}

}  // namespace
}  // namespace tailrace::impl
