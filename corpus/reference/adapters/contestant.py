"""The protocol of the suite for a contestant in Python: serve(NAME, VERSION, ANSWERS), ANSWERS: {capability: function}.

A function(FOLDER, QUESTION) of moments gives [(ip, sp), ...] (sp None: not known), of addresses [{"function", "file", "line", "inlined"}, ...], of
dumps [(ip, sp, [names as of an address, of the functions that were inlined first]), ...], each innermost first; it raises Unsupported(REASON) where the tool cannot take part. Any other exception is answered as an error. A last
frame with address 0 is how some tools print the end; it is no frame."""

import json
import pathlib
import shutil
import sys

WALK_MAX = 64 # the longest answer of the suite has 5 frames: a tool that walks on without end is wrong long before this


class Unsupported(Exception):
    pass


def program(name):
    """The path of a program, or an end that says what is missing."""
    path = shutil.which(name)
    if not path:
        sys.exit(f"{pathlib.Path(sys.argv[0]).name}: there is no {name}")
    return path


def walk(frames):
    while frames and not frames[-1][0]:
        frames = frames[:-1]
    return [{"ip": f"{ip:#x}", "sp": None if sp is None else f"{sp:#x}", **name}
            for ip, sp, *names in frames for name in (names[0] if names and names[0] else [{}])]


def answered(answers, folder, question):
    if question["capability"] not in answers:
        return {"unsupported": True, "issue": None, "reason": "only " + " and ".join(answers)}
    try:
        frames = answers[question["capability"]](folder, question)
    except Unsupported as reason:
        return {"unsupported": True, "issue": None, "reason": str(reason)}
    except Exception as error: # the contestant goes on with the next question
        return {"error": f"{type(error).__name__}: {error}"}
    return {"frames": frames if question["kind"] == "address" else walk(frames)}


def serve(name, version, answers, bugs=None, lacks=()):
    """LACKS: what of `needs` the tool cannot read at all."""
    folder = None
    for line in sys.stdin:
        question = json.loads(line)
        if "hello" in question:
            folder = pathlib.Path(question["suite"])
            out = {"name": name, "version": version, "bugs": bugs, "can": list(answers)}
        else:
            missing = sorted(set(lacks) & set(question["needs"]))
            out = {"id": question["id"], **({"unsupported": True, "issue": None, "reason": f"it reads no {missing[0]}"} if missing else
                                            answered(answers, folder, question))}
        print(json.dumps(out), flush=True)
