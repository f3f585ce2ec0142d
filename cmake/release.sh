#!/usr/bin/env bash
# release.sh [--check]: walks through what a release needs and stops at the first thing that is missing.
#
#   1. nothing is uncommitted          4. every test passes (./run test)
#   2. one version in all files        5. ./run release makes its files, and what they hold starts
#   3. CHANGELOG.md has its date       6. the commands that tag it are printed
#
# --check does 1 to 3 only. Exit status: 0 done, 1 something is missing, 2 usage.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
case ${1-} in '' | --check) ;; *)
  echo "usage: cmake/release.sh [--check]" >&2
  exit 2
  ;;
esac

missing() {
  printf 'missing: %s\n' "$1" >&2
  exit 1
}

good() {
  printf 'ok       %s\n' "$1"
}

[ -z "$(git status --porcelain)" ] || missing 'a commit of what git status shows'
good 'nothing is uncommitted'

version=$(sed -n 's/^project(twinstack VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
for place in "vcpkg.json:\"version-string\": \"$version\"" "capture/package.cmake:CAPTURE_PACKAGE_VERSION $version)" \
  "CHANGELOG.md:## $version, "; do
  grep -qF "${place#*:}" "${place%%:*}" || missing "version $version in ${place%%:*}"
done
good "version $version everywhere"

heading=$(grep -m 1 '^## ' CHANGELOG.md)
[[ $heading =~ ^"## $version, "[0-9]{4}-[0-9]{2}-[0-9]{2}$ ]] || missing "the date of $version in CHANGELOG.md (it has \"$heading\")"
if git rev-parse -q --verify "refs/tags/v$version" >/dev/null; then missing "a new version: v$version is tagged already"; fi
good "CHANGELOG.md: $heading"
[ "${1-}" != --check ] || exit 0

./run test || missing 'tests that pass'
good 'every test passes'

./run release >build/log/release.log || missing 'files of a release: see build/log/release.log'
unpacked=$(mktemp -d)
dpkg-deb -x build/release/*.deb "$unpacked"
said=$("$unpacked/usr/bin/twinstack" version)
rm -rf "$unpacked"
[ "$said" = "twinstack $(cmake/release_files.sh --version)" ] || missing "a packed program that says its version (it says \"$said\")"
good "what is packed starts: $said"
printf 'now:\n  git tag -a v%s -m "twinstack %s"\n  ./run release    # again, so that the files have the version of the tag\n  git push origin v%s\n' \
  "$version" "$version" "$version"
