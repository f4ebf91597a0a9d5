"""apps/texture: equal results for any number of ranks, with tailrace and without, and those of a plain model."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest
from tailrace import mpis
from tailrace.cli import run as run_command

TEXTURE = pathlib.Path(__file__).resolve().parents[3] / "lab/texture"
sys.path.insert(0, str(TEXTURE))

import compare  # noqa: E402
import gabor_model  # noqa: E402
import texture_rounds as rounds  # noqa: E402
import texture_ways as ways  # noqa: E402
from texture_ways import NONE, SYNCHRONOUS, Run, Way  # noqa: E402

BUILD = pathlib.Path(os.environ.get("TEXTURE_BUILD", ways.BUILD))
SIZE = ["--size", 70, "--channels", 2, "--strip", 16]  # five strips, of which the last is lower


@pytest.fixture
def built(mpi: mpis.Mpi) -> mpis.Mpi:
    """Each MPI for which the program is built."""
    if not ways.path_of_build(mpi, BUILD).is_file():
        pytest.skip(f"texture_{mpi.name} is not built: FFTW is not here")
    return mpi


def start(mpi, ranks, words, settings=None):
    environment = {**os.environ, **ways.ENVIRONMENT}
    if settings is not None:
        library = run_command.PRELOADED / f"libtailrace_mpiio_{mpi.name}.so"
        if not library.is_file():
            pytest.skip(f"{library.name} is not built")
        environment |= {"LD_PRELOAD": str(library), "TAILRACE_MPIIO": settings}
    return subprocess.run(mpi.start(ranks, ways.path_of(mpi, BUILD), *words), env=environment, capture_output=True,
                          text=True, timeout=600, check=False)


def results(mpi, ranks, file, words, settings=None):
    """Runs the program; returns its results, (channels, filters, rows, columns)."""
    done = start(mpi, ranks, [*words, "--out", file], settings)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["texture_run"] == 1 and told["ranks"] == ranks and told["bytes"] == file.stat().st_size
    described = json.loads(pathlib.Path(f"{file}.json").read_text())
    return np.fromfile(file, described["dtype"]).reshape(described["shape"])


@pytest.mark.parametrize("shares", [[], ["--blocks"]], ids=["rows", "blocks"])
def test_the_filters_are_those_of_the_plain_model(tmp_path, built, shares):
    got = results(built, 4, tmp_path / "out", [*SIZE, *shares, "--save-image", tmp_path / "image.npy"])
    image = np.load(tmp_path / "image.npy")
    assert image.shape == (2, 70, 70) and got.shape == (2, 12, 70, 70)
    for channel, plane in enumerate(image):
        for answer, (wavelength, angle) in zip(got[channel], gabor_model.bank(), strict=True):
            np.testing.assert_allclose(answer, gabor_model.texture(plane, wavelength, angle), rtol=0, atol=3e-7)


@pytest.mark.parametrize("shares", [[], ["--blocks"]], ids=["rows", "blocks"])
def test_any_number_of_ranks_has_the_same_results(tmp_path, built, shares):
    first = results(built, 1, tmp_path / "1", [*SIZE, *shares])
    for ranks in (2, 3, 4, 6):  # of six strips for six ranks one is empty; six ranks are a grid of 3 x 2
        words = [*SIZE, *shares, "--output", ("blocking", "nonblocking")[ranks % 2 == 0]]
        assert np.array_equal(first, results(built, ranks, tmp_path / str(ranks), words))


@pytest.mark.parametrize("settings", ["", "place=core"], ids=["thread", "core"])
def test_tailrace_writes_the_same_bytes(tmp_path, built, settings, runtime_directory):
    for shares in ([], ["--blocks"]):
        plain = results(built, 4, tmp_path / "plain", [*SIZE, *shares])
        for words in (["--output", "blocking"], ["--output", "nonblocking"], ["--sync-each"],
                      ["--output", "nonblocking", "--test-each"]):
            carried = results(built, 4, tmp_path / "carried", [*SIZE, *shares, *words], settings)
            assert np.array_equal(plain, carried), (shares, words)


def test_without_output_there_is_no_file(tmp_path, built):
    done = start(built, 2, [*SIZE, "--output", "none", "--out", tmp_path / "out"])
    assert done.returncode == 0, done.stderr
    seconds = json.loads(done.stdout)["seconds"]
    assert 0 < seconds["compute"] <= seconds["total"] and list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["uint8", "uint16", "float32", "float64"])
def test_images_in_npy(tmp_path, built, kind):
    largest = np.iinfo(kind).max if kind.startswith("u") else 1
    image = (np.random.default_rng(3).random((2, 21, 34)) * largest).astype(kind)
    np.save(tmp_path / "image.npy", image)
    kept = tmp_path / "kept.npy"
    got = results(built, 2, tmp_path / "out", ["--image", tmp_path / "image.npy", "--strip", 8, "--scales", 1,
                                               "--save-image", kept])
    assert got.shape == (2, 4, 21, 34)
    np.testing.assert_allclose(np.load(kept), image / largest, rtol=1e-6)


def test_images_in_ppm_and_pgm(tmp_path, built):
    pixels = np.random.default_rng(4).integers(0, 256, (9, 13, 3), np.uint8)
    (tmp_path / "a.ppm").write_bytes(b"P6\n# a comment\n13 9\n255\n" + pixels.tobytes())
    wide = pixels[..., 0].astype(">u2") * 257
    (tmp_path / "b.pgm").write_bytes(b"P5 13 9 65535\n" + wide.tobytes())
    for name, expected in (("a.ppm", np.moveaxis(pixels, -1, 0)), ("b.pgm", pixels[None, ..., 0])):
        kept = tmp_path / "kept.npy"
        results(built, 2, tmp_path / "out", ["--image", tmp_path / name, "--strip", 4, "--save-image", kept])
        np.testing.assert_allclose(np.load(kept), expected / 255, rtol=1e-6)


@pytest.mark.parametrize("content, why", [
    (b"GIF89a", "neither a .npy file nor"), (b"P6\n2 2\n255\n123", "expected 23"), (b"", "cannot be read"),
    (b"P5\n2 2\n100\n1234", "value 100"), (b"P5\n0 2\n255\n", "dimension that is 0"),
    (b"\x93NUMPY\x01\x00\xff\xffxxxxxx", "cut off")])
def test_wrong_images_are_refused(tmp_path, built, content, why):
    (tmp_path / "image").write_bytes(content)
    done = start(built, 1, ["--image", tmp_path / "image", "--out", tmp_path / "out"])
    assert done.returncode != 0 and why in done.stderr


@pytest.mark.parametrize("words", [["--output", "some"], ["--sync-each", "--output", "none"], ["--strip", 0]])
def test_wrong_usage(built, words):
    done = start(built, 2, words)
    assert done.returncode == 2 and done.stderr.count("with --help") <= 1 and done.stdout == ""


def test_a_directory_that_is_not_there(tmp_path, built):
    done = start(built, 2, [*SIZE, "--out", tmp_path / "none/out"])
    assert done.returncode != 0 and "MPI_File_open" in done.stderr


@pytest.mark.parametrize("shares", [[], ["--blocks"]], ids=["rows", "blocks"])
def test_compare(tmp_path, built, capsys, shares):
    words = [*shares, "--mpi", built.name, "--size", "64", "--channels", "1", "--rounds", "1", "--ranks", "2"]
    words += ["--tries", "1"]
    assert compare.main([*words, "--places", "thread", "--build", str(BUILD), "--dir", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "All 6 files are equal" in said and said.count("(met)") + said.count("(missed)") == 4, said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["texture.json", "texture.png", "texture_lost.png"]


def test_figures():
    carried = Way("blocking", "thread")
    runs = {NONE: [Run(2, 2, 0, 0, "")] * 2, SYNCHRONOUS: [Run(4, 2, 2, 8, "a")] * 2,
            carried: [Run(2.2, 2, 0.1, 8, "a")] * 2}
    assert rounds.lost(runs, SYNCHRONOUS) == [2, 2]
    assert rounds.ratio(runs, carried) == pytest.approx(0.1)
    assert rounds.check_files({"mpich": runs}) == 4
    with pytest.raises(rounds.Failed, match="files differ"):
        rounds.check_files({"mpich": runs, "openmpi": {NONE: [], carried: [Run(2, 2, 0, 8, "b")]}})
