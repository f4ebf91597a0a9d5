#!/usr/bin/env bash
# Runs the benchmarks one after another, alone on the machine as far as this script can tell, and shows what they
# print: how much of the output's time is hidden (`tailrace bench pattern`), what place core costs (`tailrace bench
# core`), how evenly processes write (`tailrace bench jitter`), what merging gains (`tailrace bench small`), how fast
# a forwarder is, and how its schedulers do, with modelled (`tailrace bench forward`) and with simulated data servers;
# MPI-IO by two MPIs and carried by tailrace (`tailrace bench mpiio`); what handing over, a variable, measuring and
# merging cost, and what grows with clients and files.
#
#   lab/run.sh          the real sizes, nearly an hour; results in out/bench, with a report and tables to look at
#   lab/run.sh --tiny   runs only seconds, to check that they still work; measures nothing
#
# `make figures FROM=out/bench` puts the results into the pages.
set -euo pipefail
cd "$(dirname "$0")/.."

tailrace=.venv/bin/tailrace
results=out/bench
tiny=()
quick=()
size=64MiB
sweep=(--sweep)
mpiio=(--collective auto --place thread)
scratch=("$(mktemp -d -p /dev/shm)")
trap 'rm -rf "${scratch[@]}"' EXIT
room=2000 # MiB of memory for files
case "${1:-}" in
  '') ;;
  --tiny)
    results=$(mktemp -d)
    scratch+=("$results")
    room=20
    tiny=(--tiny)
    quick=(--quick)
    size=1MiB
    sweep=(--ratio 0.5,1)
    mpiio=(--quick)
    ;;
  *)
    sed -n '2,12p' "$0"
    exit 2
    ;;
esac
mkdir -p "$results"

# Measures the test-bed in a directory. NAME DIR OPTION …: writes NAME.json.
pattern() {
  printf '\n-- tailrace bench pattern, %s\n' "$1"
  "$tailrace" bench pattern "${quick[@]}" --bytes "$size" --dir "$2" --json "$results/$1.json" "${@:3}"
}

pattern sweep "$results/files" "${sweep[@]}"
if (($(df --output=avail --block-size=MiB /dev/shm | tail -n 1 | tr -dc 0-9) > room)); then
  pattern memory "${scratch[0]}" --kernel spin --ratio 0.2,1,5 --repeats 3
else
  printf 'left out, as /dev/shm has no %s MiB\n' "$room"
fi
pattern ablation "$results/files" --ablation --ratio 1 --repeats 3
pattern lent "$results/files" --ratio 0.5,1 \
  --writers none,sync,tailrace-borrow,tailrace-borrow-unaligned,tailrace-write
pattern triad "$results/files" --kernel triad --compute-time 0.05s \
  --writers none,bare,tailrace-alloc,tailrace-write,tailrace-alloc-throttled
printf '\n-- tailrace bench core\n'
"$tailrace" bench core "${quick[@]}" --dir "$results/files" --json "$results/core.json"
printf '\n-- tailrace bench jitter\n'
"$tailrace" bench jitter "${quick[@]}" --dir "$results/files" --json "$results/jitter.json"
printf '\n-- tailrace bench small\n'
"$tailrace" bench small "${quick[@]}" --dir "$results/files" --json "$results/small.json"
"$tailrace" report "$results/sweep.json" "$results/ablation.json" "$results/jitter.json" "$results/small.json" \
  --out "$results/report.html"
printf '\n-- tailrace bench forward\n'
"$tailrace" bench forward "${quick[@]}" --dir "$results/files" --json "$results/forward.json"
printf '\n-- tailrace bench forward --schedulers\n'
"$tailrace" bench forward --schedulers "${quick[@]}" --json "$results/schedulers.json"
printf '\n-- tailrace bench mpiio\n'
if compgen -G 'build/release/lab/mpiio/mpiio_bench_*' >/dev/null; then
  "$tailrace" bench mpiio "${mpiio[@]}" --dir "$results/files" --json "$results/mpiio.json" \
    --plot "$results/mpiio.png"
else
  printf 'left out, as no program of it was built: there was no MPI\n'
fi
printf '\n-- tailrace bench cube\n'
"$tailrace" bench cube "${quick[@]}" --durable --dir "$results/files" --json "$results/cube.json" \
  --plot "$results/cube.png"
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
build/release/lab/calls/bench_handover "${tiny[@]}" --dir "$results/handover" --json "$results/handover.json"
printf '\n-- bench_variables\n'
build/release/lab/calls/bench_variables "${tiny[@]}" --dir "$results/variables" --json "$results/variables.json"
printf '\n-- h5py, the same variables\n'
.venv/bin/python lab/calls/variables_by_h5py.py "${tiny[@]}" --dir "$results/variables" \
  --json "$results/variables_h5py.json"
printf '\n-- measurement_cost\n'
build/release/lab/inside/measurement_cost "${tiny[@]}" --json "$results/measuring.json"
printf '\n-- merge_cost\n'
build/release/lab/inside/merge_cost "${tiny[@]}" --json "$results/merging.json"
printf '\n-- growth_cost\n'
build/release/lab/inside/growth_cost "${tiny[@]}" --json "$results/growth.json"
printf '\n-- sieve_cost\n'
build/release/lab/inside/sieve_cost "${tiny[@]}" "$results"
printf '\n-- forward_study\n'
build/release/lab/inside/forward_study/forward_study "${tiny[@]}"
printf '\n-- the tables of the pages\n'
.venv/bin/python -m tailrace_lab.figures --print --from "$results" >"$results/tables.md"
printf '%s\n' "$results/tables.md"
printf '\n17 benchmark programs ran\n'
