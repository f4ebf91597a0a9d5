"""Waiting for tickets in asyncio."""

from __future__ import annotations

import asyncio
from typing import Any

from ._errors import Error

_FIRST, _MOST = 0.0005, 0.02  # seconds between two questions
_BUSY = 112  # tailrace.Status.BUSY


async def until_ended(ticket: Any) -> bool:
    """Returns True when the request has ended. Raises tailrace.Error if it failed.

    It asks, less and less often, and sleeps between. A thread that waits would be inside the client all the time, and
    so other tasks could not use it.
    """
    pause = _FIRST
    while not _asked(ticket):
        await asyncio.sleep(pause)
        pause = min(2 * pause, _MOST)
    return True


def _asked(ticket: Any) -> bool:
    try:
        return bool(ticket.test())
    except Error as error:
        if int(error.code) != _BUSY or error.earlier:
            raise
        return False  # another thread is in a call of the client
