/* Texts and reports that other programs write, a row for each spelling; what is expected is what a
 * person reads in them, and what the documents that the notations name say. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "stack_text.h"
#include "stacks/stack_input.h"
#include "test.h"

#define ID "3249D99D0C4049318610F4E4FB0B6936"

TEST(frames_below_a_heading)
{
    static const struct stack_text_row rows[] = {
        {"Rust, RUST_BACKTRACE=1",
         "stack backtrace:\n   0: std::panicking::begin_panic_handler\n             at "
         "/rustc/90b3/library\\std\\src\\panicking.rs:652\n   1: app::f<void (*)(),tuple$<> >\n"
         "             at .\\src\\main.rs:7:5\n      app::inlined\n             at .\\src\\a.rs:9\n"
         "      [... omitted 3 frames ...]\n   2: BaseThreadInitThunk\nnote: Some details are "
         "omitted.\nnone of it\nstack backtrace:\n   0: core::f\n",
         "-: !malformed@328\n-: ?!std::panicking::begin_panic_handler!0x0@i"
         "(/rustc/90b3/library\\std\\src\\panicking.rs:652) ?!app::f<void (*)(),tuple$<> "
         ">!0x0@r(.\\src\\main.rs:7) ?!app::inlined!0x0@r(.\\src\\a.rs:9) "
         "?!BaseThreadInitThunk!0x0@r left 3\n-: ?!core::f!0x0@i\n"},
        {"Rust, all of it, with an inlined call",
         "stack backtrace:\n   0:     0x7ff6a0001234 - app::f\n                               "
         "app::g\n   1:     0x7ff6a0002234 - <unknown>\n",
         "-: ?!app::f!0x0@i ?!app::g!0x0@r ?!0x7ff6a0002234@r\n"},
        {"numbers and names without that heading", "   0: app::f\n   1: 12 monkeys\n",
         "-: !malformed@0\n-: !malformed@13\n"},
        {"perf script",
         "my app  1234 [001] 12345.678901:     250000 cycles:u: \n"
         "\t          401234 main+0x14 (/home/u/app)\n  a.c:12\n"
         "\t    7ffff7a2d830 __libc_start_main+0xf0 (/lib/libc-2.23.so)\n"
         "\t          401129 [unknown] (/home/u/app)\n"
         "\t          401130 [unknown] (/home/u/my app+0x1130)\n"
         "\tffffffff81065 f(int (*)(int)) ([kernel.kallsyms])\n\n"
         "app 1235/1236 12346.1: cycles: \n\t          401235 g (inlined)\n",
         "thread 1234: app!main!0x0@i(a.c:12) libc-2.23.so!__libc_start_main!0x0@r ?!0x401129@r "
         "my app!0x1130@r [kernel.kallsyms]!f(int (*)(int))!0x0@r\nthread 1236: "
         "?!g!0x0@i\n"},
        {"UMDH, with and without symbols",
         "// Loaded modules:\n//     Base Size Module\n//   77000000 00180000 C:\\W\\ntdll.dll\n"
         "+    5320 (   f110 -  9df0)     3a allocs     BackTrace00053\n"
         "+       1 (      1 -      0)\tBackTrace00053\tallocations\nTotal increase == 5320\n\n"
         "\tntdll!RtlAllocateHeap+0x00000808\n\tTest!readdir+00000075 (c:\\my x\\a.cpp, 674)\n"
         "\tkernel32!BaseThreadInitThunk+E\n\n"
         "+ 100 ( 100 - 0) 2 allocs BackTrace23FF\n\tntdll!RtlAllocateHeap\n\t77001234\n",
         "-: ntdll!RtlAllocateHeap!0x0@r Test!readdir!0x0@r(c:\\my x\\a.cpp:674) "
         "kernel32!BaseThreadInitThunk!0x0@r\n-: ntdll!RtlAllocateHeap!0x0@r "
         "ntdll.dll!0x1234@r\n"},
    };
    stack_text_check(rows, COUNT_OF(rows));
}

/* llvm-symbolizer 19 --filter-markup steps back from an address that says nothing of its kind. */
TEST(markup_for_the_symbolizer_of_llvm)
{
    static const struct stack_text_row rows[] = {
        {"a stack",
         "{{{reset}}}\n{{{module:0x0:libc.so:elf:83238ab56ba10497aa}}}\n"
         "{{{mmap:0x7acba69d5000:0x5a000:load:0x0:rx:0x1000}}}\n{{{module:1:/x/app:elf:}}}\n"
         "[00012.3] ERROR: {{{mmap:0x400000:0x1000:load:1:r:0x400000}}}\n"
         "{{{mmap:0x401000:0x1000:load:1:rx:0x401000}}}\n{{{bt:0:0x401234:pc}}}\n"
         "[00012.4] app: {{{bt:1:0x7acba69d6000:ra}}}\n{{{bt:2:0x7acba69d6010}}} f\n"
         "{{{bt:3:0x7acba6a2f000:sp 0x12}}}\n",
         "-: app!0x1234@i libc.so!0x2000@r libc.so!0x2010@r ?!0x7acba6a2f000@r\n"},
        {"a second stack, and a second process",
         "{{{module:0:a:elf:}}}\n{{{mmap:0x1000:0x1000:load:0:rx:0x0}}}\n{{{bt:0:0x1010}}}\n"
         "{{{bt:0:0x1020}}}\n{{{bt:1:0x1030}}}\n{{{reset}}}\n{{{bt:2:0x1040}}}\n",
         "-: a!0x10@r\n-: a!0x20@r a!0x30@r ?!0x1040@r\n"},
        {"damage",
         "{{{bt:0:x}}}\n{{{bt:0:0x1}}\n{{{mmap:0x1000:0x1000:load:7:rx:0x0}}}\n"
         "{{{module:4096:a:elf:}}}\n{{{module:1:a:elf:}}}\n{{{mmap:0x10:0x1000:load:1:rx:0x20}}}\n"
         "{{{mmap:0xffffffffffffffff:0x10:load:1:rx:0x0}}}\n{{{bt:0:0x1010}}}\n",
         "-: !malformed@0\n-: !malformed@13\n-: ?!0x1010@r\n"},
    };
    stack_text_check(rows, COUNT_OF(rows));
}

