"""For MPI programs, by mpi4py, that give ranks to place ``core``; the counterpart of tailrace_mpi.hpp.

    from mpi4py import MPI
    import tailrace.mpi

    computing = tailrace.mpi.split(MPI.COMM_WORLD, "sim.yaml")
    if computing != MPI.COMM_NULL:                  # else this rank was a server
        with tailrace.mpi.open(computing, "sim.yaml") as out:   # client = rank
            …
        computing.Free()

Without a file, give both calls what ``tailrace.open`` takes: a dictionary, or keywords such as ``variables``.

Both calls are collective over their communicator. Later calls are not: a client never communicates by MPI. A program
that leaves a core to the server by ``mpirun -n`` only needs ``tailrace.open(…, comm=MPI.COMM_WORLD)``.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from . import Client, programs, opening, ranks
from . import open as _open

__all__ = ["open", "split"]


def open(comm: Any, config: Any = None, **options: Any) -> Client:
    """Opens the client whose number is the rank in ``comm``: ``tailrace.open(config, comm=comm, …)``."""
    return _open(config, comm=comm, **options)


def split(comm: Any, config: str | os.PathLike[str] | Mapping[str, Any] | None = None, *,
          path: str | os.PathLike[str] | None = None, parameters: Mapping[str, float] | None = None, cores: int = 1,
          program: str | os.PathLike[str] | None = None, wait: float = 600.0, text: str | None = None,
          **keywords: Any) -> Any:
    """Makes servers of the last ``cores`` ranks of each node. Returns the communicator of all other ranks, in the
    same order, when the servers are ready.

    On a rank that becomes a server it returns ``MPI.COMM_NULL`` after the last client has left. ``config``, ``text``,
    ``path``, ``parameters`` and the keywords are as in ``open``, on all ranks: the servers need them, too; ``logger``
    is the clients' alone. ``cores`` is ``place.cores`` of the configuration,
    ``program`` the path of tailrace-core, if it is not where it is searched. A server to which no client comes ends
    after ``wait`` seconds. Raises, on all ranks, ValueError if a node would have no rank left to compute, and OSError
    if the system refuses a server what it needs.
    """
    from mpi4py import MPI

    file, made = opening.source(config, text, _settings(keywords), on_nodes=True)
    node = ranks.node_of(comm)
    try:
        local_rank, computing_here = node.Get_rank(), node.Get_size() - cores
        least = comm.allreduce(computing_here, op=MPI.MIN)
        if least < 1 or cores < 1:
            alone = " (the mpirun of another MPI starts each rank alone)" if comm.Get_size() == 1 else ""
            raise ValueError(f"tailrace.mpi.split: a node has {least + cores} ranks, expected more than the {cores} "
                             f"servers{alone}")
        serves = local_rank >= computing_here
        nodes = ranks.count_nodes(comm, node)
        servers = comm.allreduce(1 if serves else 0)
        computing = comm.Split(MPI.UNDEFINED if serves else 0, comm.Get_rank())
        known = ranks.Where(size=comm.Get_size() - servers, local_size=computing_here, nodes=nodes)
        given = {**known.parameters(), **(parameters or {})}
        server, failure = None, None
        if serves:
            try:
                with tempfile.TemporaryDirectory() as folder:
                    command = _command(_file(file, made, folder), local_rank - computing_here, path, program, wait)
                    server = _start(command, given)
            except OSError as error:
                failure = error
        # All ranks learn that a server cannot be started. The servers of all nodes are ready after that.
        failures = comm.allgather(None if failure is None else f"rank {comm.Get_rank()}: {failure}")
    finally:
        node.Free()
    if told := [one for one in failures if one is not None]:
        _give_up(server, computing)
        raise failure or OSError(f"tailrace.mpi.split: {told[0]}")
    if server is not None:
        _report(server.wait())
    return computing


def _give_up(server: subprocess.Popen[bytes] | None, computing: Any) -> None:
    """Ends what this rank has started."""
    from mpi4py import MPI

    if server is not None:
        server.terminate()
        server.wait()
    if computing != MPI.COMM_NULL:
        computing.Free()


def _settings(keywords: Mapping[str, Any]) -> dict[str, Any]:
    """Returns those that say what the servers do."""
    for name in keywords:
        if name not in opening.KEYWORDS:
            raise TypeError(f"split() got an unexpected keyword argument {name!r}")
    return {name: value for name, value in keywords.items() if name != "logger"}


def _file(file: str, made: str | None, folder: str) -> str:
    """Returns a file that has the configuration. A server needs it until it is ready."""
    if made is None:
        return file
    written = Path(folder, "configuration.yaml")
    written.write_text(made, encoding="utf-8")
    return str(written)


def _command(config: str | os.PathLike[str], number: int, path: str | os.PathLike[str] | None,
             program: str | os.PathLike[str] | None, wait: float) -> list[str]:
    found = program or os.environ.get("TAILRACE_SERVER") or programs.find("tailrace-core") or "tailrace-core"
    words = [os.fspath(found), "--config", os.fspath(config), "--server", str(number), "--wait", str(wait)]
    return words + ([] if path is None else ["--path", os.fspath(path)])


def _start(command: list[str], parameters: Mapping[str, float]) -> subprocess.Popen[bytes] | None:
    """Starts a server. Returns it when clients can come, or when it has failed and reported that on stderr."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    words = [*command, "--announce", str(theirs.fileno())]
    for name, value in parameters.items():
        words += ["--parameter", f"{name}={value}"]
    with ours:
        with theirs:
            try:
                server = subprocess.Popen(words, pass_fds=(theirs.fileno(),))
            except OSError as error:
                print(f"tailrace.mpi: the server's program '{command[0]}' cannot be started: {error.strerror}",
                      file=sys.stderr)
                return None
        ours.recv(256)
    return server


def _report(code: int) -> None:
    # The clients start another server, or fail and report why: no failure is silent.
    if code < 0:
        name = signal.strsignal(-code)
        print(f"tailrace.mpi: a server ended with signal {-code} ({name})", file=sys.stderr)
    elif code > 0:
        print(f"tailrace.mpi: a server ended with exit status {code}", file=sys.stderr)
