"""The HDF5 connector through the unmodified wheels of h5py and netCDF4: only the time shows the difference.

TAILRACE_SEED=… repeats the random parts.
"""

import json
import os
import pathlib
import random
import re
import subprocess
import sys

import h5py
import pytest
import tailrace
from conftest import REPOSITORY
from hdf5.same import assert_same
from tailrace import cli
from tailrace.cli import run as run_command

PROGRAM = REPOSITORY / "tests/hdf5/programs/random_calls.py"
ASYNCHRONOUS = PROGRAM.with_name("asynchronous_calls.py")
PLACES = ("thread", "core")


@pytest.fixture
def carried(tmp_path, monkeypatch):
    """Runs Python code with the connector, and returns what it printed."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setenv("TAILRACE_RUNTIME_DIR", str(tmp_path / "run"))

    def start(*arguments, place="thread", budget="16MiB", more=None):
        added = run_command.variables(None, place, budget, {})
        return execute(arguments, {**added, **(more or {})})
    return start


def execute(arguments, more=None):
    done = subprocess.run([sys.executable, *map(str, arguments)], capture_output=True, text=True, timeout=600,
                          env={**os.environ, **(more or {})}, check=False)
    assert done.returncode == 0, f"exit code {done.returncode}: {done.stderr}"
    return done.stdout


@pytest.mark.parametrize("place", PLACES)
def test_random_programs_leave_what_plain_hdf5_leaves(carried, tmp_path, place):
    seed = int(os.environ.get("TAILRACE_SEED", random.randrange(1 << 32)))
    for each in range(seed, seed + (1 if "TAILRACE_SEED" in os.environ else 5)):
        print("TAILRACE_SEED:", each)
        plain = execute([PROGRAM, each, tmp_path / "plain.h5"])
        ours = carried(PROGRAM, each, tmp_path / "ours.h5", place=place)
        assert ours == plain, f"read something else; repeat with TAILRACE_SEED={each}"
        assert_same(tmp_path / "plain.h5", tmp_path / "ours.h5")
        # Another library makes compressed chunks of another size, and so other free space, too. Filtered chunks may
        # come to lie behind a later dataset; HDF5 can't cut its space off the file when it is deleted.
        size = {name: (tmp_path / f"{name}.h5").stat().st_size for name in ("plain", "ours")}
        assert size["ours"] < 1.05 * size["plain"] + 65536 + int(plain.split()[1]), size


def test_the_connector_carries_and_tells(carried, tmp_path):
    said = carried("-c", f"""
import h5py, numpy
with h5py.File({str(tmp_path / "a.h5")!r}, "w") as file:
    data = file.create_dataset("x", (1000, 1000), "f8")
    for row in range(1000):
        data[row] = numpy.full(1000, row)
    print(h5py.h5d.DatasetID.get_offset(data.id) > 0, data[999, 0])
""")
    assert said.split() == ["True", "999.0"]


def test_whoever_has_a_dataset_open_sees_what_others_wrote(carried, tmp_path):
    """A dataset that its first write allocates, and one that presents another."""
    execute(["-c", f"import h5py; h5py.File({str(tmp_path / 'a.h5')!r}, 'w').create_dataset('x', (100000,), 'f8')"])
    said = carried("-c", f"""
import h5py
with h5py.File({str(tmp_path / "a.h5")!r}, "r+") as file:
    one, other = file["x"], file["x"]
    layout = h5py.VirtualLayout((100000,), "f8")
    layout[:] = h5py.VirtualSource(one)
    shown = file.create_virtual_dataset("v", layout)
    one[:10] = 1
    other[:] = 2
    print((one[:] == 2).all(), (shown[:] == 2).all())
    one[:] = 3
    print((shown[:] == 3).all(), (other[:] == 3).all())
""")
    assert said.split() == ["True"] * 4


def test_space_of_what_has_no_name_is_used_again_when_it_is_closed(carried, tmp_path):
    said = carried("-c", f"""
import h5py, numpy
with h5py.File({str(tmp_path / "a.h5")!r}, "w") as file:
    for number in range(20):
        file.create_dataset(None, data=numpy.full(1 << 20, 7.0))
        file.create_dataset(f"kept{{number}}", data=numpy.arange(1000))
with h5py.File({str(tmp_path / "a.h5")!r}) as file:
    print(all((file[f"kept{{number}}"][:] == numpy.arange(1000)).all() for number in range(20)))
