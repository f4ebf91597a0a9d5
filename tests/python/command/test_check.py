"""All mistakes of a configuration at once: `tailrace.mistakes`, and what `tailrace check` prints of them."""

import json

import pytest
import tailrace

WRONG = """\
tailrace: 1
name: sim
memory: {budgt: 8 MiB}
storage:
  durability: writen
layouts:
  plane: {type: float64, shape: [4, ny]}
variables:
  größe: {layout: plane}
  pressure: {layout: plain, unit: Pa, description: "väter", kep: 1}
"""
KEYS = ["memory.budgt", "storage.durability", "layouts.plane.shape[1]", "variables.größe",
        "variables.pressure.layout", "variables.pressure.kep"]


@pytest.fixture
def wrong(tmp_path):
    file = tmp_path / "wrong.yaml"
    file.write_text(WRONG, encoding="utf-8")
    return file


def test_mistakes_are_a_list_in_the_order_of_the_file(wrong):
    found = tailrace.mistakes(wrong)
    assert [one.key for one in found] == KEYS
    assert [one.line for one in found] == [3, 5, 7, 9, 10, 10]
    budget = found[0]
    assert (budget.file, budget.column, budget.found) == (str(wrong), 10, "an unknown key")
    assert budget.hint == "did you mean 'budget'?" and budget.message.endswith(budget.hint)
    assert str(budget).startswith(f"{wrong}:3:10: memory.budgt: found an unknown key, expected budget, ")


def test_an_exception_has_the_first_and_counts_the_others(wrong):
    with pytest.raises(tailrace.InvalidConfig) as check:
        tailrace.check(wrong)
    with pytest.raises(tailrace.InvalidConfig) as opened:
        tailrace.open(wrong)
    message = f"{tailrace.mistakes(wrong)[0]} (and 5 more mistakes: 'tailrace check' shows all)"
    assert str(check.value) == str(opened.value) == message


def test_one_mistake_is_not_counted():
    with pytest.raises(tailrace.InvalidConfig) as error:
        tailrace.check("a.yaml", text="tailrace: 1\n")
    assert str(error.value).endswith("; it is required")


def test_parameters_are_those_of_the_program(wrong):
    keys = [one.key for one in tailrace.mistakes(wrong, parameters={"ny": 3})]
    assert keys == [key for key in KEYS if "shape" not in key]


def test_a_right_configuration_has_none(config):
    assert tailrace.mistakes(config()) == []
    assert tailrace.mistakes({"name": "a"}) == []
    assert [one.key for one in tailrace.mistakes({"name": "a", "plce": 1}, flush_waits=True)] == ["plce"]


def test_a_file_that_cannot_be_read_is_an_exception(tmp_path, run):
    with pytest.raises(tailrace.IoError):
        tailrace.mistakes(tmp_path / "none.yaml")
    code, text, _ = run("check", tmp_path / "none.yaml", "--json")
    [only] = json.loads(text)
    assert code == 1 and only["line"] is None and "none.yaml" in only["message"]


def test_text_that_is_no_yaml_is_one_mistake(tmp_path, run):
    file = tmp_path / "broken.yaml"
    file.write_text("tailrace: 1\nname: [a\nlog: {}\n")
    assert len(tailrace.mistakes(file)) == 1
    code, text, message = run("check", file)
    assert code == 1 and text == "" and message.splitlines()[-1] == f"tailrace: {file}: 1 mistake"


def test_each_is_shown_with_its_line_and_a_caret(run, wrong):
    code, text, message = run("check", wrong)
    assert code == 1 and text == ""
    lines = message.splitlines()
    assert lines[:4] == [
        f"{wrong}:3:10: memory.budgt: found an unknown key, expected budget, when_full, iterations or prefault",
        "   3 | memory: {budgt: 8 MiB}",
        "     |          ^",
        "     = did you mean 'budget'?"]
    assert lines[-1] == f"tailrace: {wrong}: 6 mistakes"
    # The caret is below the key though letters before it have two bytes.
    source, caret = next(pair for pair in zip(lines, lines[1:]) if "väter" in pair[0] and pair[1].index("^") > 50)
    assert source[caret.index("^"):].startswith("kep")


def test_a_long_line_is_shown_around_its_mistake(run, tmp_path):
    file = tmp_path / "long.yaml"
    file.write_text(f"tailrace: 1\nname: a\nattributes: {{long: {'x' * 500}, b: [[]], c: {'y' * 500}}}\n")
    code, _, message = run("check", file)
    source, caret = message.splitlines()[1:3]
    assert code == 1 and len(source) < 120 and source[caret.index("^"):].startswith("[]], c")


def test_json_for_programs(run, wrong):
    code, text, message = run("check", wrong, "--json")
    found = json.loads(text)
    assert code == 1 and message == ""
    assert [set(one) for one in found] == [{"file", "line", "column", "key", "message", "hint"}] * 6
    assert found[1] == {"file": str(wrong), "line": 5, "column": 15, "key": "storage.durability",
                        "message": "found 'writen', expected accepted, written or durable; did you mean 'written'?",
                        "hint": "did you mean 'written'?"}


def test_a_real_parameter_can_be_given(run, tmp_path):
    file = tmp_path / "real.yaml"
    file.write_text("tailrace: 1\nname: a\ntime: {dt: step}\n")
    assert run("check", file)[0] == 1
    assert run("check", file, "--parameter", "step=0.25")[0] == 0
