"""HDF5's own tests with the connector: each test ends as it does without. With smallest=1 small datasets are carried,
too, which most of these tests use."""

import concurrent.futures
import dataclasses
import difflib
import re
import subprocess

import pytest
from hdf5.carried import HDF5, hdf5_program, without
from tailrace.cli import run as run_command

CONFIGURATIONS = {"defaults": "", "core": "place=core", "budget": "budget=16777216", "sync": "config=sync.yaml"}
SYNC = """\
tailrace: 1
name: hdf5
storage: {path: .}
memory: {budget: 16 MiB, when_full: sync}
"""
# Large datasets change the file's size or the count of identifiers in these (docs/hdf5-details.md).
WITH_LARGE_ONLY = ("attr", "file")
LONG = "select"
AT_ONCE = 2
TIMEOUT_S = 300


@dataclasses.dataclass
class Run:
    """The result of one of HDF5's test programs: how each test ended, in order."""

    ended: list[str]
    code: int
    said: str  # standard error, without the connector's summary
    carried: int  # writes


def run(program, arguments, directory, words=None):
    """`words` are the connector's settings; None: without it."""
    directory.mkdir()
    (directory / "sync.yaml").write_text(SYNC)
    env = {**without(directory), "srcdir": str(HDF5 / "share/hdf5-tests")}
    if words is not None:
        env |= {"HDF5_PLUGIN_PATH": str(run_command.PLUGINS), "HDF5_VOL_CONNECTOR": f"tailrace summary {words}"}
    done = subprocess.run([hdf5_program(program), *arguments], cwd=directory, env=env, capture_output=True, text=True,
                          errors="replace", timeout=TIMEOUT_S, check=False)
    summary = r"^tailrace: (\d+) (?:writes?|chunks?) of HDF5 data, .*\n"
    return Run(ended(done.stdout), done.returncode, re.sub(summary, "", done.stderr, flags=re.MULTILINE),
               sum(int(number) for number in re.findall(summary, done.stderr, re.MULTILINE)))


def ended(text):
    """Returns the lines that name a test, or say how one ended."""
    return [" ".join(line.split()) for line in text.splitlines()
            if re.search(r"^\s*Testing|PASSED|FAILED|-SKIP-|UNEXPECTED|^All tests|^\*\*\* ", line)]


def run_all(tmp_path, *runs):
    """Runs (program, arguments, words), a few at once."""
    hdf5_program(runs[0][0])
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(lambda each: run(*each[1][:2], tmp_path / str(each[0]), each[1][2]), enumerate(runs)))


def assert_same(plain, carried, name):
    difference = "\n".join(difflib.unified_diff(plain.ended, carried.ended, "plain", name, n=2, lineterm=""))
    assert not difference, difference
    assert (carried.code, carried.said) == (plain.code, plain.said), name
    assert plain.code == 0 and plain.ended and not plain.carried


def in_each_configuration(tmp_path, program, arguments=()):
    plain, *carried = run_all(tmp_path, (program, arguments, None),
                              *((program, arguments, f"{words} smallest=1") for words in CONFIGURATIONS.values()))
    return plain, dict(zip(CONFIGURATIONS, carried))


def without_asynchronous(each):
    """Plain HDF5 has no asynchronous calls, and omits these tests, which are the last."""
    begin = next(i for i, line in enumerate(each.ended) if "double init/term" in line) + 1
    return dataclasses.replace(each, ended=each.ended[:begin]), each.ended[begin:]


def test_the_api_tests_end_as_without_the_connector(tmp_path):
    plain, carried = in_each_configuration(tmp_path, "h5_api_test")
    synchronous, left_out = without_asynchronous(plain)
    assert len(synchronous.ended) > 1000 and not any("PASSED" in line for line in left_out)
    for name, each in carried.items():
        ours, asynchronous = without_asynchronous(each)
        assert_same(synchronous, ours, name)
        assert sum("PASSED" in line for line in asynchronous) > 20, asynchronous
        assert not any("FAILED" in line for line in asynchronous), asynchronous
        assert each.carried > 100


@pytest.mark.parametrize("program, arguments", [
    ("dtypes", ()), pytest.param("dsets", (), marks=pytest.mark.slow),
    ("testhdf5", [word for name in (*WITH_LARGE_ONLY, LONG) for word in ("-exclude", name)])])
def test_other_tests_end_as_without_the_connector(tmp_path, program, arguments):
    plain, carried = in_each_configuration(tmp_path, program, arguments)
    for name, each in carried.items():
        assert_same(plain, each, name)


@pytest.mark.slow
def test_long_tests_end_as_without_the_connector(tmp_path):
    selections = ("testhdf5", ("-only", LONG))
    large = ("testhdf5", [word for name in WITH_LARGE_ONLY for word in ("-only", name)])
    plain, carried, plain_large, carried_large = run_all(
        tmp_path, (*selections, None), (*selections, "place=core smallest=1"), (*large, None), (*large, ""))
    assert_same(plain, carried, "core")
    assert_same(plain_large, carried_large, "defaults")
    assert carried.carried > 0
