#!/usr/bin/env bash
# Builds what users run: the libraries, applications and benchmarks (preset release, in build/release) and the Python
# packages, tailrace with the command line and tailrace_lab, installed into .venv; and the tests. Repeats only what
# has changed.
#
#   tools/build.sh          all of that
#   tools/build.sh demo     the package tailrace alone, without Cube and Damaris: for `make demo`
set -euo pipefail
source "$(dirname "$0")/common.sh"
cd "$root"

# scikit-build-core configures a build folder of its own (build/python): it passes other variables to CMake than the
# preset, and sharing one folder would make each of the two reconfigure the other's. The compiler cache sees the same
# commands in both, so that nothing is compiled twice.
python_package() {
  install_from . "$@" || return
  { doors && printf '%s\n' "$@"; } >build/python.stamp
}

# From the same build folder.
lab_package() {
  install_from ./lab || return
  touch build/lab.stamp
}

# -v, so that the steps of the build are seen.
install_from() {
  "$venv/bin/pip" install -v --disable-pip-version-check --no-build-isolation --no-deps --force-reinstall "$@"
}

# The MPIs and the OpenFOAM of this machine, for each of which the package has a library.
doors() {
  python3 -B python/tailrace/mpis.py || true
  (cd .deps && echo openfoam-headers/complete*) 2>/dev/null || true
}

# What the package is made from; a change of any of these, or a fresh .venv, installs it again. With options, one
# without them will do, too.
python_package_is_current() {
  [ -x "$venv/bin/tailrace" ] && [ -f build/python.stamp ] &&
    { [ "$(cat build/python.stamp)" = "$(doors)" ] ||
      [ "$(cat build/python.stamp)" = "$(doors && printf '%s\n' "$@")" ]; } &&
    [ -z "$(find pyproject.toml CMakeLists.txt cmake python bindings src include apps/tsunami apps/cube README.md \
      -newer build/python.stamp -not -name '*.pyc' -not -name __pycache__ -print -quit 2>/dev/null)" ]
}

lab_package_is_current() {
  [ -f build/lab.stamp ] && "$venv/bin/python" -c 'import tailrace_lab' 2>/dev/null &&
    [ -z "$(find lab include cmake build/python.stamp -newer build/lab.stamp -not -name '*.pyc' \
      -not -name __pycache__ -print -quit 2>/dev/null)" ]
}

install_lab_package() {
  if lab_package_is_current; then
    say "tailrace_lab in .venv is up to date"
  else
    step "installing tailrace_lab into .venv" lab_package
  fi
}

install_python_package() {
  if [ ! -f pyproject.toml ]; then
    say "no pyproject.toml: the Python package is left out"
  elif python_package_is_current "$@"; then
    say "Python package in .venv is up to date"
  else
    step "building the Python package and installing it into .venv" python_package "$@"
  fi
}

# The package has all that the demonstration needs, so nothing else is built. A solver of build/release, which the
# demonstration prefers, is brought up to date.
build_for_demo() {
  install_python_package --config-settings=cmake.define.TAILRACE_CUBE=OFF \
    --config-settings=cmake.define.TAILRACE_DAMARIS=OFF --config-settings=cmake.define.TSUNAMI_NATIVE=ON
  [ ! -e build/release/apps/tsunami/tsunami ] ||
    step "building the tsunami (build/release)" cmake --build --preset release --target tsunami
}

build_all() {
  local mpi
  mpi=$(python3 -B python/tailrace/mpis.py)
  say "$mpi"
  step "configuring (preset release)" cmake --preset release
  step "building (build/release)" cmake --build --preset release
  install_python_package
  install_lab_package
}

case ${1:-} in
  '') build=build_all ;;
  demo) build=build_for_demo ;;
  *)
    say "build.sh: expected nothing or demo, found $1" >&2
    exit 2
    ;;
esac
tools/setup.sh "$@"
source tools/common.sh # again: ccache may have come just now
$build
