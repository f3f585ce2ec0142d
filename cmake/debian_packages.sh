#!/usr/bin/env bash
# debian_packages.sh build|all: prints the packages of Debian that ./run installs, each in a line of its own, so that a change is one line.
#   build  what the program, its unit tests and the pages of the dashboard are built with
#   all    also what victims, Wine and the tests need
set -euo pipefail
readonly list=${1:?usage: debian_packages.sh build|all}

cat <<'TXT'
ca-certificates
ccache
gcc
libc6-dev
libc6-i386
cmake
dpkg-dev
ninja-build
pkgconf
libc++abi-19-dev
libcapstone-dev
libcivetweb-dev
libcjson-dev
libcurl4-openssl-dev
libiberty-dev
liblzma-dev
libmspack-dev
libnats-dev
libsqlite3-dev
libzstd-dev
nettle-dev
zlib1g-dev
xz-utils
python3
TXT
# A newer Node from elsewhere brings its own npm, which Debian's would clash with.
if ! { command -v npm && node -e 'process.exit(parseInt(process.versions.node) < 18 ? 1 : 0)'; } >/dev/null 2>&1; then
  printf '%s\n' nodejs npm
fi

[ "$list" = all ] || exit 0

cat <<'TXT'
g++-mingw-w64-x86-64
gcc-mingw-w64-x86-64
g++-mingw-w64-i686
gcc-mingw-w64-i686
gdb-mingw-w64
gdb-multiarch
clang-19
clang-format-19
clang-tidy-19
libclang-rt-19-dev
libdwarf-dev
lld-19
lldb-19
llvm-19
wine
wine64
nats-server
parallel
chromium-headless-shell
elfutils
fish
groff-base
poppler-utils
python3-jsonschema
python3-junitparser
python3-prometheus-client
python3-pyflakes
python3-unicorn
shellcheck
tcl
valgrind
wrk
zsh
TXT
