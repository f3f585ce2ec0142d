/* Offset stacks in all their forms, valid and faulty. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "stack_text.h"
#include "stacks/stack_input.h"
#include "stacks/stack_pattern.h"
#include "stacks/stack_raw.h"
#include "test.h"

#define MODULES                                                                                    \
    "\"modules\":[{\"index\":0,\"name\":\"C:\\\\x\\\\a.exe\",\"base\":\"0x1000\"},"                \
    "{\"index\":7,\"name\":\"b.dll\"}]"

static const struct {
    const char *name, *text, *want;
} rows[] = {
    {"one stack", "a.exe!0x1\nb.dll!0x2F\n", "-: a.exe!0x1@i b.dll!0x2f@r\n"},
    {"labels, comments, blank lines",
     "# log\n> one\na!0x1\n\n  # more\n\tb!0x2  \r\n>two\nc!0x3\n> empty\n",
     "one: a!0x1@i b!0x2@r\ntwo: c!0x3@i\nempty:\n"},
    {"kinds", "a!0x1@r\nb!0x2@i\nc!0x3@r", "-: a!0x1@r b!0x2@i c!0x3@r\n"},
    {"no module", "?!0xfff\n", "-: ?!0xfff@i\n"},
    {"generated code", "jit!Foo.Bar+0x12\n", "-: jit!Foo.Bar!0x12@i\n"},
    {"a module named jit", "jit!0x12\n", "-: jit!0x12@i\n"},
    {"an exclamation mark and blanks in a name", "a! b.exe!0x1\n", "-: a! b.exe!0x1@i\n"},
    {"folders before a name", "C:\\Program Files\\My App\\a.exe!0x1\n/lib/b.dll!0x2\n\\a.exe!0x3\n",
     "-: a.exe!0x1@i b.dll!0x2@r a.exe!0x3@r\n"},
    {"UTF-16",
     "\xFF\xFE"
     "a!0x1",
     "-: !malformed@2\n"},
    {"a method by its token, and IL offsets", "a!0x06000001+0x5\nb!0x06000001+5\nc!0x06000001+\n",
     "-: !malformed@32\n-: a!0x5@i b!0x5@r\n"},
    {"a token of another table", "a!0x0a000001+0x5\n", "-: !malformed@0\n"},
    {"a folder alone", "C:\\x\\!0x1\n", "-: !malformed@0\n"},
    {"a bad line does not end the stack", "> x\na!0x1\nhello\nb!0x2\n",
     "x: !malformed@10\nx: a!0x1@i b!0x2@r\n"},
    {"no hexadecimal", "a!0xzz\n", "-: !malformed@0\n"},
    {"an offset of 65 bits", "a!0x10000000000000000\n", "-: !malformed@0\n"},
    {"an offset of 64 bits", "a!0xffffffffffffffff\n", "-: a!0xffffffffffffffff@i\n"},
    {"no name", "!0x1\n", "-: !malformed@0\n"},
    {"nothing", "", ""},
    {"only blanks", " \n\n \t\n", ""},
    {"a mark of UTF-8",
     "\xEF\xBB\xBF"
     "a!0x1\n",
     "-: a!0x1@i\n"},
    {"an identity after the frame",
     "a.exe!0x1 {3249d99d0c4049318610f4e4fb0b6936A}\na.exe!0x2@i "
     "{3249D99D-0C40-4931-8610-F4E4FB0B69361}\na.exe!0x3\n",
     "-: a.exe!0x1@i{,3249D99D0C4049318610F4E4FB0B6936a} "
     "a.exe!0x2@i{,3249D99D0C4049318610F4E4FB0B69361} a.exe!0x3@r\n"},
    {"what is no identity", "a.exe!0x1 {hello}\na.exe!0x1 {12}\n",
     "-: !malformed@0\n-: !malformed@18\n"},
    {"a module line before the frames",
     "# module a b.exe 5ab380779000 3249D99D0C4049318610F4E4FB0B69361\n> x\na b.exe!0x1\nc!0x2\n"
     "# module c - 3249D99D0C4049318610F4E4FB0B69362\nc!0x3\n",
     "x: a b.exe!0x1@i{5AB380779000,3249D99D0C4049318610F4E4FB0B69361} c!0x2@r "
     "c!0x3@r{,3249D99D0C4049318610F4E4FB0B69362}\n"},
    {"module lines that are comments",
     "# module\n# module a\n# module a b c\n#module a - 3249D99D0C4049318610F4E4FB0B69361\na!0x1\n",
     "-: a!0x1@i\n"},
    {"an offset after a plus", "C:\\x\\a.exe+0x12\n", "-: a.exe!0x12@i\n"},
    {"an offset in a function names no place in the module", "a.exe!main+0x12\n",
     "-: a.exe!main!0x0@i\n"},
    {"an index before the frame",
     "00 a.exe+0x1537\n#1 a.exe+0x12\n2: a.exe!0x13\n[3] a.exe!0x14\n4# b c.dll+0x15\n"
     "Frame 5: a.exe!0x16\n06) a.exe!f+0x17\n",
     "-: a.exe!0x1537@i a.exe!0x12@r a.exe!0x13@r a.exe!0x14@r b c.dll!0x15@r a.exe!0x16@r "
     "a.exe!f!0x0@r\n"},
    {"times and other prefixes of a log",
     "2024-05-01 12:34:56.789 ERROR app: 00 a.exe+0x1\n[2024-05-01T12:34:56Z] [crash] a.exe!0x2\n"
     "12:00:01,5 | INFO | #1 a.exe+0x3\nreporter[77]: a.exe!f+0x4\n",
     "-: a.exe!0x1@i a.exe!0x2@r a.exe!0x3@r a.exe!f!0x0@r\n"},
    {"addresses before and after the frame, blanks around the plus",
     "0x00007ff612341537 a.exe + 0x1537\n0 0x7ff612341537 a.exe!0x12\na.exe+0x13 (0x7ff612341537)\n"
     "a.exe!0x14 [0x7ff612341537]\na.exe!f + 0x15 @ 0x7ff612341537\n",
     "-: a.exe!0x1537@i a.exe!0x12@r a.exe!0x13@r a.exe!0x14@r a.exe!f!0x0@r\n"},
    {"a name that begins like a prefix", "a: b.exe!0x1\nC: d.exe!0x2\n#3 see a.exe+0x12\n",
     "-: a: b.exe!0x1@i C: d.exe!0x2@r\n"},
    {"WinDbg, k",
     " # Child-SP          RetAddr               Call Site\n"
     "00 00000000`0012f8a0 00007ff6`00002a3d a!main+0x12 [c:\\src\\a.c @ 12]\n"
     "01 (Inline Function) --------`-------- a!foo+0x3\n"
     "02 00000000`0012f8a0 00007ff6`00002a3d b+0x2a3d\n",
     "-: a!main!0x0@i(c:\\src\\a.c:12) a!foo!0x0@r b!0x2a3d@r\n"},
    {"WinDbg, kv of x86 and of x64",
     "ChildEBP RetAddr  Args to Child\nWARNING: Stack unwind information not available.\n"
     "0012f8a0 77123456 a+0x1\n"
     "00000000`0012f8a0 00007ff6`12345678 : 00000000`00000001 00000000`00000001 : b+0x2\n",
     "-: a!0x1@i b!0x2@r\n"},
    {"the event log",
     "Faulting application name: a.exe, version: 1.0.0.0, time stamp: 0x5ab38077\n"
     "Faulting module name: b.dll, version: 1.0.0.0, time stamp: 0x5ab38077\n"
     "Exception code: 0xc0000005\nFault offset: 0x0000000000002755\n",
     "-: b.dll!0x2755@i\n"},
    {"an offset of the event log without a module", "Fault offset: 0x1\n", "-: !malformed@0\n"},
    {"minidump_stackwalk -m",
     "OS|Windows NT|6.1\nModule|a.exe|1|a.pdb|3249D99D0C4049318610F4E4FB0B69361|0x4|0x9|1\n\n"
     "0|0|a.exe||||0x2755\n0|1|a.exe||||0x2a3c\n1|0|x.dll|f|a.c|3|0x1\n1|1|||||0x77\n",
     "thread 0: a.exe!0x2755@i{,3249D99D0C4049318610F4E4FB0B69361} "
     "a.exe!0x2a3c@r{,3249D99D0C4049318610F4E4FB0B69361}\n"
     "thread 1: x.dll!f!0x0@i(a.c:3) ?!0x77@r\n"},
    {"minidump_stackwalk -m, without the innermost frame", "0|1|a.exe||||0x2a3c\n",
     "-: a.exe!0x2a3c@r\n"},
    {"gdb",
     "#0  0x00007ff612345678 in main (argc=1) at a.c:12\n#1  0x1 in ?? () from /x/ntdll.dll\n"
     "#2  foo (a=(x)) at b.c:3\n#3 a note\n",
     "-: !malformed@110\n-: ?!main!0x0@i(a.c:12) ?!0x1@r ?!foo!0x0@r(b.c:3)\n"},
    {"lldb",
     "* thread #1, stop reason = x\n  * frame #0: 0x1 a`main(argc=1) + 18 at a.c:12:3\n"
     "    frame #1: 0x2 b`start + 1\n",
     "thread 1: a!main!0x0@i(a.c:12) b!start!0x0@r\n"},
    /* what other tools print, one row for each spelling */
    {"WinDbg, kb of x86",
     "ChildEBP RetAddr  Args to Child              \n"
     "0012f8a0 77123456 00000001 00000002 00000003 a!main+0x12 [c:\\s\\a.c @ 12]\n"
     "0012f8b0 77123466 00000001 00000002 00000003 b+0x34\n"
     "0012f8c0 00000000 00000001 00000002 00000003 0x7712346a\n",
     "-: a!main!0x0@i(c:\\s\\a.c:12) b!0x34@r ?!0x7712346a@r\n"},
    {"WinDbg, kv of x86",
     "0012ff7c 00401234 00000001 00000002 00000003 a!f+0x12 (FPO: [Non-Fpo]) (CONV: cdecl) "
     "[c:\\a.c @ 3]\n"
     "0012ff8c 00401235 00000001 00000002 00000003 a!g+0x1 (FPO: [0,0,0])\n"
     "0012ff9c 00401236 00000001 00000002 00000003 b+0x20 (TrapFrame @ 0012ffb0)\n",
     "-: a!f!0x0@i(c:\\a.c:3) a!g!0x0@r b!0x20@r\n"},
    {"WinDbg, kn and ~*k",
     ".  0  Id: 1a2c.1e40 Suspend: 1 Teb: 00000000`002d7000 Unfrozen \"main\"\n"
     " # Child-SP          RetAddr               Call Site\n"
     "00 000000b6`f7aff8b8 00007ff6`5b2d1a9e a+0x10\n01 (Inline)          -------- a!f+0x3\n"
     "#  1  Id: 1a2c.2f10 Suspend: 1 Teb: 00000000`002d9000 Unfrozen\n"
     "00 000000b6`f7aff8b8 00007ff6`5b2d1a9e : 00000000`00000001 00000000`00000002 "
     "00000000`00000003 00000000`00000004 : 0x00007ff6`5b2d1a9e\n",
     "thread 0: a!0x10@i a!f!0x0@r\nthread 1: ?!0x7ff65b2d1a9e@i\n"},
    {"WinDbg, kP and kf",
     "00 000000b6`f7aff8b8 00007ff6`5b2d1a9e a!main(\n\t\t\tint argc = 0n1, \n"
     "\t\t\tchar ** argv = 0x000001f2`5d9a1b70)+0x12 [c:\\a.c @ 12] \n"
     "01        40 000000b6`f7aff8c0 00007ff6`5b2d1a9e a!f(int x = 0n3)+0x9\n"
     "02 (Inline Function) --------`-------- : --------`-------- --------`-------- : a!g+0x1\n",
     "-: a!main!0x0@i(c:\\a.c:12) a!f!0x0@r a!g!0x0@r\n"},
    {"two events of the log, Get-WinEvent",
     "Message      : Faulting application name: a.exe, version: 1.0, time stamp: 0x5ab38077\n"
     "               Faulting module name: b.dll, version: 1.0, time stamp: 0x5ab38077\n"
     "               Exception code: 0xc0000005\n               Fault offset: 0x00002755\n"
     "               Faulting process id: 0x1a2c\n               Report Id: 1\n"
     "Faulting application name: c.exe, version: 1.0, time stamp: 0x5ab38077\n"
     "Faulting module name: unknown.dll\nFault offset: 0x10\n",
     "-: b.dll!0x2755@i\n-: unknown.dll!0x10@i\n"},
    {"the event log as XML",
     "    <Data Name=\"AppName\">a.exe</Data>\n    <Data Name=\"ModuleName\">b.dll</Data>\n"
     "    <Data Name=\"ExceptionCode\">c0000005</Data>\n"
     "    <Data Name=\"FaultingOffset\">0000000000002755</Data>\n",
     "-: b.dll!0x2755@i\n"},
    {"Windows Error Reporting, event 1001", "P1: a.exe\nP4: b.dll\nP7: c0000005\nP8: 00002755\n",
     "-: b.dll!0x2755@i\n"},
    {"Windows Error Reporting, the window",
     "Problem signature:\n  Problem Event Name:\tAPPCRASH\n  Application Name:\ta.exe\n"
     "  Fault Module Name:\tb.dll\n  Fault Module Version:\t1.0\n  Exception Code:\tc0000005\n"
     "  Exception Offset:\t00002755\n",
     "-: b.dll!0x2755@i\n"},
    {"Report.wer", "Sig[3].Name=Fault Module Name\nSig[3].Value=b.dll\nSig[7].Value=00002755\n",
     "-: b.dll!0x2755@i\n"},
    {"minidump_stackwalk",
     "Thread 0 (crashed)\n 0  a.exe!`anonymous namespace'::f(int) [a.cc : 58 + 0x3]\n"
     "    eip = 0x0040429e   esp = 0x0012fe84\n"
     "    Found by: given as instruction pointer in context\n"
     " 1  a.exe!g + 0x23\n 2  libc-2.13.so + 0x1ec5d\n 3  0x77\n\nThread 1\n 0  b + 0x1\n",
     "thread 0: a.exe!`anonymous namespace'::f(int)!0x0@i(a.cc:58) a.exe!g!0x0@r "
     "libc-2.13.so!0x1ec5d@r ?!0x77@r\nthread 1: b!0x1@i\n"},
    {"gdb, bt full of all threads",
     "Thread 2 (Thread 0x7ffff7d8a740 (LWP 1234) \"app\"):\n"
     "#0  0x00007ffff7e3e9fc in ?? () from /lib/libc.so.6\nNo symbol table info available.\n"
     "#1  <signal handler called>\nNo locals.\n"
     "#2  0x0000555555555131 in ns::f<int> (this=0x1, a=(x))\n    at /src/a.cc:12\n"
     "        local = 5\n\nThread 1 (process 1):\n#0  main () at a.c:3\n",
     "thread 2: ?!0x7ffff7e3e9fc@i ?!ns::f<int>!0x0@i(/src/a.cc:12)\nthread 1: "
     "?!main!0x0@i(a.c:3)\n"},
    {"lldb, bt all",
     "(lldb) bt all\n* thread #1, name = 'app', stop reason = signal SIGABRT\n"
     "  * frame #0: 0x00000001 libc.so.6`__pthread_kill + 10\n"
     "    frame #1: 0x00000002 a`foo [inlined] bar(x=1) at a.c:12:3\n"
     "    frame #2: 0x00000003 a\n  thread #2: tid = 0x12\n    frame #0: 0x00000004\n",
     "thread 1: libc.so.6!__pthread_kill!0x0@i a!foo [inlined] bar!0x0@r(a.c:12) ?!0x3@r\n"
     "thread 2: ?!0x4@i\n"},
    {"lldb, a place among the arguments",
     "frame #8: 0x1 c`start(main=(c`main at c.cc:7:33), argc=1) at start.h:58:16\n",
     "-: c!start!0x0@i(start.h:58)\n"},
    {"a log that begins like an array", "[Thread debugging]\na+0x1\n[12.5] x\n",
     "-: !malformed@0\n-: !malformed@25\n-: a!0x1@i\n"},
    {"a crash report of macOS",
     "Thread 0 name:  Dispatch queue: com.apple.main-thread\nThread 0 Crashed:\n"
     "0   libsystem_kernel.dylib        \t0x00007fff6a2b1234 __pthread_kill + 10\n"
     "1   My App                        \t0x000000010a2b2a3d 0x10a2b0000 + 10813\n"
     "2   ???                           \t0x0000000000000077 0x0 + 119\n"
     "3   Electron Framework            \t0x000000010d9a5b1e f(int) + 12 (a.mm:33)\n\nThread 1:\n"
     "0   b                             \t0x1 0x0 + 1\n",
     "thread 0: libsystem_kernel.dylib!__pthread_kill!0x0@i My App!0x2a3d@r ?!0x77@r "
     "Electron Framework!f(int)!0x0@r(a.mm:33)\nthread 1: b!0x1@i\n"},
    {"a tombstone of Android",
     "pid: 77, tid: 78, name: x  >>> com.example <<<\nbacktrace:\n"
     "      #00 pc 0000000000089908  /apex/lib64/libc.so (abort+168) "
     "(BuildId: 9d95f2a8c3b1e4d5f60718293a4b5c6d7e8f9012)\n"
     "      #01 pc 00001234  /data/app/base.apk!libfoo.so (offset 0x1000)\n"
     "      #02 pc 00001235  /system/bin/app\n",
     "thread 78: libc.so!0x89908@i libfoo.so!0x1234@i app!0x1235@i\n"},
    {"AddressSanitizer",
     "    #0 0x4f5c6b in main /src/a.c:12:3\n"
     "    #1 0x7f1 in f(int) (/opt/app+0x1234) (BuildId: "
     "9d95f2a8c3b1e4d5f60718293a4b5c6d7e8f9012)\n"
     "    #2 0x7f2  (/lib/libc.so.6+0x20840)\n    #3 0x7f3 in _start\n",
     "-: ?!main!0x0@i(/src/a.c:12) app!0x1234@i libc.so.6!0x20840@i ?!_start!0x0@i\n"},
    {"systemd-coredump",
     "Stack trace of thread 12:\n#0  0x00007f1 raise (libc.so.6 + 0x3c2a1)\n"
     "#1  0x00007f2 n/a (app + 0x1234)\n",
     "thread 12: libc.so.6!0x3c2a1@i app!0x1234@r\n"},
    {"Chromium",
     "#0 0x55d5e6a0 base::debug::StackTrace::StackTrace()\n#1 0x55d5e6b0 <unknown>\n"
     "0x00007f12 [chrome.dll+0x1234]\n\tGetHandleVerifier [0x0069A813+48355] (a.cc:3)\n"
     "\t(No symbol) [0x0062C4B1]\n",
     "-: ?!base::debug::StackTrace::StackTrace()!0x0@i ?!0x55d5e6b0@r chrome.dll!0x1234@r "
     "?!GetHandleVerifier!0x0@r(a.cc:3) ?!0x62c4b1@r\n"},
    {"HotSpot", "C  [libc.so.6+0x8b3d6]  strlen+0x26\nV  [jvm.dll+0x3c2a1]\n",
     "-: libc.so.6!0x8b3d6@i jvm.dll!0x3c2a1@r\n"},
    {"Rust, all of it",
     "stack backtrace:\n   0:     0x5581d1 - core::panicking::panic_fmt::h8d17\n"
     "                               at /rustc/x/panicking.rs:65:14\n   1:     0x5581d2 - "
     "<unknown>\n",
     "-: ?!core::panicking::panic_fmt::h8d17!0x0@i(/rustc/x/panicking.rs:65) ?!0x5581d2@r\n"},
    {"Node.js", " 1: 0xb090e0 node::Abort() [/usr/bin/node]\n 2: 00007FF7C1B2E3BF v8::f+113567\n",
     "-: node!node::Abort()!0x0@i ?!v8::f!0x0@r\n"},
    {"winedbg",
     "=>0 0x7b0103f0 _assert+0x31() in ucrtbase (0x7b01)\n  1 0x00401623 in app (+0x1623) "
     "(0x61ff28)\n"
     "  2 0x00401624 main+0x4(argc=1) [/src/a.c:12] in app (0x0061ff28)\n",
     "-: ucrtbase!_assert!0x0@i app!0x1623@r app!main!0x0@r(/src/a.c:12)\n"},
    {"winedbg, parentheses in a name, no line, no function",
     "=>0 0x7b0103f0 X::operator()+0x31(a=1) [C:\\a.cc:7] in app (0x7b01)\n"
     "  1 0x00401623 f+0x1(a=1) [<command-line>:0] in app (0x61ff28)\n"
     "  2 0x00401624 g(a=1) [C:\\a.c:9] in app (0x61ff28)\n  3 0x00000077 (0x61ff28)\n",
     "-: app!X::operator()!0x0@i(C:\\a.cc:7) app!f!0x0@r app!g!0x0@r(C:\\a.c:9) ?!0x77@r\n"},
    {"winedbg, a call of null", "=>0 00000000 (0x61ff28)\n  1 0x00401623 in app (+0x1623)\n",
     "-: ?!0x0@i app!0x1623@r\n"},
    {"backtrace_symbols() of glibc",
     "./app(+0x1234) [0x5581d1]\n/lib/libc.so.6(+0x3ef20)[0x7f]\n./app(main+0x1b) [0x400b6b]\n"
     "./app() [0x400b6c]\n",
     "-: app!0x1234@i libc.so.6!0x3ef20@r app!main!0x0@r ?!0x400b6c@r\n"},
    {"Boost.Stacktrace", " 0# f(int) at /a.c:12\n 1# main in ./app\n 2# 0x00007F12 in /lib/l.so\n",
     "-: ?!f(int)!0x0@i(/a.c:12) app!main!0x0@r ?!0x7f12@r\n"},
    {"XML with a thread's frames",
     "<?xml?>\n<!-- <frame module='n' offset='0x1'/> --><r><code>5</code><thread id=\"4\"><frame>"
     "<symbol>a!f&lt;int&gt;</symbol><line>4</line><offset>0x3</offset></frame><frame>\n<Module> "
     "C:\\b.exe </Module><module_offset>0x15</module_offset></frame>\n<frame module='c' offset="
     "\"0x20\"/><frame>d+0x3</frame><frame address='0x77'/></thread><thread id='7'><Frame ip="
     "'0x5'></thread></r>",
     "thread 4: a!f<int>!0x0@i b.exe!0x15@r c!0x20@r d!0x3@r ?!0x77@r\nthread 7: ?!0x5@i\n"},
    {"XML whose frames are lines",
     "<c><m>x</m><PCallStack>\nApp 0x7ff6a0000 + 1537\nb 0x7f0 + "
     "1d\n</PCallStack><x>y</x></c>",
     "-: App!0x1537@i b!0x1d@r\n"},
    {"XML with a frame of nothing", "<s><frame/><frame>x y</frame></s>", "-: !malformed@12\n"},
    {"what only looks like other tools",
     "12 monkeys\n#1 a note\n#12\n1: x\nat home\n[+0x1]\nFault offset: 0x1\n(+0x1) [0x2]\n",
     "-: !malformed@0\n-: !malformed@25\n-: !malformed@30\n-: !malformed@38\n-: !malformed@45\n"
     "-: !malformed@63\n"},
    {"JSON, threads and stacks",
     "{\"schema_version\":1,\"label\":\"L\"," MODULES ",\"threads\":[{\"id\":5,\"stacks\":["
     "{\"walker\":\"rtl\",\"frames\":[{\"module\":0,\"offset\":\"0x10\",\"kind\":\"interrupted\","
     "\"gap\":null},{\"module\":7,\"offset\":\"0x20\",\"kind\":\"return\",\"gap\":3}]},"
     "{\"walker\":\"dbghelp\",\"frames\":[]}]},{\"id\":6,\"frames\":[{\"module\":null,"
     "\"address\":\"0x99\"}]}]}",
     "L thread 5 rtl: a.exe!0x10@i b.dll!0x20@r left 3\nL thread 5 dbghelp:\nL thread 6: "
     "?!0x99@i\n"},
    {"JSON, frames alone, over several lines",
     "{\n\"label\": \"x\",\n" MODULES ",\n\"frames\": [{\"module\": 7, \"offset\": \"0x1\"}]\n}\n",
     "x: b.dll!0x1@i\n"},
    {"JSON, an array of stacks",
     "[{\"label\":\"a\"," MODULES ",\"frames\":[{\"module\":0,\"offset\":\"0x1\"}]},7,"
     "{\"label\":\"b\",\"frames\":[]}]",
     "a: a.exe!0x1@i\n-: !malformed@0\nb:\n"},
    {"one object a line, one of them bad",
     "{\"label\":\"a\",\"frames\":[]}\n{\"label\":\"b\",\n\n{\"label\":\"c\",\"frames\":[]}\n",
     "a:\n-: !malformed@38\nc:\n"},
    {"the first object of many is bad", "{\"label\n{\"label\":\"c\",\"frames\":[]}\n",
     "-: !malformed@2\nc:\n"},
    {"text among objects",
     "{\"label\":\"a\",\"frames\":[]}\na!0x1\n{\"label\":\"b\",\"frames\":[]}\n",
     "a:\n-: !malformed@26\nb:\n"},
    {"objects after a line that is not an object",
     "log of today\n{\"label\":\"b\",\"frames\":[]}\n{\"label\":\"c\",\"frames\":[]}\n",
     "-: !malformed@0\nb:\nc:\n"},
    {"text after a bad object", "{bad}\n{worse}\na!0x1\nb!0x2\n",
     "-: !malformed@2\n-: !malformed@8\n-: a!0x1@i b!0x2@r\n"},
    {"text after text in braces", "log\n{\na!0x1\n",
     "-: !malformed@0\n-: !malformed@4\n-: a!0x1@i\n"},
    {"no frames at all", "{\"label\":\"a\"}\n", "a: !malformed@0\n"},
    {"a module that is not there", "{\"frames\":[{\"module\":3,\"offset\":\"0x1\"}]}\n",
     "-: !malformed@0\n"},
    {"an offset of another type", "{" MODULES ",\"frames\":[{\"module\":0,\"offset\":[]}]}\n",
     "-: !malformed@0\n"},
    {"a newer schema", "{\"schema_version\":2,\"frames\":[]}\n", "-: !unsupported@0\n"},
    {"JSON with names, as resolve prints it",
     "{\"schema_version\":1,\"label\":\"L\",\"frames\":[{\"index\":0,\"inline_depth\":1,"
     "\"module\":\"a.exe\",\"offset\":\"0x10\",\"function\":\"f\",\"file\":\"a.c\",\"line\":3},"
     "{\"index\":0,\"inline_depth\":0,\"module\":\"a.exe\",\"offset\":\"0x10\",\"function\":"
     "\"g\",\"file\":null,\"line\":null},{\"index\":1,\"inline_depth\":0,\"module\":null,"
     "\"offset\":\"0x99\",\"function\":null}]}\n",
     "L: a.exe!f!0x10@i(a.c:3) a.exe!g!0x10@i ?!0x99@r\n"},
    {"JSON with names, each thread's in `stack`",
     "{\"threads\":[{\"id\":5,\"stack\":{\"frames\":[{\"index\":0,\"module\":\"a\",\"offset\":"
     "\"0x1\",\"function\":\"f\"}]}},{\"id\":6,\"stack\":{\"frames\":[]}}]}",
     "thread 5: a!f!0x1@i\nthread 6:\n"},
    {"rust-minidump's JSON",
     "{\"crash_info\":{\"crashing_thread\":1},\"system_info\":{\"cpu_arch\":\"amd64\"},\"threads\":"
     "["
     "{\"thread_id\":7,\"frames\":[]},{\"thread_id\":8,\"frames\":[{\"module\":\"a.exe\","
     "\"offset\":"
     "\"0x1010\",\"module_offset\":\"0x10\",\"function\":\"f\",\"file\":\"a.c\",\"line\":3,"
     "\"trust\":\"context\"},{\"module\":\"a.exe\",\"offset\":\"0x101f\",\"module_offset\":"
     "\"0x1f\",\"function\":null,\"trust\":\"cfi\"}]}]}",
     "thread 7:\nthread 8 (crashed): a.exe!f!0x10@i(a.c:3) a.exe!0x20@r\n"},
    {"rust-minidump's JSON in processed crashes of Socorro",
     "[{\"crashing_thread\":0,\"json_dump\":{\"crash_info\":{\"crashing_thread\":0},\"threads\":["
     "{\"frames\":[{\"module\":\"a.exe\",\"offset\":\"0x1010\",\"module_offset\":\"0x10\"}]}]},"
     "\"json_dump_of\":1},{\"json_dump\":{\"label\":\"L\",\"frames\":[]},\"label\":\"K\"}]",
     "- (crashed): a.exe!0x10@i\nL:\n"},
    {"rust-minidump's JSON without threads", "{\"crash_info\":{}}\n", "-: !malformed@0\n"},
    {"an event of Sentry, innermost frame last",
     "{\"exception\":{\"values\":[{\"type\":\"SIGSEGV\",\"stacktrace\":{\"frames\":["
     "{\"instruction_addr\":\"0x7fff0020\",\"package\":\"/x/b.so\",\"function\":\"g\","
     "\"filename\":\"b.c\",\"lineno\":9},{\"instruction_addr\":\"0x400020\"},"
     "{\"instruction_addr\":\"0x77\"}]}}]},\"debug_meta\":{\"images\":[{\"code_file\":"
     "\"C:\\\\x\\\\a.exe\",\"code_id\":\"5ab380779000\",\"debug_id\":"
     "\"3249d99d-0c40-4931-8610-f4e4fb0b6936-1\",\"image_addr\":\"0x400000\",\"image_size\":4096}]}"
     "}\n",
     "SIGSEGV: ?!0x77@i a.exe!0x20@r{5AB380779000,3249D99D0C4049318610F4E4FB0B69361} "
     "b.so!g!0x7fff0020@r(b.c:9)\n"},
    {"an event of Sentry without frames", "{\"exception\":{\"values\":[{\"stacktrace\":null}]}}\n",
     "-: !malformed@0\n"},
    {"empty objects and arrays", "{\"threads\":[]}\n[]\n[[]]\n{\"label\":\"b\",\"frames\":[]}\n",
     "-: !malformed@18\nb:\n"},
};

