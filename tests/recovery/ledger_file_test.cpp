// LedgerFile: what one server has written is what the next one reads, at whatever moment the first one died.
#include "recovery/ledger_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <vector>

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

TEST_F(LedgerFileTest, NothingIsLeftOfARemovedOne) {
  const auto file = next_server();
  ASSERT_TRUE(file->append(line(1)).ok());
  file->remove();
  EXPECT_EQ(directory_.names().value(), std::vector<std::string>{});
  EXPECT_EQ(read(*next_server()), std::vector<uint64_t>{});
}

}  // namespace
}  // namespace tailrace::impl