TEST(several_stacks_of_one_text)
{
    static const struct stack_text_row rows[] = {
        {"numbers that begin again",
         "#0  0x1 in f () at a.c:1\n#1  0x2 in g () at a.c:2\n(gdb) bt\n#0  0x3 in h () at a.c:3\n"
         "#0  0x4 in i () at a.c:4\n",
         "-: ?!f!0x0@i(a.c:1) ?!g!0x0@r(a.c:2)\n-: ?!h!0x0@i(a.c:3)\n-: ?!i!0x0@i(a.c:4)\n"},
        {"of AddressSanitizer",
         "    #0 0x1 in f /a.c:1\n    #1 0x2 in g /a.c:2\nfreed by thread T0 here:\n"
         "    #0 0x3 in free /b.c:1\n",
         "-: !malformed@46\n-: ?!f!0x0@i(/a.c:1) ?!g!0x0@i(/a.c:2)\n-: ?!free!0x0@i(/b.c:1)\n"},
        {"of Dr. Memory",
         "# 0 app.exe!f   [C:\\a.c:12]\n# 1 app.exe!g   [C:\\a.c:3]\n\nError #2: LEAK\n"
         "# 0 app.exe!h   [C:\\a.c:4]\n",
         "-: !malformed@56\n-: app.exe!f!0x0@i(C:\\a.c:12) app.exe!g!0x0@r(C:\\a.c:3)\n"
         "-: app.exe!h!0x0@i(C:\\a.c:4)\n"},
        {"calls that were inlined have the number of their frame",
         "0   App   0x1   f + 1 (a.c:1) [inlined]\n0   App   0x1   g + 2 (a.c:2)\n"
         "1   App   0x2   h + 3\n",
         "-: App!f!0x0@i(a.c:1) App!g!0x0@r(a.c:2) App!h!0x0@r\n"},
        {"times are no numbers of frames",
         "23:59:59 app.exe+0x1\n00:00:00 app.exe+0x2\n5 app.exe+0x3\n0:00 app.exe+0x4\n",
         "-: app.exe!0x1@i app.exe!0x2@r app.exe!0x3@r app.exe!0x4@r\n"},
        {"headings of WinDbg",
         "0:000> k\nChild-SP          RetAddr               Call Site\n"
         "000000b6`f7aff8b8 00007ff6`5b2d1a9e     app!f+0x17\nSTACK_TEXT:  \n"
         "000000b6`f7aff8b8 00007ff6`5b2d1a9e     : 00000000`00000000 : app!g+0x17\n",
         "-: app!f!0x0@i\n-: app!g!0x0@i\n"},
        {"xperf",
         "Stack, 123456, 5678, 1, 0x00007ff612341537, app.exe!crash\n"
         "Stack, 123456, 5678, 2, 0x00007ff612341600, app.exe!0x00007ff612341600\n"
         "Stack, 123457, 5678, 1, 0x00007ffb2e1e7034, kernel32.dll!BaseThreadInitThunk\n",
         "-: app.exe!crash!0x0@i ?!0x7ff612341600@r\n-: kernel32.dll!BaseThreadInitThunk!0x0@i\n"},
        {"OBS",
         "Thread 1A2C (Crashed)\nStack            EIP              Arg0             Address\n"
         "000000B6F7AFF8B8 00007FF612341537 0000000000000000 obs.dll!f+0x17\n"
         "000000B6F7AFF8C0 00007FF612341600 0000000000000000 obs64.exe!0x7ff612341600\n"
         "0012F8C0 00401600 00000000 obs32.exe!0x401600\n\nThread 2F10\n"
         "Stack            EIP              Arg0             Address\n"
         "000000B6F7BFF8B8 00007FFB2F1E2651 0000000000000000 ntdll.dll!NtWait+0x14\n",
         "thread 6700: obs.dll!f!0x0@i ?!0x7ff612341600@r ?!0x401600@r\nthread 12048: "
         "ntdll.dll!NtWait!0x0@i\n"},
        {"Dr. Watson",
         "*----> State Dump for Thread Id 0x1e40 <----*\n*----> Stack Back Trace <----*\n"
         "0012ff7c 00401600 00000001 00320ee0 00320f48 app+0x1537\n"
         "*----> State Dump for Thread Id 0x1e41 <----*\n"
         "0012ff7c 00401600 00000001 00320ee0 00320f48 app+0x1538\n",
         "thread 7744: app!0x1537@i\nthread 7745: app!0x1538@i\n"},
        {"backward-cpp, whose innermost frame is the last one",
         "Stack trace (most recent call last):\n"
         "#2    Object \"C:\\app\\a.exe\", at 00007ff612341700, in main\n"
         "#1  | Source \"/home/u/a.cpp\", line 20, in g\n"
         "    | Source \"/home/u/a.h\", line 3, in inlined\n"
         "#0    Source \"/home/u/a.cpp\", line 12, in f [0x401537]\n      >  12: *p = 0;\n"
         "Stack trace (most recent call last) in thread 7:\n#1    Object \"b\", at 0x2, in i\n"
         "#0    Object \"b\", at 0x1, in h\n",
         "-: !malformed@241\n-: ?!f!0x0@i(/home/u/a.cpp:12) ?!inlined!0x0@r(/home/u/a.h:3) "
         "?!g!0x0@r(/home/u/a.cpp:20) a.exe!main!0x0@r\n-: b!h!0x0@i b!i!0x0@r\n"},
    };
    stack_text_check(rows, COUNT_OF(rows));
}

