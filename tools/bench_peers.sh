#!/usr/bin/env bash
# Runs tailrace and its peers side by side (lab/peers/run.py) with the Python of .venv, after a build. The peers are
# installed from the package registry into a temporary environment, which is removed at the end.
#
#   tools/bench_peers.sh                the real sizes: some minutes, and 1.5 GiB of the disk
#   tools/bench_peers.sh --quick        shows that it works, measures nothing
#   tools/bench_peers.sh --help         all options
set -euo pipefail
source "$(dirname "$0")/common.sh"
cd "$root"

exec "$venv/bin/python" -B lab/peers/run.py "$@"
