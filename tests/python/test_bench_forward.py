"""`tailrace bench forward`: a real, tiny run, and UCX's program as a peer."""

import json
import os
import pathlib

import pytest
from tailrace import cli
from tailrace.bench import forward, program, ucx_peer
from tailrace.cli import forwarder

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture
def forward_bench():
    path = REPOSITORY / "build/release/bench/forward/forward_bench"
    if not path.is_file():
        pytest.skip(f"the program is not built: {path}")
    try:
        forwarder.find()
    except forwarder.Missing as missing:
        pytest.skip(str(missing))
    return path


@pytest.fixture
def peer(tmp_path, monkeypatch):
    """A ucx_perftest that answers as the real one does: messages, then times in microseconds, and rates."""
    (tmp_path / "bin").mkdir()
    file = tmp_path / "bin/ucx_perftest"
    file.write_text("#!/bin/sh\n[ $# -gt 2 ] || exit 0\n"
                    "echo \"$@\" \"$UCX_TLS\" >> \"$0.calls\"\n"
                    "echo 'Final: 1000 100.500 101.500 102.500 9756.10 9756.10 9756 9756'\n")
    file.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    return file


def test_the_peer(peer):
    assert ucx_peer.is_here()
    assert ucx_peer.seconds_of_message("ucp_am_bw", 1 << 20, 100, "tcp") == pytest.approx(102.5e-6)
    called = pathlib.Path(f"{peer}.calls").read_text().split()
    assert "ucp_am_bw" in called and str(1 << 20) in called and called[-1] == "tcp"


def test_a_peer_that_says_nothing(peer):
    peer.write_text("#!/bin/sh\necho nothing\n")
    with pytest.raises(program.Failed, match="found no result in 'nothing"):
        ucx_peer.seconds_of_message("ucp_am_lat", 4096, 100, "")


def test_the_real_study(tmp_path, capsys, forward_bench, peer):
    file = tmp_path / "result.json"
    assert cli.main(["bench", "forward", "--quick", "--dir", str(tmp_path / "out"), "--program", str(forward_bench),
                     "--json", str(file)]) == 0
    said = capsys.readouterr().out
    assert "bars kept" in said and "over TCP" in said and "UCX alone" in said
    document = json.loads(file.read_text())
    assert [bar["bar"] is not None for bar in document["bars"]].count(True) == 4
    assert all(bar["count"] == forward.QUICK.repeats and bar["least"] > 0 for bar in document["bars"])
    assert document["missing"] == [] and not (tmp_path / "out").exists()


def test_without_the_peer_that_is_said(tmp_path, capsys, monkeypatch, forward_bench):
    monkeypatch.setattr(ucx_peer, "PROGRAM", "no-such-program")
    assert cli.main(["bench", "forward", "--quick", "--dir", str(tmp_path / "out"),
                     "--program", str(forward_bench)]) == 0
    said = capsys.readouterr().out
    assert "UCX's own program: not measured: it is not installed" in said and "beside the disk" in said


def test_a_program_that_is_missing(tmp_path, capsys):
    assert cli.main(["bench", "forward", "--program", str(tmp_path / "nothing"), "--dir", str(tmp_path)]) == 1
    assert "forward_bench` is not at" in capsys.readouterr().err
