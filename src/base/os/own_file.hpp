// Creates and opens files under names that tailrace itself chooses (`.part`, locks, logs), in directories where
// others may create files.
//
// Another user may have put a link, a FIFO or a file under such a name, so that a program with more rights writes to
// it. These functions open only regular files of this user, and never follow a symbolic link in the last component of
// the path. The directory is the user's choice and may be reached through links. A file is this user's if its owner
// is this user, or the owner that the file system gives to this user's new files (NFS that squashes users).
#pragma once

#include <sys/types.h>

#include <string>

#include "base/os/file_descriptor.hpp"
#include "base/status.hpp"

namespace tailrace::impl {

// Creates an empty file, for reading and writing. A leftover of an earlier run is not written into: its name is
// removed if it is a regular file of this user. Fails, and names what was found, if it is anything else.
Result<FileDescriptor> make_own_file(const std::string& path, mode_t mode);
// Opens an existing file with `flags` of open(2); with O_CREAT it creates the file, with `mode`, if there is none.
// Fails, and names what was found, if it is not a regular file of this user, or has a second name, which another user
// may have made.
Result<FileDescriptor> open_own_file(const std::string& path, int flags, mode_t mode = 0);
// Returns true if `path` names a regular file of this user.
bool is_own_file(const std::string& path);
// Returns true if `path` names what a rename leaves if its process dies in the middle, where the file system can
// neither refuse to replace nor link: an empty file of this user that cannot be opened.
bool is_reservation(const std::string& path);
// Returns true if both names lead to one file, as after a crash in the middle of a rename; see below.
bool same_file(const std::string& one, const std::string& other);

// Renames the file that is open as `fd` from `from` to `to`, in the same directory. Before that, it sends bytes that
// only this node sees to the file system. Fails if either name leads to another file, before the rename or after it.
// Fails with EEXIST, and does nothing, if `to` exists and `replace` is false. On file systems that cannot refuse to
// replace, the file has both names for a moment; if they have no links either, a reservation has the name `to` for a
// moment. A reservation that an earlier call has left does not count as existing.
Status rename_open_file(int fd, const std::string& from, const std::string& to, bool replace);

}  // namespace tailrace::impl
