"""Profiles are read, remapped and written as other programs read them, and as a slow interpreter computes them."""

import csv
import random
import subprocess

import numpy
import profiles
import pytest
import slow_cubepl
import slow_profile as slow
from program import tool
from tailrace import cli, cube

pytestmark = pytest.mark.skipif(cube._cube is None, reason="built without the reader of Cube profiles")
needs_data = pytest.mark.skipif(not profiles.SHARED.is_dir(), reason="no shared data here")


LARGE = 1e300  # the values of rows that are left out of least and greatest values are greater


def assert_close(found, expected, what, tolerance=1e-11):
    found, expected = profiles.array(found), profiles.array(expected)
    scale = max(1e-300, numpy.abs(expected[numpy.abs(expected) < LARGE]).max(initial=0.0))
    same = (found == expected) | (numpy.isnan(found) & numpy.isnan(expected))
    with numpy.errstate(invalid="ignore"):  # infinity less infinity
        close = numpy.abs(found - expected) <= tolerance * scale
    assert (same | close).all(), what


# ---- real profiles ------------------------------------------------------------------------------------------


@needs_data
@pytest.mark.parametrize("flavour", ["excl", "incl"])
@pytest.mark.parametrize("name", ["blast", "time"])
def test_values_are_those_of_the_given_tables(tmp_path, name, flavour):
    tool("dump", profiles.SHARED / name / "profile.cubex", "-o", tmp_path / "own.csv",
         *(["-i"] if flavour == "incl" else []))
    with (tmp_path / "own.csv").open() as own, (profiles.SHARED / name / f"{flavour}.csv").open() as given:
        found, expected = list(csv.reader(own)), list(csv.reader(given))
    column = {title.strip(): at for at, title in enumerate(found[0])}
    assert len(found) == len(expected)
    for row, wanted in zip(found[1:], expected[1:]):
        for at, title in enumerate(expected[0]):
            value, other = float(row[column[title.strip()]]), float(wanted[at])
            # The tables have six digits. What remains of a difference of large numbers has fewer.
            assert value == pytest.approx(other, rel=6e-6, abs=1e-9), (title, wanted[:2])


@needs_data
@pytest.mark.parametrize("more", [["--byte-order", "big"], ["--byte-order", "little"], ["--compress"],
                                  ["--compress", "--byte-order", "big"], ["--sync"], ["--threads", "4"]])
@pytest.mark.parametrize("name", profiles.REAL)
def test_an_identity_is_equal_for_another_reader(tmp_path, name, more):
    pycubexr = pytest.importorskip("pycubexr")
    tool("remap", "--identity", profiles.SHARED / name / "profile.cubex", tmp_path / "out.cubex", *more)
    with pycubexr.CubexParser(profiles.SHARED / name / "profile.cubex") as one, \
            pycubexr.CubexParser(tmp_path / "out.cubex") as other:
        assert [metric.name for metric in other.all_metrics()] == [metric.name for metric in one.all_metrics()]
        assert [node.id for node in other.all_cnodes()] == [node.id for node in one.all_cnodes()]
        for metric in one.all_metrics():
            copy = other.get_metric_by_name(metric.name)
            assert (copy.data_type, copy.metric_type) == (metric.data_type, metric.metric_type)
            assert copy.units == metric.units
            try:
                values = one.get_metric_values(metric)
            except pycubexr.utils.exceptions.MissingMetricError:
                continue
            found = other.get_metric_values(copy)
            for node in one.all_cnodes():
                assert (profiles.plain(found.cnode_values(other.get_cnode(node.id)))
                        == profiles.plain(values.cnode_values(node)))
    assert "equal" in tool("diff", profiles.SHARED / name / "profile.cubex", tmp_path / "out.cubex")


