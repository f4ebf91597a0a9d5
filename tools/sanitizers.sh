#!/usr/bin/env bash
# Builds everything under the sanitizers and runs all tests but the slow ones: address and undefined behaviour, then
# threads. About 20 minutes on two processors; CI runs the tests in which most is at stake (.ci/run).
#
#   tools/sanitizers.sh
set -euo pipefail
source "$(dirname "$0")/common.sh"
cd "$root"

for preset in asan tsan; do
  step "configuring (preset $preset)" cmake --preset "$preset"
  step "building (build/$preset)" cmake --build --preset "$preset"
  run_ctest "$preset" -LE "tidy|slow"
done
