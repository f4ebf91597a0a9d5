"""Place core with servers that take turns, and how busy each server of a live job is. Nothing depends on a clock."""

import fcntl
import json
import os
import signal
import struct
import threading

import pytest
from tailrace import iterations
from test_core import check_files, clients, config  # noqa: F401 (fixtures)

F_SETOWN_EX, F_OWNER_TID = 15, 0  # Python's fcntl lacks them

pytestmark = pytest.mark.usefixtures("runtime_directory")


@pytest.fixture
def taking_turns(config):  # noqa: F811
    """A configuration with two servers that take turns."""
    file = config(", cores: 2")
    file.write_text(file.read_text().replace("storage: {", "storage: {slots: true, "))
    return file


@pytest.fixture
def renamed():
    """Waits until something in a directory is renamed; nothing is missed after the first call for it."""
    watched = {}
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGIO})

    def wait(directory, done):
        if directory not in watched:
            watched[directory] = os.open(directory, os.O_RDONLY)
            # To this thread, which alone blocks the signal: in threads of other libraries it would end the process.
            owner = struct.pack("ii", F_OWNER_TID, threading.get_native_id())
            fcntl.fcntl(watched[directory], F_SETOWN_EX, owner)
            fcntl.fcntl(watched[directory], fcntl.F_NOTIFY, fcntl.DN_RENAME | fcntl.DN_MULTISHOT)
        while not done():
            assert signal.sigtimedwait({signal.SIGIO}, 60), "nothing was renamed within 60 s"

    yield wait
    for descriptor in watched.values():
        os.close(descriptor)
    while signal.sigtimedwait({signal.SIGIO}, 0):
        pass
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGIO})


def published(out, client, step):
    return lambda: (out / f"sim_c{client}_{step:06d}.h5").exists()


def test_what_waits_for_its_slot_is_written_though_nothing_else_happens(taking_turns, clients, renamed,  # noqa: F811
                                                                        tmp_path):
    out = tmp_path / "out"
    second = clients(taking_turns, 1)  # its server's slot is half an iteration later
    second.tell(0)
    renamed(out, published(out, 1, 0))
    first = clients(taking_turns, 0)  # starting a server takes as long as an iteration
    second.tell(1)
    renamed(out, published(out, 1, 1))
    for step in (0, 1):
        first.tell(step)
        renamed(out, published(out, 0, step))
    for client in (first, second):
        client.close()
    check_files(out, (0, 1), (0, 1))


def test_closing_waits_for_no_slot_and_loses_nothing(taking_turns, clients, tmp_path):  # noqa: F811
    all_clients = [clients(taking_turns, number) for number in range(4)]
    for step in range(20):
        for client in all_clients:
            client.tell(step)
    for client in all_clients:
        client.close()
    check_files(tmp_path / "out", range(4), range(20))


def test_inspect_shows_how_busy_the_servers_are(taking_turns, clients, renamed, run, tmp_path):  # noqa: F811
    out = tmp_path / "out"
    all_clients = [clients(taking_turns, number) for number in range(3)]
    for step in range(4):
        for number, client in enumerate(all_clients):
            client.tell(step)
            renamed(out, published(out, number, step))
    code, text, _ = run("inspect", out)
    assert code == 0
    lines = [line.split() for line in text.splitlines()]
    assert sum(line[:2] == [str(step), "published"] for line in lines for step in range(4)) >= 2 * 3
    for server in (0, 1):
        assert f"core {server} was busy " in text
    (found,) = json.loads(run("inspect", out, "--json")[1])
    (job,) = found["jobs"]
    for client in job["clients"]:
        read = iterations.read(client["iterations"])
        assert [one.number for one in read] == [0, 1, 2, 3]
        assert all(one.bytes_taken == 4 * 6 * 8 for one in read)
        assert all(one.period > 0 for one in read[:-1]) and read[-1].period is None
    for client in all_clients:
        client.close()


def test_servers_must_agree_on_their_turns(taking_turns, clients, run):  # noqa: F811
    client = clients(taking_turns, 0)
    client.tell(0)
    taking_turns.write_text(taking_turns.read_text().replace("slots: true", "slots: false"))
    import tailrace

    with pytest.raises(tailrace.Error) as caught:
        tailrace.open(taking_turns, 2)
    assert "storage.slots 'false', expected 'true'" in str(caught.value)
    client.close()
