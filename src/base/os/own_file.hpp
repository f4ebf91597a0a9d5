// Files under names that tailrace itself makes up (`.part`, locks, logs), in directories where others may make files.
//
// Somebody else may have put a link, a FIFO or a file of their own under such a name, for a program with more rights
// to write through. What is opened here is a regular file of this user, never reached by a symbolic link as the last
// word of its path; the directory is the user's own choice and may well be reached by one. A file is this user's if
// its owner is, or the one that the file system gives to what this user makes there (NFS that squashes users).
#pragma once

#include <sys/types.h>

#include <string>

#include "base/os/file_descriptor.hpp"
#include "base/status.hpp"

namespace tailrace::impl {

// An empty file that this call makes, to read and write. What an earlier run has left under the name is not written
// into: its name goes, if it is a regular file of this user. Fails with what was found if it is anything else.
Result<FileDescriptor> make_own_file(const std::string& path, mode_t mode);
// The file that is there, by `flags` of open(2); with O_CREAT it is made with `mode` if there is none. Fails with
// what was found if it is no regular file of this user, or has another name, too, by which it may be somebody's else.
Result<FileDescriptor> open_own_file(const std::string& path, int flags, mode_t mode = 0);
// Returns true if `path` names a regular file of this user.
bool is_own_file(const std::string& path);
// Returns true if both names lead to one file, as they do after a death in the middle of a rename; see below.
bool same_file(const std::string& one, const std::string& other);

// Gives the file that is open as `fd` the name `to` instead of `from`, its name in the same directory; before that,
// what the system holds of its bytes and other nodes cannot see goes to the file system. Fails if either name, before
// or after it, leads to another file; with EEXIST if there is something named `to` and not `replace`. Then nothing is
// done. On file systems that cannot refuse to replace, the file has both names for a moment.
Status rename_open_file(int fd, const std::string& from, const std::string& to, bool replace);

}  // namespace tailrace::impl
