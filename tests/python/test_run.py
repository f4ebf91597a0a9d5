"""`tailrace run`: the environment that it sets, and the errors that it reports instead of letting a program crash."""

import os
import subprocess
import sys

import pytest
from hdf5.carried import as_nobody_special, execute, python, without
from tailrace import cli
from tailrace.cli import run as run_command

WRITES = """
import sys
import h5py, numpy
with h5py.File(sys.argv[1], "w") as file:
    file["x"] = numpy.arange(100000.0)
"""

CONFIG = """\
tailrace: 1
name: hdf5
place: {kind: PLACE}
storage: {path: out}
memory: {budget: 4 MiB}
"""


@pytest.fixture
def run(tmp_path):
    """Runs the command in a separate process; returns exit code, output and messages."""
    def start(*arguments, **more):
        done = subprocess.run([sys.executable, "-m", "tailrace.cli", "run", *map(str, arguments)], cwd=tmp_path,
                              env={**without(tmp_path), **more}, capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout, done.stderr
    return start


@pytest.fixture
def refused(tmp_path, run):
    """Asserts that a program is not started, and returns exit code and message, which is one line."""
    def start(*options, program=("touch", "started"), **more):
        code, said, message = run(*options, "--", *program, **more)
        assert not (tmp_path / "started").exists() and said == ""
        assert message.startswith("tailrace: ") and message.count("\n") == 1, message
        return code, message
    return start


def test_files_may_be_detached(run, tmp_path):
    assert run("--close", "detach", "--", sys.executable, "-c", WRITES, tmp_path / "a.h5") == (0, "", "")
    assert (tmp_path / "a.h5").exists()
    assert "close=detach" in run("--close", "detach", "--print")[1]


def test_the_exit_code_is_the_programs(run):
    assert run("--", sys.executable, "-c", "import sys; print('said'); sys.exit(7)") == (7, "said\n", "")


def test_what_follows_belongs_to_the_program(run):
    assert run("--", "echo", "--place", "core", "--", "-x") == (0, "--place core -- -x\n", "")


@pytest.mark.parametrize("name", ["none.yaml", "."])
def test_no_configuration(refused, name):
    code, message = refused("--config", name)
    assert code == 2 and f"found no file {name}" in message


def test_a_wrong_configuration(refused, tmp_path):
    (tmp_path / "wrong.yaml").write_text(CONFIG.replace("PLACE", "moon"))
    code, message = refused("--config", "wrong.yaml")
    assert code == 1 and "wrong.yaml:3" in message and "place.kind" in message and "moon" in message


def test_a_configuration_that_is_none(refused, tmp_path):
    (tmp_path / "picture.yaml").write_bytes(bytes(range(256)))
    code, message = refused("--config", "picture.yaml")
    assert code == 1 and "picture.yaml" in message


def test_a_configuration_that_may_not_be_read(tmp_path):
    (tmp_path / "secret.yaml").write_text(CONFIG.replace("PLACE", "thread"))
    (tmp_path / "secret.yaml").chmod(0)
    command = [*as_nobody_special(), sys.executable, "-m", "tailrace.cli", "run", "--config", "secret.yaml", "true"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and done.stderr == "tailrace: open 'secret.yaml': Permission denied\n"


def test_a_configuration_whose_name_has_a_space(refused, tmp_path):
    (tmp_path / "a b.yaml").write_text(CONFIG.replace("PLACE", "thread"))
    code, message = refused("--config", "a b.yaml")
    assert code == 2 and "a b.yaml', which HDF5 would take for its end" in message


def test_options_beside_a_configuration(refused, tmp_path):
    (tmp_path / "right.yaml").write_text(CONFIG.replace("PLACE", "thread"))
    code, message = refused("--config", "right.yaml", "--place", "core")
    assert code == 2 and "expected them in the configuration" in message


def test_a_place_that_is_unknown(run):
    code, _, message = run("--place", "moon", "--", "true")
    assert code == 2 and "'moon'" in message and "thread" in message and "core" in message


@pytest.mark.parametrize("budget, words", [("much", "found 'much'"), ("64", "expected a size with a unit"),
                                           ("0MiB", "at least 1 MiB"), ("1023KiB", "at least 1 MiB")])
def test_a_budget_that_is_none(refused, budget, words):
    code, message = refused("--budget", budget)
    assert code == 2 and words in message


def test_another_connector_is_not_taken_away(refused):
    code, message = refused(HDF5_VOL_CONNECTOR="pass_through under_vol=0;under_info={}")
    assert code == 2 and "found HDF5_VOL_CONNECTOR=pass_through in the environment" in message


def test_our_own_connector_may_be_set(run):
    """Within another `tailrace run`, this one's settings count."""
    code, said, _ = run("--place", "core", "--print", HDF5_VOL_CONNECTOR="tailrace budget=1048576")
    assert code == 0 and "export HDF5_VOL_CONNECTOR='tailrace place=core'\n" in said


def test_plugins_that_are_turned_off(refused):
    code, message = refused(HDF5_PLUGIN_PRELOAD="::")
    assert code == 2 and "HDF5_PLUGIN_PRELOAD" in message


@pytest.mark.parametrize("content, mode, words", [
    (None, 0, "found no program './program' that can be run"),
    ("true\n", 0o644, "found no program './program' that can be run"),
    ("#!/no/such/shell\n", 0o755, "cannot be run: No such file or directory"),
    ("true\n", 0o755, "cannot be run: Exec format error")])
def test_a_program_that_cannot_be_run(refused, tmp_path, content, mode, words):
    if content is not None:
        (tmp_path / "program").write_text(content)
        (tmp_path / "program").chmod(mode)
    code, message = refused(program=["./program"])
    assert code == 2 and words in message


@pytest.fixture
def other_plugins(tmp_path, monkeypatch):
    """Sets where the command looks for the connector, and prevents that it starts a program."""
    monkeypatch.setattr(run_command, "PLUGINS", tmp_path)
    monkeypatch.setattr(os, "execve", lambda *_: pytest.fail("started the program"))
    return tmp_path


def test_a_package_without_the_connector(other_plugins, capsys):
    assert cli.main(["run", "--", "true"]) == 2
    assert f"found no HDF5 connector in {other_plugins}" in capsys.readouterr().err


def test_a_connector_that_cannot_be_loaded(other_plugins, capsys):
    (other_plugins / "libtailrace_hdf5.so").write_text("no library")
    assert cli.main(["run", "--", "true"]) == 2
    message = capsys.readouterr().err
    assert "found an HDF5 connector that cannot be loaded" in message and "libtailrace_hdf5.so" in message


def test_plugins_of_the_user_are_kept(run):
    code, said, _ = run("--", "sh", "-c", "echo $HDF5_PLUGIN_PATH", HDF5_PLUGIN_PATH="/my/filters")
    assert code == 0 and said == f"{run_command.PLUGINS}:/my/filters\n"


def test_plugins_of_the_machine_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(run_command, "DEFAULT_PLUGINS", tmp_path)
    assert run_command.variables(None, None, None, {})["HDF5_PLUGIN_PATH"] == f"{run_command.PLUGINS}:{tmp_path}"
    monkeypatch.setattr(run_command, "DEFAULT_PLUGINS", tmp_path / "none")
    assert run_command.variables(None, None, None, {})["HDF5_PLUGIN_PATH"] == str(run_command.PLUGINS)


def test_what_is_printed_is_for_a_shell(run, tmp_path):
    code, said, _ = run("--place", "core", "--budget", "2 MiB")
    assert code == 0
    told = execute("sh", "-c", said + "echo $HDF5_VOL_CONNECTOR", env=without(tmp_path))
    assert told == "tailrace place=core budget=2097152\n"


def test_a_budget_of_more_than_there_is_leaves_writing_to_hdf5(run, tmp_path):
    code, _, message = run("--budget", "100TiB", "--", sys.executable, "-c", WRITES, "a.h5")
    assert code == 0 and "HDF5 writes its data itself" in message and "104857600 MiB" in message
    assert python("import h5py, sys; print(h5py.File(sys.argv[1])['x'][-1])", tmp_path / "a.h5") == "99999.0\n"


def test_a_program_finds_signals_and_variables_as_without_it(tmp_path):
    """Python ignores two signals, and sets a variable where no locale is set."""
    said = []
    for before in ([], [sys.executable, "-m", "tailrace.cli", "run", "--"]):
        program = [*before, "sh", "-c", "grep ^Sig /proc/self/status; env | grep -v ^HDF5_ | sort"]
        said.append(execute(*program, env={"PATH": os.environ["PATH"]}, cwd=tmp_path).splitlines())
    assert [line for line in said[0] if not line.startswith("_=")] == \
        [line for line in said[1] if not line.startswith("_=")]


def test_a_writer_without_a_reader_ends(run):
    assert run("--", "sh", "-c", "yes | head -n1") == (0, "y\n", "")
