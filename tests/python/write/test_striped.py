"""Striped files (storage.stripe): written by tailrace, read by the Python reader, inspected, recovered, joined."""

import itertools
import json
import pathlib
import random
import struct
import subprocess
import sys

import h5py
import numpy as np
import pytest
import tailrace
from tailrace import striped

CONFIG = """\
tailrace: 1
name: sim
memory: {{budget: 4 MiB}}
place: {{kind: {place}}}
storage: {{path: [{paths}], stripe: {{unit: {unit}}}, existing: {existing}, durability: {durability}}}
layouts:
  large: {{type: float64, shape: [20000]}}
variables:
  field: {{layout: large, unit: K}}
"""


@pytest.fixture
def devices(tmp_path):
    return [tmp_path / f"d{number}" for number in range(3)]


def write(devices, *, steps=3, unit="8 KiB", existing="refuse", durability="written", place="thread"):
    """Writes iterations with tailrace; returns their arrays, which are the model."""
    file = devices[0].parent / "sim.yaml"
    file.write_text(CONFIG.format(paths=", ".join(map(str, devices)), unit=unit, existing=existing,
                                  durability=durability, place=place))
    arrays = [np.arange(20000.0) + 1e6 * step for step in range(steps)]
    with tailrace.open(file) as client:
        for step, array in enumerate(arrays):
            client.write("field", step, array)
            client.end_iteration(step)
    return arrays


def expect(file, step, array):
    """Expects the array in a file, or file object."""
    with h5py.File(file, "r") as opened:
        np.testing.assert_array_equal(opened[f"/data/{step}/meshes/field"][...], array)


@pytest.mark.parametrize("place", ["thread", "core"])
@pytest.mark.parametrize("durability", ["written", "durable"])
def test_what_tailrace_writes_is_read(devices, durability, place, runtime_directory):
    arrays = write(devices, durability=durability, place=place)
    firsts = set()
    for step, array in enumerate(arrays):
        with striped.StripedFile(devices[0] / f"sim_c0_{step:06d}.h5") as file:
            assert [path.parent for path in file.objects] == devices
            firsts.add(file.head.first)
            expect(file, step, array)
    assert firsts <= {0, 1, 2}
    for device in devices[1:]:
        assert len(list(device.iterdir())) == len(arrays), "one object a file"


def test_stripes_lie_where_the_page_says(devices, tmp_path):
    (array,) = write(devices, steps=1)
    name = devices[0] / "sim_c0_000000.h5"
    with striped.StripedFile(name) as file:
        whole, head, objects = file.read(file.size), file.head, [path.read_bytes()[4096:] for path in file.objects]
    stripes = [whole[at:at + 8192] for at in range(0, len(whole), 8192)]
    dealt = [b"".join(stripe for number, stripe in enumerate(stripes) if (head.first + number) % 3 == index)
             for index in range(3)]
    assert dealt == objects
    (tmp_path / "plain.h5").write_bytes(whole)
    expect(tmp_path / "plain.h5", 0, array)


def test_join_makes_plain_files(devices, tmp_path, run):
    arrays = write(devices)
    status, out, _ = run("join", devices[0], "--to", tmp_path / "plain")
    assert status == 0 and out.count("plain/sim_c0_") == len(arrays)
    for step, array in enumerate(arrays):
        expect(tmp_path / "plain" / f"sim_c0_{step:06d}.h5", step, array)
    status, _, err = run("join", devices[0] / "sim_c0_000000.h5", "--to", tmp_path / "plain")
    assert status == 1 and "found a file, expected none" in err
    status, out, _ = run("join", devices[0] / "sim_c0_000000.h5", "--to", tmp_path / "one.h5")
    assert status == 0 and "one.h5" in out
    expect(tmp_path / "one.h5", 0, arrays[0])
    status, _, err = run("join", devices[0])
    assert status == 1 and "found a striped file, expected a plain one" in err


def test_join_leaves_a_file_that_another_run_is_writing(devices, tmp_path, run):
    (array,) = write(devices, steps=1)
    (tmp_path / "one.h5.part").write_bytes(b"of another run")
    assert run("join", devices[0] / "sim_c0_000000.h5", "--to", tmp_path / "one.h5")[0] == 0
    expect(tmp_path / "one.h5", 0, array)
    assert (tmp_path / "one.h5.part").read_bytes() == b"of another run"


def test_join_finds_objects_that_were_moved(devices, tmp_path, run):
    (array,) = write(devices, steps=1)
    moved = devices[2].rename(tmp_path / "elsewhere")
    name = devices[0] / "sim_c0_000000.h5"
    status, _, err = run("join", name, "--to", tmp_path / "one.h5")
    assert status == 1 and "found no object 2 of this striped file" in err and not (tmp_path / "one.h5").exists()
    assert run("join", name, "--to", tmp_path / "one.h5", "--device", moved)[0] == 0
    expect(tmp_path / "one.h5", 0, array)


