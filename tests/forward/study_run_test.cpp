// The forwarding study as a whole: files in stripes, the program's requests, options, and that a run depends on its
// seed alone.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "lab/inside/forward_study/statistics.hpp"
#include "lab/inside/forward_study/study_client.hpp"
#include "lab/inside/forward_study/study_options.hpp"
#include "lab/inside/forward_study/study_run.hpp"

namespace tailrace::impl::study {
namespace {

using namespace std::chrono_literals;

Parameters small_study() {
  Parameters parameters;
  parameters.program.clients = 32;
  parameters.program.requests = 32;
  return parameters;
}

std::vector<Schedule> all_schedules() {
  return {{Kind::none, 0ms}, {Kind::fifo, 0ms}, {Kind::hbrr, 0ms}, {Kind::twins, 8ms}, {Kind::adaptive, 0ms}};
}

TEST(ParallelFileSystemTest, SplitsATransferByItsStripesAndEndsWithTheLastPart) {
  Parameters parameters;
  EventQueue events;
  ParallelFileSystem files(events, parameters, 2, kMiB);
  EXPECT_EQ(files.stripes(0).servers, (std::vector<uint32_t>{0, 1, 2, 3}));
  EXPECT_EQ(files.stripes(1).servers, (std::vector<uint32_t>{1, 2, 3, 0}));
  int ends = 0;
  // From the middle of stripe 0 to the end of stripe 4, so two parts of server 0 are one range of its disk.
  files.transfer(true, 0, {32 * kKiB, 4 * 64 * kKiB + 32 * kKiB}, [&] { ++ends; });
  while (events.run_one()) {
  }
  EXPECT_EQ(ends, 1);
  std::vector<uint64_t> bytes;
  for (const auto& server : files.servers()) {
    EXPECT_EQ(server->disk().counts().requests, 1U);
    bytes.push_back(server->disk().counts().bytes);
  }
  EXPECT_EQ(bytes, (std::vector<uint64_t>{96 * kKiB, 64 * kKiB, 64 * kKiB, 64 * kKiB}));
  EXPECT_EQ(files.servers()[0]->disk().head(), 128 * kKiB);
}

TEST(StudyClientTest, RequestsOfAllClientsCoverTheFilesOnce) {
  for (const Pattern pattern : {Pattern::strided, Pattern::contiguous, Pattern::files}) {
    ProgramParameters program;
    program.pattern = pattern;
    program.clients = 5;
    program.requests = 7;
    std::map<std::pair<uint32_t, uint64_t>, int> seen;
    for (uint32_t client = 0; client < program.clients; ++client) {
      for (uint32_t number = 0; number < program.requests; ++number) {
        const Place place = place_of(program, client, number);
        EXPECT_LT(place.file, files_of(program));
        EXPECT_EQ(place.extent.length, program.bytes);
        EXPECT_EQ(place.extent.offset % program.bytes, 0U);
        EXPECT_LE(place.extent.end(), size_of_file(program));
        ++seen[{place.file, place.extent.offset}];
      }
    }
    EXPECT_EQ(seen.size(), 35U);
  }
}

TEST(StudyRunTest, DependsOnTheSeedAlone) {
  for (const Schedule& schedule : all_schedules()) {
    const Outcome one = run_study(small_study(), schedule, 7);
    const Outcome again = run_study(small_study(), schedule, 7);
    const Outcome other = run_study(small_study(), schedule, 8);
    EXPECT_GT(one.seconds, 0) << name_of(schedule);
    EXPECT_EQ(one.seconds, again.seconds) << name_of(schedule);
    EXPECT_EQ(one.seeks, again.seeks) << name_of(schedule);
    EXPECT_EQ(one.events, again.events) << name_of(schedule);
    EXPECT_NE(one.seconds, other.seconds) << name_of(schedule);
  }
}

// run_study() itself asserts that the disks have moved each byte once.
TEST(StudyRunTest, EndsForEveryPatternAndDirection) {
  for (const Pattern pattern : {Pattern::strided, Pattern::contiguous, Pattern::files}) {
    for (const bool writes : {false, true}) {
      Parameters parameters = small_study();
      parameters.program.pattern = pattern;
      parameters.program.writes = writes;
      parameters.program.under_way = 3;
      for (const Schedule& schedule : all_schedules()) EXPECT_GT(run_study(parameters, schedule, 1).seconds, 0);
    }
  }
}

TEST(StudyRunTest, GoesOnIfMemoryHoldsFewRequests) {
  Parameters parameters = small_study();
  parameters.forwarders.memory = 3 * parameters.program.bytes;
  parameters.program.under_way = 4;
  for (const bool writes : {false, true}) {
    parameters.program.writes = writes;
    EXPECT_GT(run_study(parameters, {Kind::twins, 8ms}, 1).seconds, 0);
  }
}

TEST(StudyRunTest, WindowsSpareSeeks) {
  Parameters parameters = small_study();
  parameters.program.clients = 128;
  const Outcome hbrr = run_study(parameters, {Kind::hbrr, 0ms}, 1);
  const Outcome twins = run_study(parameters, {Kind::twins, 8ms}, 1);
  EXPECT_LT(twins.seeks, hbrr.seeks);
}

TEST(StatisticsTest, KnowsStudentsDistribution) {
  EXPECT_NEAR(student_t(0.5, 1), 1.0, 1e-6);
  EXPECT_NEAR(student_t(0.95, 7), 2.364624, 1e-5);
  EXPECT_NEAR(student_t(0.99, 7), 3.499483, 1e-5);
  EXPECT_NEAR(student_t(0.997, 1'000'000), 2.967738, 1e-4);
}

TEST(StatisticsTest, SummarisesByMeanAndInterval) {
  const double values[] = {1, 2, 3};
  const Summary summary = summary_of(values, 0.95);
  EXPECT_DOUBLE_EQ(summary.mean, 2);
  EXPECT_NEAR(summary.half, 4.302653 / std::sqrt(3.0), 1e-5);
  EXPECT_EQ(summary_of(std::span(values, 1), 0.95).half, 0);
}

TEST(StudyOptionsTest, ReadsWhatItIsGiven) {
  const auto options = read_options({"--clients", "8", "--windows", "2,4.5", "--schedules", "hbrr,twins", "--disk",
                                     "sas10k", "--rate", "100", "--writes", "--stripe", "128"});
  ASSERT_TRUE(options.ok());
  const Parameters& parameters = options.value().parameters;
  EXPECT_EQ(parameters.program.clients, 8U);
  EXPECT_EQ(parameters.disk.name, "sas10k");
  EXPECT_EQ(parameters.disk.rate, 100e6);
  EXPECT_TRUE(parameters.program.writes);
  EXPECT_EQ(parameters.servers.stripe, 128 * kKiB);
  ASSERT_EQ(options.value().schedules.size(), 3U);
  EXPECT_EQ(options.value().schedules[2].window, 4500us);
}

TEST(StudyOptionsTest, NamesWhatIsWrong) {
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{{"--client", "8"},
                                                                                     {"--clients"},
                                                                                     {"--clients", "0"},
                                                                                     {"--clients", "8.5"},
                                                                                     {"--windows", "0"},
                                                                                     {"--schedules", "lifo"},
                                                                                     {"--pattern", "random"},
                                                                                     {"--scale", "10", "20"},
                                                                                     {"--disk", "drum"},
                                                                                     {"--rate", "-1"}}) {
    const auto options = read_options(words);
    ASSERT_FALSE(options.ok()) << words.front();
    EXPECT_NE(options.status().fault().message.find(words.front()), std::string::npos);
  }
}

}  // namespace
}  // namespace tailrace::impl::study
