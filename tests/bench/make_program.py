#!/usr/bin/env python3
"""Makes a program of a given size, with a PDB, for the symbol benchmarks.

The program resembles template-heavy C++: each file has 40 functions with locals.  They call helpers that are
inlined five deep with a fan-out of two.  Helpers and classes have long names in nested namespaces.  clang
-O2 compiles the files for Windows, or for Linux, and lld links them; no headers and no libraries are needed.

    make_program.py FOLDER FILES        makes FOLDER/program.dll and FOLDER/program.pdb
    make_program.py FOLDER FILES elf    makes FOLDER/program.so, with DWARF 5

Only the first few files are compiled, because files that differ only in names compile to objects that differ
only in names.  The other objects are copies in which the number of the file is replaced
("n" and five digits).
"""
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

FUNCTIONS = 40  # per file
WINDOWS = ("--target=x86_64-pc-windows-msvc", "-gcodeview")
LINUX = ("--target=x86_64-linux-gnu", "-gdwarf-5", "-fPIC", "-D__declspec(x)=", "-D__forceinline=inline __attribute__((always_inline))")
TYPES = ("int", "unsigned", "short", "long long", "unsigned char")
COMPILED = len(TYPES)  # file N has the types of file N - COMPILED

HELPERS = """
namespace application { namespace detail {
template <class Value, class Tag> struct accumulator {
    Value sum;
    __forceinline Value add(Value value) {
        sum += value;
        return sum;
    }
    __forceinline Value mix(Value value, int round) {
        Value first = add(value ^ (Value)round);
        Value second = add((Value)(first * 3));
        return first - second;
    }
};
template <class Value, class Tag> __forceinline Value fold_pair(Value a, Value b, int round) {
    accumulator<Value, Tag> state{a};
    Value left = state.mix(b, round);
    Value right = state.mix(a, round + 1);
    if (left > right)
        return left;
    return right;
}
template <class Value, class Tag> __forceinline Value visit_elements(const Value *at, int count) {
    Value result = at[0];
    for (int i = 1; i < count; i++)
        result = fold_pair<Value, Tag>(result, at[i], i);
    return result;
}
template <class Value, class Tag> struct container_view {
    const Value *first;
    int count;
    __forceinline Value reduce() const {
        return count > 0 ? visit_elements<Value, Tag>(first, count) : Value();
    }
};
} }
"""


def token(number):
    return "n%05d" % number


def source(number):
    name = token(number)
    lines = [HELPERS, "volatile int sink_%s;" % name]
    for i in range(FUNCTIONS):
        kind = TYPES[(number + i) % len(TYPES)]
        tag = "tag_%s_%d" % (name, i)
        lines.append("""
namespace application { namespace module_%(n)s {
struct %(tag)s {};
%(kind)s process_request_%(i)d(const %(kind)s *data, int count, unsigned flags) {
    detail::container_view<%(kind)s, %(tag)s> head{data, count};
    %(kind)s total = head.reduce();
    if (flags & 1)
        total += detail::fold_pair<%(kind)s, %(tag)s>(data[1], data[0], count);
    sink_%(n)s = (int)total;
    if (flags & 2) {
        detail::container_view<%(kind)s, %(tag)s> tail{data + 1, count - 1};
        total ^= tail.reduce();
    }
    return total;
}
} }""" % {"n": name, "i": i, "kind": kind, "tag": tag})
    calls = "\n".join("    r += (long long)application::module_%s::process_request_%d"
                      "((const %s *)p, n, f);" % (name, i, TYPES[(number + i) % len(TYPES)])
                      for i in range(FUNCTIONS))
    lines.append('extern "C" __declspec(dllexport) long long run_%s(const void *p, int n, '
                 "unsigned f) {\n    long long r = 0;\n%s\n    return r;\n}\n" % (name, calls))
    return "\n".join(lines)


def compile_one(folder, number, options):
    base = os.path.join(folder, "unit_" + token(number))
    with open(base + ".cpp", "w") as out:
        out.write(source(number))
    subprocess.run(["clang++-19", "-O2", "-g", *options, "-fno-exceptions", "-c", base + ".cpp", "-o", base + ".obj"], check=True)
    return base + ".obj"


def copy_one(folder, number):
    """Writes the object of a file that was not compiled, from the object of a file that was."""
    like = number % COMPILED
    with open(os.path.join(folder, "unit_%s.obj" % token(like)), "rb") as file:
        data = file.read().replace(token(like).encode(), token(number).encode())
    path = os.path.join(folder, "unit_%s.obj" % token(number))
    with open(path, "wb") as out:
        out.write(data)
    return path


def main():
    folder, files, elf = sys.argv[1], int(sys.argv[2]), sys.argv[3:] == ["elf"]
    os.makedirs(folder, exist_ok=True)
    with ThreadPoolExecutor(2) as pool:
        objects = list(pool.map(lambda n: compile_one(folder, n, LINUX if elf else WINDOWS), range(min(files, COMPILED))))
    objects += [copy_one(folder, n) for n in range(COMPILED, files)]
    response = os.path.join(folder, "objects.txt")
    with open(response, "w") as out:
        out.write("\n".join('"%s"' % name for name in objects))
    program = os.path.join(folder, "program")
    if elf:
        link = ["ld.lld-19", "-shared", "--build-id", "-o", program + ".so"]
    else:
        link = ["lld-link-19", "/dll", "/noentry", "/nodefaultlib", "/debug", "/opt:ref,icf", "/out:" + program + ".dll", "/pdb:" + program + ".pdb"]
    subprocess.run([*link, "@" + response], check=True)


if __name__ == "__main__":
    main()
