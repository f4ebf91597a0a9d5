#include "openfoam/handler/settled_looks.hpp"

#include <dlfcn.h>

#include <filesystem>
#include <system_error>

#include "openfoam/preload/looks.hpp"

namespace tailrace::openfoam {
namespace {

namespace fs = std::filesystem;

Writer* settling = nullptr;

// Looks that this file makes itself, to resolve a name.
thread_local bool own_look = false;

class OwnLook {
 public:
  OwnLook() { own_look = true; }
  ~OwnLook() { own_look = before_; }
  OwnLook(const OwnLook&) = delete;
  OwnLook& operator=(const OwnLook&) = delete;

 private:
  const bool before_ = own_look;
};

void look(const char* path, bool below) noexcept {
  if (own_look) return;
  const OwnLook own;
  if (!settling->has_in_flight()) return;
  if (path == nullptr) {
    settling->settle("/", true);
  } else {
    settling->settle(ResolvedNames().of(path), below);
  }
}

TailraceFoamTellLooks teller() {
  return reinterpret_cast<TailraceFoamTellLooks>(dlsym(RTLD_DEFAULT, "tailrace_foam_tell_looks"));
}

}  // namespace

bool looks_are_told() { return teller() != nullptr; }

void settle_looks(Writer& writer) {
  settling = &writer;
  teller()(look);
}

std::string ResolvedNames::of(const std::string& path) {
  if (path.empty()) return {};
  fs::path name = path;
  if (!name.has_filename()) name = name.parent_path();  // it ended with a slash
  if (name.filename() == "." || name.filename() == "..") return directory(name);
  return fs::path(directory(name.has_parent_path() ? name.parent_path() : ".")) / name.filename();
}

const std::string& ResolvedNames::directory(const std::string& path) {
  const auto [found, is_new] = directories_.try_emplace(path);
  if (is_new) {
    const OwnLook own;
    std::error_code ignored;
    found->second = fs::weakly_canonical(fs::absolute(path, ignored), ignored);
  }
  return found->second;
}

}  // namespace tailrace::openfoam
