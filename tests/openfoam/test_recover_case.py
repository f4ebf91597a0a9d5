"""`tailrace recover` of OpenFOAM's cases removes what a killed program left, and nothing else: no OpenFOAM needed."""

import os
import random

import pytest
from tailrace import cli


def make(case, *parts):
    """Makes a case with these directories, each with a file."""
    for part in ("system", *parts):
        (case / part).mkdir(parents=True)
        (case / part / "U").write_text(part)
    (case / "system/controlDict").write_text("")
    return case


def left_in(case):
    """Returns the directories that hold a file, but for system."""
    return sorted(str(path.parent.relative_to(case)) for path in case.rglob("U") if "system" not in path.parts)


def recover(case, capfd, expected=0):
    """Runs `recover`; returns what it printed. Before, a dry run prints the files that it then removes, and changes
    nothing."""
    before = left_in(case)
    cli.main(["recover", "--dry-run", str(case)])
    announced = capfd.readouterr().out
    assert left_in(case) == before
    assert cli.main(["recover", str(case)]) == expected
    printed = capfd.readouterr().out
    assert [line.split()[0] for line in announced.splitlines()] == [line.split()[0] for line in printed.splitlines()]
    gone = set(before) - set(left_in(case))
    assert gone == {line.split()[0] for line in printed.splitlines() if line.endswith("removed")}
    return printed


def test_times_that_lack_a_part(tmp_path, capfd):
    case = make(tmp_path / "case", "processor0/0", "processor1/0", "processor0/0.1", "processor1/0.1",
                "processor0/0.2", "processor1/0.2.partial", "processor0/constant", "0.1")
    assert "processor0/0.2" in recover(case, capfd)
    assert left_in(case) == ["0.1", "processor0/0", "processor0/0.1", "processor0/constant", "processor1/0",
                             "processor1/0.1"]
    assert "nothing to recover" in recover_nothing(case, capfd)


def recover_nothing(case, capfd):
    assert cli.main(["recover", str(case)]) == 0
    return capfd.readouterr().out


@pytest.mark.parametrize("beside", ["processor0.bak", "processor0_old", "processor1.1", "processor01", "processor1e1",
                                    "processors2", "processors2_0-1", "processor4", "processor²"])
def test_folders_whose_names_begin_alike(tmp_path, capfd, beside):
    """They are no parts of the case: their times do not count, and nothing in them is removed."""
    real = [f"processor{number}/{time}" for number in (0, 1) for time in (0, 1, 2)]
    case = make(tmp_path / "case", *real, f"{beside}/0", f"{beside}/1", f"{beside}/3.partial")
    assert "nothing to recover" in recover_nothing(case, capfd)
    (case / "processor1/3.partial").mkdir()
    assert "processor1/3.partial" in recover_nothing(case, capfd)
    assert left_in(case) == sorted([*real, f"{beside}/0", f"{beside}/1", f"{beside}/3.partial"])


@pytest.mark.parametrize("name", ["2024-01-01", "0.bak", "1e-3old", "1-2", "1.2.3", "0.orig", "e5", "..", "1e", "١"])
def test_names_that_are_no_times(tmp_path, capfd, name):
    parts = ["0", f"processor0/{name}x", "processor0/0", "processor1/0", f"{name}x.partial"]
    if name != "..":
        parts += [f"{name}.partial", f"processor0/{name}", f"processor0/{name}.partial", f"processor1/{name}.partial"]
    case = make(tmp_path / "case", *parts)
    assert "nothing to recover" in recover_nothing(case, capfd)
    assert left_in(case) == sorted(parts)


@pytest.mark.parametrize("name", ["0", "0.5", "1e-05", "1e+06", "100", "-180", "-0.25", "2."])
def test_names_that_are_times(tmp_path, capfd, name):
    case = make(tmp_path / "case", f"{name}.partial", f"processor0/{name}.partial", f"processor1/{name}")
    recover(case, capfd)
    assert left_in(case) == []


