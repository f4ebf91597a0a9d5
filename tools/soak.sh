#!/usr/bin/env bash
# Builds the simulator and runs it from a random seed on, for MINUTES (10). Stops at the first seed that fails, and
# prints the line that repeats it.
#
#   tools/soak.sh [MINUTES]
set -euo pipefail
source "$(dirname "$0")/common.sh"
cd "$root"

minutes=${1:-10}
case $minutes in
  *[!0-9]* | "") say "soak: expected a number of minutes, found '$minutes'" && exit 2 ;;
esac
tools/setup.sh
step "configuring (preset release)" cmake --preset release
step "building simulate" cmake --build build/release --target simulate
exec build/release/testing/simulation/simulate --soak "$minutes"
