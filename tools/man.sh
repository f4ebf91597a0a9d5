#!/usr/bin/env bash
# Renews the manual pages in man/ from what the programs say about themselves: that of `tailrace` by argparse-manpage,
# the others by help2man. Needs the package in .venv, build/release, and these two (argparse-manpage comes by pip,
# help2man by apt). tests/python/command/test_man_pages.py says when it is time.
set -euo pipefail
source "$(dirname "$0")/common.sh"
cd "$root"
version=$(sed -n 's/^project(tailrace VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)

# page PROGRAM NAME WORDS: the page of a program, from its --help.
page() {
  help2man --no-info --section 1 --manual "tailrace" --source "tailrace $version" --version-string "$version" \
    --name "$3" "$1" |
    sed -e "s#$(dirname "$1")/##g" -e 's#/dev/shm/tailrace-[0-9]*#/dev/shm/tailrace\\-UID#' \
      -e '1d' -e 's/^\(\.TH [^"]* "1" \)"[^"]*"/\1""/' >"man/$2.1"
}

page build/release/src/api/tailrace-core tailrace-core "the server of a node, of place core"
page build/release/src/api/tailrace-forward tailrace-forward "writes for the clients of other nodes"
sed "s/@PROJECT_VERSION@/$version/" tools/tailrace-run >build/tailrace-run && chmod +x build/tailrace-run
page build/tailrace-run tailrace-run "runs an unchanged program with its output carried by tailrace"
COLUMNS=80 "$venv/bin/python" -c 'from argparse_manpage.cli import main; main()' --module tailrace.cli \
  --function parser --prog tailrace --project-name tailrace --version "$version" --manual-section 1 \
  --manual-title tailrace |
  sed -e '/^\.TH/s/"[^"]*" "tailrace /"" "tailrace /' \
    -e "2,4s/^tailrace\$/tailrace \\\\- writes a program's output in the background, while the program computes/" \
    >man/tailrace.1
