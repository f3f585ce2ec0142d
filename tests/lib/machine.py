"""What a program used of the machine: processor seconds of all its processes, idle cores, load. Linux only."""

import contextlib
import os
import pathlib
import time

CORES = os.cpu_count() or 1


def overload():
    """How many programs share each core, at least 1."""
    return max(1.0, os.getloadavg()[0] / CORES)


def group_folder():
    """Where this process may make control groups that count processor time; None: nowhere. Source: cgroups(7)."""
    for row in pathlib.Path("/proc/self/cgroup").read_text(encoding="ascii").splitlines():
        _, kinds, path = row.split(":", 2)
        root = pathlib.Path("/sys/fs/cgroup", kinds)
        if kinds == "" or "cpuacct" in kinds.split(","):
            for folder in (root / path.lstrip("/"), root):  # a container may see its own group as the root
                if (folder / "cgroup.procs").exists() and os.access(folder, os.W_OK):
                    return folder
    return None


class Group:
    """A control group: counts what a process and all that it starts use, Wine's servers included."""

    def __init__(self, name):
        folder = group_folder()
        self.folder = folder / f"{name}-{os.getpid()}-{time.monotonic_ns()}" if folder else None
        try:
            if self.folder:
                self.folder.mkdir()
        except OSError:
            self.folder = None

    def enter(self, pid=None):
        """Moves the process PID into it, by default the one that calls; what that starts from then on counts too."""
        with contextlib.suppress(OSError):  # it has ended already
            if self.folder:
                (self.folder / "cgroup.procs").write_text(str(pid or os.getpid()), encoding="ascii")

    def seconds(self):
        """Processor seconds so far; None: there is no group."""
        if not self.folder:
            return None
        if (self.folder / "cpuacct.usage").exists():
            return int((self.folder / "cpuacct.usage").read_text(encoding="ascii")) / 1e9
        rows = dict(row.split() for row in (self.folder / "cpu.stat").read_text(encoding="ascii").splitlines())
        return int(rows["usage_usec"]) / 1e6

    def close(self):
        with contextlib.suppress(OSError):  # something still runs in it
            if self.folder:
                self.folder.rmdir()


def remove_groups():
    """Removes the groups of this kind in which something still ran when they were closed."""
    for folder in group_folder().glob("test-*") if group_folder() else []:
        with contextlib.suppress(OSError):
            folder.rmdir()


class Idle:
    """How many cores had nothing to do since the last call. Source: proc(5), /proc/stat."""

    def __init__(self):
        self.last = self.read()

    @staticmethod
    def read():
        """(all ticks, idle ticks) of all cores since the start of the machine."""
        ticks = [int(n) for n in pathlib.Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()[1:9]]
        return sum(ticks), ticks[3] + ticks[4]

    def cores(self):
        now = self.read()
        total, idle = now[0] - self.last[0], now[1] - self.last[1]
        self.last = now
        return CORES * idle / total if total else 0.0