TEST(stack_input_reads_every_form)
{
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        CHECK_STR(stack_text(rows[i].text, strlen(rows[i].text)), rows[i].want);
    }
}

TEST(stack_input_keeps_identities)
{
    static const char text[] =
        "{\"modules\":[{\"index\":0,\"name\":\"a.exe\",\"code_id\":\"5ab38077ABC000\","
        "\"debug_id\":\"{3249d99d-0c40-4931-8610-f4e4fb0b6936}1\"}],"
        "\"frames\":[{\"module\":0,\"offset\":\"0x1\"}]}";
    struct stack_input *input = stack_text_open(text, strlen(text));
    struct stack_item item;
    struct arena keep;

    arena_init(&keep, 0);
    REQUIRE(stack_input_next(input, &keep, &item));
    REQUIRE(item.fault.code == ERR_NONE && item.stack.frame_count == 1);
    CHECK_STR(item.stack.frames[0].module->code_id, "5AB38077abc000");
    CHECK_STR(item.stack.frames[0].module->debug_id, "3249D99D0C4049318610F4E4FB0B69361");
    arena_free(&keep);
    stack_input_close(input);
}

TEST(stack_input_keeps_the_first_and_last_frames_of_a_long_stack)
{
    enum { FRAMES = 2000, LINE = 16 };
    static char text[FRAMES * LINE];
    size_t bytes = 0;
    struct stack_item item;
    struct arena keep;

    for (unsigned i = 0; i < FRAMES; i++)
        bytes += (size_t)snprintf(text + bytes, LINE, "a!0x%x\n", i);
    struct stack_input *input = stack_text_open(text, bytes);
    arena_init(&keep, 0);
    REQUIRE(stack_input_next(input, &keep, &item));
    CHECK_EQ(item.stack.frame_count, LIMIT_FRAMES);
    CHECK_EQ(item.stack.left_out, FRAMES - LIMIT_FRAMES);
    CHECK_EQ(item.stack.frames[LIMIT_FRAMES_HEAD - 1].offset, LIMIT_FRAMES_HEAD - 1);
    for (uint32_t i = LIMIT_FRAMES_HEAD; i < LIMIT_FRAMES; i++)
        CHECK_EQ(item.stack.frames[i].offset, FRAMES - LIMIT_FRAMES + i);
    CHECK(!stack_input_next(input, &keep, &item));
    arena_free(&keep);
    stack_input_close(input);
}

