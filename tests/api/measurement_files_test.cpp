// The files that `measurements` asks for, written at close: when they are written, the contents of the report, and a
// close that reports a file that cannot be written.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "private_mount.hpp"
#include "run_rig.hpp"
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
      test::usual_place() + "\nlog: " + test::kNoLog + "\nstorage: {existing: continue, path: [" + first + ", " +
      second +
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
  EXPECT_EQ(json["blocks_cached"], of.blocks_cached);
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

// The close waits once more; nothing else changes.
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
                                                  {"transfer_fallbacks", of.transfer_fallbacks},
                                                  {"accesses", of.accesses},
                                                  {"bytes_overwritten", of.bytes_overwritten},
                                                  {"bytes_from_memory", of.bytes_from_memory},
                                                  {"bytes_sieved", of.bytes_sieved},
                                                  {"iterations_limit", of.iterations_limit},
                                                  {"iterations_peak", of.iterations_peak}};
  for (const auto& [name, count] : counts) EXPECT_EQ(json[name], count) << name;
  EXPECT_EQ(json["seconds_copying"], of.seconds_copying);
  EXPECT_EQ(json["seconds_waiting_memory"], of.seconds_waiting_memory);
  EXPECT_EQ(json["seconds_writing"], of.seconds_writing);
  EXPECT_GE(json["seconds_waiting_ticket"].get<double>(), of.seconds_waiting_ticket);
  EXPECT_EQ(json.size(), counts.size() + 4);
}

void expect_sizes(const Json& json, const tailrace_sizes& of) {
  EXPECT_EQ(json["count"], of.count);
  EXPECT_EQ(json["bytes"], of.bytes);
  EXPECT_EQ(json["most"], of.most);
  uint64_t buckets[48] = {};
  for (const Json& pair : json["histogram"]) {
    const auto least = pair[0].get<uint64_t>();
    ASSERT_EQ(least & (least - 1), 0u) << "a power of two";
    buckets[std::countr_zero(least)] = pair[1];
  }
  EXPECT_TRUE(std::equal(std::begin(buckets), std::end(buckets), std::begin(of.buckets)));
}

