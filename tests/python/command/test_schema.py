"""The JSON Schema of configurations: it accepts what the library accepts, rejects what a schema can reject, and has
every key and word that the library knows, and no others."""

from __future__ import annotations

import importlib.util
import json
import pathlib
import re
from collections.abc import Iterator
from typing import Any

import pytest
import tailrace

jsonschema = pytest.importorskip("jsonschema")
yaml = pytest.importorskip("yaml")

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
SCHEMA = json.loads((REPOSITORY / "python/tailrace/schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


class Loader(yaml.SafeLoader):
    """YAML 1.2, as the library and editors read it: 1e-3 is a number, and `yes` a text."""

    yaml_implicit_resolvers: dict[str, Any] = {}


for tag, pattern, first in (("bool", r"true|false", "tf"), ("null", r"null|~|", "n~"),
                            ("int", r"[-+]?[0-9]+", "-+0123456789"),
                            ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", "-+.0123456789")):
    Loader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(rf"^(?:{pattern})$"), [*first, ""])


def read(text: str) -> Any:
    return yaml.load(text, Loader)


def complaints(configuration: Any) -> list[str]:
    return [f"{'.'.join(map(str, error.absolute_path))}: {error.message}"
            for error in VALIDATOR.iter_errors(configuration)]


def yaml_blocks() -> Iterator[Any]:
    """Returns each block of YAML in the documentation."""
    for page in sorted([*REPOSITORY.glob("docs/**/*.md"), REPOSITORY / "README.md"]):
        for number, block in enumerate(re.findall(r"^```yaml\n(.*?)^```", page.read_text(), re.M | re.S)):
            name = f"{page.relative_to(REPOSITORY)}-{number}"
            yield pytest.param(block, id=name)


def files(*patterns: str) -> list[Any]:
    found = [path for pattern in patterns for path in sorted(REPOSITORY.glob(pattern))]
    return [pytest.param(path.read_text(), id=str(path.relative_to(REPOSITORY))) for path in found]


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("text", files("examples/**/*.yaml", "tests/config/right/*.yaml"))
def test_right_configurations_are_valid(text):
    assert complaints(read(text)) == []


@pytest.mark.parametrize("text", list(yaml_blocks()))
def test_configurations_in_the_documentation_are_valid(text):
    block = read(text)
    if not isinstance(block, dict) or not block.keys() & SCHEMA["properties"].keys():
        pytest.skip("not a part of a configuration")
    assert complaints({"tailrace": 1, "name": "a", **block}) == []


@pytest.mark.parametrize("name", ["sim.yaml", "core/sim.yaml", "core/particles.yaml"])
def test_examples_tell_editors_where_it_is(name):
    path = REPOSITORY / "examples" / name
    first = path.read_text().splitlines()[0]
    assert first.startswith("# yaml-language-server: $schema=")
    assert json.loads((path.parent / first.partition("=")[2]).read_text()) == SCHEMA


@pytest.mark.parametrize("entry", [
    "place: {kind: nodes}", "place: {cpus: [0, 0]}", "place: {cpus: all}", "place: {knd: core}", "place: {cores: 0}",
    "place: {patience: 0}", "place: [core]", "place: {clients: 0}", "memory: {budget: 1 Gb}",
    "memory: {prefault: yes}",
    "memory: {when_full: wait}", "memory: {iterations: 257}", "memory: 1 GiB", "storage: {path: []}",
    "storage: {path: [a, a]}", "storage: {path: ''}", "storage: {queue_depth: '8'}", "storage: {queue_depth: 8.5}",
    "storage: {durability: fsync}", "storage: {throttle: 800 MiB}", "storage: {stripe: 1 MiB}", "storage:",
    "merge: {delay: 61}", "merge: {waste: -0.1}", "merge: {by: bytes}", "format: {kind: netcdf}",
    "schedule: {kind: fifo, batch: 2}", "schedule: {window: 8 ms}", "schedule: {kind: twins, window: 8}",
    "forward: {servers: 'io1:4711'}", "forward: {key: k}", "forward: {key: k, servers: io1}",
    "forward: {key: k, listen: 'io1:0'}", "forward: {key: k, listen: 'io1:0', roots: data}", "time: {dt: 0}",
    "time: {dt: [1]}", "log: {level: debug}", "measurements: {trace_events: 0}", "measurements: {report: 1}",
    "attributes: {a: [[1]]}", "attributes: {a: [1, b]}", "attributes: {tailraceRun: 1}", "parameters: {2n: 1}",
    "parameters: {n: a}", "iterations: 5", "layouts: {}", "layouts: {l: {type: float64}}",
    "layouts: {l: {shape: [1]}}",
    "layouts: {l: {type: real, shape: [1]}}", "layouts: {l: {type: int8, shape: 3}}",
    "layouts: {l: {type: int8, shape: [0]}}", "layouts: {l: {type: int8, shape: [1, 1, 1, 1, 1, 1, 1, 1, 1]}}",
    "layouts: {l: {type: int8, shape: [2], axes: [x, x]}}", "layouts: {l: {type: int8, shape: [2], spacing: [0]}}",
    "layouts: {l: {type: int8, shape: [2], offset: [-1]}}",
    "layouts: {l: {type: int8, shape: [2], patch: {offset: [0]}}}",
    "layouts: {l-1: {type: int8, shape: [2]}}", "variables: {v: {unit: m}}", "variables: {v: {layout: l, keep: -1}}",
    "variables: {v: {layout: l, compress: gzip}}", "variables: {v: {layout: l, compress: {level: 1}}}",
    "variables: {v: {layout: l, compress: {filter: none, level: 1}}}",
    "variables: {v: {layout: l, compress: {filter: deflate, level: 10}}}",
    "variables: {v: {layout: l, compress: {filter: zstd, level: 0}}}", "variables: {v: {layout: l, units: m}}",
    "variables: {v: {layout: l, precision: half}}", "variables: {v: {layout: l, fill_value: none}}",
    "variables: {v: {layout: l, components: []}}",
    "variables: {v: {layout: l, components: [x, x]}}", "variables: {v: {layout: l, position: [2]}}",
    "particles: {e: {layout: l}}", "particles: {e: {records: {}}}",
    "particles: {e: {records: {q: {value: 1, layout: l}}}}", "particles: {e: {records: {q: {value: a}}}}",
    "actions: []", "actions: [{run: store}]", "actions: [{on: end_iteration, run: save}]",
    "actions: [{on: end_iteration, run: 'python:f.py'}]", "actions: [{on: end_iteration, run: store, scope: job}]",
    "actions: [{on: end_iteration, run: 'python:f.py:f', limit: 5}]", "python: {venv: v}", "plase: {}", "name: a b",
    "name: [a]", "tailrace: 2"])
def test_bad_configurations_are_rejected_by_both(entry):
    text = "\n".join(line for line in ("tailrace: 1", "name: a") if line.split(":")[0] != entry.split(":")[0])
    text += "\n" + entry + "\n"
    assert complaints(read(text)) != []
    assert tailrace.mistakes("bad.yaml", text=text) != []


def objects(schema: dict[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], list[str]]]:
    """Returns each mapping that the schema describes: the way to it, and its keys. "*" stands for any name."""
    if "$ref" in schema:
        schema = SCHEMA["$defs"][schema["$ref"].rpartition("/")[2]]
    for one in schema.get("anyOf", []):
        yield from objects(one, path)
    if "properties" in schema:
        yield path, list(schema["properties"])
        for key, value in schema["properties"].items():
            yield from objects(value, (*path, key))
    if isinstance(schema.get("additionalProperties"), dict):
        yield from objects(schema["additionalProperties"], (*path, "a"))
    if "items" in schema:
        yield from objects(schema["items"], (*path, "[]"))


def nested(path: tuple[str, ...], value: Any) -> Any:
    for key in reversed(path):
        value = [value] if key == "[]" else {key: value}
    return value


def expected_at(path: tuple[str, ...], value: Any) -> list[list[str]]:
    """Returns the words that the library expects at the end of the path, where it finds `value` that is none."""
    made = nested(path, value)
    if path[:1] != ("tailrace",):
        made = {"tailrace": 1, **made}
    found = [one for one in tailrace.mistakes(made) if "unheard_of" in one.found or "unheard_of" in one.key]
    return [re.split(r", | or ", one.expected) for one in found]


@pytest.mark.parametrize("path,keys", list(objects(SCHEMA)), ids=lambda given: ".".join(given))
def test_the_keys_are_those_of_the_library(path, keys):
    [words] = expected_at((*path, "unheard_of"), 1)
    if path[:1] == ("particles",) and "value" in keys:  # a record is of one of two kinds
        [constant] = [words for words in expected_at(path, {"value": 1, "unheard_of": 1}) if "value" in words]
        words = [*words, *constant]
    assert set(words) == set(keys)


def choices(schema: dict[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], list[str]]]:
    """Returns each value that is one of a few words."""
    if "$ref" in schema:
        schema = SCHEMA["$defs"][schema["$ref"].rpartition("/")[2]]
    if "enum" in schema:
        yield path, schema["enum"]
    for one in schema.get("anyOf", []):
        yield from choices(one, path)
    for key, value in schema.get("properties", {}).items():
        yield from choices(value, (*path, key))
    if isinstance(schema.get("additionalProperties"), dict):
        yield from choices(schema["additionalProperties"], (*path, "a"))
    if isinstance(schema.get("items"), dict):
        yield from choices(schema["items"], (*path, "[]"))


