#!/usr/bin/env bash
# Runs random programs of MPI-IO calls with a library that is built for the address sanitizer, and compares their
# files and what they read with those of the MPI alone: sanitized.sh PROGRAM LIBRARY MPI SERVER. The sanitizers'
# reports go where ASAN_OPTIONS says, and end the program.
set -euo pipefail
program=$1 library=$2 mpi=$3 server=$4
declare -A launch=([mpich]="mpiexec.mpich -n 2"
                   [openmpi]="mpiexec.openmpi --allow-run-as-root --oversubscribe --bind-to none -n 2")
export OMPI_MCA_sharedfp=^sm OMPI_MCA_fbtl_posix_write_datasieving=0 OMPI_MCA_mpi_yield_when_idle=1
export TAILRACE_SERVER=$server
# MPIs leave memory behind.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"
export UBSAN_OPTIONS="${UBSAN_OPTIONS:+$UBSAN_OPTIONS:}halt_on_error=1"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export TAILRACE_RUNTIME_DIR=$folder/run

seed=${TAILRACE_SEED:-$RANDOM}
for settings in "" "place=core" "collective=two_phase aggregators=2"; do
  echo "TAILRACE_SEED=$seed, settings '$settings'"
  # shellcheck disable=SC2086
  plain=$(${launch[$mpi]} "$program" "$folder/plain" "$seed")
  # shellcheck disable=SC2086
  carried=$(${launch[$mpi]} env LD_PRELOAD="$(gcc -print-file-name=libasan.so) $library" TAILRACE_MPIIO="$settings" \
    "$program" "$folder/carried" "$seed")
  [ "$plain" = "$carried" ] || { echo "found '$carried', expected '$plain'"; exit 1; }
  cmp "$folder/plain" "$folder/carried"
  cmp "$folder/plain.other" "$folder/carried.other"
  rm "$folder"/{plain,carried}{,.other}
  seed=$((seed + 1))
done
