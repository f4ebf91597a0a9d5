# Fetches source packages of Debian; sourced, after build_once.sh, by the scripts that build them.

# fetch_debian_source SUITE PACKAGE ARCHIVE: unpacks a package's original source, a file that the pattern ARCHIVE
# fits, into $work/source. Uses the system's mirror, but lists and caches of its own: the system's apt neither sees
# the source suite nor needs an update.
fetch_debian_source() {
  local mirror apt
  mirror=$(apt-get indextargets --format '$(REPO_URI)' | grep -m 1 '/debian/$') ||
    { echo "tailrace: apt knows no mirror of Debian" >&2; exit 1; }
  mkdir -p "$work/lists/partial" "$work/cache" "$work/source"
  printf 'deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] %s %s main\n' "$mirror" "$1" \
    >"$work/sources.list"
  apt=(apt-get -q -o "Dir::Etc::sourcelist=$work/sources.list" -o Dir::Etc::sourceparts=-
    -o "Dir::State::lists=$work/lists" -o "Dir::Cache=$work/cache" -o APT::Sandbox::User=root
    -o Acquire::Languages=none -o Acquire::Retries=3)
  quietly "${apt[@]}" update
  (cd "$work" && quietly "${apt[@]}" source --download-only "$2")
  quietly tar xf "$work"/$3 -C "$work/source" --strip-components=1
}