def test_holes_stay_holes(tmp_path):
    name = make(tmp_path, [b"", b"\1" * 5000, b""], unit=4096, first=0)
    with striped.StripedFile(name) as file:
        assert file.size == 4096 * 4 + 5000 - 4096
        assert file.read(file.size) == bytes(4096) + b"\1" * 4096 + bytes(8192) + b"\1" * 904


def test_inspect_reads_them_where_they_are(devices, run):
    write(devices)
    status, out, _ = run("inspect", devices[0])
    assert status == 0 and "sim_c0_%06T.h5" in out and "3" in out
    status, out, _ = run("inspect", devices[0] / "sim_c0_000001.h5")
    assert status == 0 and "field" in out and "in stripes of 8 KiB" in out and str(devices[2]) in out
    status, out, _ = run("inspect", devices[1])
    assert status == 0 and "objects of striped files: 3" in out and "crash" not in out
    (devices[0] / "sim_c0_000002.h5").unlink()  # object 0 alone, as a crash in the middle of a removal does
    status, out, _ = run("inspect", devices[1])
    assert status == 0 and out.count("object without a file, which a crash has left") == 1
    (content,) = json.loads(run("inspect", "--json", devices[1])[1])
    assert content["objects"] == 3 and len(content["lostObjects"]) == 1
    (devices[1] / content["lostObjects"][0]).unlink()
    status, _, err = run("inspect", next(devices[1].iterdir()))
    assert status == 1 and "found object 1 of a striped file" in err


def test_recover_publishes_and_removes_them(devices):
    arrays = write(devices)
    names = [devices[0] / f"sim_c0_{step:06d}.h5" for step in range(3)]
    part = names[1].rename(names[1].with_name(names[1].name + ".part"))
    (done,) = tailrace.recover(devices[0])
    assert (done.kind, done.done, done.file) == ("complete", True, str(part))
    with striped.StripedFile(names[1]) as file:
        expect(file, 1, arrays[1])
    part = names[2].rename(names[2].with_name(names[2].name + ".part"))
    with striped.StripedFile(part) as file:  # without its superblock it is not complete
        first, start = file.objects[file.head.first], 4096
    with open(first, "r+b") as broken:
        broken.seek(start)
        broken.write(bytes(512))
    (done,) = tailrace.recover(devices[0])
    assert (done.kind, done.done) == ("incomplete", True)
    assert sorted(path.name for path in devices[0].iterdir()) == [name.name for name in names[:2]]
    for device in devices[1:]:
        assert len(list(device.iterdir())) == 2, "the objects went with their file"


WRITER = """
import itertools, sys, numpy, tailrace
client = tailrace.open(sys.argv[1])
for step in itertools.count():
    client.write("field", step, numpy.arange(20000.0) + 1e6 * step)
    client.end_iteration(step)
    print(step, flush=True)
"""


def test_what_a_killed_writer_leaves(devices, run):
    write(devices, steps=1)
    config = devices[0].parent / "sim.yaml"
    config.write_text(config.read_text().replace("existing: refuse", "existing: replace"))
    for least in (1, 5, 20):
        with subprocess.Popen([sys.executable, "-c", WRITER, config], stdout=subprocess.PIPE, text=True) as process:
            while int(process.stdout.readline()) < least:
                pass
            process.kill()
        assert all(one.done for one in tailrace.recover(devices[0]))
        names = sorted(path.name for path in devices[0].iterdir() if not striped.is_object_name(path.name))
        assert names == [f"sim_c0_{step:06d}.h5" for step in range(len(names))]
        for step, name in enumerate(names):
            with striped.StripedFile(devices[0] / name) as file:
                expect(file, step, np.arange(20000.0) + 1e6 * step)
        for device in devices[1:]:
            (content,) = json.loads(run("inspect", "--json", device)[1])
            lost = content["lostObjects"]
            assert content["objects"] - len(lost) == len(names) and len(lost) <= 1
            for name in lost:
                (device / name).unlink()  # else the next run would add to them


def test_files_of_an_earlier_run_are_replaced_or_continued(devices):
    write(devices, steps=2)
    with pytest.raises(tailrace.Error, match="is of an earlier run"):
        write(devices)
    write(devices, steps=1, existing="replace")
    assert [path.name for path in devices[0].glob("*.h5")] == ["sim_c0_000000.h5"]
    for device in devices[1:]:
        assert len(list(device.iterdir())) == 1
    arrays = write(devices[:2], steps=2, existing="replace", unit="64 KiB")
    with striped.StripedFile(devices[0] / "sim_c0_000001.h5") as file:
        assert (file.head.count, file.head.unit) == (2, 65536)
        expect(file, 1, arrays[1])
    assert not list(devices[2].iterdir())


