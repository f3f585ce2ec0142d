#!/usr/bin/env bash
# debian_wine32.sh FOLDER: unpacks the 32-bit half of the installed Debian Wine into FOLDER, the prefix's name + "32",
# where twinstack finds it (analyze/collect/wine32_posix.c).
#
# Nothing is installed: that would need root, another architecture of dpkg, and the same version of each shared library
# in both architectures. The 32-bit half needs only libc, which the amd64 package libc6-i386 has. apt checks the
# signatures, with lists and caches of its own beside FOLDER. Exit status 3: it is not available, and stderr says why.
#
# Some machines run 64-bit programs alone (a kernel without IA-32 emulation). There Debian's qemu-i386 runs the 32-bit
# loader; FOLDER/emulated has its version. A Windows program then takes 0.5 s to start, and the same stacks are captured.
#
# Of 753 DLLs (550 MB, mostly DWARF), these are kept (44 MB). A victim that loads one more does not start until it is
# added here.
set -euo pipefail
folder=$(realpath -m -- "$1") # apt reads a relative folder as one below /etc/apt
readonly folder loader=${TWINSTACK_LOADER32-/lib/ld-linux.so.2} apt="$folder.apt" system=/usr/lib/x86_64-linux-gnu/wine

# What victims load. They stay whole, because their DWARF names the frames in them.
loaded() {
  printf '%s\n' advapi32.dll apisetschema.dll dbghelp.dll gdi32.dll imm32.dll kernel32.dll kernelbase.dll msvcrt.dll ntdll.dll \
    sechost.dll ucrtbase.dll user32.dll uxtheme.dll version.dll win32u.dll
}

# What also runs while a prefix is made, and what Microsoft's dbghelp needs where a user has it (oleaut32).
needed_once() {
  printf '%s\n' combase.dll ole32.dll oleaut32.dll rpcrt4.dll rundll32.exe setupapi.dll shcore.dll shell32.dll shlwapi.dll
}

fail() {
  printf 'wine32: %s\n' "$1" >&2
  exit 3
}

# fetch ARCHITECTURE SOURCES PACKAGE...: into $apt/got.
fetch() {
  local state="$apt/$1"
  local options=(-q -o "APT::Architecture=$1" -o "APT::Architectures::=$1" -o Dir::Etc::sourcelist=/dev/null
    -o "Dir::Etc::sourceparts=$2" -o "Dir::State::lists=$state/lists" -o Dir::State::status=/dev/null
    -o "Dir::Cache=$state/cache" -o Acquire::Retries=3 -o APT::Sandbox::User=root -o Acquire::Languages=none
    -o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false)
  mkdir -p "$state/lists/partial" "$state/cache/archives/partial"
  apt-get "${options[@]}" update || : # whether the packages are found is what matters
  (cd "$apt/got" && apt-get "${options[@]}" download "${@:3}")
}

