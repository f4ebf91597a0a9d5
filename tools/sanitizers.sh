#!/usr/bin/env bash
# Builds everything under the sanitizers and runs all tests except the slow ones: address and undefined behaviour,
# then threads. Takes about 20 minutes on two processors; CI runs the tests with the most at stake (.ci/run).
#
#   tools/sanitizers.sh
set -euo pipefail
source "$(dirname "$0")/common.sh"
cd "$root"

tools/build_hdf5_tests.sh || say "there is no shared HDF5: random programs of HDF5 calls are skipped"
for preset in asan tsan; do
  step "configuring (preset $preset)" cmake --preset "$preset"
  step "building (build/$preset)" cmake --build --preset "$preset"
  run_ctest "$preset" -LE "tidy|slow"
done
