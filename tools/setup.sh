#!/usr/bin/env bash
# Installs what tailrace needs to be built, run and tested, where it is missing: Debian packages (packages.txt), HDF5
# from source and OpenFOAM's headers into .deps, and a Python environment in .venv (python-packages.txt). Says what it
# does; does nothing, quickly, when nothing is to do. Removes or upgrades nothing.
#
# TAILRACE_HDF5_SOURCE names HDF5's source, a directory or an archive, where Cargo cannot fetch it. Where packages
# come from elsewhere (modules, Spack, Conda), TAILRACE_PACKAGES=elsewhere leaves Debian's alone.
#
#   tools/setup.sh          what building and testing need
#   tools/setup.sh demo     of that, what is not marked tests: what `make demo` builds and runs
#   tools/setup.sh bench    only what benchmarks need beside all that (bench-packages.txt); `make bench` calls it
set -euo pipefail
source "$(dirname "$0")/common.sh"

# names_in LIST [MARK]: the packages in tools/LIST, without those that are marked so.
names_in() { sed -e "${2:+/#.*$2/d}" -e 's/#.*//' -e 's/[[:space:]]*$//' -e '/^$/d' "$root/tools/$1"; }

# From 1.68 on Cargo asks its registry for single entries; before, it clones the whole index from another place.
have_new_cargo() {
  local version
  version=$(cargo --version 2>/dev/null | cut -d' ' -f2) && [ -n "$version" ] &&
    printf '1.68\n%s\n' "$version" | sort -CV
}

# install_debian_packages LIST [MARK]: what stands in tools/LIST, but for what is marked so.
install_debian_packages() {
  local list=$1
  [ "${TAILRACE_PACKAGES:-}" != elsewhere ] || { say "packages of tools/$list: taken from elsewhere" && return; }
  if ! command -v dpkg-query >/dev/null; then
    say "not a Debian system: make sure that the equivalents of tools/$list are there"
    return
  fi
  local missing=() package
  for package in $(names_in "$@"); do
    [ "$package" = cargo-web ] && { have_new_cargo || [ -n "${TAILRACE_HDF5_SOURCE:-}" ]; } && continue
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return
  local sudo=()
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
      say "packages are missing, and there is no sudo to install them with. As root, run:"
      say "  apt-get install --no-install-recommends ${missing[*]}"
      say "or, if they come from elsewhere, set TAILRACE_PACKAGES=elsewhere and run this again"
      exit 1
    fi
    sudo=(sudo)
  fi
  say "Debian packages to install: ${missing[*]}"
  step "apt-get update" "${sudo[@]}" apt-get update
  local cargo=
  for package in "${!missing[@]}"; do
    [ "${missing[$package]}" = cargo-web ] || continue
    # Debian 12's `cargo` is too old and `cargo-web` is not; later releases have only the former.
    if apt-cache show cargo-web >/dev/null 2>&1; then cargo=cargo-web; else cargo=cargo; fi
    unset "missing[$package]"
    missing+=($(apt-cache depends "$cargo" | sed -n 's/^ *Depends: \(lib[^<]*\)$/\1/p'))
  done
  local install=("${sudo[@]}" env DEBIAN_FRONTEND=noninteractive
    apt-get install -y --no-install-recommends --no-upgrade)
  step "apt-get install" "${install[@]}" "${missing[@]}"
  [ -z "$cargo" ] && return
  step "unpacking $cargo into .deps/cargo" unpack_cargo "$cargo"
  PATH=$root/.deps/cargo/usr/bin:$PATH have_new_cargo || step "apt-get install $cargo" "${install[@]}" "$cargo"
}

# Without what it depends on to compile, which is not wanted here: the Rust compiler takes half a gigabyte.
unpack_cargo() (
  mkdir -p "$root/.deps/cargo" && cd "$root/.deps/cargo" && rm -rf ./* &&
    apt-get download "$1" && dpkg-deb -x "$1"_*.deb . && rm "$1"_*.deb
)

# The first Python that is new enough and can make an environment.
find_python() {
  local python
  for python in python3 python3.13 python3.12 python3.11 /usr/bin/python3; do
    if "$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      command -v "$python"
      return
    fi
  done
  say "no Python of version 3.11 or newer (with venv) was found" >&2
  return 1
}

# install_python_packages [MARK]: those that are not marked so. The stamp holds the list's hash, and the mark of what
# was left out; it lives in the environment, so that it goes when the environment goes.
install_python_packages() {
  local without=${1:-} list=$root/tools/python-packages.txt stamp=$venv/tailrace-packages.stamp hash required package
  local optional=
  hash=$(sha256sum "$list" | cut -d' ' -f1)
  if [ -x "$venv/bin/python" ]; then
    case $(cat "$stamp" 2>/dev/null) in "$hash all" | "$hash all${without:+ but $without}") return ;; esac
  fi
  if ! "$venv/bin/python" -c 'import pip' 2>/dev/null; then
    local python
    python=$(find_python)
    step "making .venv with $("$python" --version)" "$python" -m venv --clear "$venv"
  fi
  required=$(names_in python-packages.txt "${without:-optional}")
  [ -n "$without" ] || optional=$(sed -n 's/#.*optional.*//p' "$list")
  # shellcheck disable=SC2086  # one word a package
  step "installing Python packages into .venv" "$venv/bin/pip" install --disable-pip-version-check $required
  for package in $optional; do
    printf 'tailrace: installing %s (optional) ... ' "$package"
    if "$venv/bin/pip" install --disable-pip-version-check "$package" >"$logs/pip_$package.log" 2>&1; then
      printf 'done\n'
    else
      printf 'not installable here (%s); its tests will skip\n' "build/logs/pip_$package.log"
    fi
  done
  printf '%s\n' "$hash all${without:+ but $without}" >"$stamp"
}

# Quick when it is complete; build_hdf5.sh decides, so that CMake alone can call it too.
build_hdf5() {
  "$root/tools/build_hdf5.sh" --is-built "$root/.deps/hdf5" && return
  step "building HDF5 from source (once, half a minute)" "$root/tools/build_hdf5.sh" "$root/.deps/hdf5"
}

# For the door of OpenFOAM, where there is one (packages.txt). All else can be built without.
fetch_openfoam_headers() {
  command -v blockMesh >/dev/null || return 0
  "$root/tools/fetch_openfoam_headers.sh" --is-built && return
  printf "tailrace: fetching OpenFOAM's headers (once) ... "
  if "$root/tools/fetch_openfoam_headers.sh" >"$logs/openfoam_headers.log" 2>&1; then
    printf 'done\n'
  else
    printf 'not possible here (%s); its file handler is left out\n' "build/logs/openfoam_headers.log"
  fi
}

without=
case ${1:-} in
  '') ;;
  demo) without=tests ;;
  bench)
    install_debian_packages bench-packages.txt
    exit
    ;;
  *)
    say "setup.sh: expected nothing, demo or bench; found $1" >&2
    exit 2
    ;;
esac
install_debian_packages packages.txt $without
source "$root/tools/common.sh" # again: ccache and cargo may have come just now
# Beside each other: one computes, the other waits for the network.
mkdir -p "$logs"
install_python_packages $without >"$logs/python_packages.txt" 2>&1 &
packages=$!
build_hdf5
[ -n "$without" ] || fetch_openfoam_headers
wait "$packages" || code=$?
cat "$logs/python_packages.txt"
exit "${code:-0}"
