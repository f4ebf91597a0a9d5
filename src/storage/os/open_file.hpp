// OpenFile: an open file of the operating system, for the back ends `posix` and `uring`. It selects the descriptor of
// each transfer, and does no I/O beyond opening.
#pragma once

#include <string>
#include <utility>

#include "base/os/os_file.hpp"
#include "storage/storage.hpp"

namespace tailrace::impl {

// Alignment of direct transfers: the largest block that devices and file systems in use ask for.
constexpr uint32_t kDirectAlignment = 4096;
// The most segments of one transfer: IOV_MAX of Linux.
constexpr uint32_t kMaxSegments = 1024;

struct OpenFile {
  OsFile os;
  // A directory needs a full sync: fdatasync may omit a rename (ext4 does), since it changes no size.
  bool directory = false;
  uint32_t device = 0;

  static Result<OpenFile> open(const std::string& path, OpenMode mode, uint32_t device, bool want_direct,
                               const std::string& root) {
    OsFile::Mode os_mode = OsFile::Mode::create;
    if (mode == OpenMode::fresh) os_mode = OsFile::Mode::fresh;
    if (mode == OpenMode::own) os_mode = OsFile::Mode::own;
    if (mode == OpenMode::own_read) os_mode = OsFile::Mode::own_read;
    if (mode == OpenMode::own_or_new) os_mode = OsFile::Mode::own_or_new;
    if (mode == OpenMode::edit) os_mode = OsFile::Mode::edit;
    if (mode == OpenMode::update) os_mode = OsFile::Mode::update;
    if (mode == OpenMode::view) os_mode = OsFile::Mode::view;
    if (mode == OpenMode::read) os_mode = OsFile::Mode::read;
    if (mode == OpenMode::directory) os_mode = OsFile::Mode::directory;
    Result<OsFile> os = OsFile::open(path, os_mode, want_direct, root);
    if (!os.ok()) return os.status();
    return OpenFile{std::move(os).value(), mode == OpenMode::directory, device};
  }

  // Returns the descriptor for `transfer`, which must not be direct if this file has no direct one.
  int descriptor(const Transfer& transfer) const {
    if (!transfer.direct || transfer.kind == Transfer::Kind::sync) return os.buffered();
    TAILRACE_REQUIRE(os.direct() >= 0);
    return os.direct();
  }
};

}  // namespace tailrace::impl
