"""Forwarders and programs as real processes, for the tests of forwarding."""

import contextlib
import json
import os
import select
import subprocess
import sys

import h5py
import numpy as np

# Writes iterations FIRST to LAST - 1 of `file` as client CLIENT. Prints "begun STEP" when an iteration has been
# handed over, and goes on after a line of input, or without any when the input has ended. Prints "kept STEP" when
# all iterations up to that one have been published.
PROGRAM = """\
import sys
import numpy as np, tailrace
file, client, first, last = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
with tailrace.open(file, client) as out:
    for step in range(first, last):
        out.write("u", step, 1000 * client + step + np.arange(50_000.0))
        out.write("small", step, np.full(7, step, dtype="f4"))
        out.end_iteration(step)
        print("begun", step, flush=True)
        sys.stdin.readline()
        if step % 3 == 2:
            out.flush()
            print("kept", step, flush=True)
print("kept", last - 1, flush=True)
"""


class Daemon:
    """A forwarder that can be killed, and started again at its address."""

    def __init__(self, directory, root, key, number, **forward):
        self.directory, self.root, self.key, self.number, self.forward = directory, root, key, number, forward
        self.address = "127.0.0.1:0"
        self.process = None
        self.start()

    def start(self):
        config = self.directory / f"io{self.number}.yaml"
        forward = {"listen": self.address, "roots": [str(self.root)], "key": str(self.key),
                   "number": self.number, **self.forward}
        config.write_text(json.dumps({"tailrace": 1, "name": "io", "memory": {"budget": "64 MiB"},
                                      "forward": forward}))
        with open(self.directory / f"io{self.number}.log", "a") as log:
            self.process = subprocess.Popen([sys.executable, "-m", "tailrace.cli", "serve", "forward", "--config",
                                             str(config)], stdout=subprocess.PIPE, stderr=log, text=True)
        line = self.process.stdout.readline()
        assert line.startswith("listening on "), line + (self.directory / f"io{self.number}.log").read_text()
        self.address = line.split()[-1]

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


class Program:
    """A program that writes a series, and can be killed and started again where it was."""

    def __init__(self, config, directory, client, last):
        self.config, self.directory, self.client, self.last = config, directory, client, last
        self.kept = -1  # all iterations up to this one have been reported as published
        self.errors = directory.parent / f"program{client}.log"
        self.process = None
        self.start()

    def start(self):
        first = len(list(self.directory.glob(f"sim_c{self.client}_*.h5")))
        with open(self.errors, "a") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-c", PROGRAM, str(self.config), str(self.client), str(first), str(self.last)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, bufsize=0)
        self.text = b""  # that was read, and holds the lines that were not taken

    def has_line(self):
        return b"\n" in self.text

    def read(self):
        """Takes one line, and lets the program go on; returns False at the end of the output."""
        while not self.has_line():
            piece = os.read(self.process.stdout.fileno(), 4096)
            if not piece:
                return False
            self.text += piece
        line, _, self.text = self.text.partition(b"\n")
        if line.startswith(b"begun ") and not self.process.stdin.closed:
            with contextlib.suppress(BrokenPipeError):
                self.process.stdin.write(b"\n")
        if line.startswith(b"kept "):
            self.kept = max(self.kept, int(line.split()[1]))
        return True

    def end(self):
        """Waits for the end; returns the exit code."""
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        while self.read():
            pass
        self.process.stdout.close()
        return self.process.wait()

    def kill(self):
        self.process.kill()
        self.end()

    def file(self, step):
        return self.directory / f"sim_c{self.client}_{step:06d}.h5"

    def check(self):
        """Reads all files under their final names: they are right, and all are there that were reported."""
        steps = sorted(int(path.stem.split("_")[-1]) for path in self.directory.glob(f"sim_c{self.client}_*.h5"))
        assert steps == list(range(len(steps)))
        assert len(steps) > self.kept
        for step in steps:
            with h5py.File(self.file(step)) as file:
                meshes = file[f"data/{step}/meshes"]
                assert np.array_equal(meshes["u"][...], 1000 * self.client + step + np.arange(50_000.0))
                assert np.array_equal(meshes["small"][...], np.full(7, step, dtype="f4"))
        return len(steps)


def write_config(directory, out, servers, key, **forward):
    text = {"tailrace": 1, "name": "sim", "place": {"kind": "thread", "cpus": "none"}, "memory": {"budget": "8 MiB"},
            "storage": {"path": str(out), "existing": "continue"},
            "layouts": {"large": {"type": "float64", "shape": [50_000]}, "few": {"type": "float32", "shape": [7]}},
            "variables": {"u": {"layout": "large"}, "small": {"layout": "few"}},
            "forward": {"servers": servers, "key": str(key), **forward}}
    path = directory / "sim.yaml"
    path.write_text(json.dumps(text))
    return path


def next_line(programs):
    """Waits until one of the programs has printed a line, or has ended, and returns that program."""
    for program in programs:
        if program.has_line():
            return program
    streams = {program.process.stdout: program for program in programs}
    ready, _, _ = select.select(list(streams), [], [], 120)
    assert ready, "no program has printed anything for two minutes"
    return streams[ready[0]]


def seed():
    return int(os.environ.get("TAILRACE_TEST_SEED", int.from_bytes(os.urandom(4), "little")))
