// PrivateMount: a file system of the test's own, mounted in a name space that no other process sees, and gone with
// the process.
//
// It needs the right to mount, or to make a name space of users in which it has that right, which a process with
// several threads cannot. Otherwise the test is skipped with a message.
#pragma once

#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <utility>

namespace test {

class PrivateMount {
 public:
  // Mounts a tmpfs of `size` ("1m") at `path`.
  static PrivateMount small_disk(const std::string& path, const std::string& size) {
    return PrivateMount(path, "size=" + size);
  }
  // Mounts `path` onto itself, read-only, even for root.
  static PrivateMount read_only(const std::string& path) { return PrivateMount(path, ""); }

  ~PrivateMount() {
    while (ok_ && umount2(path_.c_str(), MNT_DETACH) == 0) {
    }
  }
  PrivateMount(const PrivateMount&) = delete;
  PrivateMount& operator=(const PrivateMount&) = delete;

  bool ok() const { return ok_; }
  // Makes it read-only for new files; files that are open for writing stay writable.
  bool turn_read_only() {
    const char* const at = path_.c_str();
    return mount(at, at, nullptr, MS_BIND, nullptr) == 0 &&
           mount(nullptr, at, nullptr, MS_BIND | MS_REMOUNT | MS_RDONLY, nullptr) == 0;
  }
  // Changes the size of a small disk.
  bool resize(const std::string& size) {
    return mount(nullptr, path_.c_str(), nullptr, MS_REMOUNT, ("size=" + size).c_str()) == 0;
  }

 private:
  PrivateMount(std::string path, const std::string& tmpfs) : path_(std::move(path)) {
    const char* const at = path_.c_str();
    if (unshare(CLONE_NEWNS) != 0 && !unshare_users()) return;
    if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return;
    if (tmpfs.empty()) {
      ok_ = turn_read_only();
    } else {
      ok_ = mount("tailrace-test", at, "tmpfs", 0, tmpfs.c_str()) == 0;
    }
  }

  // Keeps the user and the group as they are.
  static bool unshare_users() {
    const std::string user = std::to_string(geteuid());
    const std::string group = std::to_string(getegid());
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
    std::ofstream("/proc/self/setgroups") << "deny";
    std::ofstream("/proc/self/uid_map") << user << " " << user << " 1";
    std::ofstream("/proc/self/gid_map") << group << " " << group << " 1";
    return true;
  }

  std::string path_;
  bool ok_ = false;
};

}  // namespace test