def test_folders_of_an_earlier_decomposition(tmp_path, capfd):
    """A program with two processes has gone on where four were before, and was killed at 3."""
    whole = [f"processor{number}/{time}" for number in (0, 1) for time in (0, 1, 2)]
    case = make(tmp_path / "case", *whole, "processor2/0", "processor3/0", "processor0/3", "processor1/3.partial")
    printed = recover(case, capfd)
    assert left_in(case) == sorted([*whole, "processor2/0", "processor3/0"])
    assert "processor0/2 part of a time left alone: processor2 lacks this time" in " ".join(printed.split())


def test_a_part_that_is_old(tmp_path, capfd):
    """A program without tailrace has completed a time that an earlier one had left as `.partial`."""
    case = make(tmp_path / "case", "processor0/1", "processor1/1", "processor1/1.partial", "1", "1.partial")
    recover(case, capfd)
    assert left_in(case) == ["1", "processor0/1", "processor1/1"]


def test_folders_that_have_no_time_in_common(tmp_path, capfd):
    case = make(tmp_path / "case", "processor0/0", "processor0/0.1", "processor1/constant")
    assert "nothing to recover" in recover_nothing(case, capfd)
    assert left_in(case) == ["processor0/0", "processor0/0.1", "processor1/constant"]


def test_a_part_that_is_removed_is_named(tmp_path, capfd):
    """tests/command has what happens if the removal is cut short."""
    case = make(tmp_path / "case", "processor0/1", "processor1/1.partial")
    assert cli.main(["recover", str(case)]) == 0
    assert capfd.readouterr().err == f"{case}/processor0/1: is removed, as processor1 has not completed this time\n"


def test_files_in_times_that_have_their_names(tmp_path, capfd):
    """A program that looks at a time gives it its name. Later files of it get theirs one by one."""
    case = make(tmp_path / "case", "0.1/uniform", "constant", "processor0/0.1", "processor1/0.1", "0.orig",
                "processor0.bak/0.1")
    left = ["0.1/p.partial", "0.1/uniform/time.partial", "processor1/0.1/U.gz.partial"]
    kept = ["constant/notes.partial", "0.orig/U.partial", "0.1/partial", "processor0.bak/0.1/U.partial"]
    for name in left + kept:
        (case / name).write_text("text")
    assert cli.main(["recover", "--dry-run", str(case)]) == 1
    announced = capfd.readouterr().out
    assert all(f"{name} incomplete file to be removed" in " ".join(announced.split()) for name in left)
    assert all((case / name).is_file() for name in left + kept)
    assert cli.main(["recover", str(case)]) == 0
    assert not any((case / name).exists() for name in left)
    assert all((case / name).is_file() for name in kept)


def test_random_folders(tmp_path, capfd):
    """What is removed is what a plain model says: `.partial` times, and times that a process has only as such."""
    seed = random.randrange(1 << 30)
    print("seed", seed)
    dice = random.Random(seed)
    for round_number in range(40):
        parts = {f"{folder}/{dice.choice(['0', '1', '2.5', '1e-3', '0.bak', '7-1', 'constant'])}"
                 f"{dice.choice(['', '', '.partial', '.old'])}"
                 for folder in ("processor0", "processor1", "processor2", "processor1.x", "processors3", ".")
                 for _ in range(dice.randrange(4))}
        parts = {os.path.normpath(part) for part in parts}
        case = make(tmp_path / str(round_number), *parts)
        recover_nothing(case, capfd)
        assert left_in(case) == sorted(parts - expected(parts)), (seed, round_number)


def expected(parts):
    times = {"0", "1", "2.5", "1e-3"}
    folders = []
    while any(part.startswith(f"processor{len(folders)}/") for part in parts):
        folders.append(f"processor{len(folders)}")
    gone = {part for part in parts if part.removesuffix(".partial").split("/")[-1] in times and
            part.endswith(".partial") and (part.rpartition("/")[0] in ["", *folders])}
    for time in times:
        if any(f"{folder}/{time}.partial" in parts and f"{folder}/{time}" not in parts for folder in folders):
            gone |= {f"{folder}/{time}" for folder in folders} & parts
    return gone
