// `tailrace recover`: completes or removes what a crash has left in shared memory (place core) and in a directory.
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <vector>

#include "base/names/counted.hpp"
#include "base/names/status_text.hpp"
#include "base/os/process.hpp"
#include "command/commands.hpp"
#include "command/inspect/jobs.hpp"
#include "command/openfoam_case.hpp"
#include "command/output/output.hpp"
#include "command/output/progress_line.hpp"
#include "runtime/core/core_server.hpp"
#include "runtime/recover.hpp"

namespace tailrace::impl {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSharedMemory = "shared memory";
constexpr auto kDrainLimit = std::chrono::hours(24 * 365);  // as long as the storage takes

struct RecoverArguments {
  std::string directory;
  bool dry_run = false;
  bool json = false;
};

struct Found {
  std::string file;
  std::string kind;
  bool done = false;
  std::string status = "ok";
  std::string message{};
};

const char* kind_of(tailrace_leftover kind) {
  switch (kind) {
    case TAILRACE_COMPLETE: return "complete";
    case TAILRACE_INCOMPLETE: return "incomplete";
    case TAILRACE_IN_USE: return "in use";
    case TAILRACE_STALE_LOCK: return "stale lock";
  }
  return "unknown";
}

bool is_left_alone(const Found& one) {
  return one.kind == kind_of(TAILRACE_IN_USE) || one.kind == left_in_case::kPart;
}

// Writes what a dead job has left in shared memory. Returns "", or why that failed.
std::string drain(const std::string& job) {
  const Result<std::string> program = core_server_program();
  if (!program.ok()) return program.status().fault().message;
  const FileDescriptor said(memfd_create("tailrace-drain", MFD_CLOEXEC));
  SpawnOptions options{program.value(), {"--job", job, "--drain", "--log", "error"}, {}};
  options.output = fmt::format("/proc/{}/fd/{}", getpid(), said.get());
  const Result<ProcessHandle> child = spawn(options);
  if (!child.ok()) return child.status().fault().message;
  const Result<HowItEnded> ended = reap(child.value(), kDrainLimit);
  std::string text(size_t{1} << 16, '\0');
  const ssize_t bytes = pread(said.get(), text.data(), text.size(), 0);
  text.resize(bytes > 0 ? static_cast<size_t>(bytes) : 0);
  text.erase(text.find_last_not_of(" \n") + 1);
  if (!text.empty()) return text;
  if (!ended.ok()) return ended.status().fault().message;
  const std::string how = ended.value().value_or("");
  return how == "exit status 0" ? "" : how;
}

// Returns what dead jobs have left in shared memory for the directory. A job with a living server or client does not
// count.
Result<std::vector<Found>> in_shared_memory(const RecoverArguments& arguments) {
  const Result<nlohmann::json> jobs = jobs_of(arguments.directory);
  if (!jobs.ok()) return jobs.status();
  std::vector<Found> found;
  ProgressLine progress;
  for (const nlohmann::json& job : jobs.value()) {
    if (job.at("alive").get<bool>()) continue;
    progress.show(fmt::format("recovering jobs: {} done, now {}", found.size(), job.at("job").get<std::string>()));
    uint64_t pending = 0;
    for (const nlohmann::json& client : job.at("clients")) {
      pending += client.value("blocks_pending", uint64_t{0}) + client.value("verbs_waiting", uint64_t{0});
    }
    Found one{job.at("job").get<std::string>(), kSharedMemory};
    const std::string failure = arguments.dry_run ? "" : drain(one.file);
    one.done = !arguments.dry_run && failure.empty();
    one.status = failure.empty() ? "ok" : "failed";
    one.message = !failure.empty() ? failure
                                   : fmt::format("{} of {}, {}", counted(pending, "verb"),
                                                 counted(job.at("clients").size(), "client"),
                                                 counted(job.at("shared_bytes").get<uint64_t>(), "byte"));
    found.push_back(std::move(one));
  }
  return found;
}

// Throws std::filesystem::filesystem_error.
void add_left_in_case(const RecoverArguments& arguments, std::vector<Found>& found) {
  Remove remove;
  if (!arguments.dry_run) remove = [](const fs::path& path, std::error_code& error) { fs::remove_all(path, error); };
  const auto tell = [](const fs::path& part, const std::string& unfinished) {
    complain_of(fmt::format("{}: is removed, as {} has not completed this time", part.string(), unfinished));
  };
  for (const LeftInCase& one : left_in_openfoam_case(arguments.directory, remove, tell)) {
    const bool failed = !one.failure.empty();
    found.push_back({one.path, one.kind, one.done, failed ? "failed" : "ok", failed ? one.failure : one.reason});
  }
}

std::string deed(const Found& one) {
  const bool shared = one.kind == kSharedMemory;
  const char* const verb = one.kind == kind_of(TAILRACE_COMPLETE) ? "published" : "removed";
  if (one.done) return shared ? "written, and freed: " + one.message : verb;
  if (is_left_alone(one)) return one.message.empty() ? "left alone: its client is running" : one.message;
  if (one.status != "ok") return "failed: " + (one.message.empty() ? one.status : one.message);
  return shared ? "to be written, and freed: " + one.message : fmt::format("to be {}", verb);
}

void show_found(const RecoverArguments& arguments, const std::vector<Found>& found) {
  if (arguments.json) {
    OrderedJson json = OrderedJson::array();
    for (const Found& one : found) {
      json.push_back({{"file", one.file},
                      {"kind", one.kind},
                      {"done", one.done},
                      {"status", one.status},
                      {"message", one.message}});
    }
    print_json(json);
  } else if (found.empty()) {
    say(arguments.directory + ": nothing to recover");
  } else {
    std::vector<Row> rows;
    for (const Found& one : found) rows.push_back({one.file, one.kind, deed(one)});
    print_table({"file", "what", "done"}, std::move(rows));
  }
}

int recover_directory(const RecoverArguments& arguments) {
  // In this order: a drained block completes a file.
  Result<std::vector<Found>> found = in_shared_memory(arguments);
  Status status = found.status();
  if (status.ok() && is_openfoam_case(arguments.directory)) {
    try {
      add_left_in_case(arguments, found.value());
    } catch (const fs::filesystem_error& error) {
      status = Status::of_errno("read", error.path1().string(), error.code().value());
    }
  } else if (status.ok()) {
    ProgressLine progress;
    status = recover(arguments.directory, !arguments.dry_run, [&](const Leftover& one) {
      progress.show(fmt::format("recovering files: {} done, last {}", found.value().size() + 1, one.file));
      const bool ok = one.status.ok();
      found.value().push_back({one.file, kind_of(one.kind), one.done, status_text(one.status.code()),
                               ok ? "" : one.status.fault().message});
    });
  }
  if (!status.ok()) {
    complain(status.fault().message);
    return kFailure;
  }
  show_found(arguments, found.value());
  const auto is_open = [](const Found& one) { return !one.done && !is_left_alone(one); };
  return std::any_of(found.value().begin(), found.value().end(), is_open) ? kFailure : kSuccess;
}

}  // namespace

void add_recover(CLI::App& app, int& code) {
  auto arguments = std::make_shared<RecoverArguments>();
  CLI::App* command = app.add_subcommand("recover", "finish or remove the leftovers of a crash");
  command->add_option("DIR", arguments->directory, "the output directory, or an OpenFOAM case")->required();
  command->add_flag("--dry-run", arguments->dry_run, "only list the findings");
  command->add_flag("--json", arguments->json, "print JSON");
  command->callback([arguments, &code] { code = recover_directory(*arguments); });
}

}  // namespace tailrace::impl
