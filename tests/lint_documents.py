"""Documents: a relative link of a *.md leads to a file and a heading that exist, every README.md is reached by links from the
first one, and the documents that a newcomer reads first stay short.
"""

import os
import pathlib
import posixpath
import re

import lint_references

# The words that a document may have, as `wc -w` counts them. What is about one room belongs into the README of that room.
WORDS_MAX = {"README.md": 1000, "capture/README.md": 1500}
CODE = re.compile(r"^( *)```.*?^\1```|`[^`\n]*`", re.S | re.M)
FENCED = re.compile(r"^( *)```.*?^\1```", re.S | re.M)
LINK = re.compile(r"\]\(\s*<?([^()\s<>]+)>?[^()]*\)|^ {0,3}\[[^\]]+\]:\s*<?([^\s<>]+)", re.M)
HEADING = re.compile(r"^#{1,6}[ \t]+(.+?)[ \t#]*$", re.M)
ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|//", re.I)


def documents(root):
    """{name: text} of every *.md, those of .github too."""
    found = {}
    for folder, inside, names in os.walk(root):
        inside[:] = sorted(name for name in inside if name not in lint_references.IGNORED_FOLDERS)
        for name in sorted(names):
            file = pathlib.Path(folder, name)
            if file.suffix == ".md":
                found[file.relative_to(root).as_posix()] = file.read_text(encoding="utf-8")
    return found


def anchors(text):
    """The names of the headings of TEXT, as GitHub makes them: of equal ones, the second ends with -1."""
    found = {}
    for m in HEADING.finditer(FENCED.sub("", text)):
        title = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", m[1])
        name = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        found[name] = found.get(name, -1) + 1
    return {name if not i else f"{name}-{i}" for name, count in found.items() for i in range(count + 1)}


def links(text):
    """[(line, target)] of the links of TEXT, without those in code; lines keep their numbers."""
    text = CODE.sub(lambda m: re.sub(r"[^\n]", "_", m[0]), text)
    return [(text.count("\n", 0, m.start()) + 1, m[1] or m[2]) for m in LINK.finditer(text)]


def check(root, only):
    texts, said, linked = documents(root), [], {}
    for name, text in texts.items():
        for line, target in links(text):
            if ELSEWHERE.match(target):
                continue
            path, _, anchor = target.partition("#")
            to = posixpath.normpath(posixpath.join(posixpath.dirname(name), path)) if path else name
            linked.setdefault(name, set()).add(to)
            if to.startswith("..") or not (root / to).exists():
                said.append(f"{name}:{line}: {target}: no such file")
            elif anchor and to in texts and anchor not in anchors(texts[to]):
                said.append(f"{name}:{line}: {target}: no such heading")
    reached, todo = set(), ["README.md"]
    while todo:
        name = todo.pop()
        if name not in reached:
            reached.add(name)
            todo += linked.get(name, ())
    said += [f"{name}:1: no link leads here from README.md" for name in texts if posixpath.basename(name) == "README.md" and name not in reached]
    said += [f"{name}:1: {words} words, more than {most}: move what is about one room into its README"
             for name, most in WORDS_MAX.items() if name in texts and (words := len(texts[name].split())) > most]
    names = {f.relative_to(root).as_posix() for f in only}
    return [line for line in said if not names or line.split(":")[0] in names]
