#!/usr/bin/env bash
# packages.sh FOLDER [TYPE]: builds the libraries of cmake/windows/ into FOLDER/prefix, from the upstream sources
# of Debian's packages, pinned by SHA-256.  TYPE is CMake's build type: Release if it is left out.  Exit status 3: a
# source or a program is missing, and stderr says which.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=$(realpath -m -- "$1")
readonly here folder
readonly sources="$folder/sources"

# What is compiled of LLVM.
demangler() {
  printf '*/libcxxabi/%s ' include/{cxxabi,__cxxabi_config}.h src/{abort_message.h,cxa_demangle.cpp} \
    src/demangle/{DemangleConfig.h,ItaniumDemangle.h,ItaniumNodes.def,StringViewExtras.h,Utility.h}
}

packages() {
  cat <<TXT
capstone 7c81d798022f81e7507f1a60d6817f63aa76e489aa4e7055255f21a22f5e526a
cjson 5308fd4bd90cef7aa060558514de6a1a4a0819974a26e6ed13973c5f624c24b2
civetweb ec372e9737bc820118bbb735f46a07d41f795814ca0f38bc6e67048e7a460f33
libiberty f0c873589b983a2e82287d1beea3b230959803121ede290154d44008984013ef
libmspack 70dd1fb2f0aecc36791b71a1e1840e62173079eadaa081192d1c323a0eeea21b
llvm-toolchain-19 ae498f3bc58ae2d9f64ef5f0c035c4240152bf015a5b7738b15c22e93bdc97ce $(demangler)
libzstd 8cf4bbb65e77ec348d052c8d6230eba66d435bddf64c8b5be2fcb16880c19953
nettle 364f3e2b77cd7dcde83fd7c45219c834e54b0c75e428b6f894a23d12dd41cbfe
sqlite3 aaa776260ab4dc976db34aa7891819484c8676b5b2783123ebc6301e2ca5d655
xz-utils 5d9827aa1875b21c288f78864bb26d2650b436ea8d2cad364e4921eb6266a5a5
zlib 71feb7947e3c00ef125f83b79a4e529bde31171e5babe48b391f06758d1ab0a1
TXT
}

# SQLite as one file, which its sources are turned into by a program in Tcl.
amalgamate_sqlite() {
  local to="$sources/sqlite3-amalgamation"
  [ ! -f "$to/sqlite3.c" ] || return 0
  command -v tclsh >/dev/null || { printf 'sqlite3: tclsh is not installed\n' >&2; exit 3; }
  mkdir -p "$to.new"
  make -C "$to.new" -f "$sources/sqlite3/main.mk" TOP="$sources/sqlite3" BCC=gcc TCC=gcc NAWK=awk sqlite3.c
  mkdir -p "$to"
  cp "$to.new/sqlite3.h" "$to/"
  mv "$to.new/sqlite3.c" "$to/"
  rm -rf "$to.new"
}

mkdir -p "$sources"
packages | while read -r name sha256 patterns; do
  IFS=' ' read -ra patterns <<<"$patterns"
  "$here/../debian_source.sh" "$name" "$sha256" "$sources/$name" "${patterns[@]}"
done
amalgamate_sqlite
cmake -G Ninja -S "$here" -B "$folder/build" -DCMAKE_BUILD_TYPE="${2:-Release}" -DSOURCES="$sources" \
  -DCMAKE_INSTALL_PREFIX="$folder/prefix" \
  --toolchain "$here/../windows-cross.cmake"
ninja -C "$folder/build" install
