/* libtailrace_hdf5_names.so: see names.h. Until a connector has set its function, all calls pass. */
#define _GNU_SOURCE
#undef _FORTIFY_SOURCE
#include "hdf5_vol/names/names.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/* release in the setter, acquire in may_go_on(): who sees the function sees what the connector has prepared. */
static _Atomic(tailrace_before_call) before_call;

EXPORT void tailrace_hdf5_watch(tailrace_before_call before) {
  atomic_store_explicit(&before_call, before, memory_order_release);
}

/* As programs call them that were compiled with checks of the C library. */
int __open_2(const char* name, int flags);
int __open64_2(const char* name, int flags);
int __openat_2(int directory, const char* name, int flags);
int __openat64_2(int directory, const char* name, int flags);

/* clang-format off */
#define FUNCTIONS(F) \
  F(rename) F(renameat) F(renameat2) F(link) F(linkat) F(symlink) F(symlinkat) F(unlink) F(unlinkat) F(remove) \
  F(open) F(open64) F(openat) F(openat64) F(__open_2) F(__open64_2) F(__openat_2) F(__openat64_2) F(fopen) \
  F(fopen64) F(execve) F(execv) F(execvp) F(execvpe) F(fexecve) F(posix_spawn) F(posix_spawnp) F(system) \
  F(popen)
/* clang-format on */

/* The C library's own functions. Each thread that sets one sets the same. */
static struct {
#define MEMBER(name) _Atomic(__typeof__(&name)) name;
  FUNCTIONS(MEMBER)
} next;

/* Looked up early: while a library is being loaded, a look-up waits. */
__attribute__((constructor)) static void look_up(void) {
#define LOOK_UP(name) next.name = (__typeof__(&name))dlsym(RTLD_NEXT, #name);
  FUNCTIONS(LOOK_UP)
}

/* Another library's constructor may call before ours has run. */
#define NEXT(name) (next.name != NULL ? next.name : (__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* Returns 1 if the call may go on; else sets errno. */
static int may_go_on(enum tailrace_call call, int directory, const char* name) {
  const tailrace_before_call before = atomic_load_explicit(&before_call, memory_order_acquire);
  const int refused = before != NULL ? before(call, directory, name) : 0;
  if (refused != 0) errno = refused;
  return refused == 0;
}

/* ---- names ---- */

EXPORT int rename(const char* from, const char* to) {
  return may_go_on(TAILRACE_CALL_MOVES, AT_FDCWD, from) ? NEXT(rename)(from, to) : -1;
}

EXPORT int renameat(int from_directory, const char* from, int to_directory, const char* to) {
  if (!may_go_on(TAILRACE_CALL_MOVES, from_directory, from)) return -1;
  return NEXT(renameat)(from_directory, from, to_directory, to);
}

EXPORT int renameat2(int from_directory, const char* from, int to_directory, const char* to, unsigned flags) {
  if (!may_go_on(TAILRACE_CALL_MOVES, from_directory, from)) return -1;
  return NEXT(renameat2)(from_directory, from, to_directory, to, flags);
}

EXPORT int link(const char* from, const char* to) {
  return may_go_on(TAILRACE_CALL_MOVES, AT_FDCWD, from) ? NEXT(link)(from, to) : -1;
}

EXPORT int linkat(int from_directory, const char* from, int to_directory, const char* to, int flags) {
  if (!may_go_on(TAILRACE_CALL_MOVES, from_directory, from)) return -1;
  return NEXT(linkat)(from_directory, from, to_directory, to, flags);
}

EXPORT int symlink(const char* target, const char* name) {
  return may_go_on(TAILRACE_CALL_MOVES, AT_FDCWD, target) ? NEXT(symlink)(target, name) : -1;
}

EXPORT int symlinkat(const char* target, int directory, const char* name) {
  return may_go_on(TAILRACE_CALL_MOVES, directory, target) ? NEXT(symlinkat)(target, directory, name) : -1;
}

EXPORT int unlink(const char* name) {
  return may_go_on(TAILRACE_CALL_REMOVES, AT_FDCWD, name) ? NEXT(unlink)(name) : -1;
}

EXPORT int unlinkat(int directory, const char* name, int flags) {
  return may_go_on(TAILRACE_CALL_REMOVES, directory, name) ? NEXT(unlinkat)(directory, name, flags) : -1;
}

EXPORT int remove(const char* name) {
  return may_go_on(TAILRACE_CALL_REMOVES, AT_FDCWD, name) ? NEXT(remove)(name) : -1;
}

/* ---- files opened as bytes ---- */

/* Reads the mode that follows the flags, if these ask for one. */
#define TAKE_MODE(flags)                                       \
  mode_t mode = 0;                                             \
  if (((flags)&O_CREAT) || ((flags)&O_TMPFILE) == O_TMPFILE) { \
    va_list more;                                              \
    va_start(more, flags);                                     \
    mode = va_arg(more, mode_t);                               \
    va_end(more);                                              \
  }

EXPORT int open(const char* name, int flags, ...) {
  TAKE_MODE(flags)
  return may_go_on(TAILRACE_CALL_OPENS, AT_FDCWD, name) ? NEXT(open)(name, flags, mode) : -1;
}

