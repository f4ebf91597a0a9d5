// The functions in front of the C library's. The library has two of some, for files of 2 GiB and more, and others
// that programs with checks (_FORTIFY_SOURCE) or of earlier versions of the library call.
#include "openfoam/preload/looks.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fts.h>
#include <ftw.h>
#include <glob.h>
#include <spawn.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#include "openfoam/preload/tell.hpp"

using namespace tailrace::openfoam;

// Defines one: what it tells, and then the C library's. `exceptions` is as the C library's headers have it.
#define TOLD(result, name, parameters, arguments, exceptions, telling)                  \
  extern "C" __attribute__((visibility("default"))) result name parameters exceptions { \
    static const auto next = reinterpret_cast<result(*) parameters>(next_of(#name));    \
    telling;                                                                            \
    return next arguments;                                                              \
  }

// ---- opening ---------------------------------------------------------------------------------------------------

namespace {

constexpr bool makes(int flags) { return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE; }

void tell_open(int directory, const char* path, int flags) noexcept {
  if (makes(flags)) {
    tell_new_at(directory, path);
  } else if ((flags & O_DIRECTORY) != 0) {
    tell_below_at(directory, path);
  } else {
    tell_at(directory, path);
  }
}

void tell_open(const char* path, const char* mode) noexcept {
  if (mode != nullptr && mode[0] == 'r') {
    tell(path);
  } else {
    tell_new(path);
  }
}

// Reads the argument that comes behind the flags only if they make a file.
#define MODE_BEHIND(flags)                         \
  mode_t mode = 0;                                 \
  if (makes(flags)) {                              \
    va_list more;                                  \
    va_start(more, flags);                         \
    mode = static_cast<mode_t>(va_arg(more, int)); \
    va_end(more);                                  \
  }

}  // namespace

#define TOLD_OPEN(name)                                                                          \
  extern "C" __attribute__((visibility("default"))) int name(const char* path, int flags, ...) { \
    static const auto next = reinterpret_cast<int (*)(const char*, int, ...)>(next_of(#name));   \
    MODE_BEHIND(flags)                                                                           \
    tell_open(AT_FDCWD, path, flags);                                                            \
    return next(path, flags, mode);                                                              \
  }
#define TOLD_OPENAT(name)                                                                                       \
  extern "C" __attribute__((visibility("default"))) int name(int directory, const char* path, int flags, ...) { \
    static const auto next = reinterpret_cast<int (*)(int, const char*, int, ...)>(next_of(#name));             \
    MODE_BEHIND(flags)                                                                                          \
    tell_open(directory, path, flags);                                                                          \
    return next(directory, path, flags, mode);                                                                  \
  }

TOLD_OPEN(open);
TOLD_OPEN(open64);
TOLD_OPENAT(openat);
TOLD_OPENAT(openat64);
TOLD(int, __open_2, (const char* path, int flags), (path, flags), , tell_open(AT_FDCWD, path, flags));
TOLD(int, __open64_2, (const char* path, int flags), (path, flags), , tell_open(AT_FDCWD, path, flags));
TOLD(int, __openat_2, (int at, const char* path, int flags), (at, path, flags), , tell_open(at, path, flags));
TOLD(int, __openat64_2, (int at, const char* path, int flags), (at, path, flags), , tell_open(at, path, flags));
TOLD(int, creat, (const char* path, mode_t mode), (path, mode), , tell_new(path));
TOLD(int, creat64, (const char* path, mode_t mode), (path, mode), , tell_new(path));
TOLD(FILE*, fopen, (const char* path, const char* mode), (path, mode), , tell_open(path, mode));
TOLD(FILE*, fopen64, (const char* path, const char* mode), (path, mode), , tell_open(path, mode));
TOLD(FILE*, freopen, (const char* path, const char* mode, FILE* file), (path, mode, file), , tell_open(path, mode));
TOLD(FILE*, freopen64, (const char* path, const char* mode, FILE* file), (path, mode, file), , tell_open(path, mode));
TOLD(int, mkstemp, (char* path), (path), , tell_new(path));
TOLD(int, mkstemp64, (char* path), (path), , tell_new(path));
TOLD(int, mkostemp, (char* path, int flags), (path, flags), , tell_new(path));
TOLD(int, mkostemp64, (char* path, int flags), (path, flags), , tell_new(path));
TOLD(int, mkstemps, (char* path, int suffix), (path, suffix), , tell_new(path));
TOLD(int, mkstemps64, (char* path, int suffix), (path, suffix), , tell_new(path));
TOLD(int, mkostemps, (char* path, int suffix, int flags), (path, suffix, flags), , tell_new(path));
TOLD(int, mkostemps64, (char* path, int suffix, int flags), (path, suffix, flags), , tell_new(path));

// ---- facts -----------------------------------------------------------------------------------------------------

TOLD(int, stat, (const char* path, struct stat* facts), (path, facts), noexcept, tell(path));
TOLD(int, stat64, (const char* path, struct stat64* facts), (path, facts), noexcept, tell(path));
TOLD(int, lstat, (const char* path, struct stat* facts), (path, facts), noexcept, tell(path));
TOLD(int, lstat64, (const char* path, struct stat64* facts), (path, facts), noexcept, tell(path));
TOLD(int, fstatat, (int at, const char* path, struct stat* facts, int flags), (at, path, facts, flags), noexcept,
     tell_at(at, path));
TOLD(int, fstatat64, (int at, const char* path, struct stat64* facts, int flags), (at, path, facts, flags), noexcept,
     tell_at(at, path));
TOLD(int, statx, (int at, const char* path, int flags, unsigned mask, struct statx* facts),
     (at, path, flags, mask, facts), noexcept, tell_at(at, path));
TOLD(int, __xstat, (int version, const char* path, struct stat* facts), (version, path, facts), noexcept, tell(path));
TOLD(int, __xstat64, (int version, const char* path, struct stat64* facts), (version, path, facts), noexcept,
     tell(path));
TOLD(int, __lxstat, (int version, const char* path, struct stat* facts), (version, path, facts), noexcept,
     tell(path));
TOLD(int, __lxstat64, (int version, const char* path, struct stat64* facts), (version, path, facts), noexcept,
     tell(path));
TOLD(int, __fxstatat, (int version, int at, const char* path, struct stat* facts, int flags),
     (version, at, path, facts, flags), noexcept, tell_at(at, path));
TOLD(int, __fxstatat64, (int version, int at, const char* path, struct stat64* facts, int flags),
     (version, at, path, facts, flags), noexcept, tell_at(at, path));
TOLD(int, statfs, (const char* path, struct statfs* facts), (path, facts), noexcept, tell(path));
TOLD(int, statfs64, (const char* path, struct statfs64* facts), (path, facts), noexcept, tell(path));
TOLD(int, statvfs, (const char* path, struct statvfs* facts), (path, facts), noexcept, tell(path));
TOLD(int, statvfs64, (const char* path, struct statvfs64* facts), (path, facts), noexcept, tell(path));
TOLD(long, pathconf, (const char* path, int name), (path, name), noexcept, tell(path));
TOLD(int, access, (const char* path, int mode), (path, mode), noexcept, tell(path));
TOLD(int, euidaccess, (const char* path, int mode), (path, mode), noexcept, tell(path));
TOLD(int, eaccess, (const char* path, int mode), (path, mode), noexcept, tell(path));
TOLD(int, faccessat, (int at, const char* path, int mode, int flags), (at, path, mode, flags), noexcept,
     tell_at(at, path));
TOLD(ssize_t, readlink, (const char* path, char* target, size_t size), (path, target, size), noexcept, tell(path));
TOLD(ssize_t, readlinkat, (int at, const char* path, char* target, size_t size), (at, path, target, size), noexcept,
     tell_at(at, path));
TOLD(ssize_t, __readlink_chk, (const char* path, char* target, size_t size, size_t room), (path, target, size, room),
     noexcept, tell(path));
TOLD(ssize_t, __readlinkat_chk, (int at, const char* path, char* target, size_t size, size_t room),
     (at, path, target, size, room), noexcept, tell_at(at, path));
TOLD(char*, realpath, (const char* path, char* resolved), (path, resolved), noexcept, tell(path));
TOLD(char*, __realpath_chk, (const char* path, char* resolved, size_t room), (path, resolved, room), noexcept,
     tell(path));
TOLD(char*, canonicalize_file_name, (const char* path), (path), noexcept, tell(path));
TOLD(int, inotify_add_watch, (int watcher, const char* path, uint32_t events), (watcher, path, events), noexcept,
     tell(path));
TOLD(ssize_t, getxattr, (const char* path, const char* name, void* value, size_t size), (path, name, value, size),
     noexcept, tell(path));
TOLD(ssize_t, lgetxattr, (const char* path, const char* name, void* value, size_t size), (path, name, value, size),
     noexcept, tell(path));
TOLD(ssize_t, listxattr, (const char* path, char* names, size_t size), (path, names, size), noexcept, tell(path));
TOLD(ssize_t, llistxattr, (const char* path, char* names, size_t size), (path, names, size), noexcept, tell(path));

// ---- directories -----------------------------------------------------------------------------------------------

TOLD(DIR*, opendir, (const char* path), (path), , tell_below(path));
TOLD(int, scandir,
     (const char* path, struct dirent*** entries, int (*wants)(const struct dirent*),
      int (*order)(const struct dirent**, const struct dirent**)),
     (path, entries, wants, order), , tell_below(path));
TOLD(int, scandir64,
     (const char* path, struct dirent64*** entries, int (*wants)(const struct dirent64*),
      int (*order)(const struct dirent64**, const struct dirent64**)),
     (path, entries, wants, order), , tell_below(path));
TOLD(int, scandirat,
     (int at, const char* path, struct dirent*** entries, int (*wants)(const struct dirent*),
      int (*order)(const struct dirent**, const struct dirent**)),
     (at, path, entries, wants, order), , tell_below_at(at, path));
TOLD(int, scandirat64,
     (int at, const char* path, struct dirent64*** entries, int (*wants)(const struct dirent64*),
      int (*order)(const struct dirent64**, const struct dirent64**)),
     (at, path, entries, wants, order), , tell_below_at(at, path));
TOLD(int, ftw, (const char* path, __ftw_func_t each, int depth), (path, each, depth), , tell_below(path));
TOLD(int, ftw64, (const char* path, __ftw64_func_t each, int depth), (path, each, depth), , tell_below(path));
TOLD(int, nftw, (const char* path, __nftw_func_t each, int depth, int flags), (path, each, depth, flags), ,
     tell_below(path));
TOLD(int, nftw64, (const char* path, __nftw64_func_t each, int depth, int flags), (path, each, depth, flags), ,
     tell_below(path));
TOLD(FTS*, fts_open, (char* const* paths, int flags, int (*order)(const FTSENT**, const FTSENT**)),
     (paths, flags, order), , tell_all());
TOLD(FTS64*, fts64_open, (char* const* paths, int flags, int (*order)(const FTSENT64**, const FTSENT64**)),
     (paths, flags, order), , tell_all());
TOLD(int, glob, (const char* pattern, int flags, int (*failed)(const char*, int), glob_t* found),
     (pattern, flags, failed, found), noexcept, tell_all());
TOLD(int, glob64, (const char* pattern, int flags, int (*failed)(const char*, int), glob64_t* found),
     (pattern, flags, failed, found), noexcept, tell_all());
TOLD(int, chdir, (const char* path), (path), noexcept, tell(path));

// ---- changes ---------------------------------------------------------------------------------------------------

TOLD(int, mkdir, (const char* path, mode_t mode), (path, mode), noexcept, tell_new(path));
TOLD(int, mkdirat, (int at, const char* path, mode_t mode), (at, path, mode), noexcept, tell_new_at(at, path));
TOLD(char*, mkdtemp, (char* path), (path), noexcept, tell_new(path));
TOLD(int, mkfifo, (const char* path, mode_t mode), (path, mode), noexcept, tell_new(path));
TOLD(int, mkfifoat, (int at, const char* path, mode_t mode), (at, path, mode), noexcept, tell_new_at(at, path));
TOLD(int, mknod, (const char* path, mode_t mode, dev_t device), (path, mode, device), noexcept, tell_new(path));
TOLD(int, mknodat, (int at, const char* path, mode_t mode, dev_t device), (at, path, mode, device), noexcept,
     tell_new_at(at, path));
TOLD(int, link, (const char* from, const char* to), (from, to), noexcept, (tell(from), tell_new(to)));
TOLD(int, linkat, (int at, const char* from, int to_at, const char* to, int flags), (at, from, to_at, to, flags),
     noexcept, (tell_at(at, from), tell_new_at(to_at, to)));
TOLD(int, symlink, (const char* target, const char* path), (target, path), noexcept, tell_new(path));
TOLD(int, symlinkat, (const char* target, int at, const char* path), (target, at, path), noexcept,
     tell_new_at(at, path));
TOLD(int, rename, (const char* from, const char* to), (from, to), noexcept,
     (tell_below(from), tell_new(to), tell_below(to)));
TOLD(int, renameat, (int at, const char* from, int to_at, const char* to), (at, from, to_at, to), noexcept,
     (tell_below_at(at, from), tell_new_at(to_at, to), tell_below_at(to_at, to)));
TOLD(int, renameat2, (int at, const char* from, int to_at, const char* to, unsigned flags),
     (at, from, to_at, to, flags), noexcept,
     (tell_below_at(at, from), tell_new_at(to_at, to), tell_below_at(to_at, to)));
TOLD(int, remove, (const char* path), (path), noexcept, tell_below(path));
TOLD(int, unlink, (const char* path), (path), noexcept, tell(path));
TOLD(int, unlinkat, (int at, const char* path, int flags), (at, path, flags), noexcept, tell_below_at(at, path));
TOLD(int, rmdir, (const char* path), (path), noexcept, tell_below(path));
TOLD(int, truncate, (const char* path, off_t size), (path, size), noexcept, tell(path));
TOLD(int, truncate64, (const char* path, off64_t size), (path, size), noexcept, tell(path));
TOLD(int, chmod, (const char* path, mode_t mode), (path, mode), noexcept, tell(path));
TOLD(int, lchmod, (const char* path, mode_t mode), (path, mode), noexcept, tell(path));
TOLD(int, fchmodat, (int at, const char* path, mode_t mode, int flags), (at, path, mode, flags), noexcept,
     tell_at(at, path));
TOLD(int, chown, (const char* path, uid_t user, gid_t group), (path, user, group), noexcept, tell(path));
TOLD(int, lchown, (const char* path, uid_t user, gid_t group), (path, user, group), noexcept, tell(path));
TOLD(int, fchownat, (int at, const char* path, uid_t user, gid_t group, int flags), (at, path, user, group, flags),
     noexcept, tell_at(at, path));
TOLD(int, utime, (const char* path, const struct utimbuf* times), (path, times), noexcept, tell(path));
TOLD(int, utimes, (const char* path, const struct timeval times[2]), (path, times), noexcept, tell(path));
TOLD(int, lutimes, (const char* path, const struct timeval times[2]), (path, times), noexcept, tell(path));
TOLD(int, futimesat, (int at, const char* path, const struct timeval times[2]), (at, path, times), noexcept,
     tell_at(at, path));
TOLD(int, utimensat, (int at, const char* path, const struct timespec times[2], int flags), (at, path, times, flags),
     noexcept, tell_at(at, path));
TOLD(int, setxattr, (const char* path, const char* name, const void* value, size_t size, int flags),
     (path, name, value, size, flags), noexcept, tell(path));
TOLD(int, lsetxattr, (const char* path, const char* name, const void* value, size_t size, int flags),
     (path, name, value, size, flags), noexcept, tell(path));
TOLD(int, removexattr, (const char* path, const char* name), (path, name), noexcept, tell(path));
TOLD(int, lremovexattr, (const char* path, const char* name), (path, name), noexcept, tell(path));

// ---- other programs, which may look at anything ------------------------------------------------------------------
// (fork() tells by pthread_atfork.)

TOLD(int, system, (const char* command), (command), , tell_all());
TOLD(FILE*, popen, (const char* command, const char* mode), (command, mode), , tell_all());
TOLD(int, posix_spawn,
     (pid_t * child, const char* path, const posix_spawn_file_actions_t* actions, const posix_spawnattr_t* attributes,
      char* const arguments[], char* const environment[]),
     (child, path, actions, attributes, arguments, environment), , tell_all());
TOLD(int, posix_spawnp,
     (pid_t * child, const char* file, const posix_spawn_file_actions_t* actions, const posix_spawnattr_t* attributes,
      char* const arguments[], char* const environment[]),
     (child, file, actions, attributes, arguments, environment), , tell_all());

// The process goes on as another program.
TOLD(int, execv, (const char* path, char* const arguments[]), (path, arguments), noexcept, tell_all());
TOLD(int, execve, (const char* path, char* const arguments[], char* const environment[]),
     (path, arguments, environment), noexcept, tell_all());
TOLD(int, execvp, (const char* file, char* const arguments[]), (file, arguments), noexcept, tell_all());
TOLD(int, execvpe, (const char* file, char* const arguments[], char* const environment[]),
     (file, arguments, environment), noexcept, tell_all());
TOLD(int, execveat, (int at, const char* path, char* const arguments[], char* const environment[], int flags),
     (at, path, arguments, environment, flags), noexcept, tell_all());
TOLD(int, fexecve, (int file, char* const arguments[], char* const environment[]), (file, arguments, environment),
     noexcept, tell_all());

// The child of vfork() uses the caller's stack, so no function may return between: this one jumps.
extern "C" __attribute__((visibility("hidden"), used)) void* tailrace_foam_before_vfork() {
  tell_all();
  return next_of("vfork");
}

#if defined(__x86_64__)
asm(R"(
  .text
  .globl vfork
  .type vfork, @function
vfork:
  endbr64
  subq $8, %rsp
  call tailrace_foam_before_vfork
  addq $8, %rsp
  jmp *%rax
  .size vfork, . - vfork
)");
#elif defined(__aarch64__)
asm(R"(
  .text
  .globl vfork
  .type vfork, %function
vfork:
  hint 34
  stp x29, x30, [sp, #-16]!
  bl tailrace_foam_before_vfork
  ldp x29, x30, [sp], #16
  mov x16, x0
  br x16
  .size vfork, . - vfork
)");
#else
extern "C" __attribute__((visibility("default"))) pid_t vfork() noexcept { return fork(); }
#endif

// ---- OpenFOAM ---------------------------------------------------------------------------------------------------

// Foam::error::printStack starts commands, also in the handler of a signal. The program has failed then, perhaps in
// the writer: nothing waits, and no time gets its name.
#define STACK_PRINTER(name, parameters, arguments)                                 \
  extern "C" __attribute__((visibility("default"))) void name parameters {         \
    static const auto next = reinterpret_cast<void(*) parameters>(next_of(#name)); \
    tell_nothing(true);                                                            \
    next arguments;                                                                \
    tell_nothing(false);                                                           \
  }

STACK_PRINTER(_ZN4Foam5error10printStackERNS_7OstreamE, (void* stream), (stream));  // 1912
STACK_PRINTER(_ZN4Foam5error10printStackERNS_7OstreamEi, (void* stream, int size), (stream, size));
