#include "mpiio/files/tunings.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>

#include "mpiio/process/process.hpp"

namespace tailrace::mpiio {
namespace {

using State = collective::Tuning::State;

// The number changes when the ways of Tuning do: what was tried before means nothing then.
constexpr const char* kFirstLine = "tailrace mpiio profile 1";

std::optional<State> read_state(const std::string& text) {
  std::istringstream in(text);
  State state;
  size_t way = 0;
  uint32_t tries = 0;
  double seconds = 0;
  while (in >> way >> tries >> seconds) {
    if (way >= state.tries.size() || !(seconds >= 0)) return std::nullopt;
    state.tries[way] = tries;
    state.seconds[way] = seconds;
  }
  return in.eof() ? std::optional(state) : std::nullopt;
}

void complain(const std::string& path, const std::string& what) {
  std::fprintf(stderr, "tailrace: %s: %s\n", path.c_str(), what.c_str());
}

}  // namespace

// Never destroyed: MPI closes files very late.
Tunings& Tunings::instance() {
  static Tunings* const only = new Tunings;
  return *only;
}

State Tunings::find(const std::string& pattern) {
  const std::lock_guard lock(mutex_);
  if (!std::exchange(is_read_, true)) read();
  const auto found = known_.find(pattern);
  return found != known_.end() ? found->second.state : State();
}

void Tunings::keep(const std::string& pattern, const collective::Tuning& tuning) {
  const std::lock_guard lock(mutex_);
  known_[pattern] = {tuning.state(), tuning.text()};
  if (tuning.state().begun_writes == 0) write();
}

void Tunings::read() {
  const std::string path = profile();
  std::ifstream in(path);
  std::string line;
  if (!std::getline(in, line)) return;
  if (line != kFirstLine)
    return complain(path, "found '" + line + "', expected '" + kFirstLine + "': it is not used");
  for (size_t number = 2; std::getline(in, line); ++number) {
    const size_t first = line.find('\t');
    const size_t last = line.rfind('\t');
    const std::optional<State> state = first < last ? read_state(line.substr(last + 1)) : std::nullopt;
    if (!state.has_value()) {
      complain(path, "line " + std::to_string(number) + " is not one that tailrace has written: it is not used");
      continue;
    }
    known_.try_emplace(line.substr(0, first), Known{*state, line.substr(first + 1, last - first - 1)});
  }
}

void Tunings::write() {
  const std::string path = profile();
  if (path.empty()) return;
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  const std::string next = path + "." + std::to_string(::getpid());
  std::ofstream out(next);
  out.precision(9);
  out << kFirstLine << '\n';
  for (const auto& [pattern, known] : known_) {
    out << pattern << '\t' << known.best << '\t';
    for (size_t way = 0; way < known.state.tries.size(); ++way) {
      if (known.state.tries[way] == 0) continue;
      out << ' ' << way << ' ' << known.state.tries[way] << ' ' << known.state.seconds[way];
    }
    out << '\n';
  }
  out.close();
  if (out && std::rename(next.c_str(), path.c_str()) == 0) return;
  if (!std::exchange(has_complained_, true))
    complain(path, std::string("what the trials have shown cannot be written: ") + std::strerror(errno));
  ::unlink(next.c_str());
}

}  // namespace tailrace::mpiio