""")
    assert said == "True\n"


def test_two_hdf5_libraries_in_one_process(carried, tmp_path):
    pytest.importorskip("netCDF4")
    said = carried("-c", f"""
import h5py, netCDF4, numpy
values = numpy.arange(100000.0).reshape(100, 1000)
with h5py.File({str(tmp_path / "a.h5")!r}, "w") as file, netCDF4.Dataset({str(tmp_path / "b.nc")!r}, "w") as other:
    other.createDimension("y", 100)
    other.createDimension("x", 1000)
    other.createVariable("v", "f8", ("y", "x"), fill_value=False)[:] = values
    file["v"] = values
    assert (other["v"][:] == values).all() and (file["v"][:] == values).all()
print("done")
""")
    assert said == "done\n"
    import h5py
    for name in ("a.h5", "b.nc"):
        with h5py.File(tmp_path / name) as file:
            assert file["v"][99, 999] == 99999.0


def test_fill_values_of_netcdf_are_where_nothing_was_written(carried, tmp_path):
    pytest.importorskip("netCDF4")
    said = carried("-c", f"""
import netCDF4, numpy
with netCDF4.Dataset({str(tmp_path / "a.nc")!r}, "w") as file:
    file.createDimension("y", 100)
    file.createDimension("x", 1000)
    for name in ("whole", "part", "none"):
        file.createVariable(name, "i4", ("y", "x"))
    file["whole"][:] = 1
    file["part"][10:20] = 2
    print(file["part"][:].mask.sum(), file["none"][:].mask.all())
with netCDF4.Dataset({str(tmp_path / "a.nc")!r}) as file:
    print((file["whole"][:] == 1).all(), (file["part"][10:20] == 2).all(), file["part"][:].mask.sum(),
          file["none"][:].mask.all())
""")
    assert said.split() == ["90000", "True", "True", "True", "90000", "True"]


@pytest.mark.parametrize("other", [None, "elsewhere"])
def test_netcdf_has_the_filters_of_its_wheel(carried, tmp_path, monkeypatch, other):
    """Those of its own, though HDF5_PLUGIN_PATH is set; also if somebody else has set it before."""
    netcdf = pytest.importorskip("netCDF4")
    monkeypatch.delenv("HDF5_PLUGIN_PATH", raising=False)  # importing netCDF4 sets it
    more = {"HDF5_PLUGIN_PATH": f"{run_command.PLUGINS}:{other}"} if other else {}
    code = """
import sys, netCDF4, numpy
kinds = sys.argv[2:]
data = numpy.arange(100000.0)
for turn in range(2):
    with netCDF4.Dataset(sys.argv[1], "w") as file:
        file.createDimension("x", 100000)
        for kind in kinds:
            file.createVariable(kind, "f8", ("x",), compression=kind)[:] = data
    with netCDF4.Dataset(sys.argv[1]) as file:
        print(*((file[kind][:] == data).all() and bool(file[kind].filters()[kind.split("_")[0]]) for kind in kinds))
"""
    kinds = ["zstd", "bzip2", "blosc_lz4", "zlib"]
    if not (pathlib.Path(netcdf.__file__).parent / "plugins/lib__nch5zstd.so").exists():
        pytest.skip("this netCDF4 has no filters of its own")
    assert carried("-c", code, tmp_path / "a.nc", *kinds, more=more).split() == ["True"] * 8
    reader = """
import sys, netCDF4
with netCDF4.Dataset(sys.argv[1]) as file:
    print(*(float(file[kind][:].sum()) for kind in sys.argv[2:]))
"""
    assert set(execute(["-c", reader, tmp_path / "a.nc", *kinds]).split()) == {str(99999 * 50000.0)}


@pytest.mark.skipif(os.geteuid() != 0, reason="needs to mount a small file system")
def test_a_full_disk_is_told_by_hdf5_itself(carried, tmp_path):
    small = tmp_path / "small"
    small.mkdir()
    code = f"""
import h5py
file = h5py.File({str(small / "a.h5")!r}, "w")
data = file.create_dataset("x", (4 << 20,), "f8")
try:
    data[:] = 1.0
    file.flush()
    print("nothing told")
except (OSError, RuntimeError) as error:
    print("told:", error)
