// Files on their way through the writer: what the program sees, which names are given, what is reported.
#include "openfoam/output/writer.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "openfoam/output/direct_store.hpp"
#include "openfoam/output/recording.hpp"
#include "testing/dice.hpp"
#include "testing/scratch.hpp"
#include "testing/seeds.hpp"

namespace tailrace::openfoam {
namespace {

namespace fs = std::filesystem;
using impl::Dice;

// Writes while its gate is open, and fails for names that contain "bad".
class GatedStore : public DirectStore {
 public:
  struct Gate {
    std::mutex mutex;
    std::condition_variable changed;
    bool open = true;

    void set(bool now_open) {
      const std::lock_guard lock(mutex);
      open = now_open;
      changed.notify_all();
    }
  };
  explicit GatedStore(Gate& gate) : gate_(gate) {}

  Reason open(const std::string& path, File& file) override {
    std::unique_lock lock(gate_.mutex);
    gate_.changed.wait(lock, [&] { return gate_.open; });
    Reason why = DirectStore::open(path, file);
    if (path.find("bad") != std::string::npos) bad_.insert(file);
    return why;
  }
  Reason write(File file, uint64_t offset, const std::byte* data, size_t bytes, Ticket& ticket) override {
    if (bad_.contains(file)) return "no room";
    return DirectStore::write(file, offset, data, bytes, ticket);
  }
  Reason close(File file, Ticket& ticket) override {
    bad_.erase(file);
    return DirectStore::close(file, ticket);
  }

 private:
  Gate& gate_;
  std::set<File> bad_;
};

class WriterTest : public ::testing::Test {
 protected:
  ~WriterTest() override {
    gate.set(true);
    writer.finish(true);
  }
  void write(const std::string& path, const std::string& text, bool compressed = false) {
    const auto file = writer.begin({scratch / path, fs::path(path).filename(), compressed});
    Recording recording(*file);
    for (size_t at = 0; at < text.size(); at += kPiece) {
      recording.sputn(text.data() + at, static_cast<std::streamsize>(std::min(kPiece, text.size() - at)));
    }
    recording.end();
    writer.end(file, true);
  }
  std::string text_of(const std::string& path) {
    const auto bytes = impl::bytes_of_file(scratch / path);
    return bytes ? std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size()) : "(none)";
  }
  static constexpr size_t kPiece = 10'000;  // is recorded, and not handed over as it is
  bool exists(const std::string& path) { return fs::exists(scratch / path); }

