#!/usr/bin/env bash
# Writes the tables of the pages about benchmarks from docs/figures, with the Python of .venv, after `make build`.
#
#   tools/figures.sh            from the results in docs/figures
#   tools/figures.sh DIR        first copies the results in DIR there, and draws the picture of the sweep
set -euo pipefail
source "$(dirname "$0")/common.sh"
cd "$root"

export PYTHONPATH=lab
[ -x "$venv/bin/python" ] || { printf 'found no %s: `make build` first\n' "$venv/bin/python" >&2; exit 1; }
"$venv/bin/python" -B -m tailrace_lab.figures ${1:+--from "$1"}
if [ -n "${1:-}" ] && [ -f "$1/sweep.json" ]; then
  "$venv/bin/tailrace" plot "$1/sweep.json" --kind curve --out docs/images/curve.png
fi
