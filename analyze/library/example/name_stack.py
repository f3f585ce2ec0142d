#!/usr/bin/python3
"""Names addresses with libtwinstack, through ctypes: name_stack.py SYMBOLS app.exe 0x1530..."""

import ctypes
import sys

lib = ctypes.CDLL("libtwinstack.so.0")


class Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("paths", ctypes.POINTER(ctypes.c_char_p)), ("path_count", ctypes.c_uint32),
                ("names", ctypes.c_int), ("indexing", ctypes.c_int), ("cache", ctypes.c_char_p), ("system", ctypes.c_int)]


class Address(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("module", ctypes.c_char_p), ("debug_id", ctypes.c_char_p),
                ("code_id", ctypes.c_char_p), ("offset", ctypes.c_uint64), ("kind", ctypes.c_int)]


class Error(ctypes.Structure):
    _fields_ = [("offset", ctypes.c_uint64), ("text", ctypes.c_char * 1024)]


lib.twinstack_function.restype = lib.twinstack_file.restype = ctypes.c_char_p
error, symbols, stack = Error(), ctypes.c_void_p(), ctypes.c_void_p()


def check(status):
    if status != 0:
        sys.exit(error.text.decode())


root, module, *offsets = sys.argv[1:]
options = Options(ctypes.sizeof(Options), (ctypes.c_char_p * 1)(root.encode()), 1)
check(lib.twinstack_open(ctypes.byref(options), ctypes.byref(symbols), ctypes.byref(error)))
asked = (Address * len(offsets))(*(Address(ctypes.sizeof(Address), module.encode(), None, None, int(o, 0)) for o in offsets))
check(lib.twinstack_resolve(symbols, asked, len(offsets), ctypes.byref(stack), ctypes.byref(error)))
for i in range(lib.twinstack_frame_count(stack)):
    function, file = (f(stack, i) or b"?" for f in (lib.twinstack_function, lib.twinstack_file))
    print(lib.twinstack_index(stack, i), function.decode(), f"{file.decode()}:{lib.twinstack_line(stack, i)}")
lib.twinstack_stack_free(stack)
lib.twinstack_close(symbols)
