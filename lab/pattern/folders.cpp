// Creates and removes the folders. See the header.
#include "lab/pattern/folders.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>

#include "lab/pattern/errors.hpp"
#include "lab/pattern/posix_file.hpp"

namespace bench {

namespace fs = std::filesystem;

OutputFolders::OutputFolders(const std::vector<std::string>& directories, bool keep) : keep_(keep) {
  try {
    for (const std::string& directory : directories) add(directory);
  } catch (...) {
    remove();
    throw;
  }
}

OutputFolders::~OutputFolders() {
  if (!keep_) remove();
}

void OutputFolders::add(const std::string& directory) {
  const fs::path path = fs::path(directory).lexically_normal();
  std::vector<fs::path> missing;
  std::error_code error;
  for (fs::path at = path; !at.empty() && !fs::exists(at, error) && !error; at = at.parent_path()) {
    missing.insert(missing.begin(), at);
  }
  fs::create_directories(path, error);
  if (error) throw RunError("cannot make the directory '" + directory + "': " + error.message());
  made_.insert(made_.end(), missing.begin(), missing.end());
  std::string name = (path / "pattern.XXXXXX").string();
  require(mkdtemp(name.data()) != nullptr, "write into the directory '" + directory + "'");
  folders_.emplace_back(name);
}

void OutputFolders::remove() noexcept {
  std::error_code error;
  for (const fs::path& folder : folders_) {
    fs::remove_all(folder, error);
    if (error) std::fprintf(stderr, "pattern: cannot remove '%s': %s\n", folder.c_str(), error.message().c_str());
  }
  // Only empty ones: another program may have put something there meanwhile.
  for (auto made = made_.rbegin(); made != made_.rend(); ++made) ::rmdir(made->c_str());
}

std::string OutputFolders::file(int iteration) const {
  std::array<char, 32> name{};
  std::snprintf(name.data(), name.size(), "pattern_%06d", iteration);
  return (folders_[static_cast<size_t>(iteration) % folders_.size()] / name.data()).string();
}

void OutputFolders::settle() const {
  for (const fs::path& folder : folders_) {
    const PosixFile file(folder.string(), O_RDONLY | O_DIRECTORY);
    require(syncfs(file.descriptor()) == 0, "sync the file system of '" + folder.string() + "'");
  }
}

bool OutputFolders::can_bypass_cache() const {
  for (const fs::path& folder : folders_) {
    const std::string name = (folder / "probe").string();
    const int descriptor = ::open(name.c_str(), O_CREAT | O_WRONLY | O_DIRECT, 0666);
    const bool can = descriptor >= 0;
    if (can) ::close(descriptor);
    ::unlink(name.c_str());  // a refused O_DIRECT may have created the file nevertheless
    if (!can) return false;
  }
  return true;
}

}  // namespace bench
