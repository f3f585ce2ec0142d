#!/usr/bin/env python3
"""Makes a program of a chosen size with a PDB, for the symbol benchmarks.

The shape is that of template-heavy C++: a file has a few dozen functions; each calls helpers
that are inlined five deep with a fan-out of two, helpers and classes have long names in nested
namespaces, and every function has locals.  Compiled by clang -O2 -gcodeview for Windows and
linked by lld; nothing but the compiler is needed, no headers and no libraries.

    make_program.py FOLDER FILES        makes FOLDER/program.dll and FOLDER/program.pdb
"""
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

FUNCTIONS = 40  # of a file
TYPES = ("int", "unsigned", "short", "long long", "unsigned char")

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


def source(number):
    lines = [HELPERS, "volatile int sink_%d;" % number]
    for i in range(FUNCTIONS):
        kind = TYPES[(number + i) % len(TYPES)]
        tag = "tag_%d_%d" % (number, i)
        lines.append("""
namespace application { namespace module_%(n)d {
struct %(tag)s {};
%(kind)s process_request_%(i)d(const %(kind)s *data, int count, unsigned flags) {
    detail::container_view<%(kind)s, %(tag)s> head{data, count};
    %(kind)s total = head.reduce();
    if (flags & 1)
        total += detail::fold_pair<%(kind)s, %(tag)s>(data[1], data[0], count);
    sink_%(n)d = (int)total;
    if (flags & 2) {
        detail::container_view<%(kind)s, %(tag)s> tail{data + 1, count - 1};
        total ^= tail.reduce();
    }
    return total;
}
} }""" % {"n": number, "i": i, "kind": kind, "tag": tag})
    calls = "\n".join("    r += (long long)application::module_%d::process_request_%d"
                      "((const %s *)p, n, f);" % (number, i, TYPES[(number + i) % len(TYPES)])
                      for i in range(FUNCTIONS))
    lines.append('extern "C" __declspec(dllexport) long long run_%d(const void *p, int n, '
                 "unsigned f) {\n    long long r = 0;\n%s\n    return r;\n}\n" % (number, calls))
    return "\n".join(lines)


def compile_one(folder, number):
    base = os.path.join(folder, "unit_%d" % number)
    with open(base + ".cpp", "w") as out:
        out.write(source(number))
    subprocess.run(["clang++-19", "--target=x86_64-pc-windows-msvc", "-O2", "-g", "-gcodeview",
                    "-fno-exceptions", "-c", base + ".cpp", "-o", base + ".obj"], check=True)
    return base + ".obj"


def main():
    folder, files = sys.argv[1], int(sys.argv[2])
    os.makedirs(folder, exist_ok=True)
    with ThreadPoolExecutor(2) as pool:
        objects = list(pool.map(lambda n: compile_one(folder, n), range(files)))
    response = os.path.join(folder, "objects.txt")
    with open(response, "w") as out:
        out.write("\n".join('"%s"' % name for name in objects))
    program = os.path.join(folder, "program")
    subprocess.run(["lld-link-19", "/dll", "/noentry", "/nodefaultlib", "/debug", "/opt:ref,icf",
                    "/out:" + program + ".dll", "/pdb:" + program + ".pdb", "@" + response],
                   check=True)


if __name__ == "__main__":
    main()
