"""The protocol of the stream as a small machine whose every state is visited: sender, queue, workers, reducer, ids.

Invariants: when nothing is left to do, each stack that was acknowledged is counted exactly once, or its report, which kills each worker that has
it, is a dead letter; at no time is a stack counted twice, or a report buried that kills no worker. `tests/e2e/test_stream_model.py` runs it, and
puts each known defect back to see that it is found.

The correspondence with the code is in the names: put, claim, take, settle, trial, slices, totals (`analyze/stream/*.h`)."""

from collections import namedtuple

# One report that is sent under an id. FILE: the name that its message has in the queue; two pieces that share a name are the defect.
# STACKS: what one result of it holds; a poisonous one kills each worker that has it. RECORD: it goes in parts, which are removed when it is counted.
# NEWER: worker 0 is too old to read it.
Report = namedtuple("Report", "id body poison large record newer", defaults=(False, False))

Message = namedtuple("Message", "key id body state delivered taker")  # state: ready, taken, done
Worker = namedtuple("Worker", "symbols phase held group made")        # held: (key, delivered); group: the keys it works on; made: results not stored
State = namedtuple("State", "sent acknowledged refused reports notes trials workers partials slices counted known dead gone deaths changes")  # gone: whose parts are removed

WORKERS = 2
DEATHS_MAX = 3         # of workers until a message is buried; the program has 5, which only takes longer
SYMBOL_CHANGES = 1
BATCH = 2

DEFECTS = ("ids of senders reach names of files", "pieces share the ids of other reports", "another body is answered 200", "results are cut by named rows",
           "deliveries count as deaths", "suspects are resolved together", "settled before the result is stored", "the reducer forgets ids",
           "a trial is stored after the work", "holders do not renew", "acknowledged before it is stored", "slices of two results count together",
           "a record is cut like a text", "letters share an id", "what is newer is buried", "a counted record that comes again is buried")


def cut(symbols):
    """How the rows of a large result fall into sections with these symbols: with others, the same stacks are elsewhere."""
    return (("a", "b"), ("c",)) if symbols == 0 else (("a",), ("b", "c"))


STACKS = ("a", "b", "c")