@needs_data
@pytest.mark.parametrize("specification", profiles.SPECIFICATIONS)
@pytest.mark.parametrize("name", profiles.REAL)
def test_a_specification_gives_what_the_slow_interpreter_gives(tmp_path, name, specification):
    pytest.importorskip("pycubexr")
    text = (profiles.SHARED / "specs" / f"{specification}.spec").read_text()
    tool("remap", "-r", profiles.SHARED / "specs" / f"{specification}.spec",
         profiles.SHARED / name / "profile.cubex", tmp_path / "out.cubex")
    compare(slow.World(profiles.real(name), slow.read_specification(text)), tmp_path / "out.cubex")


def compare(world, path):
    """Compares every metric that is not VOID, exclusive and inclusive."""
    output = cube.open(path)
    assert list(output.metrics) == [metric.name for metric in world.listed if not metric.void]
    for name, metric in output.metrics.items():
        integers = metric["dtype"] not in ("DOUBLE", "FLOAT", "MINDOUBLE", "MAXDOUBLE")
        for flavour in "ei":
            if expected(world, name, flavour) is None:
                with pytest.raises(cube.CubeError):
                    output.values(name, flavour == "i")
                continue
            assert_close(output.values(name, flavour == "i"), world.values(name, flavour), (name, flavour),
                         0.5 if integers and metric["kind"] == "POSTDERIVED" else 1e-11)


@needs_data
def test_the_profile_has_a_specification_itself(tmp_path):
    tool("remap", profiles.SHARED / "time/profile.cubex", tmp_path / "own.cubex")
    (tmp_path / "own.spec").write_bytes(
        subprocess.run(["tar", "-xOf", profiles.SHARED / "time/profile.cubex", "remapping.spec"], check=True,
                       capture_output=True).stdout)
    tool("remap", "-r", tmp_path / "own.spec", profiles.SHARED / "time/profile.cubex", tmp_path / "named.cubex")
    assert (tmp_path / "own.cubex").read_bytes() == (tmp_path / "named.cubex").read_bytes()
    assert "name a specification" in tool("remap", profiles.SHARED / "blast/profile.cubex", tmp_path / "x", code=1)


@needs_data
def test_an_identity_keeps_derived_metrics(tmp_path):
    tool("remap", "-r", profiles.SHARED / "specs/scorep.spec", profiles.SHARED / "blast/profile.cubex",
         tmp_path / "a")
    tool("remap", "--identity", tmp_path / "a", tmp_path / "b")
    assert "equal" in tool("diff", tmp_path / "a", tmp_path / "b")
    first, second = cube.open(tmp_path / "a").metrics, cube.open(tmp_path / "b").metrics
    assert first == second and any(metric["kind"] == "POSTDERIVED" for metric in second.values())


@needs_data
def test_the_environment_makes_a_metric_void(tmp_path):
    """As void.spec does."""
    words = ["remap", "-r", profiles.SHARED / "specs/void.spec", profiles.SHARED / "blast/profile.cubex"]
    tool(*words, tmp_path / "all.cubex")
    tool(*words, tmp_path / "void.cubex", TEST_EXP1="FALSE")
    assert list(cube.open(tmp_path / "all.cubex").metrics) == ["time", "exp1", "exp2"]
    assert list(cube.open(tmp_path / "void.cubex").metrics) == ["time", "exp2"]


# ---- made-up profiles ---------------------------------------------------------------------------------------


