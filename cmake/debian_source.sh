#!/usr/bin/env bash
# debian_source.sh PACKAGE SHA256 FOLDER [PATTERN...]: unpacks the upstream archive of Debian's source PACKAGE
# into FOLDER, or for each PATTERN of tar the first file that it names.  What follows the last of these is not even
# decompressed: nine tenths of LLVM's archive.
#
# apt checks the signatures, with lists and caches of its own beside FOLDER: the system's configuration is
# read and never changed.  SHA256 pins the archive (PACKAGE_*.orig.tar.*), so that what is built from it,
# and every line number in it, is the same everywhere.  Exit status 3: the source cannot be had, and
# stderr says why.
set -euo pipefail
folder=$(realpath -m -- "$3") # apt reads a relative folder as one below /etc/apt
readonly package=$1 sha256=$2 folder
readonly apt="${folder%/*}/apt"
shift 3
mkdir -p "$apt/parts" "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/got"
[ ! -d "$folder" ] || exit 0

fail() {
  printf '%s: %s\n' "$package" "$1" >&2
  exit 3
}

command -v apt-get >/dev/null || fail 'apt-get is not installed'
# The system's own Debian archives, asked for sources instead of programs.
for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
  [ -r "$file" ] && sed -n 's/^deb \(.*debian.*\)/deb-src \1/p' "$file"
done >"$apt/parts/system.list"
for file in /etc/apt/sources.list.d/*.sources; do
  [ -r "$file" ] && grep -q debian-archive-keyring "$file" &&
    sed -e 's/^Types:.*/Types: deb-src/' "$file" && echo
done >"$apt/parts/system.sources" || :

options=(-q -o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$apt/parts" -o "Dir::State::lists=$apt/lists"
  -o "Dir::Cache=$apt/cache" -o Acquire::Retries=3 -o APT::Sandbox::User=root)
# Lists of the last hour will do.
if [ -z "$(find "$apt/lists" -name '*_Sources*' -mmin -60)" ]; then
  apt-get "${options[@]}" update || fail 'no list of sources'
fi
# The newest version, else one of the others, which have the same upstream archive: the archive of security updates
# does not always have it.
fetch() {
  (cd "$apt/got" && apt-get "${options[@]}" source --download-only --tar-only "$1")
}
fetch_any() {
  local version
  for version in '' $(apt-cache "${options[@]}" showsrc "$package" | sed -n 's/^Version: /=/p'); do
    ! fetch "$package$version" || return 0
  done
  return 1
}
fetch_any || fail 'the source cannot be fetched'
archive=$(find "$apt/got" -name "${package}_*.orig.tar.*" ! -name '*.asc' | head -n 1)
[ -n "$archive" ] || fail 'the source has no upstream archive'
printf '%s  %s\n' "$sha256" "$archive" | sha256sum -c --quiet >&2 || fail 'another version than the one that is pinned'
rm -rf "$folder.new"
mkdir "$folder.new"
tar -xf "$archive" -C "$folder.new" --strip-components=1 ${1:+--occurrence=1} --wildcards "$@"
mv "$folder.new" "$folder"
