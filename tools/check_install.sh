#!/usr/bin/env bash
# check_install.sh: installs the library, moves the installation, and builds and runs programs against it: in C, C++,
# C++ with MPI and Fortran by CMake, in C by pkg-config, and an unchanged HDF5 program by tailrace-run.
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
test -x "$work/build/consumer_mpi" && printf 'mpi: builds\n'

export PKG_CONFIG_PATH=$installed/lib/pkgconfig
# shellcheck disable=SC2046 # the flags are words
cc "$root/examples/example.c" $(pkg-config --cflags --libs tailrace) -Wl,-rpath,"$installed/lib" \
  -o "$work/by_pkg_config"
run pkg_config "$work/by_pkg_config"

hdf5=$root/.deps/hdf5-tests
if [ -e "$hdf5/lib/libhdf5.so" ]; then
  cc "$root/tests/hdf5/programs/constants.c" -I"$root" -I"$hdf5/include" -L"$hdf5/lib" -lhdf5 -Wl,-rpath,"$hdf5/lib" \
    -o "$work/constants"
  mkdir "$work/hdf5" && cd "$work/hdf5"
  export XDG_RUNTIME_DIR=$work/hdf5
  "$installed/bin/tailrace-run" summary -- "$work/constants" "$work/hdf5" >log 2>&1 || { cat log && exit 1; }
  grep -q "tailrace: 2 writes of HDF5 data" log || { cat log && exit 1; }
  printf 'hdf5: ok\n'
else
  printf 'hdf5: left out: there is no shared HDF5\n'
fi
