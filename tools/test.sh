#!/usr/bin/env bash
# Builds, then runs the tests: ctest of the preset release, and pytest. Prints their results at the end, and writes
# them to build/results; the whole output is in build/logs.
#
#   tools/test.sh        all that are not slow
#   tools/test.sh slow   the slow ones, which are marked so in tests/hdf5, tests/openfoam and tests/python
set -euo pipefail
source "$(dirname "$0")/common.sh"
cd "$root"

tools/setup.sh
source tools/common.sh # again: ccache may have been installed just now
tools/build_hdf5_tests.sh || say "there is no HDF5 with tests of its own: those that need it are skipped"
tools/build_mpich_tests.sh || say "there are no tests of MPICH itself: those of MPI-IO are skipped"
tools/build.sh
rm -f build/results
code=0
if [ "${1:-}" = slow ]; then
  run_pytest -m slow
  exit
fi
run_ctest release || code=$?
run_pytest || code=$?
exit "$code"
