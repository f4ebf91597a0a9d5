"""`tailrace run`: the environment that it sets, and the errors that it reports instead of letting a program crash."""

import os
import shutil
import subprocess
import sys

import pytest
from conftest import REPOSITORY
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
                              env={**without(tmp_path), **more}, capture_output=True, text=True, timeout=600)
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
    said = run("--close", "detach", "--print")[1]
    assert "close=detach" in said and f"export LD_PRELOAD={run_command.NAMES}" in said


def test_detaching_keeps_other_preloaded_libraries(monkeypatch, tmp_path):
    added = run_command.variables(None, None, None, {"LD_PRELOAD": "/my/library.so"}, close="detach")
    assert added["LD_PRELOAD"] == f"{run_command.NAMES} /my/library.so"
    assert "LD_PRELOAD" not in run_command.variables(None, None, None, {"LD_PRELOAD": "/my/library.so"}, close="wait")
    odd = tmp_path / "with a blank"
    odd.mkdir()
    (odd / "names.so").touch()
    monkeypatch.setattr(run_command, "NAMES", odd / "names.so")
    added = run_command.variables(None, None, None, {}, close="detach")
    assert (added["LD_PRELOAD"], added["LD_LIBRARY_PATH"]) == ("names.so", str(odd))
    monkeypatch.setattr(run_command, "NAMES", tmp_path / "none.so")
    with pytest.raises(ValueError, match="found no .*none.so: the package is incomplete"):
        run_command.variables(None, None, None, {}, close="detach")


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
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert done.returncode == 1 and done.stderr == "tailrace: open 'secret.yaml': Permission denied\n"


ODD = "a b's \"100%\" ü.yaml"  # a name of a file


def test_a_configuration_whose_name_has_blanks_and_quotes(run, tmp_path):
    (tmp_path / ODD).write_text(CONFIG.replace("PLACE", "thread"))
    code, _, message = run("--config", ODD, "--summary", "--", sys.executable, "-c", WRITES, "a.h5")
    assert code == 0 and f"1 write of HDF5 data, 0.8 MiB, carried ({tmp_path / ODD})" in message, message


def test_a_key_whose_name_has_blanks_and_quotes(run, tmp_path):
    """The message of a client that cannot read its key has the whole name."""
    code, _, message = run("--forward", "localhost:1", "--key", ODD, "--", sys.executable, "-c", WRITES, "a.h5")
    assert code == 0 and str(tmp_path / ODD) in message, message


def test_words_are_quoted_alike(tmp_path):
    key, trace = tmp_path / "k e'y", tmp_path / "t,r=a%20ce"
    words = run_command.openfoam_variables(None, None, None, {}, False, ["one:1", "[::1]:2"], key, trace)
    assert words["TAILRACE_OPENFOAM"].split(" ") == [
        "forward=one:1,[::1]:2", f"key={tmp_path}/k%20e%27y", f"trace={tmp_path}/t,r=a%2520ce"]


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
    monkeypatch.setattr(run_command, "DEFAULT_PLUGINS", (tmp_path / "none", tmp_path, tmp_path.parent))
    assert (run_command.variables(None, None, None, {})["HDF5_PLUGIN_PATH"] ==
            f"{run_command.PLUGINS}:{tmp_path}:{tmp_path.parent}")
    monkeypatch.setattr(run_command, "DEFAULT_PLUGINS", (tmp_path / "none",))
    assert run_command.variables(None, None, None, {})["HDF5_PLUGIN_PATH"] == str(run_command.PLUGINS)


def test_plugins_are_where_h5py_looks_for_them():
    plain = subprocess.run([sys.executable, "-c", "import h5py\n"
                            "print(*(h5py.h5pl.get(i).decode() for i in range(h5py.h5pl.size())), sep='\\n')"],
                           env={name: value for name, value in os.environ.items() if name != "HDF5_PLUGIN_PATH"},
                           capture_output=True, text=True, check=True).stdout.split()
    assert set(plain) <= set(map(str, run_command.DEFAULT_PLUGINS))


def test_what_is_printed_is_for_a_shell(run, tmp_path):
    code, said, _ = run("--place", "core", "--budget", "2 MiB", "--print")
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
        program = [*before, "sh", "-c", "grep ^Sig[^Q] /proc/self/status; env | grep -v ^HDF5_ | sort"]
        said.append(execute(*program, env={"PATH": os.environ["PATH"]}, cwd=tmp_path).splitlines())
    assert [line for line in said[0] if not line.startswith("_=")] == \
        [line for line in said[1] if not line.startswith("_=")]


def test_a_writer_without_a_reader_ends(run):
    assert run("--", "sh", "-c", "yes | head -n1") == (0, "y\n", "")


