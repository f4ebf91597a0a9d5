"""Files of several iterations (storage.iterations_per_file): readers, all places, crashes, joining."""

import random
import signal
import subprocess
import sys

import h5py
import numpy as np
import pytest
import tailrace
from tailrace import series as series_of

CONFIG = """\
tailrace: 1
name: sim
place: {{kind: {place}, clients: {clients}}}
storage: {{path: {path}, existing: continue, iterations_per_file: {each}, file_per: {file_per}}}
memory: {{budget: 2 MiB}}
attributes: {{author: nobody}}
parameters: {{n: 4, all: {all}, begin: 0}}
layouts:
  line: {{type: float64, shape: [n], global: [all], offset: [begin], axes: [x]}}
  list: {{type: float32, shape: [n], patch: {{offset: [0], extent: [1]}}}}
variables:
  T: {{layout: line, unit: K}}
  zipped: {{layout: line, compress: {{filter: deflate, level: 1}}}}
particles:
  ions: {{layout: list, records: {{position: {{components: [x], unit: m}}, weighting: {{}}}}}}
"""


def text(out, place="thread", each="all", clients=1, file_per="process"):
    return CONFIG.format(path=out, place=place, each=each, clients=clients, file_per=file_per, all=4 * clients)


def values(step, client=0):
    return np.arange(4.0) + 10 * step + 1000 * client


def write(client, step, number=0):
    for name in ("T", "zipped"):
        client.write(name, step, values(step, number))
    for name in ("ions/position/x", "ions/weighting"):
        client.write(name, step, np.full(4, step, np.float32))
    client.end_iteration(step, time=0.5 * step)


def run(out, steps, **settings):
    with tailrace.open("sim.yaml", text=text(out, **settings)) as client:
        for step in steps:
            write(client, step)


def check(file, steps):
    with h5py.File(file, "r") as opened:
        assert sorted(map(int, opened["data"])) == list(steps)
        assert opened.attrs["iterationEncoding"] == b"groupBased"
        for step in steps:
            iteration = opened[f"data/{step}"]
            assert iteration.attrs["time"] == 0.5 * step
            for name in ("T", "zipped"):
                np.testing.assert_array_equal(iteration["meshes"][name][...], values(step))
            np.testing.assert_array_equal(iteration["particles/ions/position/x"][...], step)


@pytest.mark.parametrize("place", ["thread", "core"])
def test_all_iterations_are_in_one_file(out, place):
    run(out, range(150), place=place)
    assert [file.name for file in out.iterdir() if ".h5" in file.name] == ["sim_c0_000000.h5"]
    check(out / "sim_c0_000000.h5", range(150))


@pytest.mark.parametrize("place", ["thread", "core"])
def test_a_later_run_goes_on_in_the_file(out, place):
    run(out, range(3), place=place)
    client = tailrace.open("sim.yaml", text=text(out, place=place))
    assert client.last_iteration() == 2
    state = np.empty(4)
    client.read("T", 1, out=state)
    np.testing.assert_array_equal(state, values(1))
    write(client, 7)
    client.close()
    check(out / "sim_c0_000000.h5", [0, 1, 2, 7])


@pytest.mark.parametrize("place", ["thread", "core"])
def test_an_iteration_is_not_replaced(out, place):
    run(out, range(3), place=place)
    with pytest.raises(tailrace.Error, match=r"iteration 2 is in '.*sim_c0_000000.h5' already"):
        with tailrace.open("sim.yaml", text=text(out, place=place)) as client:
            client.write("T", 2, values(9))
            client.end_iteration(2)
    check(out / "sim_c0_000000.h5", range(3))


def test_a_file_for_each_so_many_numbers(out):
    run(out, [0, 3, 9, 10, 11, 40], each=10)
    assert sorted(file.name for file in out.iterdir()) == [f"sim_c0_{first:06}.h5" for first in (0, 10, 40)]
    check(out / "sim_c0_000000.h5", [0, 3, 9])
    check(out / "sim_c0_000010.h5", [10, 11])
    found = series_of.find(out)
    assert found.iterations == [0, 3, 9, 10, 11, 40]
    assert found.files[11].name == "sim_c0_000010.h5"


def test_a_reader_that_has_the_file_open_keeps_what_it_sees(out):
    with tailrace.open("sim.yaml", text=text(out)) as client:
        write(client, 0)
        client.flush()
        with h5py.File(out / "sim_c0_000000.h5", "r", locking=False) as opened:
            for step in range(1, 20):
                write(client, step)
            client.flush()
            assert list(opened["data"]) == ["0"]
            np.testing.assert_array_equal(opened["data/0/meshes/zipped"][...], values(0))
        check(out / "sim_c0_000000.h5", range(20))


def test_series_are_read_whole(out):
    xarray = pytest.importorskip("xarray")
    run(out, range(5))
    data = tailrace.read(out)
    assert isinstance(data, xarray.Dataset)
    np.testing.assert_array_equal(data.T.values, [values(step) for step in range(5)])
    np.testing.assert_array_equal(data.time, [0.5 * step for step in range(5)])


def test_openpmd_reads_the_file(out):
    openpmd = pytest.importorskip("openpmd_api")
    run(out, range(4))
    series = openpmd.Series(str(out / "sim_c0_000000.h5"), openpmd.Access.read_only)
    assert list(series.iterations) == list(range(4))
    record = series.iterations[3].meshes["T"][openpmd.Mesh_Record_Component.SCALAR]
    found = record.load_chunk()
    series.flush()
    np.testing.assert_array_equal(found, values(3))
    series.close()


