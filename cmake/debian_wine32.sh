#!/usr/bin/env bash
# debian_wine32.sh FOLDER: unpacks the 32-bit half of the installed Debian Wine into FOLDER, the prefix's name + "32",
# where twinstack finds it (analyze/collect/wine32_posix.c).
#
# Nothing is installed: that would need root, another architecture of dpkg, and the same version of each shared library
# in both architectures. The 32-bit half needs only libc, which the amd64 package libc6-i386 has. apt checks the
# signatures, with lists and caches of its own beside FOLDER. Exit status 3: it is not available, and stderr says why.
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

# What also runs while a prefix is made.
needed_once() {
  printf '%s\n' combase.dll ole32.dll rpcrt4.dll rundll32.exe setupapi.dll shcore.dll shell32.dll shlwapi.dll
}

fail() {
  printf 'wine32: %s\n' "$1" >&2
  exit 3
}

[ "$(dpkg --print-architecture 2>/dev/null)" = amd64 ] || fail 'this is not Debian for amd64'
version=$(dpkg-query -W -f '${Version}' libwine:amd64 2>/dev/null) || fail 'the installed Wine is not a Debian package'
[ -e "$loader" ] || fail 'libc6-i386 is not installed'
# Some machines run 64-bit programs alone. Half a Wine would then make prefixes that never get their 32-bit DLLs.
if ! "$loader" --version >/dev/null 2>&1; then
  rm -rf "$folder"
  fail 'this machine runs no 32-bit programs, although libc6-i386 is installed'
fi
readonly version
state=$version-$(sha256sum <"$0")
if [ "$(cat "$folder/version" 2>/dev/null)" = "$state" ]; then exit 0; fi

rm -rf "$apt" "$folder" "$folder.new"
mkdir -p "$apt/parts" "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/got" "$folder.new/usr/lib"
trap 'rm -rf "$apt" "$folder.new"' EXIT
# The system's own Debian archives. Wine is in the main archive; the index of another one may be out of order.
for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
  if [ -r "$file" ]; then sed -n '/^deb .*debian/p' "$file"; fi
done >"$apt/parts/system.list"
for file in /etc/apt/sources.list.d/*.sources; do
  if [ -r "$file" ] && grep -q debian-archive-keyring "$file"; then cat "$file" && echo; fi
done >"$apt/parts/system.sources"
options=(-q -o APT::Architecture=i386 -o APT::Architectures::=i386 -o Dir::Etc::sourcelist=/dev/null
  -o "Dir::Etc::sourceparts=$apt/parts" -o "Dir::State::lists=$apt/lists" -o Dir::State::status=/dev/null
  -o "Dir::Cache=$apt/cache" -o Acquire::Retries=3 -o APT::Sandbox::User=root -o Acquire::Languages=none
  -o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false)
apt-get "${options[@]}" update || : # whether the packages are found is what matters
(cd "$apt/got" && apt-get "${options[@]}" download "libwine=$version" "wine32=$version") || fail 'the packages cannot be fetched'

in=./usr/lib/i386-linux-gnu/wine
mapfile -t wanted < <({ loaded && needed_once; } | sed "s,^,$in/i386-windows/,")
dpkg-deb --fsys-tarfile "$apt"/got/libwine_*.deb | tar -x -C "$folder.new" "$in/i386-unix/ntdll.so" "$in/i386-unix/win32u.so" \
  "${wanted[@]}" ||
  fail 'libwine cannot be unpacked'
dpkg-deb --fsys-tarfile "$apt"/got/wine32_*.deb | tar -x -C "$folder.new" ./usr/lib/wine/wine || fail 'wine32 cannot be unpacked'
(cd "$folder.new/$in/i386-windows" && needed_once | xargs -n 1 llvm-strip-19 --strip-debug) || fail 'llvm-strip-19 failed'
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