@pytest.fixture
def odd_prefix(tmp_path):
    """An installation in a folder with a blank and a quote: the package, and tailrace-run with its libraries."""
    prefix = tmp_path / "it's here"
    (prefix / "bin").mkdir(parents=True)
    (prefix / "lib/hdf5").mkdir(parents=True)
    (prefix / "tailrace").symlink_to(run_command.PLUGINS.parent)
    (prefix / "lib/hdf5/plugin").symlink_to(run_command.PLUGINS)
    (prefix / "lib/tailrace").symlink_to(run_command.PRELOADED)
    shutil.copy(REPOSITORY / "tools/tailrace-run", prefix / "bin")
    return prefix


def test_an_installation_below_a_folder_with_a_blank(odd_prefix, tmp_path):
    (tmp_path / ODD).write_text(CONFIG.replace("PLACE", "thread"))
    package = [sys.executable, "-m", "tailrace.cli", "run", "--summary", "--config", ODD]
    for number, command in enumerate([package, [odd_prefix / "bin/tailrace-run", "--summary", "--config", ODD]]):
        done = subprocess.run([*command, "--", sys.executable, "-c", WRITES, f"{number}.h5"], cwd=tmp_path,
                              env={**without(tmp_path), "PYTHONPATH": str(odd_prefix)}, capture_output=True,
                              text=True, timeout=600)
        assert done.returncode == 0 and "1 write of HDF5 data, 0.8 MiB, carried" in done.stderr, done.stderr


@pytest.mark.parametrize("options", [
    ["--place", "core", "--summary", "--budget", "1.5GiB"], ["--place=thread", "--cpus=1,2", "--prefetch", "64 KiB"],
    ["--close", "wait", "--budget", "300MB"]])
def test_both_commands_have_one_grammar(odd_prefix, tmp_path, options):
    package = [sys.executable, "-m", "tailrace.cli", "run", *options, "--", "printenv", "HDF5_VOL_CONNECTOR"]
    alone = [odd_prefix / "bin/tailrace-run", *options, "--", "printenv", "HDF5_VOL_CONNECTOR"]
    first, second = (subprocess.run(command, env=without(tmp_path), capture_output=True, text=True, timeout=600,
                                    check=False) for command in (package, alone))
    assert sorted(first.stdout.split()) == sorted(second.stdout.split()), second.stderr
    assert first.stdout.startswith("tailrace ")


@pytest.mark.parametrize(("options", "message"), [
    (["place=core"], "found 'place=core', expected an option"), (["--plaice", "core"], "found '--plaice'"),
    (["--budget", "256"], "--budget 256, expected a size with its unit"), (["--place"], "--place without a value")])
def test_wrong_options_of_tailrace_run(odd_prefix, options, message):
    done = subprocess.run([odd_prefix / "bin/tailrace-run", *options, "--", "true"], capture_output=True, text=True,
                          timeout=600, check=False)
    assert (done.returncode, done.stdout) == (2, "") and message in done.stderr


def test_a_library_is_preloaded_from_a_folder_with_a_blank(odd_prefix, tmp_path, mpi):
    library = run_command.PRELOADED / f"libtailrace_mpiio_{mpi.name}.so"
    program = REPOSITORY / f"build/release/tests/mpiio/mpiio_random_io_{mpi.name}"
    if not library.is_file() or not program.is_file():
        pytest.skip(f"the library for {mpi.name}, or the program for it, is not built")
    package = [sys.executable, "-m", "tailrace.cli", "run", "--mpiio", "--summary"]
    environment = {**os.environ, "PYTHONPATH": str(odd_prefix), "LD_LIBRARY_PATH": "/no/such/folder",
                   "TAILRACE_RUNTIME_DIR": str(tmp_path / "run"), "OMPI_MCA_sharedfp": "^sm"}
    for number, command in enumerate([package, [odd_prefix / "bin/tailrace-run", "--mpiio", "--summary"]]):
        done = subprocess.run([*command, "--", *mpi.start(1, program, tmp_path / str(number), 1)], cwd=tmp_path,
                              env=environment, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0 and "writes of MPI-IO data" in done.stderr, done.stderr
    told = subprocess.run([*package, "--print", "--", program], env=environment, capture_output=True, text=True,
                          timeout=600).stdout
    assert f"LD_PRELOAD={library.name}\n" in told
    assert f"LD_LIBRARY_PATH='/no/such/folder:{odd_prefix}/tailrace/mpiio'".replace("it's", "it'\"'\"'s") in told


@pytest.mark.parametrize("folder", ["a:b", "a b;c"])
def test_a_folder_whose_name_no_variable_can_have(monkeypatch, capsys, tmp_path, folder):
    (tmp_path / folder / "openfoam").mkdir(parents=True)
    (tmp_path / folder / "openfoam/libtailraceFoamPreload.so").touch()
    monkeypatch.setattr(run_command, "OPENFOAM", tmp_path / folder / "openfoam")
    assert cli.main(["run", "--openfoam", "--print", "true"]) == 2
    assert f"found a colon or semicolon in {tmp_path}/{folder}/openfoam" in capsys.readouterr().err
