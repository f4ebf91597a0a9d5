"""Random descriptions and programs for Damaris from a seed, and the files that they must leave, by a plain model."""

from __future__ import annotations

import dataclasses
import pathlib
import random
from collections.abc import Iterator

import numpy as np
import replay_runs as runs

_TYPES = {"char": ("c", "int8"), "short": ("s", "int16"), "int": ("i", "int32"), "integer": ("i", "int32"),
          "long": ("l", "int64"), "float": ("f", "float32"), "real": ("f", "float32"), "double": ("d", "float64")}


@dataclasses.dataclass
class _Variable:
    name: str
    type: str
    inner: list[int]  # of a block, of every client and domain
    ghosts: list[tuple[int, int]]
    varying: bool
    scale: str = ""  # the parameter that multiplies the first dimension

    def memory(self, scale: int) -> list[int]:
        inner = [self.inner[0] * scale, *self.inner[1:]]
        return [size + lower + upper for size, (lower, upper) in zip(inner, self.ghosts, strict=True)]


@dataclasses.dataclass
class Case:
    """A description, the calls of each client, and the datasets of each file."""

    xml: str
    calls: list[list[str]]
    cores: int
    node_size: int  # that many ranks count as one node; 0: all
    files: dict[str, dict[str, np.ndarray]]
    codes: list[int]  # that are allowed


