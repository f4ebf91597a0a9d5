"""The parser of the command line: a wrong usage is reported in one line, with the nearest command, option or word."""

from __future__ import annotations

import argparse
import difflib
import re
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

_REQUIRED = "the following arguments are required: "
_ALMOST = 0.6  # the ratio of difflib from which a word is a likely typo of another


class Parser(argparse.ArgumentParser):
    """As argparse's, but for how it tells a wrong usage. Its subparsers are such ones, too."""

    def error(self, message: str) -> NoReturn:
        if message.startswith(_REQUIRED):
            message = "expected " + message.removeprefix(_REQUIRED)
        command = self.prog.partition(" ")[2]
        where = f"{command}: " if command else ""
        see = " See" if message.endswith("?") else "; see"
        self.exit(2, f"tailrace: {where}{message}{see} {self.prog} --help\n")

    def parse_known_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Ends the program if there is an unknown argument: the parser of a command knows better than that above
        which options there are."""
        parsed, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(self._unknown(unknown))
        return parsed, unknown

    def _unknown(self, arguments: Sequence[str]) -> str:
        options = [one for one in arguments if re.match("--?[A-Za-z]", one)]
        if not options:
            return f"expected no more arguments, found {' '.join(map(repr, arguments))}"
        option = options[0].partition("=")[0]
        hint = did_you_mean(option, (known for known in self._option_string_actions if known.startswith("--")))
        return f"there is no option {option}{hint}"

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        hint = did_you_mean(str(value), map(str, action.choices))
        words = ", ".join(map(str, action.choices))
        if isinstance(action, argparse._SubParsersAction):
            self.error(f"there is no command {value!r}{hint}" if hint else f"there is no command {value!r} ({words})")
        raise argparse.ArgumentError(action, f"found {value!r}, expected one of {words}{hint}")


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Returns "; did you mean …?" with the known word that is nearest; "" if none is near."""
    near = difflib.get_close_matches(word, list(known), 1, _ALMOST)
    return f"; did you mean '{near[0]}'?" if near else ""
