"""Forwarders as real processes: programs whose data they write, deaths on both sides, wrong keys, places outside.

A forwarder here is `tailrace serve forward`, over TCP on the loopback. Files are compared with those of a program
without forwarders, or with values that the tests compute.
"""

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading

import h5py
import numpy as np
import pytest
import tailrace
from conftest import wait_for_locks
from file_gate import FileGate
from tailrace import cli
from tailrace.cli import forwarder
from tailrace.cli import run as run_command

try:
    forwarder.find()
except forwarder.Missing as missing:
    pytest.skip(str(missing), allow_module_level=True)

BUILD = pathlib.Path(__file__).resolve().parents[3] / "build/release"

WRITER = """\
import sys
import threading
import numpy as np, tailrace
file, first, last = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
with tailrace.open(file, 0) as out:
    for step in range(first, last):
        out.write("u", step, step + np.arange(200_000.0))
        out.write("small", step, np.full(7, step, dtype="f4"))
        out.end_iteration(step)
        print(step, flush=True)
print("closed", flush=True)
"""


class Forwarder:
    """A running forwarder."""

    def __init__(self, directory, roots, key, name="io", environment=None, **extra):
        self.config = directory / f"{name}.yaml"
        forward = {"listen": "127.0.0.1:0", "roots": [str(root) for root in roots], "key": str(key),
                   **extra.pop("forward", {})}
        text = {"tailrace": 1, "name": name, "memory": {"budget": "64 MiB"}, "forward": forward, **extra}
        self.config.write_text(json.dumps(text))  # JSON is YAML
        self.log = open(directory / f"{name}.log", "w+")  # noqa: SIM115
        self.process = subprocess.Popen([sys.executable, "-m", "tailrace.cli", "serve", "forward", "--config",
                                         str(self.config)], stdout=subprocess.PIPE, stderr=self.log, text=True,
                                        env={**os.environ, **(environment or {})})
        line = self.process.stdout.readline()
        assert line.startswith("listening on "), line + self.messages()
        self.address = line.split()[-1]

    def messages(self):
        self.log.flush()
        with open(self.log.name) as log:
            return log.read()

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        """Asks it to end. Returns its exit code."""
        self.process.terminate()
        return self.process.wait(timeout=600)

    def close(self):
        if self.process.poll() is None:
            self.kill()
        self.process.stdout.close()
        self.log.close()


@pytest.fixture
def key(tmp_path):
    assert cli.main(["key", "new", str(tmp_path / "key")]) == 0
    return tmp_path / "key"


@pytest.fixture
def start(tmp_path, key):
    """Starts forwarders whose root is tmp_path / "out"; ends them."""
    (tmp_path / "out").mkdir()
    with contextlib.ExitStack() as all_of_them:
        def begin(name="io", roots=None, **extra):
            one = Forwarder(tmp_path, roots or [tmp_path / "out"], extra.pop("key", key), name, **extra)
            all_of_them.callback(one.close)
            return one
        yield begin


def write_config(tmp_path, path, servers, key, kind="thread", **forward):
    text = {"tailrace": 1, "name": "sim", "place": {"kind": kind, "cpus": "none"}, "memory": {"budget": "16 MiB"},
            "storage": {"path": str(path)}, "layouts": {"large": {"type": "float64", "shape": [200_000]},
                                                        "few": {"type": "float32", "shape": [7]}},
            "variables": {"u": {"layout": "large"}, "small": {"layout": "few"}}}
    if servers:
        text["forward"] = {"servers": servers, "key": str(key), **forward}
    file = tmp_path / f"sim-{path.name}.yaml"
    file.write_text(json.dumps(text))
    return file


def run_writer(file, first=0, last=4):
    return subprocess.run([sys.executable, "-c", WRITER, str(file), str(first), str(last)], text=True,
                          capture_output=True, check=False, timeout=600)


def check_series(directory, steps):
    for step in steps:
        with h5py.File(directory / f"sim_c0_{step:06d}.h5") as file:
            meshes = file[f"data/{step}/meshes"]
            assert np.array_equal(meshes["u"][...], step + np.arange(200_000.0))
            assert np.array_equal(meshes["small"][...], np.full(7, step, dtype="f4"))


def raw_bytes(path):
    """The bytes of a file but for what two runs cannot have in common."""
    text = path.read_bytes()
    return re.sub(rb"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d{4}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
                  lambda found: b"#" * len(found[0]), text)


