"""The command `tailrace` without Python (src/command): its options, output and exit codes are those of the package's
command; and it hands over what it does not have itself."""

import errno
import json
import os
import pathlib
import random
import subprocess
import sys

import h5py
import numpy as np
import pytest
import tailrace
from tailrace import cli, programs

WRONG = "tailrace: 1\nname: sim\nmemory: {budgt: 8 MiB}\nlayouts: {l: {type: float46, shape: [2]}}\n"


@pytest.fixture
def native(tmp_path):
    """Runs the program; `path` is its PATH. Returns exit code, output and messages."""
    program = tmp_path / "bin/tailrace"
    program.parent.mkdir()
    program.symlink_to(programs.find("tailrace-core"))

    def call(*arguments, path=tmp_path / "bin", **environment):
        done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, timeout=600,
                              env={**os.environ, "PATH": str(path), **environment})
        return done.returncode, done.stdout, done.stderr

    return call


@pytest.fixture
def leftovers(tmp_path):
    """A directory with what a crash has left, under names that would command a terminal."""
    out = tmp_path / "out"
    with tailrace.open({"name": "sim", "layouts": {"l": {"type": "float64", "shape": [4]}},
                        "variables": {"v": {"layout": "l"}}}, path=out) as client:
        client.write("v", 0, np.ones(4))
        client.end_iteration(0)
    whole = out / "sim_c0_000000.h5"
    whole.rename(out / "sim_c0_000000.h5.part")
    (out / "\x1b]0;evil\x07\nsim_c0_000001.h5.part").write_bytes(b"torn")
    return out


