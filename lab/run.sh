#!/usr/bin/env bash
# Runs the benchmarks one after another, alone on the machine as far as this script can tell, and shows what they
# print: how much of the output's time is hidden (`tailrace bench pattern`), what place core costs (`tailrace bench
# core`), how evenly processes write (`tailrace bench jitter`), what merging gains (`tailrace bench small`), how fast
# a forwarder is, and how its schedulers do, with modelled (`tailrace bench forward`) and with simulated data servers;
# MPI-IO by two MPIs and carried by tailrace (`tailrace bench mpiio`); what handing over, a variable, measuring and
# merging cost, and what grows with clients and files.
#
#   lab/run.sh          the real sizes, more than an hour; results in out/bench, with a report and tables to look at
#   lab/run.sh --short  some of them with fewer rounds, in about ten minutes: for `make bench-check QUICK=1`
#   lab/run.sh --tiny   runs only seconds, to check that they still work, also beyond the limits of lab/limits.md;
#                       measures nothing, and ends a benchmark that hangs
#   … --only NAME,…     only these: the names of the results, and beyond, report, schedulers, numpy, sieve, study
#   … --out DIR         results there
#
# `make figures FROM=out/bench` puts the results into the pages, `make bench-check FROM=out/bench` compares them.
set -euo pipefail
cd "$(dirname "$0")/.."

tailrace=.venv/bin/tailrace
lab=build/release/lab
results=
only=
short=
seconds=180 # most for a benchmark with --tiny
limit=()
tiny=()
quick=()
size=64MiB
sweep=(--sweep)
memory=(--ratio 0.2,1,5)
lent=(--ratio 0.5,1)
core=()
small=()
busy=0,1,2,4,8
mpiio=(--collective auto --place thread)
scratch=("$(mktemp -d -p /dev/shm)")
trap 'rm -rf "${scratch[@]}"' EXIT
room=2000 # MiB of memory for files
ran=0

usage() {
  sed -n '2,18p' "$0"
  exit 2
}

while [ $# -gt 0 ]; do
  case $1 in
    --short)
      short=yes
      sweep=(--kernel spin --ratio 0.5,1,2 --repeats 3)
      memory=(--ratio 1)
      lent=(--ratio 1)
      core=(--only open,copy,calls)
      small=(--mpi none --only rows,overlap,behind)
      ;;
    --tiny)
      limit=(timeout --kill-after=10 "$seconds")
      room=20
      tiny=(--tiny)
      quick=(--quick)
      size=1MiB
      sweep=(--ratio 0.5,1)
      busy=0,1
      mpiio=(--quick)
      ;;
    --only) only=${2:-} && shift || usage ;;
    --out) results=${2:-} && shift || usage ;;
    *) usage ;;
  esac
  shift