class Writer:
    """Writes random expressions."""

    def __init__(self, dice, names, risky=False):
        self.dice, self.names, self.risky = dice, names, risky

    def number(self, depth=3):
        if depth == 0 or self.dice.random() < 0.2:
            return self.leaf()
        kind = self.dice.randrange(7)
        if kind == 0:
            return f"({self.condition(depth - 1)})"
        if kind == 1:
            name = self.dice.choice(["abs", "pos", "neg", "sgn", "floor", "ceil", "ln", "sqrt", "exp"])
            return f"{name}({self.number(depth - 1)})"
        if kind == 2:
            return f"{self.dice.choice(['min', 'max'])}({self.number(depth - 1)}, {self.number(depth - 1)})"
        if kind == 3:
            return self.block(depth - 1)
        if kind == 4:
            return f"-({self.number(depth - 1)})"
        return f"({self.number(depth - 1)} {self.dice.choice('+-*/')} {self.number(depth - 1)})"

    def leaf(self):
        kind = self.dice.randrange(7)
        if kind < 3:
            prefix = self.dice.choice(["", "", "fixed::"])
            return f"metric::{prefix}{self.dice.choice(self.names)}({self.dice.choice(['', '*', 'e', 'i', 'e,*'])})"
        if kind == 3:
            return self.dice.choice(["${a}", "${b}", "${b}[1]", "${g}[${calculation::callpath::id}]", "sizeof(g)",
                                     "sizeof(b)", "defined(a)", "${h}[1]", "${b}[70000000]"])
        if kind == 4:
            return self.dice.choice(["${calculation::callpath::id}", "${calculation::sysres::rank}",
                                     "${calculation::region::id}", "${cube::#callpaths}",
                                     "${cube::callpath::calleeid}[${calculation::callpath::id}]"])
        if kind == 5:
            return self.dice.choice(['"nanosleep"', '"infinite"', '" -1.5e1x"', '"0x10"', '".5."', '"1e999"', '"e5"'])
        return str(self.dice.choice([0, 1, 2, 0.5, 10]))

    def condition(self, depth):
        kind = self.dice.randrange(7)
        if depth > 0 and kind == 0:
            operator = self.dice.choice(["and", "or", "xor"])
            return f"({self.condition(depth - 1)}) {operator} ({self.condition(depth - 1)})"
        if depth > 0 and kind == 1:
            return f"not ({self.condition(depth - 1)})"
        name = "${calculation::region::name}"
        if kind == 2:
            return f"{name} =~ /{self.dice.choice(['^MPI_', '[0-1]$', 'a < b', '(main|solve)'])}/"
        if kind == 3:
            return f'lowercase({name}) {self.dice.choice(["eq", "seq"])} "{self.dice.choice(["mpi_send0", "Main1"])}"'
        if kind == 4:
            return f'{self.dice.choice(["${t}", "${a}"])} eq "{self.dice.choice(["", "x", "0", "1"])}"'
        return f"{self.number(depth)} {self.dice.choice(['<', '<=', '>', '>=', '==', '!='])} {self.number(depth)}"

    def statements(self, depth):
        lines = []
        for _ in range(self.dice.randint(1, 3)):
            kind = self.dice.randrange(6)
            target = self.dice.choice(["${a}", "${b}", "${b}[1]", "${g}[2]", "${b}[70000000]"])
            if self.risky and self.dice.random() < 0.1:
                lines.append(f"${{a}}[{self.leaf()}] = 1;")  # fails if it is below 0
            if depth > 0 and kind == 0:
                lines.append(f"if ({self.condition(depth - 1)}) {{ {self.statements(depth - 1)} }}"
                             f" elseif ({self.condition(depth - 1)}) {{ {self.statements(depth - 1)} }}"
                             f" else {{ {self.statements(depth - 1)} }};")
            elif depth > 0 and kind == 1:
                lines.append(f"${{i}} = 0; while (${{i}} < {self.dice.choice(['3', 'min(2, ' + self.leaf() + ')'])})"
                             f" {{ ${{i}} = ${{i}} + 1; {target} = {target} + {self.number(1)}; }};")
            elif depth > 0 and kind == 2:
                lines.append(f"if ({self.condition(depth - 1)}) {{ return {self.number(depth - 1)}; }};")
            elif kind == 3:
                lines.append(f'${{t}} = {self.dice.choice(["${t}", chr(34) + "x" + chr(34), self.leaf()])};')
            else:
                lines.append(f"{target} = {self.number(depth)};")
        return " ".join(lines)

    def block(self, depth):
        return f"{{ {self.statements(depth)} return {self.number(depth)}; }}"