"""
    mount = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "none", small], check=False)
    if mount.returncode != 0:
        pytest.skip("cannot mount")
    try:
        said = carried("-c", code)
        assert "told:" in said and "No space left on device" in said and str(small / "a.h5") in said
    finally:
        subprocess.run(["umount", small], check=True)


def test_run_starts_the_program_with_the_connector(tmp_path):
    said = subprocess.run([sys.executable, "-m", "tailrace.cli", "run", "--place", "core", "--budget", "1 MiB", "--",
                           sys.executable, "-c", "import os; print(os.environ['HDF5_VOL_CONNECTOR'])"],
                          capture_output=True, text=True, check=True).stdout
    assert said == "tailrace place=core budget=1048576\n"


@pytest.mark.parametrize("arguments, words", [
    (["--config", "none.yaml", "--", "true"], "found no file none.yaml"),
    (["--budget", "much", "--", "true"], "much"),
    (["--", "no-such-program"], "found no program 'no-such-program'"),
])
def test_run_says_what_is_wrong(arguments, words, capsys):
    assert cli.main(["run", *arguments]) == 2
    assert words in capsys.readouterr().err


def test_a_configuration_with_which_flush_waits_for_nothing_is_refused(tmp_path, capsys):
    config = tmp_path / "accepted.yaml"
    config.write_text("tailrace: 1\nname: hdf5\nstorage: {path: ., durability: accepted}\n")
    assert cli.main(["run", "--config", str(config), "--", "true"]) == 1
    assert "storage.durability: found 'accepted', expected written or durable" in capsys.readouterr().err
    # By hand: HDF5 itself writes everything.
    write = f"import h5py, numpy; h5py.File({str(tmp_path / 'a.h5')!r}, 'w')['x'] = numpy.arange(100000)"
    done = subprocess.run([sys.executable, "-c", write], capture_output=True, text=True, timeout=600, check=True,
                          env={**os.environ, "HDF5_PLUGIN_PATH": str(run_command.PLUGINS),
                               "XDG_RUNTIME_DIR": str(tmp_path), "HDF5_VOL_CONNECTOR": f"tailrace config={config}"})
    assert "HDF5 writes its data itself" in done.stderr and "found 'accepted'" in done.stderr
    with h5py.File(tmp_path / "a.h5") as file:
        assert file["x"][99999] == 99999


def test_wrong_information_is_told(tmp_path):
    done = subprocess.run([sys.executable, "-c", "import h5py; h5py.File('a.h5', 'w')"], capture_output=True,
                          text=True, cwd=tmp_path, check=False,
                          env={**os.environ, "HDF5_PLUGIN_PATH": str(run_command.PLUGINS),
                               "HDF5_VOL_CONNECTOR": "tailrace place=nowhere"})
    assert "found 'place=nowhere', expected config=FILE" in done.stderr
    assert isinstance(tailrace.__version__, str)


@pytest.mark.parametrize("layout", ("contiguous", "chunked", "filtered"))
@pytest.mark.parametrize("place", PLACES)
def test_event_sets_hold_writes_until_they_are_in_the_file(carried, tmp_path, place, layout):
    said = carried(ASYNCHRONOUS, tmp_path / "a.h5", 1 << 30, 64, layout, place=place, budget="4MiB").splitlines()
    assert said == ["inserted 64", "in progress 0 failed False", "whole True", "closed"]


@pytest.mark.parametrize("place", PLACES)
def test_event_sets_hold_writes_that_are_large_for_the_memory_of_a_configuration(tmp_path, monkeypatch, place):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setenv("TAILRACE_RUNTIME_DIR", str(tmp_path / "run"))
    config = tmp_path / "small.yaml"
    config.write_text(f"tailrace: 1\nname: hdf5\nplace: {{kind: {place}}}\nstorage: {{path: {tmp_path / 'report'}}}\n"
                      "memory: {budget: 8 MiB}\nmeasurements: {report: true}\n")
    added = run_command.variables(config, None, None, {})
    said = execute([ASYNCHRONOUS, tmp_path / "a.h5", 1 << 30, 2], added).splitlines()
    assert said == ["inserted 2", "in progress 0 failed False", "whole True", "closed"]
    totals = json.loads(next((tmp_path / "report").glob("*.stats.json")).read_text())["totals"]
    assert (totals["seconds_copying"] == 0) == (place == "thread"), "a thread writes from the program's own memory"


@pytest.mark.parametrize("layout, limit, why", (("contiguous", 5_000_000, "too large"),
                                                ("filtered", 60_000, "could not write the chunk at (")))
def test_event_sets_tell_what_could_not_be_written(carried, tmp_path, layout, limit, why):
    """The next call may report it, too."""
    said = carried(ASYNCHRONOUS, tmp_path / "a.h5", limit, 64, layout).splitlines()
    assert said[1:3] == ["in progress 0 failed True", "errors True H5Dwrite_async program.py"]
    told = "\n".join(said[3:])
    # Of several messages h5py shows two: ours, or HDF5's on the same write, on two lines.
    assert told.startswith("close: ") and str(tmp_path / "a.h5") in told and (why in told or "File too large" in told)


@pytest.fixture
def summed_up(tmp_path, monkeypatch):
    """Runs Python code with the connector, and returns what it printed, and its summary."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setenv("TAILRACE_RUNTIME_DIR", str(tmp_path / "run"))

    def run(program, place=None):
        added = run_command.variables(None, place, "16MiB", {}, summary=True)
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=600,
                              check=True, env={**os.environ, **added})
        return done.stdout, done.stderr

    return run


