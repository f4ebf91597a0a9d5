"""Expressions give a location the value that it has alone, and variables, texts and initialisations are as the page
docs/formats/cubepl.md describes them. Random expressions are in test_remap.py."""

import math
import os
import resource
import shutil
import subprocess
import sys

import numpy
import profiles
import pytest
import slow_profile as slow
from program import tool
from tailrace import cube

pytestmark = pytest.mark.skipif(cube._cube is None, reason="built without the reader of Cube profiles")


def specification(code, init="", name="d", kind="POSTDERIVED", dtype="DOUBLE"):
    begin = f"<metric type='{kind}'><uniq_name>{name}</uniq_name><dtype>{dtype}</dtype><cubepl>{code}</cubepl>"
    return f"{begin}<cubeplinit>{init}</cubeplinit></metric>" if init else f"{begin}</metric>"


STORED = "<metric><uniq_name>x</uniq_name><dtype>DOUBLE</dtype></metric>"


def profile_of(values, dtype="DOUBLE", kind="EXCLUSIVE", parents=(-1,)):
    """Returns a profile with one metric, x: a row of values for each call path."""
    locations = [{"rank": rank} for rank in range(len(values[0]))]
    regions = [{"name": "main", "mangled": "main", "module": "", "description": "", "paradigm": "", "role": ""}]
    return slow.Profile(list(parents), [0] * len(parents), regions, locations, [0],
                        {"x": slow.Metric("x", kind, dtype, values)})


def remapped(tmp_path, profile, *metrics, code=0):
    """Returns the profile that a specification with these metrics makes of one; or what was said if that failed."""
    profiles.write(profile, tmp_path / "in.cubex")
    (tmp_path / "in.spec").write_text("<metrics>" + STORED + "".join(metrics) + "</metrics>")
    said = tool("remap", "-q", "-r", tmp_path / "in.spec", tmp_path / "in.cubex", tmp_path / "out.cubex", code=code)
    return cube.open(tmp_path / "out.cubex") if code == 0 else said


def computed(tmp_path, code, row, **more):
    """Returns the values of an expression for the locations of a row."""
    return remapped(tmp_path, profile_of([row]), specification(code, **more)).values("d")[0].tolist()


# ---- as many locations as there may be ----------------------------------------------------------------------

ALONE = {
    "0 times infinity": "metric::x() * ln(metric::x())",
    "infinity times 0": "ln(metric::x()) * metric::x()",
    "0 times not a number": "metric::x() * sqrt(-1 - metric::x())",
    "minus 0 as a text": '{ ${a} = -3 * metric::x(); if (${a} eq "0") { return 1; }; return 2; }',
    "and with an assignment": "{ ${b} = (metric::x() > 1) and ({ ${a} = 1; return 1; } > 0); return ${a}; }",
    "or with one": "{ ${a} = 0; ${b} = (metric::x() > 1) or ({ ${a} = 1; return 1; } > 0); "
                   "return ${a}; }",
    "both in one": "{ ${b} = metric::x() > 0 and ({ ${a} = ${a} + 1; return metric::x() > 1; } or "
                   "{ ${a} = ${a} + 10; return 0; }) and { ${a} = ${a} + 100; return 1; }; return ${a}; }",
    "if alone": "{ ${a} = 1; if (metric::x() > 1) { ${a} = 2; }; return ${a}; }",
    "if that sets nothing for others": "{ if (metric::x() > 1) { ${a}[3] = 0; }; "
                                       "return sizeof(a) + 10 * defined(a); }",
    "an element that is 0 for some": '{ if (metric::x() > 1) { ${a} = 0; }; return 1 + (${a} eq ""); }',
    "a text for some": '{ if (metric::x() > 1) { ${a} = "x"; } else { ${a} = "y"; }; return 1 + (${a} eq "x"); }',
    "elseif": "{ if (metric::x() > 2) { ${a} = 1; } elseif (metric::x() > 1) { ${a} = 2; } else { ${a} = 3; }; "
              "return ${a}; }",
    "nested": "{ if (metric::x() > 0) { if (metric::x() > 1) { ${a} = 1; } else { ${a} = 2; ${b} = 5; }; "
              "${a} = ${a} + ${b}; }; return ${a}; }",
    "return of some": "{ if (metric::x() > 1) { return 1; }; return 2; }",
    "while": "{ ${i} = 0; while (${i} < metric::x()) { ${i} = ${i} + 1; ${a} = ${a} + ${i}; }; "
             "return ${a} + 100 * ${i}; }",
    "while with a return": "{ ${i} = 0; while (${i} < metric::x()) { ${i} = ${i} + 1; "
                           "if (${i} == 2) { return 9; }; }; return ${i}; }",
    "global": "{ if (metric::x() > 1) { ${g}[1] = 7; }; return ${g}[1] + sizeof(g); }",
    "a text of the location": "{ if (metric::x() > 1 and ${calculation::sysres::name} eq \"t1\") { ${a} = 1; }; "
                    "return ${a}; }",
    "an index of the location": "{ ${a}[metric::x()] = 1; return ${a}[2] + sizeof(a); }",
}