# Each initialisation has variables of its own. Some define metrics, and some end with a comment.
INITIALISATIONS = (
    "{ global(g); ${i} = 0; while (${i} < ${cube::#callpaths}) { ${g}[${i}] = ${i} * 2; ${i} = ${i} + 1; }; "
    "return 0; }",
    "{ global(h); ${i} = ${i} + 1; ${h}[1] = ${i} + sizeof(i); ${h} = \"text\"; ${t} = ${h}; "
    "${h} = \"of another length\"; if (${t} eq \"text\") { ${h}[1] = ${h}[1] + 10; }; return 0; } // ${i}",
    "{ cube::metric::prederived::q(e) << metric::m0(e) + ${g}[1] >>; ${i} = 5; return ${i}; }; // of q")


def random_specification(dice, profile):
    """Returns the text of a specification: copies, and metrics derived from those before them."""
    names = list(profile.metrics)
    lines = ["<metrics>"]
    for name in names:
        lines.append(f"<metric><uniq_name>{name}</uniq_name><dtype>DOUBLE</dtype></metric>")
    count = dice.randint(1, 5)
    for number in range(count):
        kind = dice.choice(["PREDERIVED_EXCLUSIVE", "PREDERIVED_EXCLUSIVE", "PREDERIVED_INCLUSIVE", "POSTDERIVED"])
        writer = Writer(dice, [*names, "q"] if count > 2 else names, risky=number == count - 1)
        code = writer.block(2) if dice.random() < 0.7 else writer.number()
        init = f"<cubeplinit>{INITIALISATIONS[number]}</cubeplinit>" if number < len(INITIALISATIONS) else ""
        aggregation = '<cubeplaggr cubeplaggrtype="plus">max(arg1, arg2)</cubeplaggr>' \
            if kind.startswith("PRE") and dice.random() < 0.2 else ""
        dtype = dice.choice(["DOUBLE"] * 6 + ["MINDOUBLE", "MAXDOUBLE"])
        lines.append(f'<metric type="{kind}"><uniq_name>d{number}</uniq_name><dtype>{dtype}</dtype>'
                     f"<cubepl>{code}</cubepl>{init}{aggregation}</metric>")
        names.append(f"d{number}")
    return "\n".join([*lines, "</metrics>"])


def expected(world, name, flavour):
    """Returns the values of a metric; nothing if its expression fails for some location."""
    try:
        return world.values(name, flavour)
    except slow_cubepl.CubePLError:
        return None


def check_seed(tmp_path, seed):
    dice = random.Random(seed)
    profile = profiles.made_up(seed)
    text = random_specification(dice, profile)
    (tmp_path / "in.spec").write_text(text)
    profiles.write(profile, tmp_path / "in.cubex", order=dice.choice("<>"),
                   index=dice.choice(["sparse", "dense", "shuffled"]), compress=dice.random() < 0.3,
                   gzip=dice.random() < 0.3, zipped_anchor=dice.random() < 0.3)
    source = cube.open(tmp_path / "in.cubex")
    for name, metric in profile.metrics.items():
        assert (source.values(name, metric.kind == "INCLUSIVE") == profiles.array(metric.values)).all(), name
    more = [word for word in ("--compress", "--sync") if dice.random() < 0.3]
    world = slow.World(profile, slow.read_specification(text))
    stored = [one for one in world.listed if one.kind.startswith("PRE") and not one.plus]
    fails = any(expected(world, one.name, "i" if "INC" in one.kind else "e") is None for one in stored)
    tool("remap", "-r", tmp_path / "in.spec", tmp_path / "in.cubex", tmp_path / "out.cubex", *more, "--threads",
         dice.randint(1, 3), "--byte-order", dice.choice(["native", "little", "big"]), code=int(fails))
    if not fails:
        compare(world, tmp_path / "out.cubex")


@pytest.mark.parametrize("start", [0, pytest.param(1000, marks=pytest.mark.slow)])
def test_random_expressions(tmp_path, start):
    for seed in range(start, start + (60 if start == 0 else 3000)):
        try:
            check_seed(tmp_path, seed)
        except BaseException:
            print(f"seed {seed}: {(tmp_path / 'in.spec').read_text()}")
            raise


# ---- mistakes -----------------------------------------------------------------------------------------------


