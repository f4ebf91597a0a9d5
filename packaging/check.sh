#!/usr/bin/env bash
# check.sh PREFIX: checks an installation of the library. Recipes call it after the build, with the compilers in CC,
# CXX and FC: it starts each installed program, builds the examples in C, C++ and Fortran, runs them, and looks for
# their files. h5dump, where there is one, reads these (examples/check.py).
set -euo pipefail
prefix=$(realpath "$1")
examples=$(realpath "$(dirname "$0")/../examples")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for program in "$prefix"/bin/tailrace-*; do "$program" --version | head -n 1; done

# example NAME COMMAND…: builds an example by a compiler, and runs it.
example() {
  local name=$1
  shift
  mkdir "$work/$name" && cp "$examples/sim.yaml" "$work/$name"
  "$@" -L"$prefix/lib" -ltailrace -Wl,-rpath,"$prefix/lib" -o "$work/$name/example"
  (cd "$work/$name" && ./example)
  [ "$(find "$work/$name/out" -name '*.h5' | wc -l)" -eq 3 ] || { echo "$name: expected three files" >&2 && exit 1; }
  if command -v h5dump python3 >/dev/null; then python3 -B "$examples/check.py" "$work/$name"; fi
  printf '%s: ok\n' "$name"
}

include=$prefix/include
example c "${CC:-cc}" "$examples/example.c" -I"$include"
example cpp "${CXX:-c++}" -std=c++20 "$examples/example.cpp" -I"$include"
[ ! -e "$prefix/lib/libtailrace_fortran.a" ] ||
  example fortran "${FC:-gfortran}" "$examples/example.f90" -I"$include/tailrace/fortran" -L"$prefix/lib" \
    -ltailrace_fortran
