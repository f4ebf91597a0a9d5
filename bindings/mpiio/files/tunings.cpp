#include "mpiio/files/tunings.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <random>
#include <sstream>
#include <system_error>
#include <utility>
#include <variant>

#include "mpiio/process/process.hpp"

namespace tailrace::mpiio {
namespace {

using State = collective::Tuning::State;

// The number changes when the ways of Tuning do: what was tried before means nothing then.
constexpr const char* kFirstLine = "tailrace mpiio profile 1";
constexpr const char* kFirstWords = "tailrace mpiio profile ";  // of each version
constexpr off_t kMostBytes = off_t{16} << 20;                   // of a profile
constexpr size_t kMostShown = 60;                               // characters of a line that is not understood

// Returns the file that the profile's name stands for: a link stays, and its file is replaced.
std::string target_of(const std::string& path) {
  std::error_code error;
  const std::string target = std::filesystem::canonical(path, error).string();
  return error ? path : target;
}

// Returns what is in the file, or an errno: EINVAL if it can be no profile. Waits for no writer of a pipe.
std::variant<std::string, int> contents_of(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (descriptor < 0) return errno;
  struct stat found {};
  int error = ::fstat(descriptor, &found) == 0 ? 0 : errno;
  if (error == 0 && (!S_ISREG(found.st_mode) || found.st_size > kMostBytes)) error = EINVAL;
  std::string text(error == 0 ? static_cast<size_t>(found.st_size) : 0, '\0');
  size_t size = 0;
  for (ssize_t more = 1; error == 0 && size < text.size() && more > 0; size += static_cast<size_t>(more)) {
    more = ::read(descriptor, text.data() + size, text.size() - size);
    if (more < 0) error = errno;
    if (more < 0) break;
  }
  ::close(descriptor);
  text.resize(size);
  if (error != 0) return error;
  return text;
}

// Writes a new file. Returns false, with errno, if that fails.
bool write_new(const std::string& path, const std::string& text) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor < 0) return false;
  size_t size = 0;
  for (ssize_t more = 1; size < text.size() && more > 0; size += static_cast<size_t>(more)) {
    more = ::write(descriptor, text.data() + size, text.size() - size);
    if (more < 0) break;
  }
  const int error = errno;
  const bool is_whole = ::close(descriptor) == 0 && size == text.size();
  if (size != text.size()) errno = error;
  return is_whole;
}

// Returns the line as people may see it.
std::string shown(std::string line) {
  if (line.size() > kMostShown) line = line.substr(0, kMostShown) + "...";
  std::replace_if(
      line.begin(), line.end(), [](unsigned char c) { return c < ' ' || c > '~'; }, '?');
  return line;
}

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
  if (!is_read_) read();
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
  if (path.empty()) return;
  const auto found = contents_of(path);
  const bool complains = !std::exchange(is_read_, true);
  is_other_ = std::holds_alternative<int>(found) && std::get<int>(found) == EINVAL;
  if (is_other_ && complains) complain(path, "is no file that tailrace has written: it is neither used nor replaced");
  if (std::holds_alternative<int>(found)) return;
  std::istringstream in(std::get<std::string>(found));
  std::string line;
  if (!std::getline(in, line)) return;
  if (line != kFirstLine) {
    is_other_ = !line.starts_with(kFirstWords);
    if (complains) {
      complain(path, "found '" + shown(line) + "', expected '" + kFirstLine + "': it is " +
                         (is_other_ ? "neither used nor replaced" : "not used"));
    }
    return;
  }
  for (size_t number = 2; std::getline(in, line); ++number) {
    const size_t first = line.find('\t');
    const size_t last = line.rfind('\t');
    const std::optional<State> state = first < last && !in.eof() ? read_state(line.substr(last + 1)) : std::nullopt;
    if (state.has_value()) {
      known_.try_emplace(line.substr(0, first), Known{*state, line.substr(first + 1, last - first - 1)});
    } else if (complains) {
      complain(path, "line " + std::to_string(number) + " is not one that tailrace has written: it is not used");
    }
  }
}

// Keeps what others have written there meanwhile of other patterns.
void Tunings::write() {
  const std::string path = profile();
  if (path.empty()) return;
  read();
  if (is_other_) return;
  std::ostringstream out;
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
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  const std::string target = target_of(path);
  // Processes of several nodes or containers, which may have one number, write at one time.
  const std::string next = target + "." + std::to_string(::getpid()) + "-" + std::to_string(std::random_device{}());
  if (write_new(next, out.str()) && std::rename(next.c_str(), target.c_str()) == 0) return;
  if (!std::exchange(has_complained_, true))
    complain(path, std::string("what the trials have shown cannot be written: ") + std::strerror(errno));
  ::unlink(next.c_str());
}

}  // namespace tailrace::mpiio
