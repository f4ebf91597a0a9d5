"""Configurations that a program makes itself: from keywords, example arrays and dictionaries to the text of a file.

It checks only what has no place in the text. Everything else is checked where files are, in the library, whose
messages name the key.
"""

from __future__ import annotations

import json
import math
import numbers
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Union

import numpy as np

Size = Union[int, str]  #: a length, or the name of a parameter
NAME = "tailrace.open()"  #: the file's name in messages

# Names of element types in the configuration, where NumPy's differ.
_TYPES = {"longdouble": "long_double", "float128": "long_double", "float96": "long_double"}
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
# The keywords that set one key of the configuration.
_KEYS = {"name": ("name",), "budget": ("memory", "budget"), "when_full": ("memory", "when_full"),
         "existing": ("storage", "existing"), "durability": ("storage", "durability"),
         "file_per": ("storage", "file_per"), "iterations_per_file": ("storage", "iterations_per_file"),
         "dt": ("time", "dt"), "log_level": ("log", "level"),
         "logger": ("log", "file")}
KEYWORDS = frozenset({"variables", "place", *_KEYS})  #: of ``tailrace.open``, that make a configuration


@dataclass(frozen=True)
class Variable:
    """Declares a variable for ``tailrace.open``: its type and shape, and what else the configuration can say of it.

    ``type`` is everything that ``numpy.dtype`` takes. Lengths are integers or names of parameters. ``shape``,
    ``global_shape`` and ``offset`` have the slowest dimension first.
    """

    type: Any
    shape: Size | Sequence[Size]
    global_shape: Sequence[Size] | None = None  #: of the whole array, if several clients have parts of it
    offset: Sequence[Size] | None = None  #: where the block begins in the whole array
    unit: str | None = None  #: of the values
    description: str | None = None
    axes: Sequence[str] | None = None  #: names of the dimensions
    spacing: Sequence[float] | None = None  #: of the grid along each axis
    origin: Sequence[float] | None = None  #: the position of the whole array's first element
    grid_unit: str | None = None  #: of spacing and origin
    compress: str | Mapping[str, Any] | None = None
    precision: str | None = None
    fill_value: float | None = None  #: of elements of the whole array that nobody has written
    enabled: bool | None = None
    keep: int | None = None
    components: Sequence[str] | None = None  #: of a vector; its blocks are "name/component"
    position: Any = None  #: where in a cell the values are
    attributes: Mapping[str, Any] | None = None

    @classmethod
    def like(cls, array: Any, **declared: Any) -> Variable:
        """Declares a variable with the type and the shape of an array; ``declared`` has the other members."""
        return cls(array.dtype, tuple(array.shape), **declared)

    def layout(self) -> dict[str, Any]:
        """Returns its entry in ``layouts:``."""
        return _given({"type": type_name(self.type), "shape": _sizes(self.shape), "global": _sizes(self.global_shape),
                       "offset": _sizes(self.offset), "axes": self.axes, "spacing": self.spacing,
                       "origin": self.origin, "unit": self.grid_unit})

    def entry(self, layout: str) -> dict[str, Any]:
        """Returns its entry in ``variables:``."""
        return _given({"layout": layout, "unit": self.unit, "description": self.description,
                       "compress": self.compress, "precision": self.precision,
                       "fill_value": "nan" if self.fill_value != self.fill_value else self.fill_value,
                       "enabled": self.enabled, "keep": self.keep, "components": self.components,
                       "position": self.position, "attributes": self.attributes})


Variable.__module__ = "tailrace"


def type_name(given: Any) -> str:
    """Returns the configuration's name of a type; of an unknown one, the text itself, for the message."""
    try:
        dtype = np.dtype(given)
    except TypeError:
        return str(given)
    if not dtype.isnative:
        raise TypeError(f"type: expected the machine's byte order, found {dtype.str!r}")
    return _TYPES.get(dtype.name, dtype.name)


def source(config: Any, given_text: str | None, keywords: Mapping[str, Any],
           on_nodes: bool = False) -> tuple[str, str | None]:
    """Returns what the library opens: the name of a file, and its text if there is no such file.

    ``keywords`` may contain None for what is not given. With ``on_nodes``, a configuration without a file is for the
    ranks of ``tailrace.ranks``.
    """
    if isinstance(config, Mapping) or (config is None and given_text is None):
        if given_text is not None:
            raise TypeError("open: found a dictionary and text, expected one of both")
        if config is None and not _given(keywords):
            raise TypeError("open: expected a configuration file, a dictionary or keywords, found none")
        made = document(config, keywords)
        if on_nodes:
            _share_nodes(made)
        return NAME, text(made)
    if names := ", ".join(_given(keywords)):
        raise TypeError(f"open: found a configuration file and the keywords {names}, expected one of both; of a "
                        "file, parameters and path can be replaced")
    return ("text" if config is None else os.fspath(config)), given_text


