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
  [ -d "$build/tools/node_modules/minidump" ] && [ -d "$build/tools/node_modules/@indutny/breakpad" ] ||
    npm install --prefix "$build/tools" --ignore-scripts --no-audit --no-fund minidump@0.26.0 @indutny/breakpad@1.2.3 \
      >"$build/log/tools.log" 2>&1 || printf 'run: no minidump_stackwalk, see build/log/tools.log\n' >&2
}

# The second judge of managed frames, see tests/clrmd: where the dotnet SDK is there to fetch and build it.
build_clrmd() {
  local sha256=9c3134708f685463c4e1a2ac9aaf35a23462cd90bf3a2fb95b837dedb8377380 got="$build/clrmd.new/packages/microsoft.diagnostics.runtime"
  local -x DOTNET_CLI_TELEMETRY_OPTOUT=1 DOTNET_NOLOGO=1 DOTNET_CLI_HOME="$build/clrmd.new"
  [ ! "$build/clrmd/clrmd.exe" -nt tests/clrmd/clrmd.cs ] || return 0
  command -v dotnet >/dev/null || return 0
  rm -rf "$build/clrmd.new"
  mkdir -p "$build/clrmd.new"
  cp tests/clrmd/clrmd.cs* "$build/clrmd.new/"
  if dotnet publish -c Release -o "$build/clrmd.new/out" "$build/clrmd.new/clrmd.csproj" >"$build/log/clrmd.log" 2>&1 &&
    printf '%s  %s\n' "$sha256" "$(ls "$got"/*/*.nupkg)" | sha256sum -c --quiet >>"$build/log/clrmd.log"; then
    rm -rf "$build/clrmd"
    mv "$build/clrmd.new/out" "$build/clrmd"
  else
    printf 'run: no ClrMD, see build/log/clrmd.log\n' >&2
  fi
  rm -rf "$build/clrmd.new"
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
    clrmd) build_clrmd ;;
    compilers) install_compilers ;;
    prefixes) copy_prefix ;;
    no-prefixes) remove_copies ;;
    *)
      printf 'usage: tests/tools.sh BUILD nginx|stackwalk|clrmd|compilers|prefixes|no-prefixes...\n' >&2
      exit 2
      ;;
  esac
done
