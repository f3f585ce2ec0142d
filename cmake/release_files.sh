#!/usr/bin/env bash
# release_files.sh: makes the files of a release out of the commit that is checked out, in build/release: .deb, .tar.xz,
# Windows .zip (program, PDB, capture package), sources, SBOM (SPDX), SHA256SUMS.
#
#   release_files.sh --version        prints the version: that of the tag v*, or of the commit
#   release_files.sh                  makes the files
#
# The same bytes in any folder: times are the commit's, folders are mapped away, archives are sorted. `./run soak release` compares two.
# Exit status 3: something is missing, and one line says what.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
readonly root=$PWD out="$PWD/build/release"
readonly work="$out/work"

die() {
  printf 'release: %s\n' "$1" >&2
  exit 3
}

# 0.1.0 of the tag v0.1.0; 0.1.0+5.g1234 five commits later; 0.1.0+g1234 without any tag.
version() {
  local described project
  project=$(sed -n 's/^project(twinstack VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
  if described=$(git describe --tags --match 'v[0-9]*' --abbrev=12 2>/dev/null); then
    [[ $described != "v"* || ${described%%-*} = "v$project" ]] ||
      die "the tag is ${described%%-*}, and CMakeLists.txt says $project: give one of them the other's version"
    described=${described#v}
    described=${described/-/+}
    printf '%s\n' "${described/-/.}"
  else
    printf '%s+g%s\n' "$project" "$(git rev-parse --short=12 HEAD)"
  fi
}

# What the compilers are given in every tree: no name of a folder of this machine gets into an object.
map="-ffile-prefix-map=$root=."
readonly map

build_linux() {
  cmake/archives.sh "$work/archives" || die 'a source of a linked library cannot be had (build/log/release-linux.log)'
  CFLAGS="$map" cmake -G Ninja -S . -B "$work/linux" -DTWINSTACK_ARCHIVES="$work/archives" -DTWINSTACK_RELEASE="$release" \
    -DCMAKE_BUILD_TYPE=RelWithDebInfo
  # all but the tests' programs
  ninja -C "$work/linux" twinstack libtwinstack libtwinstack_archive pages
}

# Sources that ./run test fetched are not fetched again.
build_windows() {
  if [ -d build/windows-packages/sources ] && [ ! -d build/windows-release/sources ]; then
    mkdir -p build/windows-release
    cp -a build/windows-packages/sources build/windows-release/
  fi
  CFLAGS="$map" CXXFLAGS="$map" cmake/windows/packages.sh build/windows-release ||
    die 'a source of a library for Windows cannot be had (build/log/release-windows.log)'
  mkdir -p "$work/windows"
  cp -a build/windows-release/prefix "$work/windows/prefix" # below the tree, so that the linker gets relative names
  local pdb='-Wl,--pdb= -Wl,-Xlink=-Brepro -Wl,-Xlink=-pdbsourcepath:. -Wl,-Xlink=-pdbaltpath:twinstack.pdb'
  CFLAGS="$map -gcodeview -gno-codeview-command-line -ffile-compilation-dir=." LDFLAGS="$pdb" \
    cmake -G Ninja -S . -B "$work/windows" --toolchain "$root/cmake/windows-cross.cmake" \
    -DTWINSTACK_PACKAGES="$work/windows/prefix" -DTWINSTACK_RELEASE="$release" -DCMAKE_BUILD_TYPE=RelWithDebInfo
  ninja -C "$work/windows" twinstack
}

# capture_package ARCHITECTURE TOOLCHAIN. For MSVC's targets, clang writes the time into each object unless a flag forbids it.
capture_package() {
  local flags="$map -mno-incremental-linker-compatible"
  CFLAGS="$flags" ASMFLAGS="$flags" cmake -G Ninja -S capture -B "$work/capture-$1" --toolchain "$root/cmake/$2.cmake" \
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_LIBDIR=lib
  ninja -C "$work/capture-$1"
  cmake --install "$work/capture-$1" --prefix "$work/zip/$name-windows-x86_64/capture/$1"
}

build_capture() {
  capture_package x64 wine-clang
  capture_package x86 wine-clang-x86
}

# The order: SHA256SUMS has all of them, the SBOM those before it.
pack() {
  local linux="$work/tar/$name-linux-x86_64" windows="$work/zip/$name-windows-x86_64"
  cmake --install "$work/linux" --strip --prefix "$linux"
  cmake/release_pack.py "$linux" "$out/$name-linux-x86_64.tar.xz"
  (cd "$work/linux" && cpack --config CPackConfig.cmake -G DEB -B "$work/deb")
  mv "$work"/deb/*.deb "$out/"
  cp "$work/windows/bin/twinstack.exe" "$work/windows/bin/twinstack.pdb" README.md CHANGELOG.md LICENSE "$windows/"
  cmake/release_pack.py "$windows" "$out/$name-windows-x86_64.zip"
  git archive --format=tar --prefix="$name/" HEAD | xz -9 -T1 >"$out/$name-source.tar.xz"
  cmake/release_sbom.py --version "$release" --commit "$(git rev-parse HEAD)" --linux "$work/linux" \
    --windows build/windows-release --out "$out/$name.spdx.json" "$out"/*.deb "$out"/*.xz "$out"/*.zip
  cmake/release_pack.py --sums "$out"
}

# part NAME: runs the function with its output in a log, whose end is shown when it fails.
part() {
  local start=$SECONDS log="build/log/release-$1.log" function="${2-build_$1}"
  printf '%-16s' "release-$1" >&2
  # not in a condition, where errors would not end the function
  set +e
  (set -e; "$function") >"$log" 2>&1
  local status=$?
  set -e
  if [ "$status" != 0 ]; then
    printf 'failed; the end of %s:\n' "$log" >&2
    tail -n 20 "$log" >&2
    exit 3
  fi
  printf '%4d s\n' $((SECONDS - start)) >&2
}

git rev-parse -q --verify HEAD >/dev/null 2>&1 || die 'this is no clone of a git repository: a release is made of a commit'
release=$(version)
readonly release name="twinstack-$release"
case ${1-} in
  --version)
    printf '%s\n' "$release"
    exit 0
    ;;
  '' | --check) ;;
  *)
    printf 'usage: cmake/release_files.sh [--version|--check]\n' >&2
    exit 2
    ;;
esac
changed=$(git status --porcelain | wc -l)
[ "$changed" = 0 ] || die "$changed files differ from the commit, and a release is made of a commit: commit or remove what git status shows"
[ "${1-}" != --check ] || exit 0

SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH TZ=UTC LC_ALL=C
umask 022
mkdir -p build/log
rm -rf "$out"
mkdir -p "$work"
part linux
part windows
part capture
part pack pack
rm -rf "$work"
(cd "$out" && cat SHA256SUMS)
