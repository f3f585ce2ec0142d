"""The reference suite in full, asked of ours by the command that scores everybody's tools: no case may be worse than its stored result.

Only this asks ours about every case of the suite; the contestants' own test asks a fixed list of about 40."""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import e2e  # noqa: E402

sys.path.insert(0, str(e2e.ROOT / "tests"))
import soak  # noqa: E402

SUITE = e2e.ROOT / "corpus/reference"
OURS = [(result, cases, adapter) for result, cases, needs, adapter in soak.CONTESTANTS if needs is None]


class Ours(e2e.Case):
    def test_no_case_is_worse(self):
        asked = 0
        for result, cases, adapter in OURS:
            with self.subTest(result):
                stored = SUITE / f"results/{result}.json"
                done = self.run_twinstack("score", "--cmd", f"{SUITE}/adapters/{adapter} {e2e.PROGRAM}", "--suite", SUITE, "-k", cases,
                                          "-j", "2", "--no-cache", "--timeout", f"{int(10 * e2e.PATIENCE)}s", "--expect", stored, "--json")
                asked += sum(map(len, json.loads(done.stdout)["cases"].values()))
        lists = json.loads((SUITE / "suite.json").read_text(encoding="utf-8"))["lists"]
        self.assertEqual(asked, sum(len((SUITE / name).read_text(encoding="utf-8").splitlines()) for name in lists), "every case is asked")


if __name__ == "__main__":
    e2e.main()
