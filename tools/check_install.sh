#!/usr/bin/env bash
# check_install.sh: installs the library, moves the installation, and builds and runs programs against it: in C, C++
# and Fortran, each also with MPI, by CMake, in C by pkg-config, and unchanged programs of HDF5, MPI-IO and OpenFOAM
# by tailrace-run. And it configures a project that has tailrace's source as a folder of its own.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
installed=$work/moved/here

cmake --install "$root/build/release" --component library --prefix "$work/prefix" >"$work/log"
mkdir "$work/moved" && mv "$work/prefix" "$installed"

# run NAME COMMAND…: runs it in a folder of its own, with the examples' configuration, and checks what it wrote.
run() {
  local name=$1
  shift
  mkdir "$work/$name" && cp "$root/examples/sim.yaml" "$work/$name"
  (cd "$work/$name" && "$@" >log 2>&1) || { cat "$work/$name/log" && exit 1; }
  [ "$(find "$work/$name" -name '*.h5' | wc -l)" -gt 0 ] || { echo "$name wrote no file" && exit 1; }
  printf '%s: ok\n' "$name"
}

cmake -S "$root/tests/install" -B "$work/build" -G Ninja -DCMAKE_PREFIX_PATH="$installed" >>"$work/log"
cmake --build "$work/build" >>"$work/log" || { tail -n 30 "$work/log" && exit 1; }
for language in c cpp fortran; do run "$language" "$work/build/consumer_$language"; done
for language in c cpp fortran; do test -x "$work/build/consumer_mpi_$language"; done
printf 'mpi: builds\n'
for page in tailrace tailrace-run tailrace-core tailrace-forward; do test -e "$installed/share/man/man1/$page.1"; done
version=$(sed -n 's/^project(tailrace VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")
for program in "$installed"/bin/* "$installed"/libexec/tailrace/tailrace-*; do
  "$program" --help >>"$work/log"
  said=$("$program" --version | head -n 1)
  [ "$said" = "$(basename "$program") $version" ] || { echo "$program --version: found '$said'" && exit 1; }
done

# The commands of an administrator, where there is no Python.
(
  cd "$work/c"
  admin() { PATH=/nowhere TAILRACE_RUNTIME_DIR=$work/runtime "$installed/bin/tailrace" "$@"; }
  [[ $(admin --version) == tailrace\ * ]]
  admin check sim.yaml >/dev/null
  admin check --schema | cmp - "$root/python/tailrace/schema.json"
  [[ $(admin serve --list) == "no jobs of place core on this node" ]]
  mapfile -t files < <(find "$PWD" -name '*.h5')
  admin inspect "${files[0]}" >"$work/inspect"
  admin inspect --json "$(dirname "${files[0]}")" >/dev/null
  grep -q "^iteration " "$work/inspect"
  mv "${files[0]}" "${files[0]}.part"
  [[ $(admin recover "$(dirname "${files[0]}")") == *published* && -e ${files[0]} ]]
  code=0 && admin demo >"$work/demo" 2>&1 || code=$?
  [[ $code == 1 ]]
  grep -q "pip install tailrace" "$work/demo"
)
printf 'tailrace without Python: ok\n'

"$root/packaging/check.sh" "$installed" # as recipes do

export PKG_CONFIG_PATH=$installed/lib/pkgconfig
# shellcheck disable=SC2046 # the flags are words
cc "$root/examples/example.c" $(pkg-config --cflags --libs tailrace) -Wl,-rpath,"$installed/lib" \
  -o "$work/by_pkg_config"
run pkg_config "$work/by_pkg_config"
# shellcheck disable=SC2046
gfortran "$root/examples/example.f90" -I"$installed/include/tailrace/fortran" -ltailrace_fortran \
  $(pkg-config --libs tailrace) -Wl,-rpath,"$installed/lib" -o "$work/by_pkg_config_fortran"
run pkg_config_fortran "$work/by_pkg_config_fortran"

# carried NAME COMMAND…: runs tailrace-run in a folder of its own, and checks that it carried something.
carried() {
  local name=$1
  shift
  mkdir -p "$work/$name" && cd "$work/$name"
  XDG_RUNTIME_DIR=$work "$installed/bin/tailrace-run" "$@" >log 2>&1 || { cat log && exit 1; }
  grep -qE "^tailrace: ([1-9].*write|output beside the computing)" log || {
    cat log && echo "$name: tailrace carried nothing"
    exit 1
  }
  printf '%s: ok\n' "$name"
}

hdf5=$root/.deps/hdf5-tests
if [ -e "$hdf5/lib/libhdf5.so" ]; then
  cc "$root/tests/hdf5/programs/constants.c" -I"$root" -I"$hdf5/include" -L"$hdf5/lib" -lhdf5 \
    -Wl,-rpath,"$hdf5/lib" -o "$work/constants"
  carried hdf5 --summary -- "$work/constants" "$work/hdf5"
  carried hdf5_detached --summary --close detach -- "$work/constants" "$work/hdf5_detached"
else
  printf 'hdf5: left out: there is no shared HDF5\n'
fi

for mpi in mpich openmpi; do
  program=$root/build/release/tests/mpiio/mpiio_fill_$mpi
  if [ -x "$program" ]; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    carried "mpiio_$mpi" --mpiio --summary -- "mpiexec.$mpi" -n 1 "$program" "$work/mpiio_$mpi.data" 2
  else
    printf 'mpiio_%s: left out: its program is not built\n' "$mpi"
  fi
done

tutorial=/usr/share/doc/openfoam-examples/examples/incompressible/icoFoam/cavity/cavity
if [ -e "$installed/lib/tailrace/libtailraceFoam.so" ] && [ -d "$tutorial" ]; then
  cp -r "$tutorial" "$work/openfoam" && cd "$work/openfoam"
  WM_PROJECT_DIR=/usr/share/openfoam blockMesh >blockMesh.log
  carried openfoam --openfoam --summary -- icoFoam
  test -e "$work/openfoam/0.5/U"
else
  printf 'openfoam: left out: there is no OpenFOAM, or no tutorials of it\n'
fi

cmake -S "$root/tests/install/subdirectory" -B "$work/subdirectory" -G Ninja -DTAILRACE_SOURCE="$root" \
  -DTAILRACE_DEPS="$root/.deps" >>"$work/log" 2>&1 || { tail -n 30 "$work/log" && exit 1; }
printf 'add_subdirectory: configures\n'