  const impl::ScratchDirectory scratch;
  GatedStore::Gate gate;
  Writer writer{std::make_unique<GatedStore>(gate), 1 << 20};
};

TEST_F(WriterTest, AFileIsThereWhenTheProgramLooks) {
  write("constant/a", "one");
  writer.settle(scratch / "constant/a", false);
  EXPECT_EQ(text_of("constant/a"), "one");
  write("constant/a", "two");
  writer.settle(scratch.path(), true);
  EXPECT_EQ(text_of("constant/a"), "two");
}

TEST_F(WriterTest, ATimeDirectoryHasItsNameWhenTheNextTimeBegins) {
  writer.stage(scratch / "0.1");
  write("0.1/U", "velocity");
  write("0.1/uniform/time", "time");
  writer.publish_others(scratch / "0.1");
  writer.settle(scratch / "elsewhere", false);
  EXPECT_FALSE(exists("0.1"));
  writer.publish_others(scratch / "0.2");
  writer.settle(scratch / "0.1/U", false);
  EXPECT_EQ(text_of("0.1/U"), "velocity");
  EXPECT_EQ(text_of("0.1/uniform/time"), "time");
  EXPECT_FALSE(exists("0.1.partial"));
}

TEST_F(WriterTest, ATimeDirectoryHasItsNameWhenTheProgramLooksAtAFileInIt) {
  writer.stage(scratch / "0.1");
  write("0.1/U", "velocity");
  writer.settle(scratch / "0.1/p", false);  // nothing of that name was written
  writer.settle(scratch / "0.10", true);
  gate.set(false);
  EXPECT_FALSE(exists("0.1"));
  gate.set(true);
  writer.settle(scratch / "0.1/U", false);
  EXPECT_EQ(text_of("0.1/U"), "velocity");
  write("0.1/p", "pressure");  // now into the directory itself
  writer.settle(scratch / "0.1", true);
  EXPECT_EQ(text_of("0.1/p"), "pressure");
}

TEST_F(WriterTest, ADirectoryInWhichAFileIsBeingWrittenKeepsItsName) {
  writer.stage(scratch / "0.1");
  const auto file = writer.begin({scratch / "0.1/U", "U", false});
  write("0.1/p", "pressure");
  writer.settle(scratch / "0.1/p", false);
  EXPECT_EQ(text_of("0.1.partial/p"), "pressure");
  writer.end(file, true);
  writer.settle(scratch / "0.1", false);
  EXPECT_EQ(text_of("0.1/U"), "");
}

TEST_F(WriterTest, ADirectoryThatTheProgramMakesMeanwhileGetsTheFiles) {
  writer.stage(scratch / "0.1");
  write("0.1/U", "velocity");
  write("0.1/uniform/time", "time");
  fs::create_directories(scratch / "0.1/uniform/own");
  fs::create_directories(scratch / "0.1/more");
  writer.settle(scratch / "0.1", true);
  EXPECT_EQ(text_of("0.1/U"), "velocity");
  EXPECT_EQ(text_of("0.1/uniform/time"), "time");
  EXPECT_TRUE(exists("0.1/uniform/own") && exists("0.1/more"));
  EXPECT_FALSE(exists("0.1.partial"));
  EXPECT_FALSE(writer.take_failure().has_value());
}

TEST_F(WriterTest, AFileThatFailedTakesNoMoreMemory) {
  for (int i = 0; i < 40; ++i) write("bad" + std::to_string(i), std::string(1 << 20, 'x'));
  write("good", "text");
  writer.settle(scratch.path(), true);
  EXPECT_EQ(text_of("good"), "text");
  int failures = 0;
  while (writer.take_failure()) ++failures;
  EXPECT_EQ(failures, 40);
}

TEST_F(WriterTest, LeavingsOfAnEarlierRunAreRemoved) {
  fs::create_directories(scratch / "0.1.partial/uniform");
  writer.stage(scratch / "0.1");
  write("0.1/U", "velocity");
  writer.settle(scratch / "0.1", true);
  EXPECT_TRUE(exists("0.1/U"));
  EXPECT_FALSE(exists("0.1/uniform"));
}

TEST_F(WriterTest, OfTwoNamesTheLatestIsTrue) {
  write("a", "plain");
  write("a", "compressed", true);
  writer.settle(scratch / "a", false);
  EXPECT_FALSE(exists("a"));
  EXPECT_TRUE(exists("a.gz"));
  write("a", "plain again");
  writer.settle(scratch / "a.gz", false);
  EXPECT_EQ(text_of("a"), "plain again");
  EXPECT_FALSE(exists("a.gz"));
}

TEST_F(WriterTest, AFailureIsReportedOnceAndItsDirectoryStaysPartial) {
  writer.stage(scratch / "0.1");
  write("0.1/U", "velocity");
  write("0.1/bad", "pressure");
  writer.settle(scratch / "0.1", true);
  const auto failure = writer.take_failure();
  ASSERT_TRUE(failure.has_value());
  EXPECT_EQ(failure->path, scratch / "0.1/bad");
  EXPECT_EQ(failure->reason, "no room");
  EXPECT_FALSE(writer.take_failure().has_value());
  EXPECT_FALSE(exists("0.1"));
  EXPECT_TRUE(exists("0.1.partial/U"));
  EXPECT_FALSE(exists("0.1.partial/bad"));

  writer.stage(scratch / "0.1");  // again, and well
  write("0.1/U", "velocity");
  writer.settle(scratch / "0.1", true);
  EXPECT_TRUE(exists("0.1/U"));
}

TEST_F(WriterTest, AFileThatIsNotWholeHasNoName) {
  writer.stage(scratch / "0.1");
  writer.end(writer.begin({scratch / "0.1/U", "U", false}), false);
  writer.end(writer.begin({scratch / "constant/a", "a", false}), false);
  writer.settle("/", true);
  EXPECT_FALSE(writer.take_failure().has_value());
  EXPECT_FALSE(exists("0.1"));
  EXPECT_FALSE(exists("constant/a"));
}

TEST_F(WriterTest, AnEndThatDoesNotPublishLeavesThePartialName) {
  writer.stage(scratch / "0.1");
  write("0.1/U", "velocity");
  write("constant/a", "one");
  writer.finish(false);
  EXPECT_EQ(text_of("0.1.partial/U"), "velocity");
  EXPECT_EQ(text_of("constant/a"), "one");
}

TEST_F(WriterTest, TheProgramWaitsForMemory) {
  gate.set(false);
  std::thread program([&] { write("large", std::string(8 << 20, 'x')); });
  gate.set(true);
  program.join();
  writer.settle(scratch / "large", false);
  EXPECT_EQ(text_of("large").size(), size_t{8} << 20);
}

TEST_F(WriterTest, AProcessThatIsKilledNowShowsThatItHasBegunTheTime) {
  gate.set(false);
  write("constant/a", "keeps the writer's thread busy");
  writer.stage(scratch / "0.1");
  EXPECT_TRUE(exists("0.1.partial"));
}

TEST_F(WriterTest, TellsThatItWritesTimesToAFolder) {
  fs::create_directories(scratch / "0.1");
  writer.stage(scratch / "0.1");  // it has its name already
  const int folder = open(scratch.path().c_str(), O_RDONLY | O_DIRECTORY);
  EXPECT_EQ(flock(folder, LOCK_EX | LOCK_NB), -1);
  EXPECT_EQ(errno, EWOULDBLOCK);
  close(folder);
}

TEST_F(WriterTest, KnowsWhetherAnythingIsOnItsWay) {
  EXPECT_FALSE(writer.has_in_flight());
  writer.stage(scratch / "0.1");
  write("0.1/U", "velocity");
  EXPECT_TRUE(writer.has_in_flight());
  writer.settle(scratch.path(), true);
  EXPECT_FALSE(writer.has_in_flight());
}

TEST_F(WriterTest, AFileThatIsWrittenAgainKeepsItsPermissions) {
  fs::create_directories(scratch / "0");
  for (const bool compressed : {false, true}) {
    const std::string name = compressed ? "0/p.gz" : "0/U";
    std::ofstream(scratch / name) << "earlier";
    fs::permissions(scratch / name, fs::perms(0640));
    write(compressed ? "0/p" : "0/U", "later", compressed);
    writer.settle(scratch / name, false);
    EXPECT_EQ(fs::status(scratch / name).permissions(), fs::perms(0640));
  }
  EXPECT_EQ(text_of("0/U"), "later");
}

TEST_F(WriterTest, AFileThatMayNotBeWrittenStays) {
  if (geteuid() == 0) GTEST_SKIP() << "the administrator may write every file";
  fs::create_directories(scratch / "0");
  std::ofstream(scratch / "0/U") << "earlier";
  fs::permissions(scratch / "0/U", fs::perms(0444));
  write("0/U", "later");
  writer.settle(scratch / "0/U", false);
  EXPECT_EQ(text_of("0/U"), "earlier");
  EXPECT_EQ(writer.take_failure().value_or(Writer::Failure{}).reason, "open: Permission denied");
}

TEST(Writer, WritesAtOnceIfAsked) {
  const impl::ScratchDirectory scratch;
  Writer writer(std::make_unique<DirectStore>(), 1 << 20, {}, true);
  writer.stage(scratch / "0.1");
  for (const char* const name : {"U", "p"}) {
    const auto file = writer.begin({scratch / ("0.1/" + std::string(name)), name, false});
    Recording recording(*file);
    recording.sputn("text", 4);
    recording.end();
    writer.end(file, true);
    EXPECT_TRUE(fs::exists(scratch / ("0.1/" + std::string(name))));
    EXPECT_FALSE(writer.has_in_flight());
  }
  writer.finish(true);
}

TEST(Writer, ItsThreadRunsWhereItIsTold) {
  cpu_set_t allowed;
  ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
  int last = CPU_SETSIZE - 1;
  while (!CPU_ISSET(last, &allowed)) --last;
  const impl::ScratchDirectory scratch;
  int found = -1;
  class Looking : public DirectStore {
   public:
    explicit Looking(int& cpu) : cpu_(cpu) {}
    Reason open(const std::string& path, File& file) override {
      cpu_set_t mine;
      sched_getaffinity(0, sizeof mine, &mine);
      for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&mine) == 1; ++cpu) {
        if (CPU_ISSET(cpu, &mine)) cpu_ = cpu;
      }
      return DirectStore::open(path, file);
    }

