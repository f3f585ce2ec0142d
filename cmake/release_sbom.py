#!/usr/bin/python3
"""What the files of a release contain of other projects, as SPDX 2.3 in JSON: which libraries, in which version, by which licence.

    release_sbom.py --version V --commit HASH --linux TREE --out FILE [--windows FOLDER] FILE...

TREE is the build tree of the program: its CMakeCache.txt says which libraries were linked, and dpkg whose these are. With --windows, the
folder of cmake/windows/packages.sh, the libraries of twinstack.exe: the same Debian sources. The pages hold npm packages. Licences are
those that the copyright file of each Debian package states; names that SPDX does not know become LicenseRef- with their text. The time is
SOURCE_DATE_EPOCH, so that the same input gives the same bytes. FILEs are the release's own, with their checksums."""

import argparse
import datetime
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Debian's short names in the spelling of SPDX.
SPDX = {"expat": "MIT", "mit": "MIT", "zlib": "Zlib", "zlib/libpng": "Zlib", "bsd-2-clause": "BSD-2-Clause", "bsd-3-clause": "BSD-3-Clause",
        "isc": "ISC", "apache-2.0": "Apache-2.0", "lgpl-2": "LGPL-2.0-only", "lgpl-2+": "LGPL-2.0-or-later", "lgpl-2.1": "LGPL-2.1-only",
        "lgpl-2.1+": "LGPL-2.1-or-later", "lgpl-3+": "LGPL-3.0-or-later", "gpl-2": "GPL-2.0-only", "gpl-2+": "GPL-2.0-or-later",
        "gpl-3": "GPL-3.0-only", "gpl-3+": "GPL-3.0-or-later"}
# What archives.sh and windows/packages.sh compile: the source of Debian, and the package whose copyright file is installed.
SOURCES = {"capstone": "libcapstone-dev", "cjson": "libcjson-dev", "civetweb": "libcivetweb-dev", "libiberty": "libiberty-dev",
           "libmspack": "libmspack-dev", "llvm-toolchain-19": "libc++abi-19-dev", "libzstd": "libzstd-dev", "nettle": "nettle-dev",
           "sqlite3": "libsqlite3-dev", "xz-utils": "liblzma-dev", "zlib": "zlib1g-dev"}
# Archives of our own, by the name of the library; LLVM's demangler is taken out of Debian's archive.
OWN_ARCHIVES = {"capstone": "libcapstone-dev", "cjson": "libcjson-dev", "civetweb": "libcivetweb-dev", "c++abi": "libc++abi-19-dev"}


