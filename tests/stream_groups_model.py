"""Small reports that go together, as a machine whose every state is visited: collectors with their pages of ids, workers that split a group after a
death, the reducer that counts the group or its reports (`analyze/stream/gather.h`, `ledger.h`, `work_split.c`, `totals.c`).

The invariants are those of `stream_model.py`. A report has one stack here."""

from collections import namedtuple

Message = namedtuple("Message", "key members split state delivered taker")  # state: ready, taken, done; a group has several members
Page = namedtuple("Page", "members key full by")
Collector = namedtuple("Collector", "phase members key view")  # phase: idle, page, put, answer; view: how many pages it has read
Worker = namedtuple("Worker", "phase key left")  # phase: idle, has, resolved, settle, splitting; left: members that are not put yet
State = namedtuple("State", "acknowledged pages collectors messages workers partials known counted dead deaths")

DELIVERIES_MAX = 3
DEFECTS = ("a page is added without a look at the others", "the message is stored before its page", "acknowledged when its page is stored",
           "what is on a page counts as stored", "a group is buried whole", "a group and its reports both count", "a group is split in place",
           "a newer page is overlooked")


class Groups:
    """REPORTS: how many; POISON: those that kill each worker that has them. DEATHS: how many deaths of any kind and ends of leases there are in all,
    besides those of poison. IS_SENT: all of them are in the queue at the beginning, as one group. HAS_OLD: collector 0 cannot read the pages
    of the others."""

    def __init__(self, reports, poison=(), defect=None, deaths=1, collectors=1, workers=2, is_sent=False, has_old=False):
        assert defect is None or defect in DEFECTS
        self.reports, self.poison, self.defect, self.deaths = reports, poison, defect, deaths
        self.collectors, self.workers, self.is_sent, self.has_old = collectors, workers, is_sent, has_old

    def start(self):
        everything = tuple(range(self.reports))
        sent = self.is_sent
        return State(frozenset(everything if sent else ()), (Page(everything, everything, False, 0),) if sent else (),
                     tuple(Collector("idle", (), None, 0) for _ in range(self.collectors)),
                     (Message(everything, everything, False, "ready", 0, None),) if sent else (), tuple(Worker("idle", None, ()) for _ in range(self.workers)),
                     frozenset(), frozenset(), (), frozenset(), 0)

    @staticmethod
    def replaced(items, index, item):
        return items[:index] + (item,) + items[index + 1:]

    def put(self, state, key, members, split=False):
        if any(m.key == key for m in state.messages):
            return state
        return state._replace(messages=(*state.messages, Message(key, members, split, "ready", 0, None)))

    # ---- collectors

    def collect(self, state, c):
        mine = state.collectors[c]
        now = lambda phase, **more: state._replace(collectors=self.replaced(state.collectors, c, mine._replace(phase=phase, **more)))  # noqa: E731
        can_read = lambda page: not self.has_old or c > 0 or page.by == 0  # noqa: E731
        if mine.phase == "idle":
            if not all(map(can_read, state.pages)) and self.defect != "a newer page is overlooked":
                return  # it refuses all reports until it is replaced
            unread = mine._replace(view=len(state.pages))
            if unread != mine:
                yield f"collector {c} reads the pages", now("idle", view=len(state.pages))
            for members in self.subsets([r for r in range(self.reports) if r not in state.acknowledged]):
                known = [page for page in state.pages[:mine.view] for r in members if r in page.members and can_read(page)]
                if not known:
                    first = "put" if self.defect == "the message is stored before its page" else "page"
                    yield f"collector {c} has {members}", now(first, members=members, key=members)
                elif len(members) == 1 and known[0].full and self.defect != "what is on a page counts as stored":
                    at = state.pages.index(known[0])
                    after = self.put(state, known[0].key, known[0].members)
                    yield f"collector {c} stores the page of {members}", after._replace(pages=self.replaced(after.pages, at, known[0]._replace(full=False)))
                elif len(members) == 1:
                    yield f"collector {c} knows {members}", state._replace(acknowledged=state.acknowledged | set(members))
        elif mine.phase == "page":
            if mine.view != len(state.pages) and self.defect != "a page is added without a look at the others":
                yield f"collector {c} was not the first", now("idle", view=len(state.pages), members=(), key=None)
                return
            late = self.defect == "the message is stored before its page"
            after = now("answer" if late else "put", view=len(state.pages) + 1)
            after = after._replace(pages=(*state.pages, Page(mine.members, mine.key, not late, c)))
            if self.defect == "acknowledged when its page is stored":
                after = after._replace(acknowledged=after.acknowledged | set(mine.members))
            yield f"collector {c} adds a page of {mine.members}", after
        elif mine.phase == "put":
            late = self.defect == "the message is stored before its page"
            after = self.put(now("page" if late else "answer"), mine.key, mine.members)
            pages = tuple(p._replace(full=False) if p.key == mine.key else p for p in after.pages)
            yield f"collector {c} stores {mine.members}", after._replace(pages=pages)
        else:
            yield f"collector {c} answers", now("idle", members=(), key=None)._replace(acknowledged=state.acknowledged | set(mine.members))
        if mine.phase != "idle" and state.deaths < self.deaths:
            yield f"collector {c} dies", now("idle", members=(), key=None, view=0)._replace(deaths=state.deaths + 1)

    @staticmethod
    def subsets(items):
        for bits in range(1, 1 << len(items)):
            yield tuple(item for i, item in enumerate(items) if bits >> i & 1)

    # ---- workers

    def work(self, state, w):
        mine = state.workers[w]
        now = lambda phase, **more: state._replace(workers=self.replaced(state.workers, w, mine._replace(phase=phase, **more)))  # noqa: E731
        if mine.phase == "idle":
            for at, m in enumerate(state.messages):
                if m.state == "ready":
                    taken = m._replace(state="taken", taker=w, delivered=min(m.delivered + 1, DELIVERIES_MAX + 1))
                    yield f"{w} takes {m.key}", now("has", key=m.key)._replace(messages=self.replaced(state.messages, at, taken))
            return
        at, message = next((i, m) for i, m in enumerate(state.messages) if m.key == mine.key)
        if mine.phase == "has":
            yield from self.resolve(state, w, at, message, now)
        elif mine.phase == "resolved":
            yield f"{w} stores the result of {mine.key}", now("settle")._replace(partials=state.partials | {(message.key, message.members)})
        elif mine.phase == "splitting" and mine.left:
            member = mine.left[0]
            yield f"{w} puts {member} alone", self.put(now("splitting", left=mine.left[1:]), ("alone", member, self.group_of(message.key)), (member,))
        else:
            yield f"{w} settles {mine.key}", now("idle", key=None, left=())._replace(messages=self.replaced(state.messages, at, message._replace(
                state="done", taker=None)))
        if state.deaths < self.deaths:
            yield f"{w} dies", self.dead(state, w)._replace(deaths=state.deaths + 1)
            if message.taker == w and message.state == "taken":
                yield f"the lease of {w} ends", state._replace(deaths=state.deaths + 1, messages=self.replaced(state.messages, at, message._replace(
                    state="ready", taker=None)))

    @staticmethod
    def group_of(key):
        return key[1] if key[0] == "split" else key

    def resolve(self, state, w, at, message, now):
        is_group = len(message.members) > 1
        whole = self.defect == "a group is buried whole"
        if message.split or (is_group and message.delivered > 1 and self.defect == "a group is split in place"):
            yield f"{w} splits {message.key}", now("splitting", left=message.members)
        elif is_group and message.delivered > 1 and not whole:
            yield f"{w} puts {message.key} as one that is split", self.put(now("settle"), ("split", message.key), message.members, True)
        elif any(r in self.poison for r in message.members):
            if message.delivered > DELIVERIES_MAX:
                done = self.replaced(state.messages, at, message._replace(state="done", taker=None))
                yield f"{w} buries {message.key}", now("idle", key=None)._replace(dead=state.dead | set(message.members), messages=done)
            else:
                yield f"{w} dies of {message.key}", self.dead(state, w)
        else:
            yield f"{w} resolves {message.key}", now("resolved")

    def dead(self, state, w):
        messages = tuple(m._replace(state="ready", taker=None) if m.state == "taken" and m.taker == w else m for m in state.messages)
        return state._replace(messages=messages, workers=self.replaced(state.workers, w, Worker("idle", None, ())))

    # ---- the reducer

    def reduce(self, state):
        for partial in sorted(state.partials, key=repr):
            key, members = partial
            after = state._replace(partials=state.partials - {partial})
            both = self.defect == "a group and its reports both count"
            other = key[2] if key[0] == "alone" else ("split", key)
            if key in state.known or (other in state.known and not both):
                yield f"drop {key}", after
                continue
            known = {key, ("split", key[2])} if key[0] == "alone" else {key}
            yield f"count {key}", after._replace(known=after.known | known, counted=tuple(sorted((*after.counted, *members))))

    # ---- all of it

    def steps(self, state):
        for c in range(self.collectors):
            if not self.is_sent:
                yield from self.collect(state, c)
        yield from self.reduce(state)
        for w in range(self.workers):
            yield from self.work(state, w)

    def broken(self, state, is_end):
        if len(set(state.counted)) < len(state.counted):
            return "a stack is counted twice"
        if any(r not in self.poison for r in state.dead):
            return "a report is buried that kills no worker"
        if is_end and any(r not in state.counted and r not in state.dead for r in state.acknowledged):
            return "an acknowledged stack is not counted"
        return None