TEST(lines_of_more_tools)
{
    static const struct stack_text_row rows[] = {
        {"cpptrace",
         "Stack trace (most recent call first):\n#0 0x00007ff6a1b21591 in foo(int) at "
         "C:\\s.cpp:12:5\n"
         "#1 (inlined)          in bar() at C:\\s.cpp:18:3\n#2 (inlined)          in baz()\n"
         "#3 0x00007ff6a1b2162f in main at C:\\a.exe\n#4 0x00007ffb6c8d7374 at C:\\W\\K32.dll\n",
         "-: ?!foo(int)!0x0@i(C:\\s.cpp:12) ?!bar()!0x0@i(C:\\s.cpp:18) ?!baz()!0x0@i "
         "a.exe!main!0x0@i ?!0x7ffb6c8d7374@i\n"},
        {"Godot",
         "[0] Node::_notification (C:\\godot\\node.cpp:123)\n[1] /x/godot(+0x2f1) [0x55d2f1] "
         "(??:0)\n"
         "[2] <couldn't map PC to fn name>\n[3] [warn] no frame (x)\n",
         "-: !malformed@87\n-: !malformed@120\n"
         "-: ?!Node::_notification!0x0@i(C:\\godot\\node.cpp:123) godot!0x2f1@r\n"},
        {"sanitizers, methods that are const, and results of templates",
         "    #0 0x401234 in std::function<int (char)>::operator()(char) const /usr/f.h:591:9\n"
         "    #1 0x401235 in C::get(int, char*) const C:\\Program Files (x86)\\my dir\\a.cpp:12\n"
         "    #2 0x401236 in void f<void, void (*)(int)>(void (*&&)(int), int&&) /usr/f.h:61\n"
         "    #3 0x401237 in V operator/(V const&, int) /usr/f.h:62\n"
         "    #4 0x401238 in main a.c:3\n #5 0x0000000000401239 int g<int (int)>(int) const "
         "./a.h:1:2\n",
         "-: ?!std::function<int (char)>::operator()(char) const!0x0@i(/usr/f.h:591) "
         "?!C::get(int, char*) const!0x0@i(C:\\Program Files (x86)\\my dir\\a.cpp:12) "
         "?!void f<void, void (*)(int)>(void (*&&)(int), int&&)!0x0@i(/usr/f.h:61) "
         "?!V operator/(V const&, int)!0x0@i(/usr/f.h:62) ?!main!0x0@i(a.c:3) "
         "?!int g<int (int)>(int) const!0x0@r(./a.h:1)\n"},
        {"gdb, functions as template arguments",
         "#0  0x00401234 in f<void (*)(int)> (x=1) at a.c:1\n"
         "#1  0x00401235 in std::function<int (char)>::operator()(char) const (this=0x1) at f.h:2\n"
         "#2  0x00401236 in operator<< <int (char)> (o=..., p=0x1) at a.c:3\n"
         "#3  0x00401237 in S::operator-> (this=0x1) at a.c:4\n",
         "-: ?!f<void (*)(int)>!0x0@i(a.c:1) "
         "?!std::function<int (char)>::operator()(char) const!0x0@r(f.h:2) "
         "?!operator<< <int (char)>!0x0@r(a.c:3) ?!S::operator->!0x0@r(a.c:4)\n"},
        {"gdb, where a line was full",
         "#0  0x00401233 in f (a=1, b=2)\n    at ./a.c:44\n"
         "#1  0x00401234 in std::vector<int, a<int> >::push_back (\n    this=0x1, \n"
         "    x=@0x2: 3) at /usr/v.h:1198\n#2  g (a=1, \n    b=2)\n    at x.c:3\n"
         "#3  0x00401235 in Q::notify(O*, E*) ()\n   from /usr/lib/libQ.so.5\n"
         "#4  0x00401236 in h (a=1,\n    b=2) from /usr/lib/libR.so\n#5  i (a=1,\n"
         "#6  main () at x.c:9\n    b=2)\n",
         "-: !malformed@342\n-: ?!f!0x0@i(./a.c:44) "
         "?!std::vector<int, a<int> >::push_back!0x0@r(/usr/v.h:1198) ?!g!0x0@r(x.c:3) "
         "libQ.so.5!Q::notify(O*, E*)!0x0@r libR.so!h!0x0@r ?!i!0x0@r ?!main!0x0@r(x.c:9)\n"},
        {"lldb, values of parameters, and inlined calls",
         "  * frame #0: 0x0000555555555151 app`f<void (*)(int)>(x=1) at a.cpp:12:6\n"
         "    frame #1: 0x0000555555555171 app`main [inlined] C::operator()(this=0x1) at "
         "a.cpp:7:1\n"
         "    frame #2: 0x0000555555555171 app`main [inlined] g at a.cpp:8\n"
         "    frame #3: 0x0000555555555172 app`C::operator=(this=0x1, c=0x2) at a.cpp:20\n",
         "-: app!f<void (*)(int)>!0x0@i(a.cpp:12) app!main [inlined] C::operator()!0x0@r(a.cpp:7) "
         "app!main [inlined] g!0x0@r(a.cpp:8) app!C::operator=!0x0@r(a.cpp:20)\n"},
        {"madExcept, two threads",
         "main thread ($150c):\n004cd3b2 +13e App.exe   Unit1    42 +5 TForm1.Button1Click\n"
         "0043e2fd +02d App.exe   Controls      TControl.Click\n76c8fa29 +019 KERNEL32.DLL "
         "BaseThreadInitThunk\n\nthread $8f4 (TWorker):\n004cd3c2 +14e App.exe Unit1 47 +5 f\n",
         "thread 5388: App.exe!TForm1.Button1Click!0x0@i App.exe!TControl.Click!0x0@r "
         "KERNEL32.DLL!BaseThreadInitThunk!0x0@r\nthread 2292: App.exe!f!0x0@i\n"},
        {"frames that nothing reads, and a comment",
         "#0 0x401234 in f (x=1) at a.c:1\n#1 of many\n# 2 is a comment, #1 too\n"
         "#2 0x401235 in g () at a.c:2\n#2 again\n",
         "-: !malformed@32\n-: ?!f!0x0@i(a.c:1) ?!g!0x0@r(a.c:2)\n"},
        {"HotSpot on Windows, with frames of Java",
         "C  [mod.dll+0x1234]\nC  [my lib.dll+0x1300]  f+0x20  (a.c:12)\nC  0x000001f2a1b2c123\n"
         "j  com.x.Main.main([Ljava/lang/String;)V+3\n"
         "J 1234 c2 com.x.Foo.bar(I)I (25 bytes) @ 0x00000000023a1b2c [0x00000000023a1a00+0x12c]\n"
         "J 12% c1 com.x.Foo.g()V (5 bytes) @ 0x00000000023a1b2d [0x00000000023a1a00+0x12d]\n"
         "v  ~StubRoutines::call_stub\n",
         "-: mod.dll!0x1234@i my lib.dll!0x1300@r ?!0x1f2a1b2c123@r "
         "?!com.x.Main.main([Ljava/lang/String;)V!0x0@r ?!com.x.Foo.bar(I)I!0x0@r "
         "?!com.x.Foo.g()V!0x0@r ?!StubRoutines::call_stub!0x0@r\n"},
        {"gdb of MinGW, whose exports have the name of their image",
         "#0  0x1 in KERNEL32!BaseThreadInitThunk () from C:\\W\\kernel32.dll\n"
         "#1  0x2 in ntdll!RtlUserThreadStart ()\n#2  0x3 in X::operator!= (a=1) at a.cc:3\n",
         "-: kernel32.dll!BaseThreadInitThunk!0x0@i ntdll!RtlUserThreadStart!0x0@r "
         "?!X::operator!=!0x0@r(a.cc:3)\n"},
        {"StackWalker, with lines",
         "c:\\my src\\a.cpp (12): A::f\nc:\\a.c (3): error C1: x\n"
         "00007FFB2E1E7034 (KERNEL32): (filename not available): BaseThreadInitThunk\n",
         "-: !malformed@27\n-: ?!A::f!0x0@i(c:\\my src\\a.cpp:12) "
         "KERNEL32!BaseThreadInitThunk!0x0@r\n"},
        {"Mono in Unity", "0x00007FFD4F8BE7E0 (mono-2.0-bdwgc) [c:\\b\\m.c:2809] mono_invoke\n",
         "-: mono-2.0-bdwgc!mono_invoke!0x0@i(c:\\b\\m.c:2809)\n"},
        {"managed code",
         "   at App.P.Crash(Object o) in c:\\my src\\P.cs:line 12\n   at App.P.<Main>(String[] a)\n"
         "  at App.P.F (System.Object o) [0x00001] in <3d9a1f25c0c04e43a8d1>:0 \n"
         "  at App.P.G (System.String[] args) [0x00007] in c:\\src\\P.cs:20 \n"
         "  at App.P.H () <0x40fd8b50 + 0x0001f> in <filename unknown>:0 \n"
         "   at App.P.I(Object o) ILOffset 0x12 in c:\\src\\P.cs:line 13\n"
         "\tat com.x.A.b(A.java:12)\n    at f (C:\\a.js:3:4)\n",
         "-: ?!App.P.Crash!0x0@i(c:\\my src\\P.cs:12) ?!App.P.<Main>!0x0@r ?!App.P.F!0x0@r "
         "?!App.P.G!0x0@r(c:\\src\\P.cs:20) ?!App.P.H!0x0@r ?!App.P.I!0x0@r(c:\\src\\P.cs:13) "
         "?!com.x.A.b!0x0@r(A.java:12) ?!f!0x0@r(C:\\a.js:3)\n"},
        {"Intel Inspector, which marks the current frame",
         "  >app.exe!f - C:\\src\\a.cpp:12\n   app.exe!g - C:\\src\\a.cpp:20\n"
         "   KERNEL32.DLL!BaseThreadInitThunk - KERNEL32.DLL:0x17033\n>app\na.exe!0x1\n",
         "-: app.exe!f!0x0@i(C:\\src\\a.cpp:12) app.exe!g!0x0@r(C:\\src\\a.cpp:20) "
         "KERNEL32.DLL!0x17033@r\napp: a.exe!0x1@i\n"},
        {"Windows' events of no module, whose offset is an address",
         "Faulting application name: a.exe, version: 1.0, time stamp: 0x5ab38077\nFaulting module "
         "name: unknown, version: 0.0.0.0, time stamp: 0x00000000\nException code: 0xc0000005\n"
         "Fault offset: 0x00007ff612341537\nP4: StackHash_0a9e\nP7: c0000005\nP8: 00401537\n",
         "-: ?!0x7ff612341537@i ?!0x401537@i\n"},
        {"words and an address before a place",
         "Exception Addr:  00007FF612341537 app.exe+0x1537\n", "-: app.exe!0x1537@i\n"},
        {"Go, whose signal came in another language",
         "PC=0x7ff612341537\nsignal arrived during external code execution\n\n"
         "runtime.cgocall(0x5d1a40, 0xc00009ff20)\n\tC:/go/cgocall.go:157 +0x5c fp=0xc0 sp=0xc1 "
         "pc=0x5a1b2c\n\ngoroutine 2 [force gc (idle)]:\nmain.f(0x0?)\n\tC:/a.go:3 +0x1\n",
         "-: !malformed@0\n-: ?!runtime.cgocall!0x0@i(C:/go/cgocall.go:157)\nthread 2: "
         "?!main.f!0x0@i(C:/a.go:3)\n"},
        {"the current line of a source is no label",
         "a.exe!0x1\n>   12:     *p = 0;\na.exe!0x2\n> 13: x\na.exe!0x3\n",
         "-: !malformed@10\n-: a.exe!0x1@i a.exe!0x2@r\n13: x: a.exe!0x3@i\n"},
    };
    stack_text_check(rows, COUNT_OF(rows));
}

