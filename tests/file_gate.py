"""FileGate: holds processes where they open, write, sync or rename a file or send a message, until the test lets them
go on: a file system that hangs, or the moment at which a process is to die."""

import contextlib
import os
import subprocess

SOURCE = """\
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

static void pass(const char* path, const char* call) {
  static atomic_flag was_held = ATOMIC_FLAG_INIT;
  char name[4200], letter;
  snprintf(name, sizeof name, "%s %s", path == NULL ? "" : path, call);
  if (strstr(name, getenv("GATE_HOLDS")) == NULL || atomic_flag_test_and_set(&was_held)) return;
  int (*const open_it)(const char*, int, ...) = (int (*)(const char*, int, ...))dlsym(RTLD_NEXT, "open");
  snprintf(name, sizeof name, "%s.came", getenv("GATE"));
  const int came = open_it(name, O_WRONLY);
  dprintf(came, "%d", getpid());
  close(came);
  snprintf(name, sizeof name, "%s.go", getenv("GATE"));
  const int go = open_it(name, O_RDONLY);
  if (read(go, &letter, 1) < 0) abort();
  close(go);
}

#define OPEN(NAME)                                                            \\
  int NAME(const char* path, int flags, ...) {                                \\
    va_list rest;                                                             \\
    va_start(rest, flags);                                                    \\
    const unsigned mode = va_arg(rest, unsigned);                             \\
    va_end(rest);                                                             \\
    pass(path, "open");                                                       \\
    return ((int (*)(const char*, int, ...))dlsym(RTLD_NEXT, #NAME))(path, flags, mode); \\
  }
#define OPEN_AT(NAME)                                                         \\
  int NAME(int at, const char* path, int flags, ...) {                        \\
    va_list rest;                                                             \\
    va_start(rest, flags);                                                    \\
    const unsigned mode = va_arg(rest, unsigned);                             \\
    va_end(rest);                                                             \\
    pass(path, "open");                                                       \\
    return ((int (*)(int, const char*, int, ...))dlsym(RTLD_NEXT, #NAME))(at, path, flags, mode); \\
  }
OPEN(open)
OPEN(open64)
OPEN_AT(openat)
OPEN_AT(openat64)

static void pass_file(int fd, const char* call) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return;
  path[length] = '\\0';
  pass(path, call);
}

ssize_t sendmsg(int fd, const struct msghdr* message, int flags) {
  pass("", "sendmsg()");
  return ((ssize_t (*)(int, const struct msghdr*, int))dlsym(RTLD_NEXT, "sendmsg"))(fd, message, flags);
}
ssize_t pwritev(int fd, const struct iovec* segments, int count, off_t offset) {
  pass_file(fd, "write");
  return ((ssize_t (*)(int, const struct iovec*, int, off_t))dlsym(RTLD_NEXT, "pwritev"))(fd, segments, count,
                                                                                          offset);
}
int fdatasync(int fd) {
  pass_file(fd, "sync");
  return ((int (*)(int))dlsym(RTLD_NEXT, "fdatasync"))(fd);
}
int renameat2(int from, const char* old, int to, const char* path, unsigned flags) {
  pass(path, "rename");
  return ((int (*)(int, const char*, int, const char*, unsigned))dlsym(RTLD_NEXT, "renameat2"))(from, old, to, path,
                                                                                              flags);
}
"""


class FileGate:
    """A process with its `environment` is held once: at the first call whose text contains `holds`. The text is the
    path, a space, and "open", "write", "sync" (the file is open under that path), "rename" (to that path) or
    "sendmsg()" (the path is empty)."""

    def __init__(self, directory, holds):
        self.path = directory / "gate"
        (directory / "gate.c").write_text(SOURCE)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", f"{self.path}.so", directory / "gate.c", "-ldl"], check=True)
        for fifo in ("came", "go"):
            os.mkfifo(f"{self.path}.{fifo}")
        self.environment = {"LD_PRELOAD": f"{self.path}.so", "GATE": str(self.path), "GATE_HOLDS": holds}

    def wait(self):
        """Waits until a process is held; returns its number."""
        with open(f"{self.path}.came", "rb") as came:
            return int(came.read())

    def let_go(self):
        with open(f"{self.path}.go", "wb") as go:
            go.write(b"!")

    def let_go_if_held(self):
        """Lets go of a process that a failed test has left."""
        with contextlib.suppress(OSError):  # there is none
            os.close(os.open(f"{self.path}.go", os.O_WRONLY | os.O_NONBLOCK))