   private:
    int& cpu_;
  };
  Writer writer(std::make_unique<Looking>(found), 1 << 20, {last});
  writer.end(writer.begin({scratch / "a", "a", false}), true);
  writer.finish(true);
  EXPECT_EQ(found, last);
}

// A program of writes and looks, which must see what it would see if each write were done at once.
TEST(Writer, ShowsAProgramWhatItHasWritten) {
  impl::for_seeds(30, [](uint64_t seed) {
    Dice dice(seed);
    const impl::ScratchDirectory scratch;
    GatedStore::Gate gate;
    Writer writer(std::make_unique<GatedStore>(gate), dice.between(1, 1 << 20));
    std::map<std::string, std::string> expected;
    int time = 1;
    for (int step = 0; step < 60; ++step) {
      const std::string directory = scratch / std::to_string(time);
      const std::string path = directory + "/" + std::string(1, static_cast<char>('a' + dice.below(4)));
      switch (dice.below(6)) {
        case 0:
          ++time;
          writer.publish_others(scratch / std::to_string(time));
          break;
        case 1: {
          writer.settle(path, false);
          const auto bytes = impl::bytes_of_file(path);
          ASSERT_EQ(bytes.has_value(), expected.contains(path)) << path;
          if (!bytes) break;
          const std::string& text = expected[path];
          ASSERT_TRUE(std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size()) == text);
          break;
        }
        default: {
          writer.stage(directory);
          const auto file = writer.begin({path, "object", false});
          Recording recording(*file);
          std::string& text = expected[path];
          text.clear();
          for (uint64_t left = dice.below(dice.chance(10) ? 40'000 : 60); left > 0; --left) {
            const int64_t number = int64_t{step} << left % 40;
            text += std::to_string(number) + ' ';
            recording.number(number);
            recording.put(' ');
          }
          recording.end();
          writer.end(file, true);
        }
      }
    }
    writer.finish(true);
    for (const auto& [path, text] : expected) {
      const auto bytes = impl::bytes_of_file(path);
      ASSERT_TRUE(bytes.has_value()) << path;
      ASSERT_TRUE(std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size()) == text) << path;
    }
    for (const auto& entry : fs::recursive_directory_iterator(scratch.path())) {
      ASSERT_FALSE(entry.path().string().ends_with(".partial")) << entry.path();
    }
  });
}

}  // namespace
}  // namespace tailrace::openfoam
