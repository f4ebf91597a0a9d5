#!/usr/bin/env python3
"""`make texture`: analyses the texture of an image without output, synchronously, and with tailrace, in turn, under
each MPI of this machine.

It prints a table of what each way takes and loses, compares all files (by a hash of their bytes), says if tailrace
keeps the bar, and draws two pictures. The results go to stdout, progress to stderr. Exit codes: 0 success, 1 it could
not continue, or two files differ; 2 wrong usage. A missed bar is no error.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import pathlib
import signal
import statistics
import sys
import time
from collections.abc import Sequence

import numpy as np
import texture_pictures
import texture_rounds as rounds
import texture_ways as ways
from texture_rounds import Rounds
from texture_ways import NONE, SYNCED, SYNCHRONOUS, WAYS, Run, Way

from tailrace import mpis
from tailrace.cli import output
from tailrace_lab.bench import machine, steal
from tailrace_lab.bench.program import Failed
from tailrace_lab.bench.runtime_directory import RuntimeDirectory
from tailrace_lab.bench.scratch import Scratch

_START = time.monotonic()
_OWN_FORMATS = {".npy", ".pgm", ".ppm"}  # what the program reads itself
_COLUMNS = ("way", "total s", "least … most", "computing s", "in calls s", "lost s", "lost / blocking",
            "lost / synced")

Runs = dict[str, dict[Way, list[Run]]]


def say(text: str) -> None:
    """Prints a line of progress."""
    print(f"texture: {time.monotonic() - _START:6.1f} s  {text}", file=sys.stderr, flush=True)


def main(words: Sequence[str] | None = None) -> int:
    """Runs it; returns the exit code."""
    arguments = _parser().parse_args(words)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that temporary files are removed
    try:
        with Scratch([arguments.dir]) as scratch, RuntimeDirectory() as runtime:
            runs = _study(arguments, scratch, runtime)
    except (Failed, OSError) as error:
        print(f"texture: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("texture: interrupted", file=sys.stderr)
        return 1
    return 0 if runs else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="compare.py", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--image", type=pathlib.Path, help="a picture (.npy, .pgm, .ppm, and what Pillow reads); "
                                                           "otherwise one is computed")
    parser.add_argument("--size", type=int, default=2048, help="rows and columns of a computed one (%(default)s)")
    parser.add_argument("--channels", type=int, default=2, help="its channels (%(default)s)")
    parser.add_argument("--blocks", action="store_true", help="ranks share rows and columns, not rows alone; then "
                                                              "their pieces lie between each other in the file")
    parser.add_argument("--show", type=int, default=0, metavar="CHANNEL", help="of the picture (%(default)s)")
    parser.add_argument("--ranks", type=int, default=min(4, len(os.sched_getaffinity(0))),
                        help="processes (%(default)s: as many as processors, at most 4)")
    parser.add_argument("--rounds", type=int, default=5, help="after one to warm up (%(default)s)")
    parser.add_argument("--mpi", help="only this one: " + " or ".join(mpis.NAMES))
    parser.add_argument("--places", default=",".join(ways.PLACES), help="of tailrace (%(default)s)")
    parser.add_argument("--budget", default="", help="of tailrace's memory, for each process (its default)")
    parser.add_argument("--tries", type=int, default=3,
                        help="most tries of a run that the host disturbs (%(default)s)")
    parser.add_argument("--dir", type=pathlib.Path, default=pathlib.Path("out/texture"),
                        help="where results and pictures go; it should be on a real disk (%(default)s)")
    parser.add_argument("--build", type=pathlib.Path, default=ways.BUILD, help="where the programs are")
    return parser


def _study(arguments: argparse.Namespace, scratch: Scratch, runtime: RuntimeDirectory) -> Runs:
    found = [mpi for mpi in mpis.find().mpis if arguments.mpi in (None, mpi.name)]
    if not found:
        raise Failed(f"found no MPI{f' named {arguments.mpi}' if arguments.mpi else ''}")
    options = [*_image_options(arguments, scratch), *(["--blocks"] if arguments.blocks else [])]
    undisturbed = steal.Steal(tries=arguments.tries)
    each = Rounds(arguments.build, scratch, runtime, undisturbed, options, arguments.ranks, arguments.budget,
                  say)
    chosen = [way for way in WAYS if way.place in ("", *arguments.places.split(","))]
    runs = {mpi.name: each.measure(mpi, chosen, arguments.rounds) for mpi in found}
    files = rounds.check_files(runs)
    _print(runs, files, arguments)
    for line in steal.told(undisturbed.document()):
        print(line)
    _save(runs, arguments, undisturbed)
    _draw(each, found[0], runs, arguments)
    return runs


def _image_options(arguments: argparse.Namespace, scratch: Scratch) -> list[object]:
    """Returns the program's options for the image; converts a picture that the program does not read."""
    if arguments.image is None:
        return ["--size", arguments.size, "--channels", arguments.channels]
    if arguments.image.suffix in _OWN_FORMATS:
        return ["--image", arguments.image]
    from matplotlib.image import imread

    pixels = np.asarray(imread(arguments.image), np.float32)
    planes = pixels[None] if pixels.ndim == 2 else np.moveaxis(pixels[..., :3], -1, 0)
    converted = scratch.of("image")[0] / "image.npy"
    np.save(converted, np.ascontiguousarray(planes / (255 if planes.max() > 1 else 1)))
    return ["--image", converted]


