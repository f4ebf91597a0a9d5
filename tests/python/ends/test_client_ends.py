"""Clients that end while an exception is on its way: nobody has them any more, and their destructor closes them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import tailrace

BLOCK = np.arange(12.0).reshape(3, 4)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("warning", ["ignore", "error"])
def test_the_end_of_a_client_keeps_the_exception(tmp_path, warning):
    """So does that of the objects that keep a client."""
    def opened():
        return tailrace.open(variables={"a": BLOCK}, path=tmp_path, budget="4 MiB", log_level="off",
                         existing="replace")

    expected = {IndexError: [lambda: [opened()][1], lambda: [opened().open_file("raw")][1],
                             lambda: [opened().alloc("a", 0)][1], lambda: [opened().borrow("a", 0, BLOCK)][1]],
                KeyError: [lambda: {"a": opened()}["b"]], TypeError: [lambda: opened() + 1],
                tailrace.WrongShape: [lambda: opened().write("a", 0, np.zeros(7))]}
    with warnings.catch_warnings():
        warnings.simplefilter(warning, ResourceWarning)
        for error, calls in expected.items():
            for function in calls:
                with pytest.raises(error):
                    function()
