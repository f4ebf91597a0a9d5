#include "testing/simulation/seed_runner.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <sstream>
#include <utility>

#include "base/assert.hpp"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
#endif

namespace tailrace::impl::simulation {
namespace {

constexpr unsigned kSecondsOfASeed = 120;  // on a busy machine; usually a hundredth of a second
constexpr size_t kMostOutput = 1 << 20;

struct Part {
  const char* name;
  bool Without::*flag;
};
constexpr std::array kParts = {Part{"server-deaths", &Without::server_deaths},
                               Part{"deaths", &Without::deaths},
                               Part{"company", &Without::company},
                               Part{"restarts", &Without::restarts},
                               Part{"hard", &Without::hard},
                               Part{"transient", &Without::transient},
                               Part{"delays", &Without::delays},
                               Part{"node-files", &Without::node_files},
                               Part{"raw-files", &Without::raw_files},
                               Part{"strangers", &Without::strangers},
                               Part{"iterations", &Without::iterations},
                               Part{"arrays", &Without::arrays},
                               Part{"filters", &Without::filters}};

// Returns true if memory was lost; only the address sanitizer knows.
bool leaks() {
#if defined(__SANITIZE_ADDRESS__)
  return __lsan_do_recoverable_leak_check() != 0;
#else
  return false;
#endif
}

std::string read_all(int from) {
  std::string text;
  char buffer[4096];
  for (;;) {
    const ssize_t got = ::read(from, buffer, sizeof buffer);
    if (got <= 0) return text;
    if (text.size() < kMostOutput) text.append(buffer, static_cast<size_t>(got));
  }
}

// Returns the checker that found the failure, from the process's output and its end.
std::string checker_of(const std::string& output, int status) {
  const size_t said = output.find("checker ");
  if (said != std::string::npos) {
    const size_t begin = said + 8;
    return output.substr(begin, output.find(':', begin) - begin);
  }
  if (output.find("ERROR: AddressSanitizer") != std::string::npos) return "address sanitizer";
  if (output.find("ERROR: LeakSanitizer") != std::string::npos) return "leak sanitizer";
  if (output.find("runtime error:") != std::string::npos) return "undefined-behaviour sanitizer";
  if (output.find("defect of tailrace") != std::string::npos) return "assert";
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) return "hang";
  return WIFSIGNALED(status) ? fmt::format("crash (signal {})", WTERMSIG(status)) : "crash";
}

}  // namespace

SeedRunner::SeedRunner(Run run) : run_(std::move(run)) {
  std::error_code error;
  // In shared memory if possible: recovery looks at real files.
  const auto shared = std::filesystem::path("/dev/shm");
  const bool in_memory = ::access(shared.c_str(), W_OK) == 0;
  scratch_ = ((in_memory ? shared : std::filesystem::temp_directory_path(error)) / "tailrace_XXXXXX").string();
  TAILRACE_REQUIRE(mkdtemp(scratch_.data()) != nullptr);
  void* const page = mmap(nullptr, sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  TAILRACE_REQUIRE(page != MAP_FAILED);
  current_ = static_cast<volatile uint64_t*>(page);
}

SeedRunner::~SeedRunner() {
  std::error_code ignored;
  std::filesystem::remove_all(scratch_, ignored);
  munmap(const_cast<uint64_t*>(current_), sizeof(uint64_t));
}

std::optional<Finding> SeedRunner::run(uint64_t first, uint64_t count, const RunOptions& options) {
  int ends[2];
  TAILRACE_REQUIRE(pipe(ends) == 0);
  std::fflush(nullptr);
  *current_ = first;
  const pid_t process = fork();
  TAILRACE_REQUIRE(process >= 0);
  if (process == 0) {
    dup2(ends[1], STDOUT_FILENO);
    dup2(ends[1], STDERR_FILENO);
    ::close(ends[0]);
    ::close(ends[1]);
    child(first, count, options);
  }
  ::close(ends[1]);
  Finding finding;
  finding.output = read_all(ends[0]);
  ::close(ends[0]);
  int status = 0;
  TAILRACE_REQUIRE(waitpid(process, &status, 0) == process);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return std::nullopt;
  finding.seed = *current_;
  finding.checker = checker_of(finding.output, status);
  return finding;
}

std::optional<Finding> SeedRunner::run_aloud(uint64_t seed, const RunOptions& options) {
  std::fflush(nullptr);
  const pid_t process = fork();
  TAILRACE_REQUIRE(process >= 0);
  if (process == 0) child(seed, 1, options);
  int status = 0;
  TAILRACE_REQUIRE(waitpid(process, &status, 0) == process);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return std::nullopt;
  return Finding{seed, WIFEXITED(status) ? "a checker" : "a signal", ""};
}

void SeedRunner::child(uint64_t first, uint64_t count, const RunOptions& options) {
  std::error_code error;
  std::filesystem::current_path(scratch_, error);
  for (const auto& old : std::filesystem::directory_iterator(".")) std::filesystem::remove_all(old.path(), error);
  for (uint64_t seed = first; seed < first + count; ++seed) {
    *current_ = seed;
    alarm(kSecondsOfASeed);
    run_(seed, options);
  }
  std::fflush(nullptr);
  _exit(leaks() ? kFoundSomething : 0);
}

RunOptions SeedRunner::shrunk(uint64_t seed, RunOptions options) {
  for (const Part& part : kParts) {
    RunOptions less = options;
    less.without.*part.flag = true;
    if (run(seed, 1, less)) options = less;
  }
  for (const uint64_t operations : {1, 2, 3, 4, 5, 6, 8, 10, 13, 17, 22, 30, 40, 60, 80}) {
    RunOptions less = options;
    less.operations = operations;
    if (operations < options.operations && run(seed, 1, less)) return less;
  }
  return options;
}

std::string as_arguments(const RunOptions& options) {
  std::string words;
  for (const Part& part : kParts) {
    if (options.without.*part.flag) words += (words.empty() ? "" : ",") + std::string(part.name);
  }
  std::string arguments = words.empty() ? "" : " --without " + words;
  if (options.operations != std::numeric_limits<uint64_t>::max()) {
    arguments += fmt::format(" --operations {}", options.operations);
  }
  return arguments;
}

bool leave_out(const std::string& words, Without& without) {
  std::istringstream stream(words);
  for (std::string word; std::getline(stream, word, ',');) {
    bool known = false;
    for (const Part& part : kParts) {
      if (word != part.name) continue;
      without.*part.flag = true;
      known = true;
    }
    if (!known) return false;
  }
  return true;
}

}  // namespace tailrace::impl::simulation