class _Maker:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.collective = self.random.random() < 0.4
        self.cores = self.random.choice([0, 1, 1, 2])
        self.domains = self.random.choice([1, 1, 2, 3])
        self.clients = self.random.choice([2, 4]) if self.cores == 2 else self.random.randint(1, 3)
        self.nodes = self.random.choice([1, 1, 2, 3])
        if self.cores == 2:
            self.nodes = min(self.nodes, 2)
        self.clients *= self.nodes
        self.iterations = self.random.randint(1, 4)
        self.variables = [self._variable(i) for i in range(self.random.randint(1, 4))]

    def _variable(self, index: int) -> _Variable:
        rank = self.random.randint(1, 4)
        ghosts = [(self.random.randint(0, 2), self.random.randint(0, 2)) if self.random.random() < 0.3 else (0, 0)
                  for _ in range(rank)]
        name = "/".join([*(f"g{self.random.randint(0, 1)}" for _ in range(self.random.randint(0, 2))), f"v{index}"])
        return _Variable(name, self.random.choice(list(_TYPES)), [self.random.randint(1, 4) for _ in range(rank)],
                         ghosts, self.random.random() < 0.8, self.random.choice(["", "n"]))

    def _extents(self, one: _Variable, parts: int) -> tuple[str, str, str]:
        """Returns dimensions, global and ghosts; the blocks of all clients lie along the first dimension."""
        dimensions, whole = [], []
        for axis, (size, (lower, upper)) in enumerate(zip(one.inner, one.ghosts, strict=True)):
            inner = f"{size}*{one.scale}" if axis == 0 and one.scale else str(size)
            dimensions.append(f"({inner})+{lower}+{upper}" if lower or upper else inner)
            whole.append(f"{inner}*{parts}" if axis == 0 else str(size))
        return ",".join(dimensions), ",".join(whole), ",".join(f"{a}:{b}" for a, b in one.ghosts)

    def description(self) -> str:
        lines = ['<parameter name="n" type="int" value="1"/>']
        for index, one in enumerate(self.variables):
            dimensions, whole, ghosts = self._extents(one, self.clients * self.domains)
            lines.append(f'<layout name="l{index}" type="{one.type}" dimensions="{dimensions}" global="{whole}" '
                         f'ghosts="{ghosts}"/>')
            parts = one.name.split("/")
            opened = "".join(f'<group name="{part}">' for part in parts[:-1])
            lines.append(f'{opened}<variable name="{parts[-1]}" layout="l{index}" store="store" '
                         f'time-varying="{str(one.varying).lower()}"/>{"</group>" * (len(parts) - 1)}')
        return runs.xml("\n".join(lines), mode="Collective" if self.collective else "FilePerCore", cores=self.cores,
                        domains=self.domains, buffer=4 << 20)

    def _file(self, step: int, client: int) -> str:
        if self.collective:
            return f"sim_It{step}.h5"
        of_node = self.clients // self.nodes
        server = client
        if self.cores > 0:
            server = client // of_node * self.cores + client % of_node * self.cores // of_node
        return f"sim_It{step}_Pr{server}.h5"

    def make(self) -> Case:
        calls: list[list[str]] = [[] for _ in range(self.clients)]
        files: dict[str, dict[str, np.ndarray]] = {}
        for step in range(self.iterations):
            scale = self.random.randint(1, 3)
            for client in range(self.clients):
                calls[client].append(f"set n i {scale}")
                for line, name, block in self._blocks(step, client, scale):
                    calls[client] += line
                    self._store(files.setdefault(self._file(step, client), {}), name, block, scale, client)
                calls[client].append("end")
        size = 0 if self.nodes == 1 else self.clients // self.nodes + self.cores
        return Case(self.description(), calls, self.cores * self.nodes, size, files, [runs.OK, runs.NO_SERVER])

    def _blocks(self, step: int, client: int, scale: int) -> Iterator[tuple[list[str], _Variable, tuple[int, int]]]:
        """Yields the calls for each block, its variable, its domain and its first value."""
        for one in self.variables:
            if step > 0 and not one.varying:
                continue
            rows = one.inner[0] * (scale if one.scale else 1)
            for domain in self.random.sample(range(self.domains), self.domains):
                position = ",".join(["0"] * len(one.inner))
                if self.collective:
                    position = ",".join([str(rows * (client * self.domains + domain)), *["0"] * (len(one.inner) - 1)])
                first = self.random.randint(0, 60)
                letter = _TYPES[one.type][0]
                count = int(np.prod(one.memory(scale if one.scale else 1)))
                lines = [f"move {one.name} {domain} {position}"]
                if self.random.random() < 0.5:
                    lines.append(f"write {one.name} {domain} {letter} {count} {first}")
                else:
                    lines += [f"alloc {one.name} {domain} {letter} {count} {first}", f"commit {one.name} {domain}"]
                    lines += [f"clear {one.name} {domain}"] if self.random.random() < 0.5 else []
                yield lines, one, (domain, first)

    def _store(self, file: dict[str, np.ndarray], one: _Variable, block: tuple[int, int], scale: int,
               client: int) -> None:
        domain, first = block
        scale = scale if one.scale else 1
        memory = one.memory(scale)
        values = runs.counting(memory, first, _TYPES[one.type][1])
        inside = values[tuple(slice(lower, size - upper)
                              for size, (lower, upper) in zip(memory, one.ghosts, strict=True))]
        if not self.collective:
            suffix = f"/B{domain}" if self.domains > 1 else ""
            file[f"{one.name}/P{client}{suffix}"] = inside
            return
        parts = self.clients * self.domains
        whole = file.setdefault(one.name, np.zeros([inside.shape[0] * parts, *inside.shape[1:]], inside.dtype))
        begin = inside.shape[0] * (client * self.domains + domain)
        whole[begin:begin + inside.shape[0]] = inside


def make(seed: int) -> Case:
    """Makes the case of a seed."""
    return _Maker(seed).make()


def check_files(case: Case, directory: pathlib.Path, seed: int) -> None:
    """Compares every value of every file of the directory with the model."""
    assert sorted(file.name for file in directory.glob("*.h5*")) == sorted(case.files), seed
    for name, datasets in case.files.items():
        found = runs.contents(directory / name)
        assert sorted(found) == sorted(datasets), (seed, name)
        for path, values in datasets.items():
            assert found[path].dtype == values.dtype, (seed, name, path)
            np.testing.assert_array_equal(found[path], values, err_msg=f"seed {seed}: {name} {path}")
