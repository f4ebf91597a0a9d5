#!/usr/bin/env bash
# Runs the benchmarks one after another, alone on the machine as far as this script can tell, and shows what they
# print: how much of the output's time is hidden (`tailrace bench pattern`), what place core costs (`tailrace bench
# core`), how evenly processes write (`tailrace bench jitter`), what merging gains (`tailrace bench small`), how fast
# a forwarder is, and how its schedulers do, with modelled (`tailrace bench forward`) and with simulated data servers;
# MPI-IO by two MPIs and carried by tailrace (`tailrace bench mpiio`); what handing over, a variable, measuring and
# merging cost, and what grows with clients and files.
#
#   lab/run.sh          the real sizes, one to two hours; results in out/bench, with a report to look at
#   lab/run.sh --tiny   runs only seconds, to check that they still work; measures nothing
set -euo pipefail
cd "$(dirname "$0")/.."

tailrace=.venv/bin/tailrace
results=out/bench
tiny=()
quick=()
pattern=(--bytes 128MiB
  --writers none,sync,sync-hdf5,tailrace-alloc,tailrace-write,tailrace-borrow,tailrace-borrow-unaligned)
case "${1:-}" in
  '') ;;
  --tiny)
    results=$(mktemp -d)
    trap 'rm -rf "$results"' EXIT
    tiny=(--tiny)
    pattern=(--quick)
    quick=(--quick)
    ;;
  *)
    sed -n '2,10p' "$0"
    exit 2
    ;;
esac
mkdir -p "$results"

printf -- '-- tailrace bench pattern\n'
"$tailrace" bench pattern "${pattern[@]}" --dir "$results/files" --json "$results/pattern.json"
printf '\n-- tailrace bench core\n'
"$tailrace" bench core "${quick[@]}" --dir "$results/files" --json "$results/core.json"
printf '\n-- tailrace bench jitter\n'
"$tailrace" bench jitter "${quick[@]}" --dir "$results/files" --json "$results/jitter.json"
printf '\n-- tailrace bench small\n'
"$tailrace" bench small "${quick[@]}" --dir "$results/files" --json "$results/small.json"
"$tailrace" report "$results/pattern.json" "$results/jitter.json" "$results/small.json" --out "$results/report.html"
printf '\n-- tailrace bench forward\n'
"$tailrace" bench forward "${quick[@]}" --dir "$results/files" --json "$results/forward.json"
printf '\n-- tailrace bench forward --schedulers\n'
"$tailrace" bench forward --schedulers "${quick[@]}" --json "$results/schedulers.json"
printf '\n-- tailrace bench mpiio\n'
if compgen -G 'build/release/lab/mpiio/mpiio_bench_*' >/dev/null; then
  "$tailrace" bench mpiio "${tiny[@]}" --dir "$results/files" --json "$results/mpiio.json" --plot "$results/mpiio.png"
else
  printf 'left out, as no program of it was built: there was no MPI\n'
fi
printf '\n-- tailrace bench cube\n'
"$tailrace" bench cube "${quick[@]}" --dir "$results/files" --json "$results/cube.json" --plot "$results/cube.png"
printf '\n-- lab/peers/cube_by_numpy.py\n'
if .venv/bin/python -c 'import pycubexr' 2>/dev/null; then
  locations=$([ ${#tiny[@]} -gt 0 ] && echo 50 || echo 50000)
  "$tailrace" cube generate "$results/numpy.cubex" --callpaths 100 --threads "$locations"
  .venv/bin/python lab/peers/cube_by_numpy.py "$results/numpy.cubex" tests/fuzz/corpus/cube_anchor/void \
    --dir "$results"
  rm "$results/numpy.cubex"
else
  printf 'left out: there is no pycubexr\n'
fi
printf '\n-- bench_handover\n'
build/release/lab/calls/bench_handover "${tiny[@]}" --dir "$results/handover"
printf '\n-- bench_variables\n'
build/release/lab/calls/bench_variables "${tiny[@]}" --dir "$results/variables"
printf '\n-- h5py, the same variables\n'
.venv/bin/python lab/calls/variables_by_h5py.py "${tiny[@]}" --dir "$results/variables"
printf '\n-- measurement_cost\n'
build/release/lab/inside/measurement_cost "${tiny[@]}"
printf '\n-- merge_cost\n'
build/release/lab/inside/merge_cost "${tiny[@]}"
printf '\n-- growth_cost\n'
build/release/lab/inside/growth_cost "${tiny[@]}"
printf '\n-- sieve_cost\n'
build/release/lab/inside/sieve_cost "${tiny[@]}" "$results"
printf '\n-- forward_study\n'
build/release/lab/inside/forward_study/forward_study "${tiny[@]}"
printf '\n17 benchmark programs ran\n'
