#!/usr/bin/env bash
# dotnet_runtime.sh VERSION SHA256 FOLDER: fetches the Windows runtime of .NET VERSION (x64) by the dotnet SDK, and puts
# the three files that a host needs side by side into FOLDER, with mscordaccore.dll, by which debuggers find managed frames.
#
# SHA256 pins the package (MIT licence). Exit status 3: it is not available, and stderr says why.
set -euo pipefail
readonly version=$1 sha256=$2 folder=$3 id=microsoft.netcore.app.runtime.win-x64
[ ! -f "$folder/mscordaccore.dll" ] || exit 0

fail() {
  printf '.NET %s: %s\n' "$version" "$1" >&2
  if [ -d "$folder" ]; then exit 0; fi # an older set of its files does
  exit 3
}

command -v dotnet >/dev/null || fail 'the dotnet SDK is not installed'
[ -n "$(dotnet --list-sdks)" ] || fail 'dotnet is installed without its SDK'
rm -rf "$folder.new"
mkdir -p "$folder.new/flat"
trap 'rm -rf "$folder.new"' EXIT
cat >"$folder.new/fetch.csproj" <<XML
<Project Sdk="Microsoft.NET.Sdk">
  <PropertyGroup><TargetFramework>net${version%%.*}.0</TargetFramework></PropertyGroup>
  <ItemGroup><PackageDownload Include="$id" Version="[$version]" /></ItemGroup>
</Project>
XML
export DOTNET_CLI_TELEMETRY_OPTOUT=1 DOTNET_NOLOGO=1 DOTNET_CLI_HOME="$folder.new"
dotnet restore --packages "$folder.new/got" "$folder.new/fetch.csproj" || fail 'the package cannot be fetched'
readonly got="$folder.new/got/$id/$version"
printf '%s  %s\n' "$sha256" "$got/$id.$version.nupkg" | sha256sum -c --quiet >&2 || fail 'another package than the one that is pinned'
readonly files=(native/{coreclr,clrjit,mscordaccore}.dll "lib/net${version%%.*}.0/System.Private.CoreLib.dll")
for file in "${files[@]}"; do
  mv "$got/runtimes/win-x64/$file" "$folder.new/flat/" || fail 'a file is missing in the package'
done
rm -rf "$folder"
mv "$folder.new/flat" "$folder"