def test_the_validator_finds_no_fault(out):
    pytest.importorskip("openpmd_validator")
    run(out, range(3))
    found = subprocess.run([sys.executable, "-m", "openpmd_validator.check_h5", "-i", out / "sim_c0_000000.h5"],
                           text=True, capture_output=True)
    assert "0 Errors and 0 Warnings" in found.stdout, found.stdout + found.stderr


def test_files_of_clients_are_joined(out):
    for number in range(2):
        with tailrace.open("sim.yaml", number, text=text(out, clients=2), parameters={"begin": 4 * number}) as client:
            for step in range(3):
                write(client, step, number)
    joined = subprocess.run([sys.executable, "-m", "tailrace.cli", "join", out], capture_output=True, text=True)
    assert joined.returncode == 0, joined.stderr
    assert "3 iterations joined from 2 files" in joined.stdout
    for step in range(3):
        with h5py.File(out / f"sim_{step:06}.h5", "r") as opened:
            found = opened[f"data/{step}/meshes/T"][...]
        np.testing.assert_array_equal(found, np.concatenate([values(step, 0), values(step, 1)]))


@pytest.mark.parametrize("file_per", ["node", "job"])
def test_clients_share_the_file(out, file_per):
    program = ("import sys, numpy as np, tailrace\n"
               "number = int(sys.argv[1])\n"
               "begin = {'begin': 4 * number}\n"
               "with tailrace.open('sim.yaml', number, text=sys.argv[2], parameters=begin) as client:\n"
               "    for step in range(20):\n"
               "        client.write('T', step, np.arange(4.0) + 10 * step + 1000 * number)\n"
               "        client.end_iteration(step, time=0.5 * step)\n")
    arguments = text(out, place="core", clients=3, file_per=file_per)
    running = [subprocess.Popen([sys.executable, "-c", program, str(number), arguments]) for number in range(3)]
    assert [one.wait(120) for one in running] == [0, 0, 0]
    name = "sim_000000.h5" if file_per == "job" else "sim_n0_000000.h5"
    with h5py.File(out / name, "r") as opened:
        for step in range(20):
            np.testing.assert_array_equal(opened[f"data/{step}/meshes/T"][...],
                                          np.concatenate([values(step, number) for number in range(3)]))


def test_a_client_that_skips_an_iteration_is_told(out):
    config = text(out, place="core", clients=2, file_per="node")
    first = tailrace.open("sim.yaml", 0, text=config)
    second = tailrace.open("sim.yaml", 1, text=config, parameters={"begin": 4})
    first.write("T", 0, values(0, 0))
    first.flush()
    with pytest.raises(tailrace.Error, match="cannot begin in .* while iteration 0 is unfinished"):
        second.write("T", 1, values(1, 1))
        second.flush()
    for client in (first, second):
        client.end_iteration(0)
    second.end_iteration(1)
    first.end_iteration(1)
    for client in (first, second):  # each is told that iteration 1 has no file
        with pytest.raises(tailrace.Error, match="iteration 1: its file is not published"):
            client.close()
    with h5py.File(out / "sim_n0_000000.h5", "r") as opened:
        assert list(opened["data"]) == ["0"]


def test_inspect_shows_all_iterations(out):
    run(out, range(5))
    shown = subprocess.run([sys.executable, "-m", "tailrace.cli", "inspect", out], capture_output=True, text=True)
    (row,) = [line.split() for line in shown.stdout.splitlines() if "sim_c0_000000.h5" in line]
    assert row[1:5] == ["1", "0", "…", "4"], shown.stdout


def test_keep_is_refused(out):
    config = text(out, place="core", clients=2, file_per="node").replace("2}", "2, on_missing: keep}", 1)
    with pytest.raises(tailrace.InvalidConfig, match="keep with storage.iterations_per_file"):
        tailrace.check("sim.yaml", text=config)


@pytest.mark.parametrize("place", ["thread", "core"])
def test_killed_programs_leave_what_was_published(out, place):
    seed = random.randrange(2**32)
    print("seed", seed)
    dice = random.Random(seed)
    program = ("import sys, numpy as np, tailrace\n"
               "with tailrace.open('sim.yaml', text=sys.argv[1]) as client:\n"
               "    last = client.last_iteration()\n"
               "    for step in range(0 if last is None else last + 1, 100000):\n"
               "        for name in ('T', 'zipped'):\n"
               "            client.write(name, step, np.arange(4.0) + 10 * step)\n"
               "        for name in ('ions/position/x', 'ions/weighting'):\n"
               "            client.write(name, step, np.full(4, step, np.float32))\n"
               "        client.end_iteration(step, time=0.5 * step)\n"
               "        client.flush()\n"
               "        print(step, flush=True)\n")
    published = -1
    for _ in range(4):
        running = subprocess.Popen([sys.executable, "-c", program, text(out, place=place)], stdout=subprocess.PIPE,
                                   text=True)
        for _ in range(dice.randrange(1, 60)):
            published = int(running.stdout.readline())
        for _ in range(dice.randrange(100_000)):  # to some moment within an iteration, not by a clock
            pass
        running.send_signal(signal.SIGKILL)
        rest = running.stdout.read().split("\n")
        running.wait()
        published = max([published, *(int(line) for line in rest[:-1])])
        if place == "core":
            with tailrace.open("sim.yaml", text=text(out, place=place)):
                pass  # the server has written what the killed one had handed over
        with h5py.File(out / "sim_c0_000000.h5", "r") as opened:
            found = sorted(map(int, opened["data"]))
        assert found == list(range(len(found))) and len(found) > published
        check(out / "sim_c0_000000.h5", found)
