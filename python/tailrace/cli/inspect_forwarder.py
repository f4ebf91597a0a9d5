"""The part of `tailrace inspect` that shows what a forwarder does: its clients, data servers and memory."""

from __future__ import annotations

import os
from typing import Any

from . import forwarder, output


def run(address: str, key: str | os.PathLike[str] | None, as_json: bool) -> int:
    """Prints it; returns the exit code."""
    if key is None:
        output.complain("inspect: found --forward without --key FILE")
        return 2
    try:
        state = forwarder.status(address, key)
    except forwarder.Missing as error:
        output.complain(str(error))
        return 1
    if as_json:
        output.print_json(state)
    else:
        _print(address, state)
    return 0


def _print(address: str, state: dict[str, Any]) -> None:
    seconds = max(state["seconds"], 1e-9)
    print(f"forwarder {address}: serves {', '.join(state['roots'])}; schedule {state['schedule']}")
    print(f"  {output.size(state['bytes_written'])} written in {state['seconds']:.0f} s "
          f"({output.size(int(state['bytes_written'] / seconds))}/s), storage busy "
          f"{100 * state['busy_seconds'] / seconds:.0f} % of the time")
    print(f"  memory: {output.size(state['memory_held_bytes'])} of {output.size(state['memory_bytes'])} held, "
          f"{output.size(state['memory_peak_bytes'])} at most; {state['files']} open files")
    for server in state["servers"]:
        print(f"  data server {server['server']}: {output.size(server['queued_bytes'])} queued")
    if not state["clients"]:
        print("  no clients")
        return
    output.print_table(("client", "address", "files", "waiting", "under way", "held", "written", "read", "failed"),
                       map(_row, state["clients"]))


def _row(client: dict[str, Any]) -> tuple[str, ...]:
    return (client["name"] + (" (gone)" if client["gone"] else ""), client["address"], str(client["files"]),
            str(client["waiting"]), str(client["under_way"]), output.size(client["held_bytes"]),
            output.size(client["written_bytes"]), output.size(client["read_bytes"]), str(client["failed"]))
