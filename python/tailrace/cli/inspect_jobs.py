"""`tailrace inspect DIR` for a live job of place core that writes there: how busy its servers are, and what waits.

The numbers come from the job's shared memory, each read by itself, so they may differ by a few blocks.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import tailrace
from tailrace import files, iterations

from . import core_server, inspect_files, inspect_iterations, output


def of(directory: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """Returns the jobs that write to a directory, or have died and left data for it in shared memory."""
    try:
        return core_server.jobs_of(directory)
    except (core_server.Missing, tailrace.Error):
        return []  # the contents of the files can be shown nevertheless


def show(job: dict[str, Any]) -> None:
    """Prints one job."""
    state = "running" if job["alive"] else "died, and left what `tailrace recover` writes"
    print(f"job {job['job']}: {state}; {output.size(job['shared_bytes'])} of shared memory")
    output.print_table(("server", "process", "alive for", "busy"), _servers(job))
    output.print_table(("client", "process", "server", "budget", "held by server", "blocks waiting", "written",
                        "failed"), map(_client, job["clients"]))
    for server in job["servers"]:
        _show_iterations(job, server["server"])
        _show_files(job, server["server"])


def _show_iterations(job: dict[str, Any], server: int) -> None:
    of_clients = [client.get("iterations", []) for client in job["clients"] if client.get("server") == server]
    try:
        found = iterations.together(map(iterations.read, of_clients))
    except iterations.Malformed:
        return  # a client has overwritten its own memory; the table above has the others
    inspect_iterations.show(found, "the core" if len(job["servers"]) == 1 else f"core {server}")


def _show_files(job: dict[str, Any], server: int) -> None:
    of_clients = [client.get("files", []) for client in job["clients"] if client.get("server") == server]
    try:
        found = files.together(map(files.read, of_clients))
    except files.Malformed:
        return  # see above
    inspect_files.show(found)


def _servers(job: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
    for server in job["servers"]:
        share = core_server.busy(job, server)
        age = server.get("age_seconds")
        yield (server["server"], server.get("process", "-"), "dead" if not server["alive"] else
               "-" if age is None else f"{age:.0f} s", "-" if share is None else f"{100 * share:.0f} %")


def _client(client: dict[str, Any]) -> tuple[Any, ...]:
    waiting = client.get("blocks_pending", 0) + client.get("verbs_waiting", 0)
    return (client["client"], f"{client['process']}{'' if client['alive'] else ' (dead)'}", client.get("server", "-"),
            output.size(client.get("budget", 0)), output.size(client.get("bytes_pending", 0)), waiting,
            f"{client.get('blocks_written', 0)} blocks, {output.size(client.get('bytes_written', 0))}",
            client.get("blocks_failed", 0))