@pytest.mark.parametrize("row", [[0.0], [2.0], [0.0, 2.0], [1.0, 0.0, 3.0], [0.0] * 3, [5.0] * 3,
                                 [float(at % 4) for at in range(1030)]], ids=lambda row: f"{len(row)}_{sum(row):g}")
def test_a_location_has_the_value_that_it_has_alone(tmp_path, row):
    init = "{ global(g); ${g}[0] = 3; return 0; }"
    metrics = [specification(code, init, name) for name, code in ALONE.items()]
    profile = profile_of([row])
    world = slow.World(profile, slow.read_specification("<metrics>" + STORED + "".join(metrics) + "</metrics>"))
    opened = remapped(tmp_path, profile, *metrics)
    for name in ALONE:
        numpy.testing.assert_array_equal(opened.values(name), world.values(name, "e"), name)


def test_a_branch_that_no_location_takes_does_not_fail(tmp_path):
    code = "{ if (metric::x() > 0) { if (metric::x() > 5) { ${a}[-1] = 1; } else { ${a} = 4; }; }; return ${a}; }"
    assert computed(tmp_path, code, [0.0, 1.0, 2.0]) == [0, 4, 4]
    with pytest.raises(cube.CubeError, match="expected an index of 0 to 2"):
        computed(tmp_path, code, [0.0, 1.0, 6.0])


def test_a_metric_that_fails_for_other_locations(tmp_path):
    """Of the metric that an expression needs for some locations only."""
    fails = specification("{ ${a}[1 - metric::x()] = 1; return 3; }", name="fails")
    needs = specification("{ ${a} = 0; if (metric::x() &lt; 2) { ${a} = metric::fails(); }; return ${a}; }")
    opened = remapped(tmp_path, profile_of([[0.0, 1.0, 2.0, 3.0]]), fails, needs)
    assert opened.values("d")[0].tolist() == [3, 3, 0, 0]
    with pytest.raises(cube.CubeError, match="metric fails"):
        opened.values("fails")


def test_print_is_once_for_each_location(tmp_path):
    profiles.write(profile_of([[1.0, 2.0, 3.0]]), tmp_path / "in.cubex")
    (tmp_path / "in.spec").write_text("<metrics>" + specification(
        "{ if (metric::x() > 1) { print(metric::x()); }; return 1; }", kind="PREDERIVED_EXCLUSIVE") + "</metrics>")
    said = tool("remap", "-q", "-r", tmp_path / "in.spec", tmp_path / "in.cubex", tmp_path / "out")
    assert said.split() == ["2", "3"]


# ---- texts and numbers --------------------------------------------------------------------------------------

NUMBERS = {"nanosleep": 0, "nan": 0, "inf": 0, "-infinity": 0, "0x10": 0, "": 0, "x": 0, ".": 0, "-": 0, "+.5": 0.5,
           " \t-12.5e1x": -125, "1e999": math.inf, "-1e999": -math.inf, "1e-999": 0, "3.": 3, "7,5": 7, "--1": 0}


@pytest.mark.parametrize("text", NUMBERS)
def test_a_text_becomes_the_number_at_its_begin(tmp_path, text):
    assert computed(tmp_path, f'"{text}" + 0', [1.0]) == [NUMBERS[text]]