/* Any line may have what a log puts before it; a frame's own words stay. */
TEST(lines_of_a_log)
{
    static const struct stack_text_row rows[] = {
        {"WinDbg",
         "2024-05-01T12:34:56Z stderr: 00 0012ff7c 00401600     app!f+0x17 [c:\\src\\a.c @ 12] \n"
         "2024-05-01T12:34:56Z stderr: 01 (Inline) --------     app!g+0x5 [c:\\src\\a.h @ 3] \n"
         "2024-05-01T12:34:56Z stderr: 0a 0012ffec 00000000     app+0x1b\n",
         "-: app!f!0x0@i(c:\\src\\a.c:12) app!g!0x0@r(c:\\src\\a.h:3) app!0x1b@r\n"},
        {"std::stacktrace of MSVC",
         "[12:34:56] [error] 0> C:\\src\\a.cpp(12): app!f+0x1E\n[12:34:56] [error] 1> app!g+0x9\n",
         "-: app!f!0x0@i(C:\\src\\a.cpp:12) app!g!0x0@r\n"},
        {"Rust",
         "2024/05/01 12:34:56.789 ERROR app[7]: stack backtrace:\n"
         "2024/05/01 12:34:56.789 ERROR app[7]:    0: app::f\n"
         "2024/05/01 12:34:56.789 ERROR app[7]:              at .\\src\\main.rs:7:5\n",
         "-: ?!app::f!0x0@i(.\\src\\main.rs:7)\n"},
        {"two stacks",
         "12:34:56.1 | INFO | #0  0x1 in f () at a.c:1\n12:34:56.1 | INFO | #1  0x2 in g () at "
         "a.c:2\n"
         "12:34:56.2 | INFO | #0  0x3 in h () at a.c:3\n",
         "-: ?!f!0x0@i(a.c:1) ?!g!0x0@r(a.c:2)\n-: ?!h!0x0@i(a.c:3)\n"},
        {"no label and no module are stated by a log",
         "12:34:56 > x\n12:34:56 # module a - " ID "1\na!0x1\n",
         "-: !malformed@0\n-: !malformed@13\n-: a!0x1@i\n"},
    };
    stack_text_check(rows, COUNT_OF(rows));
}