EXPORT int open64(const char* name, int flags, ...) {
  TAKE_MODE(flags)
  return may_go_on(TAILRACE_CALL_OPENS, AT_FDCWD, name) ? NEXT(open64)(name, flags, mode) : -1;
}

EXPORT int openat(int directory, const char* name, int flags, ...) {
  TAKE_MODE(flags)
  return may_go_on(TAILRACE_CALL_OPENS, directory, name) ? NEXT(openat)(directory, name, flags, mode) : -1;
}

EXPORT int openat64(int directory, const char* name, int flags, ...) {
  TAKE_MODE(flags)
  return may_go_on(TAILRACE_CALL_OPENS, directory, name) ? NEXT(openat64)(directory, name, flags, mode) : -1;
}

EXPORT int __open_2(const char* name, int flags) {
  return may_go_on(TAILRACE_CALL_OPENS, AT_FDCWD, name) ? NEXT(__open_2)(name, flags) : -1;
}

EXPORT int __open64_2(const char* name, int flags) {
  return may_go_on(TAILRACE_CALL_OPENS, AT_FDCWD, name) ? NEXT(__open64_2)(name, flags) : -1;
}

EXPORT int __openat_2(int directory, const char* name, int flags) {
  return may_go_on(TAILRACE_CALL_OPENS, directory, name) ? NEXT(__openat_2)(directory, name, flags) : -1;
}

EXPORT int __openat64_2(int directory, const char* name, int flags) {
  return may_go_on(TAILRACE_CALL_OPENS, directory, name) ? NEXT(__openat64_2)(directory, name, flags) : -1;
}

EXPORT FILE* fopen(const char* name, const char* mode) {
  return may_go_on(TAILRACE_CALL_OPENS, AT_FDCWD, name) ? NEXT(fopen)(name, mode) : NULL;
}

EXPORT FILE* fopen64(const char* name, const char* mode) {
  return may_go_on(TAILRACE_CALL_OPENS, AT_FDCWD, name) ? NEXT(fopen64)(name, mode) : NULL;
}

/* ---- programs started ---- */

#define MAY_START() may_go_on(TAILRACE_CALL_STARTS, AT_FDCWD, NULL)

EXPORT int execve(const char* path, char* const arguments[], char* const environment[]) {
  return MAY_START() ? NEXT(execve)(path, arguments, environment) : -1;
}

EXPORT int execv(const char* path, char* const arguments[]) {
  return MAY_START() ? NEXT(execv)(path, arguments) : -1;
}

EXPORT int execvp(const char* file, char* const arguments[]) {
  return MAY_START() ? NEXT(execvp)(file, arguments) : -1;
}

EXPORT int execvpe(const char* file, char* const arguments[], char* const environment[]) {
  return MAY_START() ? NEXT(execvpe)(file, arguments, environment) : -1;
}

EXPORT int fexecve(int file, char* const arguments[], char* const environment[]) {
  return MAY_START() ? NEXT(fexecve)(file, arguments, environment) : -1;
}

/* Runs STATEMENT with the arguments from `first` to the null pointer as `list`, and the list that follows as `more`.
 */
#define WITH_LIST(first, STATEMENT)                                  \
  va_list more;                                                      \
  size_t count = 1;                                                  \
  va_start(more, first);                                             \
  while (va_arg(more, const char*) != NULL) ++count;                 \
  va_end(more);                                                      \
  char* list[count + 1];                                             \
  va_start(more, first);                                             \
  list[0] = (char*)first;                                            \
  for (size_t i = 1; i <= count; ++i) list[i] = va_arg(more, char*); \
  STATEMENT;                                                         \
  va_end(more);

EXPORT int execl(const char* path, const char* first, ...) {
  int failed = 0;
  WITH_LIST(first, failed = execv(path, list))
  return failed;
}

EXPORT int execlp(const char* file, const char* first, ...) {
  int failed = 0;
  WITH_LIST(first, failed = execvp(file, list))
  return failed;
}

EXPORT int execle(const char* path, const char* first, ...) {
  int failed = 0;
  WITH_LIST(first, failed = execve(path, list, va_arg(more, char**)))
  return failed;
}

EXPORT int posix_spawn(pid_t* process, const char* path, const posix_spawn_file_actions_t* actions,
                       const posix_spawnattr_t* attributes, char* const arguments[], char* const environment[]) {
  if (!MAY_START()) return errno;
  return NEXT(posix_spawn)(process, path, actions, attributes, arguments, environment);
}

EXPORT int posix_spawnp(pid_t* process, const char* file, const posix_spawn_file_actions_t* actions,
                        const posix_spawnattr_t* attributes, char* const arguments[], char* const environment[]) {
  if (!MAY_START()) return errno;
  return NEXT(posix_spawnp)(process, file, actions, attributes, arguments, environment);
}

EXPORT int system(const char* command) { return MAY_START() ? NEXT(system)(command) : -1; }

EXPORT FILE* popen(const char* command, const char* mode) { return MAY_START() ? NEXT(popen)(command, mode) : NULL; }
