#!/usr/bin/env bash
# Builds a shared HDF5 once, and a program with it, and runs lab/hdf5/run.py. `make bench-hdf5` builds all else.
#
#   tools/bench_hdf5.sh [OPTION …]
set -euo pipefail
source "$(dirname "$0")/common.sh"
cd "$root"

tools/build_hdf5_tests.sh
step "configuring (preset release)" cmake --preset release
step "building hdf5_bench" cmake --build --preset release --target hdf5_bench
"$venv/bin/python" lab/hdf5/run.py "$@"