TEST_F(MeasurementFiles, SayWhatTheApiSaidOfFiles) {
  Config config = measured();
  OpenRun run(config, directory_, 2);
  ASSERT_TRUE(run.opened()) << run.error().message;
  tailrace_file_stats of{};
  of.struct_size = sizeof of;
  EXPECT_EQ(tailrace_get_file_stats(run, "rows.raw", &of), TAILRACE_NOT_FOUND) << "not yet";
  EXPECT_EQ(tailrace_get_file_stats(run, nullptr, &of), TAILRACE_NOT_FOUND);
  EXPECT_EQ(tailrace_get_file_stats(run, "../rows.raw", &of), TAILRACE_INVALID_ARGUMENT);
  tailrace_file file{};
  ASSERT_EQ(tailrace_file_open(run, "rows.raw", TAILRACE_FILE_WRITE, &file), TAILRACE_OK);
  const std::vector<char> bytes(3000, 'x');
  for (uint64_t i = 0; i < 500; ++i) {
    const tailrace_extent extents[] = {{i * 3000 + 1000, 2000}, {i * 3000, 1000}};
    ASSERT_EQ(tailrace_file_write(file, 2, extents, bytes.data()), TAILRACE_OK);
  }
  std::vector<char> back(5000);
  const tailrace_extent some{1234, 5000};
  ASSERT_EQ(tailrace_file_read(file, 1, &some, back.data()), TAILRACE_OK);
  ASSERT_EQ(tailrace_file_close(file), TAILRACE_OK);
  write_iteration(run, 0);
  ASSERT_EQ(tailrace_flush(run), TAILRACE_OK);
  ASSERT_EQ(tailrace_get_file_stats(run, "./rows.raw", &of), TAILRACE_OK);
  EXPECT_EQ(of.writes, 500u);
  EXPECT_EQ(of.bytes_written, 500u * 3000);
  EXPECT_EQ(of.reads, 1u);
  EXPECT_EQ(of.bytes_read, 5000u);
  EXPECT_EQ(of.handover.count, 500u);
  EXPECT_EQ(of.waiting.count, 2u) << "the read and the close";
  EXPECT_EQ(of.before.buckets[10] + of.before.buckets[9], 1000u) << "of 1000 and of 2000 bytes";
  EXPECT_EQ(of.before.bytes, 500u * 3000 + 5000);
  EXPECT_EQ(of.before.most, 5000u);
  EXPECT_EQ(of.after.bytes + of.bytes_from_memory, of.before.bytes);
  EXPECT_LE(of.after.count, of.before.count);
  tailrace_file_stats iterations{};
  iterations.struct_size = sizeof iterations;
  ASSERT_EQ(tailrace_get_file_stats(run, nullptr, &iterations), TAILRACE_OK);
  EXPECT_GT(iterations.before.bytes, 0u);
  EXPECT_EQ(run.close(), TAILRACE_OK);

  const Json report = test::read_json(directory_.path() / "run_c2.stats.json");
  ASSERT_EQ(report["files"].size(), 2u);
  const Json& json = report["files"][0];
  EXPECT_EQ(json["kind"], "raw");
  EXPECT_EQ(json["path"], "rows.raw");
  EXPECT_EQ(json["writes"], of.writes);
  EXPECT_EQ(json["bytes_written"], of.bytes_written);
  EXPECT_EQ(json["reads"], of.reads);
  EXPECT_EQ(json["bytes_read"], of.bytes_read);
  EXPECT_EQ(json["requests_merged"], of.requests_merged);
  EXPECT_EQ(json["bytes_overwritten"], of.bytes_overwritten);
  EXPECT_EQ(json["bytes_from_memory"], of.bytes_from_memory);
  EXPECT_EQ(json["bytes_sieved"], of.bytes_sieved);
  EXPECT_EQ(json["handover"]["count"], of.handover.count);
  EXPECT_EQ(json["waiting"]["total"], of.waiting.total);
  expect_sizes(json["before"], of.before);
  expect_sizes(json["after"], of.after);
  EXPECT_EQ(report["files"][1]["kind"], "iterations");
  EXPECT_TRUE(report["files"][1]["path"].is_null());
  expect_sizes(report["files"][1]["before"], iterations.before);
  const test::TraceFile trace(directory_.path() / "run_c2.trace.json");
  trace.expect_calls_in_order();
  EXPECT_EQ(trace.calls("handover", "file_write rows.raw").size(), 500u);
  EXPECT_EQ(trace.calls("wait", "file_open rows.raw").size(), 1u);
  const auto reads = trace.calls("wait", "file_read rows.raw");
  ASSERT_EQ(reads.size(), 1u);
  EXPECT_EQ(reads[0].arguments, (Json{{"file", "rows.raw"}, {"bytes", 5000}}));
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
  EXPECT_EQ(tailrace_write(run, "a", 9, values.data()), TAILRACE_OK);  // it is never ended
  EXPECT_EQ(run.close(), TAILRACE_EARLIER_FAILURE);
  const Json report = test::read_json(directory_.path() / "run_c0.stats.json");
  EXPECT_EQ(report["totals"]["blocks_failed"], totals.blocks_failed);
  EXPECT_EQ(report["totals"]["iterations_failed"], totals.iterations_failed);
  EXPECT_EQ(report["totals"]["failures"], totals.failures + 1);  // the iteration that was not ended
  EXPECT_EQ(report["totals"]["failures_unseen"], 1U);
}

// ---- when they cannot be written -----------------------------------------------------------------------------

// Closes a run whose files cannot be written, and expects an error for each file that was requested, with its reason.
void expect_told(OpenRun& run, const test::fs::path& first, int system_errno, uint64_t more) {
  tailrace_client* const client = run.get();
  EXPECT_EQ(run.close(), TAILRACE_EARLIER_FAILURE);
  const Error error = test::last_error(client);
  EXPECT_EQ(error.status, TAILRACE_IO_ERROR) << error.message;
  EXPECT_TRUE(error.earlier);
  EXPECT_EQ(error.system_errno, system_errno) << error.message;
  EXPECT_EQ(test::fs::path(error.file).parent_path(), first.parent_path());
  EXPECT_TRUE(error.file == first || error.file == first.string() + ".tmp") << error.file;
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
  // A few pages that a server used for a moment may still become free; the trace needs more.
  tailrace_file file{};
  ASSERT_EQ(tailrace_file_open(run, "filler", TAILRACE_FILE_READ, &file), TAILRACE_OK) << run.error().message;
  const tailrace_extent first{0, 1};
  char byte = 0;
  for (int i = 0; i < 500; ++i) ASSERT_EQ(tailrace_file_read(file, 1, &first, &byte), TAILRACE_OK);
  ASSERT_EQ(tailrace_file_close(file), TAILRACE_OK);
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

// A temporary file that cannot be renamed must not stay.
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