@pytest.fixture
def small(tmp_path):
    """Returns the path of a small profile, and one for specifications."""
    profiles.write(profiles.made_up(7), tmp_path / "in.cubex")
    return tmp_path / "in.cubex", tmp_path / "in.spec"


@pytest.mark.parametrize("code, message", [
    ("1 +", "line 2, column 4: expected an expression, found the end of the text"),
    ("{ ${a} = 1;\n  return nosuch(1); }", "line 3, column 10: expected a function"),
    ("metric::m0(x)", "column 12: expected i, e or *, found `x`"),
    ("${a} =~ /(/", "column 9: expected Perl's syntax"),
    ('"abc', "column 1: expected \" at the end of it"),
    ("{ if (1) { return 1; }", "expected }"),
    ("min(1)", "column 1: expected 2 operands, found 1"),
    ("metric::d()", "its expression needs the metric itself"),
    ("{ ${a}[1e12] = 1; return 0; }", "expected an index of 0 to 2^28"),
    ("1 ? 2", "expected an expression, found `?`"),
    ("", "expected an expression, found none"),
    ("1" + "+1" * 6000, "expected at most 5000 operators behind one another"),
    ("(" * 600 + "1" + ")" * 600, "expected at most 500 levels"),
])
def test_a_mistake_in_an_expression(small, tmp_path, code, message):
    profile, specification = small
    specification.write_text("<metrics><metric type='PREDERIVED_EXCLUSIVE'><uniq_name>d</uniq_name>\n"
                             f"<dtype>DOUBLE</dtype><cubepl>{code}</cubepl></metric></metrics>")
    found = tool("remap", "-r", specification, profile, tmp_path / "out.cubex", code=1)
    assert message in found and "metric d" in found
    assert not (tmp_path / "out.cubex").exists()


def test_a_mistake_in_the_file(small, tmp_path):
    profile, specification = small
    specification.write_text("<metrics><metric></metrics>")
    assert "in.spec:1: expected XML" in tool("remap", "-r", specification, profile, tmp_path / "out", code=1)
    specification.write_text("<metrics>\n<metric type='ODD'><uniq_name>x</uniq_name></metric></metrics>")
    assert "in.spec:2: <metric>: expected a type such as" in tool("remap", "-r", specification, profile,
                                                                  tmp_path / "out", code=1)
    assert "x/out: its folder: No such file" in tool("remap", "--identity", profile, tmp_path / "x/out", code=1)
    assert "expected another file than the input" in tool("remap", "--identity", profile, profile, code=1)
    assert "No such file" in tool("info", tmp_path / "none", code=1)
    tool("remap", profile, code=2)


def test_a_cut_archive_is_refused_or_equal(small, tmp_path):
    profile, _ = small
    whole = profile.read_bytes()
    expected = cube.open(profile).values("m0").tolist()
    refused = 0
    for end in range(0, len(whole), 256):
        (tmp_path / "cut.cubex").write_bytes(whole[:end])
        try:
            assert cube.open(tmp_path / "cut.cubex").values("m0").tolist() == expected
        except cube.CubeError as error:
            assert "cut.cubex" in str(error)
            refused += 1
    assert refused > 10


def test_damaged_bytes_are_refused_or_read(small, tmp_path):
    """Nothing else happens: no crash, no other exception."""
    profile, _ = small
    whole = profile.read_bytes()
    for seed in range(300):
        dice = random.Random(seed)
        damaged = bytearray(whole)
        for _ in range(dice.randint(1, 4)):
            damaged[dice.randrange(len(damaged))] = dice.randrange(256)
        (tmp_path / "damaged.cubex").write_bytes(damaged)
        try:
            opened = cube.open(tmp_path / "damaged.cubex")
            for name in opened.metrics:
                opened.values(name, inclusive=True)
        except cube.CubeError as error:
            assert str(error), seed


# ---- the Python module and the commands ---------------------------------------------------------------------


def test_frames(small):
    pandas = pytest.importorskip("pandas")
    opened = cube.open(small[0])
    frame = opened.frame("m0", inclusive=True)
    assert isinstance(frame, pandas.DataFrame) and list(frame.columns)[-1] == "m0"
    assert frame["m0"].tolist() == opened.values("m0", inclusive=True).ravel().tolist()