def document(config: Mapping[str, Any] | None, keywords: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the configuration as a dictionary: that of the program, with the keywords that are not None.

    A key that stands in both raises TypeError; so does a variable that is neither an array nor a declaration.
    """
    made: dict[str, Any] = {"tailrace": 1, **_copied(config or {})}
    given = _given(keywords)
    if config is None:
        made["name"] = given.pop("name", "run")
    place = given.pop("place", None)
    if place is not None:
        _set(made, "place", ("place",) if isinstance(place, Mapping) else ("place", "kind"), place)
    for name, variable in _variables(given.pop("variables", None)):
        _set(made, "variables", ("layouts", name), variable.layout())
        _set(made, "variables", ("variables", name), variable.entry(name))
    for keyword, value in given.items():
        _set(made, keyword, _KEYS[keyword], value)
    return made


def text(made: Mapping[str, Any]) -> str:
    """Returns the configuration as YAML. Raises TypeError or ValueError for what it cannot contain."""
    lines = []
    for key, value in made.items():
        _check_key(key, key)
        if isinstance(value, Mapping) and value:
            lines.append(f"{key}:")
            for inner, entry in value.items():
                _check_key(inner, f"{key}.{inner}")
                lines.append(f"  {inner}: {_flow(entry, f'{key}.{inner}')}")
        else:
            lines.append(f"{key}: {_flow(value, key)}")
    return "\n".join(lines) + "\n"


def _share_nodes(made: dict[str, Any]) -> None:
    """Lets the ranks of each node be the clients of its server, by the parameters of ``tailrace.ranks``."""
    place = made.setdefault("place", {})
    if isinstance(place, dict):
        for key, parameter in (("clients", "local_size"), ("node", "node"), ("nodes", "nodes")):
            place.setdefault(key, parameter)


def _given(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}


def _copied(config: Mapping[str, Any]) -> dict[str, Any]:
    return {key: _copied(value) if isinstance(value, Mapping) else value for key, value in config.items()}


def _sizes(given: Any) -> Any:
    return [given] if isinstance(given, (str, numbers.Integral)) else given


def _set(made: dict[str, Any], keyword: str, path: tuple[str, ...], value: Any) -> None:
    where = made
    for key in path[:-1]:
        where = where.setdefault(key, {})
        if not isinstance(where, dict):
            raise TypeError(f"open: {keyword}: the configuration's key '{key}' is {where!r}, expected a dictionary")
    if path[-1] in where:
        raise TypeError(f"open: {keyword}: the configuration has '{'.'.join(path)}', too; expected one of both")
    where[path[-1]] = value


def _variables(given: Any) -> Iterator[tuple[str, Variable]]:
    if given is None:
        return
    if not isinstance(given, Mapping):
        raise TypeError(f"open: variables: expected a dictionary from names to arrays, found {type(given).__name__}")
    for name, variable in given.items():
        if isinstance(variable, Variable):
            yield name, variable
        elif hasattr(variable, "dtype") and hasattr(variable, "shape"):
            yield name, Variable.like(variable)
        else:
            raise TypeError(f"open: variables: {name}: expected an array or a tailrace.Variable, found "
                            f"{type(variable).__name__}")


def _check_key(key: Any, path: str) -> None:
    if not isinstance(key, str):
        raise TypeError(f"open: {path}: expected keys that are texts, found {key!r}")
    if not _PLAIN_KEY.fullmatch(key):
        raise ValueError(f"open: {path}: expected a key of letters, digits and _ . -, found {key!r}")


def _flow(value: Any, path: str) -> str:
    """Returns a value in YAML's flow style, on one line."""
    if isinstance(value, Mapping):
        for key in value:
            _check_key(key, f"{path}.{key}")
        return "{" + ", ".join(f"{key}: {_flow(entry, f'{path}.{key}')}" for key, entry in value.items()) + "}"
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_flow(item, f"{path}[{index}]") for index, item in enumerate(value)) + "]"
    return _scalar(value, path)


def _scalar(value: Any, path: str) -> str:
    if value is None:
        return "null"
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, numbers.Real):
        return repr(float(value)) if math.isfinite(value) else str(float(value))
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    raise TypeError(f"open: {path}: expected a number, a text, a list or a dictionary, found {type(value).__name__}")
