#!/usr/bin/env python3
"""Makes the definitions of the functions of MPI that the library for MPI-IO stands in front of: from the table
mpi_calls.def, which says how each goes on, and from the declarations of one MPI.

    define_calls.py TABLE OUTPUT COMPILER [OPTION…]     the options with which the compiler finds mpi.h
"""

import dataclasses
import pathlib
import re
import subprocess
import sys

DECLARED = re.compile(r"\b(?:int|double|MPI_\w+|void)\s+\**MPI_(\w+)\s*\(([^;{]*?)\)\s*;", re.DOTALL)
JOINS = ("Comm_accept", "Comm_connect", "Comm_join", "Comm_spawn", "Comm_spawn_multiple")
OPTIONS = ["-DMPICH_SKIP_MPICXX", "-DOMPI_SKIP_MPICXX", "-include", "mpi.h", "-E", "-P", "-x", "c", "/dev/null"]


@dataclasses.dataclass(frozen=True)
class Row:
    """A row of the table."""

    waits: bool
    tells: bool
    how: str
    why: str


@dataclasses.dataclass(frozen=True)
class Function:
    """A function that mpi.h declares, without its prefix MPI_."""

    name: str
    parameters: list[str]  # as they are declared

    def arguments(self):
        return [re.search(r"(\w+)\s*(?:\[[^]]*\]\s*)*$", parameter)[1] for parameter in self.parameters]

    def of_type(self, name):
        """Returns the arguments of that type."""
        pairs = zip(self.parameters, self.arguments(), strict=True)
        return [argument for parameter, argument in pairs
                if re.fullmatch(rf"{re.escape(name)}\s*{argument}(\[\])?", parameter.replace(" *", "*"))]


def read_table(path):
    """Returns the rows by name."""
    rows = {}
    for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        name, waits, tells, how, *why = line.split(maxsplit=4)
        if name in rows or waits not in ("waits", "-") or tells not in ("tells", "-"):
            raise ValueError(f"{path}: found {line!r}, expected a new name, waits or -, tells or -, how, why")
        rows[name] = Row(waits == "waits", tells == "tells", how, *why or [""])
    return rows


def row_of(rows, name):
    """Returns the row of a function, or of the one that it is a form of; None if there is none."""
    return rows.get(name) or rows.get(name.removesuffix("_c"))


def declared(compiler):
    """Returns the functions that mpi.h declares, by name, but those of files."""
    text = subprocess.run([*compiler, *OPTIONS], check=True, capture_output=True, text=True).stdout
    text = re.sub(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)", " ", text)
    found = {}
    for name, parameters in DECLARED.findall(text):
        if not name.startswith("File_"):
            parts = [" ".join(part.split()) for part in parameters.split(",")]
            found[name] = Function(name, [] if parts == ["void"] else parts)
    return found


def form_that_begins(name):
    """Returns the name of the nonblocking form: Ibcast_c for Bcast_c."""
    return "I" + name[0].lower() + name[1:]


def real(name, arguments):
    return f"TAILRACE_REAL(MPI_{name})({', '.join(arguments)})"


def carried_out(function, how, functions):
    """Returns the expression that carries out a call."""
    arguments = function.arguments()
    own = f"[&] {{ return {real(function.name, arguments)}; }}"
    if how in ("begin_alone", "begin_all") and form_that_begins(function.name) in functions:
        statuses = function.of_type("MPI_Status*")
        kept = [argument for argument in arguments if argument not in statuses]
        begin = f"[&](MPI_Request* made) {{ return {real(form_that_begins(function.name), [*kept, 'made'])}; }}"
        return f"{how}({begin}, {own}, {statuses[0] if statuses else 'MPI_STATUS_IGNORE'})"
    if how == "meet":
        return f"after_meeting({function.of_type('MPI_Comm')[0]}, {own})"
    if how == "meet_window":
        return f"after_meeting_of({function.of_type('MPI_Win')[0]}, {own})"
    if how == "make_window":
        return f"make_window({function.of_type('MPI_Comm')[0]}, {function.of_type('MPI_Win*')[0]}, {own})"
    if how in ("test", "buffered"):
        return f"{how}({own})"
    if how in ("pass", "left"):
        return real(function.name, arguments)
    name = function.name.removesuffix("_c")
    return f"own_{name}({', '.join([own, *arguments])})"


def definition(function, row, functions):
    lines = [f'extern "C" int MPI_{function.name}({", ".join(function.parameters)}) {{']
    if function.name in JOINS:
        lines.append("  if (keeps_order()) others_join();")
    if row.tells:
        lines.append("  before_telling();")
    lines.append(f"  return {carried_out(function, row.how, functions)};")
    return "\n".join([*lines, "}", f"TAILRACE_ALSO_PMPI({function.name});", ""])


def is_defined(row):
    return row is not None and row.how != "elsewhere" and (row.tells or row.how not in ("pass", "left"))


def main():
    table, output, *compiler = sys.argv[1:]
    rows = read_table(table)
    functions = declared(compiler)
    text = ['// Made by define_calls.py from mpi_calls.def.', '#include "mpiio/calls/own_calls.hpp"',
            '#include "mpiio/files/telling.hpp"',
            '#include "mpiio/process/process.hpp"', "", "using namespace tailrace::mpiio;", ""]
    text += [definition(function, row_of(rows, name), functions) for name, function in sorted(functions.items())
             if is_defined(row_of(rows, name))]
    pathlib.Path(output).write_text("\n".join(text), encoding="utf-8")


if __name__ == "__main__":
    main()
