#!/usr/bin/env bash
# Builds the third-party libraries of a wheel into DESTINATION, from the archives in SOURCES (sources.sh): static,
# position-independent and hidden. MPI and UCX are not among them: those of the machine that runs the wheel are used.
#
#   tools/portable/libraries.sh SOURCES DESTINATION [SYSROOT]
#
# With SYSROOT it uses the compilers that sysroot.sh has made there; else CC and CXX. Needs make, CMake, Ninja and
# Perl. Puts the licences into DESTINATION/licenses.
set -euo pipefail
source "$(dirname "$0")/../common.sh"
source "$root/tools/build_once.sh"

sources=$(realpath "$1")
sysroot=${3:+$(realpath "$3")}
begin_building "third-party libraries" "complete-$(cksum <"$0" | cut -d' ' -f1)" "$2"
toolchain=()
if [ -n "$sysroot" ]; then
  export CC=$sysroot/bin/cc CXX=$sysroot/bin/c++ AR=$sysroot/bin/ar RANLIB=$sysroot/bin/ranlib
  toolchain=(-DCMAKE_TOOLCHAIN_FILE="$root/cmake/portable.cmake" -DTAILRACE_PORTABLE="$(dirname "$sysroot")")
fi
AR=${AR:-ar} RANLIB=${RANLIB:-ranlib}
export PKG_CONFIG_LIBDIR=$destination/lib/pkgconfig
machine=$("$CC" -dumpmachine)
flags="-O2 -fPIC -fvisibility=hidden -ffunction-sections -fdata-sections"
rm -rf "$destination"/* && mkdir -p "$destination/lib/pkgconfig" "$destination/include" "$destination/licenses"

# unpacked NAME: unpacks a source into $work/NAME, and keeps its licence.
unpacked() {
  mkdir "$work/$1"
  quietly tar xf "$sources/$1".tar.* -C "$work/$1" --strip-components=1
  licensed "$1"
}

# licensed NAME: keeps the licences that are in $work/NAME.
licensed() {
  local file found=
  for file in "$work/$1"/{COPYING,LICENSE,LICENSE.{txt,MIT,md,rst},LICENCE,LICENSES/*}; do
    [ -f "$file" ] || continue
    install -D -m 644 "$file" "$destination/licenses/$1/$(basename "$file")"
    found=yes
  done
  [ -z "$found" ] || return 0
  echo "$1: found no licence in its source" >&2
  exit 1
}

# by_cmake FOLDER OPTION…: builds and installs what is in $work/FOLDER.
by_cmake() {
  local folder=$1
  local build=$work/build-${1%%/*}
  shift
  quietly cmake -S "$work/$folder" -B "$build" -G Ninja -Wno-dev \
    "${toolchain[@]}" -DCMAKE_PREFIX_PATH="$destination" \
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS="$flags" -DCMAKE_CXX_FLAGS="$flags -fvisibility-inlines-hidden" \
    -DCMAKE_C_FLAGS_RELEASE=-DNDEBUG -DCMAKE_CXX_FLAGS_RELEASE=-DNDEBUG -DCMAKE_INSTALL_PREFIX="$destination" \
    -DCMAKE_INSTALL_LIBDIR=lib -DBUILD_SHARED_LIBS=OFF -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DBUILD_TESTING=OFF \
    -DCMAKE_POLICY_VERSION_MINIMUM=3.5 "$@"
  quietly cmake --build "$build" --target install
}

# by_configure FOLDER OPTION…: the same for GNU's build system.
by_configure() {
  (cd "$work/$1" && CFLAGS=$flags quietly ./configure --host="$machine" --prefix="$destination" --disable-shared \
    --with-pic "${@:2}")
  by_make "$1" install
}

# by_make FOLDER ARGUMENT…: the same with make; installed() then copies what it has made.
by_make() { quietly make -C "$work/$1" -j"$(nproc)" CC="$CC" AR="$AR" RANLIB="$RANLIB" "${@:2}"; }

# installed FOLDER FILE…: copies archives and headers into DESTINATION.
installed() {
  local file
  for file in "${@:2}"; do
    case $file in
      *.a) install -m 644 "$work/$1/$file" "$destination/lib" ;;
      *) install -m 644 "$work/$1/$file" "$destination/include" ;;
    esac
  done
}

# described NAME VERSION WORDS: writes the .pc file of a library whose own build writes none.
described() {
  printf 'Name: %s\nDescription: %s\nVersion: %s\nLibs: -L%s %s\nCflags: -I%s\n' "$1" "$1" "$2" "$destination/lib" \
    "$3" "$destination/include" >"$destination/lib/pkgconfig/$1.pc"
}

# What the others need comes first.
unpacked zlib
(cd "$work/zlib" && CHOST=$machine CFLAGS=$flags quietly ./configure --static --prefix="$destination")
by_make zlib install
unpacked bzip2
by_make bzip2 libbz2.a CFLAGS="$flags -D_FILE_OFFSET_BITS=64"
installed bzip2 libbz2.a bzlib.h
unpacked xz
by_configure xz --disable-{xz,xzdec,lzmadec,lzmainfo,lzma-links,scripts,doc,nls}
unpacked zstd
by_cmake zstd/build/cmake -DZSTD_BUILD_PROGRAMS=OFF -DZSTD_BUILD_SHARED=OFF -DZSTD_LEGACY_SUPPORT=OFF
unpacked lz4
by_cmake lz4/build/cmake -DLZ4_BUILD_CLI=OFF -DLZ4_BUILD_LEGACY_LZ4C=OFF -DBUILD_STATIC_LIBS=ON
unpacked snappy
by_cmake snappy -DSNAPPY_BUILD_TESTS=OFF -DSNAPPY_BUILD_BENCHMARKS=OFF
unpacked libdeflate
by_make libdeflate install PREFIX="$destination" CFLAGS="$flags" DISABLE_SHARED=1
unpacked liburing
(cd "$work/liburing" && quietly ./configure --cc="$CC" --cxx="$CXX" --prefix="$destination")
by_make liburing/src CFLAGS="$flags -Iinclude -include ../config-host.h" ENABLE_SHARED=0 install
described liburing 2.3 -luring
unpacked yaml-cpp
by_cmake yaml-cpp -DYAML_CPP_BUILD_TESTS=OFF -DYAML_CPP_BUILD_TOOLS=OFF -DYAML_BUILD_SHARED_LIBS=OFF
unpacked fmt
by_cmake fmt -DFMT_TEST=OFF -DFMT_DOC=OFF
unpacked spdlog
by_cmake spdlog -DSPDLOG_FMT_EXTERNAL=ON -DSPDLOG_BUILD_EXAMPLE=OFF -DSPDLOG_BUILD_SHARED=OFF
unpacked cli11
by_cmake cli11 -DCLI11_BUILD_DOCS=OFF -DCLI11_BUILD_TESTS=OFF -DCLI11_BUILD_EXAMPLES=OFF
unpacked nlohmann-json
by_cmake nlohmann-json -DJSON_BuildTests=OFF
unpacked pugixml
by_cmake pugixml
unpacked pcre2
by_cmake pcre2 -DPCRE2_BUILD_PCRE2GREP=OFF -DPCRE2_BUILD_TESTS=OFF
unpacked lzf
(cd "$work/lzf" && quietly "$CC" $flags -c lzf_c.c lzf_d.c && quietly "$AR" cr liblzf.a lzf_c.o lzf_d.o)
installed lzf liblzf.a lzf.h
described liblzf 3.6 -llzf
unpacked blosc
by_cmake blosc -DBUILD_SHARED=OFF -DBUILD_TESTS=OFF -DBUILD_BENCHMARKS=OFF -DBUILD_FUZZERS=OFF \
  -DPREFER_EXTERNAL_LZ4=ON -DPREFER_EXTERNAL_ZLIB=ON -DPREFER_EXTERNAL_ZSTD=ON -DPREFER_EXTERNAL_SNAPPY=ON
described blosc 1.21.3 "-lblosc -llz4 -lsnappy -lzstd -lz -lpthread"
unpacked libarchive
by_cmake libarchive -DENABLE_{OPENSSL,MBEDTLS,NETTLE,LZ4,LZO,LIBB2,LIBXML2,EXPAT,PCREPOSIX,LibGCC,CNG}=OFF \
  -DENABLE_{TAR,CPIO,CAT,XATTR,ACL,ICONV,TEST,WERROR}=OFF
unpacked openssl
parts="comp cms ct ocsp srp ts idea seed camellia aria bf cast rc2 rc4 md4 rmd160 whirlpool sm2 sm3 sm4 dtls quic"
parts+=" ml-dsa slh-dsa shared module engine legacy apps tests docs dso deprecated"
# shellcheck disable=SC2086 # the flags are words
(cd "$work/openssl" && quietly ./Configure "linux-${machine%%-*}" --prefix="$destination" --libdir=lib $flags \
  $(printf ' no-%s' $parts))
by_make openssl build_libs
by_make openssl install_dev
unpacked libsodium
by_configure libsodium
unpacked libaec
sed -i '1s/3.26/3.25/' "$work/libaec/CMakeLists.txt" # Debian's CMake
by_cmake libaec -DBUILD_STATIC_LIBS=ON
find "$destination" -name '*.so*' -delete

# UCX is that of the machine that runs the wheel: its headers are this system's, its libraries have names only.
if [ -n "$sysroot" ] && [ -d /usr/include/ucp ]; then
  for name in ucp ucs uct ucm; do
    cp -r "/usr/include/$name" "$destination/include"
    quietly "$CC" -shared -xc /dev/null -Wl,-soname,"lib$name.so.0" -o "$destination/lib/lib$name.so"
  done
  version=$(sed -n 's/^#define UCP_API_M[A-Z]* *\([0-9]*\)/\1/p' /usr/include/ucp/api/ucp_version.h | paste -sd.)
  described ucx "$version" "-Wl,--no-as-needed -lucp -luct -lucs -lucm"
fi
touch "$stamp"
