"""What the tests in Python share: configurations, output directories, small file systems."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator

import pytest
import tailrace
from file_gate import FileGate
from tailrace import cli, mpis
from tailrace.cli import core_server

REPOSITORY = pathlib.Path(__file__).resolve().parents[1]

CONFIG = """\
tailrace: 1
name: sim
memory: {{budget: {budget}, when_full: {when_full}}}
storage: {{path: {path}, backend: {backend}, durability: {durability}, existing: {existing}}}
layouts:
  plane: {{type: float64, shape: [4, 6]}}
  large: {{type: float64, shape: [65536]}}
variables:
  temperature: {{layout: plane, unit: K, description: of the air}}
  pressure: {{layout: plane, unit: Pa}}
  density: {{layout: plane, unit: kg/m^3}}
  field: {{layout: large}}
  other: {{layout: large}}
  third: {{layout: large}}
"""


@pytest.fixture(autouse=True)
def undisturbed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Benchmarks repeat runs that the machine's host disturbed; in tests the host must not decide how often."""
    monkeypatch.setattr("tailrace_lab.bench.steal.stolen_seconds", lambda: 0.0)


def pytest_report_header() -> str:
    """Prints once which MPI was chosen."""
    try:
        return mpis.summary()
    except mpis.WrongName as error:
        raise pytest.UsageError(str(error)) from None


@pytest.fixture(params=mpis.NAMES)
def mpi(request: pytest.FixtureRequest) -> mpis.Mpi:
    """Returns each MPI of this machine in turn."""
    found = mpis.find()
    for one in found.mpis:
        if one.name == request.param:
            return one
    pytest.skip("; ".join(why for why in found.unfit if why.startswith(request.param)) or
                f"{request.param} is not installed here")


@pytest.fixture
def out(tmp_path: pathlib.Path) -> pathlib.Path:
    """The output directory of `config`."""
    directory = tmp_path / "out"
    directory.mkdir()
    return directory


@pytest.fixture
def config(tmp_path: pathlib.Path, out: pathlib.Path) -> Callable[..., pathlib.Path]:
    """Writes a configuration; each keyword changes one thing."""

    def write(*, path: object = out, budget: str = "4 MiB", when_full: str = "block", backend: str = "auto",
              durability: str = "written", existing: str = "refuse") -> pathlib.Path:
        file = tmp_path / "sim.yaml"
        file.write_text(CONFIG.format(path=path, budget=budget, when_full=when_full, backend=backend,
                                      durability=durability, existing=existing))
        return file

    return write


@contextlib.contextmanager
def own_node() -> Iterator[pathlib.Path]:
    """Acts as a separate node: a runtime directory, also set in the environment, in which no job may be left at the
    end."""
    parent = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with (tempfile.TemporaryDirectory(prefix="tailrace-test-", dir=parent) as scratch,
          pytest.MonkeyPatch.context() as patch):
        directory = pathlib.Path(scratch, "run")
        patch.setenv("TAILRACE_RUNTIME_DIR", str(directory))
        yield directory
        deadline = time.monotonic() + 600
        while core_server.jobs() and time.monotonic() < deadline:
            pass  # a server ends shortly after its last client
        assert not core_server.jobs(), "a job is left"


def wait_for_locks(directory: pathlib.Path) -> None:
    """Waits for the locks, which a server of place core releases shortly after its client has closed."""
    for lock in directory.glob(".*.lock"):
        with contextlib.suppress(FileNotFoundError), lock.open("r+") as file:
            fcntl.lockf(file, fcntl.LOCK_EX)


def flush_until_told(client: tailrace.Client) -> None:
    """Flushes until an error comes of what happens elsewhere, such as the end of another client."""
    for _ in range(100_000):
        client.flush()


@pytest.fixture
def gates(tmp_path: pathlib.Path) -> Iterator[Callable[[str], FileGate]]:
    """Makes gates (FileGate), each in a directory of its own; at the end, lets go whom they hold."""
    made: list[FileGate] = []

    def make(holds: str) -> FileGate:
        directory = tmp_path / f"gate{len(made)}"
        directory.mkdir()
        made.append(FileGate(directory, holds))
        return made[-1]

    yield make
    for gate in made:
        gate.let_go_if_held()


@pytest.fixture
def runtime_directory() -> Iterator[pathlib.Path]:
    """The runtime directory of a separate node."""
    with own_node() as directory:
        yield directory


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Callable[..., tuple[object, str, str]]:
    """Runs the command line in this process; returns exit code, output and messages."""

    def call(*arguments: object) -> tuple[object, str, str]:
        try:
            code: object = cli.main([str(argument) for argument in arguments])
        except SystemExit as stopped:
            code = stopped.code
        captured = capfd.readouterr()
        return code, captured.out, captured.err

    return call


@pytest.fixture
def small_disk(tmp_path: pathlib.Path) -> Iterator[pathlib.Path]:
    """A file system of 1 MiB; the test is skipped if none can be mounted."""
    directory = tmp_path / "small"
    directory.mkdir()
    mounted = shutil.which("mount") and subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", directory], capture_output=True).returncode == 0
    if not mounted:
        pytest.skip("cannot mount a tmpfs here")
    yield directory
    subprocess.run(["umount", "-l", directory], check=True)


@pytest.fixture
def python(tmp_path: pathlib.Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs Python code in a separate process, in the test's directory."""

    def run(text: str, *arguments: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, "-c", text, *map(str, arguments)], cwd=tmp_path, text=True,
                              capture_output=True, timeout=600, env={**os.environ, "PYTHONWARNINGS": "default"})

    return run
