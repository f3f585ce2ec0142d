#!/usr/bin/env bash
# archives.sh FOLDER: compiles the libraries of which Debian has no archive that fits into FOLDER/lib*.a, from the upstream
# sources of Debian's packages, pinned by SHA-256.  Each shared library costs 0.1 ms of every start.  Exit status 3: a
# source is missing, and stderr says which; the shared library is then linked.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mkdir -p "$1/sources"
folder=$(cd "$1" && pwd)
readonly here folder
readonly sources="$folder/sources"

# archive LIBRARY PACKAGE SHA256 FILES OPTION...: FILES are patterns, and no two files have one name.
archive() {
  local library=$1 package=$2 sha256=$3 pattern file
  local -a patterns objects=()
  IFS=' ' read -ra patterns <<<"$4"
  shift 4
  [ ! -f "$folder/lib$library.a" ] || return 0
  "$here/debian_source.sh" "$package" "$sha256" "$sources/$package" || exit 3
  rm -rf "${folder:?}/$library"
  mkdir "$folder/$library"
  while read -r file; do
    objects+=("$folder/$library/$(basename "$file" .c).o")
    "${CC:-cc}" -O2 -g "-ffile-prefix-map=$folder=archives" "-ffile-prefix-map=$PWD=." -fPIC -fvisibility=hidden -w "$@" \
      -c "$file" -o "${objects[-1]}"
  done < <(for pattern in "${patterns[@]}"; do compgen -G "$sources/$package/$pattern"; done)
  rm -f "$folder/lib$library.a.new"
  ar rcs "$folder/lib$library.a.new" "${objects[@]}"
  mv "$folder/lib$library.a.new" "$folder/lib$library.a"
}

# LLVM's demangler, out of the archive that Debian does have: one C function, and nothing else of C++'s runtime.
demangler() {
  local from=/usr/lib/llvm-19/lib/libc++abi.a
  [ -f "$from" ] && [ ! -f "$folder/libc++abi.a" ] || return 0
  (cd "$folder" && ar x "$from" cxa_demangle.cpp.o)
  "${CC:-cc}" -O2 -fPIC -w -c "$here/cxxabi_runtime.c" -o "$folder/cxxabi_runtime.o"
  ld -r -o "$folder/c++abi.o" "$folder/cxa_demangle.cpp.o" "$folder/cxxabi_runtime.o"
  objcopy --keep-global-symbol=__cxa_demangle "$folder/c++abi.o"
  ar rcs "$folder/libc++abi.a.new" "$folder/c++abi.o"
  mv "$folder/libc++abi.a.new" "$folder/libc++abi.a"
}

demangler
archive cjson cjson 5308fd4bd90cef7aa060558514de6a1a4a0819974a26e6ed13973c5f624c24b2 cJSON.c -DCJSON_HIDE_SYMBOLS
# What the dashboard asks for.
archive civetweb civetweb ec372e9737bc820118bbb735f46a07d41f795814ca0f38bc6e67048e7a460f33 src/civetweb.c \
  -I "$sources/civetweb/include" -DNO_SSL -DNO_CGI -DNO_FILES -DUSE_IPV6
# Debian's archive has ten processors: 6 MB, and 77,000 addresses to relocate at each start. Those of 32-bit arm
# alone take 0.1 ms.
archive capstone capstone 7c81d798022f81e7507f1a60d6817f63aa76e489aa4e7055255f21a22f5e526a \
  'cs.c utils.c SStream.c MC*.c arch/X86/*.c arch/AArch64/*.c' -g0 -I "$sources/capstone/include" \
  -DCAPSTONE_USE_SYS_DYN_MEM -DCAPSTONE_HAS_X86 -DCAPSTONE_HAS_ARM64
