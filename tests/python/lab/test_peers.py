"""The parts of lab/peers that need no installation: the tests' own h5py, and a `pattern` that only computes."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import stat
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from tailrace import mpis
from tailrace_lab.bench import installs, result

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
PEERS = REPOSITORY / "lab/peers"
PROGRAMS = PEERS / "programs"
for folder in (PEERS, PROGRAMS):
    sys.path.insert(0, str(folder))

import peer  # noqa: E402
import rows  # noqa: E402
import run as bench_peers  # noqa: E402
import table  # noqa: E402
import user_code  # noqa: E402

# The interface of the pattern's kernels in C, without the work.
LIBRARY = r"""
#include <stdint.h>
static double passes;
void* pattern_compute_new(const char* kernel, int threads, const char* memory) {
  return kernel[0] == 'b' && threads > 0 && memory ? &passes : 0;
}
void pattern_compute_run(void* worker, uint64_t n) {
  for (volatile uint64_t i = 0; i < 1000 * n; ++i) continue;
  *(double*)worker += (double)n;
}
double pattern_compute_result(void* worker) { return *(double*)worker; }
void pattern_compute_free(void* worker) { (void)worker; }
"""

# A peer in C that needs no library; with --compute broken it writes nothing after the first block.
PLAIN_C = r"""
#include <stdio.h>
#include "peer.h"
static FILE* file;
static char* buffer;
static uint64_t bytes;
static int limit;
static void open_file(const peer_settings* settings, const char* name) {
  file = fopen(name, "wb");
  bytes = settings->bytes;
  limit = settings->compute[1] == 'r' ? 1 : settings->iterations;
  buffer = peer_buffer(bytes);
}
static char* block(int iteration) { (void)iteration; return buffer; }
static void put(int iteration) {
  if (iteration < limit && fwrite(buffer, 1, bytes, file) != bytes) peer_fail("fwrite", "short");
}
static void finish(void) { fclose(file); }
static const char* describe(void) { return "plain"; }
int main(int argc, char** argv) {
  const peer_writer writer = {"plain", "synced", 1, open_file, block, put, finish, describe};
  return peer_main(argc, argv, &writer);
}
"""

# A `pattern` that answers as the real one does, with the loop of the Python peers; `sync` writes a file.
PATTERN = """\
#!{python} -B
import json, pathlib, sys
sys.path.insert(0, {programs!r})
import numpy as np
import peer

what, words = sys.argv[1], sys.argv[2:]
if what == "calibrate":
    print(json.dumps({{"pattern_calibrate": 1, "passes": 10, "seconds_per_pass": 1e-6}}))
    sys.exit()
if what == "measure":
    samples = [[n, 1e-4 + 1e-3 * n] for n in range(1, 1 + int(words[words.index("--count") + 1]))]
    print(json.dumps({{"pattern_measure": 1, "what": words[0], "bytes": 1, "samples": samples}}))
    sys.exit()


class Writer:
    page_cache, switches = "synced", {{}}

    def __init__(self, arguments):
        self.name = arguments.write

    def describe(self):
        return "a fake"

    def open(self, directory, block):
        self.directory, self.block = directory, block

    def put(self, iteration):
        if self.name == "posix-aio":
            raise OSError("no asynchronous I/O today")
        if self.name != "none":
            self.block.tofile(self.directory / f"peer_{{iteration}}")

    def finish(self):
        pass


def switches(parser):
    parser.add_argument("--write")
    parser.add_argument("--verb")


