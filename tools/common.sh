# Sourced by the scripts in tools/ and by .ci/run: where things are, how a step is shown, and how tests are run.
#
# A step prints one line: its title and how long it took. What the command says goes to a log, which is shown whole if
# the command fails. Nothing here needs a terminal.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
venv=$root/.venv
logs=$root/build/logs
# Rust from rustup is not always on the PATH of a shell that is not a login shell.
[ -d "${HOME:-}/.cargo/bin" ] && PATH=$PATH:$HOME/.cargo/bin
# Cargo alone, where setup.sh found none or an old one.
[ -d "$root/.deps/cargo/usr/bin" ] && PATH=$root/.deps/cargo/usr/bin:$PATH
# One name for the compiler, and CMake's defaults for a launcher: HDF5, the presets and the Python package then give
# the compiler cache the same commands. (scikit-build-core would name the compiler that Python was built with.)
export CC=${CC:-cc} CXX=${CXX:-c++}
if command -v ccache >/dev/null; then
  export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
  # Where no locale is set Python sets one for what it starts: the wheel would be compiled anew. The others are what
  # precompiled headers need.
  export CCACHE_SLOPPINESS=locale,pch_defines,time_macros
fi

say() { printf 'tailrace: %s\n' "$*"; }

# step TITLE COMMAND…: runs it quietly; on failure shows its whole output and ends the script with its exit code.
# While Ninja builds, it prints the share done at each tenth of its steps.
step() {
  local title=$1 log code=0 start=$SECONDS
  shift
  mkdir -p "$logs"
  log=$logs/$(printf '%s' "$title" | tr -c 'A-Za-z0-9' '_').log
  printf 'tailrace: %s ... ' "$title"
  { "$@" 2>&1 </dev/null || code=$?; echo "$code" >"$log.code"; } | tee "$log" | progress
  code=$(cat "$log.code")
  if [ "$code" -ne 0 ]; then
    printf 'FAILED (exit code %d)\n' "$code"
    cat "$log"
    printf 'tailrace: %s failed; its output is above and in %s\n' "$title" "${log#"$root"/}"
    exit "$code"
  fi
  printf '%d s\n' $((SECONDS - start))
}

# Reads a log, in which Ninja counts its steps: [12/345].
progress() {
  local line step steps=0 next=1
  while IFS= read -r line; do
    [[ $line =~ \[([0-9]+)/([0-9]+)\]\  ]] || continue
    step=${BASH_REMATCH[1]}
    [ "${BASH_REMATCH[2]}" -eq "$steps" ] || steps=${BASH_REMATCH[2]} next=1
    [ "$steps" -ge 20 ] && [ $((step * 10)) -ge $((next * steps)) ] || continue
    next=$((step * 10 / steps + 1))
    printf '%d %% ... ' $((step * 100 / steps))
  done
}

# run_ctest PRESET [ARGUMENT…]: says of passed tests how many they are, of others everything. The line with the result
# is also added to build/results. What a sanitizer reports of any process fails it, in whichever file: the test may
# have gone on, as a server that dies of its report is replaced by another one.
run_ctest() {
  local preset=$1 code=0 line log reports
  shift
  log=$logs/ctest_$preset.txt
  rm -f "$root/build/$preset"/report.*
  # One more than there are processors: many tests wait for others' turns.
  ctest --preset "$preset" -j "$(($(nproc) + 1))" "$@" >"$log" 2>&1 </dev/null || code=$?
  # "No tests were found" is no result, and must not look like one.
  line=$(grep -E '^[0-9]+% tests passed' "$log") || { line="no tests ran" && code=1; }
  # Of a thread that ends while leaks are looked for, the sanitizer says so, and has found nothing. (A process that is
  # killed may leave a report with nothing in it; grep and find then end with 1.)
  reports=$(find "$root/build/$preset" -maxdepth 1 -name 'report.*' \
    -exec grep -lv 'Unable to get registers from thread' {} + | sort) || true
  if [ -n "$reports" ]; then
    head -n 80 $reports
    line="$line; reports of sanitizers: $(wc -w <<<"$reports")" code=1
  fi
  if [ "$code" -ne 0 ]; then
    grep -vE '^ *[0-9]+/[0-9]+ Test +#.* Passed |^ +Start +[0-9]+:' "$log" || true
  else
    grep -E '^\s*[0-9]+ - .*\(Skipped\)' "$log" | sed 's/^[[:space:]]*[0-9]* - /skipped: /' || true
  fi
  { sed -n '/^The following tests FAILED/,$s/^[[:space:]]*[0-9][0-9]* - /FAILED /p' "$log"
    printf 'ctest %s: %s\n' "$preset" "$line"; } | tee -a "$root/build/results"
  return "$code"
}

# run_pytest [ARGUMENT…]: the same for the tests in Python (pyproject.toml says where they are, and which are slow).
run_pytest() {
  local code=0 log=$logs/pytest.txt
  (cd "$root" && "$venv/bin/python" -m pytest -q -rsfE --color=no --durations=25 -n "$(($(nproc) + 1))" \
    --dist worksteal "$@" >"$log" 2>&1 </dev/null) || code=$?
  if [ "$code" -eq 0 ]; then grep '^SKIPPED' "$log" || true; else cat "$log"; fi
  { grep -E '^(FAILED|ERROR) ' "$log" || true; printf 'pytest: %s\n' "$(tail -n 1 "$log")"; } |
    tee -a "$root/build/results"
  return "$code"
}
