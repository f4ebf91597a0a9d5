"""Values are printed, compared and copied as they are stored: integers above 2^53, rows that are left out, types that
are not computed. Commands name files in their messages, and end with the right codes."""

import io
import itertools
import json
import random
import struct
import sys
import tarfile

import profiles
import pytest
import slow_profile as slow
from program import tool
from tailrace import cube
from test_cubepl import STORED, profile_of, remapped, specification

pytestmark = pytest.mark.skipif(cube._cube is None, reason="built without the reader of Cube profiles")


def dumped(path, *words):
    """Returns the rows of each metric."""
    document = json.loads(tool("dump", "-f", "json", *words, path))
    return {name: metric["rows"] for name, metric in document["metrics"].items()}


# ---- integers -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("flavour", "ei")
def test_integers_are_not_rounded(tmp_path, seed, flavour):
    """As sums of Python's integers, which have no limit."""
    dice = random.Random(seed)
    dtype = dice.choice(["UINT64", "INT64", "INTEGER", "UINT32", "INT8"])
    bits = {"U": 64, "I": 63}[dtype[0]] if "32" not in dtype and "8" not in dtype else 7
    parents = [-1, 0, 1, 0, -1]
    values = [[dice.randrange(2 ** bits) for _ in range(3)] for _ in parents]
    profile = profile_of(values, dtype, dice.choice(["EXCLUSIVE", "INCLUSIVE"]), parents)
    profiles.write(profile, tmp_path / "in.cubex", order=dice.choice("<>"), compress=dice.random() < 0.5)
    expected = slow.World(profile, list(profile.metrics.values())).values("x", flavour)
    assert dumped(tmp_path / "in.cubex", *(["-i"] if flavour == "i" else []))["x"] == expected
    rows = tool("dump", tmp_path / "in.cubex", *(["-i"] if flavour == "i" else [])).splitlines()[1:]
    assert [int(row.split(",")[2]) for row in rows] == sum(expected, [])
    tool("remap", "-q", "--identity", tmp_path / "in.cubex", tmp_path / "out.cubex")
    assert dumped(tmp_path / "out.cubex", *(["-i"] if flavour == "i" else []))["x"] == expected


def test_sums_of_integers_are_rounded_once(tmp_path):
    """As CubeLib computes them: the sum is an integer, and becomes a double where an expression needs it."""
    values = [[2 ** 53, 1, 1, 1], [1, 1, 1, 1]]
    opened = remapped(tmp_path, profile_of(values, "UINT64", parents=[-1, 0]),
                      *(specification(f"metric::{what}", name=name) for name, what in
                        (("row", "x(i)"), ("all", "fixed::x(e)"), ("program", "fixed::x()"))))
    assert opened.values("row")[0][0] == float(2 ** 53 + 1)
    assert opened.values("all")[0][0] == float(2 ** 53 + 3)
    assert opened.values("program")[0][0] == float(2 ** 53 + 7)


def test_diff_compares_integers(tmp_path):
    for name, value in (("a", 2 ** 64 - 25), ("b", 2 ** 64 - 26), ("c", 2 ** 53), ("d", 2 ** 53 + 1)):
        profiles.write(profile_of([[value, 1]], "UINT64"), tmp_path / name)
    profiles.write(profile_of([[float(2 ** 53), 1.0]]), tmp_path / "double")
    said = tool("diff", tmp_path / "a", tmp_path / "b", code=1)
    assert "x: 1 value differs" in said and "18446744073709551591 and 18446744073709551590" in said
    assert "equal" in tool("diff", tmp_path / "a", tmp_path / "b", "--tolerance", "1e-19")
    assert "equal" in tool("diff", tmp_path / "c", tmp_path / "double")
    assert "9007199254740993 and 9007199254740992" in tool("diff", tmp_path / "d", tmp_path / "double", code=1)


# ---- rows that are left out ---------------------------------------------------------------------------------

LEAST, MOST = -sys.float_info.max, sys.float_info.max