TEST(more_commands_of_windbg)
{
    static const struct stack_text_row rows[] = {
        {"functions as template arguments, and calls of objects",
         "00 0019fe84 00401234 app!std::thread::_Invoke<std::tuple<void (__cdecl*)(void)>,0>+0x11 "
         "[c:\\a.cpp @ 55]\n01 0019fe9c 0040162f app!`main'::`2'::<lambda_1>::operator()+0x5\n"
         "02 0019feb0 75c8fa29 app!ns::(anonymous namespace)::f<int (char)>(int x = 0n1)+0x1f\n"
         "03 0019fec0 75c8fa2a app!operator<<<int (char)>(int x = 0n1)+0x1f\n",
         "-: app!std::thread::_Invoke<std::tuple<void (__cdecl*)(void)>,0>!0x0@i(c:\\a.cpp:55) "
         "app!`main'::`2'::<lambda_1>::operator()!0x0@r "
         "app!ns::(anonymous namespace)::f<int (char)>!0x0@r app!operator<<<int (char)>!0x0@r\n"},
        {"kb of x64",
         "0:000> kb\n  *** Stack trace for last set context - .thread/.cxr resets it\n"
         "RetAddr               : Args to Child                       : Call Site\n"
         "00007ff6`12341600     : 00000000`00000000 00000000`00000001 : app!f+0x17 [c:\\a.c @ 12]\n"
         "00007ff6`12341700     : 00000000`00000001 00000000`00000002 : app+0x20\n",
         "-: app!f!0x0@i(c:\\a.c:12) app!0x20@r\n"},
        {"kc and kcn",
         "Call Site\napp!f\nKERNEL32!BaseThreadInitThunk\n # Call Site\n00 ntdll!NtWait\n"
         "0a app!std::vector<int,std::allocator<int> >::push_back\n",
         "-: app!f!0x0@i KERNEL32!BaseThreadInitThunk!0x0@r\n-: ntdll!NtWait!0x0@i "
         "app!std::vector<int,std::allocator<int> >::push_back!0x0@r\n"},
        {"names in quotes, and functions that are no modules",
         "a.exe!`anonymous namespace'::f+0x19\na.exe!ns::`dynamic initializer for 'x''+0x1\n"
         "2: a!f+0x17 [c:\\src\\a.c @ 12]\n",
         "-: !malformed@80\n-: a.exe!`anonymous namespace'::f!0x0@i a.exe!ns::`dynamic initializer "
         "for 'x''!0x0@r\n"},
    };
    stack_text_check(rows, COUNT_OF(rows));
}