def test_a_locale_has_no_part_in_numbers(tmp_path):
    """Of one whose decimals have commas."""
    compiler = shutil.which("localedef")
    if compiler is None or not os.path.exists("/usr/share/i18n/locales/de_DE"):
        pytest.skip("no locale can be made here")
    subprocess.run([compiler, "-i", "de_DE", "-f", "ISO-8859-1", str(tmp_path / "de_DE")], check=False,
                   capture_output=True)
    opened = remapped(tmp_path, profile_of([[0.5]]), specification('metric::x() + "0.25" + lowercase(0.5)'))
    script = "import locale, sys; locale.setlocale(locale.LC_ALL, 'de_DE'); from tailrace import cube; " \
             "print(locale.localeconv()['decimal_point'], cube.open(sys.argv[1]).values('d')[0][0])"
    done = subprocess.run([sys.executable, "-c", script, opened._path], env={**os.environ, "LOCPATH": str(tmp_path)},
                          capture_output=True, text=True, check=False)
    assert done.stdout.split() == [",", "1.25"], done.stderr


# ---- variables ----------------------------------------------------------------------------------------------


def test_an_array_needs_memory_for_the_elements_that_were_set(tmp_path):
    code = "{ ${a}[268435455] = 1; ${a}[5] = 2; " \
           "return ${a}[268435455] + 10 * ${a}[5] + ${a}[9] + 100 * ${g}[268435455]; }"
    init = "{ global(g); ${g}[268435455] = 3; return 0; }"
    profiles.write(profile_of([[1.0, 2.0]]), tmp_path / "in.cubex")
    (tmp_path / "in.spec").write_text("<metrics>" + specification(code, init, kind="PREDERIVED_EXCLUSIVE") +
                                      "</metrics>")

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))

    done = subprocess.run([cube.program(), "remap", "-q", "-r", tmp_path / "in.spec", tmp_path / "in.cubex",
                           tmp_path / "out.cubex"], capture_output=True, text=True, check=False, preexec_fn=limit)
    assert done.returncode == 0, done.stderr
    assert cube.open(tmp_path / "out.cubex").values("d")[0].tolist() == [321, 321]


def test_too_many_elements_are_refused_with_their_line(tmp_path):
    code = "{ ${i} = 0;\n while (${i} &lt; 10000000)\n { ${a}[${i}] = 1; ${i} = ${i} + 1; }; return 0; }"
    said = remapped(tmp_path, profile_of([[1.0]]), specification(code, kind="PREDERIVED_EXCLUSIVE"), code=1)
    assert "in.spec: metric d: expression, line 3, column 4: expected at most 2^22 elements" in said


def test_a_global_text_that_is_set_again(tmp_path):
    long = "a text that is too long for the place of a short one"
    init = f'{{ global(g); ${{g}} = "{long}"; ${{t}} = ${{g}}; ${{g}} = "{long[::-1]}, and longer"; ' \
           f'if (${{t}} eq "{long}") {{ ${{g}}[1] = 5; }}; ${{g}} = ${{g}}; return 0; }}'
    assert computed(tmp_path, "${g}[1]", [1.0], init=init) == [5]


# ---- initialisations of a remapped profile ------------------------------------------------------------------


def test_initialisations_share_no_variables(tmp_path):
    one = specification("${g}", "{ global(g); ${i} = 7; ${g} = ${i}; return 0; } // the first", name="one",
                        kind="PREDERIVED_EXCLUSIVE")
    other = specification("${h} + 100 * ${g}", "{ global(h); ${h} = ${i} + sizeof(i) + 1; return 0; } // ${i}")
    opened = remapped(tmp_path, profile_of([[1.0, 2.0]]), one, other)
    assert opened.values("one")[0].tolist() == [7, 7]
    assert opened.values("d")[0].tolist() == [701, 701]


@pytest.mark.parametrize("where", ["initialisation", "expression"])
def test_metrics_that_another_metric_defines_are_kept(tmp_path, where):
    defines = "cube::metric::postderived::twice() &lt;&lt; 2 * metric::x() // two\n>>; " \
              "cube::metric::prederived::more(i) &lt;&lt; metric::twice() + 1 >>;"
    program = f"{{ {defines} return 1; }}"
    code, init = ("1", program) if where == "initialisation" else (program, "")
    one = specification(code, init, "one", "PREDERIVED_EXCLUSIVE")
    opened = remapped(tmp_path, profile_of([[1.0, 2.0]]), one, specification("metric::more()"))
    assert opened.values("d")[0].tolist() == [3, 5]
    assert list(opened.metrics) == ["x", "one", "d"]
    tool("remap", "-q", "--identity", tmp_path / "out.cubex", tmp_path / "again.cubex")
    assert cube.open(tmp_path / "again.cubex").values("d")[0].tolist() == [3, 5]
