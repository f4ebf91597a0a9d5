"""FileGate: holds processes where they open a path or send a message, until the test lets them go on: a file system
that hangs, or the moment at which a process is to die."""

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
#include <unistd.h>

static void pass(const char* path) {
  static atomic_flag was_held = ATOMIC_FLAG_INIT;
  char name[4096], letter;
  if (path == NULL || strstr(path, getenv("GATE_HOLDS")) == NULL || atomic_flag_test_and_set(&was_held)) return;
  int (*const open_it)(const char*, int, ...) = (int (*)(const char*, int, ...))dlsym(RTLD_NEXT, "open");
  snprintf(name, sizeof name, "%s.came", getenv("GATE"));
  close(open_it(name, O_WRONLY));
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
    pass(path);                                                               \\
    return ((int (*)(const char*, int, ...))dlsym(RTLD_NEXT, #NAME))(path, flags, mode); \\
  }
#define OPEN_AT(NAME)                                                         \\
  int NAME(int at, const char* path, int flags, ...) {                        \\
    va_list rest;                                                             \\
    va_start(rest, flags);                                                    \\
    const unsigned mode = va_arg(rest, unsigned);                             \\
    va_end(rest);                                                             \\
    pass(path);                                                               \\
    return ((int (*)(int, const char*, int, ...))dlsym(RTLD_NEXT, #NAME))(at, path, flags, mode); \\
  }
OPEN(open)
OPEN(open64)
OPEN_AT(openat)
OPEN_AT(openat64)

ssize_t sendmsg(int fd, const struct msghdr* message, int flags) {
  pass("sendmsg()");
  return ((ssize_t (*)(int, const struct msghdr*, int))dlsym(RTLD_NEXT, "sendmsg"))(fd, message, flags);
}
"""


class FileGate:
    """A process with its `environment` is held once: where it first opens a path that contains `holds`. A message is
    sent to the path "sendmsg()"."""

    def __init__(self, directory, holds):
        self.path = directory / "gate"
        (directory / "gate.c").write_text(SOURCE)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", f"{self.path}.so", directory / "gate.c", "-ldl"], check=True)
        for fifo in ("came", "go"):
            os.mkfifo(f"{self.path}.{fifo}")
        self.environment = {"LD_PRELOAD": f"{self.path}.so", "GATE": str(self.path), "GATE_HOLDS": holds}

    def wait(self):
        """Returns when a process is held."""
        with open(f"{self.path}.came", "rb") as came:
            came.read()

    def let_go(self):
        with open(f"{self.path}.go", "wb") as go:
            go.write(b"!")

    def let_go_if_held(self):
        """Lets go of a process that a failed test has left."""
        with contextlib.suppress(OSError):  # there is none
            os.close(os.open(f"{self.path}.go", os.O_WRONLY | os.O_NONBLOCK))
