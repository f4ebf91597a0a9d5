"""Finds and runs the C++ program `pattern`, and reports its failures.

One process is one run (see lab/pattern), so that memory and caches belong to that run alone. Every failure, down to
an answer that is not JSON, becomes one exception, Failed. It knows nothing of what the runs are for.
"""

from __future__ import annotations

import json
import pathlib
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Report = dict[str, Any]  # the program's output: one JSON document

_PLACE = pathlib.Path("build/release/lab/pattern/pattern")
_FOLDER = pathlib.Path(__file__).parents[1]  # of the package

# None of our runs takes an hour, so one that does hangs.
_SECONDS = 3600.0


class Failed(RuntimeError):
    """Says why the test-bed cannot continue."""


@dataclass(frozen=True)
class Program:
    """The program, ready to be run."""

    path: pathlib.Path
    environment: Mapping[str, str] | None = None  # None: that of this process

    def run(self, arguments: Sequence[str]) -> Report:
        """Makes one run of computing and writing in turn."""
        return self._ask("pattern_run", ["run", *arguments])

    def calibrate(self, arguments: Sequence[str], seconds: float) -> float:
        """Returns the seconds for one pass of a kernel, found by running it for about `seconds`."""
        answer = self._ask("pattern_calibrate", ["calibrate", *arguments, "--seconds", f"{seconds:g}"])
        each = answer.get("seconds_per_pass")
        if not isinstance(each, (int, float)) or not each > 0:
            raise Failed(f"{self.path} calibrate: found seconds_per_pass {each!r}, expected a number above 0")
        return float(each)

    def measure(self, what: str, arguments: Sequence[str], count: int) -> list[tuple[float, float]]:
        """Returns `count` samples (n, seconds after n) of `what`: regression, saturation, req or copy."""
        answer = self._ask("pattern_measure", ["measure", what, *arguments, "--count", str(count)])
        samples = answer.get("samples")
        try:
            return [(float(n), float(seconds)) for n, seconds in samples or []]
        except (TypeError, ValueError):
            raise Failed(f"{self.path} measure {what}: found samples {samples!r}, expected [[n, seconds], …]"
                         ) from None

    def _ask(self, kind: str, arguments: Sequence[str]) -> Report:
        return ask([str(self.path), *arguments], kind, self.environment)


def find(given: pathlib.Path | None = None) -> Program:
    """Returns the program at `given`, or that of the repository or of the package; raises Failed, with what to do, if
    there is none."""
    return Program(locate("pattern", _PLACE, given, "--pattern"))


def locate(name: str, place: pathlib.Path, given: pathlib.Path | None, option: str) -> pathlib.Path:
    """Returns a file that a build makes: `given`, from the option `option`, or `place` in the repository, or `name`
    in the package; raises Failed."""
    # .venv is in the repository, which need not be the current directory.
    roots = [pathlib.Path(), pathlib.Path(sys.prefix).parent]
    places = [given] if given else [*(root / place for root in roots), _FOLDER / name]
    for one in places:
        if one.is_file():
            return one.resolve()
    looked = " or ".join(str(one) for one in dict.fromkeys(places))
    raise Failed(f"the program `{name}` is not at {looked}: run `make build` in tailrace's repository, or say where "
                 f"it is with {option} PATH")


def ask(command: Sequence[str], kind: str = "pattern_run", environment: Mapping[str, str] | None = None) -> Report:
    """Runs a program that, like `pattern`, prints one JSON document with `kind`: 1; raises Failed."""
    try:
        # On an interrupt or time-out, `run` ends the process before it re-raises the exception.
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS,
                              env=environment)
    except subprocess.TimeoutExpired:
        raise _failed(f"has not ended within {_SECONDS:.0f} s", command) from None
    except OSError as error:
        raise _failed(f"cannot be started: {error.strerror}", command) from None
    return answer_of(command, done.returncode, done.stdout, done.stderr, kind)


def answer_of(command: Sequence[str], code: int, said: bytes, complaints: bytes, kind: str) -> Report:
    """Returns the document of a program that has ended; raises Failed."""
    if code != 0:
        last = "; ".join(complaints.decode("utf-8", "replace").strip().splitlines()[-8:])
        raise _failed(f"{_end(code)}: {last or 'it said nothing'}", command)
    try:
        answer = json.loads(said)
    except ValueError:
        raise _failed(f"answered {said[:60]!r}, expected a JSON document", command) from None
    if not isinstance(answer, dict) or answer.get(kind) != 1:
        raise _failed(f'answered something without "{kind}": 1; is it of another version?', command)
    return answer


def _end(code: int) -> str:
    return f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"


def _failed(why: str, command: Sequence[str]) -> Failed:
    return Failed(f"the program `{pathlib.Path(command[0]).name}` {why}\n  its command was: {shlex.join(command)}")
