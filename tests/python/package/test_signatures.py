"""`inspect.signature` and `help` know the methods of clients, tickets and files."""

import inspect

import numpy as np
import pytest
import tailrace

METHODS = [(kind, name) for kind in (tailrace.Client, tailrace.File, tailrace.Ticket) for name in vars(kind)
           if not name.startswith("_") and callable(getattr(kind, name))]


@pytest.mark.parametrize("kind,name", METHODS, ids=lambda given: given if isinstance(given, str) else given.__name__)
def test_methods_have_a_signature(kind, name):
    method = getattr(kind, name)
    assert list(inspect.signature(method).parameters)[0] == "self"
    assert method.__doc__ and method.__qualname__ == f"{kind.__name__}.{name}"


def test_signatures_are_those_of_the_library(out):
    parameters = inspect.signature(tailrace.Client.write).parameters
    assert list(parameters) == ["self", "variable", "iteration", "array", "fill_value"]
    assert parameters["fill_value"].default is None
    assert inspect.signature(tailrace.Ticket.wait).parameters["timeout"].default is None
    with tailrace.open({"name": "s", "storage": {"path": str(out)}, "parameters": {"n": 2},
                        "layouts": {"line": {"type": "int8", "shape": ["n"]}},
                        "variables": {"a": {"layout": "line"}}}) as client:
        assert list(inspect.signature(client.write).parameters) == ["variable", "iteration", "array", "fill_value"]
        client.set_parameters(n=3)
        assert client.write(iteration=0, variable="a", array=np.zeros(3, np.int8))
        with pytest.raises(TypeError, match="itration"):
            client.write("a", itration=0, array=np.zeros(3, np.int8))
        client.end_iteration(0)
