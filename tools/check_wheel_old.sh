#!/usr/bin/env bash
# Tries wheels of tailrace on Debian 11 (glibc 2.31), as a plain user away from the source: in a root without a
# compiler, then in one with that system's compiler, MPICH and Open MPI (tests/wheel/old_system.py says with what).
#
#   tools/check_wheel_old.sh WHEEL…        each for CPython 3.13
#
# Needs root and debootstrap. Debian 11 has no Python that is new enough: its compiler builds CPython there from the
# source of a newer Debian, with and without libpython. The roots stay in .deps/old-system. Packages come from this
# system's mirror; pip finds its own as it does here, with this system's certificates and settings.
set -euo pipefail
source "$(dirname "$0")/common.sh"
source "$root/tools/build_once.sh"
source "$root/tools/debian_source.sh"
old=$root/.deps/old-system
python=3.13

# inside ROOT USER COMMAND…: runs a command in a root, in namespaces of its own: what is mounted and what still runs
# goes when the command ends.
inside() {
  unshare --mount --pid --fork --kill-child bash -c '
    mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" && mount --rbind /sys "$1/sys" &&
      mount -t tmpfs -o mode=1777 tmpfs "$1/dev/shm" || exit 1
    chroot --userspec "$2" "$1" "${@:3}"' inside "$@"
}

# in_root ROOT COMMAND…: the same as its root, for its package manager and for builds.
in_root() {
  inside "$1" 0:0 env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
    "${@:2}"
}

# connected ROOT: gives it this system's way into the network.
connected() { cp -L /etc/resolv.conf /etc/hosts "$1/etc"; }

# Debian's base, and what CPython needs; $old/debian has no compiler.
make_debian() {
  local mirror
  begin_building "a root of Debian 11" complete-1 "$old/debian"
  mirror=$(apt-get indextargets --format '$(REPO_URI)' | grep -m 1 '/debian/$')
  rm -rf --one-file-system "${destination:?}"/*
  quietly debootstrap --variant=minbase --include=ca-certificates,libssl1.1,libffi7 bullseye "$destination" "$mirror"
  in_root "$destination" useradd --create-home --home-dir /srv/user --uid 1000 user
  touch "$stamp"
}

# Adds compilers and MPIs in $old/full, and CPython in both: /opt/shared has libpython, /opt/static has none.
make_full() {
  local kind
  begin_building "a root of Debian 11 with compilers, MPIs and CPython $python" "complete-1-$python" "$old/full"
  rm -rf --one-file-system "${destination:?}"/* "$old/debian/opt"/*
  cp -a "$old/debian/." "$destination"
  connected "$destination"
  quietly in_root "$destination" apt-get -q update
  quietly in_root "$destination" apt-get -q install -y --no-install-recommends g++ make libc6-dev libssl-dev \
    libffi-dev zlib1g-dev mpich libmpich-dev openmpi-bin libopenmpi-dev
  fetch_debian_source trixie "python$python" "python${python}_*.orig.tar.xz"
  for kind in shared static; do
    cp -r "$work/source" "$destination/tmp/$kind"
    quietly in_root "$destination" sh -ec "cd /tmp/$kind
      ./configure --prefix=/opt/$kind LDFLAGS=-Wl,-rpath,/opt/$kind/lib --disable-test-modules \
        $([ "$kind" = static ] || echo --enable-shared)
      make -j$(nproc) && make install"
    rm -rf "$destination/tmp/$kind"
  done
  cp -a "$destination/opt" "$old/debian"
  touch "$stamp"
}

# check ROOT PYTHON WHEEL STAGE…: the stages of old_system.py, in a new folder of the user's.
check() {
  local place=$1 home=/srv/user name settings=()
  rm -rf "${place:?}$home/work" && mkdir "$place$home/work"
  connected "$place"
  cp -L "${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt}" "$place/etc/ssl/certs/ca-certificates.crt"
  cp "$3" "$root/tests/wheel/old_system.py" "$place$home/work"
  chown -R 1000:1000 "$place$home/work"
  for name in $(compgen -e); do
    case $name in
      PIP_INDEX_URL | PIP_EXTRA_INDEX_URL | PIP_TRUSTED_HOST | PIP_DEFAULT_TIMEOUT | *_proxy | *_PROXY)
        settings+=("$name=${!name}") ;;
    esac
  done
  inside "$place" 1000:1000 env -i PATH=/usr/bin:/bin HOME="$home" LC_ALL=C.UTF-8 PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_CERT=/etc/ssl/certs/ca-certificates.crt "${settings[@]}" \
    "/opt/$2/bin/python$python" -B "$home/work/old_system.py" "$home/work/$(basename "$3")" "${@:4}"
}

[ $# -gt 0 ] || { echo "expected a wheel: tools/check_wheel_old.sh WHEEL…" >&2; exit 2; }
(make_debian)
(make_full)
for wheel in "$@"; do
  say "$(basename "$wheel") in Debian 11, without a compiler"
  check "$old/debian" shared "$wheel" package actions kernel
  say "the same, Python without libpython"
  check "$old/debian" static "$wheel" package
  say "the same, with its compiler, MPICH and Open MPI"
  check "$old/full" shared "$wheel" library mpiio
done
