#!/usr/bin/env bash
# Makes a sysroot with an old C library into DESTINATION, for wheels that run on old systems: headers, start files,
# and libraries that hold the names of glibc VERSION and no code. All of that comes out of the package `ziglang`,
# which makes it for any version of glibc. The compiler and its C++ library stay those of this system; the commands in
# DESTINATION/bin use them with the sysroot: cc, c++ and others.
#
#   tools/portable/sysroot.sh MACHINE VERSION DESTINATION     e.g. x86_64 2.28 .deps/portable-x86_64/sysroot
#
# For another machine than this one it uses Debian's cross compilers (g++-aarch64-linux-gnu).
set -euo pipefail
source "$(dirname "$0")/../common.sh"
source "$root/tools/build_once.sh"

machine=$1 version=$2
content=$(cat "$0" "$(dirname "$0")/later_names.c" | cksum | cut -d' ' -f1)
begin_building "a sysroot with glibc $version" "complete-$machine-$version-$content" "$3"

case $machine in
  x86_64) family=x86 ;;
  *) family=$machine ;;
esac
prefix=
[ "$machine" = "$(uname -m)" ] || prefix=$machine-linux-gnu-
zig=("$venv/bin/python" -m ziglang)
files=$("$venv/bin/python" -c 'import ziglang; print(ziglang.__path__[0])')/lib/libc/include
export ZIG_GLOBAL_CACHE_DIR=$work/cache ZIG_LOCAL_CACHE_DIR=$work/cache

rm -rf "$destination/usr" "$destination/bin" && mkdir -p "$destination/usr/include" "$destination/usr/lib"
# The most general first: the others take its place.
for folder in any-linux-any "$family-linux-any" generic-glibc "$family-linux-gnu"; do
  cp -r "$files/$folder/." "$destination/usr/include"
done
# Compilers ask by __has_include for the headers that later versions have.
(cd "$destination/usr/include" && grep -lE "did not exist before glibc" -r . | while read -r header; do
  since=$(sed -n 's/.*did not exist before glibc 2\.\([0-9]*\).*/\1/p' "$header" | head -n 1)
  [ "$since" -le "${version#2.}" ] || rm "$header"
done)

# Zig makes the files of the system when it links a program.
echo 'int main(void) { return 0; }' >"$work/program.c"
"${zig[@]}" cc -target "$machine-linux-gnu.$version" -pie -fPIE "$work/program.c" -o "$work/program" \
  -lpthread -ldl -lm -lrt -lutil
library=$destination/usr/lib
find "$work/cache/o" \( -name 'lib*.so.*' -o -name Scrt1.o -o -name libc_nonshared.a \) -exec cp {} "$library" \;
loader=$(basename "$("$venv/bin/python" - "$work/program" <<'PYTHON'
import sys
from elftools.elf.elffile import ELFFile

with open(sys.argv[1], "rb") as file:
    print(next(one.get_interp_name() for one in ELFFile(file).iter_segments() if one.header.p_type == "PT_INTERP"))
PYTHON
)")
mv "$library"/libld.so.* "$library/$loader"
for name in dl m pthread rt util resolv; do
  ln -s "$(basename "$library/lib$name".so.*)" "$library/lib$name.so"
done
echo "GROUP ( libc.so.6 libc_nonshared.a AS_NEEDED ( $loader ) )" >"$library/libc.so"
# What a program that is no PIE would start with is that of one that is.
ln -s Scrt1.o "$library/crt1.o"
for name in crti.o crtn.o; do
  cp "$("${prefix}gcc" -print-file-name=$name)" "$library"
done

# GCC, and MPIs, look into this system's folders before the sysroot's, unless these are named first. The C++ library
# goes into each program and library. Its exceptions pass between them, since libgcc_s, which every system has,
# unwinds all. (That of this system needs a newer C library, which is no error.)
mkdir -p "$destination/bin"
options="--sysroot=$destination -B$library/ -L$library -D__GLIBC_MINOR__=${version#2.} -static-libstdc++"
options+=" -Wl,--allow-shlib-undefined"
for name in pthread_cond_clockwait pthread_mutex_clocklock; do
  options+=" -D$name=later_$name" # later_names.c
done
# A cross compiler looks into the folder of a C library of its own, too: it gets the names of the others.
headers_of() {
  [ -n "$prefix" ] || return 0
  printf ' -nostdinc'
  "$prefix$1" --sysroot="$destination" -x "$2" -E -v - </dev/null 2>&1 | sed -n '/^#include <\.\.\.>/,/^End/s/^ //p' |
    grep -v "/$machine-linux-gnu/include$" | sed 's/.*/ -isystem &/' | tr -d '\n'
}
for command in cc:gcc:c c++:g++:c++; do
  IFS=: read -r name compiler language <<<"$command"
  printf '#!/bin/sh\nexec %s %s "$@"\n' "$(command -v "$prefix$compiler")" \
    "$options$(headers_of "$compiler" "$language")" >"$destination/bin/$name"
done
for name in ar ranlib strip objcopy nm; do
  printf '#!/bin/sh\nexec %s "$@"\n' "$(command -v "$prefix$name")" >"$destination/bin/$name"
done
chmod +x "$destination"/bin/*

"$destination/bin/cc" -O2 -fPIC -fvisibility=hidden -Wall -c "$(dirname "$0")/later_names.c" -o "$work/later_names.o"
"$destination/bin/ar" q "$library/libc_nonshared.a" "$work/later_names.o"
echo "$machine" >"$destination/machine"
touch "$stamp"