sys.argv = [sys.argv[0], "--library", {library!r}, *words]
sys.exit(peer.main(Writer, switches))
"""


@pytest.fixture
def pattern(tmp_path: pathlib.Path) -> pathlib.Path:
    """A directory with a fake `pattern` and its library."""
    folder = tmp_path / "pattern"
    folder.mkdir()
    source, library, program = folder / "fake.c", folder / "libpattern_compute.so", folder / "pattern"
    source.write_text(LIBRARY)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    program.write_text(PATTERN.format(python=sys.executable, programs=str(PROGRAMS), library=str(library)))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return program


def run_peer(script: str, pattern: pathlib.Path, directory: pathlib.Path,
             *more: str) -> subprocess.CompletedProcess[str]:
    """Runs a peer's program with the tests' own Python."""
    library = pattern.with_name("libpattern_compute.so")
    return subprocess.run([sys.executable, "-B", PROGRAMS / script, "--library", library, "--dir", directory,
                           "--iterations", "3", "--bytes", "80008", "--passes", "5", *more],
                          capture_output=True, text=True, timeout=600)


def test_h5py_writes_all_and_reports(pattern: pathlib.Path, out: pathlib.Path) -> None:
    (out / "of_the_user").touch()
    done = run_peer("h5py_plain.py", pattern, out, "--verify")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["pattern_run"] == 1 and report["writer"] == "h5py" and report["verified"]
    assert len(report["seconds_waiting_each"]) == len(report["seconds_computing_each"]) == 3
    assert report["seconds_total"] >= report["seconds_computing"] + report["seconds_waiting"] > 0
    assert report["peak_memory_bytes"] > report["runtime_memory_bytes"] > 0
    assert [path.name for path in out.iterdir()] == ["of_the_user"]  # its own files are gone, and no others


@pytest.mark.parametrize(("more", "code", "said"), [
    (["--compute", "unknown"], 1, "has no kernel unknown"),
    (["--iterations", "0"], 2, "found 0, expected 1 or more"),
    (["--bytes", "1001"], 2, "expected a multiple of 8"),
    (["--variables", "2"], 2, "--variables"),
])
def test_a_peer_refuses_what_it_cannot_do(pattern: pathlib.Path, out: pathlib.Path, more: list[str], code: int,
                                          said: str) -> None:
    done = run_peer("h5py_plain.py", pattern, out, *more)
    assert done.returncode == code
    assert said in done.stderr and "Traceback" not in done.stderr and not done.stdout


def test_adios2_writes_all(pattern: pathlib.Path, out: pathlib.Path) -> None:
    pytest.importorskip("adios2", reason="adios2 is not installed here: bench-peers installs it for a while")
    for asynchronous in ("on", "off"):
        done = run_peer("adios2_bp5.py", pattern, out, "--verify", "--asynchronous", asynchronous)
        assert done.returncode == 0, done.stderr


def test_the_loop_in_c(pattern: pathlib.Path, out: pathlib.Path, tmp_path: pathlib.Path) -> None:
    source, program = tmp_path / "plain.c", tmp_path / "plain"
    source.write_text(PLAIN_C)
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", f"-I{PROGRAMS}"]
    subprocess.run(["cc", *flags, source, PROGRAMS / "peer.c", "-o", program, "-ldl"], check=True)
    shared = [program, "--library", pattern.with_name("libpattern_compute.so"), "--dir", out, "--passes", "5"]

    def call(*more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*shared, *more], capture_output=True, text=True, timeout=600)

    done = call("--iterations", "3", "--bytes", "80008", "--verify")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    in_python = json.loads(run_peer("h5py_plain.py", pattern, out).stdout)
    assert report.keys() == in_python.keys()
    assert report["result_hash"] == in_python["result_hash"] and report["verified"]
    assert list(out.iterdir()) == []
    for more, code, said in ((["--compute", "broken", "--verify"], 1, "is too short"),
                             (["--compute", "unknown"], 1, "has no such kernel"), (["--bytes", "5"], 2, "found 5"),
                             (["--variables", "2"], 2, "found 2"), (["--passes", "-1"], 2, "found -1"),
                             (["more"], 2, "expected --library")):
        done = call(*more)
        assert (done.returncode, done.stdout) == (code, ""), more
        assert said in done.stderr, more


def test_mpi_writes_all(mpi: mpis.Mpi, pattern: pathlib.Path, out: pathlib.Path, tmp_path: pathlib.Path) -> None:
    program = tmp_path / "mpi_iwrite"
    subprocess.run([mpi.cc, "-std=c11", PROGRAMS / "mpi_iwrite.c", PROGRAMS / "peer.c", "-o", program, "-ldl"],
                   check=True)
    done = subprocess.run([program, "--library", pattern.with_name("libpattern_compute.so"), "--dir", out, "--bytes",
                           "80008", "--passes", "5", "--verify"], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["verified"]


def test_verify_finds_an_old_block_and_a_wrong_byte() -> None:
    blocks = []
    for iteration, value in enumerate([1.5, 2.5, 3.5]):
        block: peer.Block = np.empty(5000, dtype=np.uint8)
        peer.fill(block)
        peer.stamp(block, iteration, value)
        blocks.append(block)
    peer.verify(lambda iteration: blocks[iteration], 5000, [1.5, 2.5, 3.5])
    with pytest.raises(ValueError, match="iteration 1, byte 0"):
        peer.verify(lambda iteration: blocks[0], 5000, [1.5, 2.5, 3.5])
    blocks[2][4321] += 1
    with pytest.raises(ValueError, match="iteration 2, byte 4321.*1 byte differs"):
        peer.verify(lambda iteration: blocks[iteration], 5000, [1.5, 2.5, 3.5])


@pytest.fixture
def without_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing can be installed, but the tests' own h5py is available."""

    def python(self: installs.Environment, package: str) -> pathlib.Path:
        if package != "h5py":
            raise installs.Unavailable("no registry")
        return pathlib.Path(sys.executable)

    def mpi(self: installs.Environment, package: str) -> pathlib.Path:
        raise installs.Unavailable("no registry")

    monkeypatch.setattr(installs.Environment, "python", python)
    monkeypatch.setattr(installs.Environment, "_mpi", mpi)


