#!/usr/bin/env bash
# Fuzzes the readers of outside data: builds tests/fuzz with clang (preset fuzz, in build/fuzz) and runs each target
# for SECONDS, beginning with its kept inputs (tests/fuzz/corpus) and those of earlier runs (build/fuzz/corpus).
#
#   tools/fuzz.sh [--seed N] [SECONDS [TARGET…]]
#
# The default is 10 s per target. With --seed it tries the same inputs each time, without those of earlier runs. If a
# target fails, it prints the input's file and the command that repeats the failure.
set -euo pipefail
source "$(dirname "$0")/common.sh"
cd "$root"

seed=0 # a random one
if [ "${1:-}" = --seed ]; then
  seed=${2:-}
  [[ $seed =~ ^[1-9][0-9]*$ ]] || { say "fuzz: found '$seed', expected a seed of 1 or more" >&2; exit 2; }
  shift 2
fi
seconds=${1:-10}
[[ $seconds =~ ^[1-9][0-9]*$ ]] || { say "fuzz: found '$seconds', expected a number of seconds" >&2; exit 2; }
shift $(($# > 0))
targets=("$@")
[ $# -gt 0 ] || targets=(yaml unit object recovery directory client frames esri cube_archive cube_anchor
  cubepl damaris results)
for target in "${targets[@]}"; do
  [ -d "tests/fuzz/corpus/$target" ] || { say "fuzz: there is no target '$target' in tests/fuzz" >&2; exit 2; }
done
limits=(-timeout=5 -rss_limit_mb=1024 -max_len=4096)

# command_of TARGET: puts the command that runs it into `command`, as words.
command_of() {
  command=("build/fuzz/tests/fuzz/fuzz_$1" "${limits[@]}" -malloc_limit_mb=256)
  case $1 in
    # The HDF5 library allocates as much as a forged file requests, and copes if it gets less.
    recovery) command=(env ASAN_OPTIONS=allocator_may_return_null=1 "${command[@]}" -malloc_limit_mb=1000000
      -detect_leaks=0) ;;
    results) command=("$venv/bin/python" tests/fuzz/fuzz_results.py "${limits[@]}") ;;
  esac
}

run_target() {
  local target=$1 log=$logs/fuzz_$1.txt found=build/fuzz/corpus/$1 artifacts=build/fuzz/artifacts/$1/ kept code=0 file
  local command options=()
  [ "$seed" -eq 0 ] || { found=build/fuzz/seeded/$1 && rm -rf "$found"; }
  mkdir -p "$found" "$artifacts"
  kept=("tests/fuzz/corpus/$target")
  [ "$target" != yaml ] || kept+=(tests/config/right tests/config/wrong tests/config/several)
  [ ! -f "tests/fuzz/dictionaries/$target.dict" ] || options+=("-dict=tests/fuzz/dictionaries/$target.dict")
  command_of "$target"
  options+=("-seed=$seed" "-max_total_time=$seconds" -print_final_stats=1 "-artifact_prefix=$artifacts")
  "${command[@]}" "${options[@]}" "$found" "${kept[@]}" >"$log" 2>&1 </dev/null || code=$?
  if [ "$code" -eq 0 ]; then
    printf 'fuzz %s: %s executions, nothing found\n' "$target" \
      "$(sed -n -e 's/^stat::number_of_executed_units: *//p' -e 's/^Done \([0-9]*\) in .*/\1/p' "$log" | tail -n 1)"
    return
  fi
  tail -n 60 "$log"
  file=$(sed -n 's/.*Test unit written to //p' "$log" | tail -n 1)
  printf 'fuzz %s: FAILED (exit code %d)\n' "$target" "$code"
  [ -z "$file" ] || printf 'fuzz %s: repeat with: %s %s\n' "$target" "${command[*]#"$root"/}" "$file"
  return 1
}

has_atheris() { "$venv/bin/python" -c 'import atheris' 2>/dev/null; }

step "configuring (preset fuzz)" cmake --preset fuzz
programs=()
for target in "${targets[@]}"; do
  [ "$target" = results ] || programs+=("fuzz_$target") # that one is in Python
done
[ ${#programs[@]} -eq 0 ] || step "building (build/fuzz)" cmake --build --preset fuzz --target "${programs[@]}"
mkdir -p "$logs"
code=0
for target in "${targets[@]}"; do
  if [ "$target" = results ] && ! has_atheris; then
    say "fuzz results: skipped, .venv has no atheris (pytest tries its kept inputs)"
    continue
  fi
  run_target "$target" || code=1
done
exit "$code"
