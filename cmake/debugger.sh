#!/usr/bin/env bash
# debugger.sh FOLDER [--accept-licence]: restores Microsoft's redistributable debugger files (dbghelp, dbgcore, dbgeng,
# dbgmodel, msdia140) into FOLDER, from the package that is named here, with the .NET SDK.  They are judges, see
# analyze/engine/README.md.  They stay in FOLDER: nothing of them is committed, packed or cached elsewhere.
set -euo pipefail
readonly package=Microsoft.Debugging.Platform.DbgEng version=20260109.1235.0
readonly licence=https://aka.ms/WinSDKLicenseURL
readonly folder=${1:?usage: debugger.sh FOLDER [--accept-licence]}
readonly restored="$folder/packages/${package,,}/$version"

die() {
  printf 'run: %s\n' "$1" >&2
  exit 3
}

case ${2-} in
  --accept-licence) ;;
  '')
    printf 'NuGet package %s %s: debugger files of Microsoft, under the licence of the Windows SDK:\n  %s\n' \
      "$package" "$version" "$licence"
    printf 'Read it. If you accept it: ./run debugger --accept-licence\n'
    exit 3
    ;;
  *) die "debugger takes no option but --accept-licence" ;;
esac

if [ ! -f "$restored/content/amd64/dbghelp.dll" ]; then
  command -v dotnet >/dev/null ||
    die "no dotnet, the .NET SDK, which restores the package; TWINSTACK_DEBUGGER can name the Debugging Tools for Windows instead"
  mkdir -p "$folder/project"
  # A project without code of its own: the package's files are all that it wants.
  cat >"$folder/project/debugger.csproj" <<XML
<Project Sdk="Microsoft.NET.Sdk">
  <PropertyGroup>
    <TargetFramework>netstandard2.0</TargetFramework>
    <DisableImplicitFrameworkReferences>true</DisableImplicitFrameworkReferences>
  </PropertyGroup>
  <ItemGroup><PackageDownload Include="$package" Version="[$version]" /></ItemGroup>
</Project>
XML
  DOTNET_CLI_TELEMETRY_OPTOUT=1 DOTNET_NOLOGO=1 dotnet restore --no-cache \
    --packages "$folder/packages" "$folder/project/debugger.csproj" \
    >"$folder/restore.log" 2>&1 || die "dotnet did not restore the package: $(tail -n 1 "$folder/restore.log")"
  [ -f "$restored/content/amd64/dbghelp.dll" ] || die "the package has no content/amd64/dbghelp.dll"
fi
ln -sfn "packages/${package,,}/$version/content" "$folder/content"
printf '%s/content\n' "$folder"