TEST(stack_input_answers_a_line_over_the_limit_and_goes_on)
{
    static const size_t lengths[] = {LIMIT_LINE_BYTES + 1, LIMIT_LINE_BYTES * 3};
    for (size_t i = 0; i < COUNT_OF(lengths); i++) {
        const size_t room = lengths[i] + 32;
        char *text = malloc(room);
        REQUIRE(text != NULL);
        memset(text, 'x', room);
        memcpy(text, "a!0x1\n", 6);
        memcpy(text + 6 + lengths[i], "\nb!0x2\n", 7);
        CHECK_STR(stack_text(text, 6 + lengths[i] + 7), "-: !limit@6\n-: a!0x1@i b!0x2@r\n");
        free(text);
    }
}

TEST(stack_input_takes_more_names_than_it_keeps)
{
    enum { NAMES = 20000 };
    static char text[NAMES * 16];
    size_t bytes = 0, stacks = 0;
    struct stack_item item;
    struct arena keep;

    for (unsigned i = 0; i < NAMES; i++)
        bytes += (size_t)snprintf(text + bytes, 24, "%sm%u!0x1\n", i % 10 == 0 ? ">\n" : "", i);
    struct stack_input *input = stack_text_open(text, bytes);
    arena_init(&keep, 0);
    while (stack_input_next(input, &keep, &item)) {
        REQUIRE(item.fault.code == ERR_NONE && item.stack.frame_count == 10);
        for (uint32_t i = 0; i < 10; i++) {
            char want[16];
            (void)snprintf(want, sizeof want, "m%u", (unsigned)(stacks * 10 + i));
            CHECK_STR(item.stack.frames[i].module->name, want);
        }
        stacks++;
    }
    CHECK_EQ(stacks, NAMES / 10);
    arena_free(&keep);
    stack_input_close(input);
}