def run(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"}).stdout


def fail(words):
    print(f"release_sbom.py: {words}", file=sys.stderr)
    sys.exit(3)


class Licences:
    """Expressions of SPDX, and the texts of the names that it does not know."""

    def __init__(self):
        self.texts = {}

    def of_name(self, name, text):
        known = SPDX.get(name.lower())
        if known:
            return known
        reference = "LicenseRef-" + re.sub(r"[^A-Za-z0-9.-]+", "-", name)
        self.texts.setdefault(reference, (name, text or f"Debian calls it {name}; see the copyright file of the package."))
        return reference

    def of_package(self, package):
        """All licences of its copyright file, which says them of the whole source."""
        file = pathlib.Path("/usr/share/doc") / package / "copyright"
        if not file.is_file():
            return "NOASSERTION"
        content = file.read_text(encoding="utf-8", errors="replace")
        texts = {m[1].strip(): m[2] for m in re.finditer(r"^License: *(\S.*)\n((?:[ \t].*\n)+)", content, re.M)}
        found = set()
        for name in re.findall(r"^License:[ \t]*(\S.*)$", content, re.M):
            either = [self.of_name(part, texts.get(part) or texts.get(name)) for part in re.split(r",? +or +", name.strip())]
            found.add(f"({' OR '.join(either)})" if len(either) > 1 else either[0])
        return " AND ".join(sorted(found)) or "NOASSERTION"


def installed(package):
    """(version, source package, its version) as dpkg has them."""
    return tuple(run("dpkg-query", "-W", "-f", "${Version}\t${source:Package}\t${source:Version}\n", package).splitlines()[0].split("\t"))


def owner_of(path):
    for candidate in (str(path), os.path.realpath(path), str(path).removeprefix("/usr")):
        done = subprocess.run(["dpkg", "-S", candidate], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return done.stdout.splitlines()[0].split(": ")[0].split(":")[0]
    return fail(f"no package of dpkg has {path}, which is linked: its version and licence are not known")


def linked(tree):
    """[(package, how)] of the program in TREE."""
    cache = (tree / "CMakeCache.txt").read_text(encoding="utf-8")
    found = set()
    for library, path in re.findall(r"^([A-Za-z0-9+_]+)_FILE:FILEPATH=(.+)$", cache, re.M):
        if path.endswith("-NOTFOUND"):
            continue
        own = OWN_ARCHIVES.get(library)
        found.add((own if own and not path.startswith("/usr/") else owner_of(path), "STATIC_LINK" if path.endswith(".a") else "DYNAMIC_LINK"))
    archives = re.search(r"^TWINSTACK_ARCHIVES:\w+=(.+)$", cache, re.M)
    for file in sorted(pathlib.Path(archives[1]).glob("lib*.a")) if archives else []:
        found.add((OWN_ARCHIVES[file.stem[3:]], "STATIC_LINK"))
    program = run("ldd", tree / "bin/twinstack")
    for path in re.findall(r"=> (/\S+)", program):
        found.add((owner_of(path), "DYNAMIC_LINK"))
    return found


def windows_packages(folder):
    """[(package, how, version)]: the same sources as Debian's."""
    for name in re.findall(r"^(\S+) [0-9a-f]{64}", (ROOT / "cmake/windows/packages.sh").read_text(encoding="utf-8"), re.M):
        archive = next((folder / "sources/apt/got").glob(f"{name}_*.orig.tar.*"), None)
        if name not in SOURCES:
            fail(f"cmake/windows/packages.sh has {name}, of which SOURCES in release_sbom.py does not say the package")
        yield SOURCES[name], "STATIC_LINK", re.search(r"_(.*)\.orig", archive.name)[1] if archive else None
    yield "mingw-w64-x86-64-dev", "STATIC_LINK", None


def pages():
    """npm packages within the pages."""
    manifest = json.loads((ROOT / "dashboard/web/package.json").read_text(encoding="utf-8"))
    lock = json.loads((ROOT / "dashboard/web/package-lock.json").read_text(encoding="utf-8"))["packages"]
    for name in sorted(manifest["dependencies"]):
        entry = lock[f"node_modules/{name}"]
        yield name, entry["version"], entry.get("license", "NOASSERTION")


def identifier(*words):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]+", "-", "-".join(words))


def package(ident, name, version, licence, **more):
    return {"SPDXID": ident, "name": name, "versionInfo": version, "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
            "licenseConcluded": "NOASSERTION", "licenseDeclared": licence, "copyrightText": "NOASSERTION", **more}


def reference(purl):
    return {"externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl}]}


def document(args):
    licences, own = Licences(), "SPDXRef-twinstack"
    packages = [package(own, "twinstack", args.version, "MIT", sourceInfo=f"commit {args.commit}", primaryPackagePurpose="APPLICATION")]
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", own)]
    parts = [("linux", name, how, None) for name, how in linked(args.linux)]
    if args.windows:
        parts += [("windows", *part) for part in windows_packages(args.windows)]
    for system, name, how, upstream in sorted(parts, key=lambda part: tuple(map(str, part))):
        version, source, source_version = installed(name)
        ident = identifier(system, name)
        said = f"Debian's source package {source} {upstream or source_version}; part of the files for {system}"
        purl = f"pkg:deb/debian/{name.replace('+', '%2B')}@{version.replace('+', '%2B').replace(':', '%3A')}"
        packages.append(package(ident, name, upstream or version, licences.of_package(name), sourceInfo=said, **reference(purl)))
        relations.append((own, how, ident))
    for name, version, licence in pages():
        packages.append(package(identifier("npm", name), name, version, licence, sourceInfo="part of the dashboard's pages",
                                **reference(f"pkg:npm/{name}@{version}")))
        relations.append((own, "CONTAINS", identifier("npm", name)))
    files = []
    for path in sorted(args.file):
        content = path.read_bytes()
        files.append({"SPDXID": identifier("file", path.name), "fileName": f"./{path.name}", "licenseConcluded": "NOASSERTION",
                      "copyrightText": "NOASSERTION", "checksums": [
                          {"algorithm": "SHA1", "checksumValue": hashlib.sha1(content).hexdigest()},
                          {"algorithm": "SHA256", "checksumValue": hashlib.sha256(content).hexdigest()}]})
        relations.append((identifier("file", path.name), "GENERATED_FROM", own))
    when = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
    return {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"twinstack-{args.version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/twinstack-{args.version}-{args.commit}",
        "creationInfo": {"created": when.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: twinstack-cmake/release_sbom.py"]},
        "packages": packages, "files": files,
        "relationships": [dict(zip(("spdxElementId", "relationshipType", "relatedSpdxElement"), r)) for r in relations],
        "hasExtractedLicensingInfos": [{"licenseId": ident, "name": name, "extractedText": text}
                                       for ident, (name, text) in sorted(licences.texts.items())]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--version", required=True)
    parser.add_argument("--commit", required=True)
    parser.add_argument("--linux", required=True, type=pathlib.Path)
    parser.add_argument("--windows", type=pathlib.Path)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("file", nargs="*", type=pathlib.Path)
    args = parser.parse_args()
    if "SOURCE_DATE_EPOCH" not in os.environ:
        fail("SOURCE_DATE_EPOCH is not set: give it the seconds of the commit (git log -1 --format=%ct)")
    args.out.write_text(json.dumps(document(args), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
