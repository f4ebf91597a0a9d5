#!/usr/bin/env python3
"""The built-in statistics against NumPy's, for random arrays of every element type.

    statistics_numpy.py PROGRAM            (TAILRACE_SEED repeats a run)
"""

import os
import random
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("skipped: no numpy")
    sys.exit(77)

TYPES = {name: name for name in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32",
                                 "float64")} | {"long_double": "longdouble"}


def arrays(generator, dtype):
    """Returns arrays of that type, of different kinds."""
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        yield generator.integers(info.min, info.max, 5000, dtype, endpoint=True)
        yield generator.integers(0, 100, 777).astype(dtype)
        return
    yield generator.normal(3, 1e6, 10_000).astype(dtype)
    yield generator.integers(-64, 65, 4097).astype(dtype)
    yield (280 + 0.01 * generator.random(100_000)).astype(dtype)
    special = generator.normal(size=3000).astype(dtype)
    special[::7] = np.nan
    special[3::100] = np.inf
    special[5::100] = -np.inf
    yield special


def expected(array):
    values = array.astype(np.float64)
    finite = values[np.isfinite(values)]
    histogram = np.histogram(finite, bins=64)[0]
    return [finite.size, np.isnan(values).sum(), np.isinf(values).sum(), finite.min(), finite.mean(), finite.max(),
            *histogram]


def check(program, name, array):
    with tempfile.NamedTemporaryFile() as file:
        array.tofile(file.name)
        words = subprocess.run([program, name, file.name], capture_output=True, text=True, check=True).stdout.split()
    found = [float(word) for word in words]
    wanted = [float(value) for value in expected(array)]
    assert found[:4] == wanted[:4] and found[5] == wanted[5], (name, found[:6], wanted[:6])
    scale = max(abs(wanted[3]), abs(wanted[5]))
    assert abs(found[4] - wanted[4]) <= 1e-13 * scale, (name, "mean", found[4], wanted[4])
    assert found[6:] == wanted[6:], (name, "histogram", found[6:], wanted[6:])


def main():
    seed = int(os.environ.get("TAILRACE_SEED", random.SystemRandom().randrange(2**32)))
    print(f"TAILRACE_SEED={seed}")
    generator = np.random.default_rng(seed)
    checked = 0
    for name, numpy_name in TYPES.items():
        for array in arrays(generator, np.dtype(numpy_name)):
            check(sys.argv[1], name, array)
            checked += 1
    print(f"{checked} arrays")


if __name__ == "__main__":
    main()