done
if [ -z "$results" ]; then
  results=out/bench
  [ ${#tiny[@]} -eq 0 ] || { results=$(mktemp -d) && scratch+=("$results"); }
fi
[ -z "$short" ] || : "${only:=sweep,memory,lent,core,small,handover,variables,variables_h5py,measuring,growth}"
mkdir -p "$results"

wanted() { [ -z "$only" ] || [[ ,$only, == *,$1,* ]]; }

# bench NAME TITLE COMMAND…: runs a benchmark below a headline, if it is wanted.
bench() {
  local code=0
  wanted "$1" || return 0
  printf '\n-- %s\n' "$2"
  "${limit[@]}" "${@:3}" || code=$?
  [ $code -ne 124 ] || printf '%s: ended after %s s: it hangs, or this machine is slow\n' "$2" "$seconds" >&2
  ran=$((ran + 1))
  return $code
}

# left_out NAME WHY: says it, if it is wanted.
left_out() { ! wanted "$1" || printf '\n-- %s\nleft out, as %s\n' "$1" "$2"; }

# Measures the test-bed in a directory. NAME DIR OPTION …: writes NAME.json.
pattern() {
  bench "$1" "tailrace bench pattern, $1" \
    "$tailrace" bench pattern "${quick[@]}" --bytes "$size" --dir "$2" --json "$results/$1.json" "${@:3}"
}

# Measures what has a command of its own. NAME OPTION …: writes NAME.json.
experiment() {
  bench "$1" "tailrace bench $1" "$tailrace" bench "$1" "${quick[@]}" --dir "$results/files" \
    --json "$results/$1.json" "${@:2}"
}

# Processes that write in turn, more or longer than the other benchmarks have them; says nothing. OPTION ….
turns() {
  rm -rf "$results/turns"
  mkdir "$results/turns"
  bench beyond "core_bench run $*" sh -c 'exec "$@" >/dev/null' sh \
    "$lab/core/core_bench" run --dir "$results/turns" --bytes 4096 "$@"
}

pattern sweep "$results/files" "${sweep[@]}"
if (($(df --output=avail --block-size=MiB /dev/shm | tail -n 1 | tr -dc 0-9) > room)); then
  pattern memory "${scratch[0]}" --kernel spin "${memory[@]}" --repeats 3
else
  left_out memory "/dev/shm has no $room MiB"
fi
pattern ablation "$results/files" --ablation --ratio 1 --repeats 3
pattern lent "$results/files" "${lent[@]}" \
  --writers none,sync,tailrace-borrow,tailrace-borrow-unaligned,tailrace-write
pattern triad "$results/files" --kernel triad --compute-time 0.05s \
  --writers none,bare,tailrace-alloc,tailrace-write,tailrace-alloc-throttled
pattern busy "$results/files" --busy "$busy"
experiment core "${core[@]}"
experiment jitter
experiment small "${small[@]}"
reported=()
for name in sweep ablation jitter small; do
  [ ! -f "$results/$name.json" ] || reported+=("$results/$name.json")
done
[ ${#reported[@]} -eq 0 ] ||
  bench report "tailrace report" "$tailrace" report "${reported[@]}" --out "$results/report.html"
experiment forward
bench schedulers "tailrace bench forward --schedulers" \
  "$tailrace" bench forward --schedulers "${quick[@]}" --json "$results/schedulers.json"
if compgen -G "$lab/mpiio/mpiio_bench_*" >/dev/null; then
  experiment mpiio "${mpiio[@]}" --plot "$results/mpiio.png"
else
  left_out mpiio "no program of it was built: there was no MPI"
fi
experiment cube --durable --plot "$results/cube.png"
if ! .venv/bin/python -c 'import pycubexr' 2>/dev/null; then
  left_out numpy "there is no pycubexr"
elif wanted numpy; then
  "$tailrace" cube generate "$results/numpy.cubex" --callpaths 100 \
    --threads "$([ ${#tiny[@]} -gt 0 ] && echo 50 || echo 50000)"
  bench numpy "lab/peers/cube_by_numpy.py" .venv/bin/python lab/peers/cube_by_numpy.py "$results/numpy.cubex" \
    tests/fuzz/corpus/cube_anchor/void --dir "$results"
  rm "$results/numpy.cubex"
fi
bench handover bench_handover "$lab/calls/bench_handover" "${tiny[@]}" --dir "$results/handover" \
  --json "$results/handover.json"
bench variables bench_variables "$lab/calls/bench_variables" "${tiny[@]}" --dir "$results/variables" \
  --json "$results/variables.json"
bench variables_h5py "h5py, the same variables" .venv/bin/python lab/calls/variables_by_h5py.py "${tiny[@]}" \
  --dir "$results/variables" --json "$results/variables_h5py.json"
bench measuring measurement_cost "$lab/inside/measurement_cost" "${tiny[@]}" --json "$results/measuring.json"
bench merging merge_cost "$lab/inside/merge_cost" "${tiny[@]}" --json "$results/merging.json"
bench growth growth_cost "$lab/inside/growth_cost" "${tiny[@]}" --json "$results/growth.json"
bench sieve sieve_cost "$lab/inside/sieve_cost" "${tiny[@]}" "$results"
bench study forward_study "$lab/inside/forward_study/forward_study" "${tiny[@]}"
if [ ${#tiny[@]} -gt 0 ]; then # lab/limits.md says which limits these are
  turns --processes 300 --iterations 2 --file-per-node
  turns --processes 1 --iterations 5000 --budget 1024
  turns --processes 1 --iterations 5000 --budget 1024 --way thread
fi
printf '\n-- the tables of the pages\n'
.venv/bin/python -m tailrace_lab.figures --print --from "$results" >"$results/tables.md"
printf '%s\n' "$results/tables.md"
printf '\n%d benchmarks ran\n' "$ran"