TEST(reports_of_more_services)
{
    static const struct stack_text_row rows[] = {
        {"Backtrace",
         "{\"uuid\":\"x\",\"lang\":\"C\",\"threads\":{\"4ae5\":{\"name\":\"main\",\"fault\":true,"
         "\"stack\":[{\"address\":\"0x7ff612341537\",\"funcName\":\"f\",\"sourceCode\":\"o9\","
         "\"line\":\"12\",\"library\":\"C:\\\\app\\\\a.exe\"},{\"address\":"
         "\"16045690984833335023\",\"funcName\":\"g\",\"line\":3,\"sourceCode\":\"none\"},"
         "{\"address\":16,\"library\":\"b.dll\"}]},\"1\":{\"stack\":[{\"funcName\":\"h\","
         "\"library\":\"c\"}]},\"mainThread\":\"4ae5\"},\"sourceCode\":{\"o9\":{\"path\":"
         "\"/src/a.c\"}}}\n",
         "main (crashed): a.exe!f!0x7ff612341537@i(/src/a.c:12) ?!g!0xdeadbeefdeadbeef@r "
         "?!0x10@r\nthread 1: c!h!0x0@i\n"},
        {"Raygun, with the error that caused it",
         "{\"occurredOn\":\"2024-01-01T00:00:00Z\",\"details\":{\"error\":{\"className\":\"E\","
         "\"stackTrace\":[{\"lineNumber\":12,\"className\":\"A.B\",\"fileName\":\"a.cs\","
         "\"methodName\":\"F(Object o)\"},{\"methodName\":\"g\"}],\"innerError\":{\"className\":"
         "\"I\",\"stackTrace\":[{\"methodName\":\"h\",\"className\":\"\"}]}}}}\n",
         "E: ?!A.B.F(Object o)!0x0@i(a.cs:12) ?!g!0x0@r\nI: ?!h!0x0@i\n"},
        {"Node.js",
         "{\"header\":{\"reportVersion\":3},\"javascriptStack\":{\"message\":\"x\"},"
         "\"nativeStack\":[{\"pc\":\"0x55fc9c29af0e\",\"symbol\":\"f(int) [node]\"},{\"pc\":"
         "\"0x401234\",\"symbol\":\"\"}]}\n",
         "-: ?!f(int) [node]!0x55fc9c29af0e@i ?!0x401234@r\n"},
        {"Datadog, every thread and the identities of modules",
         "{\"error\":{\"stack\":\"0   App   0x0000000100001020 0x100000000 + 4128\",\"threads\":[{"
         "\"name\":\"Thread 0\",\"crashed\":true,\"stack\":\"0   App   0x0000000100001020 "
         "0x100000000 + 4128\\n1   App   0x0000000100002020 0x100000000 + 8224\"},{\"name\":"
         "\"Thread 1\",\"crashed\":false,\"stack\":\"0   b   0x0000000200001020 0x200000000 + "
         "4128\"}],\"binary_images\":[{\"uuid\":\"3249d99d-0c40-4931-8610-f4e4fb0b6936\",\"name\":"
         "\"App\"},{\"uuid\":\"Unavailable\",\"name\":\"b\"}]}}\n",
         "Thread 0 (crashed): App!0x1020@i{," ID "0} App!0x2020@r{," ID "0}\nThread 1: "
         "b!0x1020@i\n"},
        {"and where none of them crashed, the error first",
         "{\"error\":{\"stack\":\"a.exe+0x1\",\"threads\":[{\"name\":\"w\",\"stack\":\"a.exe+0x2\"}"
         "]}}\n{\"error\":{\"stack\":\"a.exe+0x3\"}}\n",
         "-: a.exe!0x1@i\nw: a.exe!0x2@i\n-: a.exe!0x3@i\n"},
        {"Sentry, the threads after the exception",
         "{\"exception\":{\"values\":[{\"type\":\"E\",\"thread_id\":1,\"stacktrace\":{\"frames\":[{"
         "\"instruction_addr\":\"0x1\"}]}}]},\"threads\":{\"values\":[{\"id\":1,\"crashed\":true},"
         "{\"id\":2,\"name\":\"w\",\"stacktrace\":{\"frames\":[{\"instruction_addr\":\"0x2\"}]}},"
         "{\"id\":3,\"stacktrace\":null},{\"id\":4,\"stacktrace\":{\"frames\":[{"
         "\"instruction_addr\":\"0x3\"}]}}]}}\n",
         "E: ?!0x1@i\nw: ?!0x2@i\nthread 4: ?!0x3@i\n"},
        {"BugSplat, whose names are in CDATA",
         "<report><exception><func><![CDATA[app!f]]></func></exception><threads><thread "
         "id=\"1e40\" "
         "current=\"yes\" framecount=\"2\"><frame><symbol><![CDATA[app!g<int>]]></symbol><arg1/>"
         "<file><![CDATA[c:\\a.cpp]]></file><line>12</line><offset>0x17</offset></frame><frame>"
         "<symbol><![CDATA[app!h]]></symbol><file/><line>0</line><offset>0x20</offset></frame>"
         "</thread><thread id='7'><frame module='a' function='x' offset='0x1' file='a.c' line='3'/>"
         "</thread></threads></report>",
         "thread 1e40: app!g<int>!0x0@i(c:\\a.cpp:12) app!h!0x0@r\nthread 7: a!0x1@i\n"},
        {"Unreal Engine, each thread once",
         "<?xml version=\"1.0\"?><F><R><CallStack>A!B::Tick() [D:\\b.cpp:12]\n</CallStack>"
         "<PCallStack>\nA 0x00007ff6a1b20000 + 1537 \nntdll 0x00007ff8a2b20000 + 52651 "
         "</PCallStack><Threads><Thread><CallStack>A 0x00007ff6a1b20000 + 1538 </CallStack>"
         "<IsCrashed>true</IsCrashed><ThreadID>100</ThreadID></Thread>\n<Thread><CallStack>ntdll "
         "0x00007ff8a2b20000 + 9d4f4 </CallStack><ThreadID>200</ThreadID></Thread></Threads></R>"
         "</F>",
         "-: A!0x1537@i ntdll!0x52651@r\nthread 100: A!0x1538@i\nthread 200: ntdll!0x9d4f4@i\n"},
        {"threads without a name, and room for none",
         "<r><Thread><frame ip='0x5'/></Thread><thread><frame ip='0x6'/></thread></r>",
         ": ?!0x5@i\n: ?!0x6@i\n"},
    };
    stack_text_check(rows, COUNT_OF(rows));
}

