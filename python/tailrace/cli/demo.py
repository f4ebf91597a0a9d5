"""`tailrace demo`: computes a tsunami, writes it with and without tailrace, and shows the difference.

It combines its neighbours: demo_runs.py runs the solver, demo_numbers.py computes figures from its reports,
demo_table.py, demo_plot_*.py and demo_page.py show them, demo_check.py reads the files back. It removes only an
earlier demonstration's files.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import pathlib
import time
from typing import Any

from tailrace import unrest

from . import demo_check, demo_numbers, demo_page, demo_runs, demo_table, output, plots


TRACE = "tsunami_c0.trace.json"


def register(subparsers: Any) -> None:
    """Adds the command."""
    parser = subparsers.add_parser(
        "demo", help="compute a tsunami and write it with and without tailrace",
        description="Computes a tsunami in the Strait of Juan de Fuca, without output, with synchronous output by "
                    "plain HDF5, and with tailrace, in turn; then compares times, memory, and the "
                    "limit that no schedule beats. Leaves files (1.5 GB) and pictures in a directory. Takes less "
                    "than a minute.")
    parser.add_argument("--dir", type=pathlib.Path, default=pathlib.Path("demo"), metavar="DIR",
                        help="where to write; files of an earlier demonstration there are replaced (default: demo)")
    parser.add_argument("--rounds", type=_rounds, metavar="N",
                        help=f"number of rounds, however long they take (default: {demo_runs.ROUNDS}, or as many as "
                             "fit into a minute)")
    parser.add_argument("--quick", action="store_true",
                        help="a tiny run, to check that everything works; measures nothing")
    parser.add_argument("--keep", action="store_true", help="keep the last synchronous run's files too")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="also write the numbers to FILE")
    parser.add_argument("--tsunami", type=pathlib.Path, metavar="PATH",
                        help="the solver (default: that of the repository or of the package)")
    parser.add_argument("--forward", metavar="HOST:PORT", action="append", default=[],
                        help="let this forwarder (tailrace serve forward) write tailrace's files; may be repeated")
    parser.add_argument("--key", metavar="FILE", default="", help="the key file of the forwarders")
    parser.set_defaults(run=run, wrong=parser.error)


def run(arguments: argparse.Namespace) -> int:
    """Runs the command; returns the exit code."""
    if bool(arguments.forward) != bool(arguments.key):
        arguments.wrong("found --forward without --key FILE" if arguments.forward else
                        "found --key without --forward HOST:PORT")
    plots.require()
    begin = time.monotonic()
    try:
        program = demo_runs.find_program(arguments.tsunami)
        settings = demo_runs.QUICK if arguments.quick else demo_runs.FULL
        settings = dataclasses.replace(settings, forward=tuple(arguments.forward), key=arguments.key)
        if arguments.rounds:
            settings = dataclasses.replace(settings, rounds=arguments.rounds, seconds=float("inf"))
        watch = unrest.Watch()
        rounds = demo_runs.run_rounds(program, arguments.dir, settings, keep=arguments.keep)
        numbers = demo_numbers.evaluate(rounds, watch.seen())
        shown = {kind: demo_numbers.typical([one[kind] for one in rounds]) for kind in demo_numbers.KINDS}
        last = rounds[-1]["tailrace"]
        demo_table.show(numbers, last["description"])
        _pictures(arguments.dir, last, shown, f"C/W = {demo_table.ratio(numbers)}", arguments.quick)
        checks = demo_check.check(last)
        report = demo_page.write(arguments.dir, numbers, last["description"], last["files"], checks, arguments.quick)
        _print_files(arguments.dir, last, rounds[-1]["hdf5"] if arguments.keep else None, checks)
        seconds = time.monotonic() - begin
        if arguments.json:
            _write_json(arguments.json, arguments.dir, numbers, last, checks, seconds)
    except (demo_runs.Failed, demo_check.Unequal, OSError) as error:
        output.complain(str(error))
        return 1
    print(f"{seconds:.0f} s, {len(rounds)} of {settings.rounds} rounds")
    if arguments.quick:
        print(demo_page.QUICK)
    print(f"report:   {report}")
    return 0


def _rounds(text: str) -> int:
    if text.isdigit() and 1 <= int(text) <= 1000:
        return int(text)
    raise argparse.ArgumentTypeError(f"expected 1 to 1000 rounds, found {text!r}")


def _pictures(directory: pathlib.Path, last: dict[str, Any], shown: dict[str, dict[str, Any]], ratio: str,
              quick: bool) -> None:
    from . import demo_plot_time, demo_plot_wave  # here: matplotlib imports slowly

    demo_plot_wave.draw(directory / "wave.png", last, demo_runs.SOURCE)
    demo_plot_time.draw(directory / "timelines.png", shown["hdf5"], shown["tailrace"], ratio, quick)


def _print_files(directory: pathlib.Path, last: dict[str, Any], synchronous: dict[str, Any] | None,
                 checks: list[str]) -> None:
    for report in (last, synchronous):
        if report:
            files = report["files"]
            print(f"files:    {files[0]} … {files[-1]}  ({len(files)}, {output.size(int(report['bytes']))}, "
                  f"{report['output']})")
    for line in checks:
        print(f"          {line}")
    print(f"pictures: {directory / 'wave.png'}")
    print(f"          {directory / 'timelines.png'}")
    print(f"trace:    {directory / 'tailrace' / TRACE}  (for a picture: tailrace report)")


def _write_json(file: pathlib.Path, directory: pathlib.Path, numbers: demo_numbers.Numbers, last: dict[str, Any],
                checks: list[str], seconds: float) -> None:
    document = {**dataclasses.asdict(numbers), "conclusion": demo_table.conclusion(numbers),
                "description": last["description"], "files": last["files"], "checks": checks,
                "pictures": [str(directory / "wave.png"), str(directory / "timelines.png")],
                "report": str(directory / "report.html"), "seconds": seconds}
    file.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
