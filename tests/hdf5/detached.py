"""How tests hold back what an HDF5 program has closed without waiting, and inspect it meanwhile."""

import os
import pathlib
import signal

from tailrace.cli import core_server


def lacks_seal(path):
    """Returns True if the file has HDF5's signature, and cannot be opened yet."""
    text = pathlib.Path(path).read_bytes()[:4096]
    at = text.find(b"\x89HDF\r\n\x1a\n")
    return at >= 0 and text[at + 8:at + 16] == b"tailrace"


def stopped_server():
    """Stops the node's only server, which then writes nothing; returns its process."""
    (server,) = [one["process"] for job in core_server.jobs() for one in job["servers"] if one.get("alive")]
    os.kill(server, signal.SIGSTOP)
    while "\nState:\tT" not in pathlib.Path(f"/proc/{server}/status").read_text():
        pass
    return server