def test_what_is_unknown(small):
    with pytest.raises(KeyError, match="there is no metric 'x'; there are m0"):
        cube.open(small[0]).values("x")
    with pytest.raises(ValueError, match="expected a Cube profile"):
        cube.open(__file__)
    with pytest.raises(cube.CubeError, match="name a specification"):
        cube.remap(small[0], small[0].with_name("out.cubex"))


def test_the_commands(small, tmp_path, capfd):
    assert cli.main(["cube", "info", str(small[0])]) == 0
    assert "call paths" in capfd.readouterr().out
    assert cli.main(["cube", "dump", "--format", "json", "-m", "m0", str(small[0])]) == 0
    import json

    rows = json.loads(capfd.readouterr().out)["metrics"]["m0"]["rows"]
    assert rows == cube.open(small[0]).values("m0").tolist()
    assert cli.main(["cube", "--help"]) == 0
    assert "remap" in capfd.readouterr().out
    other = profiles.made_up(7)
    other.metrics["m0"].values[0][0] += 1
    profiles.write(other, tmp_path / "other.cubex", index="dense")
    assert cli.main(["cube", "diff", str(small[0]), str(tmp_path / "other.cubex")]) == 1
    assert "m0: " in capfd.readouterr().out


def test_generated_profiles(tmp_path):
    tool("generate", tmp_path / "a.cubex", "--callpaths", 50, "--threads", 6, "--metrics", 8, "--seed", 3)
    tool("generate", tmp_path / "b.cubex", "--callpaths", 50, "--threads", 6, "--metrics", 8, "--seed", 3,
         "--big-endian", "--compress", "--dense")
    assert "equal" in tool("diff", tmp_path / "a.cubex", tmp_path / "b.cubex")
    opened = cube.open(tmp_path / "a.cubex")
    assert (opened.values("time") >= -1e-9).all() and opened.values("time", inclusive=True)[0].min() > 0
    tool("generate", tmp_path / "c.cubex", "--from", tmp_path / "a.cubex", "--copies", 3)
    large = cube.open(tmp_path / "c.cubex")
    for name in opened.metrics:
        assert (large.values(name) == numpy.tile(opened.values(name), 3)).all()


@pytest.mark.parametrize("writer", ["tailrace", "sync", "naive", "pinned", "aligned"])
def test_every_writer_writes_the_same(tmp_path, writer):
    tool("generate", tmp_path / "in.cubex", "--callpaths", 300, "--threads", 700, "--metrics", 6)
    tool("remap", "--identity", tmp_path / "in.cubex", tmp_path / "out.cubex", "--writer", writer, "--budget", "4MiB",
         "--threads", 2, "--writer-cpu", 0)
    assert "equal" in tool("diff", tmp_path / "in.cubex", tmp_path / "out.cubex")


def test_the_benchmark_runs(tmp_path, capsys):
    assert cli.main(["bench", "cube", "--quick", "--dir", str(tmp_path), "--json", str(tmp_path / "bench.json"),
                     "--plot", str(tmp_path / "bench.png")]) == 0
    import json

    document = json.loads((tmp_path / "bench.json").read_text())
    assert [way["name"] for way in document["ways"]] == ["none", "sync", "naive", "pinned", "aligned", "tailrace"]
    assert (tmp_path / "bench.png").stat().st_size > 1000
    assert "predicted: sync" in capsys.readouterr().out
    assert not list(tmp_path.glob("cube_*"))


@pytest.mark.parametrize("writer", ["tailrace", "sync", "naive"])
def test_a_full_disk(small_disk, tmp_path, writer):
    tool("generate", tmp_path / "in.cubex", "--callpaths", 300, "--threads", 7000, "--metrics", 6)
    found = tool("remap", "--identity", tmp_path / "in.cubex", small_disk / "out.cubex", "--writer", writer, code=1)
    assert "No space left on device" in found and "out.cubex" in found
    assert not (small_disk / "out.cubex").exists()
