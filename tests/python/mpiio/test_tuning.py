"""Trials that find out how collective writes are fastest, and the profile that keeps what they have shown."""

import os
import re

import pytest
from test_mpiio import mpi, program, start  # noqa: F401


@pytest.fixture
def write_many(tmp_path, mpi, monkeypatch):  # noqa: F811
    """Runs a program of 90 collective writes; returns what tailrace reports of its trials. `way`: of the program."""
    monkeypatch.setenv("TAILRACE_RUNTIME_DIR", str(tmp_path / "run"))

    def run(settings, way="many"):
        done = start(mpi, 2, [program(mpi, "buffer_io"), way, tmp_path / "file"], settings)
        assert done.returncode == 0 and done.stdout == "right\n", done.stdout + done.stderr
        return [line for line in done.stderr.splitlines() if "tailrace:" in line and "carried" not in line]

    return run


def test_the_next_run_knows_what_trials_have_shown(tmp_path, write_many):
    profile = tmp_path / "new" / "profile"
    settings = f"collective=tune profile={profile} summary"
    found, = write_many(settings)
    assert re.search(r"2 processes on 1 node, view of 128 bytes in pieces of \d+ or more, .*: \w+ (with|0\.\d+ s)",
                     found)
    for word in ("auto", "individual", "two_phase with 1 aggregator", "dynamic with 2 aggregators", "static with 1"):
        assert word in found
    known, = write_many(settings)
    assert known == f"{found} (known before)"
    assert len(profile.read_text().splitlines()) == 2


def test_nonblocking_writes_are_no_trials(tmp_path, mpi, monkeypatch):  # noqa: F811
    """The two blocking writes of the first trial come before them: the second trial is of another way."""
    monkeypatch.setenv("TAILRACE_RUNTIME_DIR", str(tmp_path / "run"))
    done = start(mpi, 2, [program(mpi, "buffer_io"), "later", tmp_path / "file"],
                 f"collective=tune profile={tmp_path / 'profile'} summary")
    assert done.stdout == "right\n", done.stdout + done.stderr
    met = [float(found) for found in re.findall(r"; (\d+\.\d) MiB met in buffers of the node\n", done.stderr)]
    assert len(met) == 2 and min(met) > 3, done.stderr


def test_what_was_tried_with_other_hints_is_not_known(tmp_path, write_many):
    profile = tmp_path / "profile"
    settings = f"collective=tune profile={profile} summary"
    with_two, = write_many(f"{settings} aggregators=2")
    assert "aggregators 2: " in with_two and "with 1 aggregator" not in with_two
    without, = write_many(settings)
    assert "known before" not in without and without.count("auto ") == 1
    assert len(profile.read_text().splitlines()) == 3


def test_writes_without_bytes_are_no_trials(tmp_path, write_many):
    profile = tmp_path / "profile"
    assert not write_many(f"collective=tune profile={profile} summary", "empty")
    assert not profile.exists()


def test_a_profile_that_is_not_understood_is_reported(tmp_path, write_many):
    profile = tmp_path / "profile"
    settings = f"collective=tune profile={profile}"
    profile.write_text("tailrace mpiio profile 0\n")
    told, = write_many(settings)
    assert told.endswith("found 'tailrace mpiio profile 0', expected 'tailrace mpiio profile 1': it is not used")
    lines = profile.read_text().splitlines()
    assert lines[0] == "tailrace mpiio profile 1" and len(lines) == 2, "it is replaced"
    # The last line has no end: nobody knows what is missing.
    profile.write_text("\n".join([lines[0], "a line", lines[1], "of\tthree\t99 1 0.5", "cut\toff\t 0 1 0.0"]))
    assert [line.split("profile: ")[1] for line in write_many(settings)] == [
        f"line {number} is not one that tailrace has written: it is not used" for number in (2, 4, 5)]


def test_a_file_that_is_no_profile_stays(tmp_path, write_many):
    data = tmp_path / "data"
    data.write_bytes(b"\x1b results " + bytes(9000))
    told, = write_many(f"collective=tune profile={data}")
    assert "found '? results ???" in told and told.endswith("it is neither used nor replaced") and len(told) < 400
    assert data.stat().st_size == 9010 and data.read_bytes().startswith(b"\x1b results ")


@pytest.mark.parametrize("kind", ["pipe", "large", "folder"])
def test_what_can_be_no_profile_stays_and_nothing_waits_for_it(tmp_path, write_many, kind):
    profile = tmp_path / "profile"
    if kind == "pipe":
        os.mkfifo(profile)
    elif kind == "folder":
        profile.mkdir()
    else:
        profile.write_text("tailrace mpiio profile 1\n")
        os.truncate(profile, 1 << 40)
    before = profile.stat()
    told, = write_many(f"collective=tune profile={profile}")
    assert told.endswith("is no file that tailrace has written: it is neither used nor replaced")
    assert profile.stat().st_ino == before.st_ino and profile.stat().st_mode == before.st_mode


def test_a_profile_may_be_a_link(tmp_path, write_many):
    (tmp_path / "profile").symlink_to("real")
    (tmp_path / "real").write_text("")
    assert not write_many(f"collective=tune profile={tmp_path}/profile")
    assert (tmp_path / "profile").is_symlink() and (tmp_path / "real").read_text().startswith("tailrace mpiio")


def test_a_profile_keeps_what_others_write_meanwhile(tmp_path, write_many, monkeypatch):
    """Processes that are the first ones of several communicators, or several programs, have one profile."""
    profile = tmp_path / "profile"
    monkeypatch.setenv("PROFILE", str(profile))  # it is written after tailrace has read it, before the first trial
    write_many(f"collective=tune profile={profile}")
    lines = profile.read_text().splitlines()
    assert len(lines) == 3 and "another pattern\tauto 1 s\t 0 1 1" in lines
    assert not list(tmp_path.glob("profile.*"))


def test_a_profile_that_cannot_be_written_is_reported(tmp_path, write_many):
    (tmp_path / "file-not-a-folder").write_text("")
    told, = write_many(f"collective=tune profile={tmp_path}/file-not-a-folder/profile")
    assert "what the trials have shown cannot be written" in told
