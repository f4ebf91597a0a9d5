#include "mpiio/files/process.hpp"

#include <pthread.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <string>

namespace tailrace::mpiio {
namespace {

// Never destroyed: MPI closes files very late.
struct Process {
  Process();

  process::ProcessClient client;
  bool carries = true;
};

Process& instance() {
  static Process* const only = new Process;
  return *only;
}

// Returns what is wrong with the settings; "" if nothing is.
std::string read_settings(const char* text, process::ClientSettings& settings) {
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (process::read_word(word, settings) == true) continue;
    return "found '" + word +
           "', expected config=FILE, place=thread, place=core, budget=BYTES, forward=HOST:PORT, key=FILE or summary";
  }
  if (settings.forward.empty() == settings.key.empty()) return "";
  return settings.key.empty() ? "found forward without key=FILE" : "found key without forward=HOST:PORT";
}

Process::Process() : client({"MPI-IO", "mpiio", [] { instance().client.end(); }}) {
  const char* const text = std::getenv("TAILRACE_MPIIO");
  if (text == nullptr) return;
  process::ClientSettings settings;
  const std::string wrong = read_settings(text, settings);
  carries = wrong.empty() && client.configure(settings);
  if (!carries) std::fprintf(stderr, "tailrace: MPI-IO is not carried: TAILRACE_MPIIO: %s\n", wrong.c_str());
}

void before_fork() { instance().client.before_fork(); }
void after_fork_in_parent() { instance().client.after_fork_in_parent(); }
void after_fork_in_child() { instance().client.after_fork_in_child(); }

}  // namespace

process::ProcessClient& carrier() {
  [[maybe_unused]] static const int forks = pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
  return instance().client;
}

bool carries_anything() { return instance().carries; }

}  // namespace tailrace::mpiio
