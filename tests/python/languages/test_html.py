"""What a notebook shows of clients, variables, statistics, lists and Datasets: small, without colours, escaped."""

import html.parser
import re

import h5py
import numpy as np
import pytest
import tailrace

HOSTILE = "<script>alert('&')</script>"


class Shown(html.parser.HTMLParser):
    """The elements and the texts of HTML; its elements must be closed in order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.elements, self.texts = [], [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)
        self.elements.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def shown(one):
    """Returns what a notebook shows of an object, without elements that could do anything."""
    text = one._repr_html_()
    assert not re.search(r"colou?r|background", text)  # those of the notebook, light or dark
    found = Shown(text)
    assert {*found.elements} <= {"table", "caption", "thead", "tbody", "tr", "th", "td", "p"}
    return found.texts


@pytest.fixture
def client(out):
    variables = {"field": tailrace.Variable("float64", (4, 6), unit="K", description=HOSTILE), "other": np.zeros(3)}
    with tailrace.open(name="sim", variables=variables, path=out, budget="4 MiB") as opened:
        opened.write("field", 0, np.ones((4, 6)))
        opened.end_iteration(0)
        opened.flush()
        yield opened


def test_a_client_shows_its_writer_its_variables_and_its_counters(client):
    texts = shown(client)
    assert any("place thread" in text for text in texts)
    for text in ("field", "float64", "4 × 6", "192 B", "K", HOSTILE, "bytes_written", "memory_budget"):
        assert text in texts
    assert "place thread" in repr(client)


def test_a_closed_client_shows_that(client):
    client.close()
    assert shown(client) == ["tailrace.Client 0: closed"]


def test_a_client_that_cannot_answer_shows_one_line():
    class Busy:
        """A client in a call of another thread."""

        def __repr__(self):
            return "<tailrace.Client 0: in a call of another thread>"

        @property
        def variables(self):
            raise tailrace.Error("busy")

        def _repr_html_(self):
            return tailrace._html.client(self)

    assert shown(Busy()) == ["tailrace.Client 0: in a call of another thread"]


def test_variables_show_a_table(client):
    assert shown(client.variables)[:7] == ["variables", "name", "type", "shape", "size", "unit", "description"]
    assert "other" in shown(client.variables) and "other" not in shown(client.variables["field"])
    assert repr(client.variables) == "<tailrace variables: field, other>"


def test_statistics_show_what_is_not_zero(client):
    stats = client.stats()
    assert isinstance(stats, dict) and stats["blocks_written"] == 1 and repr(stats) == repr(dict(stats))
    texts = shown(stats)
    assert "192 B" in texts and "4 MiB" in texts and "blocks_failed" not in texts
    texts = shown(client.variable_stats("field"))
    assert "blocks_written" in texts and "handover" in texts and "filtering" not in texts
    assert "count" in shown(client.variable_stats("field").writing)
    assert shown(client.variable_stats("other")) == ["variable", "counter", "value", "all", "0", *_TIMES]
    texts = shown(client.file_stats())
    assert "before" in texts and "most" in texts and "count" in shown(client.file_stats().after)


_TIMES = ["count", "total", "mean", "p50", "p90", "p99", "most"]


def test_mistakes_and_leftovers_show_a_table(out):
    found = tailrace.mistakes({"tailrace": 1, "name": "sim", "memory": {"budget": HOSTILE}})
    assert isinstance(found, list) and repr(found) == repr(list(found))
    assert any(HOSTILE in text for text in shown(found)) and "expected" in shown(found)
    (out / f"{HOSTILE.replace('/', '')}_c0_000000.h5.part").touch()
    found = tailrace.recover(out, apply=False)
    assert isinstance(found, list)
    assert "kind" in shown(found) if found else shown(found) == ["none"]


def test_a_long_list_is_cut():
    leftovers = tailrace._html.Listed(tailrace.Leftover(f"file{number}", "complete", True, "ok", "")
                                      for number in range(250))
    texts = shown(leftovers)
    assert "file99" in texts and "file100" not in texts and "… and 150 more" in texts


def test_a_dataset_shows_hostile_names_as_texts(out):
    pytest.importorskip("xarray")
    with tailrace.open(name="sim", variables={"field": tailrace.Variable("float64", 4)}, path=out) as client:
        client.write("field", 0, np.ones(4))
        client.attribute(0, HOSTILE.replace("/", ""), HOSTILE)
        client.end_iteration(0)
    file = next(out.glob("*.h5"))
    with h5py.File(file, "r+") as opened:
        opened.move("data/0/meshes/field", f"data/0/meshes/{HOSTILE.replace('/', '')}")
        opened["data/0/meshes"][HOSTILE.replace("/", "")].attrs["note"] = HOSTILE
        opened["data/0/meshes"][HOSTILE.replace("/", "")].attrs["axisLabels"] = [HOSTILE.encode()]
    data = tailrace.read(out)
    name = HOSTILE.replace("/", "")
    assert name in data
    for one in (data, data.isel(time=0), data[name], data[name].isel(time=0)):
        text = one._repr_html_()
        assert "<script>alert" not in text and "&lt;script&gt;alert" in text
        assert repr(one).startswith("<xarray.")
