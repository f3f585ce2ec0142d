"""The figures of a run as faces say them, read and compared by the table in facts_table.py."""

import datetime
import html
import json
import re
import statistics

import facts_table

# "1,234", "75.0 %", "5.60 ms", "1.62k", "48.0×"
FIGURE = r"(?<![\d.,])(-?\d+(?:,\d{3})*(?:\.\d+)?(?:[kMG](?![\w]))?(?: ?(?:ns|µs|ms|s|B|KB|MB|GB|%)(?!\w))?)"
COUNT = ("", "", 0)  # the shape of a count
UNITS = {"": 1, "ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9, "B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9, "%": 0.01, "k": 1e3, "M": 1e6, "G": 1e9}


class Doc(dict):
    """A JSON object whose members are attributes."""

    def __getattr__(self, name):
        return self[name]


def one(rows, **wanted):
    """The only row that has these members."""
    found = [row for row in rows if all(row[key] == value for key, value in wanted.items())]
    if len(found) != 1:
        raise LookupError(f"{len(found)} rows with {wanted}")
    return found[0]


def rows_of(rows, **wanted):
    return [row for row in rows if all(row[key] == value for key, value in wanted.items())]


def number(text):
    """A figure that is written: its value, the weight of its last digit, and what faces that write it alike have in common."""
    digits, scale, unit = re.fullmatch(r"(-?[\d,.]+)([kMG]?) ?(\D*)", text).groups()
    factor = UNITS[scale] * UNITS[unit]
    decimals = len(digits.partition(".")[2])
    return float(digits.replace(",", "")) * factor, 10 ** -decimals * factor, (unit, scale, decimals)


def ask(expression, names):
    return eval(expression, {**vars(facts_table), **globals(), **names})


def pattern(reader, names):
    """The regular expression of a reader of texts."""
    def lay(text):
        return text.replace("...", r"[^\n]*?").replace("#", FIGURE)

    out, at = "", 0
    for part in re.finditer(r"(?<!\\)\{(!?)([A-Za-z([].*?)\}", reader):
        value = str(ask(part[2], names))
        out += lay(reader[at:part.start()]) + (lay(value) if part[1] else re.escape(value))
        at = part.end()
    return re.compile(out + lay(reader[at:]), re.MULTILINE)


def share(engines, measure):
    return sum(e[measure].right for e in engines) / sum(e[measure].total for e in engines)


def f1(engines):
    precision, recall = share(engines, "precision"), share(engines, "recall")
    return 2 * precision * recall / (precision + recall)


def skip(columns, name, cell):
    """As many cells of a row as there are before the column of that name."""
    return f"(?:{cell}){{{columns.index(name)}}}"


def loaded(text):
    return json.loads(text, object_hook=Doc)


def minute(ns):
    return f"{datetime.datetime.fromtimestamp(ns // 10**9, datetime.timezone.utc):%Y-%m-%d %H:%M}"


def word(verdict):
    """A verdict as pages name it."""
    return {"NOT-CAPTURED-AS-EXPECTED": "not captured as expected"}.get(verdict, verdict.lower())


def point(trend, j):
    return one(trend.points, run=j.run.id)


def blames(problem):
    return ", ".join(f"{b.blame} ({b.cases})" for b in problem.blames)


def stage(cases, arch, row, part):
    numbers = [c.timing[row.key] for c in cases if c.arch == arch and c.timing[row.key] and (row.unit == "bytes" or not c.timing.crowded)]
    return {"count": len, "median": statistics.median, "least": min, "most": max}[part](numbers)


def step_of(lane, key):
    """What one crash costs in a step, or in all."""
    return lane.total_ns if key == "total_ns" else lane.steps[key]


def cut(text, part):
    """Whether the terminal had no room for that part."""
    return re.search(rf"^not shown: .*{part}", text, re.MULTILINE) is not None


class Figure:
    """What a face says: a text, or a number that may be rounded to a last digit."""

    def __init__(self, face, said, is_text):
        self.face, self.said = face, said
        self.value, self.ulp, self.shape = said, 0, None
        if not is_text and isinstance(said, str) and re.fullmatch(FIGURE, said):
            self.value, self.ulp, self.shape = number(said)

    def equals(self, other):
        if isinstance(self.value, str) or isinstance(other.value, str):
            return isinstance(self.value, str) and isinstance(other.value, str) and (self.value.startswith(other.value) or other.value.startswith(self.value))
        if None in (self.value, other.value):
            return self.value is other.value
        if self.shape and self.shape == other.shape:
            return self.said.replace(',', '') == other.said.replace(',', '')
        whole = all(figure.shape in (None, COUNT) and figure.value == int(figure.value) for figure in (self, other))
        near = 0 if whole else 1.001 * (self.ulp + other.ulp) + 1e-9 * abs(self.value)
        return abs(self.value - other.value) <= near

    def __str__(self):
        return f"{self.face}: {self.said!r}"


def readings(rows, names, said, docs):
    """The figures of one fact, and the faces that should have it and do not."""
    found, missing, is_text = [], [], False
    for face, reader, *condition in rows:
        face = re.sub(r"\{(.+?)\}", lambda m: str(ask(m[1], names)), face)  # noqa: B023
        if condition and not ask(condition[0], names):
            continue
        if face in docs:
            try:
                here = ask(reader, {**names, "d": docs[face]})
                is_text = is_text or not found and isinstance(here, str)
                found.append(Figure(face, here, is_text))
            except (LookupError, TypeError, ZeroDivisionError) as error:
                missing.append(f"{face} has none: {reader}: {error!r}")
        else:
            asked = pattern(reader, names)
            match = asked.search(said[face])
            if match:
                found.append(Figure(face, " ".join(group for group in match.groups() if group is not None), is_text))
            else:
                missing.append(f"{face} has none: {asked.pattern.replace(FIGURE, '#')}")
    return found, missing


def each(of, names):
    """Names for each of what a fact is of."""
    if not of:
        yield names
        return
    (name, expression), *rest = of.items()
    for value in ask(expression, names):
        yield from each(dict(rest), {**names, name: value})


def walk(said, docs, read):
    """What faces say otherwise than others, a line each. READ gets the rows of the table that count."""
    said = {face: plain(face, text) for face, text in said.items()}
    names = {"j": docs["json"], "terminal": said["terminal"], **{face[4:]: doc for face, doc in docs.items() if face.startswith("api ")}}
    for fact, of, rows in facts_table.FACTS:
        for mine in each(of, names):
            read.update((fact, row) for row in rows if len(row) == 2 or ask(row[2], mine))
            title = re.sub(r"\{(.+?)\}", lambda m: str(ask(m[1], mine)), fact)  # noqa: B023
            found, missing = readings(rows, mine, said, docs)
            yield from (f"{title}: {line}" for line in missing)
            for figure in found:
                if not figure.equals(found[0]) or any(not figure.equals(other) for other in found if figure.shape and other.shape == figure.shape):
                    yield f"{title}: {figure}, {found[0]}"


def plain(face, text):
    """Markdown without its escapes, metrics with their units."""
    if face in ("markdown", "step", "compare markdown"):
        return html.unescape(re.sub(r"\\(.)", r"\1", text))
    if face == "metrics":
        return re.sub(r"^(\w+_seconds\{.*)", r"\1 s", text, flags=re.MULTILINE)
    return text