def transfers_of(summary):
    return int(re.search("; ([0-9]+) transfers?, 0 failures\n$", summary).group(1))


def test_a_summary_says_what_was_filtered(summed_up, tmp_path):
    """Without other carried data, and beside some."""
    chunks = """
import h5py, numpy
with h5py.File({file!r}, "w") as file:
    file.create_dataset("x", data=numpy.arange(1 << 21).reshape(2048, 1024), chunks=(512, 1024), compression="gzip")
    {more}
"""
    filtered = r"tailrace: 4 chunks of HDF5 data, 16\.0 MiB, filtered beside the program: \d\.\d MiB then; 0 .*\n"
    _, summary = summed_up(chunks.format(file=str(tmp_path / "a.h5"), more=""))
    assert re.fullmatch(filtered, summary)
    _, summary = summed_up(chunks.format(file=str(tmp_path / "b.h5"), more='file["y"] = numpy.zeros(1 << 17)'))
    carried = r"tailrace: 1 write of HDF5 data, 1\.0 MiB, carried .*\n"
    assert re.fullmatch(carried + filtered, summary)


def test_a_summary_says_what_was_carried(summed_up, tmp_path):
    _, summary = summed_up(f"""
import h5py, numpy
h5py.File({str(tmp_path / 'a.h5')!r}, 'w')['x'] = numpy.zeros(1 << 17)
""")
    assert summary.startswith("tailrace: 1 write of HDF5 data, 1.0 MiB, carried (place thread): ")
    assert transfers_of(summary) > 0


def test_data_that_nobody_has_written_are_read_as_with_hdf5(summed_up, tmp_path):
    """Also beyond the present end of the file; that is not a failure, and does not take many transfers."""
    said, summary = summed_up(f"""
import h5py
with h5py.File({str(tmp_path / 'a.h5')!r}, "w") as file:
    first = file.create_dataset("first", (100_000,), "f8")
    last = file.create_dataset("last", (100_000,), "f8")
    first[:50_000], last[:10] = 1, 2
    print(first[:].sum(), last[::1000].sum(), last[90_000:].sum())
""")
    assert said == "50000.0 2.0 0.0\n"
    assert transfers_of(summary) < 400  # of 100 elements, together and one by one


@pytest.mark.parametrize("place", PLACES)
def test_what_is_in_the_file_hdf5_reads_itself(summed_up, tmp_path, place):
    """Although nothing was flushed: small reads no longer wait for the writer."""
    said, summary = summed_up(f"""
import h5py, numpy
with h5py.File({str(tmp_path / 'a.h5')!r}, "w") as file:
    data = file.create_dataset("x", (1000, 1000), "f8")
    numbers = numpy.arange(1e6).reshape(1000, 1000)
    data[:] = numbers
    # When the bytes are there, the writer knows it when it is asked for others.
    with open({str(tmp_path / 'a.h5')!r}, "rb") as raw:
        while raw.seek(data.id.get_offset()) and raw.read(8_000_000) != numbers.tobytes(): pass
    print(sum(data[row, 7] == 1000 * row + 7 for row in range(1000)))
""", place)
    assert said == "1000\n"
    assert transfers_of(summary) < 500