@pytest.fixture
def series(tmp_path):
    """Output, statistics and a trace of a run; HDF5 files of others, damaged ones, and some with hostile names."""
    folder = tmp_path / "series"
    with tailrace.open({"name": "sim", "layouts": {"l": {"type": "float64", "shape": [4]}}, "time": {"dt": 0.5},
                        "variables": {"v": {"layout": "l", "unit": "K"}},
                        "measurements": {"report": True, "trace": True}}, path=folder) as client:
        for step in range(3):
            client.write("v", step, np.ones(4))
            client.end_iteration(step)
    with h5py.File(folder / "own\x1b[2J_It7.h5", "w") as file:
        file.attrs.update(time=1.5, timeUnitSI=1e-15)
        file["mine\n\x1b[31m"] = np.ones((2, 3), "c8")
        file["mine\n\x1b[31m"].attrs["unit"] = "\x9b31m"
    with h5py.File(folder / "foreign.h5", "w") as file:
        file["x"] = np.zeros(3)
    whole = (folder / "sim_c0_000001.h5").read_bytes()
    (folder / "sim_c0_000001.h5").write_bytes(whole[:len(whole) // 2])
    (folder / "text.h5").write_text("no HDF5")
    (folder / "sim_c0.dropped").write_bytes(b"iteration 7: \x1b]0;evil\x07\n\xff\n")
    (folder / "deep.stats.json").write_bytes(b"[" * 100_000)
    (folder / "old.stats.json").write_text('{"tailrace_stats": 0}')
    (folder / ("9" * 40 + ".h5")).write_bytes(whole)
    (folder / "trStripe_000001.h5").write_bytes(b"trStripe" + b"\xff" * 5000)
    return folder


@pytest.fixture
def configuration(tmp_path):
    file = tmp_path / "wrong.yaml"
    file.write_text(WRONG)
    (tmp_path / "right.yaml").write_text("tailrace: 1\nname: a\nlayouts: {l: {type: int8, shape: [nx]}}\n")
    return file


def package(*words):
    """Runs the command of the package, which may become another program."""
    done = subprocess.run([sys.executable, "-m", "tailrace", *map(str, words)], capture_output=True, text=True,
                          timeout=600)
    return done.returncode, done.stdout, done.stderr


def test_both_print_the_same(native, leftovers, series, configuration, tmp_path):
    right = configuration.with_name("right.yaml")
    case = tmp_path / "case"
    for part in ("system", "processor0/1", "processor1/1.partial"):
        (case / part).mkdir(parents=True)
    (case / "system/controlDict").touch()
    for words in (["recover", "--dry-run", leftovers], ["recover", "--dry-run", "--json", leftovers],
                  ["recover", "--dry-run", case], ["recover", "--json", "--dry-run", case],
                  ["recover", tmp_path / "none"], ["check", configuration], ["check", configuration, "--json"],
                  ["check", right], ["check", right, "--parameter", "nx=4"], ["check", tmp_path / "none.yaml"],
                  ["check", "--json", tmp_path / "none.yaml"], ["check", "--schema"], ["check"],
                  ["check", "a.yaml", "--jsn"], ["check", "a.yaml", "b.yaml"], ["serve"], ["serve", "forward"],
                  ["serve", "core", "--config", configuration], ["inspect", series], ["inspect", "--json", series],
                  ["inspect", *series.iterdir()], ["inspect", "--json", *series.iterdir()],
                  ["inspect", "--forward", "localhost:1"],
                  ["inspect", "--forward", "localhost:1", "--key", tmp_path / "none"], ["inspect"], ["--version"], [],
                  ["inspekt"]):
        assert native(*words) == package(*words), words


def test_recover_finishes_and_removes(native, leftovers):
    code, text, message = native("recover", leftovers, "--json")
    assert (code, message) == (0, "")
    kinds = sorted((one["kind"], one["done"]) for one in json.loads(text))
    assert kinds == [("complete", True), ("incomplete", True)]
    assert [path.name for path in leftovers.iterdir()] == ["sim_c0_000000.h5"]


def test_no_name_commands_the_terminal(native, leftovers, tmp_path):
    code, text, _ = native("recover", "--dry-run", leftovers)
    assert code == 1 and "evil" in text and "\x1b" not in text and "\x07" not in text
    assert len(text.splitlines()) == 3  # the titles, and a line for each
    names = [one["file"] for one in json.loads(native("recover", "--dry-run", "--json", leftovers)[1])]
    assert any("\x1b" in name for name in names)
    evil = tmp_path / "\x1b[2Jevil.yaml"
    evil.write_bytes(WRONG.encode() + b'"\x1b[2J\xff": 1\n')
    for text in native("check", evil)[1:] + native("check", tmp_path / "\x1b[2Jnone.yaml")[1:]:
        assert "\x1b" not in text


def test_no_content_of_a_file_commands_the_terminal(native, series):
    code, text, message = native("inspect", series, *series.iterdir())
    assert code == 1
    for said in (text, message):
        assert not [letter for letter in said if not letter.isprintable() and letter != "\n"]
    for word in ("mine", "complex64", "sim_c0_%06T.h5", "iteration 7: \ufffd]0;evil"):
        assert word in text, word
    found = json.loads(native("inspect", "--json", series)[1])[0]
    assert {one["name"] for one in found["series"]} == {"sim_c0", "own\x1b[2J_It{iteration}.h5", "trStripe"}


def test_damaged_files_end_no_command(native, series, tmp_path):
    """Each byte of a file's metadata is changed once: the command shows the file, or says why not."""
    whole = (series / "sim_c0_000002.h5").read_bytes()
    dice = random.Random(7)
    names = []
    for number in range(300):
        damaged = bytearray(whole)
        for _ in range(dice.choice([1, 1, 8])):
            damaged[dice.randrange(len(damaged))] = dice.randrange(256)
        names.append(tmp_path / f"damaged_{number:06d}.h5")
        names[-1].write_bytes(damaged[:dice.choice([len(damaged), dice.randrange(len(damaged))])])
    code, text, _ = native("inspect", "--json", *names)
    found = json.loads(text)
    assert code in (0, 1) and len(found) == 300 and all("error" in one or "iterations" in one for one in found)


def test_a_hostile_runtime_directory(native, tmp_path):
    """What another program has put there is no job, and nothing is followed or removed."""
    runtime = tmp_path / "run"
    for job in ("sim-0123456789abcdef", "\x1b[2J", "x" * 200):
        (runtime / job).mkdir(parents=True, mode=0o700)
        for name in ("client_0.segment", "client_0", "server_0.lock", "client_99999999999999999999", "ledger_0"):
            (runtime / job / name).write_bytes(b"\xff" * 5000)
    runtime.chmod(0o700)
    (tmp_path / "out").mkdir()
    for words in (["serve", "--list"], ["serve", "--list", "--json"], ["recover", tmp_path / "out"]):
        code, text, message = native(*words, TAILRACE_RUNTIME_DIR=str(runtime))
        assert code in (0, 1) and "\x1b" not in text + message, (words, message)


def test_others_are_handed_to_a_script_on_the_path(native, tmp_path):
    script = tmp_path / "other/tailrace"
    script.parent.mkdir()
    script.write_text('#!/bin/sh\necho "script: $*"\nexit 7\n')
    script.chmod(0o755)
    path = f"{tmp_path / 'bin'}:{script.parent}:/bin"
    for words in (["demo", "--quick"], ["join", "a b"], ["own-command"]):
        assert native(*words, path=path) == (7, f"script: {' '.join(words)}\n", "")


def test_a_script_that_leads_back_ends(native, tmp_path):
    script = tmp_path / "other/tailrace"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nexec {tmp_path / "bin/tailrace"} "$@"\n')
    script.chmod(0o755)
    code, _, message = native("demo", path=f"{script.parent}:{tmp_path / 'bin'}:/nowhere")
    assert code == 1 and "pip install tailrace" in message


def test_without_python_an_error_says_what_to_install(native, tmp_path):
    code, text, message = native("demo")
    assert (code, text) == (1, "") and message.count("\n") == 1
    assert message.startswith("tailrace: demo: a command of tailrace's Python package") and "pip install" in message
    # A python3 without the package, in a directory that looks like the package.
    python = tmp_path / "bin/python3"
    python.write_text('#!/bin/sh\nexec /usr/bin/python3 -S "$@"\n')
    python.chmod(0o755)
    if pathlib.Path("/usr/bin/python3").exists():
        assert native("demo", path=f"{tmp_path / 'bin'}:/bin", PYTHONPATH="") == (1, "", message)


def test_help_lists_both_kinds(native):
    code, text, _ = native("--help")
    assert code == 0
    for word in (*cli.COMMANDS, "pip install tailrace"):
        assert word in text, word
    for command in ("check", "recover", "serve", "inspect"):
        assert native(command, "--help")[0] == 0


def rest_of(terminal):
    """Returns what a terminal still has; one read may return a part of it."""
    shown = b""
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError as error:  # nobody writes there any more
            assert error.errno == errno.EIO
            return shown.decode()
        shown += piece


def test_recover_shows_on_a_terminal_how_far_it_is(native, leftovers, tmp_path):
    ours, theirs = os.openpty()
    done = subprocess.run([tmp_path / "bin/tailrace", "recover", leftovers], stdout=subprocess.PIPE, stderr=theirs,
                          text=True, timeout=600, check=True)
    os.close(theirs)
    shown = rest_of(ours)
    os.close(ours)
    assert shown.startswith("\rrecovering files: 1 done, last ") and "\x1b" not in shown
    assert shown.endswith("\r") and shown.split("\r")[-2].strip() == "", "the line is removed"
    assert done.stdout.splitlines()[0].split() == ["file", "what", "done"]
