"""After kill -9: no published file is incomplete, and recover leaves a clean directory."""

import os
import signal
import subprocess
import sys

import h5py
import numpy as np
import pytest
import tailrace

WRITER = """
import sys, numpy, tailrace
client = tailrace.open(sys.argv[1])
for step in range(int(sys.argv[2])):
    client.write("field", step, numpy.full(65536, float(step)))
    client.end_iteration(step)
client.flush()
client.write("field", 1000, numpy.zeros(65536))
client.read("field", 1000)  # so that it is in its file
print("ready", flush=True)
sys.stdin.read()
"""


def killed(config, steps, after="ready"):
    process = subprocess.Popen([sys.executable, "-c", WRITER, config, str(steps)], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline().strip() == after
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdin.close()
    process.stdout.close()


def test_what_a_killed_client_leaves(config, out):
    file = config()
    killed(file, 3)
    published = sorted(path.name for path in out.glob("*.h5"))
    assert published == [f"sim_c0_{step:06d}.h5" for step in range(3)]
    listed = tailrace.recover(out, apply=False)
    assert listed and not any(one.done for one in listed)
    assert {one.kind for one in listed} <= {"incomplete", "stale lock"}
    done = tailrace.recover(out)
    assert [one.file for one in done] == [one.file for one in listed] and all(one.done for one in done)
    assert sorted(os.listdir(out)) == published
    assert tailrace.recover(out) == []
    for step, name in enumerate(published):
        with h5py.File(out / name) as opened:
            assert (opened[f"data/{step}/meshes/field"][...] == step).all()


def test_the_same_client_can_go_on_after_a_kill(config, out):
    file = config(existing="continue")
    killed(file, 1)
    tailrace.recover(out)
    with tailrace.open(file) as client:
        client.write("temperature", 5, np.ones((4, 6)))
        client.end_iteration(5)
    assert (out / "sim_c0_000005.h5").exists()


def test_files_of_a_running_client_are_left_alone(config, out):
    with tailrace.open(config()) as client:
        client.write("temperature", 0, np.ones((4, 6)))
        client.flush()
        before = sorted(os.listdir(out))
        found = tailrace.recover(out)
        assert {one.kind for one in found} <= {"in use"} and not any(one.done for one in found)
        assert sorted(os.listdir(out)) == before
        client.end_iteration(0)
    assert (out / "sim_c0_000000.h5").exists()


def test_an_empty_directory(out):
    assert tailrace.recover(out) == []


def test_a_file_that_lacks_only_its_rename_is_published(config, out):
    with tailrace.open(config()) as client:
        client.write("temperature", 3, np.ones((4, 6)))
        client.end_iteration(3)
    whole, part = out / "sim_c0_000003.h5", out / "sim_c0_000003.h5.part"
    whole.rename(part)
    (listed,) = tailrace.recover(out, apply=False)
    assert (listed.kind, listed.done, listed.file) == ("complete", False, str(part)) and part.exists()
    (done,) = tailrace.recover(out)
    assert (done.kind, done.done, done.status) == ("complete", True, "ok")
    assert [path.name for path in out.iterdir()] == [whole.name]
    with h5py.File(whole) as file:
        assert (file["/data/3/meshes/temperature"][...] == 1).all()


@pytest.mark.parametrize("by", ["recover", "the next run"])
@pytest.mark.parametrize("whole", [True, False])
def test_a_death_in_the_middle_of_a_publication_without_links(config, out, by, whole):
    """Where the file system has neither links nor RENAME_NOREPLACE, an empty file takes the name first."""
    file = config(existing="continue")
    with tailrace.open(file) as client:
        client.write("temperature", 3, np.ones((4, 6)))
        client.end_iteration(3)
    name, part = out / "sim_c0_000003.h5", out / "sim_c0_000003.h5.part"
    name.rename(part)
    if not whole:
        os.truncate(part, 0)
    name.touch()
    name.chmod(0)
    assert all(one.status == "ok" for one in tailrace.recover(out, apply=False))
    if by == "recover":
        assert all(one.done for one in tailrace.recover(out))
    else:
        with tailrace.open(file) as client:
            client.write("temperature", 4, np.ones((4, 6)))
            client.end_iteration(4)
    assert not part.exists() and name.exists() == whole
    if whole:
        with h5py.File(name) as opened:
            assert (opened["/data/3/meshes/temperature"][...] == 1).all()
