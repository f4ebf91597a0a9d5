#!/usr/bin/env bash
# Builds, then runs every test: ctest of the preset release, and pytest on tests/python. Ends with their results,
# which are also in build/results; the whole output is in build/logs.
#
#   tools/test.sh
set -euo pipefail
source "$(dirname "$0")/common.sh"
cd "$root"

tools/build.sh
rm -f build/results
code=0
run_ctest release || code=$?
run_pytest || code=$?
exit "$code"
