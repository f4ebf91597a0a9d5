// Directories for recovery. Each line of the input is a file: its name and, after a tab, its contents. Properties:
// recovery ends; it touches only names of unfinished files and locks; looking changes nothing; and it has done what
// it reports.
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/recover.hpp"
#include "scratch_folder.hpp"
#include "target.hpp"

namespace {

namespace fs = std::filesystem;
using tailrace::impl::Leftover;
using Contents = std::map<std::string, std::string>;  // of files, by name

constexpr size_t most_files = 16;

const std::string& directory() { return tailrace::fuzz::scratch_folder(); }

void empty_directory() {
  for (const fs::directory_entry& entry : fs::directory_iterator(directory())) fs::remove_all(entry.path());
}

// Returns the contents; anything but a file has its kind as contents.
Contents contents() {
  Contents found;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory())) {
    std::string text = "(no file)";
    if (entry.is_regular_file()) {
      std::ifstream file(entry.path(), std::ios::binary);
      text.assign(std::istreambuf_iterator<char>(file), {});
    }
    found[entry.path().filename()] = text;
  }
  return found;
}

// "name\tcontent"; "name\t|" is a pipe, "name\t/" a directory. Names that the system refuses are left out.
void make(std::string_view line) {
  const size_t tab = std::min(line.find('\t'), line.size());
  const std::string name(line.substr(0, tab));
  const std::string_view content = tab < line.size() ? line.substr(tab + 1) : "";
  if (name.empty() || name == "." || name == ".." || name.find('/') != std::string::npos) return;
  if (name.find('\0') != std::string::npos) return;
  const std::string path = directory() + "/" + name;
  std::error_code refused;
  if (fs::exists(fs::symlink_status(path, refused))) return;  // a pipe of this name would wait for a reader
  if (content == "|") {
    [[maybe_unused]] const int made = mkfifo(path.c_str(), 0600);
  } else if (content == "/") {
    [[maybe_unused]] const int made = mkdir(path.c_str(), 0700);
  } else {
    std::ofstream(path, std::ios::binary) << content;
  }
}

bool is_ours(const std::string& name) {
  static const std::regex part("[^]+_[0-9]{6,}\\.h5\\.part");
  static const std::regex lock("\\.[^]+_([cn][0-9]+|job)\\.lock");
  return std::regex_match(name, part) || std::regex_match(name, lock);
}

std::vector<Leftover> run(bool apply) {
  std::vector<Leftover> leftovers;
  const auto take = [&](const Leftover& leftover) { leftovers.push_back(leftover); };
  TAILRACE_REQUIRE(tailrace::impl::recover(directory(), apply, take).ok());
  return leftovers;
}

void check_applied(const Contents& before, const std::vector<Leftover>& leftovers) {
  const Contents after = contents();
  for (const auto& [name, content] : before) {
    const bool published = after.contains(name + ".part");
    if (!is_ours(name) && !published) TAILRACE_REQUIRE(after.contains(name) && after.at(name) == content);
  }
  for (const Leftover& leftover : leftovers) {
    const std::string name = fs::path(leftover.file).filename();
    TAILRACE_REQUIRE(is_ours(name));
    TAILRACE_REQUIRE(leftover.done == leftover.status.ok());
    if (leftover.done) TAILRACE_REQUIRE(!after.contains(name));
    if (!leftover.done) TAILRACE_REQUIRE(after.contains(name));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  empty_directory();
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  for (size_t i = 0; i < most_files && !rest.empty(); ++i) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    make(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  const Contents before = contents();
  const std::vector<Leftover> seen = run(false);
  TAILRACE_REQUIRE(contents() == before);
  const std::vector<Leftover> treated = run(true);
  TAILRACE_REQUIRE(treated.size() == seen.size());
  check_applied(before, treated);
  return 0;
}
