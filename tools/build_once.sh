# The common part of the scripts that build an HDF5 into a folder once; sourced by them.

# begin_building WHAT STAMP [--is-built] DESTINATION: ends the script if DESTINATION is complete, which the file STAMP
# in it shows, or after answering that question (with 1 if it is not). Otherwise waits for other builds there, and
# sets `destination`, `stamp`, the file to make at the end, and `work`, a folder that is removed then.
begin_building() {
  local what=$1 name=$2 only_look=
  shift 2
  [ "$1" != --is-built ] || { only_look=yes && shift; }
  destination=$(mkdir -p "$1" && cd "$1" && pwd)
  stamp=$destination/$name
  [ ! -f "$stamp" ] || exit 0
  [ -z "$only_look" ] || exit 1
  # Two may start at once (two presets, an editor): the second waits for the first and finds it complete.
  exec 9>"$destination.lock"
  flock 9
  [ ! -f "$stamp" ] || exit 0
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  # The compiler cache then sees the same commands, whatever the name of this folder. And it does not preprocess
  # first, which takes half as long as compiling.
  export CCACHE_BASEDIR=$work CCACHE_NOHASHDIR=1 CCACHE_DEPEND=1
  echo "tailrace: building $what into $destination (once) ..." >&2
}

# quietly COMMAND…: runs a command with its output in the log, which is shown if the command fails.
quietly() { "$@" >>"$work/log" 2>&1 </dev/null || { tail -n 40 "$work/log" >&2; exit 1; }; }

# recent_cmake: sets `cmake` to one of 3.26 or later, which pip fetches if only an older one is installed.
recent_cmake() {
  cmake=cmake
  ! printf '3.26\n%s\n' "$(cmake --version | sed -n 's/^cmake version //p')" | sort -CV || return 0
  python3 -m venv "$work/python"
  "$work/python/bin/pip" install --quiet --disable-pip-version-check cmake
  cmake=$work/python/bin/cmake
}

# fetch_crates NAME VERSION …: fetches crates from Cargo's registry into $work/vendor/NAME.
fetch_crates() {
  printf '[package]\nname = "fetch"\nversion = "0.0.0"\nedition = "2021"\n[lib]\npath = "lib.rs"\n[dependencies]\n' \
    >"$work/Cargo.toml"
  printf '%s = "=%s"\n' "$@" >>"$work/Cargo.toml"
  touch "$work/lib.rs"
  (cd "$work" && cargo vendor --quiet vendor >/dev/null)
}
