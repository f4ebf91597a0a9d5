"""UCX's own program, ucx_perftest (Debian package ucx-utils), as a peer: what the transport can do here."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time

from .program import Failed

_SECONDS = 120.0
_TRIES = 50
_PAUSE = 0.1  # seconds
PROGRAM = "ucx_perftest"


def is_here() -> bool:
    """Returns True if the program is on PATH."""
    return shutil.which(PROGRAM) is not None


def seconds_of_message(test: str, size: int, count: int, transports: str) -> float:
    """Returns the seconds that a message of `size` bytes takes in `test`, such as ucp_am_bw, over `count` messages.
    `transports`: those of UCX, or "" for its choice. Raises Failed."""
    environment = {**os.environ, **({"UCX_TLS": transports} if transports else {})}
    port = str(_free_port())
    server = subprocess.Popen([PROGRAM, "-p", port], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, env=environment)
    command = [PROGRAM, "127.0.0.1", "-p", port, "-t", test, "-s", str(size), "-n", str(count),
               "-w", str(max(1, count // 10)), "-f"]
    try:
        for _ in range(_TRIES):  # until the server listens
            done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                  timeout=_SECONDS, env=environment, check=False)
            if done.returncode == 0 or server.poll() is not None:
                break
            time.sleep(_PAUSE)
    except subprocess.TimeoutExpired:
        raise Failed(f"{PROGRAM} {test} has not ended within {_SECONDS:.0f} s") from None
    finally:
        server.kill()
        server.wait()
    return _seconds(done.stdout, done.stderr)


def _seconds(said: str, complaints: str) -> float:
    """Takes the overall time of a message, microseconds, from the last line: messages, then three times."""
    for line in reversed(said.splitlines()):
        words = line.replace("Final:", " ").split()
        try:
            numbers = [float(word) for word in words]
        except ValueError:
            continue
        if len(numbers) >= 4:
            return 1e-6 * numbers[3]
    raise Failed(f"{PROGRAM}: found no result in {said[-200:]!r} {complaints[-200:]!r}")


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