@pytest.mark.parametrize("path,words", list(choices(SCHEMA)), ids=lambda given: ".".join(map(str, given)))
def test_the_words_are_those_of_the_library(path, words):
    [expected] = expected_at(path, "unheard_of")
    assert set(words) <= set(expected)
    if not any(" " in word or ":" in word for word in expected):
        assert set(words) == set(expected)


def test_the_command_prints_it(run):
    code, text, message = run("check", "--schema")
    assert code == 0 and message == "" and json.loads(text) == SCHEMA


def reference():
    spec = importlib.util.spec_from_file_location("config_reference", REPOSITORY / "tools/config_reference.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_reference_has_the_keys_of_the_schema():
    """Else run tools/config_reference.py."""
    made = reference()
    page = made.PAGE.read_text()
    assert made.written(page, SCHEMA) == page
    more = json.loads(json.dumps(SCHEMA))
    more["properties"]["merge"]["properties"]["new"] = {"description": "A new key.", "type": "boolean"}
    assert "| `new` | `true`, `false` | – | A new key. |" in made.written(page, more)


def test_each_mapping_has_a_table_and_each_table_a_mapping():
    made = reference()
    page = made.PAGE.read_text()
    for of_none in (page.replace("<!-- keys: merge -->", "<!-- keys: nothing -->"),
                    page.replace("<!-- keys: layouts.* -->", "")):
        with pytest.raises(ValueError, match="nothing|layouts"):
            made.written(of_none, SCHEMA)
    fewer = {**SCHEMA, "properties": {**SCHEMA["properties"]}}
    del fewer["properties"]["layouts"]
    with pytest.raises(ValueError, match="layouts"):
        made.written(page, fewer)


def test_editors_get_a_description_of_every_key():
    def undescribed(schema: dict[str, Any], path: str = "") -> Iterator[str]:
        for key, value in schema.get("properties", {}).items():
            if "description" not in value:
                yield f"{path}.{key}"
            yield from undescribed(value, f"{path}.{key}")
        for inner in (schema.get("additionalProperties"), schema.get("items")):
            if isinstance(inner, dict):
                yield from undescribed(inner, f"{path}[]")

    assert list(undescribed(SCHEMA)) == []