/* The time grows with the text, not with its square. */
TEST(long_texts_of_strangers)
{
    enum { BYTES = 1 << 20, SECONDS = 15 };
    static const struct {
        const char *name, *head, *item, *tail;
    } cases[] = {
        {"lines of XML that is no report", "<r>", "\n<a>5</a>", "</r>"},
        {"threads of XML", "<r>", "<thread>", "<frame ip='0x1'/></r>"},
        {"threads of XML, each with an element", "<r>", "<thread><a/>", "<frame ip='0x1'/></r>"},
        {"CDATA", "<r><frame/>", "<![CDATA[]]>", "</r>"},
        {"CDATA that does not end", "<r><frame/>", "<![CDATA[", "</r>"},
        {"portable call stacks", "<r>", "<PCallStack>", "</r>"},
        {"markup", "", "{{{module:9:a:elf:}}}\n{{{mmap:0x1:0x1:load:9:r:0x0}}}\n", "{{{bt:0:1}}}"},
        {"braces", "", "{{             \n", ""},
        {"threads of Backtrace", "{\"threads\":{",
         "\"1\":{\"stack\":[{\"funcName\":\"f\",\"library\":\"a\"}]},", "\"x\":{}}}"},
        {"sources of Backtrace",
         "{\"threads\":{\"1\":{\"stack\":[{\"funcName\":\"f\",\"library\":\"a\",\"sourceCode\":"
         "\"z\"}"
         "]}},\"sourceCode\":{",
         "\"1\":{},", "\"z\":{}}}"},
        {"frames of Raygun", "{\"details\":{\"error\":{\"stackTrace\":[", "{\"methodName\":\"f\"},",
         "{\"methodName\":\"f\"}]}}}"},
        {"threads of Datadog", "{\"error\":{\"threads\":[", "{\"stack\":\"a+0x1\"},",
         "{\"stack\":\"\"}]}}"},
        {"threads of Sentry without stacks",
         "{\"exception\":{\"values\":[{\"stacktrace\":{\"frames\":[]}}]},\"threads\":{\"values\":[",
         "{\"id\":1},", "{}]}}"},
    };
    char *text = malloc(BYTES + 1024);
    REQUIRE(text != NULL);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct stack_item item;
        struct arena keep;
        const size_t item_bytes = strlen(cases[i].item);
        size_t bytes = (size_t)snprintf(text, 512, "%s", cases[i].head);
        for (; bytes < BYTES; bytes += item_bytes)
            memcpy(text + bytes, cases[i].item, item_bytes);
        bytes += (size_t)snprintf(text + bytes, 512, "%s", cases[i].tail);
        test_row(cases[i].name);
        struct stack_input *input = stack_text_open(text, bytes);
        const clock_t start = clock();
        arena_init(&keep, 0);
        while (stack_input_next(input, &keep, &item))
            arena_reset(&keep);
        CHECK((clock() - start) / CLOCKS_PER_SEC < SECONDS);
        arena_free(&keep);
        stack_input_close(input);
    }
    free(text);
}

/* Unreal Engine on Linux prints the offset of the call, apart from the first frame's; of libc 2.35,
 * 0x94ac3 is the return address in start_thread, which other tools print. Sentry prints how far the
 * address is from where the image is loaded, if it knows that; else the address. */
TEST(frames_without_a_function_keep_their_offset)
{
    static const struct stack_text_row rows[] = {
        {"Unreal Engine on Linux",
         "[2023.02.18-09.15.37:112][  0]LogCore: 0x0000000004d33788 "
         "Game7!UnknownFunction(0x4b33788)\n"
         "0x000000000859f63e Game7!UnknownFunction(0x839f63d)\n"
         "[2026.10.01-09.08.53:375][  0]LogOutputDevice: Error: [Callstack] 0x0000000004bd0c64 "
         "CarlaUnreal!UnknownFunction(0x49d0c63)\nlibc.so.6!UnknownFunction(0x94ac2)\n"
         "0x00007ff384757223 libc.so.6!clone(+0x42)\nlibc.so.6!__libc_start_main(+0x7f)\n",
         "-: Game7!0x4b33788@i Game7!0x839f63d@i CarlaUnreal!0x49d0c63@i libc.so.6!0x94ac2@i "
         "libc.so.6!clone!0x0@r libc.so.6!__libc_start_main!0x0@r\n"},
        {"Sentry's text",
         "Thread 7 Crashed:\n0   app        0x7ff612341537      <unknown> + 5431\n"
         "1   app        0x7ff612341600      <unknown> + 140694844085760\n",
         "thread 7: app!0x1537@i ?!0x7ff612341600@r\n"},
    };
    stack_text_check(rows, COUNT_OF(rows));
}

