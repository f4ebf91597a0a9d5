"""Hostile connections to a forwarder, with and without the key: a program that uses it does not notice.

TAILRACE_TEST_HOSTILE is their number. `make hostile` makes a million.
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import threading
import time

import pytest
from forward_world import Daemon, seed
from tailrace import cli
from tailrace.cli import forwarder

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
PROGRAM = REPOSITORY / "build/release/testing/hostile_network/hostile_network"
BUDGET = 64 << 20  # that of Daemon
BESIDE = 96 << 20  # bytes of the program itself, and of 256 handshakes

# Writes 4 KiB, waits for it, and prints the seconds that this took, as long as there is input.
WRITER = """\
import sys, time
import tailrace
with tailrace.open(sys.argv[1], 0) as out, out.open_file("honest.raw", "truncate") as file:
    for step, _ in enumerate(sys.stdin):
        begun = time.monotonic()
        file.write(bytes([step % 251]) * 4096, 4096 * (step % 64))
        out.flush()
        print(time.monotonic() - begun, flush=True)
"""


class Honest:
    """The program that must not notice."""

    def __init__(self, config):
        self.process = subprocess.Popen([sys.executable, "-c", WRITER, str(config)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.steps = 0

    def write(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        self.steps += 1
        return float(self.process.stdout.readline())

    def end(self):
        self.process.stdin.close()
        self.process.stdout.close()
        return self.process.wait()


def test_others_do_not_notice(tmp_path):
    try:
        forwarder.find()
    except forwarder.Missing as missing:
        pytest.skip(str(missing))
    if not PROGRAM.is_file():
        pytest.skip(f"the program is not built: {PROGRAM}")
    connections = int(os.environ.get("TAILRACE_TEST_HOSTILE", "1000"))
    root, key, chosen = tmp_path / "out", tmp_path / "key", seed()
    root.mkdir()
    assert cli.main(["key", "new", str(key)]) == 0
    io = Daemon(tmp_path, root, key, 0)
    config = tmp_path / "sim.yaml"
    config.write_text(json.dumps({
        "tailrace": 1, "name": "sim", "storage": {"path": str(root)},
        "layouts": {"one": {"type": "uint8", "shape": [1]}},
        "variables": {"v": {"layout": "one"}}, "forward": {"servers": [io.address], "key": str(key)}}))
    honest = Honest(config)
    try:
        quiet = [honest.write() for _ in range(300)]
        begun = time.monotonic()
        with subprocess.Popen([PROGRAM, "--address", io.address, "--key", key, "--connections", str(connections),
                               "--seed", str(chosen)], stdout=subprocess.PIPE, text=True) as attack:
            ended = threading.Event()
            threading.Thread(target=lambda: (attack.wait(), ended.set()), daemon=True).start()
            beside = [honest.write()]
            while not ended.is_set():
                beside.append(honest.write())
            found = json.loads(attack.stdout.read())
        lines = len((tmp_path / "io0.log").read_text().splitlines())
        most = high_water(io.process.pid)
        print(f"seed {chosen}: {found} in {time.monotonic() - begun:.1f} s; {len(beside)} writes beside them took "
              f"{1e6 * statistics.median(beside):.0f} µs (median), {1e3 * max(beside):.1f} ms (most), alone "
              f"{1e6 * statistics.median(quiet):.0f} µs; memory {most >> 20} MiB at most; {lines} lines of log")
        assert honest.end() == 0
        assert (root / "honest.raw").read_bytes() == expected(honest.steps)
        assert io.process.poll() is None
        assert found["handshakes"] > connections / 4 and found["unconnected"] == 0
        assert most < BUDGET + BESIDE
        assert lines < 1000
        state = forwarder.status(io.address, key)
        assert state["memory_held_bytes"] == 0 and state["files"] == 0
    finally:
        honest.process.kill()
        io.kill()


def expected(steps):
    """The bytes that the program has written."""
    blocks = [b""] * min(steps, 64)
    for step in range(max(0, steps - 64), steps):
        blocks[step % 64] = bytes([step % 251]) * 4096
    return b"".join(blocks)


def high_water(pid):
    """The most memory that a process has had, in bytes."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return 1024 * int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1])
