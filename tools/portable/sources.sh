#!/usr/bin/env bash
# Fetches the sources of the third-party libraries into DESTINATION, an archive for each: NAME.tar.*. Their versions
# are those of Debian 12, with which tailrace is tested, from Debian's archive; and from Cargo's registry, where a
# source stays for ever, what Debian replaces or has in another form, and HDF5. All are checked against the sums
# below.
#
#   tools/portable/sources.sh DESTINATION
set -euo pipefail
source "$(dirname "$0")/../common.sh"
source "$root/tools/build_once.sh"
source "$root/tools/debian_source.sh"
begin_building "archives of third-party sources" "complete-$(cksum <"$0" | cut -d' ' -f1)" "$@"

rm -f "$destination"/*.tar.*
mirror=$(apt-get indextargets --format '$(REPO_URI)' | grep -m 1 '/debian/$')
while read -r name file && read -r sum; do
  quietly /usr/lib/apt/apt-helper -o APT::Sandbox::User=root -o Acquire::Retries=3 download-file \
    "${mirror}pool/main/$file" "$destination/$name.tar.${file##*.}" "SHA256:$sum"
done <<'TABLE'
zlib z/zlib/zlib_1.2.13.dfsg.orig.tar.bz2
  71feb7947e3c00ef125f83b79a4e529bde31171e5babe48b391f06758d1ab0a1
bzip2 b/bzip2/bzip2_1.0.8.orig.tar.gz
  ab5a03176ee106d3f0fa90e381da478ddae405918153cca248e682cd0c4a2269
xz x/xz-utils/xz-utils_5.4.1.orig.tar.xz
  5d9827aa1875b21c288f78864bb26d2650b436ea8d2cad364e4921eb6266a5a5
zstd libz/libzstd/libzstd_1.5.4+dfsg2.orig.tar.xz
  8cf4bbb65e77ec348d052c8d6230eba66d435bddf64c8b5be2fcb16880c19953
lz4 l/lz4/lz4_1.9.4.orig.tar.gz
  0b0e3aa07c8c063ddf40b082bdf7e37a1562bda40a0ff5272957f3e987e0e54b
snappy s/snappy/snappy_1.1.9.orig.tar.gz
  75c1fbb3d618dd3a0483bff0e26d0a92b495bbe5059c8b4f1c962b478b6e06e7
libdeflate libd/libdeflate/libdeflate_1.14.orig.tar.gz
  89e7df898c37c3427b0f39aadcf733731321a278771d20fc553f92da8d4808ac
liburing libu/liburing/liburing_2.3.orig.tar.gz
  2eac26f880125d83f75ba8641fde5d88226dd352d3cee95d45a9128758a8f1be
yaml-cpp y/yaml-cpp/yaml-cpp_0.7.0+dfsg.orig.tar.xz
  dc63708605404e0b963e0ca3a9619d1c8270eda2839603e6fa0384e5e51e5312
fmt f/fmtlib/fmtlib_9.1.0+ds1.orig.tar.gz
  84ce1c2d0be3a9863935137969dcec6970125caac032f82474640bfc81463583
spdlog s/spdlog/spdlog_1.10.0+ds.orig.tar.xz
  620ca6842b5c21014470bd42eb4716024674214fb973b5ffa3aaea33310ad327
cli11 c/cli11/cli11_2.1.2+ds.orig.tar.xz
  8143d20b688e98ccce8e24562d3b68e5f47c12e896c42c7ca8553dbde5bed55d
nlohmann-json n/nlohmann-json3/nlohmann-json3_3.11.2.orig.tar.gz
  d69f9deb6a75e2580465c6c4c5111b89c4dc2fa94e3a85fcd2ffcd9a143d9273
pugixml p/pugixml/pugixml_1.13.orig.tar.gz
  5c5ad5d7caeb791420408042a7d88c2c6180781bf218feca259fd9d840a888e1
pcre2 p/pcre2/pcre2_10.42.orig.tar.gz
  c33b418e3b936ee3153de2c61cc638e7e4fe3156022a5c77d0711bcbb9d64f1f
lzf libl/liblzf/liblzf_3.6.orig.tar.gz
  9c5de01f7b9ccae40c3f619d26a7abec9986c06c36d260c179cedd04b89fb46a
blosc c/c-blosc/c-blosc_1.21.3+ds.orig.tar.xz
  36a5ca0904135be7b6da02cc93adda2e34fec98286b28172e166f8cad79c8fab
libarchive liba/libarchive/libarchive_3.6.2.orig.tar.xz
  9e2c1b80d5fbe59b61308fdfab6c79b5021d7ff4ff2489fb12daf0a96a83551d
TABLE

# crate NAME FOLDER LIBRARY SUM: packs the library's source, which is in a folder of a crate. Cargo has compared the
# crate with the sum that the registry has told.
crate() {
  grep -q "\"package\":\"$4\"" "$work/vendor/$1/.cargo-checksum.json" ||
    { echo "$1: found another checksum than $4" >&2 && exit 1; }
  XZ_OPT=-1 tar -C "$work/vendor/$1" -caf "$destination/$3.tar.xz" --sort=name --owner=0 --group=0 --mtime=@0 \
    --mode=u+rw,go+rX,go-w "$2"
}

fetch_crates openssl-src 300.5.5 libaec-sys 0.1.3 libsodium-sys 0.2.7 hdf5-metno-src 0.9.5
crate openssl-src openssl openssl 3f1787d533e03597a7934fd0a765f0d28e94ecc5fb7789f8053b1e699a56f709
crate libaec-sys libaec-1.1.4 libaec 3b0d9e19776f54c4dd491e990455a2fc08cb469b76ddf0ad380495cdff255c6c
crate libsodium-sys libsodium libsodium 6b779387cd56adfbc02ea4a668e704f729be8d6a6abd2c27ca5ee537849a92fd
crate hdf5-metno-src ext/hdf5 hdf5 36b0303729f84fb0f2dc510d28b64cb716fb13e6a139a17e88db329123ecff82
touch "$stamp"
