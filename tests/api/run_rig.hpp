// One run of tailrace in a test: a separate directory, a configuration, a client, and its last error.
//
// It uses the public C header alone, as a user would. A client that a test leaves open is closed with its run.
#pragma once

#include <sched.h>
#include <stdlib.h>
#include <tailrace/tailrace.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace test {

namespace fs = std::filesystem;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

// A directory that is removed with its object, below TMPDIR or `under`.
class Directory {
 public:
  explicit Directory(const fs::path& under = fs::temp_directory_path()) {
    std::string name = under / "tailrace-test-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) abort();
    path_ = name;
  }
  ~Directory() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;

  const fs::path& path() const { return path_; }
  operator const fs::path&() const { return path_; }  // NOLINT: it is meant to be used as a path

  // Returns the names in it, sorted.
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(path_)) names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  fs::path path_;
};

// A tailrace_error that owns its strings.
struct Error {
  tailrace_status status = TAILRACE_OK;
  bool earlier = false;
  int system_errno = 0;
  int64_t iteration = -1;
  uint64_t more = 0;
  std::string operation;
  std::string file;
  std::string variable;
  std::string message;

  bool says(const std::string& words) const { return message.find(words) != std::string::npos; }
};

inline Error last_error(tailrace_client* client) {
  tailrace_error raw{};
  raw.struct_size = sizeof raw;
  if (tailrace_last_error(client, &raw) != TAILRACE_OK) abort();
  return {raw.status,    raw.earlier != 0, raw.system_errno, raw.iteration, raw.more,
          raw.operation, raw.file,         raw.variable,     raw.message};
}

inline tailrace_stats stats_of(tailrace_client* client) {
  tailrace_stats stats{};
  stats.struct_size = sizeof stats;
  if (tailrace_get_stats(client, &stats) != TAILRACE_OK) abort();
  return stats;
}

inline tailrace_variable_stats stats_of(tailrace_client* client, const char* variable) {
  tailrace_variable_stats stats{};
  stats.struct_size = sizeof stats;
  if (tailrace_get_variable_stats(client, variable, &stats) != TAILRACE_OK) abort();
  return stats;
}

// Waits until `failures` requests have failed. Asking for statistics reports none of them, so they stay unseen.
inline void await_failures(tailrace_client* client, uint64_t failures) {
  while (stats_of(client).failures < failures) sched_yield();
}

// Returns TAILRACE_TEST_PLACE, the place in which all tests with this header run, or "".
inline std::string usual_kind() {
  const char* const kind = std::getenv("TAILRACE_TEST_PLACE");
  return kind != nullptr ? kind : "thread";
}
inline std::string usual_place() { return "{kind: " + usual_kind() + ", cpus: none}"; }
inline bool in_place_core() { return usual_kind() == "core"; }

// Logs nothing, and keeps the server's log out of the files that a test looks at.
inline constexpr const char* kNoLog = "{level: \"off\", file: /dev/null}";

// In place `core`: waits until the server has released client `id`, which happens shortly after its close or death;
// the last step is to remove its note from the runtime directory. In place `thread` there is no server process.
inline void await_left(const std::string& name, int id) {
  const char* const root = std::getenv("TAILRACE_RUNTIME_DIR");
  if (!in_place_core() || root == nullptr) return;
  const auto is_there = [&] {
    std::error_code gone;  // the job's directory goes with its server
    for (const auto& job : fs::directory_iterator(root, gone)) {
      if (!job.path().filename().string().starts_with(name + "-")) continue;
      if (fs::exists(job.path() / ("client_" + std::to_string(id) + ".json"), gone)) return true;
    }
    return false;
  };
  while (is_there()) sched_yield();
}

// A configuration of variables of 64 KiB (8192 doubles), a to f by default.
inline std::string usual_merge() {
  const char* const merge = std::getenv("TAILRACE_TEST_MERGE");
  return merge == nullptr ? "{}" : merge;
}

struct Config {
  std::string name = "run";
  std::string place = usual_place();
  std::string budget = "4 MiB";
  std::string when_full = "block";
  bool prefault = true;
  std::string backend = "auto";
  std::string durability = "written";
  std::string existing = "continue";  // tests reopen what they have written
  std::string files;                  // ", files: [...]"
  std::string shape = "[8, 1024]";
  std::string type = "float64";
  std::string log = kNoLog;
  std::string measurements = "{}";
  std::string merge = usual_merge();
  int more_variables = 0;  // named v0, v1, …

  std::string text() const {
    std::string more;
    for (int i = 0; i < more_variables; ++i) more += "  v" + std::to_string(i) + ": {layout: grid}\n";
    return "tailrace: 1\nname: " + name + "\nplace: " + place + "\nmemory: {budget: " + budget +
           ", when_full: " + when_full + (prefault ? "" : ", prefault: false") + "}\nstorage: {backend: " + backend +
           ", durability: " + durability + ", existing: " + existing + files + "}\nmerge: " + merge +
           "\nlog: " + log + "\nmeasurements: " + measurements + "\nlayouts:\n  grid: {type: " + type +
           ", shape: " + shape + "}\nvariables:\n" +
           "  a: {layout: grid}\n  b: {layout: grid}\n  c: {layout: grid}\n  d: {layout: grid}\n" +
           "  e: {layout: grid}\n  f: {layout: grid}\n" + more;
  }
};

inline tailrace_status open_client(const Config& config, const fs::path& path, int client, tailrace_client** out) {
  const std::string text = config.text();
  const std::string directory = path;
  tailrace_open_options options{};
  options.struct_size = sizeof options;
  options.config_text = text.c_str();
  options.path = directory.c_str();
  return tailrace_open_with("test.yaml", client, &options, out);
}

// An open client, closed at the end of its life unless the test has done so.
class OpenRun {
 public:
  OpenRun(const Config& config, const fs::path& path, int client = 0) : name_(config.name), id_(client) {
    if (open_client(config, path, client, &client_) == TAILRACE_OK) return;
    error_ = last_error(nullptr);
    client_ = nullptr;
  }
  ~OpenRun() {
    if (client_ != nullptr) close();
  }
  OpenRun(const OpenRun&) = delete;
  OpenRun& operator=(const OpenRun&) = delete;

  bool opened() const { return client_ != nullptr; }
  tailrace_client* get() const { return client_; }
  operator tailrace_client*() const { return client_; }  // NOLINT: it is meant to be used as a handle
  // Returns why it could not be opened, or the last failure of the client.
  Error error() const { return client_ ? last_error(client_) : error_; }
  tailrace_stats stats() const { return stats_of(client_); }
  // Closes it. The handle remains, for use after its end.
  tailrace_status close() {
    const tailrace_status status = tailrace_close(std::exchange(client_, nullptr));
    await_left(name_, id_);
    return status;
  }

 private:
  const std::string name_;
  const int id_;
  tailrace_client* client_ = nullptr;
  Error error_;
};

// Returns a block of `count` doubles that differs from every other block.
inline std::vector<double> block(int64_t iteration, int variable, size_t count = 8192) {
  std::vector<double> values(count);
  for (size_t i = 0; i < count; ++i) {
    values[i] = static_cast<double>(iteration * 1000003 + variable * 10007) + static_cast<double>(i) / 64;
  }
  return values;
}

}  // namespace test