TEST(stack_input_says_how_much_of_a_file_is_left)
{
    static const char text[] = "> 1\na!0x1\n\n> 2\nb!0x2\n";
    uint64_t read_bytes = 9, left_bytes = 9;
    struct stack_input *input = stack_text_open(text, strlen(text));
    struct stack_item item;
    struct arena keep;

    arena_init(&keep, 0);
    CHECK(stack_input_progress(input, &read_bytes, &left_bytes));
    CHECK_EQ(read_bytes, 0);
    CHECK_EQ(left_bytes, sizeof text - 1);
    CHECK(stack_input_next(input, &keep, &item));
    CHECK(stack_input_progress(input, &read_bytes, &left_bytes));
    CHECK(read_bytes >= 10 && read_bytes < sizeof text - 1); /* what is only buffered is left */
    CHECK_EQ(read_bytes + left_bytes, sizeof text - 1);
    stack_input_close(input);
#ifndef _WIN32
    struct fault fault = FAULT_INIT;
    REQUIRE(stack_input_open_path("/dev/null", &input, &fault) == ERR_NONE);
    CHECK(!stack_input_progress(input, &read_bytes, &left_bytes)); /* nor of a pipe or terminal */
    stack_input_close(input);
#endif
    arena_free(&keep);
}

TEST(stack_input_names_what_cannot_be_opened)
{
    struct fault fault = FAULT_INIT;
    struct stack_input *input;
    CHECK_EQ(stack_input_open_path("no-such-file", &input, &fault), ERR_ABSENT);
    CHECK_HAS(fault.path, "no-such-file");
    fault_clear(&fault);
    CHECK_EQ(stack_input_open_path(test_scratch(), &input, &fault), ERR_IO);
}

