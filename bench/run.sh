#!/usr/bin/env bash
# Runs the benchmark programs (build/release/bench/bench_*) one after another, alone on the machine as far as this
# script can tell, and shows what they print.
#
#   bench/run.sh          the real sizes
#   bench/run.sh --tiny   seconds only: shows that they still run, measures nothing
set -euo pipefail
cd "$(dirname "$0")/.."

shopt -s nullglob
ran=0
for program in build/release/bench/bench_*; do
  [ -f "$program" ] && [ -x "$program" ] || continue
  printf '\n-- %s\n' "${program##*/}"
  "$program" "$@"
  ran=$((ran + 1))
done
printf '\n%d benchmark programs ran\n' "$ran"