@pytest.mark.parametrize("striped", [False, True], ids=["plain", "striped"])
def test_forwarders_share_each_file_by_its_domains(tmp_path, key, start, capfd, striped):
    """Plain files have no stripes: forwarders take turns every 16 MiB. Of striped ones, a directory is a server."""
    directories = [tmp_path / f"disk{i}" for i in range(4)] if striped else [tmp_path / "out"]
    for directory in directories[:len(directories) * striped]:
        directory.mkdir()
    storage = {"storage": {"path": [str(d) for d in directories], "stripe": {"unit": "1 MiB"}}} if striped else {}
    forwarders = [start(f"io{i}", directories, **storage) for i in range(2)]
    file = write_config(tmp_path, directories[0], [one.address for one in forwarders], key, spread="domains")
    with tailrace.open(str(file), 0) as out:
        raw = out.open_file("big.raw", "truncate")
        block = np.arange(1 << 20, dtype="u8")  # 8 MiB
        for i in range(5):
            raw.write(block + i, i * block.nbytes)
        raw.close()
    for one in forwarders:
        capfd.readouterr()
        assert cli.main(["inspect", "--forward", one.address, "--key", str(key), "--json"]) == 0
        status = json.loads(capfd.readouterr().out)
        assert status["bytes_written"] > 12 << 20
        assert status["files"] == 0
    if striped:
        assert cli.main(["join", str(directories[0]), "--to", str(tmp_path / "out")]) == 0
    written = np.fromfile(tmp_path / "out" / "big.raw", dtype="u8")
    assert np.array_equal(written.reshape(5, -1), block + np.arange(5, dtype="u8")[:, None])


@pytest.mark.parametrize("kind", ["thread", "core"])
@pytest.mark.parametrize("connections", [1, 4])
def test_files_are_those_of_a_run_without_forwarders(tmp_path, key, start, kind, connections):
    io = start(forward={"connections": connections})
    result = run_writer(write_config(tmp_path, tmp_path / "out", [io.address], key, kind, connections=connections))
    assert result.returncode == 0, result.stderr + io.messages()
    check_series(tmp_path / "out", range(4))
    assert run_writer(write_config(tmp_path, tmp_path / "plain", None, key, kind)).returncode == 0
    assert sorted(p.name for p in (tmp_path / "out").glob("*.h5")) == sorted(
        p.name for p in (tmp_path / "plain").glob("*.h5"))
    assert not list((tmp_path / "out").glob("*.part"))
    for one in (tmp_path / "plain").glob("*.h5"):
        assert len(raw_bytes(tmp_path / "out" / one.name)) == len(raw_bytes(one))
    assert io.stop() == 0
    assert io.messages() == ""


HELD = """\
import sys, tailrace
with tailrace.open(sys.argv[1], 0) as out:
    raw = out.open_file("held.raw", "truncate")
    raw.write(b"at last", 0)
    raw.close()
"""


def test_a_forwarder_whose_file_system_hangs_serves_the_others(tmp_path, key, start):
    """One client's file cannot be opened for now. Another client begins, writes and ends meanwhile."""
    gate = FileGate(tmp_path, "held")
    io = start(environment=gate.environment)
    files = [write_config(tmp_path, tmp_path / "out" / name, [io.address], key) for name in ("first", "second")]
    waiting = subprocess.Popen([sys.executable, "-c", HELD, str(files[0])], stderr=subprocess.PIPE, text=True)
    gate.wait()
    result = run_writer(files[1])
    assert result.returncode == 0, result.stderr + io.messages()
    check_series(tmp_path / "out" / "second", range(4))
    assert waiting.poll() is None
    gate.let_go()
    assert waiting.communicate(timeout=600)[1] == ""
    assert waiting.returncode == 0
    assert (tmp_path / "out" / "first" / "held.raw").read_bytes() == b"at last"
    assert io.stop() == 0
    assert io.messages() == ""


WAITS_TO_WRITE = """\
import sys
import numpy as np, tailrace
with tailrace.open(sys.argv[1], int(sys.argv[2])) as out:
    print("open", flush=True)
    sys.stdin.readline()
    out.write("small", 0, np.arange(7, dtype="f4"))
    out.end_iteration(0)
"""