def _print(runs: Runs, files: int, arguments: argparse.Namespace) -> None:
    size = next(run.bytes for run in next(iter(runs.values()))[SYNCHRONOUS])
    shares = "a block" if arguments.blocks else "rows"
    print(f"{arguments.ranks} ranks with {shares} each, {output.size(size)} in each file, {arguments.rounds} rounds, "
          f"{machine.describe()['cpu']}, {machine.filesystem(arguments.dir)}")
    for mpi, of_mpi in runs.items():
        print(f"\n{mpi}")
        output.print_table(_COLUMNS, [_row(of_mpi, way) for way in of_mpi])
    print(f"\nAll {files} files are equal, byte by byte. The bar is {100 * rounds.BAR:.0f} % of the lost time:")
    for mpi, of_mpi in runs.items():
        for way in of_mpi:
            if way.place:
                alone, synced = (_verdict(of_mpi, way, base) for base in (SYNCHRONOUS, SYNCED))
                print(f"{mpi}: {way}: loses {alone} of blocking's, {synced} of that synced each time")


def _verdict(of_mpi: dict[Way, list[Run]], way: Way, base: Way) -> str:
    part = rounds.ratio(of_mpi, way, base)
    return f"{100 * part:.1f} % ({'met' if part <= rounds.BAR else 'missed'})"


def _row(of_mpi: dict[Way, list[Run]], way: Way) -> list[str]:
    made = of_mpi[way]
    totals = [run.total for run in made]
    row = [str(way), f"{statistics.median(totals):.2f}", f"{min(totals):.2f} … {max(totals):.2f}",
           f"{statistics.median(run.compute for run in made):.2f}"]
    if way == NONE:
        return [*row, "–", "–", "–", "–"]
    return [*row, f"{statistics.median(run.output for run in made):.2f}",
            f"{statistics.median(rounds.lost(of_mpi, way)):.2f}", f"{100 * rounds.ratio(of_mpi, way):.1f} %",
            f"{100 * rounds.ratio(of_mpi, way, SYNCED):.1f} %"]


def _save(runs: Runs, arguments: argparse.Namespace, undisturbed: steal.Steal) -> None:
    document = {"texture_compare": 1, "machine": machine.describe(), "steal": undisturbed.document(),
                "settings": {name: str(value) for name, value in vars(arguments).items()},
                "runs": {mpi: {str(way): [dataclasses.asdict(run) for run in made] for way, made in of_mpi.items()}
                         for mpi, of_mpi in runs.items()}}
    file = arguments.dir / "texture.json"
    file.write_text(json.dumps(document, indent=1), encoding="utf-8")
    print(f"results: {file}")


def _draw(each: Rounds, mpi: mpis.Mpi, runs: Runs, arguments: argparse.Namespace) -> None:
    filters, lost = arguments.dir / "texture.png", arguments.dir / "texture_lost.png"
    image = each.scratch.of("image")[0] / "analysed.npy"
    each.once(mpi, SYNCHRONOUS, ["--save-image", image])
    channels = np.load(image, "r")
    shown = min(arguments.show, len(channels) - 1)
    texture_pictures.draw_filters(channels[shown], each.file, shown, filters)
    texture_pictures.draw_lost(runs, lost)
    print(f"pictures: {filters}\n          {lost}")


if __name__ == "__main__":
    sys.exit(main())
