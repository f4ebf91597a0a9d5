"""Sizes, times and rates as people write them: "256MiB", "1.5 GB", "2GB/s", "400ms", "2min".

MiB is 2^20 bytes and MB is 10^6. A number without a unit is an error that lists the units, since 2 might mean GB/s or
MB/s. Commands parse their options with this; it knows nothing else of tailrace.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from fractions import Fraction

SIZES = {"B": 1, "kB": 10**3, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12,
         "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
TIMES = {"ns": Fraction(1, 10**9), "us": Fraction(1, 10**6), "µs": Fraction(1, 10**6), "ms": Fraction(1, 1000),
         "s": Fraction(1), "min": Fraction(60), "h": Fraction(3600)}

# The units that messages list; the tables above also have other spellings of these.
_SIZE_UNITS = "B, kB, MB, GB, TB, KiB, MiB, GiB or TiB"
_TIME_UNITS = "ns, us, ms, s, min or h"
_RATE_UNITS = "B/s, kB/s, MB/s, GB/s, TB/s, KiB/s, MiB/s, GiB/s or TiB/s"

# Of a simulation's time, as files have them: a factor to seconds.
_TIME_FACTORS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "ps": 1e-12, "fs": 1e-15, "as": 1e-18,
                 "min": 60.0, "h": 3600.0, "d": 86400.0}

_TEXT = re.compile(r"\s*(?P<number>[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3}(?![\d.]))?)\s*(?P<unit>\S*)\s*",
                   re.IGNORECASE | re.ASCII)
_MOST = Fraction(10) ** 30  # no sensible value is larger, and it fits a float


class QuantityError(ValueError):
    """A fault of a quantity: what was found, and what was expected."""


def parse_size(text: str) -> int:
    """"256MiB" → 268435456, in bytes, rounded to whole ones."""
    return round(_parse(text, "a size", "256MiB", SIZES, _SIZE_UNITS))


def parse_time(text: str) -> float:
    """ "400ms" → 0.4, in seconds."""
    return float(_parse(text, "a time", "400ms", TIMES, _TIME_UNITS))


def parse_rate(text: str) -> float:
    """ "2GB/s" → 2e9, in bytes a second."""
    return float(_parse(text, "a rate", "2GB/s", {f"{unit}/s": factor for unit, factor in SIZES.items()},
                        _RATE_UNITS))


def format_size(count: float) -> str:
    """268435456 → "256 MiB"."""
    value = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(value) < 1024:
            return f"{_digits(value)} {unit}"
        value /= 1024
    return f"{_digits(value)} TiB"


def format_time(seconds: float) -> str:
    """0.4 → "400 ms", 5.3e-6 → "5.3 µs", 2657 → "44 min 17 s"."""
    size = abs(seconds)
    if size >= 119.5:
        hours, rest = divmod(round(size), 3600)
        sign = "-" if seconds < 0 else ""
        parts = ((hours, "h"), (rest // 60, "min"), (rest % 60, "s"))
        return sign + " ".join(f"{value} {unit}" for value, unit in parts if value)
    for unit, factor in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if size >= 0.9995 * factor:
            return f"{_digits(seconds / factor)} {unit}"
    return f"{_digits(seconds / 1e-9)} ns" if size >= 5e-13 else "0 s"


def unit_of_time(factor: float) -> str:
    """1e-3 → "ms", 7.0 → "7 s"."""
    names = (name for name, one in _TIME_FACTORS.items() if math.isclose(one, factor))
    return next(names, f"{factor:.15g} s")


def format_rate(rate: float) -> str:
    """2e9 → "2 GB/s"."""
    value = float(rate)
    for unit in ("B", "kB", "MB", "GB"):
        if abs(value) < 1000:
            return f"{_digits(value)} {unit}/s"
        value /= 1000
    return f"{_digits(value)} TB/s"


def counted(count: int, noun: str) -> str:
    """(1, "block") → "1 block", (2, "block") → "2 blocks"."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def decimals(value: float) -> int:
    """Returns the decimals with which a value shows three significant digits: 2.345 → 2, 0.0123 → 4, 1234 → 0."""
    size = abs(value)
    if not 0 < size < math.inf:
        return 2
    return max(0, 2 - math.floor(math.log10(size * 1.0005)))


def three(value: float) -> str:
    """Returns a value with three significant digits, with zeros at the end, so that columns compare."""
    if 0 < abs(value) < 1e-4:
        return f"{value:.2e}"
    return f"{value:.{decimals(value)}f}"


def percent(share: float, sign: str = "") -> str:
    """Returns a share in percent with three significant digits, and one decimal at most: 0.1234 → "12.3", 1.234 →
    "123". `sign` is "+" to show it always."""
    value = 100 * share
    return f"{value:{sign}.{min(1, decimals(value))}f}"


def _digits(value: float) -> str:
    """Formats three significant digits, without an exponent and without trailing zeros."""
    size = abs(value)
    if size >= 99.95:
        return f"{value:.0f}"
    text = f"{value:.1f}" if size >= 9.995 else f"{value:.2f}" if size >= 0.9995 else f"{value:.3g}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _parse(text: str, what: str, example: str, units: Mapping[str, Fraction | int], names: str) -> Fraction:
    match = _TEXT.fullmatch(text)
    if not match:
        raise QuantityError(f"expected {what} such as {example}, found {text!r}")
    # Greek mu and the micro sign look the same, and people type either.
    unit = match["unit"].replace("\u03bc", "\u00b5")
    if not unit:
        raise QuantityError(f"expected {what} with a unit ({names}), such as {example}, found {text!r} without one")
    if unit not in units:
        raise QuantityError(f"expected {what} in {names}, such as {example}, found {text!r}{_hint(unit, units)}")
    value = Fraction(match["number"]) * units[unit]
    if abs(value) > _MOST:
        raise QuantityError(f"expected {what} such as {example}, found {text!r}, which is beyond all measure")
    return value


def _hint(unit: str, units: Mapping[str, Fraction | int]) -> str:
    """Suggests a unit for the message. It is never assumed, since Mb is neither MB nor MiB."""
    for known in units:
        if known.lower() == unit.lower():
            return f"; did you mean {known}?"
    if f"{unit}/s" in units:
        return f"; did you mean {unit}/s?"
    return ""
