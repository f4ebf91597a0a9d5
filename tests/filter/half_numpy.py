#!/usr/bin/env python3
"""Compares tailrace's rounding to float16 with NumPy's: python half_numpy.py ROUND_TO_HALF"""

import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("skipped: no NumPy here")
    sys.exit(77)


def numbers(dtype, seed):
    """Returns every half, the boundaries between them with their neighbours, and random bits."""
    halves = np.arange(0x10000, dtype=np.uint16).view(np.float16).astype(dtype)
    finite = np.sort(halves[np.isfinite(halves)])
    with np.errstate(invalid="ignore"):
        middles = (finite[:-1] + finite[1:]) / 2
    random = np.random.default_rng(seed)
    bits = np.uint32 if dtype == np.float32 else np.uint64
    noise = random.integers(0, np.iinfo(bits).max, 200_000, dtype=bits).view(dtype)
    near = (random.standard_normal(200_000) * 10.0 ** random.uniform(-10, 6, 200_000)).astype(dtype)
    above, below = (np.nextafter(middles, dtype(end)) for end in (np.inf, -np.inf))
    return np.concatenate([halves, middles, above, below, noise, near])


def rounded(program, values, by, folder):
    source, target = os.path.join(folder, "from"), os.path.join(folder, "to")
    values.tofile(source)
    subprocess.run([program, values.dtype.name, by, source, target], check=True)
    return np.fromfile(target, np.float16)


def main(program):
    seed = int(os.environ.get("TAILRACE_SEED", np.random.SeedSequence().entropy % 2**32))
    print(f"TAILRACE_SEED: {seed}")
    with tempfile.TemporaryDirectory() as folder:
        for dtype in (np.float32, np.float64):
            values = numbers(dtype, seed)
            with np.errstate(over="ignore", invalid="ignore"):
                expected = values.astype(np.float16)
            for by in ("best", "plain"):
                found = rounded(program, values, by, folder)
                is_nan = np.isnan(expected)
                assert (np.isnan(found) == is_nan).all(), f"{dtype.__name__}, {by}: NaNs differ"
                wrong = (found.view(np.uint16) != expected.view(np.uint16)) & ~is_nan
                assert not wrong.any(), (f"{dtype.__name__}, {by}: {values[wrong][0]!r} became {found[wrong][0]!r}, "
                                         f"expected {expected[wrong][0]!r}")
                print(f"{dtype.__name__}, {by}: {len(values)} numbers as NumPy rounds them")


if __name__ == "__main__":
    main(sys.argv[1])
