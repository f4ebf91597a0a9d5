"""Clients that are missing in an iteration (`tailraceMissingClients`): their data are not in its file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .quantity import counted


def of(attributes: Mapping[str, Any]) -> tuple[tuple[int, ...], int]:
    """Returns the numbers of the missing clients, and how many more have no known number."""
    clients = attributes.get("tailraceMissingClients", ())
    numbers = clients if isinstance(clients, Iterable) else [clients]
    return tuple(int(number) for number in numbers), int(attributes.get("tailraceMissingUnnamed", 0))


def sentences(iterations: Mapping[int, tuple[tuple[int, ...], int]]) -> list[str]:
    """Says which iterations lack the data of which clients: one line for those in a row that lack the same."""
    lines: list[list[Any]] = []
    for number, who in sorted(iterations.items()):
        if lines and lines[-1][2] == who:
            lines[-1][1] = number
        else:
            lines.append([number, number, who])
    return [f"iteration {first if first == last else f'{first} … {last}'} lacks data of {_text(*who)}"
            for first, last, who in lines if who != ((), 0)]


def _text(clients: tuple[int, ...], unnamed: int) -> str:
    named = f"client{'' if len(clients) == 1 else 's'} {', '.join(map(str, clients))}" if clients else ""
    others = f"{counted(unnamed, 'client')} that never came" if unnamed else ""
    return " and ".join(part for part in (named, others) if part)
