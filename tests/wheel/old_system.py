"""Tries a wheel on an old system, in the folder that has it: `old_system.py WHEEL STAGE…`. The stages are

    package   what the package does by itself
    actions   functions in Python, which need a Python with libpython
    library   functions in C, compiled here
    mpiio     MPI programs: with the doors of the package, then with doors that are built here
    kernel    what needs later calls than Linux 4.18 has; from then on, these fail as they do there
"""

import array
import ctypes
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
BIN = HERE / "clean/bin"
TAILRACE = BIN / "tailrace"
IMPORT_LIMIT = 0.15  # seconds

H5PY = """\
import h5py, numpy
with h5py.File("plain.h5", "w") as file:
    file["x"] = numpy.arange(1000000.0)
with h5py.File("plain.h5", "r") as file:
    assert file["x"][999999] == 999999.0
"""

CONFIG = """\
tailrace: 1
name: sim
place: {{kind: {place}}}
memory: {{budget: 16 MiB}}
storage: {{path: {path}}}
layouts: {{row: {{type: float64, shape: [4096]}}}}
variables: {{u: {{layout: row}}}}
{more}
"""

# Writes an iteration for each line of input, and says so.
SERIES = """\
import sys, numpy, tailrace
with open("of-the-program", "w") as kept, tailrace.open(sys.argv[1]) as out:
    for step, _ in enumerate(sys.stdin):
        out.write("u", step, numpy.full(4096, float(step)))
        out.end_iteration(step)
        print("ended", flush=True)
"""

PYTHON_ACTION = """\
import numpy
def total(event, iteration, blocks):
    return {"total": float(numpy.sum(blocks["u"][0].data))}
"""

C_ACTION = """\
#include <tailrace/plugin.h>
TAILRACE_PLUGIN
TAILRACE_PLUGIN_EXPORT int total(const tailrace_plugin_call* call) {
  double sum = 0;
  const double* data = tailrace_plugin_block_at(call, 0)->data;
  for (int i = 0; i < 4096; ++i) sum += data[i];
  call->report(call, "total", sum);
  return 0;
}
"""

MPI_PROGRAM = """\
#include <mpi.h>
enum { N = 65536 };
int main(int argc, char** argv) {
  static double data[N];
  int rank = 0, size = 0;
  MPI_File file;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_File_open(MPI_COMM_WORLD, "rows", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
  for (int step = 0; step < 4; ++step) {
    for (int i = 0; i < N; ++i) data[i] = 1000.0 * step + rank;
    MPI_File_write_at_all(file, sizeof data * (MPI_Offset)(step * size + rank), data, N, MPI_DOUBLE,
                          MPI_STATUS_IGNORE);
  }
  MPI_File_close(&file);
  return MPI_Finalize();
}
"""


# Prints the first element of u, and the results of actions, of each iteration.
SHOW = """\
import glob, h5py
for name in sorted(glob.glob("out/*.h5")):
    for group in h5py.File(name)["data"].values():
        print(group["meshes/u"][0], *[value for key, value in group.attrs.items() if "tailraceAction" in key])
"""


def run(*command, expected=0, **options):
    """Returns what a command prints; on failure, shows it and ends."""
    done = subprocess.run([str(word) for word in command], cwd=HERE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False, **options)
    if done.returncode != expected:
        sys.exit(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout}")
    return done.stdout


def require(condition, what):
    if not condition:
        sys.exit(f"FAILED: {what}")


def configured(place="core", more=""):
    """Returns a configuration file, whose output directory is new."""
    shutil.rmtree(HERE / "out", ignore_errors=True)
    file = HERE / "sim.yaml"
    file.write_text(CONFIG.format(place=place, path=HERE / "out", more=more))
    return file


