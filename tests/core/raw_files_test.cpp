// Raw files through the server of a node: clients that interleave in one file, and deaths (promises 1, 4, 5).
//
// The test compares the final file with a plain model of it, byte by byte. TAILRACE_SEED=… repeats the random parts,
// but not the machine's timing.
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <memory>

#include "core_files.hpp"
#include "raw_file.hpp"
#include "server_loss.hpp"

namespace {

using test::Bytes;
using test::CoreNode;
using test::Directory;
using test::Extents;
using test::FileModel;
using test::kill_server;
using test::OpenRun;
using test::OtherProcess;
using test::stop_server;

constexpr int kWrite = TAILRACE_FILE_WRITE;
const std::string kOk = "0";

tailrace_file open_file(OpenRun& run, const std::string& path, int mode = kWrite) {
  tailrace_file file{};
  EXPECT_EQ(tailrace_file_open(run, path.c_str(), mode, &file), TAILRACE_OK) << run.error().message;
  return file;
}

// Several clients write rows of a matrix in turn, each at a regular stride of columns.
TEST(RawFilesCore, RowsOfOneMatrixByManyClientsEqualAPlainModel) {
  constexpr size_t kClients = 4;
  constexpr uint64_t kRow = 3000;  // bytes
  constexpr uint64_t kPiece = kRow / kClients;
  const uint64_t seed = test::seed_of_test();
  SCOPED_TRACE("repeat with TAILRACE_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  const CoreNode node;
  const Directory directory("/dev/shm");
  std::vector<std::unique_ptr<OpenRun>> runs;
  std::vector<tailrace_file> files;
  for (size_t client = 0; client < kClients; ++client) {
    runs.push_back(std::make_unique<OpenRun>(test::core_config(), directory, static_cast<int>(client)));
    ASSERT_TRUE(runs.back()->opened()) << runs.back()->error().message;
    files.push_back(open_file(*runs.back(), "matrix.raw"));
  }
  FileModel model;
  uint64_t row[kClients] = {};
  for (int turn = 0; turn < 400; ++turn) {
    const size_t client = random() % kClients;
    Extents extents;
    for (uint64_t rows = 1 + random() % 8; rows > 0; --rows) {
      extents.push_back({row[client]++ * kRow + client * kPiece, kPiece});
    }
    if (random() % 2 == 0) std::reverse(extents.begin(), extents.end());
    const Bytes data = test::some_bytes(random, test::total_of(extents));
    ASSERT_EQ(test::write(files[client], extents, data), TAILRACE_OK) << runs[client]->error().message;
    model.write(extents, data);
    if (random() % 16 == 0) {
      // A client sees its own bytes at once.
      Bytes back(data.size());
      ASSERT_EQ(tailrace_file_read(files[client], extents.size(), extents.data(), back.data()), TAILRACE_OK)
          << runs[client]->error().message;
      ASSERT_TRUE(back == data);
    }
  }
  tailrace_file truncated{};
  EXPECT_EQ(tailrace_file_open(*runs[0], "matrix.raw", kWrite | TAILRACE_FILE_TRUNCATE, &truncated),
            TAILRACE_WRONG_ORDER);
  for (size_t client = 0; client < kClients; ++client) {
    EXPECT_EQ(tailrace_file_close(files[client]), TAILRACE_OK) << runs[client]->error().message;
  }
  EXPECT_TRUE(test::bytes_of(directory.path() / "matrix.raw") == model.bytes());
  for (auto& run : runs) EXPECT_EQ(run->close(), TAILRACE_OK);
  node.wait_end_of_servers();
  EXPECT_EQ(node.leavings(), std::vector<std::string>());
}

// A budget of a few pages: lists are cut into many verbs, and the clients wait for memory.
TEST(RawFilesCore, RandomListsOfTwoClientsEqualAPlainModel) {
  const uint64_t seed = test::seed_of_test();
  SCOPED_TRACE("repeat with TAILRACE_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  const CoreNode node;
  const Directory directory("/dev/shm");
  test::Config config = test::core_config();
  config.budget = "1 MiB";
  config.shape = "[1, 8]";
  OpenRun first(config, directory, 0);
  OpenRun second(config, directory, 1);
  ASSERT_TRUE(first.opened() && second.opened());
  const tailrace_file files[] = {open_file(first, "data.raw"), open_file(second, "data.raw")};
  // Each has its own part of the file, so the contents do not depend on which is faster.
  constexpr uint64_t kPart = 2'000'000;
  FileModel models[2];
  for (int step = 0; step < 60; ++step) {
    const size_t client = random() % 2;
    const uint64_t begin = client * kPart;
    if (random() % 4 > 0) {
      ASSERT_NO_FATAL_FAILURE(test::write_somewhere(files[client], models[client], random, begin, begin + kPart));
    } else if (client == 0 && !models[0].bytes().empty()) {
      ASSERT_NO_FATAL_FAILURE(test::read_somewhere(files[0], models[0], random));
    } else {
      ASSERT_EQ(tailrace_file_sync(files[client]), TAILRACE_OK);
    }
  }
  EXPECT_EQ(first.close(), TAILRACE_OK) << "it closes its files";
  EXPECT_EQ(second.close(), TAILRACE_OK);
  Bytes expected = models[1].bytes();
  expected.resize(std::max(expected.size(), models[0].bytes().size()));
  std::copy(models[0].bytes().begin(), models[0].bytes().end(), expected.begin());
  EXPECT_TRUE(test::bytes_of(directory.path() / "data.raw") == expected);
  node.wait_end_of_servers();
  EXPECT_EQ(node.leavings(), std::vector<std::string>());
}

// Both share one opening: a truncate of one affects the other; and neither removes what the other has open.
TEST(RawFilesCore, ClientsHaveOneLength) {
  const CoreNode node;
  const Directory directory("/dev/shm");
  OpenRun first(test::core_config(), directory, 0);
  OpenRun second(test::core_config(), directory, 1);
  ASSERT_TRUE(first.opened() && second.opened());
  const tailrace_file files[] = {open_file(first, "data.raw"), open_file(second, "data.raw")};
  const tailrace_extent extent{0, 10};
  ASSERT_EQ(tailrace_file_write(files[0], 1, &extent, "0123456789"), TAILRACE_OK);
  uint64_t size = 0;
  ASSERT_EQ(tailrace_file_size(files[0], &size), TAILRACE_OK) << first.error().message;
  EXPECT_EQ(size, 10u);
  ASSERT_EQ(tailrace_file_truncate(files[1], 5), TAILRACE_OK) << second.error().message;
  ASSERT_EQ(tailrace_file_size(files[0], &size), TAILRACE_OK);
  EXPECT_EQ(size, 5u);
  char back[10] = {};
  EXPECT_EQ(tailrace_file_read(files[0], 1, &extent, back), TAILRACE_IO_ERROR);
  ASSERT_EQ(tailrace_file_allocate(files[0], 0, 20), TAILRACE_OK) << first.error().message;
  ASSERT_EQ(tailrace_file_size(files[1], &size), TAILRACE_OK);
  EXPECT_EQ(size, 20u);
  EXPECT_EQ(tailrace_file_close(files[0]), TAILRACE_OK);
  EXPECT_EQ(tailrace_file_remove(first, "data.raw"), TAILRACE_WRONG_ORDER);
  EXPECT_EQ(tailrace_file_close(files[1]), TAILRACE_OK);
  EXPECT_EQ(tailrace_file_remove(first, "data.raw"), TAILRACE_OK) << first.error().message;
  EXPECT_FALSE(test::fs::exists(directory.path() / "data.raw"));
  EXPECT_EQ(first.close(), TAILRACE_OK);
  EXPECT_EQ(second.close(), TAILRACE_OK);
  node.wait_end_of_servers();
}

class RawFilesServerLoss : public testing::TestWithParam<const char*> {};

// Writes that overlap keep their order, and none is lost, whenever servers die.
TEST_P(RawFilesServerLoss, LosesNothingInTheMiddleOfLists) {
  const uint64_t seed = test::seed_of_test();
  SCOPED_TRACE("repeat with TAILRACE_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  const CoreNode node;
  const Directory directory("/dev/shm");
  OpenRun run(test::config_with_loss(GetParam()), directory);
  ASSERT_TRUE(run.opened()) << run.error().message;
  std::vector<tailrace_file> files;
  std::vector<FileModel> models(3);
  for (size_t of = 0; of < models.size(); ++of) {
    files.push_back(open_file(run, "data" + std::to_string(of), of == 0 ? kWrite | TAILRACE_FILE_TRUNCATE : kWrite));
  }
  int killed = 0;
  // A client that serves itself writes each list before it goes on.
  const int steps = std::string(GetParam()) == "sync" ? 60 : 300;
  for (int step = 0; step < steps; ++step) {
    const size_t of = random() % models.size();
    const uint64_t what = random() % 64;
    if (what == 0 || step == 20) {
      const uint64_t spins = uint64_t{1} << (random() % 20);
      for (std::atomic<uint64_t> i{0}; i < spins;) ++i;
      killed += node.kill_servers(SIGKILL);
    } else if (what == 1) {
      ASSERT_EQ(tailrace_file_close(files[of]), TAILRACE_OK) << run.error().message;
      ASSERT_TRUE(test::bytes_of(directory.path() / ("data" + std::to_string(of))) == models[of].bytes());
      files[of] = open_file(run, "data" + std::to_string(of));
    } else if (what < 6) {
      ASSERT_NO_FATAL_FAILURE(test::read_somewhere(files[of], models[of], random));
    } else if (what == 6) {
      ASSERT_EQ(tailrace_file_sync(files[of]), TAILRACE_OK) << run.error().message;
    } else {
      ASSERT_NO_FATAL_FAILURE(test::write_somewhere(files[of], models[of], random, 0, 60'000));
    }
  }
  for (const tailrace_file& file : files) EXPECT_EQ(tailrace_file_close(file), TAILRACE_OK) << run.error().message;
  for (size_t of = 0; of < models.size(); ++of) {
    EXPECT_TRUE(test::bytes_of(directory.path() / ("data" + std::to_string(of))) == models[of].bytes()) << of;
  }
  EXPECT_EQ(run.close(), TAILRACE_OK);
  node.wait_end_of_servers();
  EXPECT_EQ(node.leavings(), std::vector<std::string>());
  std::printf("%d servers killed; seed %llu\n", killed, static_cast<unsigned long long>(seed));
}

INSTANTIATE_TEST_SUITE_P(OnServerLoss, RawFilesServerLoss, testing::Values("restart", "sync"),
                         [](const auto& of) { return std::string(of.param); });

// The server is stopped, so it has seen none of this.
TEST(RawFilesCore, WhatAStoppedAndKilledServerHadNotSeenIsWrittenByTheNext) {
  const CoreNode node;
  const Directory directory("/dev/shm");
  OpenRun run(test::config_with_loss("restart"), directory);
  tailrace_file file = open_file(run, "a.raw", kWrite | TAILRACE_FILE_TRUNCATE);
  const tailrace_extent first{0, 4};
  ASSERT_EQ(tailrace_file_write(file, 1, &first, "aaaa"), TAILRACE_OK);
  ASSERT_EQ(tailrace_file_sync(file), TAILRACE_OK);
  stop_server(node);
  const tailrace_extent second[] = {{6, 2}, {2, 2}};
  ASSERT_EQ(tailrace_file_write(file, 2, second, "bbcc"), TAILRACE_OK);
  kill_server(node);
  ASSERT_EQ(tailrace_file_sync(file), TAILRACE_OK) << run.error().message;
  const Bytes found = test::bytes_of(directory.path() / "a.raw");
  EXPECT_EQ(std::string(found.begin(), found.end()), std::string("aacc\0\0bb", 8)) << "it is not emptied again";
  EXPECT_EQ(tailrace_file_close(file), TAILRACE_OK);
  EXPECT_EQ(run.close(), TAILRACE_OK);
}

TEST(RawFilesCore, ClientsShareAFileAndNotAName) {
  const CoreNode node;
  const Directory directory("/dev/shm");
  OpenRun one(test::core_config(), directory, 0);
  OpenRun other(test::core_config(), directory, 1);
  tailrace_file old = open_file(one, "x.raw");
  const tailrace_extent extent{0, 4};
  ASSERT_EQ(tailrace_file_write(old, 1, &extent, "old!"), TAILRACE_OK);
  test::fs::rename(directory.path() / "x.raw", directory.path() / "y.raw");
  tailrace_file fresh = open_file(other, "x.raw");
  ASSERT_EQ(tailrace_file_write(fresh, 1, &extent, "new!"), TAILRACE_OK);
  EXPECT_EQ(tailrace_file_close(old), TAILRACE_OK);
  EXPECT_EQ(tailrace_file_close(fresh), TAILRACE_OK);
  EXPECT_EQ(test::bytes_of(directory.path() / "x.raw"), Bytes({'n', 'e', 'w', '!'}));
  EXPECT_EQ(test::bytes_of(directory.path() / "y.raw"), Bytes({'o', 'l', 'd', '!'}));
  EXPECT_EQ(one.close(), TAILRACE_OK);
  EXPECT_EQ(other.close(), TAILRACE_OK);
}

// The next server can open the file only by its name.
TEST(RawFilesCore, ANameThatLeadsElsewhereAfterADeathIsAFailure) {
  const CoreNode node;
  const Directory directory("/dev/shm");
  OpenRun run(test::config_with_loss("restart"), directory);
  tailrace_file file = open_file(run, "x.raw");
  const tailrace_extent extent{0, 4};
  ASSERT_EQ(tailrace_file_sync(file), TAILRACE_OK);
  stop_server(node);
  ASSERT_EQ(tailrace_file_write(file, 1, &extent, "lost"), TAILRACE_OK);
  test::fs::rename(directory.path() / "x.raw", directory.path() / "y.raw");
  std::ofstream(directory.path() / "x.raw") << "others'";
  kill_server(node);
  EXPECT_EQ(tailrace_file_sync(file), TAILRACE_IO_ERROR);
  EXPECT_NE(run.error().message.find("found another file under the name"), std::string::npos) << run.error().message;
  (void)tailrace_file_close(file);
  (void)run.close();
  EXPECT_EQ(test::fs::file_size(directory.path() / "x.raw"), 7u);
  EXPECT_EQ(test::fs::file_size(directory.path() / "y.raw"), 0u);
}

TEST(RawFilesCore, WhatADeadClientHadHandedOverIsWritten) {
  const CoreNode node;
  const Directory directory("/dev/shm");
  const auto name = directory.path() / "dead.raw";
  setenv("TAILRACE_TEST_PLACE", "core", 1);
  OtherProcess client(TEST_OTHER_PROCESS);
  unsetenv("TAILRACE_TEST_PLACE");
  OpenRun other(test::config_with_loss("restart"), directory, 1);
  tailrace_file file = open_file(other, "dead.raw");
  ASSERT_EQ(client.ask("open " + directory.path().string() + " run 0"), kOk);
  ASSERT_EQ(client.ask("raw_open dead.raw"), kOk);
  stop_server(node);
  ASSERT_EQ(client.ask("raw_write 0 100000 x"), kOk);
  ASSERT_EQ(client.ask("raw_write 200000 7 y"), kOk);
  client.end(SIGKILL);
  const tailrace_extent extent{100'000, 100'000};
  ASSERT_EQ(tailrace_file_write(file, 1, &extent, Bytes(100'000, 'z').data()), TAILRACE_OK);
  for (const pid_t server : node.servers()) kill(server, SIGCONT);
  EXPECT_EQ(tailrace_file_close(file), TAILRACE_OK);
  EXPECT_EQ(other.close(), TAILRACE_OK);
  node.wait_end_of_servers();
  Bytes expected(100'000, 'x');
  expected.insert(expected.end(), 100'000, 'z');
  expected.insert(expected.end(), 7, 'y');
  EXPECT_TRUE(test::bytes_of(name) == expected);
  EXPECT_EQ(node.leavings(), std::vector<std::string>());
}

// No client is left: what was handed over waits in shared memory.
TEST(RawFilesCore, WhatIsLeftWhenAllHaveDiedIsDrained) {
  const CoreNode node;
  const Directory directory("/dev/shm");
  setenv("TAILRACE_TEST_PLACE", "core", 1);
  OtherProcess client(TEST_OTHER_PROCESS);
  unsetenv("TAILRACE_TEST_PLACE");
  ASSERT_EQ(client.ask("open " + directory.path().string() + " run 0"), kOk);
  ASSERT_EQ(client.ask("raw_open left.raw"), kOk);
  ASSERT_EQ(client.ask("raw_write 5 5 x"), kOk);
  ASSERT_EQ(client.ask("raw_sync"), kOk);
  stop_server(node);
  ASSERT_EQ(client.ask("raw_write 0 7 y"), kOk);
  client.end(SIGKILL);
  kill_server(node);
  EXPECT_EQ(node.drain(), std::vector<int>());
  const Bytes found = test::bytes_of(directory.path() / "left.raw");
  EXPECT_EQ(std::string(found.begin(), found.end()), "yyyyyyyxxx");
  EXPECT_EQ(node.leavings(), std::vector<std::string>());
}

TEST(RawFilesCore, AnErrorOfTheStorageIsToldToWhoseBytesTheyWere) {
  const CoreNode node;
  const Directory directory("/dev/shm");
  OpenRun run(test::core_config(), directory, 0);
  OpenRun other(test::core_config(), directory, 1);
  tailrace_file missing{};
  EXPECT_EQ(tailrace_file_open(run, "none", TAILRACE_FILE_READ, &missing), TAILRACE_NOT_FOUND);
  EXPECT_EQ(run.error().file, (directory.path() / "none").string());
  tailrace_file file = open_file(run, "a.raw");
  tailrace_file others = open_file(other, "a.raw");
  const tailrace_extent extent{3, 4};
  char back[4];
  EXPECT_EQ(tailrace_file_read(file, 1, &extent, back), TAILRACE_IO_ERROR);
  EXPECT_TRUE(run.error().says("offset 3")) << run.error().message;
  EXPECT_EQ(tailrace_file_write(others, 1, &extent, "abcd"), TAILRACE_OK);
  EXPECT_EQ(tailrace_file_sync(others), TAILRACE_OK) << other.error().message;
  EXPECT_EQ(tailrace_file_read(file, 1, &extent, back), TAILRACE_OK) << run.error().message;
  EXPECT_EQ(std::string(back, 4), "abcd");
  EXPECT_EQ(run.close(), TAILRACE_OK);
  EXPECT_EQ(other.close(), TAILRACE_OK);
}

}  // namespace
