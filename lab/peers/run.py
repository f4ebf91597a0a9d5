#!/usr/bin/env python3
"""`make bench-peers`: installs the peers temporarily, checks that they write everything, and runs them in turn
beside tailrace.

This is the command line; rows.py has the compared rows, rounds.py the runs, tailrace_lab.bench.installs
the installation. It writes a result file (docs/formats/result.md, kind "peers") and prints its table as Markdown on
stdout; progress goes to stderr. Exit codes: 0 success, 1 it could not continue or tailrace failed, 2 wrong usage; a
peer that failed is a row with its error.
"""

from __future__ import annotations

import argparse
import datetime
import pathlib
import shlex
import signal
import sys
import time
from dataclasses import replace
from typing import Any

import rows
import table
from rounds import QUICK, Rounds, Settings
from rows import Row

import tailrace
from tailrace import quantity
from tailrace_lab.bench import machine, program, result, steal
from tailrace_lab.bench.installs import Environment, Unavailable
from tailrace_lab.bench.program import Failed, Program
from tailrace_lab.bench.scratch import Scratch
from tailrace_lab.bench.statistics import STATEMENT

_START = time.monotonic()


def say(text: str) -> None:
    """Prints a line of progress."""
    print(f"bench-peers: {time.monotonic() - _START:6.1f} s  {text}", file=sys.stderr, flush=True)


def main(words: list[str]) -> int:
    """Runs it; returns the exit code."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that temporary files are removed
    parser = _parser()
    arguments = parser.parse_args(words)
    try:
        settings = _settings(arguments)
        chosen = rows.chosen(arguments.rows.split(",") if arguments.rows else list(rows.USUAL))
        found = program.find(arguments.pattern)
    except (quantity.QuantityError, ValueError) as error:
        parser.error(str(error))
    except Failed as error:
        return _fail(str(error))
    command = shlex.join(["make", "bench-peers"] + ([f"ARGS={shlex.join(words)}"] if words else []))
    try:
        with Environment(arguments.keep_env, say) as environment, Scratch([settings.directory]) as scratch:
            document = _measure(found, settings, chosen, environment, scratch, command, arguments.verify_only)
    except (Failed, OSError) as error:
        return _fail(str(error))
    except KeyboardInterrupt:
        return _fail("interrupted")
    if document is None:
        return 0
    return _report(result.validate(document), arguments.json)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="bench-peers", description="tailrace and its peers, side by side")
    parser.add_argument("--dir", type=pathlib.Path, default=Settings.directory, help="where all write (%(default)s)")
    parser.add_argument("--json", type=pathlib.Path, default=pathlib.Path("out/peers.json"),
                        help="the result file (%(default)s)")
    parser.add_argument("--bytes", help="an iteration, such as 128MiB (64MiB)")
    parser.add_argument("--iterations", type=int)
    parser.add_argument("--ratio", help="C/W, with commas between (0.5,1,2)")
    parser.add_argument("--repeats", type=int, help="rounds (5), after one to warm up")
    parser.add_argument("--kernel", help="of `pattern run --compute` (busy)")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--rows", help=f"some of {','.join(rows.NAMES)}")
    parser.add_argument("--quick", action="store_true", help="tiny: shows that it works, measures nothing")
    parser.add_argument("--verify", dest="verify_only", action="store_true",
                        help="only check that every peer writes all; done before measuring, too")
    parser.add_argument("--keep-env", type=pathlib.Path, metavar="DIR",
                        help="install the peers there, and leave them for the next run")
    parser.add_argument("--pattern", type=pathlib.Path, help="the program `pattern`; its library lies beside it")
    return parser


def _settings(arguments: argparse.Namespace) -> Settings:
    settings = replace(QUICK if arguments.quick else Settings(), directory=arguments.dir)
    if arguments.bytes:
        settings = replace(settings, bytes=quantity.parse_size(arguments.bytes))
    if arguments.ratio:
        settings = replace(settings, ratios=tuple(float(one) for one in arguments.ratio.split(",")))
    for name in ("iterations", "repeats", "kernel", "threads"):
        if getattr(arguments, name) is not None:
            settings = replace(settings, **{name: getattr(arguments, name)})
    for name, value in (("--iterations", settings.iterations), ("--repeats", settings.repeats),
                        ("--threads", settings.threads)):
        if value < 1:
            raise ValueError(f"{name}: found {value}, expected 1 or more")
    if not all(0 < ratio < 1e6 for ratio in settings.ratios):
        raise ValueError(f"--ratio: found {arguments.ratio}, expected numbers above 0")
    if settings.bytes % 4096 or not 4096 <= settings.bytes < 1 << 31:
        raise ValueError(f"--bytes: found {arguments.bytes}, expected a multiple of 4 KiB, less than 2 GiB")
    return settings


def _measure(pattern: Program, settings: Settings, chosen: list[Row], environment: Environment, scratch: Scratch,
             command: str, verify_only: bool) -> dict[str, Any] | None:
    scratch.require(settings.bytes * settings.iterations)
    library = pattern.path.with_name("libpattern_compute.so")
    commands: dict[str, list[str]] = {}
    errors: dict[str, str] = {}
    for row in chosen:
        try:
            commands[row.name] = row.command(pattern.path, library, environment)
        except Unavailable as error:
            errors[row.name] = f"cannot be installed: {error}"
            say(f"{row.title}: {errors[row.name]}")
    rounds = Rounds(pattern, settings, scratch, chosen, commands, errors, say)
    rounds.verify()
    if verify_only:
        for row in chosen:
            print(f"{row.title}: {errors.get(row.name, 'fine')}")
        if errors:
            raise Failed(f"{len(errors)} of {len(chosen)} rows failed")
        return None
    now = datetime.datetime.now(datetime.timezone.utc)
    measured = rounds.measured()
    points = [rounds.point(ratio, measured) for ratio in settings.ratios]
    return {"tailrace_result": result.VERSION, "kind": "peers", "created": now.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "command": command, "tailrace": tailrace.__version__, "machine": machine.describe(),
            "storage": [{"directory": str(settings.directory), "page_cache": "bypassed or synced, as each run says",
                         "filesystem": machine.filesystem(scratch.directories[0])}],
            "settings": settings.document(), "statistics": STATEMENT, "measured": measured.document(),
            "points": points, "steal": rounds.steal.document()}


def _report(found: result.Result, file: pathlib.Path) -> int:
    print(table.markdown(found), end="")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        found.save(file)
    except OSError as error:
        return _fail(f"{file}: {error.strerror}")
    for line in steal.told(found.document.get("steal", {})):
        say(line)
    say(f"result: {file}")
    failed = sorted({title for point in found.points for title, one in point["series"].items() if one.get("error")})
    if failed:
        say(f"could not be measured: {', '.join(failed)}")
    return 1 if any(title.startswith("tailrace") for title in failed) else 0


def _fail(why: str) -> int:
    print(f"bench-peers: {why}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