def series(config):
    """Starts the program; returns it."""
    return subprocess.Popen([BIN / "python", "-c", SERIES, config], cwd=HERE, text=True, bufsize=1,
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def step(program):
    """Has the program write an iteration."""
    program.stdin.write("\n")
    require(program.stdout.readline() == "ended\n", "the program ended an iteration")


def write_series(config, steps=3):
    program = series(config)
    for _ in range(steps):
        step(program)
    program.stdin.close()
    require(program.wait() == 0, "the program ended well")
    require(published() == steps, f"{steps} files were published, found {os.listdir(HERE / 'out')}")


def published():
    return len(list((HERE / "out").glob("*.h5")))


def shown():
    return run(BIN / "python", "-c", SHOW)


def processes(name):
    """Returns the ids of the processes that run a program of the package."""
    return [int(link.parent.name) for link in pathlib.Path("/proc").glob("[0-9]*/exe")
            if os.access(link.parent / "fd", os.R_OK) and link.exists() and link.resolve().name == name]


def check_install(wheel):
    run(sys.executable, "-m", "venv", "clean")
    run(BIN / "pip", "install", "--no-compile", wheel)
    return run(TAILRACE, "--version").strip()


def check_import():
    """Only tells the time, as the machine may be busy."""
    run(BIN / "python", "-c", "import tailrace")
    times = []
    for _ in range(5):
        lines = run(BIN / "python", "-X", "importtime", "-c", "import tailrace").splitlines()
        times.append([int(re.search(rf"(\d+) \| +{name}$", "\n".join(lines), re.MULTILINE)[1]) / 1e6
                      for name in ("tailrace", "numpy")])
    whole, numpy = min(times)
    return f"{whole:.3f} s, of which NumPy {numpy:.3f} s; on a quiet machine at most {IMPORT_LIMIT} s"


def check_demo(wheel):
    run(BIN / "pip", "install", "--no-compile", f"{wheel}[plots]")
    run(TAILRACE, "demo", "--quick", "--dir", HERE / "demo")


def check_h5py():
    (HERE / "program.py").write_text(H5PY)
    for place in ("thread", "core"):
        said = run(TAILRACE, "run", "--place", place, "--summary", "--", BIN / "python", "program.py")
        require("of HDF5 data" in said, f"tailrace carried the data in place {place}:\n{said}")


def check_recover():
    """Kills a program and its server while the data are in shared memory only; and looks at the server's files."""
    program = series(configured())
    step(program)
    [server] = processes("tailrace-core")
    files = [os.readlink(link) for link in pathlib.Path(f"/proc/{server}/fd").iterdir()]
    require(not any("of-the-program" in file or "pipe:" in file for file in files), f"the server inherited: {files}")
    os.kill(server, signal.SIGSTOP)
    step(program)
    for process in (program.pid, server):
        os.kill(process, signal.SIGKILL)
    program.wait()
    require(published() < 2, "the second file was not published")
    run(TAILRACE, "recover", HERE / "out")
    require(shown() == "0.0\n1.0\n", f"the files have their data: {shown()}")


def check_forward():
    key = HERE / "key"
    run(TAILRACE, "key", "new", key)
    (HERE / "io.yaml").write_text(f"tailrace: 1\nname: io\nmemory: {{budget: 64 MiB}}\n"
                                  f"forward: {{listen: '127.0.0.1:0', roots: ['{HERE}'], key: {key}}}\n")
    forwarder = subprocess.Popen([TAILRACE, "serve", "forward", "--config", HERE / "io.yaml"], stdout=subprocess.PIPE,
                                 text=True)
    address = forwarder.stdout.readline().split()[-1]
    for place in ("thread", "core"):
        write_series(configured(place, f"forward: {{servers: ['{address}'], key: {key}}}"))
    forwarder.terminate()
    require(forwarder.wait() == 0, "the forwarder ended well")


def check_action(action):
    write_series(configured(more=f"actions: [{{on: end_iteration, run: '{action}'}}]"))
    require(shown() == "0.0 0.0\n1.0 4096.0\n2.0 8192.0\n", f"the files have the results of {action}: {shown()}")


def check_python_action():
    (HERE / "functions.py").write_text(PYTHON_ACTION)
    check_action(f"python:{HERE}/functions.py:total")


def check_c_action():
    (HERE / "functions.c").write_text(C_ACTION)
    include = run(BIN / "python", "-c", "from tailrace import programs; print(programs.FOLDER / 'include')").strip()
    run("gcc", "-shared", "-fPIC", f"-I{include}", "functions.c", "-o", "libfunctions.so")
    check_action(f"library:{HERE}/libfunctions.so:total")


def check_mpi_program(mpi):
    """Returns the library that carried the program's data."""
    (HERE / "rows").unlink(missing_ok=True)
    launch = [f"mpiexec.{mpi}", "-n", "2", *(["--oversubscribe"] if mpi == "openmpi" else [])]
    said = run(TAILRACE, "run", "--mpiio", "--summary", "--", *launch, HERE / f"program_{mpi}")
    require(re.search(r"tailrace: .*MiB", said), f"tailrace carried the data of {mpi}:\n{said}")
    data = (HERE / "rows").read_bytes()
    rows = (array.array("d", [1000.0 * number + rank]) * 65536 for number in range(4) for rank in range(2))
    require(data == b"".join(row.tobytes() for row in rows), f"the file of {mpi} has the program's data")
    shown = run(TAILRACE, "run", "--mpiio", "--print", "--", *launch)
    return pathlib.Path(re.search(r"LD_PRELOAD=(\S+)", shown)[1]).name


def check_mpi(mpi):
    os.environ["TAILRACE_MPI"] = mpi
    (HERE / "program.c").write_text(MPI_PROGRAM)
    run(f"mpicc.{mpi}", "-std=c99", "program.c", "-o", f"program_{mpi}")
    first = check_mpi_program(mpi)
    built = run(TAILRACE, "doors", "build", "mpiio")
    second = check_mpi_program(mpi)
    require(second != first, f"the door that was built is used: {built}, then {second}")
    return f"{first}, then {second}"


def lose_later_calls():
    """Makes all calls of the kernel that Linux 4.18 does not have fail with ENOSYS, here and in what is started."""
    first, no_such_call, allowed = 424, 0x00050000 | 38, 0x7FFF0000  # of seccomp
    calls = [(0x20, 0, 0, 0), (0x35, 0, 1, first), (0x06, 0, 0, no_such_call), (0x06, 0, 0, allowed)]
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *each) for each in calls))
    described = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(calls), ctypes.addressof(program)))
    system = ctypes.CDLL(None)
    require(system.prctl(38, 1, 0, 0, 0) == 0 and system.prctl(22, 2, described, 0, 0) == 0, "calls are refused")


def main(wheel, *stages):
    checks = {
        "package": [("h5py under tailrace run", check_h5py), ("tailrace recover", check_recover),
                    ("forwarding by TLS over TCP", check_forward),
                    ("tailrace demo", lambda: check_demo(wheel))],
        "actions": [("an action in Python", check_python_action)],
        "library": [("an action in C", check_c_action)],
        "mpiio": [("MPI-IO of MPICH", lambda: check_mpi("mpich")),
                  ("MPI-IO of Open MPI", lambda: check_mpi("openmpi"))],
        "kernel": [("without later calls than Linux 4.18's", lose_later_calls),
                   ("h5py under tailrace run", check_h5py), ("tailrace recover", check_recover),
                   ("an action in Python", check_python_action)],
    }
    os.environ.update(XDG_CACHE_HOME=str(HERE / "cache"), XDG_RUNTIME_DIR=str(HERE))
    for name, check in [("installed", lambda: check_install(wheel)), ("import", check_import),
                        *(check for stage in stages for check in checks[stage])]:
        print(f"{name}: {check() or 'ok'}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