@pytest.mark.usefixtures("runtime_directory")
def test_a_client_whose_forwarder_hangs_holds_up_nobody_else_of_its_node(tmp_path, key, start):
    """The forwarder holds the lock of client 1's name up. Client 0 of the same server writes and ends meanwhile."""
    gate = FileGate(tmp_path, "_c1.lock")
    io = start(environment=gate.environment)
    file = write_config(tmp_path, tmp_path / "out", [io.address], key, "core")

    def begin(client):
        return subprocess.Popen([sys.executable, "-c", WAITS_TO_WRITE, str(file), str(client)], text=True,
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    first = begin(0)
    assert first.stdout.readline() == "open\n"
    held = begin(1)
    gate.wait()
    assert first.communicate("\n")[0] == ""
    assert first.returncode == 0
    assert sorted(one.name for one in (tmp_path / "out").glob("*.h5")) == ["sim_c0_000000.h5"]
    gate.let_go()
    assert held.communicate("\n")[0] == "open\n"
    assert held.returncode == 0
    wait_for_locks(tmp_path / "out")
    assert sorted(one.name for one in (tmp_path / "out").iterdir()) == ["sim_c0_000000.h5", "sim_c1_000000.h5"]
    assert io.stop() == 0
    assert io.messages() == ""


def connections_to(address):
    """How many connections of this machine there are to a forwarder's port."""
    port = int(address.rpartition(":")[2])
    lines = pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]
    fields = [line.split() for line in lines]
    return sum(remote.endswith(f":{port:04X}") and state == "01" for _, _, remote, state, *_ in fields)


@pytest.mark.parametrize(("program", "forwarders", "expected"), [(4, 4, 4), (1, 4, 1), (4, 1, 1), (8, 2, 2)])
def test_there_are_as_many_connections_as_both_want(tmp_path, key, start, program, forwarders, expected):
    io = start(forward={"connections": forwarders})
    file = write_config(tmp_path, tmp_path / "out", [io.address], key, connections=program)
    with tailrace.open(file, 0) as out:
        assert connections_to(io.address) == 1  # further ones are made when there are bulk data
        for step in range(20):
            out.write("u", step, step + np.arange(200_000.0))
            out.end_iteration(step)
            out.flush()
        assert connections_to(io.address) == expected
        [client] = forwarder.status(io.address, key)["clients"]
        assert client["transfers"] > 0
    assert io.stop() == 0
    assert io.messages() == ""


def test_blocks_are_read_back_through_the_forwarder(tmp_path, key, start):
    io = start()
    file = write_config(tmp_path, tmp_path / "out", [io.address], key)
    with tailrace.open(file, 0) as out:
        out.write("u", 0, np.arange(200_000.0))
        out.end_iteration(0)
        out.flush()
        assert np.array_equal(out.read("u", 0), np.arange(200_000.0))


@pytest.mark.parametrize("kind", ["thread", "core"])
@pytest.mark.parametrize("each", [1, "all"])
def test_a_run_goes_on_where_forwarders_have_written(tmp_path, key, start, kind, each):
    """In place core the server asks them: the client itself sees no forwarders."""
    io = start()
    file = write_config(tmp_path, tmp_path / "out", [io.address], key, kind)
    text = json.loads(file.read_text())
    text["storage"] |= {"existing": "continue", "iterations_per_file": each}
    file.write_text(json.dumps(text))
    for last in (None, 2, 4):
        with tailrace.open(file, 0) as out:
            assert out.last_iteration() == last
            if last is not None:
                assert np.array_equal(out.read("small", last), np.full(7, last, dtype="f4"))
            for step in range(last + 1 if last else 1, last + 3 if last else 3):
                out.write("small", step, np.full(7, step, dtype="f4"))
                out.end_iteration(step)


def test_raw_files_are_written_and_read(tmp_path, key, start):
    io = start()
    file = write_config(tmp_path, tmp_path / "out", [io.address], key)
    data = np.random.default_rng(5).integers(0, 256, 3_000_000, dtype="u1")
    with tailrace.open(file, 0) as out:
        with out.open_file("raw.bin") as raw:
            for begin in range(0, data.size, 100_000):
                raw.write(data[begin:begin + 100_000], begin)
        with out.open_file("raw.bin", "read") as raw:
            assert np.array_equal(raw.read(np.empty_like(data), 0), data)
    assert (tmp_path / "out/raw.bin").read_bytes() == data.tobytes()


