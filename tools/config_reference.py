#!/usr/bin/env python3
"""Writes the tables of keys in docs/formats/configuration.md from the one table of keys, python/tailrace/schema.json.

    tools/config_reference.py           writes them
    tools/config_reference.py --check   exit code 1 if the page has others, or a mapping of the schema has no table

A table stands below a comment `<!-- keys: PATH -->`: PATH is the way to a mapping, with `*` for any name and `[]`
for an item of a list, or `top`. With `<!-- keys: PATH besides OTHER -->` it has the keys alone that OTHER has not.
Mappings without a table of their own are part of the one above: `strangers.most`. A schema's `$comment` has what it
has no word for, separated by " | ": "type: …", "default: …" and "more: …", the rest of the meaning.
"""

from __future__ import annotations

import json
import pathlib
import re
import sys
from collections.abc import Collection, Iterator
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/formats/configuration.md"
SCHEMA = ROOT / "python/tailrace/schema.json"

_TABLE = re.compile(r"^(<!-- keys: (\S+)(?: besides (\S+))? -->\n\n)(?:\|.*\n)*", re.MULTILINE)
_HEAD = "| key | type | default | meaning |\n|---|---|---|---|\n"

Schema = dict[str, Any]


class Reference:
    """The keys of a schema."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self.mappings = {".".join(path) or "top": one for path, one in self._objects(schema, ())}

    def _resolve(self, schema: Schema) -> Schema:
        name = schema.get("$ref", "").rpartition("/")[2]
        return {**self._schema["$defs"][name], **schema} if name else schema

    def _objects(self, schema: Schema, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Schema]]:
        schema = self._resolve(schema)
        for one in schema.get("anyOf", []):
            yield from self._objects(one, path)
        if "properties" in schema:
            yield path, schema
        for key, value in schema.get("properties", {}).items():
            yield from self._objects(value, (*path, key))
        for part, step in (("additionalProperties", "*"), ("items", "[]")):
            if isinstance(schema.get(part), dict):
                yield from self._objects(schema[part], (*path, step))

    def table(self, path: str, besides: str, tables: set[str]) -> str:
        """Returns a mapping's table; `tables` are the mappings that have one."""
        left_out = self.mappings[besides]["properties"].keys() if besides else ()
        return _HEAD + "".join(self._rows(path, "", left_out, tables))

    def _rows(self, path: str, before: str, left_out: Collection[str], tables: set[str]) -> Iterator[str]:
        mapping = self.mappings[path]
        for key, value in mapping["properties"].items():
            inner = key if path == "top" else f"{path}.{key}"
            if key in left_out:
                continue
            if "properties" in value and inner not in tables:
                yield from self._rows(inner, f"{before}{key}.", (), tables)
                continue
            said = _said(value)
            default = said.get("default") or (_code(value["default"]) if "default" in value else
                                              "required" if key in mapping.get("required", []) else "–")
            meaning = " ".join(filter(None, [value["description"], said.get("more")]))
            cells = [f"`{before}{key}`", said.get("type") or self._type(value), default, meaning]
            yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"

    def without(self, tables: set[str]) -> list[str]:
        """Returns the mappings whose keys are in none of the tables."""
        shown = [self.mappings[one] for one in tables & self.mappings.keys()]
        return [path for path, mapping in self.mappings.items()
                if path not in tables and mapping not in shown and path.endswith(("*", "[]"))]

    def _type(self, schema: Schema) -> str:
        if "$ref" in schema:
            return schema["$ref"].rpartition("/")[2]
        if "const" in schema:
            return _code(schema["const"])
        if "enum" in schema:
            return ", ".join(_code(word) for word in schema["enum"])
        parts = schema.get("anyOf", schema.get("oneOf"))
        if parts:
            return " or ".join(self._type(part) for part in parts)
        kind = schema["type"] if isinstance(schema.get("type"), str) else "text"
        if kind == "boolean":
            return "`true`, `false`"
        return {"string": "text", "array": "list", "object": "mapping"}.get(kind, kind) + _range(schema)


def _range(schema: Schema) -> str:
    least, most = schema.get("minimum"), schema.get("maximum")
    if "exclusiveMinimum" in schema:
        return f" > {schema['exclusiveMinimum']}" + (f", at most {most}" if most is not None else "")
    if least is not None and most is not None:
        return f", {least} to {most}"
    return f" ≥ {least}" if least is not None else ""


def _code(value: Any) -> str:
    if value == [{"on": "end_iteration", "run": "store"}]:
        return "`[{on: end_iteration, run: store}]`"
    return f"`{value}`" if isinstance(value, str) else f"`{json.dumps(value)}`"


def _said(value: Schema) -> dict[str, str]:
    said = dict(part.split(": ", 1) for part in value.get("$comment", "").split(" | ") if part)
    assert said.keys() <= {"type", "default", "more"}, value
    return said


def written(page: str, schema: Schema) -> str:
    """Returns the page with the tables that the schema has now. Raises ValueError if a mapping has none."""
    reference = Reference(schema)
    tables = {found[2] for found in _TABLE.finditer(page)}
    if wrong := [*(tables - reference.mappings.keys()), *reference.without(tables)]:
        raise ValueError(f"mappings that the page alone has, or the schema alone: {', '.join(sorted(wrong))}")
    return _TABLE.sub(lambda found: found[1] + reference.table(found[2], found[3], tables), page)


def main() -> int:
    page = PAGE.read_text(encoding="utf-8")
    now = written(page, json.loads(SCHEMA.read_text(encoding="utf-8")))
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(now, encoding="utf-8")
    elif now != page:
        print(f"{PAGE.relative_to(ROOT)}: its tables are not those of {SCHEMA.relative_to(ROOT)}: run {sys.argv[0]}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
