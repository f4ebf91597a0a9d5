"""The demonstration's runs: starts the solver, round after round, shows its progress and reads its reports.

Each round runs without output, then synchronously, then through tailrace, so that other activity on the machine
affects all alike. A run's files are removed before the next run writes: there is never more than one series on the
disk (with `keep`, two). It removes only files with these runs' names, and judges nothing.
"""

from __future__ import annotations

import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass

from tailrace import programs, demo_data

from . import output
from .demo_display import Display
from .demo_numbers import KINDS, TITLES, Report

ROUNDS = 3

# A hump of water off the south shore of the strait: longitude, latitude, width (standard deviation, km), height (m).
SOURCE = (-124.15, 48.262, 0.9, 4.0)

# The strait and both its shores; without the ocean, whose depth would shorten the steps.
REGION = "-124.55,-123.75,48.16,48.56"

# Both give one guarantee: an output that has ended is on the device. (tailrace also syncs the directory.)
_ARGUMENTS = {
    "none": ["--output", "none"],
    "hdf5": ["--output", "hdf5", "--sync", "fdatasync"],
    "tailrace": ["--output", "tailrace", "--durability", "durable", "--trace"],
}

_OURS = re.compile(r"tsunami(_c0)?_\d{6,}\.h5(\.part)?|bathymetry\.npy|\.tsunami_c0\.lock"
                   r"|tsunami_c0\.(stats|trace)\.json")
_PERCENT = re.compile(rb"(\d+) %")


class Failed(Exception):
    """Says why the demonstration cannot continue."""


@dataclass(frozen=True)
class Settings:
    """The size of one run, and the number of rounds."""

    refine: int
    steps: int
    output_every: int
    rounds: int
    seconds: float  # no round starts that would probably end later
    forward: tuple[str, ...] = ()  # addresses of forwarders, which write tailrace's files
    key: str = ""  # their key file


# About 10 MiB for an output, and about as much computing as writing, so that there is output to hide and computing to
# hide it behind; 1.5 GB for a run, which is soon removed, and enough steps for the wave to reach the shore.
FULL = Settings(refine=27, steps=140, output_every=1, rounds=ROUNDS, seconds=50)
QUICK = Settings(refine=6, steps=40, output_every=5, rounds=1, seconds=5)


def find_program(given: pathlib.Path | None) -> pathlib.Path:
    """Returns the solver: that of the repository, else that of the package. Raises Failed, with what to do, if there
    is none."""
    # .venv is in the repository, which need not be the current directory.
    roots = [pathlib.Path(), pathlib.Path(sys.prefix).parent]
    built = [root / "build/release/apps/tsunami/tsunami" for root in roots]
    places = [given] if given else [*built, programs.FOLDER / "tsunami"]
    for place in places:
        if place.is_file():
            return place.resolve()
    looked = " or ".join(str(place) for place in dict.fromkeys(places))
    raise Failed(f"the solver is not at {looked}: run `make build` in tailrace's repository, or say where it is with "
                 "--tsunami PATH")


def run_rounds(program: pathlib.Path, directory: pathlib.Path, settings: Settings,
               keep: bool = False) -> list[dict[str, Report]]:
    """Runs up to `settings.rounds` rounds, and returns for each the report of each kind. Leaves tailrace's files of
    the last one, and with `keep` the synchronous ones."""
    directory.mkdir(parents=True, exist_ok=True)
    _clear_all(directory)
    topo = demo_data.write_juan_de_fuca(directory / "topo.asc")
    rounds: list[dict[str, Report]] = []
    begin = time.monotonic()
    with Display(settings.rounds * len(KINDS)) as display:
        while len(rounds) < settings.rounds:
            spent = time.monotonic() - begin
            if rounds and spent + spent / len(rounds) > settings.seconds:
                display.say(f"stopped after {len(rounds)} of {settings.rounds} rounds, to end within a minute: the "
                            "machine is slow or busy (--rounds N insists)")
                break
            reports: dict[str, Report] = {}
            for kind in KINDS:
                if kind == "none" or not keep:
                    _clear_all(directory)
                if kind == "hdf5":
                    _require_space(directory, reports["none"]["bytes"] * (2 if keep else 1))
                display.start(f"round {len(rounds) + 1} of {settings.rounds}, {TITLES[kind]}")
                reports[kind] = _run(program, topo, directory / kind, settings, display)
                display.end(reports[kind])
            rounds.append(reports)
    return rounds


def _run(program: pathlib.Path, topo: pathlib.Path, directory: pathlib.Path, settings: Settings,
         display: Display) -> Report:
    """Makes one run; its kind is the directory's name. Its report stays beside the directory."""
    report = directory.with_suffix(".json")
    longitude, latitude, width, height = SOURCE
    command = [
        str(program), "--topo", str(topo), f"--region={REGION}", "--refine", str(settings.refine),
        f"--gaussian={longitude},{latitude},{width},{height}", "--precision", "float64", "--progress",
        "--steps", str(settings.steps), "--output-every", str(settings.output_every),
        "--out", str(directory), "--json", str(report), *_ARGUMENTS[directory.name]]
    if directory.name == "tailrace" and settings.forward:
        command += [word for address in settings.forward for word in ("--forward", address)] + ["--key", settings.key]
    said = b""
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        try:
            while piece := os.read(process.stderr.fileno(), 4096):
                # The solver's progress bar is one line, drawn repeatedly; only its number is used here.
                said = (said + piece)[-4096:]
                if percents := _PERCENT.findall(piece):
                    display.advance(int(percents[-1]) / 100)
        except BaseException:
            process.terminate()
            raise
    if process.returncode != 0:
        lines = re.split(r"[\r\n]+", said.decode("utf-8", "replace"))
        why = "; ".join(line for line in lines if line.strip() and " %  step " not in line)
        raise Failed(f"the solver ended with exit code {process.returncode}: {why or 'it said nothing'}\n"
                     f"  its command was: {shlex.join(command)}")
    result: Report = json.loads(report.read_text(encoding="utf-8"))
    return result


def _clear_all(directory: pathlib.Path) -> None:
    for kind in KINDS:
        clear(directory / kind)
    # Unless it is forced now, a file system may free the space only later, and the next run would pay for it.
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def clear(directory: pathlib.Path) -> None:
    """Removes what a run has left in its directory, and the directory if it is then empty."""
    if not directory.is_dir():
        return
    entries = list(directory.iterdir())
    ours = [entry for entry in entries if _OURS.fullmatch(entry.name) and entry.is_file()]
    for entry in ours:
        entry.unlink()
    if len(ours) == len(entries):
        directory.rmdir()


def _require_space(directory: pathlib.Path, bytes_: float) -> None:
    needed, free = int(1.1 * bytes_), shutil.disk_usage(directory).free
    if free < needed:
        raise Failed(f"not enough room in {directory}: found {output.size(free)} free, expected "
                     f"{output.size(needed)} (see --dir)")
