#!/usr/bin/env bash
# What test programs need beside the set-up, made in the build folder: tests/tools.sh BUILD WHAT...
# Where a file cannot be fetched, this is said, and the tests that want it are skipped.
set -euo pipefail
build=$1
shift

# nginx for the test of a reverse proxy: its program alone, from Debian's package, which is not installed,
# since that would start a service.
unpack_nginx() {
  [ ! -x "$build/nginx/usr/sbin/nginx" ] || return 0
  mkdir -p "$build/nginx"
  if ! (cd "$build/nginx" && apt-get -q download nginx && dpkg-deb -x nginx_*.deb .) >"$build/log/nginx.log" 2>&1; then
    printf 'run: no nginx: %s\n' "$(tail -n 1 "$build/log/nginx.log")" >&2
  fi
}

# An outside program to score.
install_stackwalk() {
  [ -d "$build/tools/node_modules/minidump" ] ||
    npm install --prefix "$build/tools" --ignore-scripts --no-audit --no-fund minidump@0.26.0 \
      >"$build/log/tools.log" 2>&1 || printf 'run: no minidump_stackwalk, see build/log/tools.log\n' >&2
}

# Compilers of which tests/strangers.py builds programs: every one that Debian has. Several GB, so only for the soak.
install_compilers() {
  local -a root=()
  [ "$(id -u)" = 0 ] || root=(sudo)
  "${root[@]}" apt-get install -qq -y --no-install-recommends g++ g++-11 clang-13 clang-14 clang-15 clang-16 clang-19 lld-19 rustc \
    golang-go gdc ldc gnat gfortran g++-mingw-w64-x86-64 g++-mingw-w64-i686 >"$build/log/compilers.log" 2>&1 ||
    printf 'run: not every compiler: %s\n' "$(tail -n 1 "$build/log/compilers.log")" >&2
}

# Copies of the Wine prefix, by hard links, for test programs that want one to themselves.
copy_prefix() {
  local number
  remove_copies
  [ ! -f "$build/wine/system.reg" ] || for number in 1 2; do cp -al "$build/wine" "$build/wine-test-$number"; done
}

remove_copies() {
  local copy
  for copy in "$build"/wine-test-*; do
    [ ! -f "$copy/system.reg" ] || WINEPREFIX="$copy" wineserver -k || :
    rm -rf "$copy"
  done
}

for what in "$@"; do
  case $what in
    nginx) unpack_nginx ;;
    stackwalk) install_stackwalk ;;
    compilers) install_compilers ;;
    prefixes) copy_prefix ;;
    no-prefixes) remove_copies ;;
    *)
      printf 'usage: tests/tools.sh BUILD nginx|stackwalk|compilers|prefixes|no-prefixes...\n' >&2
      exit 2
      ;;
  esac
done