def test_little_data_are_written_by_hdf5_alone(summed_up, tmp_path):
    """Neither small files nor a flush after each row start anything."""
    said, summary = summed_up(f"""
import h5py, numpy
for number in range(3):
    with h5py.File({str(tmp_path)!r} + f"/{{number}}.h5", "w") as file:
        file["x"] = numpy.full(10_000, float(number))
with h5py.File({str(tmp_path / 'rows.h5')!r}, "w") as file:
    rows = file.create_dataset("rows", (100, 1000), "f8")
    for row in range(100):
        rows[row] = row
        file.flush()
    print(rows[:, 7].sum())
""")
    assert said == "4950.0\n" and summary == "tailrace: no write of HDF5 data was carried (place thread)\n"


def test_who_grows_a_dataset_or_reads_other_data_waits_for_no_writes(carried, tmp_path):
    """The server is stopped meanwhile, so a program that waits for it waits for ever."""
    said = carried("-c", f"""
import h5py, numpy, os, pathlib, signal

def signal_server(number):
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes().split(b"\\0")
        except OSError:  # it has ended
            continue
        if b"{tmp_path / 'run'}" in command and command[0].endswith(b"tailrace-core"):
            os.kill(int(process.name), number)
            return True
    return False

with h5py.File({str(tmp_path / 'a.h5')!r}, "w") as file:
    rows = file.create_dataset("rows", (200, 10_000), "f8")
    records = file.create_dataset("records", (0, 1000), "f8", chunks=(1, 1000), maxshape=(None, 1000), compression=1)
    rows[:100] = 1
    file.flush()
    print(signal_server(signal.SIGSTOP))
    try:
        rows[100:] = 2
        for record in range(10):
            records.resize((record + 1, 1000))
            records[record] = record
        print(rows[10:20].sum())
    finally:
        signal_server(signal.SIGCONT)
    print(rows[:].sum(), records[:].sum())
""", place="core")
    assert said.split() == ["True", "100000.0", "3000000.0", "45000.0"]


@pytest.mark.parametrize("place", PLACES)
def test_what_the_program_leaves_open_is_filled_when_it_ends(carried, tmp_path, place):
    name = str(tmp_path / "a.h5")
    carried("-c", f"""
import ctypes, h5py, numpy
file = h5py.File({name!r}, "w")
ctypes.pythonapi.Py_IncRef(ctypes.py_object(file.id))  # HDF5 alone closes it
file.create_dataset("written", data=numpy.ones(100000))
file.create_dataset("never", (100000,), "f8", fillvalue=7)
""", place=place)
    said = execute(["-c", f"""
import h5py
with h5py.File({name!r}) as file:
    print((file["written"][:] == 1).all(), (file["never"][:] == 7).all())
"""])
    assert said.split() == ["True", "True"]


@pytest.mark.parametrize("beside", ["", "file.create_dataset('plain', data=numpy.ones(100000))"])
def test_chunks_of_files_that_are_left_open_arrive(carried, tmp_path, beside):
    """Also if nothing else is carried, and whether they are filtered yet or not."""
    name = str(tmp_path / "a.h5")
    carried("-c", f"""
import ctypes, h5py, numpy
file = h5py.File({name!r}, "w")
ctypes.pythonapi.Py_IncRef(ctypes.py_object(file.id))  # HDF5 alone closes it
{beside}
data = numpy.random.default_rng(1).integers(0, 9, (8, 1 << 16)).astype("f8")  # takes long to be filtered
file.create_dataset("x", data.shape, "f8", chunks=(1, 1 << 16), compression=9)[:] = data
""")
    said = execute(["-c", f"""
import h5py, numpy
with h5py.File({name!r}) as file:
    print((file["x"][:] == numpy.random.default_rng(1).integers(0, 9, (8, 1 << 16))).all())
"""])
    assert said == "True\n"


def test_chunks_of_h5py_are_filtered_by_threads(carried, tmp_path):
    said = carried("-c", f"""
import h5py, numpy, os
data = numpy.random.default_rng(1).random((4, 1 << 17))
threads = lambda: len(os.listdir("/proc/self/task"))
with h5py.File({str(tmp_path / "a.h5")!r}, "w") as file:
    chunks = file.create_dataset("c", data.shape, "f8", chunks=(1, 1 << 17), compression=1)
    before = threads()
    chunks[:] = data
    print(threads() > before, (chunks[:] == data).all())
    pid = os.fork()
    if pid == 0:
        os._exit(0 if (h5py.File({str(tmp_path / "child.h5")!r}, "w").create_dataset("x", data=data)[3] ==
                       data[3]).all() else 1)
    print(os.waitpid(pid, 0)[1])
""")
    assert said.split() == ["True", "True", "0"]
