"""Trials that find out how collective writes are fastest, and the profile that keeps what they have shown."""

import re

import pytest
from test_mpiio import mpi, program, start  # noqa: F401


@pytest.fixture
def write_many(tmp_path, mpi, monkeypatch):  # noqa: F811
    """Runs a program of 90 collective writes; returns what tailrace reports of its trials."""
    monkeypatch.setenv("TAILRACE_RUNTIME_DIR", str(tmp_path / "run"))

    def run(settings):
        done = start(mpi, 2, [program(mpi, "buffer_io"), "many", tmp_path / "file"], settings)
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


def test_a_profile_that_is_not_understood_is_reported(tmp_path, write_many):
    profile = tmp_path / "profile"
    settings = f"collective=tune profile={profile}"
    profile.write_text("something else\n")
    told, = write_many(settings)
    assert told.endswith("found 'something else', expected 'tailrace mpiio profile 1': it is not used")
    lines = profile.read_text().splitlines()
    assert lines[0] == "tailrace mpiio profile 1" and len(lines) == 2, "it is replaced"
    profile.write_text("\n".join([lines[0], "a line", lines[1], "of\tthree\t99 1 0.5", ""]))
    assert [line.split("profile: ")[1] for line in write_many(settings)] == [
        f"line {number} is not one that tailrace has written: it is not used" for number in (2, 4)]


def test_a_profile_that_cannot_be_written_is_reported(tmp_path, write_many):
    (tmp_path / "file-not-a-folder").write_text("")
    told, = write_many(f"collective=tune profile={tmp_path}/file-not-a-folder/profile")
    assert "what the trials have shown cannot be written" in told
