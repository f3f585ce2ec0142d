"""The files of a release: they are installed in an empty root and used, and their makers give the same bytes in any folder.

With TWINSTACK_SOAK: `./run soak release` builds everything in two clones in two folders and compares every byte (some 300 core-seconds).

Only this finds a file that a release lacks, and one whose bytes depend on the folder."""

import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402

PACK, SBOM, FILES = (e2e.ROOT / "cmake" / name for name in ("release_pack.py", "release_sbom.py", "release_files.sh"))
PYTHON = "/usr/bin/python3"
ENV = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000", "TZ": "UTC", "LC_ALL": "C"}
CASE = e2e.ROOT / "corpus/cases/inline_chain.ob2"


def command(*words, folder=e2e.ROOT, env=None):
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, check=False, cwd=folder, env=env or ENV)
    if done.returncode != 0:
        raise AssertionError(f"{words}: {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def sums(folder):
    return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in folder.iterdir() if p.is_file()}


class Use(e2e.Case):
    """Installed in an empty root, with nothing of the build near it."""

    def use(self, program):
        stack = "victims-ob2.exe!0x1530\n"
        done = subprocess.run([program, "resolve", "--symbols", e2e.ROOT / "corpus/symbols", "-"], input=stack, capture_output=True, text=True,
                              check=False, env={})
        self.assertIn(" pdb ", done.stdout, done.stderr)
        done = subprocess.run([program, "check", CASE], capture_output=True, text=True, check=False,
                              env={})
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        database = self.folder / "runs.db"
        serve = subprocess.Popen([program, "serve", "--wait", "--db", database, "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE, text=True, env={})
        try:
            address = serve.stdout.readline().strip()
            page = subprocess.run(["curl", "-sS", "--max-time", "20", address], capture_output=True, text=True, check=False) if shutil.which(
                "curl") else None
            self.assertRegex(address, r"^http://127\.0\.0\.1:\d+")
            if page is not None:
                self.assertIn("<script", page.stdout, page.stderr)
        finally:
            serve.terminate()
            serve.wait(20)
            serve.stdout.close()

    def test_the_debian_package(self):
        config = e2e.BUILD / "CPackConfig.cmake"
        made = []
        for name in ("one", "two"):
            command("cpack", "--config", config, "-G", "DEB", "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=none", "-B", self.folder / name)
            made.append(next((self.folder / name).glob("*.deb")))
        self.assertEqual(made[0].read_bytes(), made[1].read_bytes(), "two packages of one tree differ")
        command("dpkg-deb", "-x", made[0], self.folder / "root")
        self.use(self.folder / "root/usr/bin/twinstack")

    def test_the_archive(self):
        stage = self.folder / "twinstack-x"
        command("cmake", "--install", e2e.BUILD, "--strip", "--prefix", stage)
        command(PYTHON, PACK, stage, self.folder / "t.tar.xz")
        root = self.folder / "root"
        root.mkdir()
        command("tar", "-xJf", self.folder / "t.tar.xz", "-C", root)
        self.use(root / "twinstack-x/bin/twinstack")


class Bytes(e2e.Case):
    def tree(self, where, order):
        """One tree, written in another order, at another time and with another umask."""
        top = self.folder / where / "tree"
        names = ["a/b.txt", "a-b.txt", "B", "program", "a/deep/x"]
        for name in names if order else reversed(names):
            (top / name).parent.mkdir(parents=True, exist_ok=True)
            (top / name).write_text(f"{name}\n" * 100, encoding="utf-8")
            (top / name).chmod((0o755 if order else 0o700) if name == "program" else 0o644 if order else 0o600)
            os.utime(top / name, (1_600_000_000 + 60 * order, 1_600_000_000 + 60 * order))
        (top / "link").symlink_to("B")
        return top

    def test_archives_of_two_copies_are_equal(self):
        for suffix in (".tar.xz", ".zip"):
            with self.subTest(suffix):
                made = []
                for order, where in enumerate((f"one{suffix}", f"two/deeper{suffix}")):
                    archive = self.folder / f"{order}{suffix}"
                    command(PYTHON, PACK, self.tree(where, order), archive)
                    made.append(archive.read_bytes())
                self.assertEqual(made[0], made[1])
        with zipfile.ZipFile(self.folder / "0.zip") as packed:
            self.assertEqual(packed.namelist(), sorted(packed.namelist()))
            self.assertEqual(packed.read("tree/a/b.txt"), b"a/b.txt\n" * 100)

    def test_a_time_is_a_must(self):
        env = {name: value for name, value in ENV.items() if name != "SOURCE_DATE_EPOCH"}
        done = subprocess.run([PYTHON, PACK, self.folder, self.folder / "x.zip"], capture_output=True, text=True, check=False, env=env)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (3, 1))
        self.assertIn("SOURCE_DATE_EPOCH", done.stderr)

    def test_the_sums_are_those_of_the_files(self):
        (self.folder / "b").write_text("what is in b", encoding="utf-8")
        (self.folder / "a").write_text("what is in a", encoding="utf-8")
        command(PYTHON, PACK, "--sums", self.folder)
        self.assertEqual(command("sha256sum", "-c", "SHA256SUMS", folder=self.folder), "a: OK\nb: OK\n")


class Contents(e2e.Case):
    def test_the_sbom_names_what_is_linked(self):
        made = []
        for name in ("one", "two"):
            (self.folder / name).mkdir()
            command(PYTHON, SBOM, "--version", "1.2", "--commit", "f" * 40, "--linux", e2e.BUILD, "--out", self.folder / name / "s.json",
                    e2e.ROOT / "LICENSE")
            made.append((self.folder / name / "s.json").read_bytes())
        self.assertEqual(made[0], made[1])
        document = json.loads(made[0])
        packages = {package["name"]: package for package in document["packages"]}
        for name in ("libsqlite3-dev", "nettle-dev", "libzstd-dev", "libc6", "preact"):
            self.assertIn(name, packages)
        version = command("dpkg-query", "-W", "-f", "${Version}", "nettle-dev")
        self.assertEqual(packages["nettle-dev"]["versionInfo"], version)
        self.assertIn("(LGPL-3.0-or-later OR GPL-2.0-or-later)", packages["nettle-dev"]["licenseDeclared"])
        self.assertEqual(packages["zlib1g-dev"]["licenseDeclared"], "Zlib")
        known = {info["licenseId"] for info in document["hasExtractedLicensingInfos"]}
        used = set(re.findall(r"LicenseRef-[A-Za-z0-9.-]+", " ".join(p["licenseDeclared"] for p in document["packages"])))
        self.assertEqual(used, known)
        ids = [part["SPDXID"] for part in document["packages"] + document["files"]]
        self.assertEqual(len(ids), len(set(ids)))
        for relation in document["relationships"]:
            self.assertIn(relation["relatedSpdxElement"], ids)
        self.assertEqual(document["files"][0]["checksums"][1]["checksumValue"], sums(e2e.ROOT)["LICENSE"])

    def test_a_changed_tree_is_refused_and_the_version_is_of_the_tag(self):
        copy = self.folder / "copy"
        (copy / "cmake").mkdir(parents=True)
        shutil.copy(e2e.ROOT / "CMakeLists.txt", copy)
        shutil.copy(FILES, copy / "cmake")

        def git(*words):
            return command("git", "-c", "user.name=n", "-c", "user.email=n@localhost", *words, folder=copy)

        def release(*words):
            return subprocess.run(["cmake/release_files.sh", *words], cwd=copy, capture_output=True, text=True, check=False, env=ENV)

        git("init", "-q")
        git("add", "-A")
        git("commit", "-qm", "x")
        project = re.search(r"project\(twinstack VERSION ([0-9.]+)", (copy / "CMakeLists.txt").read_text(encoding="utf-8"))[1]
        self.assertRegex(release("--version").stdout, rf"^{re.escape(project)}\+g[0-9a-f]{{12}}\n$")
        git("tag", f"v{project}")
        self.assertEqual(release("--version").stdout, f"{project}\n")
        self.assertEqual(release("--check").returncode, 0)
        (copy / "new").write_text("x", encoding="utf-8")
        done = release()
        self.assertEqual((done.returncode, done.stderr.count("\n")), (3, 1), done.stderr)
        self.assertIn("1 files differ from the commit", done.stderr)
        git("add", "-A")
        git("commit", "-qm", "y")
        self.assertRegex(release("--version").stdout, rf"^{re.escape(project)}\+1\.g[0-9a-f]{{12}}\n$")
        git("tag", "v9.9.9")
        done = release("--version")
        self.assertEqual((done.returncode, done.stderr.count("\n")), (3, 1), done.stderr)
        self.assertIn("the tag is v9.9.9", done.stderr)


class TwoBuilds(e2e.Case):
    def soak_two_folders_give_the_same_bytes(self):
        made = {}
        for name in ("one", "another/folder"):
            clone = self.folder / name
            command("git", "clone", "-q", e2e.ROOT, clone)
            sources = e2e.BUILD / "windows-packages/sources"
            if sources.is_dir():  # pinned by their hashes; fetched once
                (clone / "build/windows-packages").mkdir(parents=True)
                command("cp", "-a", sources, clone / "build/windows-packages")
            command(clone / "cmake/release_files.sh", folder=clone, env=dict(os.environ))
            made[name] = sums(clone / "build/release")
        one, other = made.values()
        self.assertEqual(len(one), 6)
        self.assertEqual([n for n in sorted({*one, *other}) if one.get(n) != other.get(n)], [], "these files differ between the two folders")


if os.environ.get("TWINSTACK_SOAK"):  # no skip in ./run test: it is another, dearer test
    TwoBuilds.test_two_folders_give_the_same_bytes = TwoBuilds.soak_two_folders_give_the_same_bytes

if __name__ == "__main__":
    e2e.main()