class Model:
    def __init__(self, reports, defect=None, deaths=1, is_sent=False):
        """DEATHS: how many deaths of any kind, ends of leases under a living worker and repeated deliveries of results there are in all, besides
        the deaths of poison. IS_SENT: all reports are in the queue at the beginning."""
        assert defect is None or defect in DEFECTS
        self.reports, self.defect, self.deaths, self.is_sent = reports, defect, deaths, is_sent

    def start(self):
        none = tuple(Worker(symbols, "idle", (), (), ()) for symbols in range(WORKERS))
        state = State((), (), (), (), (), (), none, frozenset(), frozenset(), (), frozenset(), frozenset(), frozenset(), 0, 0)
        while self.is_sent and len(state.acknowledged) < len(self.reports):
            state = list(self.send(state))[-1][1]
        return state

    # ---- helpers on tuples

    @staticmethod
    def replaced(items, index, item):
        return items[:index] + (item,) + items[index + 1:]

    def message(self, state, key):
        return next(i for i, m in enumerate(state.reports) if m.key == key)

    def deaths_of(self, state, key):
        return dict(state.trials).get(key, 0)

    def with_trial(self, state, key, count):
        trials = dict(state.trials)
        trials[key] = count
        if count == 0:
            del trials[key]
        return state._replace(trials=tuple(sorted(trials.items())))

    # ---- the sender

    def keys_of(self, report):
        """The messages of a report: a large one goes in two pieces; a record does not."""
        if report.record and self.defect == "a record is cut like a text":
            return (report.id, "-1-" + report.id)
        if not report.large:
            return (report.id,)
        return (report.id, report.id + ".1") if self.defect == "pieces share the ids of other reports" else (report.id, "-1-" + report.id)

    def send(self, state):
        """Each report is sent once, in any order, and the answer may be lost: then it is sent again."""
        for number, report in enumerate(self.reports):
            if number in state.acknowledged or number in state.refused:
                continue
            notes = dict(state.notes)
            if self.defect != "another body is answered 200" and notes.get(report.id, report.body) != report.body:
                yield f"refuse {number}", state._replace(refused=(*state.refused, number))
                continue
            notes[report.id] = report.body
            steps = [state, state._replace(notes=tuple(sorted(notes.items())))]
            for key in self.keys_of(report):
                last = steps[-1]
                if not any(m.key == key for m in last.reports):
                    last = last._replace(reports=(*last.reports, Message(key, report.id, report.body, "ready", 0, None)))
                steps.append(last)
            if number not in state.sent:  # the server dies after any of its steps; the sender repeats it
                start = 2 if self.defect != "acknowledged before it is stored" else 1
                for step in steps[1:-1]:
                    yield f"send {number} and die", step._replace(sent=(*state.sent, number))
                if start == 1:
                    yield f"acknowledge {number} too early", steps[1]._replace(acknowledged=(*state.acknowledged, number))
            yield f"send {number}", steps[-1]._replace(acknowledged=(*state.acknowledged, number))

    # ---- workers

    def is_poison(self, state, key):
        return self.is_report(state, key, "poison")

    def is_report(self, state, key, what):
        """Whether a message is of a report that has the flag WHAT."""
        message = state.reports[self.message(state, key)]
        return any(getattr(r, what) and (r.id, r.body) == (message.id, message.body) for r in self.reports)

    def is_visible(self, message):
        return not (self.defect == "ids of senders reach names of files" and ".tmp" in message.key)

    def take(self, state, w):
        worker = state.workers[w]
        ready = [m for m in state.reports if m.state == "ready" and self.is_visible(m)][:BATCH]
        if worker.phase != "idle" or not ready:
            return
        reports = tuple(m._replace(state="taken", taker=w, delivered=min(m.delivered + 1, DEATHS_MAX + 1)) if m in ready else m for m in state.reports)
        yield f"{w} takes", state._replace(reports=reports, workers=self.replaced(state.workers, w, worker._replace(
            phase="has", held=tuple((m.key, min(m.delivered + 1, DEATHS_MAX + 1)) for m in ready))))

    def bury(self, state, w, key):
        at = self.message(state, key)
        worker = state.workers[w]
        rest = tuple(h for h in worker.held if h[0] != key)
        others = frozenset() if self.defect == "letters share an id" else state.dead
        return state._replace(dead=others | {key}, reports=self.replaced(state.reports, at, state.reports[at]._replace(state="done", taker=None)),
                              workers=self.replaced(state.workers, w, worker._replace(held=rest, phase="has" if rest else "idle")))

    def leave(self, state, w, key):
        """To a worker that can read it, when the lease is over."""
        at = self.message(state, key)
        worker = state.workers[w]
        rest = tuple(h for h in worker.held if h[0] != key)
        message = state.reports[at]
        back = message._replace(state="ready", taker=None) if message.state == "taken" and message.taker == w else message
        return state._replace(reports=self.replaced(state.reports, at, back), workers=self.replaced(state.workers, w, worker._replace(
            held=rest, phase="has" if rest else "idle")))

    def choose(self, state, w):
        """What the worker resolves together: what is delivered for the first time, or the suspect with the fewest deaths."""
        held = state.workers[w].held
        if self.defect in ("suspects are resolved together", "deliveries count as deaths"):
            return tuple(k for k, _ in held)
        fresh = tuple(k for k, delivered in held if delivered < 2)
        return fresh or (min((k for k, _ in held), key=lambda k: self.deaths_of(state, k)),)

    def begin(self, state, w):
        worker = state.workers[w]
        if worker.phase != "has":
            return
        newer = [key for key, _ in worker.held if w == 0 and self.is_report(state, key, "newer")]
        if newer:
            yield f"{w} leaves {newer[0]}", self.leave(state, w, newer[0]) if self.defect != "what is newer is buried" else self.bury(state, w, newer[0])
            return
        counted = [key for key, _ in worker.held if key in state.gone]
        if counted and self.defect == "a counted record that comes again is buried":
            yield f"{w} buries {counted[0]}", self.bury(state, w, counted[0])
            return
        if counted:
            yield f"{w} settles {counted[0]} again", self.settled(state._replace(workers=self.replaced(state.workers, w, worker._replace(group=(counted[0],)))), w)
            return
        group, delivered = self.choose(state, w), dict(worker.held)
        by_delivery = self.defect == "deliveries count as deaths"
        suspects = [k for k in group if delivered[k] > 1]
        guilty = [k for k in suspects if (delivered[k] - 1 if by_delivery else self.deaths_of(state, k) + 1) >= DEATHS_MAX]
        if guilty:
            yield f"{w} buries {guilty[0]}", self.bury(state, w, guilty[0])
            return
        if not by_delivery and self.defect != "a trial is stored after the work":
            for key in suspects:
                state = self.with_trial(state, key, self.deaths_of(state, key) + 1)
        if any(self.is_poison(state, k) for k in group):
            yield f"{w} dies of {group}", self.dead(state, w)
            return
        phase = "settling first" if self.defect == "settled before the result is stored" else "resolved"
        yield f"{w} resolves {group}", state._replace(workers=self.replaced(state.workers, w, worker._replace(
            phase=phase, group=group, made=tuple((k, part) for k in group for part in self.results(state, k, worker.symbols)))))

    def results(self, state, key, symbols):
        """The messages of the result of a report: (id, stacks, digest, number, count)."""
        message = state.reports[self.message(state, key)]
        name, body = (key, message.body)
        mine = tuple((name, body, s) for s in STACKS)
        if self.defect == "results are cut by named rows":
            return tuple((f"{name}~{n}", tuple((name, body, s) for s in rows), None, n, 1) for n, rows in enumerate(cut(symbols)))
        if not any(r.large and r.id == message.id for r in self.reports):
            return ((name, mine, None, 0, 1),)
        halves = cut(symbols)  # a large result goes in two slices of its bytes
        return tuple((name, tuple((name, body, s) for s in half), symbols, n, 2) for n, half in enumerate(halves))

    def publish(self, state, w):
        worker = state.workers[w]
        if worker.phase not in ("resolved", "settled"):
            return
        if worker.made:
            (_, part), rest = worker.made[0], worker.made[1:]
            is_over = worker.phase == "settled" and not rest
            yield f"{w} stores {part[0]}", state._replace(partials=state.partials | {part}, workers=self.replaced(
                state.workers, w, worker._replace(made=rest, phase=worker.phase if not is_over else "has" if worker.held else "idle")))
        elif worker.phase == "resolved":
            yield f"{w} settles", self.settled(state, w)

    def settle_first(self, state, w):
        worker = state.workers[w]
        if worker.phase == "settling first":
            after = self.settled(state, w)
            yield f"{w} settles too early", after._replace(workers=self.replaced(after.workers, w, after.workers[w]._replace(
                phase="settled", made=worker.made)))

    def settled(self, state, w):
        worker = state.workers[w]
        for key in worker.group:
            at = self.message(state, key)
            gone = state.gone | {key} if self.is_report(state, key, "record") else state.gone
            state = self.with_trial(state, key, 0)._replace(gone=gone, reports=self.replaced(state.reports, at, state.reports[at]._replace(state="done", taker=None)))
        rest = tuple(h for h in worker.held if h[0] not in worker.group)
        return state._replace(workers=self.replaced(state.workers, w, worker._replace(held=rest, group=(), made=(), phase="has" if rest else "idle")))

    def dead(self, state, w):
        """The worker is gone, and a new one starts; what it had comes again when its lease is over."""
        reports = tuple(m._replace(state="ready", taker=None) if m.state == "taken" and m.taker == w else m for m in state.reports)
        return state._replace(reports=reports, workers=self.replaced(state.workers, w, Worker(state.workers[w].symbols, "idle", (), (), ())))

    def die(self, state, w):
        if state.deaths < self.deaths and state.workers[w].phase != "idle":
            yield f"{w} dies", self.dead(state, w)._replace(deaths=state.deaths + 1)

    def expire(self, state, w):
        """A lease ends while the worker is alive: others have the messages as well. It renews them, so this is as rare as a death."""
        renews = self.defect != "holders do not renew" or state.workers[w].phase != "resolved"
        if (state.deaths < self.deaths or not renews) and any(m.taker == w for m in state.reports):
            reports = tuple(m._replace(state="ready", taker=None) if m.taker == w and m.state == "taken" else m for m in state.reports)
            yield f"the lease of {w} ends", state._replace(reports=reports, deaths=state.deaths + renews)

    def forget(self, state):
        """The queue is killed before it has written that a message is done. This is a death, too."""
        for at, message in enumerate(state.reports):
            if message.state == "done" and message.key not in state.dead and state.deaths < self.deaths:
                yield f"{message.key} comes again", state._replace(deaths=state.deaths + 1, reports=self.replaced(
                    state.reports, at, message._replace(state="ready", taker=None)))

    def change_symbols(self, state, w):
        worker = state.workers[w]
        if state.changes < SYMBOL_CHANGES and worker.phase == "idle":
            yield f"{w} has other symbols", state._replace(changes=state.changes + 1, workers=self.replaced(
                state.workers, w, worker._replace(symbols=1 - worker.symbols)))

    # ---- the reducer: its transaction is one step; a death before it changes nothing, one after it repeats the message

    def reduce(self, state):
        for part in sorted(state.partials, key=repr):
            name, stacks, digest, number, count = part
            for is_settled in (True, False):
                after = state._replace(partials=state.partials - {part} if is_settled else state.partials)
                if not is_settled and state.deaths >= self.deaths:
                    continue
                after = after._replace(deaths=after.deaths + (not is_settled))
                if name in after.known:
                    yield f"drop {name}", after
                    continue
                if count > 1:
                    after = after._replace(slices=after.slices | {part})
                    mixed = self.defect == "slices of two results count together"
                    have = {s[3]: s for s in sorted(after.slices, key=repr) if s[0] == name and (mixed or s[2] == digest)}
                    if len(have) < count:
                        yield f"keep slice {number} of {name}", after
                        continue
                    stacks = tuple(stack for slice_ in have.values() for stack in slice_[1])
                    after = after._replace(slices=frozenset(s for s in after.slices if s[0] != name))
                known = after.known if self.defect == "the reducer forgets ids" else after.known | {name}
                yield f"count {name}", after._replace(known=known, counted=tuple(sorted((*after.counted, *stacks))))

    # ---- all of it

    def steps(self, state):
        yield from self.send(state)
        yield from self.reduce(state)
        yield from self.forget(state)
        for w in range(WORKERS):
            for step in (self.take, self.begin, self.publish, self.settle_first, self.die, self.expire, self.change_symbols):
                yield from step(state, w)

    def broken(self, state, is_end):
        """What is wrong with a state; None: nothing."""
        if len(set(state.counted)) < len(state.counted):
            return "a stack is counted twice"
        if any(r.record and name != r.id for name, body, _ in state.counted for r in self.reports if r.body == body):
            return "a piece of a record is counted"
        if any(not self.is_poison(state, key) for key in state.dead):
            return "a report is buried that kills no worker"
        if not is_end:
            return None
        counted = set(state.counted)
        for number in state.acknowledged:
            report = self.reports[number]
            for key in self.keys_of(report):
                if not (key in state.dead and report.poison) and any((key, report.body, s) not in counted for s in STACKS):
                    return "an acknowledged stack is not counted"
        return None


def check(model, limit=4_000_000):
    """Visits every state. Returns how many there were, and what is wrong with the first bad one with the way to it; None: nothing is."""
    start = model.start()
    came = {start: None}
    waiting, has_end = [start], False
    while waiting:
        following = []
        for state in waiting:
            steps = list(model.steps(state))
            is_end = not any(after != state for _, after in steps)
            has_end = has_end or is_end
            wrong = model.broken(state, is_end)
            if wrong:
                way = []
                while came[state] is not None:
                    state, name = came[state]
                    way.append(name)
                return len(came), (wrong, way[::-1])
            for name, after in steps:
                if after not in came:
                    came[after] = state, name
                    following.append(after)
        assert len(came) < limit, "too many states"
        waiting = following
    return len(came), None if has_end else ("it never ends", [])
