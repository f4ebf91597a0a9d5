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

# fetch_crate VERSION: fetches the C sources of the crate `hdf5-metno-src` into $work/vendor/hdf5-metno-src/ext/hdf5.
fetch_crate() {
  cat >"$work/Cargo.toml" <<TOML
[package]
name = "fetch"
version = "0.0.0"
edition = "2021"
[lib]
path = "lib.rs"
[dependencies]
hdf5-metno-src = "=$1"
TOML
  touch "$work/lib.rs"
  (cd "$work" && cargo vendor --quiet vendor >/dev/null)
}