def test_all_rows_are_there_even_if_they_fail(pattern: pathlib.Path, out: pathlib.Path, tmp_path: pathlib.Path,
                                              without_registry: None, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "peers.json"
    code = bench_peers.main(["--quick", "--pattern", str(pattern), "--dir", str(out), "--json", str(file)])
    said = capsys.readouterr()
    assert code == 0, said.err
    found = result.load(file)
    assert found.kind == "peers"
    (point,) = found.points
    series: dict[str, Any] = point["series"]
    assert list(series) == [row.title for row in rows.ROWS if not row.extra]
    failed = {title for title, one in series.items() if one.get("error")}
    assert failed == {"posix-aio", "adios2 sync", "adios2 async", "openmpi", "mpich"}
    assert "no asynchronous I/O today" in series["posix-aio"]["error"]
    assert series["h5py"]["user_lines"] == 2 and series["h5py"]["summary"]["to_limit"]["median"] > 0
    assert said.out == table.markdown(found)
    assert "| mpich | could not run: cannot be installed: no registry |" in said.out
    assert list(out.iterdir()) == []


def test_verify_alone_measures_nothing(pattern: pathlib.Path, out: pathlib.Path, without_registry: None,
                                       capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--verify", "--pattern", str(pattern), "--dir", str(out)]
    assert bench_peers.main([*words, "--rows", "h5py,aio-buffers,aio-direct,tailrace-alloc"]) == 0
    assert capsys.readouterr().out == ("none: fine\nsync: fine\naio buffers: fine\naio direct: fine\nh5py: fine\n"
                                       "tailrace alloc: fine\n")
    assert bench_peers.main([*words, "--rows", "mpich"]) == 1
    assert "mpich: cannot be installed: no registry" in capsys.readouterr().out


@pytest.mark.parametrize(("words", "said"), [
    (["--rows", "netcdf"], "found 'netcdf', expected none, sync"),
    (["--bytes", "64"], "with a unit"),
    (["--bytes", "1000B"], "expected a multiple of 4 KiB"),
    (["--ratio", "0"], "expected numbers above 0"),
    (["--repeats", "0"], "--repeats: found 0"),
])
def test_wrong_usage(words: list[str], said: str, pattern: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        bench_peers.main(["--pattern", str(pattern), *words])
    assert stopped.value.code == 2
    assert said in capsys.readouterr().err


def test_lines_of_user_code(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "a.c"
    file.write_text("int a;\n// user code begin\nint b;\n\n  // why\n  }\nint c;  // d\n/* user code end */\nint e;")
    assert user_code.count([file, file]) == 4
    assert user_code.count([]) == 0
    for text, said in (("x\n", "no marks"), ("# user code begin\n", "no end"),
                       ("# user code end\n", "second 'end'"), ("# user code begin\n# user code begin\n", "'begin'")):
        file.write_text(text)
        with pytest.raises(user_code.MarkError, match=said):
            user_code.count([file])
    for row in rows.ROWS:
        assert (user_code.count(row.user_code) > 0) == (row.title != "none")


def test_user_code_in_c_compiles() -> None:
    hdf5 = REPOSITORY / ".deps/hdf5/include"
    for source in sorted((PEERS / "user_code").glob("*.c")):
        subprocess.run(["cc", "-std=c11", "-fsyntax-only", "-Wall", "-Wextra", "-Werror",
                        f"-I{REPOSITORY / 'include'}", f"-I{hdf5}", source], check=True)


def test_tailraces_user_configuration_is_valid(tmp_path: pathlib.Path) -> None:
    import tailrace

    (tmp_path / "out").mkdir()
    shutil.copy(PEERS / "user_code/tailrace.yaml", tmp_path)
    before = pathlib.Path.cwd()
    os.chdir(tmp_path)
    try:
        tailrace.check("tailrace.yaml")
    finally:
        os.chdir(before)


def test_verdict_names_where_we_are_behind() -> None:
    def series(total: float, waiting: float) -> dict[str, Any]:
        return {"writer": "x", "summary": {"total": {"median": total}, "waiting": {"median": waiting}}}

    points = [{"c_over_w_asked": 0.5, "series": {"none": series(0.1, 0), "tailrace alloc": series(2, 0.5),
                                                 "h5py": series(3, 0.4), "mpich": {"writer": "m", "error": "no"}}}]
    total, waiting = table.verdict(result.Result({"points": points}))
    assert total == "- total time: `tailrace alloc` is ahead of all others in all 1 comparisons."
    assert waiting == "- waiting: `tailrace alloc` is not ahead of h5py at C/W 0.5 (0.400 s against 0.500 s)."
