// Raw files through the C API, place `thread`: lists against a plain model, and refused calls.
//
// TAILRACE_SEED=… repeats the random parts.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>

#include "raw_file.hpp"

namespace {

using test::Bytes;
using test::Directory;
using test::Error;
using test::Extents;
using test::FileModel;
using test::OpenRun;

constexpr int kWrite = TAILRACE_FILE_WRITE;
constexpr int kTruncate = TAILRACE_FILE_WRITE | TAILRACE_FILE_TRUNCATE;

// A budget of a few pages, so that lists are cut.
test::Config small_config() {
  test::Config config;
  config.budget = "1 MiB";
  config.shape = "[1, 8]";
  return config;
}

tailrace_file open_file(OpenRun& run, const std::string& path, int mode) {
  tailrace_file file{};
  EXPECT_EQ(tailrace_file_open(run, path.c_str(), mode, &file), TAILRACE_OK) << run.error().message;
  return file;
}

struct Sizes {
  const char* name;
  bool small;
  uint64_t file;
};

class RawFileLists : public testing::TestWithParam<Sizes> {};

TEST_P(RawFileLists, EqualAPlainModel) {
  const uint64_t seed = test::seed_of_test();
  SCOPED_TRACE("repeat with TAILRACE_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  const Directory directory;
  test::Config config = GetParam().small ? small_config() : test::Config();
  config.prefault = test::in_place_core() || random() % 2 == 0;
  OpenRun run(config, directory);
  ASSERT_TRUE(run.opened()) << run.error().message;
  tailrace_file file = open_file(run, "data.raw", kWrite);
  FileModel model;
  std::list<test::Lent> lent;
  const int steps = GetParam().small ? 30 : 120;
  for (int step = 0; step < steps; ++step) {
    const uint64_t what = random() % 16;
    if (what < 10) {
      const uint64_t begin = random() % GetParam().file;
      const uint64_t end = begin + random() % (GetParam().file - begin);
      // In a file that was read they are copied, within a quarter of the budget.
      const bool lends = end - begin < 200'000 && random() % 3 == 0;
      if (lends) {
        ASSERT_NO_FATAL_FAILURE(test::lend_somewhere(file, model, random, begin, end, lent));
      } else {
        ASSERT_NO_FATAL_FAILURE(test::write_somewhere(file, model, random, begin, end));
      }
    } else if (what < 12) {
      ASSERT_NO_FATAL_FAILURE(test::take_back(lent));
    } else if (what < 14) {
      ASSERT_NO_FATAL_FAILURE(test::read_somewhere(file, model, random));
    } else if (what == 14) {
      ASSERT_EQ(tailrace_file_sync(file), TAILRACE_OK) << run.error().message;
      ASSERT_TRUE(test::bytes_of(directory.path() / "data.raw") == model.bytes());
    } else {
      ASSERT_EQ(tailrace_file_close(file), TAILRACE_OK) << run.error().message;
      file = open_file(run, "data.raw", kWrite);
    }
  }
  EXPECT_EQ(tailrace_file_close(file), TAILRACE_OK) << run.error().message;
  while (!lent.empty()) {
    ASSERT_NO_FATAL_FAILURE(test::take_back(lent));
  }
  EXPECT_TRUE(test::bytes_of(directory.path() / "data.raw") == model.bytes());
  EXPECT_LE(run.stats().memory_peak, run.stats().memory_budget);
  // A server reports the end of the close first, and gives its memory back afterwards.
  EXPECT_EQ(tailrace_flush(run), TAILRACE_OK) << run.error().message;
  EXPECT_EQ(run.stats().memory_held, 0u);
  EXPECT_EQ(run.close(), TAILRACE_OK);
}

INSTANTIATE_TEST_SUITE_P(Sizes, RawFileLists,
                         testing::Values(Sizes{"few_bytes", false, 300}, Sizes{"pages", false, 200'000},
                                         Sizes{"more_than_the_budget", true, 4'000'000}),
                         [](const auto& of) { return std::string(of.param.name); });

TEST(RawFiles, AListOfManyExtents) {
  const Directory directory;
  OpenRun run(test::Config(), directory);
  tailrace_file file = open_file(run, "many.raw", kWrite);
  Extents extents;
  FileModel model;
  for (uint64_t i = 0; i < 4'000; ++i) extents.push_back({(i * 1201 % 4'000) * 24, 16});
  std::mt19937_64 random(1);
  const Bytes data = test::some_bytes(random, test::total_of(extents));
  ASSERT_EQ(test::write(file, extents, data), TAILRACE_OK) << run.error().message;
  model.write(extents, data);
  Bytes back(data.size());
  ASSERT_EQ(tailrace_file_read(file, extents.size(), extents.data(), back.data()), TAILRACE_OK);
  EXPECT_TRUE(back == data);
  EXPECT_EQ(tailrace_file_close(file), TAILRACE_OK);
  EXPECT_TRUE(test::bytes_of(directory.path() / "many.raw") == model.bytes());
}

// One extent more than a request takes (kMostFileExtents) is two requests, and is refused where one is promised.
TEST(RawFiles, AListOfMoreExtentsThanARequestTakes) {
  constexpr uint64_t kMost = 1 << 16;
  const Directory directory;
  test::Config config;
  config.budget = "16 MiB";
  OpenRun run(config, directory);
  tailrace_file file = open_file(run, "many.raw", kWrite);
  for (const uint64_t count : {kMost, kMost + 1}) {
    Extents extents;
    for (uint64_t i = 0; i < count; ++i) extents.push_back({3 * i, 2});
    std::mt19937_64 random(count);
    const Bytes data = test::some_bytes(random, test::total_of(extents));
    ASSERT_EQ(test::write(file, extents, data), TAILRACE_OK) << run.error().message;
    Bytes back(data.size());
    ASSERT_EQ(tailrace_file_read(file, extents.size(), extents.data(), back.data()), TAILRACE_OK);
    EXPECT_TRUE(back == data) << count;
    tailrace_ticket ticket{};
    EXPECT_EQ(tailrace_file_iwrite(file, extents.size(), extents.data(), data.data(), &ticket),
              count == kMost ? TAILRACE_OK : TAILRACE_TOO_LARGE);
    if (count == kMost) {
      EXPECT_EQ(tailrace_wait(ticket, -1), TAILRACE_OK);
    }
  }
  EXPECT_EQ(tailrace_file_close(file), TAILRACE_OK);
  EXPECT_EQ(test::fs::file_size(directory.path() / "many.raw"), 3 * kMost + 2);
}

// One piece of memory more than a transfer takes (kMaxSegments): merged writes become two transfers.
TEST(RawFiles, MoreWritesSideBySideThanATransferTakes) {
  constexpr uint64_t kMost = 1024;
  for (const std::string back_end : {"posix", "uring"}) {
    const Directory directory;
    test::Config config;
    config.backend = back_end;
    OpenRun run(config, directory);
    if (!run.opened() && back_end == "uring") continue;  // this kernel has none
    ASSERT_TRUE(run.opened()) << run.error().message;
    tailrace_file file = open_file(run, "side.raw", kWrite);
    std::mt19937_64 random(1);
    const Bytes data = test::some_bytes(random, kMost + 1);
    std::vector<Bytes> pieces;
    for (uint64_t i = 0; i <= kMost; ++i) pieces.push_back({data[i]});
    for (uint64_t i = 0; i <= kMost; ++i) {
      ASSERT_EQ(test::write(file, {{i, 1}}, pieces[i]), TAILRACE_OK) << run.error().message;
    }
    EXPECT_EQ(tailrace_file_close(file), TAILRACE_OK);
    EXPECT_TRUE(test::bytes_of(directory.path() / "side.raw") == data) << back_end;
    EXPECT_EQ(run.close(), TAILRACE_OK);
  }
}

// A program that waits for each large write has its next one sent in parts, while the rest is copied.
TEST(RawFiles, LargeWritesThatTheProgramWaitsFor) {
  const Directory directory;
  test::Config config;
  config.budget = "64 MiB";
  OpenRun run(config, directory);
  tailrace_file file = open_file(run, "large.raw", kWrite);
  std::mt19937_64 random(1);
  FileModel model;
  for (const uint64_t begin : {0u, 1u, 4096u, 5'000'003u}) {
    Extents extents{{begin, 5'000'003}, {begin + 9'000'001, 17}, {begin + 20'000'000, 3'000'000}};
    if (begin % 2 == 0) extents.resize(1);
    const Bytes data = test::some_bytes(random, test::total_of(extents));
    ASSERT_EQ(test::write(file, extents, data), TAILRACE_OK) << run.error().message;
    model.write(extents, data);
    ASSERT_EQ(tailrace_flush(run), TAILRACE_OK) << run.error().message;
  }
  EXPECT_EQ(tailrace_file_close(file), TAILRACE_OK);
  EXPECT_TRUE(test::bytes_of(directory.path() / "large.raw") == model.bytes());
  EXPECT_EQ(run.close(), TAILRACE_OK);
}

// kMostFilePath and kMostSeal.
TEST(RawFiles, APathAndASealThatAreTooLongByOneAreRefused) {
  const Directory directory;
  OpenRun run(test::Config(), directory);
  for (const size_t length : {1023u, 1024u}) {
    std::string path(length, 'x');
    for (size_t at = 100; at < length; at += 101) path[at] = '/';
    tailrace_file file{};
    ASSERT_NE(tailrace_file_open(run, path.c_str(), kWrite, &file), TAILRACE_OK);
    EXPECT_EQ(run.error().message.find("expected at most 1023") != std::string::npos, length == 1024)
        << run.error().message;
  }
  tailrace_file file = open_file(run, "sealed.raw", kWrite | TAILRACE_FILE_SEAL);
  const Bytes seal(17);
  EXPECT_EQ(tailrace_file_seal(file, 0, 17, seal.data()), TAILRACE_INVALID_ARGUMENT);
  EXPECT_EQ(tailrace_file_seal(file, 0, 16, seal.data()), TAILRACE_OK) << run.error().message;
  EXPECT_EQ(tailrace_file_close(file), TAILRACE_OK);
}

TEST(RawFiles, LieWhereTheProgramSaysAndNowhereElse) {
  const Directory directory;
  const Directory elsewhere;
  tailrace_open_options options{};
  options.struct_size = sizeof options;
  const std::string text = test::Config().text();
  const std::string path = directory.path();
  options.config_text = text.c_str();
  options.path = path.c_str();
  options.files = "/";
  tailrace_client* client = nullptr;
  ASSERT_EQ(tailrace_open_with("test.yaml", 0, &options, &client), TAILRACE_OK) << test::last_error(nullptr).message;
  const std::string name = (elsewhere.path() / "a.raw").string();
  tailrace_file file{};
  ASSERT_EQ(tailrace_file_open(client, name.c_str() + 1, kWrite, &file), TAILRACE_OK);
  const tailrace_extent extent{3, 4};
  EXPECT_EQ(tailrace_file_write(file, 1, &extent, "abcd"), TAILRACE_OK);
  EXPECT_EQ(tailrace_file_close(file), TAILRACE_OK);
  EXPECT_EQ(test::bytes_of(name), (Bytes{0, 0, 0, 'a', 'b', 'c', 'd'}));
  const std::string missing = (elsewhere.path() / "none" / "a.raw").string();
  EXPECT_EQ(tailrace_file_open(client, missing.c_str() + 1, kWrite, &file), TAILRACE_NOT_FOUND);
  const std::string message = test::last_error(client).message;
  EXPECT_NE(message.find("'" + (elsewhere.path() / "none").string() + "'"), std::string::npos) << message;
  EXPECT_EQ(tailrace_close(client), TAILRACE_OK);
  test::await_left("run", 0);
  EXPECT_FALSE(test::fs::exists(directory.path() / "a.raw"));
}

TEST(RawFiles, OneIsSharedBetweenHandlesAndKeptAcrossOpenings) {
  const Directory directory;
  OpenRun run(test::Config(), directory);
  tailrace_file one = open_file(run, "a.raw", kWrite);
  tailrace_file other = open_file(run, "./a.raw", TAILRACE_FILE_READ);
  const tailrace_extent extent{3, 4};
  ASSERT_EQ(tailrace_file_write(one, 1, &extent, "abcd"), TAILRACE_OK);
  char back[4] = {};
  ASSERT_EQ(tailrace_file_read(other, 1, &extent, back), TAILRACE_OK) << "reads see the client's own writes";
  EXPECT_EQ(std::string(back, 4), "abcd");
  EXPECT_EQ(tailrace_file_close(one), TAILRACE_OK);
  tailrace_file third{};
  EXPECT_EQ(tailrace_file_open(run, "a.raw", kTruncate, &third), TAILRACE_WRONG_ORDER);
  EXPECT_TRUE(run.error().says("open already")) << run.error().message;
  EXPECT_EQ(third.client, nullptr);
  EXPECT_EQ(tailrace_file_close(other), TAILRACE_OK);
  third = open_file(run, "a.raw", kWrite);
  EXPECT_EQ(tailrace_file_close(third), TAILRACE_OK);
  EXPECT_EQ(test::bytes_of(directory.path() / "a.raw").size(), 7u) << "what is there stays";
  third = open_file(run, "a.raw", kTruncate);
  EXPECT_EQ(tailrace_file_close(third), TAILRACE_OK);
  EXPECT_EQ(test::bytes_of(directory.path() / "a.raw").size(), 0u);
}

TEST(RawFiles, OfManyGigabytesStaySparse) {
  const Directory directory;
  OpenRun run(test::Config(), directory);
  tailrace_file file = open_file(run, "sparse.raw", kWrite);
  const uint64_t far = (uint64_t{5} << 30) + 17;
  const tailrace_extent ends[] = {{far, 3}, {0, 3}};
  ASSERT_EQ(tailrace_file_write(file, 2, ends, "xyzabc"), TAILRACE_OK);
  const tailrace_extent looks[] = {{far, 3}, {uint64_t{3} << 30, 2}, {1, 2}};
  char back[7] = {};
  ASSERT_EQ(tailrace_file_read(file, 3, looks, back), TAILRACE_OK) << run.error().message;
  EXPECT_EQ(std::string(back, 7), std::string("xyz\0\0bc", 7));
  ASSERT_EQ(tailrace_file_close(file), TAILRACE_OK) << run.error().message;
  struct stat info {};
  ASSERT_EQ(stat((directory.path() / "sparse.raw").c_str(), &info), 0);
  EXPECT_EQ(static_cast<uint64_t>(info.st_size), far + 3);
  EXPECT_LT(info.st_blocks * 512, 1 << 20);
}

// File systems differ in the largest size of a file: either it works, or the error names the cause.
TEST(RawFiles, EndAtTwoToTheSixtySecondAtMost) {
  const Directory directory;
  OpenRun run(test::Config(), directory);
  tailrace_file file = open_file(run, "end.raw", kWrite);
  const tailrace_extent beyond{uint64_t{1} << 62, 1};
  EXPECT_EQ(tailrace_file_write(file, 1, &beyond, "x"), TAILRACE_INVALID_ARGUMENT);
  const tailrace_extent last{(uint64_t{1} << 62) - 1, 1};
  ASSERT_EQ(tailrace_file_write(file, 1, &last, "x"), TAILRACE_OK);
  if (tailrace_file_close(file) == TAILRACE_OK) {
    EXPECT_EQ(test::fs::file_size(directory.path() / "end.raw"), uint64_t{1} << 62);
    return;
  }
  const Error error = run.error();
  EXPECT_TRUE(error.earlier);
  EXPECT_EQ(error.operation, "file_write");
  EXPECT_EQ(error.file, (directory.path() / "end.raw").string());
  EXPECT_TRUE(error.system_errno == EFBIG || error.system_errno == EINVAL) << error.message;
  EXPECT_TRUE(error.says(std::to_string(last.offset))) << error.message;
  EXPECT_EQ(run.close(), TAILRACE_OK) << "told once";
}

TEST(RawFiles, BadListsAreRefusedBeforeAnythingIsWritten) {
  const Directory directory;
  OpenRun run(test::Config(), directory);
  tailrace_file file = open_file(run, "bad.raw", kWrite);
  const auto refused = [&](const Extents& extents, const char* says) {
    const Bytes data(100);
    EXPECT_EQ(test::write(file, extents, data), TAILRACE_INVALID_ARGUMENT);
    EXPECT_TRUE(run.error().says(says)) << run.error().message;
    EXPECT_TRUE(run.error().says("bad.raw")) << run.error().message;
    EXPECT_EQ(run.error().operation, "file_write");
    EXPECT_EQ(run.error().file, (directory.path() / "bad.raw").string());
  };
  refused({}, "no extents");
  refused({{0, 10}, {9, 1}}, "overlap");
  refused({{50, 10}, {0, 10}, {55, 1}}, "extents 0 (10 bytes at offset 50) and 2");
  refused({{5, 3}, {5, 3}}, "overlap");
  refused({{0, 1}, {static_cast<uint64_t>(-8), 4}}, "extent 1");
  refused({{16, UINT64_MAX - 15}}, "2^62");
  refused({{(uint64_t{1} << 62) + 1, 0}}, "2^62");
  const Extents huge(5, {0, uint64_t{1} << 62});
  EXPECT_EQ(tailrace_file_read(file, 5, huge.data(), nullptr), TAILRACE_INVALID_ARGUMENT);
  const tailrace_extent one{0, 1};
  EXPECT_EQ(tailrace_file_write(file, 1, &one, nullptr), TAILRACE_INVALID_ARGUMENT);
  EXPECT_TRUE(run.error().says("NULL")) << run.error().message;
  EXPECT_EQ(tailrace_file_read(file, 1, &one, nullptr), TAILRACE_INVALID_ARGUMENT);
  EXPECT_EQ(tailrace_file_write(file, 1, nullptr, "x"), TAILRACE_INVALID_ARGUMENT);
  const tailrace_extent empty[] = {{7, 0}, {3, 0}, {7, 0}};
  EXPECT_EQ(tailrace_file_write(file, 3, empty, nullptr), TAILRACE_OK) << "empty extents are skipped";
  EXPECT_EQ(tailrace_file_close(file), TAILRACE_OK);
  EXPECT_EQ(test::fs::file_size(directory.path() / "bad.raw"), 0u);
  EXPECT_EQ(run.close(), TAILRACE_OK);
}

TEST(RawFiles, ATicketSaysWhenItsBytesAreWritten) {
  const Directory directory;
  OpenRun run(test::Config(), directory);
  tailrace_file file = open_file(run, "ticket.raw", kWrite);
  const tailrace_extent extents[] = {{8, 4}, {0, 4}};
  tailrace_ticket ticket{};
  ASSERT_EQ(tailrace_file_iwrite(file, 2, extents, "abcdefgh", &ticket), TAILRACE_OK);
  EXPECT_EQ(tailrace_wait(ticket, -1), TAILRACE_OK);
  EXPECT_EQ(test::bytes_of(directory.path() / "ticket.raw"),
            (Bytes{'e', 'f', 'g', 'h', 0, 0, 0, 0, 'a', 'b', 'c', 'd'}));
  int ended = 0;
  EXPECT_EQ(tailrace_test(ticket, &ended), TAILRACE_OK);
  EXPECT_EQ(ended, 1);
  // No bytes: there is nothing to wait for.
  const tailrace_extent empty{7, 0};
  ASSERT_EQ(tailrace_file_iwrite(file, 1, &empty, nullptr, &ticket), TAILRACE_OK);
  EXPECT_EQ(tailrace_wait(ticket, -1), TAILRACE_OK);
  EXPECT_EQ(run.close(), TAILRACE_OK);
}

TEST(RawFiles, TheTicketOfAFlushEndsWhenAllBeforeItHas) {
  const Directory directory;
  OpenRun run(test::Config(), directory);
  const std::string names[] = {"one.raw", "other.raw"};
  tailrace_file files[] = {open_file(run, names[0], kWrite), open_file(run, names[1], kWrite)};
  std::vector<tailrace_ticket> tickets;
  Bytes expected;
  for (uint64_t at = 0; at < 100; ++at) {
    const tailrace_extent extent{at, 1};
    const char byte = static_cast<char>('0' + at % 10);
    expected.push_back(byte);
    for (tailrace_file& file : files) {
      ASSERT_EQ(tailrace_file_iwrite(file, 1, &extent, &byte, &tickets.emplace_back()), TAILRACE_OK);
    }
  }
  tailrace_ticket flushed{};
  ASSERT_EQ(tailrace_iflush(run, &flushed), TAILRACE_OK) << run.error().message;
  ASSERT_EQ(tailrace_wait(flushed, -1), TAILRACE_OK) << run.error().message;
  for (const std::string& name : names) EXPECT_EQ(test::bytes_of(directory.path() / name), expected);
  for (const tailrace_ticket& ticket : tickets) {
    int ended = 0;
    EXPECT_EQ(tailrace_test(ticket, &ended), TAILRACE_OK);
    EXPECT_EQ(ended, 1);
  }
  EXPECT_EQ(tailrace_iflush(run, nullptr), TAILRACE_INVALID_ARGUMENT);
  EXPECT_EQ(tailrace_iflush(nullptr, &flushed), TAILRACE_INVALID_ARGUMENT);
  EXPECT_EQ(flushed.client, nullptr);
  EXPECT_EQ(run.close(), TAILRACE_OK);
}

TEST(RawFiles, ATicketOfAWriteThatFailedSaysWhy) {
  const Directory directory;
  OpenRun run(test::Config(), directory);
  tailrace_file file = open_file(run, "end.raw", kWrite);
  const tailrace_extent last{(uint64_t{1} << 62) - 1, 1};
  const tailrace_extent first{0, 4};
  tailrace_ticket bad{};
  tailrace_ticket good{};
  ASSERT_EQ(tailrace_file_iwrite(file, 1, &first, "good", &good), TAILRACE_OK);
  ASSERT_EQ(tailrace_file_iwrite(file, 1, &last, "x", &bad), TAILRACE_OK);
  if (tailrace_wait(bad, -1) == TAILRACE_OK) GTEST_SKIP() << "this file system has files of 2^62 bytes";
  EXPECT_TRUE(run.error().says("end.raw")) << run.error().message;
  EXPECT_EQ(run.error().operation, "file_write");
  EXPECT_EQ(tailrace_wait(good, -1), TAILRACE_OK);
  EXPECT_EQ(tailrace_file_close(file), TAILRACE_OK) << "told once";
  EXPECT_EQ(run.close(), TAILRACE_OK);
}

TEST(RawFiles, LentBytesAreNotCopiedWhereTheServerReachesThem) {
  const Directory directory;
  OpenRun run(test::Config(), directory);
  tailrace_file file = open_file(run, "lent.raw", kWrite);
  const Bytes data(64 << 20, 'x');  // of a budget of 4 MiB
  const tailrace_extent all{3, data.size()};
  tailrace_ticket ticket{};
  if (test::in_place_core()) {
    EXPECT_EQ(tailrace_file_borrow(file, 1, &all, data.data(), &ticket), TAILRACE_TOO_LARGE);
    EXPECT_TRUE(run.error().says("fourth of the budget")) << run.error().message;
  } else {
    ASSERT_EQ(tailrace_file_borrow(file, 1, &all, data.data(), &ticket), TAILRACE_OK) << run.error().message;
    EXPECT_EQ(tailrace_wait(ticket, -1), TAILRACE_OK);
    EXPECT_LT(run.stats().memory_peak, 4096u);
    EXPECT_EQ(test::fs::file_size(directory.path() / "lent.raw"), 3 + data.size());
    const Bytes written = test::bytes_of(directory.path() / "lent.raw");
    EXPECT_TRUE(std::equal(data.begin(), data.end(), written.begin() + 3, written.end()));
  }
  EXPECT_EQ(tailrace_file_borrow(file, 1, &all, data.data(), nullptr), TAILRACE_INVALID_ARGUMENT);
  EXPECT_EQ(tailrace_file_borrow(file, 1, nullptr, data.data(), &ticket), TAILRACE_INVALID_ARGUMENT);
  EXPECT_EQ(tailrace_file_borrow(file, 1, &all, nullptr, &ticket), TAILRACE_INVALID_ARGUMENT);
  EXPECT_EQ(tailrace_file_close(file), TAILRACE_OK);
  EXPECT_EQ(tailrace_file_borrow(file, 1, &all, data.data(), &ticket), TAILRACE_CLOSED);
  EXPECT_EQ(run.close(), TAILRACE_OK);
}

TEST(RawFiles, LentBytesThatCouldNotBeWrittenAreToldByTheTicket) {
  const Directory directory;
  OpenRun run(test::Config(), directory);
  tailrace_file file = open_file(run, "end.raw", kWrite);
  const tailrace_extent last{(uint64_t{1} << 62) - 1, 1};
  tailrace_ticket bad{};
  ASSERT_EQ(tailrace_file_borrow(file, 1, &last, "x", &bad), TAILRACE_OK);
  if (tailrace_wait(bad, -1) == TAILRACE_OK) GTEST_SKIP() << "this file system has files of 2^62 bytes";
  EXPECT_TRUE(run.error().says("end.raw")) << run.error().message;
  EXPECT_EQ(run.error().operation, "file_write");
  EXPECT_EQ(tailrace_file_close(file), TAILRACE_OK) << "told once";
  EXPECT_EQ(run.close(), TAILRACE_OK);
}

TEST(RawFiles, AListWithATicketMustFitIntoAFourthOfTheBudget) {
  const Directory directory;
  OpenRun run(test::Config(), directory);
  tailrace_file file = open_file(run, "large.raw", kWrite);
  const Bytes data(64 << 20);
  const tailrace_extent all{0, data.size()};
  tailrace_ticket ticket{};
  EXPECT_EQ(tailrace_file_iwrite(file, 1, &all, data.data(), &ticket), TAILRACE_TOO_LARGE);
  EXPECT_TRUE(run.error().says("fourth of the budget")) << run.error().message;
  EXPECT_EQ(tailrace_file_iwrite(file, 1, &all, data.data(), nullptr), TAILRACE_INVALID_ARGUMENT);
  EXPECT_EQ(tailrace_file_close(file), TAILRACE_OK);
  EXPECT_EQ(test::fs::file_size(directory.path() / "large.raw"), 0u);
  EXPECT_EQ(run.close(), TAILRACE_OK);
}

TEST(RawFiles, NothingLeavesTheOutputDirectory) {
  const Directory directory;
  const Directory elsewhere;
  const auto& below = directory.path();
  test::fs::create_directory(below / "folder");
  test::fs::create_symlink(elsewhere.path() / "made", below / "dangling");
  test::fs::create_symlink(elsewhere.path(), below / "away");
  test::fs::create_symlink("folder", below / "inside");
  mkfifo((below / "pipe").c_str(), 0600);
  OpenRun run(test::Config(), directory);
  const auto refused = [&](const std::string& path, tailrace_status status, const char* says) {
    for (const int mode : {static_cast<int>(TAILRACE_FILE_READ), kWrite, kTruncate}) {
      tailrace_file file{};
      EXPECT_EQ(tailrace_file_open(run, path.c_str(), mode, &file), status) << path;
      EXPECT_TRUE(run.error().says(says)) << path << ": " << run.error().message;
      EXPECT_EQ(run.error().operation, "file_open");
    }
  };
  refused("", TAILRACE_INVALID_ARGUMENT, "empty path");
  refused((elsewhere.path() / "x").string(), TAILRACE_INVALID_ARGUMENT, "absolute");
  refused("../x", TAILRACE_INVALID_ARGUMENT, "'..'");
  refused("folder/../../x", TAILRACE_INVALID_ARGUMENT, "'..'");
  refused("dangling", TAILRACE_INVALID_ARGUMENT, "symbolic link");
  refused("away/x", TAILRACE_INVALID_ARGUMENT, "symbolic link");
  refused("inside/x", TAILRACE_INVALID_ARGUMENT, "symbolic link");
  refused("folder", TAILRACE_INVALID_ARGUMENT, "no regular file");
  refused("pipe", TAILRACE_INVALID_ARGUMENT, "no regular file");
  refused("folder/", TAILRACE_INVALID_ARGUMENT, "name of a file");
  refused(".", TAILRACE_INVALID_ARGUMENT, "name of a file");
  refused("nowhere/x", TAILRACE_NOT_FOUND, "nowhere");
  refused(std::string(2000, 'x'), TAILRACE_INVALID_ARGUMENT, "2000 bytes");
  EXPECT_EQ(elsewhere.names(), std::vector<std::string>());
  tailrace_file file = open_file(run, "folder//./x", kWrite);
  EXPECT_EQ(tailrace_file_close(file), TAILRACE_OK);
  EXPECT_TRUE(test::fs::exists(below / "folder" / "x"));
}

TEST(RawFiles, ReadingWhatIsNotThereIsAClearError) {
  const Directory directory;
  OpenRun run(test::Config(), directory);
  tailrace_file file{};
  EXPECT_EQ(tailrace_file_open(run, "none.raw", TAILRACE_FILE_READ, &file), TAILRACE_NOT_FOUND);
  EXPECT_FALSE(test::fs::exists(directory.path() / "none.raw"));
  std::ofstream(directory.path() / "ten.raw") << "0123456789";
  file = open_file(run, "ten.raw", TAILRACE_FILE_READ);
  const tailrace_extent all[] = {{8, 2}, {0, 2}};
  char back[4] = {};
  EXPECT_EQ(tailrace_file_read(file, 2, all, back), TAILRACE_OK) << run.error().message;
  EXPECT_EQ(std::string(back, 4), "8901");
  const tailrace_extent beyond{9, 4};
  EXPECT_EQ(tailrace_file_read(file, 1, &beyond, back), TAILRACE_IO_ERROR);
  EXPECT_EQ(run.error().file, (directory.path() / "ten.raw").string());
  EXPECT_TRUE(run.error().says("offset 9")) << run.error().message;
  EXPECT_TRUE(run.error().says("ends before")) << run.error().message;
  EXPECT_FALSE(run.error().earlier);
  EXPECT_EQ(tailrace_file_write(file, 1, all, "xx"), TAILRACE_INVALID_ARGUMENT);
  EXPECT_TRUE(run.error().says("opened for reading")) << run.error().message;
  EXPECT_EQ(tailrace_file_sync(file), TAILRACE_OK);
  EXPECT_EQ(tailrace_file_close(file), TAILRACE_OK);
  EXPECT_EQ(run.close(), TAILRACE_OK);
}

TEST(RawFiles, HandlesAreRecognised) {
  const Directory directory;
  OpenRun run(test::Config(), directory);
  const tailrace_extent extent{0, 1};
  EXPECT_EQ(tailrace_file_write({nullptr, 0}, 1, &extent, "x"), TAILRACE_INVALID_ARGUMENT);
  EXPECT_EQ(tailrace_file_write({run.get(), 7}, 1, &extent, "x"), TAILRACE_INVALID_ARGUMENT);
  EXPECT_EQ(tailrace_file_write({run.get(), uint64_t{1} << 40}, 1, &extent, "x"), TAILRACE_INVALID_ARGUMENT);
  tailrace_file file = open_file(run, "x", kWrite);
  EXPECT_EQ(tailrace_file_open(run, "x", 0, &file), TAILRACE_INVALID_ARGUMENT);
  EXPECT_EQ(tailrace_file_open(run, "x", 5, &file), TAILRACE_INVALID_ARGUMENT);
  EXPECT_EQ(tailrace_file_open(run, "x", kWrite, nullptr), TAILRACE_INVALID_ARGUMENT);
  EXPECT_EQ(tailrace_file_open(run, nullptr, kWrite, &file), TAILRACE_INVALID_ARGUMENT);
  file = {run.get(), 1};
  EXPECT_EQ(tailrace_file_close(file), TAILRACE_OK);
  EXPECT_EQ(tailrace_file_close(file), TAILRACE_CLOSED);
  EXPECT_EQ(tailrace_file_write(file, 1, &extent, "x"), TAILRACE_CLOSED);
  for (int i = 0; i < 64; ++i) file = open_file(run, "x" + std::to_string(i), kWrite);
  EXPECT_EQ(tailrace_file_write(file, 1, &extent, "x"), TAILRACE_OK);
  tailrace_client* const client = run.get();
  EXPECT_EQ(run.close(), TAILRACE_OK) << "it closes them";
  EXPECT_EQ(tailrace_file_write({client, file.id}, 1, &extent, "x"), TAILRACE_CLOSED);
  EXPECT_EQ(test::fs::file_size(directory.path() / "x63"), 1u);
}

std::string text_of(const test::fs::path& path) {
  const Bytes bytes = test::bytes_of(path);
  return std::string(bytes.begin(), bytes.end());
}

std::string read_text(tailrace_file file, uint64_t bytes) {
  std::string text(bytes, '-');
  const tailrace_extent extent{0, bytes};
  EXPECT_EQ(tailrace_file_read(file, 1, &extent, text.data()), TAILRACE_OK);
  return text;
}

// The one that was opened first has its bytes on their way while its name goes to another file.
TEST(RawFiles, AnOpenFileMayLoseItsName) {
  const tailrace_extent extent{0, 4};
  for (const bool renames : {true, false}) {
    const Directory directory;
    OpenRun run(test::Config(), directory);
    tailrace_file old = open_file(run, "x.raw", kWrite);
    ASSERT_EQ(read_text(old, 0), "") << "reads are served from memory from now on, where they can be";
    ASSERT_EQ(tailrace_file_write(old, 1, &extent, "old!"), TAILRACE_OK);
    if (renames) {
      test::fs::rename(directory.path() / "x.raw", directory.path() / "y.raw");
    } else {
      test::fs::remove(directory.path() / "x.raw");
    }
    tailrace_file fresh = open_file(run, "x.raw", kWrite);
    ASSERT_EQ(tailrace_file_write(fresh, 1, &extent, "new!"), TAILRACE_OK);
    EXPECT_EQ(read_text(old, 4), "old!");
    EXPECT_EQ(read_text(fresh, 4), "new!");
    ASSERT_EQ(tailrace_file_remove(run, "x.raw"), TAILRACE_WRONG_ORDER) << "it is open";
    EXPECT_EQ(tailrace_file_close(fresh), TAILRACE_OK);
    EXPECT_EQ(text_of(directory.path() / "x.raw"), "new!");
    ASSERT_EQ(tailrace_file_remove(run, "x.raw"), TAILRACE_OK) << "the file that is open has lost this name";
    EXPECT_EQ(tailrace_file_close(old), TAILRACE_OK);
    if (renames) {
      EXPECT_EQ(text_of(directory.path() / "y.raw"), "old!");
    }
    EXPECT_EQ(run.close(), TAILRACE_OK);
  }
}

TEST(RawFiles, TwoNamesOfAFileAreOneFile) {
  const Directory directory;
  OpenRun run(test::Config(), directory);
  tailrace_file file = open_file(run, "x.raw", kWrite);
  test::fs::create_hard_link(directory.path() / "x.raw", directory.path() / "y.raw");
  tailrace_file same = open_file(run, "y.raw", kWrite);
  ASSERT_EQ(read_text(same, 0), "");
  for (int lap = 0; lap < 50; ++lap) {
    const tailrace_extent extent{0, 4};
    ASSERT_EQ(tailrace_file_write(file, 1, &extent, "1111"), TAILRACE_OK);
    ASSERT_EQ(tailrace_file_write(same, 1, &extent, "2222"), TAILRACE_OK);
    ASSERT_EQ(read_text(file, 4), "2222");
  }
  tailrace_file refused{};
  EXPECT_EQ(tailrace_file_open(run, "y.raw", kTruncate, &refused), TAILRACE_WRONG_ORDER);
  EXPECT_EQ(tailrace_file_close(file), TAILRACE_OK);
  EXPECT_EQ(tailrace_file_close(same), TAILRACE_OK);
  EXPECT_EQ(text_of(directory.path() / "x.raw"), "2222");
  EXPECT_EQ(run.close(), TAILRACE_OK);
}

// Blocks and raw files share the budget and the order of a flush.
TEST(RawFiles, BesideBlocksAndWithAFlush) {
  const Directory directory;
  OpenRun run(test::Config(), directory);
  tailrace_file file = open_file(run, "beside.raw", kWrite);
  for (uint64_t iteration = 0; iteration < 20; ++iteration) {
    const std::vector<double> values = test::block(static_cast<int64_t>(iteration), 0);
    ASSERT_EQ(tailrace_write(run, "a", static_cast<int64_t>(iteration), values.data()), TAILRACE_OK);
    const tailrace_extent extent{iteration * 65536, 65536};
    ASSERT_EQ(tailrace_file_write(file, 1, &extent, values.data()), TAILRACE_OK);
    ASSERT_EQ(tailrace_end_iteration(run, static_cast<int64_t>(iteration)), TAILRACE_OK);
  }
  ASSERT_EQ(tailrace_flush(run), TAILRACE_OK) << run.error().message;
  EXPECT_EQ(test::fs::file_size(directory.path() / "beside.raw"), 20u * 65536);
  EXPECT_EQ(run.close(), TAILRACE_OK);
}

}  // namespace
