"""`Client.variable_stats`, and the files that `measurements` in the configuration asks for."""

import dataclasses
import json

import numpy as np
import pytest
import tailrace

PLANE = np.ones((4, 6))


@pytest.fixture
def measured(config, out):
    """Opens a client that writes a report and a trace."""
    file = config()
    file.write_text(file.read_text() + "measurements: {report: true, trace: true}\n")
    return lambda: tailrace.open(file)


def write_all_ways(client):
    client.write("temperature", 0, PLANE)
    client.alloc("pressure", 0)[:] = PLANE
    client.commit("pressure", 0)
    client.borrow("density", 0, PLANE).wait()
    client.read("temperature", 0)
    client.end_iteration(0)
    client.flush()


def test_statistics_of_a_variable(config):
    with tailrace.open(config()) as client:
        write_all_ways(client)
        for name in ("temperature", "pressure", "density"):
            stats = client.variable_stats(name)
            assert isinstance(stats, tailrace.VariableStats)
            assert stats.blocks_accepted == stats.blocks_written == 1
            assert stats.blocks_failed == stats.blocks_refused == stats.blocks_written_through == 0
            assert stats.bytes_accepted == stats.bytes_written == PLANE.nbytes
            for times in (stats.handover, stats.queued, stats.writing):
                assert isinstance(times, tailrace.Times)
                assert times.count == 1 and times.p50 == times.p99 == times.most == times.total == times.mean
            assert stats.handover.most > 0 and stats.writing.most > 0
        assert client.variable_stats("temperature").waiting.count == 1  # it was read
        assert client.variable_stats("pressure").waiting.count == 0


def test_statistics_of_a_variable_that_was_not_written(config):
    with tailrace.open(config()) as client:
        plain = dataclasses.asdict(client.variable_stats("third"))
        nothing = {"count": 0, "total": 0, "mean": 0, "p50": 0, "p90": 0, "p99": 0, "most": 0}
        assert all(value == (nothing if isinstance(value, dict) else 0) for value in plain.values())
        assert len(plain) == 19


def test_statistics_of_an_unknown_variable(config):
    with tailrace.open(config()) as client:
        with pytest.raises(tailrace.Error) as caught:
            client.variable_stats("temperatur")
        assert caught.value.code == tailrace.Status.UNKNOWN_VARIABLE and "temperature" in str(caught.value)
        with pytest.raises(ValueError):
            client.variable_stats("a\0b")
    with pytest.raises(tailrace.Error) as caught:
        client.variable_stats("temperature")
    assert caught.value.code == tailrace.Status.CLOSED


def test_blocks_that_are_refused(config):
    with tailrace.open(config(budget="1 MiB", when_full="drop")) as client:
        for name in ("field", "other"):
            client.alloc(name, 0)
        assert client.write("third", 1, np.ones(65536)) is False
        assert client.write("third", 1, np.ones(65536)) is False
        assert client.variable_stats("third").blocks_refused == 2
        assert client.variable_stats("third").blocks_accepted == 0
        for name in ("field", "other"):
            client.commit(name, 0)
        client.end_iteration(0)
        client.end_iteration(1)


def test_the_files_say_what_the_methods_say(measured, out):
    with measured() as client:
        write_all_ways(client)
        totals = client.stats()
        variables = {name: dataclasses.asdict(client.variable_stats(name)) for name in ("temperature", "density")}
    report = json.loads((out / "sim_c0.stats.json").read_text())
    assert report["totals"] == {name: value for name, value in totals.items()
                                if name not in ("memory_held", "seconds_waiting_ticket")} | {
        "seconds_waiting_ticket": report["totals"]["seconds_waiting_ticket"]}
    for one in report["variables"]:
        name = one.pop("name")
        for times in ("handover", "waiting", "queued", "writing", "filtering"):
            assert sum(count for _, count in one[times].pop("histogram")) == one[times]["count"]
        assert name not in variables or one == variables[name]
    trace = json.loads((out / "sim_c0.trace.json").read_text())
    names = [event["name"] for event in trace["traceEvents"] if event["ph"] == "X"]
    assert names[:5] == ["write temperature", "alloc pressure", "commit pressure", "borrow density", names[4]]
    assert "read temperature" in names and names[-1] == "close"


def test_nothing_is_written_unasked(config, out):
    with tailrace.open(config()) as client:
        write_all_ways(client)
    assert [path.name for path in out.iterdir()] == ["sim_c0_000000.h5"]


def test_recover_leaves_measurements_alone(measured, out):
    with measured() as client:
        write_all_ways(client)
    assert tailrace.recover(out) == []
    assert {path.name for path in out.iterdir()} == {"sim_c0_000000.h5", "sim_c0.stats.json", "sim_c0.trace.json"}
