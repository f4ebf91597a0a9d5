"""The fuzz target of result files, traces, write times and quantities without a fuzzer: its kept inputs, and a run of
seeded edits of them. TAILRACE_SEED=<seed> repeats one."""

import importlib.util
import os
import random

import pytest

from conftest import REPOSITORY

FUZZ = REPOSITORY / "tests" / "fuzz"
KEPT = sorted((FUZZ / "corpus" / "results").iterdir())

_spec = importlib.util.spec_from_file_location("fuzz_results", FUZZ / "fuzz_results.py")
fuzz_results = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(fuzz_results)


@pytest.mark.parametrize("file", KEPT, ids=lambda file: file.name)
def test_kept_input(file):
    fuzz_results.check(file.read_bytes())


def test_seeded_edits():
    seed = int(os.environ.get("TAILRACE_SEED", random.SystemRandom().randrange(2**32)))
    print(f"repeat with TAILRACE_SEED={seed}")
    dice = random.Random(seed)
    kept = [file.read_bytes() for file in KEPT]
    for _ in range(2000):
        data = dice.choice(kept)
        for _ in range(dice.randint(1, 3)):
            data = fuzz_results.mutate(data, dice)
        try:
            fuzz_results.check(data)
        except Exception as error:
            raise AssertionError(f"TAILRACE_SEED={seed}: {data!r}") from error