@pytest.mark.parametrize("kind", ["thread", "core"])
@pytest.mark.parametrize("loss", ["next", "direct"])
@pytest.mark.parametrize("connections", [1, 4])
def test_a_forwarder_is_killed_and_nothing_is_lost(tmp_path, key, start, kind, loss, connections):
    own = {"connections": connections}
    forwarders = {one.address: one for one in (start("io1", forward=own), start("io2", forward=own))}
    file = write_config(tmp_path, tmp_path / "out", list(forwarders), key, kind, on_forwarder_loss=loss, **own)
    with subprocess.Popen([sys.executable, "-c", WRITER, str(file), "0", "12"], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as child:
        for line in child.stdout:
            if line == "4\n":
                next(iter(forwarders.values())).kill()
            if line == "8\n" and loss == "direct":
                for one in forwarders.values():
                    one.kill()
        errors = child.stderr.read()
    assert child.returncode == 0, errors
    check_series(tmp_path / "out", range(12))


@pytest.mark.slow  # 15 s: the node waits until the forwarder surely begins nothing more
def test_a_forwarder_that_stood_still_writes_nothing_old(tmp_path, key, start):
    io = start()
    file = write_config(tmp_path, tmp_path / "out", [io.address], key, on_forwarder_loss="direct")
    old, new = np.full(1000, 1, dtype="u1"), np.full(1000, 2, dtype="u1")
    with tailrace.open(file, 0) as out, out.open_file("raw.bin") as raw:
        raw.write(np.zeros(1000, dtype="u1"), 0)
        raw.sync()
        io.process.send_signal(signal.SIGSTOP)
        raw.write(old, 0)
        raw.sync()  # carried out by the node itself
        raw.write(new, 0)
        raw.sync()
        io.process.send_signal(signal.SIGCONT)
        while forwarder.status(io.address, key)["clients"]:
            pass
    assert (tmp_path / "out/raw.bin").read_bytes() == new.tobytes()


def test_a_forwarder_starts_again_at_its_address(tmp_path, key, start):
    io = start()
    file = write_config(tmp_path, tmp_path / "out", [io.address], key)
    with tailrace.open(file, 0) as out:
        for step in range(3):
            out.write("u", step, step + np.arange(200_000.0))
            out.write("small", step, np.full(7, step, dtype="f4"))
            out.end_iteration(step)
            out.flush()
            io.kill()  # it ends its connections first, which the system remembers
            io = start(forward={"listen": io.address})
    check_series(tmp_path / "out", range(3))


@pytest.mark.parametrize("loss", ["next", "direct", "fail"])
def test_another_key_is_a_mistake_of_the_configuration(tmp_path, key, start, loss):
    """The error said that nobody answers; with `direct` the program wrote the files itself, in the wrong place."""
    other = tmp_path / "other_key"
    assert cli.main(["key", "new", str(other)]) == 0
    io = start()
    file = write_config(tmp_path, tmp_path / "out", [io.address], other, on_forwarder_loss=loss)
    with pytest.raises(tailrace.InvalidConfig, match="forward.key: .*expected the same key at both"):
        tailrace.open(file, 0)
    assert not list(tmp_path.glob("out/*.h5*"))


def test_nodes_with_other_forwarders_are_refused(tmp_path, key, start):
    """They used other forwarders for the same path, and nobody noticed."""
    one, two, three = (start(name).address for name in ("io1", "io2", "io3"))
    file = write_config(tmp_path, tmp_path / "out", [one, two], key)
    with tailrace.open(file, 0) as out:
        again = json.loads(file.read_text())
        for others in ([two, three], [one], [one, three, two]):
            again["forward"]["servers"] = others
            found, expected = (", ".join(sorted(each)) for each in (others, [one, two]))
            with pytest.raises(tailrace.InvalidConfig, match=f"found {found}; expected {expected}, .*/out/sim"):
                tailrace.open(text=json.dumps(again), client=1)
        again["forward"]["servers"] = [two, one]
        with tailrace.open(text=json.dumps(again), client=1) as neighbour:
            for each in (out, neighbour):
                each.write("u", 0, np.arange(200_000.0))
                each.write("small", 0, np.zeros(7, dtype="f4"))
                each.end_iteration(0)
    assert len(list((tmp_path / "out").glob("*.h5"))) == 2
    again["forward"]["servers"] = [two, three]
    tailrace.open(text=json.dumps(again), client=2).close()  # the others have left


@pytest.mark.parametrize("kind", ["thread", "core"])
def test_a_forwarder_that_does_not_answer_is_named_with_the_reason(tmp_path, key, kind, runtime_directory):
    file = write_config(tmp_path, tmp_path / "out", ["127.0.0.1:1"], key, kind)
    with pytest.raises(tailrace.Error, match="found no forwarder that answers: .*127.0.0.1:1.*: .*refused"):
        tailrace.open(file, 0)


def test_two_forwarders_cannot_have_one_address(tmp_path, key, start):
    io = start()
    with pytest.raises(AssertionError, match="Address already in use"):
        start("other", forward={"listen": io.address})
    assert forwarder.status(io.address, key)["clients"] == []


def test_a_loss_is_an_error_if_that_is_asked(tmp_path, key, start):
    io = start()
    file = write_config(tmp_path, tmp_path / "out", [io.address], key, on_forwarder_loss="fail")
    out = tailrace.open(file, 0)
    out.write("u", 0, np.zeros(200_000))
    out.end_iteration(0)
    out.flush()
    io.kill()
    with pytest.raises(tailrace.Error, match=re.escape(io.address)):
        for step in range(1, 100):
            out.write("u", step, np.zeros(200_000))
            out.end_iteration(step)
            out.flush()
    with contextlib.suppress(tailrace.Error):
        out.close()
    check_published = sorted(one.name for one in (tmp_path / "out").glob("*.h5"))
    assert check_published == ["sim_c0_000000.h5"]


def test_a_forwarder_that_is_asked_to_end_answers_first(tmp_path, key, start):
    leaving, staying = start("io1"), start("io2")
    file = write_config(tmp_path, tmp_path / "out", [leaving.address, staying.address], key)
    with subprocess.Popen([sys.executable, "-c", WRITER, str(file), "0", "10"], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as child:
        for line in child.stdout:
            if line == "3\n":
                leaving.process.send_signal(signal.SIGTERM)
        errors = child.stderr.read()
    assert child.returncode == 0, errors
    assert leaving.process.wait(timeout=600) == 0
    check_series(tmp_path / "out", range(10))


@pytest.mark.parametrize("kind", ["thread", "core"])
@pytest.mark.parametrize("loss", ["next", "direct"])
def test_the_only_forwarder_is_asked_to_end_and_starts_again(tmp_path, key, start, kind, loss, runtime_directory):
    io = start()
    file = write_config(tmp_path, tmp_path / "out", [io.address], key, kind, on_forwarder_loss=loss)
    with tailrace.open(file, 0) as out, out.open_file("raw.bin") as raw, out.open_file("other.bin") as other:
        for step in range(6):
            out.write("u", step, step + np.arange(200_000.0))
            out.write("small", step, np.full(7, step, dtype="f4"))
            raw.write(np.full(1000, step, dtype="u1"), 1000 * step)
            other.write(np.full(10, step, dtype="u1"), 10 * step)
            if step == 3:
                io.process.send_signal(signal.SIGTERM)
                assert io.process.wait(timeout=8) == 0  # it does not wait until its client has given up
                io = start(forward={"listen": io.address})
            out.end_iteration(step)
    check_series(tmp_path / "out", range(6))
    assert (tmp_path / "out/raw.bin").read_bytes() == b"".join(bytes([step]) * 1000 for step in range(6))
    assert (tmp_path / "out/other.bin").read_bytes() == b"".join(bytes([step]) * 10 for step in range(6))


@pytest.mark.parametrize("connections", [1, 4])
def test_a_client_that_is_killed_leaves_nothing_behind(tmp_path, key, start, connections):
    io = start(forward={"connections": connections})
    file = write_config(tmp_path, tmp_path / "out", [io.address], key, connections=connections)
    with subprocess.Popen([sys.executable, "-c", WRITER, str(file), "0", "1000"], text=True,
                          stdout=subprocess.PIPE) as child:
        for line in child.stdout:
            if line == "3\n":
                child.kill()
    for _ in range(200):
        state = forwarder.status(io.address, key)
        if not state["clients"] and state["files"] == 0:
            break
    assert state["clients"] == [] and state["files"] == 0 and state["memory_held_bytes"] == 0
    published = sorted((tmp_path / "out").glob("*.h5"))
    check_series(tmp_path / "out", range(len(published)))


def test_another_key_is_refused_on_both_sides(tmp_path, key, start):
    io = start()
    assert cli.main(["key", "new", str(tmp_path / "other")]) == 0
    file = write_config(tmp_path, tmp_path / "out", [io.address], tmp_path / "other")
    with pytest.raises(tailrace.Error, match=re.escape(io.address)):
        tailrace.open(file, 0)
    assert "refused" in io.messages()
    with pytest.raises(tailrace.Error):
        forwarder.status(io.address, tmp_path / "other")
    assert forwarder.status(io.address, key)["clients"] == []


def test_ucx_never_uses_tcp(tmp_path):
    """Without a fabric neither a forwarder nor a program starts, and both say why."""
    if not (pathlib.Path(tailrace.__file__).parent / "libtailrace_ucx.so").is_file():
        pytest.skip("built without UCX")
    ucx = {"transport": "ucx", "trusted_network": True, "devices": "lo"}
    config = tmp_path / "io.yaml"
    config.write_text(json.dumps({"tailrace": 1, "name": "io", "memory": {"budget": "64 MiB"},
                                  "forward": {"listen": "127.0.0.1:0", "roots": [str(tmp_path)], **ucx}}))
    said = subprocess.run([forwarder.find(), "--config", str(config)], capture_output=True, text=True, timeout=600)
    assert said.returncode == 1 and said.stdout == "" and "devices 'lo' offer no fabric" in said.stderr, said
    text = json.loads(write_config(tmp_path, tmp_path / "out", [], None).read_text())
    text["forward"] = {"servers": ["127.0.0.1:4711"], **ucx}
    with pytest.raises(tailrace.Error, match="devices 'lo' offer no fabric"):
        tailrace.open(text=json.dumps(text), client=0)


def test_the_order_of_forwarders_does_not_matter(tmp_path, key, start):
    """Two nodes that list them differently use one forwarder for each path."""
    one, other = start("io1"), start("io2")
    servers = [one.address, other.address]
    found = []
    with contextlib.ExitStack() as open_ones:
        for number, order in enumerate((servers, servers[::-1])):
            directory = tmp_path / str(number)
            directory.mkdir()
            file = write_config(directory, tmp_path / "out", order, key)
            client = open_ones.enter_context(tailrace.open(file, number))
            for name in "abcdefgh":
                open_ones.enter_context(client.open_file(f"{name}.raw", "write" if number else "truncate"))
            found.append([forwarder.status(address, key)["files"] for address in servers])
    assert found[0] == found[1] and sum(found[0]) > 0  # the second client shares the open files of the first


def test_the_time_of_a_handshake_is_configured(tmp_path, key, start):
    io = start(forward={"strangers": {"most": 4, "of_one_address": 2, "time": "100 ms"}})
    host, port = io.address.split(":")
    with socket.create_connection((host, int(port))) as stranger:
        stranger.send(b"\x16")
        assert stranger.recv(1) == b""
    while "it has not ended its handshake in time" not in io.messages():
        assert io.process.poll() is None


def test_keys_change_while_a_forwarder_runs(tmp_path, key, start):
    """SIGHUP: new clients need the key that the file has now, others go on, and a broken file changes nothing."""
    io = start(log={"level": "info"})
    old, new = tmp_path / "old", tmp_path / "new"
    shutil.copy(key, old)
    assert cli.main(["key", "new", str(new)]) == 0
    name = subprocess.run([sys.executable, "-m", "tailrace.cli", "key", "show", str(new)], text=True,
                          capture_output=True, check=True).stdout.strip()
    with tailrace.open(write_config(tmp_path, tmp_path / "out", [io.address], old), 0) as out:
        key.write_text("nothing\n")
        read_keys_again(io, "the keys stay as they are")
        assert forwarder.status(io.address, old)["listen"]
        shutil.copy(new, key)
        read_keys_again(io, f"new connections need one of these keys: {name}")
        assert forwarder.status(io.address, new)["listen"]
        with pytest.raises(tailrace.Error, match="key"):
            forwarder.status(io.address, old)
        for step in range(2):
            out.write("u", step, step + np.arange(200_000.0))
            out.write("small", step, np.full(7, step, dtype="f4"))
            out.end_iteration(step)
    check_series(tmp_path / "out", range(2))


def read_keys_again(io, message):
    before = io.messages().count(message)
    io.process.send_signal(signal.SIGHUP)
    while io.messages().count(message) == before:
        assert io.process.poll() is None, io.messages()


def test_a_key_that_others_may_read_is_refused(tmp_path, key, start):
    io = start()
    os.chmod(key, 0o644)
    file = write_config(tmp_path, tmp_path / "out", [io.address], key)
    with pytest.raises(tailrace.Error, match="chmod 600"):
        tailrace.open(file, 0)


def test_places_outside_the_roots_are_refused_by_name(tmp_path, key, start):
    io = start()
    (tmp_path / "outside").mkdir()
    os.symlink("../outside", tmp_path / "out/link")
    for path in (tmp_path / "outside", tmp_path / "out/link/deeper", tmp_path / "out/../outside"):
        file = write_config(tmp_path, path, [io.address], key)
        with pytest.raises(tailrace.Error, match=r"roots|absolute path without"):
            tailrace.open(file, 0)
    assert not list((tmp_path / "outside").iterdir())


def test_inspect_shows_what_a_forwarder_does(tmp_path, key, start, capfd):
    io = start(schedule={"kind": "twins", "window": "1 ms"})
    file = write_config(tmp_path, tmp_path / "out", [io.address], key)
    with tailrace.open(file, 0) as out:
        out.write("u", 0, np.zeros(200_000))
        out.end_iteration(0)
        out.flush()
        assert cli.main(["inspect", "--forward", io.address, "--key", str(key)]) == 0
        text = capfd.readouterr().out
        assert "schedule twins" in text
        assert f"/{os.getpid()}" in text
        assert cli.main(["inspect", "--forward", io.address, "--key", str(key), "--json"]) == 0
        assert json.loads(capfd.readouterr().out)["clients"][0]["written_bytes"] >= 1_600_000
    assert cli.main(["inspect", "--forward", io.address]) == 2


def test_an_unchanged_program_hands_its_data_to_a_forwarder(tmp_path, key, start):
    io = start()
    program = tmp_path / "program.py"
    program.write_text("import sys, h5py, numpy as np\n"
                       "with h5py.File(sys.argv[1], 'w') as file:\n"
                       "    for i in range(5):\n"
                       "        file[f'a{i}'] = np.arange(300_000.0) + i\n")
    path = tmp_path / "out/h5py.h5"
    command = [sys.executable, "-m", "tailrace.cli", "run", "--summary", "--forward", io.address, "--key", str(key)]
    result = subprocess.run([*command, "--", sys.executable, str(program), str(path)], capture_output=True, text=True,
                            check=False, timeout=600, cwd=tmp_path / "out")
    if "HDF5 connector" in result.stderr and result.returncode == 2:
        pytest.skip(result.stderr)
    assert result.returncode == 0, result.stderr
    with h5py.File(path) as file:
        for i in range(5):
            assert np.array_equal(file[f"a{i}"][...], np.arange(300_000.0) + i)
    assert forwarder.status(io.address, key)["bytes_written"] >= 5 * 8 * 300_000, result.stderr


def built(program):
    path = BUILD / program
    if not path.is_file():
        pytest.skip(f"{path} is not built")
    return path


@pytest.mark.parametrize("place", ["thread", "core"])
def test_random_hdf5_programs_leave_what_plain_hdf5_reads(tmp_path, key, start, place):
    io = start()
    words = f"tailrace place={place} budget=16777216 smallest=1 forward={io.address} key={key}"
    env = {**os.environ, "HDF5_PLUGIN_PATH": str(run_command.PLUGINS), "HDF5_VOL_CONNECTOR": words,
           "TMPDIR": str(tmp_path / "out")}
    result = subprocess.run([built("tests/hdf5/hdf5_random"), "3"], cwd=tmp_path / "out", env=env, text=True,
                            capture_output=True, check=False, timeout=600)
    assert result.returncode == 0, result.stdout + result.stderr + io.messages()
    state = forwarder.status(io.address, key)
    assert state["bytes_written"] > 0
    assert state["clients"] == [] and state["files"] == 0 and state["memory_held_bytes"] == 0


def test_the_demonstration_leaves_the_same_fields(tmp_path, key, start, capfd):
    io = start()
    directory = tmp_path / "out/demo"
    command = ["demo", "--quick", "--keep", "--dir", str(directory), "--tsunami", str(built("apps/tsunami/tsunami"))]
    assert cli.main([*command, "--forward", io.address, "--key", str(key)]) == 0
    assert "h5py opens all 8" in capfd.readouterr().out
    fields = 0
    for plain in sorted((directory / "hdf5").glob("tsunami_*.h5")):
        step = int(plain.stem.split("_")[-1])
        with h5py.File(plain) as one, h5py.File(directory / f"tailrace/tsunami_c0_{step:06d}.h5") as other:
            for variable in ("eta", "hu", "hv"):
                fields += 1
                path = f"data/{step}/meshes/{variable}"
                assert one[path][...].tobytes() == other[path][...].tobytes()
    assert fields == 24
    assert forwarder.status(io.address, key)["bytes_written"] > 0


def test_a_demonstration_wants_key_and_forwarder(capfd):
    for words in (["--forward", "io1:4711"], ["--key", "key"]):
        with pytest.raises(SystemExit):
            cli.main(["demo", *words])
        assert "without --" in capfd.readouterr().err


class Relay:
    """Somebody on the way between a client and a forwarder, who keeps all bytes."""

    def __init__(self, address):
        host, port = address.rsplit(":", 1)
        self.to, self.bytes = (host, int(port)), bytearray()
        self.door = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self.door.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                one, _ = self.door.accept()
                other = socket.create_connection(self.to)
                for ends in ((one, other), (other, one)):
                    threading.Thread(target=self.copy, args=ends, daemon=True).start()

    def copy(self, source, target):
        with contextlib.suppress(OSError):
            while got := source.recv(65536):
                self.bytes += got
                target.sendall(got)
            target.shutdown(socket.SHUT_WR)


def test_who_listens_on_the_way_reads_nothing(tmp_path, key, start):
    io = start()
    relay = Relay(io.address)
    file = write_config(tmp_path, tmp_path / "out", [relay.address], key)
    values = np.frombuffer(b"a secret" * 200_000, "f8")
    with tailrace.open(file, 0) as out:
        out.write("u", 0, values)
        out.write("small", 0, np.zeros(7, "f4"))
        out.end_iteration(0)
        out.flush()
        assert np.array_equal(out.read("u", 0), values)
    assert len(relay.bytes) > 2 * values.nbytes
    for plain in (b"a secret", str(tmp_path).encode(), key.read_bytes().split()[-1]):
        assert plain not in relay.bytes
    assert io.stop() == 0
    relay.door.close()


FORKS = """\
import os, sys, numpy as np, tailrace
out = tailrace.open(sys.argv[1], 0)
if os.fork() == 0:
    child = tailrace.open(sys.argv[1], 1)
    child.close()
    print("child: ok", flush=True)
    os._exit(0)
os.wait()
out.write("u", 0, np.arange(200_000.0))
out.write("small", 0, np.zeros(7, "f4"))
out.end_iteration(0)
out.close()
"""


def test_a_forked_child_forwards(tmp_path, key, start):
    io = start()
    file = write_config(tmp_path, tmp_path / "out", [io.address], key)
    result = subprocess.run([sys.executable, "-c", FORKS, str(file)], capture_output=True, text=True, check=False,
                            timeout=600)
    assert result.returncode == 0, result.stderr
    assert "child: ok" in result.stdout
    check_series(tmp_path / "out", range(1))


def test_no_forwarder_is_a_clear_error_at_open(tmp_path, key):
    file = write_config(tmp_path, tmp_path / "out", ["127.0.0.1:9"], key)
    with pytest.raises(tailrace.Error, match=re.escape("127.0.0.1:9")) as raised:
        tailrace.open(file, 0)
    assert "forward.servers" in str(raised.value)


def test_wrong_configurations_of_a_forwarder_are_reported(tmp_path, key):
    file = tmp_path / "io.yaml"
    file.write_text(f"tailrace: 1\nname: io\nforward: {{listen: 'here', roots: [/tmp], key: {key}}}\n")
    result = subprocess.run([sys.executable, "-m", "tailrace.cli", "serve", "forward", "--config", str(file)],
                            capture_output=True, text=True, check=False, timeout=600)
    assert result.returncode == 1
    assert "io.yaml:3" in result.stderr and "HOST:PORT" in result.stderr