def test_rows_that_are_left_out_are_no_minimum(tmp_path):
    """CubeLib takes the greatest double for them, and the least one in a maximum."""
    parents = [-1, 0, 0]
    for dtype, none, inclusive in (("MINDOUBLE", MOST, 3.0), ("MAXDOUBLE", LEAST, 5.0)):
        rows = [[none, none], [3.0, 4.0], [5.0, none]]
        profile = profile_of(rows, dtype, parents=parents)
        profiles.write(profile, tmp_path / "in.cubex")
        opened = cube.open(tmp_path / "in.cubex")
        assert opened.values("x").tolist() == rows
        assert opened.values("x", inclusive=True)[0].tolist() == [inclusive, 4.0]
        derived = remapped(tmp_path, profile, specification("metric::fixed::x(i)", name="all"),
                           specification("metric::x()", name="copy", kind="PREDERIVED_EXCLUSIVE", dtype=dtype),
                           specification("0", name="zero", kind="PREDERIVED_EXCLUSIVE", dtype=dtype),
                           specification("metric::fixed::zero()", name="zeros"))
        assert derived.values("all")[0].tolist() == [min(3.0, 4.0) if none > 0 else max(5.0, 4.0)] * 2
        assert derived.values("copy").tolist() == rows
        assert derived.values("zero").tolist() == [[0, 0]] * 3  # these rows are stored
        assert derived.values("zeros")[0].tolist() == [0, 0]


# ---- types --------------------------------------------------------------------------------------------------


def write_archive(path, members):
    """Writes names and bytes as an archive."""
    with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))


def read_archive(path):
    with tarfile.open(path) as archive:
        return {member.name: archive.extractfile(member).read() for member in archive.getmembers()}


def with_another_metric(tmp_path, dtype, row, name="in.cubex"):
    """Returns the path of a profile with the metrics x and odd, the latter with a row of these bytes."""
    profile = profile_of([[1.0, 2.0]])
    profile.metrics["odd"] = slow.Metric("odd", "EXCLUSIVE", "DOUBLE", [[3.0, 4.0]])
    profiles.write(profile, tmp_path / "plain.cubex")
    members = read_archive(tmp_path / "plain.cubex")
    before, after = members["anchor.xml"].split(b"<uniq_name>odd", 1)
    members["anchor.xml"] = before + b"<uniq_name>odd" + after.replace(b"DOUBLE", dtype.encode(), 1)
    members["1.data"] = b"CUBEX.DATA" + row
    write_archive(tmp_path / name, members)
    return tmp_path / name


@pytest.mark.parametrize("dtype", ["HISTOGRAM(2)", "SCALE_FUNC", "RATE", "NEW"])
def test_a_metric_that_cannot_be_computed_is_refused_when_it_is_asked_for(tmp_path, dtype):
    path = with_another_metric(tmp_path, dtype, struct.pack("<4d", 1, 2, 3, 4))
    assert dtype in tool("info", path)
    assert "metric odd is left out" in tool("dump", path)
    assert dumped(path, "-m", "x")["x"] == [[1, 2]]
    message = f'in.cubex: metric odd: expected values that are numbers, such as DOUBLE or UINT64, found "{dtype}"'
    assert message in tool("dump", "-m", "odd", path, code=1)
    with pytest.raises(cube.CubeError, match="metric odd: expected values that are numbers"):
        cube.open(path).values("odd")
    assert cube.open(path).values("x")[0].tolist() == [1, 2]
    (tmp_path / "x.spec").write_text(f"<metrics>{STORED}</metrics>")
    tool("remap", "-q", "-r", tmp_path / "x.spec", path, tmp_path / "out.cubex")
    (tmp_path / "odd.spec").write_text(
        "<metrics>" + specification("metric::odd()", kind="PREDERIVED_EXCLUSIVE") + "</metrics>")
    assert message in tool("remap", "-q", "-r", tmp_path / "odd.spec", path, tmp_path / "out.cubex", code=1)
    if dtype != "RATE":  # whose rows are copied
        assert message in tool("remap", "-q", "--identity", path, tmp_path / "out.cubex", code=1)


def test_diff_compares_values_that_are_no_numbers(tmp_path):
    one = with_another_metric(tmp_path, "RATE", struct.pack("<4d", 1, 2, 3, 4), "one")
    other = with_another_metric(tmp_path, "RATE", struct.pack("<4d", 1, 2, 3, 5), "other")
    unknown = with_another_metric(tmp_path, "HISTOGRAM(2)", struct.pack("<4d", 1, 2, 3, 5), "unknown")
    assert "equal" in tool("diff", one, one)
    assert "odd: 1 value differs" in tool("diff", one, other, code=1)
    assert "odd: RATE and HISTOGRAM(2)" in tool("diff", one, unknown, code=1)
    assert 'unknown: 1.data: expected a type whose layout is known, such as DOUBLE or UINT64, found "HISTOGRAM(2)"' \
        in tool("diff", unknown, unknown, code=2)


# ---- the commands -------------------------------------------------------------------------------------------


