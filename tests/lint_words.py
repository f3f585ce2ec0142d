"""Plain English in comments, messages, help texts, pages and documents: words that make a reader read twice, each with
what to write.  They are hints, since each is also an ordinary word somewhere: lint.py prints them and does not fail.
Names are exempt: JSON members such as `doors` stay.

The reader is an engineer with a crash to explain: subject, verb, object, and the field's word for a thing.
"""

import io
import re
import tokenize

FOLDERS = ("analyze", "dashboard", "capture", "victims", "tests", "corpus", "cmake")
SUFFIXES = {".c", ".h", ".cpp", ".S", ".js", ".mjs", ".css", ".html", ".py", ".md", ".cmake", ".txt", ".sh"}
# Folders that still have such words.  This list only shrinks.
NOT_YET = ()

# A letter in brackets prevents a row from matching its own pattern.
WORDS = [
    (r"t[o]ld", "reported, printed, stated"),
    (r"t[e]lls?(?! (?:\w+ ){0,6}apart)", "reports, prints, says"),
    (r"at h[a]nd|to be h[a]d", "available"),
    (r"one an? (?:line|case|run|page|file|thread|stack|frame|row|variant|scenario|function|module|record|test)",
     "one per line"),
    (r"n[o]body|s[o]mebody", "no engine, no process; another process"),
    (r"stand(?:s|ing)? (?:in|for|still|at|there|b[e]hind|before|after|alone)", "is in, means, is stopped"),
    (r"is no (?:matter|merit) of", "does not matter to, must not count for"),
    (r"ow[e]s?", "name what is missing"),
    (r"b[e]hind(?! an? (?:proxy|firewall|lock|mutex))", "after"),
    (r"h[e]ld against|holds? \w+ against", "compared with"),
    (r"who is r[i]ght|whose it [i]s", "which engine is right, the owner"),
    (r"all the s[a]me", "nevertheless, anyway"),
    (r"in v[a]in|unm[a]kes?", "without success; undoes"),
    (r"(?:ns|us|ms|[kKMG]B|bytes|frames?|stacks?|lines?|rows?|requests?|misses) an? "
     r"(?:second|minute|address|frame|page|line|stack|lookup)", "per second, per address"),
    (r"wh[o]ever", "any program that, the caller that"),
    (r"st[o]od still|by the w[o]rd of", "was stopped; according to"),
    (r"as (?:\S+ ){1,4}has [i]t", "as in"),
    (r"(?:is|are) w[a]nted", "is expected, is requested"),
    (r"(?:back end|all|cold|symbols), from n[o]thing|times? from n[o]thing", "cold, with nothing loaded"),
    (r"for [e]ver(?!y)", "forever, without end"),
    (r"sp[e]aks? (?:of|against)", "means, describes; contradicts"),
    (r"no n[e]ws|another st[o]ry|comes? to gr[i]ef", "has not changed; say what happens"),
]
RULES = [(re.compile(rf"\b(?:{pattern})\b", re.I), instead) for pattern, instead in WORDS]

# A scenario's sentence is part of its image, so only the comments of victims/ are checked.
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
C_PROSE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`', re.S)
HASH_PROSE = re.compile(r"#[^\n]*|\"(?:\\.|[^\"\\\n])*\"")
C_COMMENT, HASH_COMMENT = C_PROSE, HASH_PROSE
MD_CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.S | re.M)


def blank(text):
    return re.sub(r"[^\n]", " ", text)


def python_prose(text, strings=True):
    lines = text.split("\n")
    rows = [[" "] * len(line) for line in lines]
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        is_string = token.type in (tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", -1))
        if token.type == tokenize.COMMENT or is_string and (strings or token.string.startswith('"""')):
            row, column = token.start
            while row <= token.end[0]:
                end = token.end[1] if row == token.end[0] else len(lines[row - 1])
                rows[row - 1][column:end] = lines[row - 1][column:end]
                row, column = row + 1, 0
    return "\n".join("".join(row) for row in rows)


def prose(suffix, text, only_comments=False):
    """The text with everything but prose blanked, so that lines keep their numbers."""
    if suffix == ".py":
        return python_prose(text)
    if suffix == ".md":
        return MD_CODE.sub(lambda m: blank(m.group()), text)
    if suffix == ".html":
        return text
    pattern = HASH_PROSE if suffix in (".cmake", ".txt", ".sh") else COMMENT if only_comments else C_PROSE
    out, at = [], 0
    for found in pattern.finditer(text):
        out += [blank(text[at:found.start()]), found.group()]
        at = found.end()
    return "".join([*out, blank(text[at:])])


def comments(suffix, text):
    """Like prose(), without string literals."""
    if suffix == ".py":
        return python_prose(text, strings=False)
    pattern = HASH_COMMENT if suffix in (".cmake", ".txt", ".sh") else C_COMMENT
    out, at = [], 0
    for found in pattern.finditer(text):
        keep = found.group() if found.group()[0] in "/#" else blank(found.group())
        out += [blank(text[at:found.start()]), keep]
        at = found.end()
    return "".join([*out, blank(text[at:])])


def sources(root):
    for folder in FOLDERS:
        for file in sorted((root / folder).rglob("*")):
            if file.suffix in SUFFIXES and file.is_file() and "node_modules" not in file.parts:
                yield file
    yield from sorted(root.glob("*.md"))


def check(root, only):
    said = []
    for file in sources(root):
        name = file.relative_to(root).as_posix()
        if only and file not in only or any(name == n or name.startswith(n + "/") for n in NOT_YET):
            continue
        text = prose(file.suffix, file.read_text(encoding="utf-8"), name.startswith("victims/"))
        # A phrase may be broken by the end of a line and the next one's comment mark.
        joined = re.sub(r"\n[ \t]*(?:\*|//|#)?(?=[ \t])", lambda m: "\n" + " " * (len(m.group()) - 1), text)
        one_line = re.sub(r"\s", " ", joined)
        # To every pattern, any longer run of blanks is as two; most of the text is blanks where the code was.
        short = re.sub("   +", "  ", one_line)
        for pattern, instead in RULES:
            for found in pattern.finditer(one_line) if pattern.search(short) else []:
                said.append((name, text.count("\n", 0, found.start()) + 1, found.group(), instead))
    return [f'{name}:{line}: "{word}": write {instead}' for name, line, word, instead in sorted(said)]
