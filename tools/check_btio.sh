#!/usr/bin/env bash
# Runs NAS BT-I/O (NPB 3.3.1, BT of subtype "full": Fortran, collective writes with derived datatypes) by hand, for
# each MPI of this machine: plain, and with the installed library that carries MPI-IO, in each way. Compares the
# output files byte by byte, and looks at the program's own verification, which reads the file back.
#
#   tools/check_btio.sh DIRECTORY [CLASS [INTERVAL]]
#
# DIRECTORY is NPB3.3-MPI, as unpacked; it is copied, and not changed. CLASS is S (by default), W or A, each about ten
# times the work of the one before. With INTERVAL, the program also reads back during the run, after that many
# writes, and then writes over what it has read; and it gives hints for collective writes (two aggregators, 64 KiB).
#
# Prints a table with the times that the program measures, and how many processes handed data to tailrace: with
# aggregators, only these do. Exit code 1: a run failed, was wrong, or was not carried.
# Needs make, a Fortran compiler for each MPI, and tailrace in .venv; class S takes half a minute on two cores.
# The files lie in TMPDIR meanwhile.
set -euo pipefail
source "$(dirname "$0")/common.sh"

ranks=4
limit=300 # seconds for one run
ways=(plain thread individual core two_phase "core two_phase" static dynamic)
declare -A settings=(
  [thread]="summary"
  [individual]="collective=individual summary"
  [core]="place=core summary"
  [two_phase]="collective=two_phase aggregators=2 summary"
  ["core two_phase"]="place=core collective=two_phase aggregators=2 summary"
  [static]="collective=static aggregators=2 summary"
  [dynamic]="collective=dynamic aggregators=2 summary"
)

npb=${1:-} class=${2:-S} interval=${3:-0}
if [ ! -f "$npb/BT/full_mpiio.f" ]; then
  say "check_btio: expected a directory with BT/full_mpiio.f, found '$npb'"
  exit 2
fi
npb=$(cd "$npb" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TAILRACE_RUNTIME_DIR=$work/run
# For Debian's Open MPI 4.1.4: see tests/python/mpiio/test_mpiio.py.
export OMPI_MCA_sharedfp=^sm OMPI_MCA_fbtl_posix_write_datasieving=0 OMPI_MCA_mpi_yield_when_idle=1

# build MPI CC: makes the program in $work/MPI.
build() {
  cp -r "$npb" "$work/$1" && mkdir -p "$work/$1/bin"
  local fortran=${2/mpicc/mpif90}
  printf '%s\n' "MPIF77 = $fortran" "FLINK = $fortran" 'FFLAGS = -O2 -w -std=legacy' "MPICC = $2" "CLINK = $2" \
    'CC = cc -w' 'BINDIR = ../bin' 'RAND = randi8' >"$work/$1/config/make.def"
  step "building BT-I/O of class $class with $1" \
    make -C "$work/$1" bt "CLASS=$class" "NPROCS=$ranks" SUBTYPE=full
}

# compiled MPI NAME: prints a number that the program was compiled with.
compiled() { sed -nE "s/.*[( ]$2 *= *([0-9.d-]+).*/\1/p" "$work/$1/BT/npbparams.h" | head -n 1; }

# write_input MPI: writes the program's input: the values of the class, and the interval.
write_input() {
  local size
  size=$(compiled "$1" problem_size)
  printf '%s\n' "$(compiled "$1" niter_default)" "$(compiled "$1" dt_default)" "$size $size $size" \
    "$(compiled "$1" wr_default) $interval" '2 65536' >inputbt.data
}

# run MPI WAY LAUNCHER…: runs the program in an own directory, with its output in `log` and messages in `said`.
run() {
  local mpi=$1 way=$2 preload=()
  shift 2
  [ "$mpi" != mpich ] || preload=("$work/yield.so") # see its source
  [ "$way" = plain ] || preload+=("$preloaded/libtailrace_mpiio_$mpi.so")
  mkdir "$work/$mpi $way" && cd "$work/$mpi $way"
  [ "$interval" = 0 ] || write_input "$mpi"
  LD_PRELOAD=$(IFS=: && echo "${preload[*]}") TAILRACE_MPIIO=${settings[$way]:-} \
    timeout "$limit" "$@" -n "$ranks" "$work/$mpi/bin/bt.$class.$ranks.mpi_io_full" >log 2>said </dev/null
}

# number TEXT: prints what the program says after it.
number() { sed -nE "s/^ *$1 *[=:] *([0-9.]+).*/\1/p" log; }

# judge MPI WAY: prints a line of the table; fails if something is wrong.
judge() {
  local carriers file=same verified=no wrong=0
  cd "$work/$1 $2"
  carriers=$(grep -c 'writes of MPI-IO data' said || true)
  grep -q 'Verification Successful' log && verified=yes || wrong=1
  cmp -s btio.full.out "$work/$reference plain/btio.full.out" || { file=DIFFERENT && wrong=1; }
  [ "$2" = plain ] || [ "$carriers" -gt 0 ] || wrong=1
  printf '%-8s %-15s %8s %9s %10s %9s %9s %6s\n' "$1" "$2" "$carriers" "$verified" "$file" \
    "$(number 'I\/O timing in seconds')" "$(number 'Time in seconds')" "$(number 'Total data written \(MB\)')"
  return "$wrong"
}

preloaded=$("$venv/bin/python" -c 'from tailrace.cli import run; print(run.PRELOADED)')
cc -shared -fPIC -O1 "$root/tests/hdf5/programs/yield.c" -o "$work/yield.so"
mapfile -t mpis < <(python3 -B "$root/python/tailrace/mpis.py" --json | python3 -c '
import json, sys
for mpi in json.load(sys.stdin)["mpis"]:
    print(mpi["name"], mpi["cc"], mpi["launcher"], *mpi["arguments"])')
for mpi in "${mpis[@]}"; do
  read -r name cc _ <<<"$mpi"
  build "$name" "$cc"
done
printf '%-8s %-15s %8s %9s %10s %9s %9s %6s\n' MPI way carriers verified file 'I/O (s)' 'all (s)' MB
result=0 reference= # all MPIs must write the file of the first one
for mpi in "${mpis[@]}"; do
  read -r name _ launcher <<<"$mpi"
  reference=${reference:-$name}
  for way in "${ways[@]}"; do
    code=0
    (run "$name" "$way" $launcher) || code=$?
    [ "$code" = 0 ] || { say "$name, $way: exit code $code" && tail -n 20 "$work/$name $way/"{log,said} && result=1; }
    (judge "$name" "$way") || result=1
    [ "$way $name" = "plain $reference" ] || rm -f "$work/$name $way/btio.full.out"
  done
done
exit "$result"