TEST(an_address_in_a_module_whose_place_is_unknown_says_so)
{
    static const struct stack_text_row rows[] = {
        {"gdb", "#0  0x00007ffff7c29d90 in ?? () from /lib/x86_64-linux-gnu/libc.so.6\n",
         "in libc.so.6; the text does not say where that is loaded"},
        {"Unreal Engine", "[Callstack] 0x00007ffa75164fd9 KERNELBASE.dll!UnknownFunction []\n",
         "in KERNELBASE.dll; the text does not say where that is loaded"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct stack_input *input = stack_text_open(rows[i].text, strlen(rows[i].text));
        struct stack_item item;
        struct arena keep;
        char words[FRAME_NOTE_BYTES];
        test_row(rows[i].name);
        arena_init(&keep, 0);
        REQUIRE(stack_input_next(input, &keep, &item) && item.stack.frame_count == 1);
        CHECK_STR(frame_note_text(&item.stack.frames[0], words), rows[i].want);
        CHECK(item.stack.frames[0].pc_va > UINT32_MAX);
        stack_input_close(input);
        arena_free(&keep);
    }
}

TEST(the_text_of_resolve_is_read_again)
{
    static const struct stack_text_row rows[] = {
        {"all forms of a frame",
         "> one\n 0  crash.exe!0x2755  pdb        [inline] std::f<a,b >::g  c:\\x y\\a:3910\n"
         "                      pdb        crash::`scalar deleting destructor'\n"
         " 1  my app.exe!0x12    none       (no symbol file)\n 2  ?!0x1234           none       "
         "(in no known module)\n 3  jit!0x3            jit        a+0x3\n"
         " 4  app.dll!0x06000001+0x5  ppdb       N.T::F  a.cs:3\n    12 frames left out\n"
         "771  a!0x5              pdb-public f+0x5\n"
         "    (stopped in a function without unwind data: f)\n\n"
         "> two\n 0  b!0x6  mismatch   (of another build)\n",
         "one: crash.exe!0x2755@i my app.exe!0x12@r ?!0x1234@r jit!a!0x3@r app.dll!0x5@r a!0x5@r "
         "left 12\ntwo: b!0x6@i\n"},
        {"what is no such text", "0 a!0x5 hello\npdb is a word\n",
         "-: !malformed@0\n-: !malformed@14\n"},
    };
    stack_text_check(rows, COUNT_OF(rows));
}

TEST(places_and_frames_that_a_tool_knows_in_part)
{
    static const struct stack_text_row rows[] = {
        {"crashrpt.xml",
         "<?xml version=\"1.0\" encoding=\"UTF-8\" ?>\n<CrashRpt version=\"1403\">\n"
         "    <CrashGUID>374db652-d268-4b0b-94dc-c014150c8cfe</CrashGUID>\n"
         "    <ExceptionAddress>0x140001537</ExceptionAddress>\n"
         "    <ExceptionModule>C:\\my bin\\Demo.exe</ExceptionModule>\n"
         "    <ExceptionModuleBase>0x140000000</ExceptionModuleBase>\n"
         "    <ExceptionModuleVersion>1.0</ExceptionModuleVersion>\n</CrashRpt>\n",
         "-: !malformed@0\n-: Demo.exe!0x1537@i\n"},
        {"a module in parentheses", "(app.exe) +0x1537\n(app.exe)+0x1538\n",
         "-: app.exe!0x1537@i app.exe!0x1538@r\n"},
        {"Godot, without debug information",
         "[0] error(-1): no debug info in PE/COFF executable\n[1] Node::f (C:\\a.cpp:12)\n"
         "[2] error(-1): no debug info in PE/COFF executable\n",
         "-: ?!0x0@i ?!Node::f!0x0@r(C:\\a.cpp:12) ?!0x0@r\n"},
        {"Unity, without a name",
         "0x00007FF612341537 (app) \n0x00007FFB2E1E7034 (UnityPlayer) UnityMain\n",
         "-: ?!0x7ff612341537@i UnityPlayer!UnityMain!0x0@r\n"},
    };
    stack_text_check(rows, COUNT_OF(rows));
}

TEST(lines_of_minidump_stackwalk_that_are_no_frames)
{
    static const struct stack_text_row rows[] = {
        {"before and after the stacks",
         "Operating system: Windows NT\nCPU: amd64\n\nGPU: UNKNOWN\n\nCrash reason:  "
         "EXCEPTION_ACCESS_VIOLATION_WRITE\nCrash address: 0x0\nProcess uptime: 3 seconds\n\n"
         "Thread 0 (crashed)\n 0  app.exe!f() [a.cc : 12 + 0x5]\n"
         "    rax = 0x0000000000000000   rdx = 0x0000000000000001\n"
         "    Found by: given as instruction pointer in context\n\nLoaded modules:\n"
         "0x7ff612340000 - 0x7ff61234ffff  app.exe  ???  (main)\n"
         "0x7ffb2e1d0000 - 0x7ffb2e28cfff  kernel32.dll  10.0.19041.1\n",
         "thread 0: app.exe!f()!0x0@i(a.cc:12)\n"},
    };
    stack_text_check(rows, COUNT_OF(rows));
}
