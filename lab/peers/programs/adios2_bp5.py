"""The pattern with ADIOS2's BP5 engine: one file, a step for each iteration, written by a thread with --asynchronous
on.

A peer of tailrace in lab/peers; peer.py has the loop. The lines that a user adds to a program are between the
marks. It uses ADIOS2 in the most favourable way that we know: puts are deferred, so that BP5 writes a large block
from the user's memory, without a copy, where it can. The elements are doubles. The minimum and maximum of each block,
which no other writer here computes, are left out unless --statistics on asks for BP5's default.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import sys

import adios2
import numpy as np
import peer


class Adios2Bp5:
    """BP5 with its defaults, except for AsyncWrite and StatsLevel."""

    name = "adios2"
    page_cache = "synced"  # DirectIO changes nothing in the wheel of 2.12.1: it opens no file with O_DIRECT

    def __init__(self, arguments: argparse.Namespace) -> None:
        self._asynchronous, self._statistics = arguments.asynchronous, arguments.statistics
        self.switches: dict[str, object] = {"asynchronous": self._asynchronous == "on",
                                            "statistics": self._statistics == "on"}

    def describe(self) -> str:
        return (f"ADIOS2 {adios2.__version__}, BP5, AsyncWrite {self._asynchronous}, "
                f"StatsLevel {int(self._statistics == 'on')}, one file")

    def open(self, directory: pathlib.Path, block: peer.Block) -> None:
        self._path, self._block = str(directory / "peer.bp"), block.view(np.float64)
        path, block = self._path, self._block
        asynchronous, statistics = self._asynchronous, "1" if self._statistics == "on" else "0"
        # user code begin
        adios = adios2.Adios()
        io = adios.declare_io("output")
        io.set_engine("BP5")
        io.set_parameters({"AsyncWrite": asynchronous, "StatsLevel": statistics})
        variable = io.define_variable("v0", block, list(block.shape), [0] * block.ndim, list(block.shape), True)
        engine = io.open(path, adios2.bindings.Mode.Write)
        # user code end
        self._adios, self._variable, self._engine = adios, variable, engine

    def put(self, iteration: int) -> None:
        engine, variable, block = self._engine, self._variable, self._block
        # user code begin
        engine.begin_step()
        engine.put(variable, block)
        engine.end_step()
        # user code end

    def finish(self) -> None:
        engine = self._engine
        # user code begin
        engine.close()
        # user code end

    def read(self, iteration: int) -> peer.Block:
        with adios2.FileReader(self._path) as reader:
            variable = reader.inquire_variable("v0")
            variable.set_step_selection([iteration, 1])
            found = reader.read(variable)
        # Reading leaves its profile there, whatever `Profile` and TMPDIR say.
        pathlib.Path(f"/tmp/peer.bp_{os.getpid():x}_profiling.json").unlink(missing_ok=True)
        return found.reshape(-1).view(np.uint8)


def switches(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--asynchronous", choices=["on", "off"], default="off")
    parser.add_argument("--statistics", choices=["on", "off"], default="off")


if __name__ == "__main__":
    sys.exit(peer.main(Adios2Bp5, switches))
