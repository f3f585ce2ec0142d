#!/usr/bin/python3
"""Archives that are the same bytes wherever and whenever they are made of the same files.

    release_pack.py FOLDER ARCHIVE    packs FOLDER as ARCHIVE: .tar.xz or .zip, with the name of FOLDER above its files
    release_pack.py --sums FOLDER     writes FOLDER/SHA256SUMS

Names are sorted, owners and times are fixed (SOURCE_DATE_EPOCH, a must), and of the modes only whether a file may be executed is kept."""

import hashlib
import lzma
import os
import pathlib
import sys
import tarfile
import time
import zipfile


def entries(folder):
    """(name in the archive, path), sorted by name."""
    found = [(str(p.relative_to(folder.parent)), p) for p in [folder, *folder.rglob("*")]]
    return sorted(found, key=lambda entry: entry[0].encode())


def mode_of(path):
    return 0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644


def pack_tar(folder, archive, when):
    with lzma.open(archive, "wb", preset=9) as packed, tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name, path in entries(folder):
            info = tarfile.TarInfo(name)
            info.mtime = when
            if path.is_symlink():
                info.type, info.linkname, info.mode = tarfile.SYMTYPE, os.readlink(path), 0o777
                tar.addfile(info)
            elif path.is_dir():
                info.type, info.mode = tarfile.DIRTYPE, 0o755
                tar.addfile(info)
            else:
                info.size, info.mode = path.stat().st_size, mode_of(path)
                with path.open("rb") as file:
                    tar.addfile(info, file)


def pack_zip(folder, archive, when):
    when = max(when, 315532800)  # a zip knows no time before 1980
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
        for name, path in entries(folder):
            if path.is_dir():
                continue
            info = zipfile.ZipInfo(name, time.gmtime(when)[:6])
            info.compress_type, info.create_system, info.external_attr = zipfile.ZIP_DEFLATED, 3, (0o100000 | mode_of(path)) << 16
            packed.writestr(info, path.read_bytes(), compresslevel=9)


def write_sums(folder):
    names = sorted(p.name for p in folder.iterdir() if p.is_file() and p.name != "SHA256SUMS")
    (folder / "SHA256SUMS").write_text("".join(f"{hashlib.sha256((folder / n).read_bytes()).hexdigest()}  {n}\n" for n in names),
                                       encoding="utf-8")


def main(argv):
    if len(argv) == 2 and argv[0] == "--sums":
        write_sums(pathlib.Path(argv[1]))
        return 0
    makers = {".tar.xz": pack_tar, ".zip": pack_zip}
    make = next((make for suffix, make in makers.items() if len(argv) == 2 and argv[1].endswith(suffix)), None)
    if make is None:
        print("usage: release_pack.py FOLDER ARCHIVE(.tar.xz|.zip) | --sums FOLDER", file=sys.stderr)
        return 2
    if "SOURCE_DATE_EPOCH" not in os.environ:
        print("release_pack.py: SOURCE_DATE_EPOCH is not set: give it the seconds of the commit (git log -1 --format=%ct)", file=sys.stderr)
        return 3
    make(pathlib.Path(argv[0]).resolve(), argv[1], int(os.environ["SOURCE_DATE_EPOCH"]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
