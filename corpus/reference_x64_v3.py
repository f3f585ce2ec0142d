"""UNWIND_INFO of version 3 for the functions of reference_x64.py, by Microsoft's page "x64 unwind information V3" (a preview).

There every instruction with an effect has a code, in epilogues, too: `E add rsp, 64 ; alloc 64`. An offset is that of the instruction."""

NUMBER = {name: i for i, name in enumerate("rax rcx rdx rbx rsp rbp rsi rdi r8 r9 r10 r11 r12 r13 r14 r15".split())}
LARGE = 8  # UNW_FLAG_LARGE, of the header


def operation(code):
    """The bytes of one WOD."""
    kind, *words = code
    if kind == "push":
        return bytes([4 | NUMBER[words[0]] << 3])
    size = int(words[-1], 0)
    if kind == "alloc":
        if size <= 128:
            return bytes([8 | size // 8 - 1 << 4])
        return b"\2" + (size // 8).to_bytes(2, "little") if size <= 0x7FFF8 else b"\1" + size.to_bytes(4, "little")
    if kind == "setfp":
        return bytes([0, NUMBER[words[0]] | size // 16 << 4])
    if kind == "save":
        return bytes([6 | NUMBER[words[0]] << 3]) + (size // 8).to_bytes(2, "little")
    if kind == "savefar":
        return bytes([5 | NUMBER[words[0]] << 3]) + size.to_bytes(4, "little")
    if kind == "xmm":
        return bytes([10 | int(words[0]) << 4]) + (size // 16).to_bytes(2, "little")
    assert kind == "xmmfar", code
    return bytes([9 | int(words[0]) << 4]) + size.to_bytes(4, "little")


def parts(lines):
    """(prologue, epilogues) as [(index, code)]; an epilogue has the index of its last instruction, too."""
    prologue = [(i, code) for i, (letter, _, codes) in enumerate(lines) if letter == "P" for code in codes]
    epilogues, i = [], 0
    while i < len(lines):
        if lines[i][0] != "E":
            i += 1
            continue
        end = i
        while end + 1 < len(lines) and lines[end + 1][0] == "E":
            end += 1
        epilogues.append((i, end, [(at, code) for at in range(i, end + 1) for code in lines[at][2]]))
        i = end + 1
    return list(reversed(prologue)), epilogues


def record(name, lines, from_end=False):
    """The record as assembler lines. FROM_END: epilogues are counted from the end of the function, the last one first."""
    prologue, epilogues = parts(lines)
    pool = b"".join(operation(code) for _, code in prologue)
    large = sum(line[0] == "P" for line in lines) > 20  # more than 255 bytes
    wide, words, size = (".short", 2, 1) if large else (".byte", 1, 0)
    out = [f".byte ({name}p-{name})>>8"] if large else []
    out += [f"{wide} {name}i{i}-{name}" for i, _ in prologue]
    size += words * len(prologue)
    before, same = None, None
    for start, end, codes in reversed(epilogues) if from_end else epilogues:
        place = f"{name}i{start}-" + (before or (f"{name}end" if from_end else name))
        shape = [(lines[i][1], lines[i][2]) for i in range(start, end + 1)]
        before = f"{name}i{start}"
        if shape == same:  # as the one before it
            out += [".byte 0", f".short {place}"]
            size += 3
            continue
        raw, same = b"".join(operation(code) for _, code in codes), shape
        first = pool.find(raw) if raw in pool else len(pool)
        pool += b"" if raw in pool else raw
        out += [f".byte {len(codes) << 3}", f".short {place}, {first}", f".byte {name}i{end}-{name}i{start}"]
        out += [f".byte {name}i{i}-{name}i{start}" for i, _ in codes]
        size += 6 + len(codes)
    size += len(pool)
    out += [f".byte {', '.join(map(str, pool))}"] if pool else []
    head = f".byte {3 | LARGE * large << 3}, ({name}p-{name})&255, {(size + 1) // 2}, {len(prologue) | len(epilogues) << 5}"
    return [head, *out, *([".byte 0"] if size % 2 else [])]
