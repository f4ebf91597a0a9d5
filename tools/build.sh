#!/usr/bin/env bash
# Builds everything that users run: the libraries, tests, applications and benchmarks (preset release, in
# build/release) and the Python package with the command line, installed into .venv. Repeats only what has changed.
#
#   tools/build.sh
set -euo pipefail
source "$(dirname "$0")/common.sh"
cd "$root"

# scikit-build-core configures a build folder of its own (build/python): it passes other variables to CMake than the
# preset, and sharing one folder would make each of the two reconfigure the other's. The compiler cache sees the same
# commands in both, so that nothing is compiled twice.
python_package() {
  "$venv/bin/pip" install --disable-pip-version-check --no-build-isolation --no-deps --force-reinstall . || return
  touch build/python.stamp
}

# What the package is made from; a change of any of these, or a fresh .venv, installs it again.
python_package_is_current() {
  [ -x "$venv/bin/tailrace" ] && [ -f build/python.stamp ] &&
    [ -z "$(find pyproject.toml CMakeLists.txt cmake python bindings src include README.md \
      -newer build/python.stamp -not -name '*.pyc' -not -name __pycache__ -print -quit 2>/dev/null)" ]
}

tools/setup.sh
source tools/common.sh # again: ccache may have come just now
mpi=$(python3 -B python/tailrace/bench/mpis.py)
say "$mpi"
step "configuring (preset release)" cmake --preset release
step "building (build/release)" cmake --build --preset release
if [ ! -f pyproject.toml ]; then
  say "no pyproject.toml: the Python package is left out"
elif python_package_is_current; then
  say "Python package in .venv is up to date"
else
  step "installing the Python package into .venv" python_package
fi