# qemu-user of Debian 13, which is static. That of Debian 12 (7.2) cannot run Wine: it takes MAP_FIXED_NOREPLACE for a
# hint (50 s to start a program), and gives all threads one GDT.
fetch_emulator() {
  local archive
  archive=$(sed -n 's/^deb .*\(https\?:[^ ]*\) .*/\1/p; s/^URIs: *\([^ ]*\).*/\1/p' "$apt"/parts/* | grep -v security | head -n 1)
  [ -n "$archive" ] || fail 'this machine runs no 32-bit programs, and no Debian archive is known that has an emulator'
  mkdir "$apt/newer"
  printf 'deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] %s trixie main\n' "$archive" >"$apt/newer/trixie.list"
  fetch amd64 "$apt/newer" qemu-user || fail 'this machine runs no 32-bit programs, and the emulator cannot be fetched'
  dpkg-deb --fsys-tarfile "$apt"/got/qemu-user_*.deb | tar -x -C "$folder.new" ./usr/bin/qemu-i386 ||
    fail 'the emulator cannot be unpacked'
}

# The 32-bit loader becomes a script that has the real one emulated. WINELOADERNOEXEC: it does not start itself once
# more for another layout of its memory, which the kernel would refuse.
emulate() {
  local wine="$folder.new/usr/lib/wine"
  clang-19 --target=i386-linux-gnu -O2 -fPIC -shared -nostdlib -fuse-ld=lld -fvisibility=hidden -fno-stack-protector \
    -Wall -Wextra -Wpedantic -Wconversion -Werror -o "$wine/trap.so" "$trap" || fail 'what the emulator lacks does not build'
  mv "$wine/wine" "$wine/wine.i386"
  cat >"$wine/wine" <<'SCRIPT'
#!/bin/sh
here=${0%/*}
export WINELOADERNOEXEC=1
exec "$here/../../bin/qemu-i386" -0 "$here/wine" -cpu max -E "LD_PRELOAD=$here/trap.so" "$here/wine.i386" "$@"
SCRIPT
  chmod 755 "$wine/wine"
  "$folder.new/usr/bin/qemu-i386" --version | sed -n '1s/ version\( [0-9.]*\).*/\1/p' >"$folder.new/emulated"
}

[ "$(dpkg --print-architecture 2>/dev/null)" = amd64 ] || fail 'this is not Debian for amd64'
version=$(dpkg-query -W -f '${Version}' libwine:amd64 2>/dev/null) || fail 'the installed Wine is not a Debian package'
[ -e "$loader" ] || fail 'libc6-i386 is not installed'
emulated=no
"$loader" --version >/dev/null 2>&1 || emulated=yes
readonly version emulated trap=${0%/*}/wine32/trap.c
state="$version emulated:$emulated $(cat "$0" "$trap" | sha256sum)"
if [ "$(cat "$folder/version" 2>/dev/null)" = "$state" ]; then exit 0; fi

rm -rf "$apt" "$folder" "$folder.new"
mkdir -p "$apt/parts" "$apt/got" "$folder.new/usr/lib"
trap 'rm -rf "$apt" "$folder.new"' EXIT
# The system's own Debian archives. Wine is in the main archive; the index of another one may be out of order.
for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
  if [ -r "$file" ]; then sed -n '/^deb .*debian/p' "$file"; fi
done >"$apt/parts/system.list"
for file in /etc/apt/sources.list.d/*.sources; do
  if [ -r "$file" ] && grep -q debian-archive-keyring "$file"; then cat "$file" && echo; fi
done >"$apt/parts/system.sources"
if [ "$emulated" = yes ]; then fetch_emulator; fi
fetch i386 "$apt/parts" "libwine=$version" "wine32=$version" || fail 'the packages cannot be fetched'

in=./usr/lib/i386-linux-gnu/wine
mapfile -t wanted < <({ loaded && needed_once; } | sed "s,^,$in/i386-windows/,")
dpkg-deb --fsys-tarfile "$apt"/got/libwine_*.deb | tar -x -C "$folder.new" "$in/i386-unix/ntdll.so" "$in/i386-unix/win32u.so" \
  "${wanted[@]}" ||
  fail 'libwine cannot be unpacked'
dpkg-deb --fsys-tarfile "$apt"/got/wine32_*.deb | tar -x -C "$folder.new" ./usr/lib/wine/wine || fail 'wine32 cannot be unpacked'
(cd "$folder.new/$in/i386-windows" && needed_once | xargs -n 1 llvm-strip-19 --strip-debug) || fail 'llvm-strip-19 failed'
if [ "$emulated" = yes ]; then emulate; fi
# A loader looks for the one of the other size, and for the server, in its own folder; for everything else above it.
cp /usr/lib/wine/wine64 "$folder.new/usr/lib/wine/"
ln -s /usr/lib/wine/wineserver "$folder.new/usr/lib/wine/wineserver"
ln -s /usr/lib/x86_64-linux-gnu "$folder.new/usr/lib/x86_64-linux-gnu"
ln -s /usr/share "$folder.new/usr/share"
# dbghelp and user32 load it. In the 64-bit package a script makes it, from a package for all architectures.
ln -s "$system/i386-windows/zlib1.dll" "$folder.new/$in/i386-windows/zlib1.dll"
ln -s /usr/bin/wine "$folder.new/half-of"
printf '%s\n' "$state" >"$folder.new/version"
mv "$folder.new" "$folder"
