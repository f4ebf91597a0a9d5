"""What happens while the file system prepares the files of a client that comes: servers and clients die, and others
come. Nothing depends on a clock: a gate holds the server where the client's files are opened."""

import os
import pathlib
import select

import numpy as np
import pytest
from tailrace.cli import core_server
from test_core import command
from test_runs import Process, config, out, read, slabs  # noqa: F401 (fixtures)

pytestmark = pytest.mark.usefixtures("runtime_directory")


@pytest.fixture
def processes():
    """Starts clients. Kills those that are alive at the end."""
    started = []

    def start(*arguments, **options):
        started.append(Process(*arguments, **options))
        return started[-1]

    yield start
    for process in started:
        process.kill()


def wait_until_asleep(process):
    while ") S " not in pathlib.Path(f"/proc/{process}/stat").read_text():
        pass


def test_a_client_that_two_servers_do_not_get_to_welcome_leaves_nothing(config, processes, gates, out,  # noqa: F811
                                                                       runtime_directory):
    """The first server dies as it welcomes the client, and the client while the second looks for its last iteration.
    This ended the second server."""
    file = config(file_per="process", existing="continue")
    earlier = processes(file, 0)
    assert earlier.opened() == [] and earlier.ask("write 0", "end 0", "close") == []
    while list(runtime_directory.glob("*")):
        pass
    welcome, looks = gates("sendmsg()"), gates("mini_c0_000000.h5")
    first = command("serve", "core", "--config", file, "--wait", "600", env={**os.environ, **welcome.environment})
    while not list(runtime_directory.glob("*/server_0.sock")):
        assert first.poll() is None
    client = processes(file, 0, environment=looks.environment)  # starts the second server
    welcome.wait()
    first.kill()
    first.communicate()
    looks.wait()
    (server,) = core_server.jobs()[0]["servers"]
    client.kill()
    wait_until_asleep(server["process"])  # it has seen the death, or is held
    second = os.pidfd_open(server["process"])
    looks.let_go()
    select.select([second], [], [])
    os.close(second)
    assert list(runtime_directory.glob("*")) == []  # a server that ends by itself removes all
    assert [path.name for path in out.iterdir() if path.suffix != ".log"] == ["mini_c0_000000.h5"]


def test_no_client_is_given_up_while_its_files_are_prepared(config, processes, gates, out):  # noqa: F811
    gate = gates("_c2.lock")
    # In the server, the patience of the first client counts. It is over before the server looks again.
    hasty = processes(config(patience=1e-6), 0, clients=3, environment=gate.environment)
    assert hasty.opened() == []
    file = config()
    second = processes(file, 1, clients=3)
    assert second.opened() == []
    third = processes(file, 2, clients=3)
    gate.wait()
    assert hasty.ask("write 0", "end 0") == []
    assert second.ask("write 0", "end 0", *["flush"] * 100) == []  # the server looks at least as often
    gate.let_go()
    assert third.opened() == []
    assert third.ask("write 0", "end 0", "close") == [] and second.ask("close") == []
    found, missing = read(out, 0)
    assert np.array_equal(found, slabs(0, 0, 3)) and missing == []


def test_who_is_given_up_while_its_files_are_prepared_is_refused(config, processes, gates, out,  # noqa: F811
                                                                 tmp_path):
    gate = gates("_c1.lock")
    log = tmp_path / "log"
    file = config()
    file.write_text(file.read_text().replace('{level: "off"}', f"{{file: {log}}}"))
    late = processes(file, 1, waits=True)  # its process begins with the run
    assert late.ask("ready") == []
    first = processes(file, 0, environment=gate.environment)
    assert first.opened() == []
    late.tell("open")
    gate.wait()
    first.kill()
    again = processes(file, 0, shift=500.0)
    while "since another run has begun" not in log.read_text():
        pass
    gate.let_go()
    ((status, message),) = late.answers(1)
    assert status == "clients are missing" and "client 1 has come too late" in message
    assert again.opened() == []
    both = [again, processes(file, 1, shift=500.0)]
    assert both[1].opened() == []
    for process in both:
        process.tell("write 0", "end 0", "close")
    for process in both:
        assert process.answers(3) == []
    found, missing = read(out, 0)
    assert np.array_equal(found, slabs(500, 0, 2)) and missing == []