def test_earlier_iterations_are_read_again(devices):
    arrays = write(devices, steps=2)
    file = devices[0].parent / "sim.yaml"
    file.write_text(file.read_text().replace("existing: refuse", "existing: continue"))
    with tailrace.open(file) as client:
        np.testing.assert_array_equal(client.read("field", 1), arrays[1])


# ---- the reader alone ----


def head(*, unit, count, index, first, id="ab-1", directories):
    """Returns the bytes of a head, by the page that defines it."""
    def pack(checksum):
        names = b"".join(str(one).encode() + b"\0" for one in directories)
        return struct.pack("<8sIIQIIII40sQ4008s", b"trStripe", 1, 4096, unit, count, index, first, 0, id.encode(),
                           checksum, names)
    total = 0xcbf29ce484222325
    for byte in pack(0):
        total = (total ^ byte) * 0x100000001b3 % 2**64
    return pack(total)


def make(folder, objects, *, unit, first, id="ab-1"):
    """Makes a striped file of the contents of its objects; returns its name."""
    directories = [folder / f"d{index}" for index in range(len(objects))]
    for index, content in enumerate(objects):
        directories[index].mkdir(exist_ok=True)
        name = f"{id}.object{index}" if index else "file"
        (directories[index] / name).write_bytes(
            head(unit=unit, count=len(objects), index=index, first=first, id=id, directories=directories) + content)
    return directories[0] / "file"


def test_random_files_are_read_as_a_plain_model(tmp_path):
    dice = random.Random(4711)
    for number in range(30):
        count, unit = dice.randint(1, 5), 4096 * dice.randint(1, 3)
        first = dice.randrange(count)
        content = dice.randbytes(dice.randrange(1, 100_000))
        objects = [bytearray() for _ in range(count)]
        for at in range(0, len(content), unit):
            objects[(first + at // unit) % count] += content[at:at + unit]
        folder = tmp_path / str(number)
        folder.mkdir()
        with striped.StripedFile(make(folder, [bytes(one) for one in objects], unit=unit, first=first)) as file:
            assert file.size == len(content)
            for _ in range(20):
                at, length = dice.randrange(len(content) + 10), dice.randrange(1, 50_000)
                file.seek(at)
                assert file.read(length) == content[at:at + length]
                assert file.tell() == min(at + length, max(at, len(content)))


def test_objects_that_do_not_belong_together_are_refused(tmp_path):
    name = make(tmp_path, [b"a" * 100, b"b" * 100], unit=4096, first=0)
    other = tmp_path / "d1" / "ab-1.object1"
    whole = other.read_bytes()
    directories = [tmp_path / "d0", tmp_path / "d1"]
    fine = dict(unit=4096, count=2, index=1, first=0, id="ab-1", directories=directories)
    for change, reason in ((dict(id="cd-2"), "1 of 2 of the file cd-2, expected object 1 of 2 of the file ab-1"),
                           (dict(index=0), "object 0 of 2"), (dict(unit=8192), "object 1 of 2"),
                           (dict(first=1), "object 1 of 2")):
        other.write_bytes(head(**(fine | change)) + whole[4096:])
        with pytest.raises(striped.Malformed, match=reason):
            striped.StripedFile(name)
    other.write_bytes(b"something else")
    with pytest.raises(striped.Malformed, match="found no object"):
        striped.StripedFile(name)
    other.unlink()
    with pytest.raises(striped.Malformed, match="found no object 1 of this striped file"):
        striped.StripedFile(name)


def test_changed_heads_are_refused(tmp_path):
    name = make(tmp_path, [b"a"], unit=4096, first=0)
    whole = name.read_bytes()
    dice = random.Random(4711)
    for at in itertools.chain(range(8, 100), dice.sample(range(100, 4096), 20)):
        changed = bytearray(whole)
        changed[at] ^= dice.randint(1, 255)
        name.write_bytes(changed)
        with pytest.raises(striped.Malformed, match="begins like an object of a striped file"):
            striped.head_of(name)
    name.write_bytes(whole[:4095])
    assert striped.head_of(name) is None


def test_files_of_the_corpus_are_refused_or_read(tmp_path):
    corpus = pathlib.Path(__file__).parents[2] / "fuzz" / "corpus" / "object"
    for one in corpus.iterdir():
        name = tmp_path / one.name
        name.write_bytes(one.read_bytes()[1:])
        try:
            found = striped.head_of(name)
        except striped.Malformed:
            continue
        assert found is None or 0 <= found.index < found.count
