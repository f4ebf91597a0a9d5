"""One beyond each limit that a user can meet: what is refused, and by which words."""

import numpy as np
import pytest
import tailrace

DECLARED = {"v": tailrace.Variable("u1", (2,))}
CONFIG = "tailrace: 1\nname: sim\nlayouts: {l: {type: int8, shape: [2]}}\nvariables: {v: {layout: l}}\n"


@pytest.mark.parametrize(("key", "most"), [
    ("memory: {iterations: %d}", 256), ("storage: {queue_depth: %d}", 256),
    ("place: {kind: core, clients: %d}", 4096), ("place: {kind: thread, filter_threads: %d}", 64)])
def test_numbers_of_the_configuration(key, most):
    assert tailrace.mistakes("sim.yaml", text=CONFIG + key % most + "\n") == []
    (mistake,) = tailrace.mistakes("sim.yaml", text=CONFIG + key % (most + 1) + "\n")
    assert f"found '{most + 1}', expected an integer from 1 to {most}" in str(mistake)


@pytest.mark.parametrize(("count", "expected"), [(64, None), (65, "found 65 directories, expected at most 64")])
def test_directories(count, expected):
    paths = ", ".join(f"d{number}" for number in range(count))
    mistakes = tailrace.mistakes("sim.yaml", text=CONFIG + f"storage: {{path: [{paths}]}}\n")
    assert [str(one).partition("storage.path: ")[2] for one in mistakes] == ([expected] if expected else [])


@pytest.mark.parametrize(("rank", "right"), [(8, True), (9, False)])
def test_dimensions(rank, right):
    text = CONFIG.replace("[2]", "[" + ", ".join(["1"] * rank) + "]")
    assert (tailrace.mistakes("sim.yaml", text=text) == []) == right


@pytest.fixture
def out(tmp_path):
    with tailrace.open(name="sim", variables=DECLARED, path=tmp_path, budget="4 MiB") as opened:
        yield opened


def test_attributes(out):
    out.write("v", 0, np.zeros(2, "u1"))
    out.attribute(0, "n" * 200, 1)
    with pytest.raises(tailrace.Error, match="name of 201 bytes"):
        out.attribute(0, "n" * 201, 1)
    least = next(size for size in range(8192, 0, -1) if _is_taken(out, "x" * size))
    assert 8192 - least < 64  # the name and the lengths
    with pytest.raises(tailrace.Error, match="expected at most 8192"):
        out.attribute(0, "text", "x" * (least + 1))
    out.end_iteration(0)


def _is_taken(out, text):
    try:
        return out.attribute(0, "text", text)
    except tailrace.Error:
        return False


def test_names_of_events(out):
    out.signal("e" * 31, 0)
    with pytest.raises(tailrace.Error, match="an event name of 32 bytes, expected 1 to 31"):
        out.signal("e" * 32, 0)
