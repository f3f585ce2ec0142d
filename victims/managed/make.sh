#!/usr/bin/env bash
# make.sh RUNTIME [OUT]: compiles the managed assemblies again; the same sources and compiler give the same bytes.
#
# RUNTIME is the folder with System.Private.CoreLib.dll of .NET Core 3.1 (`./run` makes build/dotnet), whose API the
# assemblies use, so that they run on each later runtime too. The compiler is Roslyn of the dotnet SDK; the files here
# were made by the version in sdk.txt. OUT is this folder unless it is named.
set -euo pipefail
core=$(realpath "$1")/System.Private.CoreLib.dll
cd "$(dirname "${BASH_SOURCE[0]}")"
out=$(realpath "${2:-.}")
version=$(dotnet --list-sdks | tail -n 1)
roslyn=${version#*[} # "10.0.401 [/usr/share/dotnet/sdk]"
roslyn=${roslyn%]}/${version%% *}/Roslyn/bincore/csc.dll
if [ $# -eq 1 ]; then printf '%s\n' "${version%% *}" >sdk.txt; fi

# Every folder is spelt the same, so that no path of this machine gets into the files.
dotnet exec "$roslyn" -nologo -deterministic -nowarn:0649 -nostdlib "-r:$core" -target:library -optimize+ -debug:portable \
  "-pathmap:$PWD=victims/managed,$out=victims/managed" -embed -out:"$out/managed.dll" -pdb:"$out/managed.pdb" truth.cs scenarios.cs
