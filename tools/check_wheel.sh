#!/usr/bin/env bash
# check_wheel.sh [WHEEL [PYTHON]]: installs a wheel (by default the one that tools/wheel.sh makes for the Python of
# .venv) into a new environment, with what it depends on, and tries it there, away from the source: the demonstration,
# an unchanged Python program, a program of MPI-IO with the wheel's door and with one that it builds, and programs in
# C and Fortran that CMake builds with the wheel's files; then the test-bed, with the wheel of tailrace_lab that is
# beside it.
set -euo pipefail
source "$(dirname "$0")/common.sh"
if [ $# -eq 0 ]; then
  "$root/tools/wheel.sh"
  # shellcheck disable=SC2012 # the newest
  set -- "$(ls -t "$root"/build/wheels/tailrace-*.whl | head -n 1)" "$venv/bin/python"
fi
wheel=$(realpath "$1")
python=$(realpath -s "$(command -v "${2:-python3}")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# run NAME COMMAND…: shows the output of a command only if it fails.
run() {
  local name=$1
  shift
  "$@" >"$work/log" 2>&1 || { cat "$work/log" && echo "$name: FAILED" && exit 1; }
  printf '%s: ok\n' "$name"
}

"$python" -m venv clean
run "installed, with the extra plots" clean/bin/pip install --no-compile --disable-pip-version-check "${wheel}[plots]"
tailrace=$work/clean/bin/tailrace
"$tailrace" --version

run "tailrace demo" "$tailrace" demo --quick --dir "$work/demo"
"$tailrace" bench pattern 2>log && echo "there is a laboratory already" && exit 1
grep -q "pip install --find-links FOLDER 'tailrace\[lab\]'" log || { cat log && exit 1; }
run "installed, with the extra lab" clean/bin/pip install --no-compile --disable-pip-version-check \
  --find-links "$(dirname "$wheel")" "${wheel}[lab]"
run "tailrace bench pattern" "$tailrace" bench pattern --quick --writers none,sync,tailrace-alloc --dir "$work/bench"
run "tailrace predict --measure" "$tailrace" predict --measure "$work" --bytes 1MiB --compute 1ms

cat >program.py <<'PYTHON'
import h5py
import numpy

with h5py.File("plain.h5", "w") as file:
    file["x"] = numpy.arange(1000000.0)
with h5py.File("plain.h5", "r") as file:
    assert file["x"][999999] == 999999.0
PYTHON
export XDG_RUNTIME_DIR=$work
for place in thread core; do
  run "tailrace run, place $place" "$tailrace" run --place "$place" --summary -- clean/bin/python program.py
  grep -q "of HDF5 data" log || { cat log && echo "tailrace carried nothing" && exit 1; }
done

cat >mpi_io.c <<'C'
#include <mpi.h>

int main(int argc, char** argv) {
  int rank = 0;
  MPI_File file;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_File_open(MPI_COMM_WORLD, "ranks", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
  MPI_File_write_at_all(file, rank * 4, &rank, 1, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
  return MPI_Finalize();
}
C
mpi() { "$python" "$root/python/tailrace/mpis.py" --get "$1"; }
if mpi name >/dev/null 2>&1; then
  "$(mpi cc)" mpi_io.c -o mpi_io
  export XDG_CACHE_HOME=$work/cache OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  export OMPI_MCA_rmaps_base_oversubscribe=1
  for door in packaged built; do
    rm -f ranks
    run "tailrace run --mpiio, $door door" "$tailrace" run --mpiio --summary -- "$(mpi launcher)" -n 2 ./mpi_io
    [ "$(od -An -td4 ranks | tr -s ' ')" = " 0 1" ] || { od -td4 ranks && exit 1; }
    grep -q "^tailrace: " log || { cat log && echo "tailrace carried nothing" && exit 1; }
    [ "$door" = built ] || run "tailrace doors build mpiio" "$tailrace" doors build mpiio
  done
else
  printf 'tailrace run --mpiio: left out: there is no MPI\n'
fi

folder=$("$tailrace" --cmake-dir)
run "find_package" cmake -S "$root/tests/wheel" -B build -G Ninja -Dtailrace_DIR="$folder"
run "consumers" cmake --build build
for language in c fortran; do
  mkdir "$language" && cp "$root/examples/sim.yaml" "$language"
  (cd "$language" && run "consumer in $language" "../build/consumer_$language")
  [ "$(find "$language" -name '*.h5' | wc -l)" -gt 0 ] || { echo "it wrote no file" && exit 1; }
done