def test_diff_ends_as_diff_does(tmp_path):
    profiles.write(profile_of([[1.0, 2.0]]), tmp_path / "a")
    profiles.write(profile_of([[1.0, 3.0]]), tmp_path / "b")
    profiles.write(profile_of([[1.0]]), tmp_path / "c")
    (tmp_path / "d").write_bytes((tmp_path / "a").read_bytes()[:700])
    assert "equal" in tool("diff", tmp_path / "a", tmp_path / "a", code=0)
    assert "x: 1 value differs" in tool("diff", tmp_path / "a", tmp_path / "b", code=1)
    assert "differ in their number of locations" in tool("diff", tmp_path / "a", tmp_path / "c", code=1)
    assert "d: " in tool("diff", tmp_path / "a", tmp_path / "d", code=2)
    assert "none: No such file" in tool("diff", tmp_path / "none", tmp_path / "a", code=2)
    tool("diff", tmp_path / "a", code=2)


@pytest.mark.parametrize("code, message", [
    (specification("metric::d()", kind="PREDERIVED_EXCLUSIVE"), "metric d: its expression needs the metric itself"),
    (specification("1", kind="PREDERIVED_EXCLUSIVE", dtype="DOUBEL"), 'metric d: expected a type of values, such as'),
    (specification("{ cube::metric::postderived::q() &lt;&lt; metric::q() >>; return metric::q(); }"),
     "metric q: its expression needs the metric itself"),
    (specification("metric::nosuch()", kind="PREDERIVED_EXCLUSIVE"), "there is no metric nosuch"),
])
def test_messages_name_the_file(tmp_path, code, message):
    profiles.write(profile_of([[1.0]]), tmp_path / "in.cubex")
    (tmp_path / "in.spec").write_text(f"<metrics>{code}</metrics>")
    said = tool("remap", "-q", "-r", tmp_path / "in.spec", tmp_path / "in.cubex", tmp_path / "out.cubex",
                code=0 if "nosuch" in message else 1)
    assert f"{tmp_path}/in.spec: {message}" in said


@pytest.mark.parametrize("declared", ["UTF-8", "windows-1252", "ISO-8859-1"])
def test_names_that_are_no_utf8(tmp_path, declared):
    """They are taken for Latin-1. A name that is UTF-8 stays as it is, unless another encoding is declared."""
    profile = profile_of([[1.0]])
    profiles.write(profile, tmp_path / "in.cubex")
    anchor = profiles.anchor(profile).encode().replace(b"UTF-8", declared.encode()).replace(
        b"<name>main</name>", b"<name>f\xfcr_\xc3\xa4</name>")
    write_archive(tmp_path / "latin.cubex", {**read_archive(tmp_path / "in.cubex"), "anchor.xml": anchor})
    name = "für_Ã¤" if declared == "ISO-8859-1" else "für_ä"
    document = json.loads(tool("dump", "-f", "json", tmp_path / "latin.cubex"))  # decoded as UTF-8
    assert document["call_paths"][0]["region"] == name
    assert cube.open(tmp_path / "latin.cubex").call_paths[0]["region"] == name
    tool("remap", "-q", "--identity", tmp_path / "latin.cubex", tmp_path / "out.cubex")
    assert cube.open(tmp_path / "out.cubex").call_paths[0]["region"] == name


@pytest.mark.parametrize("command, there", [
    *itertools.product(["generate", "enlarge", "sync", "naive"], ["link", "folder", "second name"]),
    ("tailrace", "link"), ("tailrace", "folder")])
def test_the_name_of_an_unfinished_output_is_no_link(tmp_path, command, there):
    """Others may have put it there, to a file that the user may write."""
    target, partial = tmp_path / "target", tmp_path / "out.cubex.partial"
    target.write_text("kept")
    profiles.write(profile_of([[1.0]]), tmp_path / "in.cubex")
    if there == "link":
        partial.symlink_to(target)
    elif there == "folder":
        partial.mkdir()
    else:
        partial.hardlink_to(target)
    words = {"generate": ["generate", tmp_path / "out.cubex", "--callpaths", 2, "--threads", 2],
             "enlarge": ["generate", "--from", tmp_path / "in.cubex", tmp_path / "out.cubex"]}.get(
        command, ["remap", "-q", "--identity", "--writer", command, tmp_path / "in.cubex", tmp_path / "out.cubex"])
    said = tool(*words, code=0 if there == "second name" else 1)
    assert target.read_text() == "kept"
    if there != "second name":
        assert "out.cubex.partial" in said and not (tmp_path / "out.cubex").exists()
