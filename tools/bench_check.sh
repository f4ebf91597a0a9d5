#!/usr/bin/env bash
# Compares every ratio of a `make bench` with that of docs/figures, and names what became worse; exit code 1 then.
# Needs a `make build` before.
#
#   tools/bench_check.sh                    runs all that `make bench` runs, with results in out/bench-check
#   tools/bench_check.sh --short            some of them with fewer rounds, about ten minutes
#   tools/bench_check.sh --only NAME,…      only these (lab/run.sh)
#   tools/bench_check.sh --from DIR [--only NAME,…]     runs nothing: the results in DIR
set -euo pipefail
source "$(dirname "$0")/common.sh"
cd "$root"

from=
only=()
run=()
while [ $# -gt 0 ]; do
  case $1 in
    --short) run+=(--short) ;;
    --only) only=(--only "${2:?--only needs names}") && shift ;;
    --from) from=${2:?--from needs a folder} && shift ;;
    *)
      sed -n '2,9p' "$0"
      exit 2
      ;;
  esac
  shift
done
[ -x "$venv/bin/python" ] || { printf 'found no %s: `make build` first\n' "$venv/bin/python" >&2; exit 2; }
if [ -z "$from" ]; then
  from=out/bench-check
  rm -rf "$from" # what an earlier one has left was not measured now
  lab/run.sh --out "$from" "${run[@]}" "${only[@]}"
  only=()
fi
PYTHONPATH=lab exec "$venv/bin/python" -B -m tailrace_lab.figures.check --from "$from" "${only[@]}"
