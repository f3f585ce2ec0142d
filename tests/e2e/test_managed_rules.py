"""Rules for walks of managed code that the sources must keep; they need neither Windows nor a .NET runtime.

What happens when threads are stopped, end or get bad seeds is counted in test_managed_run.py."""

import contextlib
import io
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "bench"))
import bench_managed  # noqa: E402
import e2e  # noqa: E402

CAPTURE = e2e.ROOT / "capture"
# File: calls of SuspendThread, calls of ResumeThread.  stopped.c stops each thread of a hang to walk it, and all of them for the moments
# in which the locks that a dump needs are taken.
# walk_snapshot.c only looks whether the runtime has left a thread suspended (1, 1), and then resumes it.
SUSPENDS = {"stopped.c": (1, 1), "walk_snapshot.c": (1, 2), "watcher/watch.c": (1, 1)}


def code(path):
    """The C code of a file, without comments."""
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", path.read_text(), flags=re.DOTALL)


def body(text, name):
    """The body of function NAME."""
    return re.search(rf"\b{name}\([^;{{]*\)\n\{{(.*?)\n\}}", text, re.DOTALL)[1]


class ManagedRules(e2e.Case):
    def setUp(self):
        self.profiler = code(CAPTURE / "profiler/profiler.c")

    def test_who_may_suspend(self):
        found = {}
        for path in sorted(CAPTURE.rglob("*.c")):
            if path.parent.name != "stops":  # a program that measures suspensions
                text = code(path)
                calls = tuple(len(re.findall(rf"\b{name}\(", text)) for name in ("SuspendThread", "ResumeThread"))
                if any(calls):
                    found[path.relative_to(CAPTURE).as_posix()] = calls
        self.assertEqual(found, SUSPENDS)
        print(f"files that suspend {len(found)}, calls {sum(calls[0] for calls in found.values())}, in the profiler 0")

    def test_no_two_walks_at_once(self):
        snapshot = body(self.profiler, "snapshot")
        order = [snapshot.index(word) for word in ("try_to_take_lock(&walking)", "take_snapshot(", "release(&walking)")]
        self.assertEqual(order, sorted(order))
        self.assertNotRegex(snapshot, r"\btake_lock\(")  # it never waits
        total = sum(code(path).count("CLR_INFO_DO_STACK_SNAPSHOT") for path in CAPTURE.rglob("*.c"))
        self.assertEqual(total, 1)
        print(f"places that ask for a snapshot {total}, under the lock that is only tried 1")

    def test_a_target_is_not_destroyed_during_its_walk(self):
        destroyed = body(self.profiler, "on_thread_destroyed")
        self.assertLess(destroyed.index("take_lock(&walking)"), destroyed.index("threads[i].id = 0"))
        self.assertGreater(destroyed.index("release(&walking)"), destroyed.index("threads[i].os_id, 0"))
        print("threads forgotten outside of the lock 0")

    def test_nothing_is_asked_of_the_runtime_under_a_lock(self):
        held = self.profiler.count("take_lock(&publishing)"), self.profiler.count("take_lock(&walking)")
        self.assertEqual(held, (1, 2))  # the second of `walking` is only tried
        for name in ("publish_assembly", "on_thread_destroyed"):
            self.assertNotRegex(body(self.profiler, name), r"\b(ASK|CLR_CALL)\(", name)
        types = code(CAPTURE / "profiler/type_arguments.c")
        self.assertNotRegex(types, r"lock|SRWLOCK|CriticalSection")
        # What is not counted: the snapshot itself, and the first question, before there are threads.
        self.assertEqual(len(re.findall(r"\bCLR_CALL\(", self.profiler + types)), 3)
        asked = len(re.findall(r"\bASK\(", self.profiler + types))
        print(f"places that ask the runtime {asked}, under a lock 0")

    def test_the_bench_says_what_it_starts_again_and_what_it_could_not_measure(self):
        silent, loud = bench_managed.NotStarted("exit status 9"), RuntimeError("exit status 3\nmanaged-stops: cannot start")
        for name, answers, found, restarts in (("at once", [{"copy": 1}], {"copy": 1}, 0), ("then", [silent, {"copy": 1}], {"copy": 1}, 1),
                                               ("never", [silent, silent], None, 1), ("with a reason", [loud, {"copy": 1}], None, 0)):
            with self.subTest(name=name):
                told, again, left = io.StringIO(), [], list(answers)

                def take(*_, left=left):
                    answer = left.pop(0)
                    if isinstance(answer, Exception):
                        raise answer
                    return answer

                with contextlib.redirect_stderr(told):
                    try:
                        got = bench_managed.sample_patiently("Jit", 10, "copy", again, take)
                    except RuntimeError:
                        got = None
                self.assertEqual((got, len(again), told.getvalue().count("started once more")), (found, restarts, restarts))


if __name__ == "__main__":
    e2e.main()