TEST(stack_input_survives_truncation_and_flips)
{
    static const char *const samples[] = {
        "# log\n> one\na.exe!0x1\njit!x+0x2@i\n?!0x3\n",
        "{\"schema_version\":1," MODULES ",\"threads\":[{\"id\":5,\"stacks\":[{\"walker\":\"rtl\","
        "\"frames\":[{\"module\":7,\"offset\":\"0x10\",\"kind\":\"return\",\"gap\":2}]}]}]}\n",
    };
    for (size_t i = 0; i < COUNT_OF(samples); i++) {
        test_truncations((const uint8_t *)samples[i], strlen(samples[i]), stack_text_read, NULL);
        test_flips((const uint8_t *)samples[i], strlen(samples[i]), stack_text_read, NULL);
    }
}

TEST(patterns_match_whole_lines_and_give_up_on_intricate_ones)
{
    static char dense[30000], nested[60];
    static const struct {
        const char *name, *pattern, *line;
        bool matches;
        const char *function; /* NULL: not asked */
        uint64_t address, offset;
        uint32_t source_line;
    } patterns[] = {
        {"a text is as short as possible", "%f (%*) at %s", "f (a) at (b) at c:3", true, "f", 0, 0,
         3},
        {"an optional part that is there", "%f{ + %D}", "f + 12", true, "f", 0, 0, 0},
        {"an optional part that is not", "%f{ + %D}", "f + x", true, "f + x", 0, 0, 0},
        {"several blanks are one", "#%n %a", "#1 \t 0x12", true, NULL, 0x12, 0, 0},
        {"blanks that are not there", "#%n %a", "#10x12", false, NULL, 0, 0, 0},
        {"the rest of the line", "%n %a", "1 0x12 x", false, NULL, 0, 0, 0},
        {"a number of 65 bits", "%a", "0x10000000000000000", false, NULL, 0, 0, 0},
        {"no digits", "%a", "0x", false, NULL, 0, 0, 0},
        {"an empty text", "(%f)", "()", false, NULL, 0, 0, 0},
        {"a column", "%s", "C:\\a.c:12:3", true, NULL, 0, 0, 12},
        {"a file without a line", "%s", "C:\\a.c", false, NULL, 0, 0, 0},
        {"a decimal offset", "+%d", "+4660", true, NULL, 0, 0x1234, 0},
        {"texts that could end anywhere", "%* %* %* %* %* x", dense, false, NULL, 0, 0, 0},
        {"many optional parts", nested, dense, false, NULL, 0, 0, 0},
    };
    memset(dense, ' ', sizeof dense - 1);
    memcpy(nested, "{ }{ }{ }{ }{ }{ }{ }{ }{ }{ }{ }{ }{ }{ }{ }{ }{ }{ }x", 56);
    for (size_t i = 0; i < COUNT_OF(patterns); i++) {
        const struct pattern_text line = {patterns[i].line,
                                          patterns[i].line + strlen(patterns[i].line)};
        struct pattern_match found;
        test_row(patterns[i].name);
        CHECK_EQ(pattern_matches(patterns[i].pattern, line, &found), patterns[i].matches);
        if (!patterns[i].matches)
            continue;
        if (patterns[i].function != NULL) {
            CHECK_EQ(pattern_length(found.function), strlen(patterns[i].function));
            CHECK(pattern_starts(found.function, patterns[i].function));
        }
        CHECK_HEX(found.address, patterns[i].address);
        CHECK_HEX(found.offset, patterns[i].offset);
        CHECK_EQ(found.line, patterns[i].source_line);
    }
}

TEST(the_address_of_a_line_counts_where_a_load_map_is_stated)
{
    static const char text[] = "# module app - 3249D99D0C4049318610F4E4FB0B69361 0x400000 0x1000\n"
                               "#0  0x0000000000400131 in main (argc=1) at a.c:12\n"
                               "#1  0x0000000000500000 in other () from /lib/b.so\n"
                               "  * frame #2: 0x400200 app`f + 3 at a.c:3:1\n";
    struct stack_input *input = stack_text_open(text, sizeof text - 1);

    stack_input_addresses(input);
    CHECK_STR(stack_text_of(input),
              "-: app!0x131@i{,3249D99D0C4049318610F4E4FB0B69361} b.so!other!0x0@r "
              "app!0x200@r{,3249D99D0C4049318610F4E4FB0B69361}\n");
}

/* Output of other tools, cut anywhere, is either read or refused. */
TEST(spellings_of_other_tools_survive_damage)
{
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        if (rows[i].text[0] == '{' || rows[i].text[0] == '[')
            continue;
        test_row(rows[i].name);
        test_truncations((const uint8_t *)rows[i].text, strlen(rows[i].text), stack_text_read,
                         NULL);
    }
}
