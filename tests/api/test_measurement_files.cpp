// The files that `measurements` asks for, written at close: when they are, what the report says, and that close tells
// when one cannot be written.
#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "private_mount.hpp"
#include "test_run.hpp"
#include "trace_file.hpp"

namespace {

using test::Config;
using test::Directory;
using test::Error;
using test::Json;
using test::OpenRun;
using Names = std::vector<std::string>;

constexpr std::array kVariables = {"a", "b", "c", "d", "e", "f"};

Config measured(const std::string& measurements = "{report: true, trace: true}") {
  Config config;
  config.measurements = measurements;
  return config;
}

void write_iteration(tailrace_client* client, int64_t iteration) {
  for (const char* variable : kVariables) {
    const std::vector<double> values = test::block(iteration, 0);
    tailrace_write(client, variable, iteration, values.data());
  }
  tailrace_end_iteration(client, iteration);
}

class MeasurementFiles : public ::testing::Test {
 protected:
  Directory directory_;
};

TEST_F(MeasurementFiles, AreWrittenWhenAskedForAndOnlyThen) {
  const auto files_of = [](const std::string& measurements) {
    const Directory directory;
    OpenRun run(measured(measurements), directory);
    EXPECT_TRUE(run.opened()) << run.error().message;
    write_iteration(run, 0);
    EXPECT_EQ(tailrace_flush(run), TAILRACE_OK);
    EXPECT_EQ(directory.names(), (Names{".run_c0.lock", "run_c0_000000.h5"}));  // nothing before close
    EXPECT_EQ(run.close(), TAILRACE_OK);
    return directory.names();
  };
  EXPECT_EQ(files_of("{}"), Names{"run_c0_000000.h5"});
  EXPECT_EQ(files_of("{report: false, trace: false, trace_events: 10}"), Names{"run_c0_000000.h5"});
  EXPECT_EQ(files_of("{report: true}"), (Names{"run_c0.stats.json", "run_c0_000000.h5"}));
  EXPECT_EQ(files_of("{trace: true}"), (Names{"run_c0.trace.json", "run_c0_000000.h5"}));
  EXPECT_EQ(files_of("{report: true, trace: true}"),
            (Names{"run_c0.stats.json", "run_c0.trace.json", "run_c0_000000.h5"}));
}

TEST_F(MeasurementFiles, AreWrittenForARunThatDidNothing) {
  OpenRun run(measured(), directory_);
  ASSERT_TRUE(run.opened()) << run.error().message;
  EXPECT_EQ(run.close(), TAILRACE_OK);
  const Json report = test::read_json(directory_.path() / "run_c0.stats.json");
  EXPECT_EQ(report["totals"]["blocks_accepted"], 0U);
  EXPECT_EQ(report["variables"].size(), 6U);
  EXPECT_EQ(report["variables"][0]["handover"]["histogram"], Json::array());
  const test::TraceFile trace(directory_.path() / "run_c0.trace.json");
  EXPECT_EQ(trace.calls().size(), 1U);  // close
}

TEST_F(MeasurementFiles, ReplaceThoseOfAnEarlierRun) {
  for (const int64_t iterations : {3, 1}) {
    OpenRun run(measured(), directory_);
    ASSERT_TRUE(run.opened()) << run.error().message;
    for (int64_t i = 0; i < iterations; ++i) write_iteration(run, i);
    EXPECT_EQ(run.close(), TAILRACE_OK);
    const Json report = test::read_json(directory_.path() / "run_c0.stats.json");
    EXPECT_EQ(report["totals"]["iterations_ended"], iterations);
  }
}

TEST_F(MeasurementFiles, AreForEachClientItsOwn) {
  {
    OpenRun first(measured(), directory_, 0);
    OpenRun second(measured(), directory_, 12);
    ASSERT_TRUE(first.opened()) << first.error().message;
    ASSERT_TRUE(second.opened()) << second.error().message;
    write_iteration(first, 0);
    for (int64_t i = 0; i < 2; ++i) write_iteration(second, i);
    EXPECT_EQ(second.close(), TAILRACE_OK);
    EXPECT_EQ(first.close(), TAILRACE_OK);
  }
  for (const int client : {0, 12}) {
    const std::string stem = directory_.path() / ("run_c" + std::to_string(client));
    const Json report = test::read_json(stem + ".stats.json");
    EXPECT_EQ(report["client"], client);
    EXPECT_EQ(report["totals"]["blocks_written"], client == 0 ? 6U : 12U);
    const test::TraceFile trace(stem + ".trace.json");
    EXPECT_EQ(trace.json()["otherData"]["client"], client);
    EXPECT_EQ(trace.blocks().size(), test::of_writer(client == 0 ? 6 : 12));
  }
}

TEST_F(MeasurementFiles, LieInTheFirstOfSeveralDirectories) {
  const std::string first = directory_.path() / "first";
  const std::string second = directory_.path() / "second";
  const std::string text =
      "tailrace: 1\nname: run\nmemory: {budget: 1 MiB}\nmeasurements: {report: true, trace: true}\nplace: " +
      test::usual_place() + "\nlog: " + test::kNoLog + "\nstorage: {path: [" + first + ", " + second +
      "]}\nlayouts: {l: {type: int8, shape: [4]}}\n"
      "variables: {v: {layout: l}}\n";
  tailrace_open_options options{};
  options.struct_size = sizeof options;
  options.config_text = text.c_str();
  tailrace_client* client = nullptr;
  ASSERT_EQ(tailrace_open_with("test.yaml", 3, &options, &client), TAILRACE_OK);
  EXPECT_EQ(tailrace_close(client), TAILRACE_OK);
  test::await_left("run", 3);
  EXPECT_TRUE(test::fs::exists(first + "/run_c3.stats.json"));
  EXPECT_TRUE(test::fs::exists(first + "/run_c3.trace.json"));
  EXPECT_TRUE(test::fs::is_empty(second));
}

TEST_F(MeasurementFiles, AreLeftAloneByCheckAndRecover) {
  const Config config = measured();
  {
    OpenRun run(config, directory_);
    ASSERT_TRUE(run.opened()) << run.error().message;
    write_iteration(run, 0);
    EXPECT_EQ(run.close(), TAILRACE_OK);
  }
  const Names before = directory_.names();
  const std::string text = config.text();
  tailrace_open_options options{};
  options.struct_size = sizeof options;
  options.config_text = text.c_str();
  options.path = directory_.path().c_str();
  EXPECT_EQ(tailrace_check("test.yaml", &options), TAILRACE_OK);
  int found = 0;
  const auto count = [](void* context, const char*, tailrace_leftover, int, tailrace_status, const char*) {
    ++*static_cast<int*>(context);
  };
  EXPECT_EQ(tailrace_recover(directory_.path().c_str(), 1, count, &found), TAILRACE_OK);
  EXPECT_EQ(found, 0);
  EXPECT_EQ(directory_.names(), before);
}

// ---- what the report says ------------------------------------------------------------------------------------

void expect_times(const Json& json, const tailrace_times& times) {
  EXPECT_EQ(json["count"], times.count);
  EXPECT_EQ(json["total"], times.total);
  EXPECT_EQ(json["mean"], times.mean);
  EXPECT_EQ(json["p50"], times.p50);
  EXPECT_EQ(json["p90"], times.p90);
  EXPECT_EQ(json["p99"], times.p99);
  EXPECT_EQ(json["most"], times.most);
  uint64_t count = 0;
  double last = -1.0;
  for (const Json& bucket : json["histogram"]) {
    EXPECT_GT(bucket[0].get<double>(), last);
    last = bucket[0];
    EXPECT_GT(bucket[1].get<uint64_t>(), 0U);
    count += bucket[1].get<uint64_t>();
  }
  EXPECT_EQ(count, times.count);
  if (count > 0) {
    EXPECT_GE(last * 1.000001, times.most);
  }
}

void expect_variable(const Json& json, const tailrace_variable_stats& of) {
  EXPECT_EQ(json["blocks_accepted"], of.blocks_accepted);
  EXPECT_EQ(json["blocks_written"], of.blocks_written);
  EXPECT_EQ(json["blocks_failed"], of.blocks_failed);
  EXPECT_EQ(json["blocks_refused"], of.blocks_refused);
  EXPECT_EQ(json["blocks_written_through"], of.blocks_written_through);
  EXPECT_EQ(json["blocks_merged"], of.blocks_merged);
  EXPECT_EQ(json["bytes_accepted"], of.bytes_accepted);
  EXPECT_EQ(json["bytes_written"], of.bytes_written);
  expect_times(json["handover"], of.handover);
  expect_times(json["waiting"], of.waiting);
  expect_times(json["queued"], of.queued);
  expect_times(json["writing"], of.writing);
  EXPECT_EQ(json["chunks_filtered"], of.chunks_filtered);
  EXPECT_EQ(json["chunks_relaxed"], of.chunks_relaxed);
  EXPECT_EQ(json["chunks_skipped"], of.chunks_skipped);
  EXPECT_EQ(json["bytes_filtered"], of.bytes_filtered);
  EXPECT_EQ(json["bytes_stored"], of.bytes_stored);
  expect_times(json["filtering"], of.filtering);
}

// Closing waits once more; of all else nothing changes.
void expect_totals(const Json& json, const tailrace_stats& of) {
  const std::map<std::string, uint64_t> counts = {{"blocks_accepted", of.blocks_accepted},
                                                  {"blocks_written", of.blocks_written},
                                                  {"blocks_failed", of.blocks_failed},
                                                  {"blocks_dropped", of.blocks_dropped},
                                                  {"blocks_written_through", of.blocks_written_through},
                                                  {"bytes_accepted", of.bytes_accepted},
                                                  {"bytes_written", of.bytes_written},
                                                  {"iterations_ended", of.iterations_ended},
                                                  {"iterations_published", of.iterations_published},
                                                  {"iterations_dropped", of.iterations_dropped},
                                                  {"iterations_failed", of.iterations_failed},
                                                  {"signals", of.signals},
                                                  {"failures", of.failures},
                                                  {"failures_unseen", of.failures_unseen},
                                                  {"memory_budget", of.memory_budget},
                                                  {"memory_peak", of.memory_peak},
                                                  {"requests_merged", of.requests_merged},
                                                  {"requests_peak", of.requests_peak},
                                                  {"transfers", of.transfers},
                                                  {"transfers_direct", of.transfers_direct},
                                                  {"transfers_again", of.transfers_again},
                                                  {"transfer_fallbacks", of.transfer_fallbacks}};
  for (const auto& [name, count] : counts) EXPECT_EQ(json[name], count) << name;
  EXPECT_EQ(json["seconds_copying"], of.seconds_copying);
  EXPECT_EQ(json["seconds_waiting_memory"], of.seconds_waiting_memory);
  EXPECT_EQ(json["seconds_writing"], of.seconds_writing);
  EXPECT_GE(json["seconds_waiting_ticket"].get<double>(), of.seconds_waiting_ticket);
  EXPECT_EQ(json.size(), counts.size() + 4);
}

TEST_F(MeasurementFiles, SayWhatTheApiSaid) {
  Config config = measured();
  config.budget = "1 MiB";
  OpenRun run(config, directory_, 4);
  ASSERT_TRUE(run.opened()) << run.error().message;
  for (int64_t i = 0; i < 20; ++i) write_iteration(run, i);
  ASSERT_EQ(tailrace_signal(run, "storm", 20), TAILRACE_OK);
  std::vector<double> found(8192);
  ASSERT_EQ(tailrace_read(run, "b", 2, found.data()), TAILRACE_OK);
  ASSERT_EQ(tailrace_flush(run), TAILRACE_OK);
  const tailrace_stats totals = run.stats();
  std::array<tailrace_variable_stats, 6> stats;
  for (size_t i = 0; i < stats.size(); ++i) stats[i] = test::stats_of(run, kVariables[i]);
  const char* description = nullptr;
  ASSERT_EQ(tailrace_describe(run, &description), TAILRACE_OK);
  const std::string described = description;
  EXPECT_EQ(run.close(), TAILRACE_OK);

  const Json report = test::read_json(directory_.path() / "run_c4.stats.json");
  EXPECT_EQ(report["tailrace_stats"], 1);
  EXPECT_EQ(report["tailrace"], TAILRACE_VERSION_STRING);
  EXPECT_EQ(report["name"], "run");
  EXPECT_EQ(report["client"], 4);
  EXPECT_EQ(report["description"], described);
  expect_totals(report["totals"], totals);
  ASSERT_EQ(report["variables"].size(), stats.size());
  for (size_t i = 0; i < stats.size(); ++i) {
    SCOPED_TRACE(kVariables[i]);
    EXPECT_EQ(report["variables"][i]["name"], kVariables[i]);
    expect_variable(report["variables"][i], stats[i]);
  }
  const test::TraceFile trace(directory_.path() / "run_c4.trace.json");
  EXPECT_EQ(trace.blocks().size(), test::of_writer(totals.blocks_written));
  EXPECT_EQ(trace.publications().size(), test::of_writer(totals.iterations_published));
}

TEST_F(MeasurementFiles, CountWhatFailed) {
  const auto disk = test::PrivateMount::small_disk(directory_.path(), "1m");
  if (!disk.ok()) GTEST_SKIP() << "mounting a small tmpfs: " << std::strerror(errno);
  OpenRun run(measured("{report: true}"), directory_);
  ASSERT_TRUE(run.opened()) << run.error().message;
  for (int64_t i = 0; i < 4; ++i) {
    write_iteration(run, i);
    while (tailrace_flush(run) == TAILRACE_EARLIER_FAILURE) {
    }
  }
  const tailrace_stats totals = run.stats();
  ASSERT_GT(totals.blocks_failed, 0U);
  ASSERT_TRUE(test::fs::remove(directory_.path() / "run_c0_000000.h5"));  // room for the report
  const std::vector<double> values = test::block(9, 0);
  EXPECT_EQ(tailrace_write(run, "a", 9, values.data()), TAILRACE_OK);  // and never ended
  EXPECT_EQ(run.close(), TAILRACE_EARLIER_FAILURE);
  const Json report = test::read_json(directory_.path() / "run_c0.stats.json");
  EXPECT_EQ(report["totals"]["blocks_failed"], totals.blocks_failed);
  EXPECT_EQ(report["totals"]["iterations_failed"], totals.iterations_failed);
  EXPECT_EQ(report["totals"]["failures"], totals.failures + 1);  // the iteration that was not ended
  EXPECT_EQ(report["totals"]["failures_unseen"], 1U);
}

// ---- when they cannot be written -----------------------------------------------------------------------------

// Closes a run whose files cannot be written, and expects to be told which and why; two of them if both were asked
// for.
void expect_told(OpenRun& run, const test::fs::path& first, int system_errno, uint64_t more) {
  tailrace_client* const client = run.get();
  EXPECT_EQ(run.close(), TAILRACE_EARLIER_FAILURE);
  const Error error = test::last_error(client);
  EXPECT_EQ(error.status, TAILRACE_IO_ERROR) << error.message;
  EXPECT_TRUE(error.earlier);
  EXPECT_EQ(error.system_errno, system_errno) << error.message;
  EXPECT_EQ(test::fs::path(error.file).parent_path(), first.parent_path());
  EXPECT_EQ(error.file, first);
  EXPECT_FALSE(error.operation.empty());
  EXPECT_TRUE(error.says(first)) << error.message;
  EXPECT_EQ(error.more, more);
  EXPECT_EQ(tailrace_flush(client), TAILRACE_CLOSED);
}

TEST_F(MeasurementFiles, VanishedDirectoryIsTold) {
  const test::fs::path path = directory_.path() / "out";
  for (const auto& [measurements, name, more] : {std::tuple{"{report: true}", "run_c0.stats.json", 0U},
                                                 {"{trace: true}", "run_c0.trace.json", 0U},
                                                 {"{report: true, trace: true}", "run_c0.stats.json", 1U}}) {
    OpenRun run(measured(measurements), path);
    ASSERT_TRUE(run.opened()) << run.error().message;
    write_iteration(run, 0);
    ASSERT_EQ(tailrace_flush(run), TAILRACE_OK);
    test::fs::remove_all(path);
    expect_told(run, path / name, ENOENT, more);
  }
}

TEST_F(MeasurementFiles, ReadOnlyDirectoryIsTold) {
  auto disk = test::PrivateMount::small_disk(directory_.path(), "8m");
  if (!disk.ok()) GTEST_SKIP() << "mounting a small tmpfs: " << std::strerror(errno);
  OpenRun run(measured(), directory_);
  ASSERT_TRUE(run.opened()) << run.error().message;
  ASSERT_TRUE(disk.turn_read_only()) << std::strerror(errno);
  expect_told(run, directory_.path() / "run_c0.stats.json", EROFS, 1);
}

TEST_F(MeasurementFiles, FullDiskIsToldAndNoPieceIsLeft) {
  const auto disk = test::PrivateMount::small_disk(directory_.path(), "512k");
  if (!disk.ok()) GTEST_SKIP() << "mounting a small tmpfs: " << std::strerror(errno);
  OpenRun run(measured("{trace: true}"), directory_);
  ASSERT_TRUE(run.opened()) << run.error().message;
  {
    std::ofstream filler(directory_.path() / "filler", std::ios::binary);
    const std::vector<char> page(4096);
    while (filler.write(page.data(), static_cast<std::streamsize>(page.size())).flush()) {
    }
  }
  expect_told(run, directory_.path() / "run_c0.trace.json", ENOSPC, 0);
  EXPECT_EQ(directory_.names(), Names{"filler"});
}

TEST_F(MeasurementFiles, DirectoryInPlaceOfTheFileIsTold) {
  test::fs::create_directory(directory_.path() / "run_c0.stats.json");
  OpenRun run(measured("{report: true}"), directory_);
  ASSERT_TRUE(run.opened()) << run.error().message;
  tailrace_client* const client = run.get();
  EXPECT_EQ(run.close(), TAILRACE_EARLIER_FAILURE);
  const Error error = test::last_error(client);
  EXPECT_EQ(error.system_errno, EISDIR) << error.message;
  EXPECT_EQ(test::fs::path(error.file).parent_path(), directory_.path());
  EXPECT_TRUE(error.says("run_c0.stats.json")) << error.message;
}

// A piece that nobody will ever rename would stay for good.
TEST_F(MeasurementFiles, NoPieceIsLeftWhereTheFileCannotBeReplaced) {
  test::fs::create_directory(directory_.path() / "run_c0.stats.json");
  OpenRun run(measured("{report: true}"), directory_);
  ASSERT_TRUE(run.opened()) << run.error().message;
  EXPECT_EQ(run.close(), TAILRACE_EARLIER_FAILURE);
  EXPECT_EQ(directory_.names(), Names{"run_c0.stats.json"});
}

TEST_F(MeasurementFiles, EarlierFailuresAreToldFirst) {
  const test::fs::path path = directory_.path() / "out";
  OpenRun run(measured("{report: true}"), path);
  ASSERT_TRUE(run.opened()) << run.error().message;
  test::fs::remove_all(path);
  const std::vector<double> values = test::block(0, 0);
  ASSERT_EQ(tailrace_write(run, "d", 0, values.data()), TAILRACE_OK);
  tailrace_client* const client = run.get();
  EXPECT_EQ(run.close(), TAILRACE_EARLIER_FAILURE);
  const Error error = test::last_error(client);
  EXPECT_EQ(error.variable, "d") << error.message;
  EXPECT_GE(error.more, 1U);  // the report, and that iteration 0 was not ended
}

}  // namespace
