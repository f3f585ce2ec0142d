"""The measure of `check --dumps`: damaged stacks beside true dumps, by mechanism (tests/reporter). The seed is fixed here, and fresh
in a soak."""

import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "reporter"))
import crashes  # noqa: E402
import damages  # noqa: E402
import e2e  # noqa: E402
import matrix  # noqa: E402

EACH = 4


class Reporter(e2e.Case):
    def test_each_damage_is_found_and_named(self):
        missing = crashes.tools_missing()
        if missing:
            self.skipTest(missing)
        seed = int(os.environ.get("TWINSTACK_SEED", 0)) or (int.from_bytes(os.urandom(4)) if e2e.SOAK else 46)
        result = matrix.measure(self.folder, seed, EACH, crashes.COMPILERS)
        matrix.show(result)
        goals = matrix.summary(result)
        print(f"seed {seed}: {goals}", flush=True)
        found, accused, named, applied = (goals[name] for name in ("found", "accused", "named", "applied"))
        self.assertGreaterEqual(len(result), 60)
        self.assertEqual(found[0], found[1])
        self.assertEqual(accused[0], 0)
        self.assertGreaterEqual(named[0], 0.95 * named[1])
        self.assertEqual(applied, (len(damages.DAMAGES),) * 2)
        for mechanism in damages.DAMAGES:
            self.assertGreaterEqual(sum(row[0] == mechanism for row in result.values()), 3, mechanism)


e2e.main()
