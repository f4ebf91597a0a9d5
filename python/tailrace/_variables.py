"""The declared variables of a client, as a mapping."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _html


@dataclass(frozen=True)
class DeclaredVariable:
    """A variable as a client has it now; ``set_parameters`` can change the shape for later blocks."""

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    nbytes: int  #: of one block
    unit: str  #: "1" if it has none
    description: str

    @property
    def ndim(self) -> int:
        """Returns the number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Returns the number of elements of one block."""
        return self.nbytes // self.dtype.itemsize

    def empty(self) -> np.ndarray[Any, Any]:
        """Returns a new array of this type and shape, with arbitrary elements."""
        return np.empty(self.shape, self.dtype)

    def _repr_html_(self) -> str:
        return _html.variables([self])


class Variables(Mapping[str, DeclaredVariable]):
    """From names to variables, in the configuration's order."""

    def __init__(self, client: Any, texts: Mapping[str, tuple[str, str]]) -> None:
        self._client = client
        self._texts = texts

    def __getitem__(self, name: str) -> DeclaredVariable:
        unit, description = self._texts[name]
        dtype, shape, nbytes = self._client.variable(name)
        return DeclaredVariable(name, np.dtype(dtype), shape, nbytes, unit, description)

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)

    def __repr__(self) -> str:
        return f"<tailrace variables: {', '.join(self._texts) or 'none'}>"

    def _repr_html_(self) -> str:
        return _html.variables(self.values())
