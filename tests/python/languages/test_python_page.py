"""The snippets of docs/python.md that need neither MPI nor an event loop do what the page says."""

import re

import numpy as np
import tailrace
from conftest import REPOSITORY


def snippets():
    return re.findall(r"```python\n(.*?)```", (REPOSITORY / "docs/python.md").read_text(), re.DOTALL)


def test_opening_and_reading_back(tmp_path, monkeypatch):
    names = {}
    for number, snippet in enumerate(snippets()[:4]):
        directory = tmp_path / str(number)
        directory.mkdir()
        (directory / "sim.yaml").write_text((REPOSITORY / "examples/sim.yaml").read_text())
        monkeypatch.chdir(directory)
        exec(snippet, names)
        if number == 3:
            assert list(names["out"].variables) == ["temperature", "pressure", "density"]
        if not names["out"].closed:
            names["out"].close()
    monkeypatch.chdir(tmp_path / "0")
    exec(snippets()[-1], names)
    np.testing.assert_array_equal(names["T"], np.full((48, 64), 3.0))


def test_listing_and_waiting(tmp_path, capsys):
    T = np.ones((2, 3))
    with tailrace.open(variables={"T": tailrace.Variable.like(T, unit="K")}, path=tmp_path, budget="4 MiB") as out:
        names = {"out": out, "T": T, "step": 0}
        listing, waiting = snippets()[4:6]
        exec(listing, names)
        assert capsys.readouterr().out == "T float64 (2, 3) 48 K\n"
        exec(waiting.replace("await ticket", "assert ticket.test()"), names)
        out.end_iteration(0)


def test_every_class_of_exceptions_is_on_the_page():
    text = (REPOSITORY / "docs/python.md").read_text()
    for kind in tailrace._errors._CLASSES.values():
        assert f"`{kind.__name__}`" in text
        base = kind.__mro__[2] if kind.__mro__[2] is not Exception else None
        assert base is None or f"`{base.__name__}`" in text, kind
