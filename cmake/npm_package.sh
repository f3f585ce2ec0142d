#!/usr/bin/env bash
# npm_package.sh NAME VERSION SHA256 FOLDER FILE...: fetches one npm package and puts FILEs, paths in the
# package, side by side into FOLDER.  Without FILE the whole package is unpacked.
#
# SHA256 pins the archive; no script of the package runs.  Exit status 3: it is not available, and
# stderr says why.
set -euo pipefail
readonly name=$1 version=$2 sha256=$3 folder=$4
shift 4
is_there() {
  local file
  for file in "$@"; do [ -f "$folder/${file##*/}" ] || return 1; done
  [ -d "$folder" ]
}
if is_there "$@"; then exit 0; fi

fail() {
  printf '%s: %s\n' "$name" "$1" >&2
  if [ -d "$folder" ]; then exit 0; fi # an older set of its files does
  exit 3
}

command -v npm >/dev/null || fail 'npm is not installed'
rm -rf "$folder.new"
mkdir -p "$folder.new/got"
npm pack --silent --ignore-scripts --pack-destination "$folder.new/got" "$name@$version" >/dev/null ||
  fail 'the package cannot be fetched'
archive="$folder.new/got/$name-$version.tgz"
printf '%s  %s\n' "$sha256" "$archive" | sha256sum -c --quiet >&2 || fail 'another archive than the one that is pinned'
tar -xzf "$archive" -C "$folder.new" --strip-components=1 "${@/#/package/}" || fail 'a file is missing in the package'
rm -rf "$folder.new/got" "$folder"
if [ $# -gt 0 ]; then
  mkdir "$folder.new/flat"
  (cd "$folder.new" && mv -- "$@" flat/)
  mv "$folder.new/flat" "$folder"
  rm -rf "$folder.new"
else
  mv "$folder.new" "$folder"
fi
