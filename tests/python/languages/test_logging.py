"""What a client logs reaches Python's logging."""

import glob
import logging
import os
import subprocess
import sys
import tempfile

import numpy as np
import pytest
import tailrace


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def opened(directory, **keywords):
    return tailrace.open(variables={"a": np.zeros(3)}, path=directory / "out", budget="4 MiB", **keywords)


def closed_with_a_failure(client):
    client.write("a", 0, np.ones(3))
    with pytest.raises(tailrace.Error):  # the iteration was not ended
        client.close()
    tailrace._logs.end_all()


def test_messages_reach_the_logger(temporary, caplog, capfd):
    with caplog.at_level(logging.INFO):
        closed_with_a_failure(opened(temporary, logger=True, log_level="info"))
    found = [record for record in caplog.records if record.name == "tailrace.client"]
    assert {logging.INFO, logging.ERROR} <= {record.levelno for record in found}
    assert any("was not published: end_iteration(" in record.getMessage() for record in found)
    assert capfd.readouterr().err == "" and not glob.glob(str(temporary / "*.log"))


def test_a_logger_can_be_chosen(temporary, caplog):
    closed_with_a_failure(opened(temporary, logger=logging.getLogger("mine")))
    assert [record.name for record in caplog.records] == ["mine"]


def test_a_client_that_is_closed_ends_its_thread(temporary):
    client = opened(temporary, logger="mine")
    reader, = tailrace._logs._following
    client.close()
    reader._thread.join()
    assert not tailrace._logs._following and not os.path.exists(reader.path)


def test_without_a_close_they_come_at_the_end_of_the_program(temporary, python):
    said = python("import logging, sys, numpy, tailrace\n"
                  "logging.basicConfig(format='%(name)s|%(message)s')\n"
                  "a = numpy.zeros(3)\n"
                  "out = tailrace.open(variables={'a': a}, path=sys.argv[1], budget='4 MiB', logger=True)\n"
                  "out.write('a', 0, a)\n", temporary / "out").stderr
    assert "tailrace.client|run/0: " in said and "was not published: end_iteration(" in said, said


def test_a_failed_open_leaves_nothing(temporary):
    with pytest.raises(ValueError):
        opened(temporary, logger=True, place="coer")
    with pytest.raises(TypeError, match="keywords logger"):
        tailrace.open("sim.yaml", logger=True)
    with pytest.raises(TypeError, match="expected True, a name or a logging.Logger, found int"):
        opened(temporary, logger=3)
    assert not glob.glob(str(temporary / "*.log"))


FULL = """\
import resource, signal, sys
import numpy as np, tailrace
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, resource.RLIM_INFINITY))
out = tailrace.open(variables={"a": np.zeros(10000), "b": np.zeros(10000)}, path=sys.argv[1], budget="4 MiB")
raised = 0
for step in range(3):
    for call in (lambda: out.write("a", step, np.ones(10000)), lambda: out.write("b", step, np.ones(10000)),
                 lambda: out.end_iteration(step)):
        try:
            call()
        except tailrace.Error:  # of an earlier request
            raised += 1
try:
    out.close()
except tailrace.Error:
    pass
print(raised)
"""


def test_an_iteration_that_storage_refuses_is_one_line(tmp_path):
    done = subprocess.run([sys.executable, "-c", FULL, tmp_path / "out"], capture_output=True, text=True, check=True)
    raised = int(done.stdout)
    for step in range(3):
        told = [line for line in done.stderr.splitlines() if f"iteration {step}:" in line]
        assert len(told) <= 1, done.stderr
        # What a call has raised before is not told again.
        assert raised or (len(told) == 1 and "failures in this iteration" in told[0]), done.stderr
