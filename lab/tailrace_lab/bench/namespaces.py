"""Network namespaces: a network of its own for each of several processes, joined to this machine's network by a pair
of virtual cards.

Needs root and the program `ip`. All names contain the number of this process, and everything is removed at the end.
"""

from __future__ import annotations

import ipaddress
import os
import subprocess
from types import TracebackType

_NETWORK = ipaddress.ip_network("10.64.0.0/10")
_MOST = 16  # namespaces of one process


class Unavailable(Exception):
    """Says why there are no namespaces here."""


class Namespaces:
    """A context manager: namespaces 0 … count - 1. `__enter__` raises Unavailable, and leaves nothing behind."""

    def __init__(self, count: int) -> None:
        assert count <= _MOST
        self._names = [f"tr{os.getpid() % 10**7}x{number}" for number in range(count)]

    def __enter__(self) -> Namespaces:
        try:
            for number, name in enumerate(self._names):
                self._make(number, name)
        except Unavailable:
            self._remove()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self._remove()

    def inside(self, number: int) -> list[str]:
        """Returns the beginning of a command that runs in a namespace."""
        return ["ip", "netns", "exec", self._names[number]]

    def address(self, number: int) -> str:
        """Returns the address at which this machine reaches a namespace."""
        return str(self._subnet(number)[2])

    def _subnet(self, number: int) -> ipaddress.IPv4Network:
        """Returns a subnet of this process's own: two processes share one only if the last 16 bits of their numbers
        are the same."""
        index = (os.getpid() * _MOST + number) % (_NETWORK.num_addresses // 4)
        return ipaddress.ip_network((int(_NETWORK[0]) + 4 * index, 30))

    def for_ucx_inside(self, number: int) -> dict[str, str]:
        """Returns the environment of a process in a namespace that uses UCX: UCX takes both ends for one machine, and
        would use the loopback between them."""
        return {"UCX_NET_DEVICES": _there(self._names[number])}

    def device(self, number: int) -> str:
        """Returns the network device of this machine that leads to a namespace."""
        return _here(self._names[number])

    def _make(self, number: int, name: str) -> None:
        here, there = _here(name), _there(name)
        _ip("netns", "add", name)
        _ip("link", "add", here, "type", "veth", "peer", "name", there, "netns", name)
        _ip("addr", "add", f"{self._subnet(number)[1]}/30", "dev", here)
        _ip("link", "set", here, "up")
        _ip("-n", name, "addr", "add", f"{self.address(number)}/30", "dev", there)
        _ip("-n", name, "link", "set", there, "up")
        _ip("-n", name, "link", "set", "lo", "up")
        # UCX may choose another address of this machine for what comes back.
        _ip("-n", name, "route", "add", "default", "via", str(self._subnet(number)[1]))

    def _remove(self) -> None:
        for name in self._names:  # the virtual cards end with their namespace
            subprocess.run(["ip", "netns", "del", name], stderr=subprocess.DEVNULL, check=False)


def _here(name: str) -> str:
    return f"{name}a"


def _there(name: str) -> str:
    return f"{name}b"


def _ip(*words: str) -> None:
    try:
        done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    except OSError as error:
        raise Unavailable(f"ip: {error.strerror}") from None
    if done.returncode != 0:
        raise Unavailable(f"ip {' '.join(words)}: {done.stderr.strip()}")
