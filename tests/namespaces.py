"""Nodes: several nodes on one machine, for programs of MPI.

Each node is a set of namespaces, with a network card, a host name, a /dev/shm and processes of its own. Nodes share
the kernel, with its clock, and the files of all other directories, like those of a parallel file system. Their cards
meet in a bridge at a further place, the front, where mpiexec runs, so that any node may die. In place of ssh, a
script enters a node's namespaces, with a clean environment.

Needs root, `unshare`, `nsenter` and `ip`. No namespace has a name that others see, so tests may run side by side. All
namespaces end with their first processes, and these with this process, however it ends.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import pathlib
import signal
import subprocess
from collections.abc import Sequence
from types import TracebackType

from tailrace import mpis

# The first process of a node, or of the front, where processes are this machine's. Its arguments: the name of the
# host, and the file for /etc/hosts. It prints its number outside of the node, and stays until its input ends.
_FIRST_PROCESS = """\
read -r number rest </proc/self/stat
hostname "$1" && mount --bind "$2" /etc/hosts && mount -t tmpfs tmpfs /dev/shm || exit 1
[ "$$" != 1 ] || mount -t proc proc /proc || exit 1
ip link set lo up && echo "$number" && exec cat
"""

# What mpiexec starts in place of ssh: HOST WORD…, which a shell there joins and runs.
_REMOTE_SHELL = """\
#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
host=$1; shift
exec env -i PATH="$PATH" HOME="$HOME" nsenter --target "$(cat "${0%/*}/$host")" \\
  --mount --uts --ipc --net --pid -- sh -c "$*"
"""

# Preloaded into the programs. MPIs do not sleep while they wait, and at most yield, so more processes than cpus take
# very long, and longer on a busy machine: here they sleep a little. And MPICH 4.0.2 with UCX, Debian's, may hang in
# MPI_Finalize: a process that waits there for the others by way of mpiexec (PMI_FD) does not answer those that still
# wait for its UCX; here it does.
_WITH_MPI = """\
#define _GNU_SOURCE
#include <dlfcn.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

static void* worker;

int sched_yield(void) {
  const struct timespec little = {0, 1000};
  return nanosleep(&little, NULL);
}

int epoll_wait(int of, struct epoll_event* events, int most, int timeout) {
  static int (*wait)(int, struct epoll_event*, int, int);
  if (wait == NULL) wait = dlsym(RTLD_NEXT, "epoll_wait");
  const int found = wait(of, events, most, timeout);
  if (found == 0 && timeout == 0) sched_yield();
  return found;
}

int ucp_worker_create(void* context, const void* how, void** made) {
  int (*create)(void*, const void*, void**) = dlsym(RTLD_NEXT, "ucp_worker_create");
  const int error = create(context, how, made);
  if (error == 0 && worker == NULL) worker = *made;
  return error;
}

void ucp_worker_destroy(void* ending) {
  void (*destroy)(void*) = dlsym(RTLD_NEXT, "ucp_worker_destroy");
  if (ending == worker) worker = NULL;
  destroy(ending);
}

ssize_t read(int from, void* to, size_t size) {
  static ssize_t (*read_it)(int, void*, size_t);
  if (read_it == NULL) read_it = dlsym(RTLD_NEXT, "read");
  const char* const launcher = worker != NULL ? getenv("PMI_FD") : NULL;
  if (launcher != NULL && atoi(launcher) == from) {
    unsigned (*progress)(void*) = dlsym(RTLD_DEFAULT, "ucp_worker_progress");
    struct pollfd awaited = {from, POLLIN, 0};
    while (poll(&awaited, 1, 0) == 0) progress(worker);
  }
  return read_it(from, to, size);
}
"""

# Of mpiexec. The MPIs might take the nodes for one machine, and are told to use TCP.
_ARGUMENTS = {
    "mpich": ("-launcher", "ssh", "-launcher-exec", "{shell}", "-f", "{hosts}",
              "-genv", "UCX_TLS", "tcp,self", "-genv", "UCX_NET_DEVICES", "eth0"),
    "openmpi": ("--mca", "plm_rsh_agent", "{shell}", "--hostfile", "{hosts}",
                "--mca", "pml", "ob1", "--mca", "btl", "self,vader,tcp", "--mca", "mpi_yield_when_idle", "1",
                "-x", "LD_PRELOAD", "-x", "TAILRACE_MPIIO"),
}


class Unavailable(Exception):
    """Says why there are no such nodes here."""


@dataclasses.dataclass(frozen=True)
class _Mpi(mpis.Mpi):
    """An MPI whose programs have a further library preloaded."""

    preloaded: str = ""

    def start(self, processes: int, *command: object) -> list[str]:
        """Returns the command that runs `command` with `processes` processes."""
        script = f'export LD_PRELOAD="$LD_PRELOAD:{self.preloaded}"; exec "$@"'
        return super().start(processes, "sh", "-c", script, "sh", *command)


class Nodes:
    """A context manager: the hosts node0, node1 … at 10.0.0.1, 10.0.0.2 …. `__enter__` raises Unavailable, and
    leaves nothing behind. The directory, which must be empty, gets small files."""

    def __init__(self, count: int, directory: pathlib.Path) -> None:
        self._names = [f"node{number}" for number in range(count)]
        self._directory = directory
        self._holders: dict[str, subprocess.Popen[str]] = {}  # parents of the first processes
        self._processes: dict[str, int] = {}  # the first ones

    def __enter__(self) -> Nodes:
        try:
            self._make()
        except BaseException:
            self._remove()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self._remove()

    def address(self, number: int) -> str:
        """Returns the address of a node."""
        return f"10.0.0.{number + 1}"

    def inside(self, number: int) -> list[str]:
        """Returns the beginning of a command that runs on a node."""
        return ["nsenter", "--target", str(self._processes[self._names[number]]), "--mount", "--uts", "--ipc",
                "--net", "--pid", "--"]

    def over(self, mpi: mpis.Mpi, numbers: Sequence[int], in_turn: bool = False) -> mpis.Mpi:
        """Returns the MPI with a launcher that starts the ranks on these nodes: two on each, or dealt in turn. Their
        working directory is the one that this process has now."""
        slots = 1 if in_turn else 2
        hosts = self._directory / f"hosts-{mpi.name}-{slots}-{'-'.join(map(str, numbers))}"
        form = "{}:{}\n" if mpi.name == "mpich" else "{} slots={}\n"
        hosts.write_text("".join(form.format(self._names[number], slots) for number in numbers))
        words = [word.format(shell=self._directory / "shell", hosts=hosts) for word in _ARGUMENTS[mpi.name]]
        if mpi.name == "openmpi":
            words += ["--map-by", "node" if in_turn else "slot"]
        front = ("--target", str(self._processes["front"]), "--mount", "--uts", "--net",
                 f"--wdns={os.getcwd()}", "--")
        return _Mpi(mpi.name, mpi.version, mpi.cc, mpi.cxx, "nsenter",
                    (*front, mpi.launcher, *mpi.arguments, *words), self._preloaded())

    def kill(self, number: int) -> None:
        """Kills all processes of a node, if it has not been killed, and waits until they have ended."""
        if self._names[number] in self._holders:
            self._end(self._names[number])

    def processes(self, number: int) -> list[str]:
        """Returns the command lines of a node's processes, except for the first one."""
        first = self._processes[self._names[number]]
        node = os.readlink(f"/proc/{first}/ns/pid")
        found = []
        for directory in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):  # it has ended
                words = (directory / "cmdline").read_bytes()
                if words and os.readlink(directory / "ns/pid") == node and int(directory.name) != first:
                    found.append(words.replace(b"\0", b" ").decode(errors="replace"))
        return found

    def shared_memory(self, number: int) -> list[str]:
        """Returns the paths in a node's /dev/shm."""
        root = pathlib.Path(f"/proc/{self._processes[self._names[number]]}/root/dev/shm")
        return sorted(str(path.relative_to(root)) for path in root.rglob("*"))

    def _make(self) -> None:
        hosts = self._directory / "hosts"
        lines = [f"{self.address(number)} {name}" for number, name in enumerate(self._names)]
        hosts.write_text("\n".join(["127.0.0.1 localhost", "10.0.0.254 front", *lines, ""]))
        shell = self._directory / "shell"
        shell.write_text(_REMOTE_SHELL)
        shell.chmod(0o755)
        front = self._start("front", hosts)
        # With an address of its own: the lowest one of its cards changes when a node dies, and others notice it late.
        _run(front, "ip", "link", "add", "bridge", "address", "02:00:00:00:00:fe", "type", "bridge")
        _run(front, "ip", "addr", "add", "10.0.0.254/24", "dev", "bridge")
        _run(front, "ip", "link", "set", "bridge", "up")
        for number, name in enumerate(self._names):
            node = self._start(name, hosts, "--pid")
            (self._directory / name).write_text(str(node))
            _run(front, "ip", "link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", str(node))
            _run(front, "ip", "link", "set", name, "master", "bridge", "up")
            _run(node, "ip", "addr", "add", f"{self.address(number)}/24", "dev", "eth0")
            _run(node, "ip", "link", "set", "eth0", "up")

    def _start(self, name: str, hosts: pathlib.Path, *more: str) -> int:
        """Makes namespaces. Returns the number of their first process."""
        command = ["unshare", "--mount", "--uts", "--ipc", "--net", *more, "--fork", "--kill-child", "sh", "-c",
                   _FIRST_PROCESS, "sh", name, str(hosts)]
        try:
            holder = subprocess.Popen(command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE)
        except OSError as error:
            raise Unavailable(f"unshare: {error.strerror}") from None
        self._holders[name] = holder
        assert holder.stdout is not None and holder.stderr is not None
        number = holder.stdout.readline()
        if not number:
            raise Unavailable(holder.stderr.read().strip())
        self._processes[name] = int(number)
        return self._processes[name]

    def _preloaded(self) -> str:
        source = self._directory / "with_mpi.c"
        library = source.with_suffix(".so")
        if not library.exists():
            source.write_text(_WITH_MPI)
            subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True)
        return str(library)

    def _end(self, name: str) -> None:
        holder = self._holders.pop(name)
        if name in self._processes:  # the kernel kills all others of the node; `holder` ends when they have ended
            os.kill(self._processes[name], signal.SIGKILL)
        else:
            holder.kill()
        holder.communicate()

    def _remove(self) -> None:
        for name in list(self._holders):
            self._end(name)


def _run(process: int, *words: str) -> None:
    """Runs a command in the network of a process."""
    done = subprocess.run(["nsenter", "--target", str(process), "--net", "--", *words], capture_output=True,
                          text=True, check=False)
    if done.returncode != 0:
        raise Unavailable(f"{' '.join(words)}: {done.stderr.strip()}")
