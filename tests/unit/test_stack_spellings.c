/* Lines that other tools print, as their sources and published reports spell them: the module and
 * its offset where the line has both, else the function or the address. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "stack_text.h"
#include "test.h"

#define ID "3249D99D0C4049318610F4E4FB0B6936"
#define MOZILLA                                                                                    \
    "\"crash_info\":{\"crashing_thread\":1},\"modules\":[{\"filename\":\"a.exe\",\"code_id\":"     \
    "\"5ab380779000\",\"debug_id\":\"" ID "1\",\"base_addr\":\"0x400000\",\"end_addr\":"           \
    "\"0x500000\"}],\"threads\":[{\"frames\":[{\"ip\":\"0x77\"}]},{\"frames\":[{\"module_index\":" \
    "0"                                                                                            \
    ",\"ip\":\"0x401234\",\"trust\":\"context\"},{\"module_index\":0,\"ip\":\"0x77\"}]}]"

static const struct {
    const char *name, *text, *want;
} rows[] = {
    {"LLVM, with one blank before a place of the module",
     " #0 0x000055d5e6a0b1f7 llvm::sys::PrintStackTrace(llvm::raw_ostream&, int) "
     "(/usr/bin/clang-18+0x3c2a1f7)\n"
     " #1 0x00007f12 (/lib/libc.so.6+0x42520)\n #2 0x00007f13  (/lib/libc.so.6+0x42521)\n",
     "-: clang-18!0x3c2a1f7@i libc.so.6!0x42520@r libc.so.6!0x42521@i\n"},
    {"LLVM on Windows",
     "0x00007FF6BB1B1025, C:\\bin\\clang.exe(0x00007FF6BB000000) + 0x1B1025 byte(s)\n"
     "0x00007FFB2E1E3C84, C:\\a.DLL(0x00007FFB2E1D0000) + 0x13C84 byte(s), f() + 0x14 byte(s), "
     "c:\\a.cpp, line 12 + 0x5 byte(s)\n",
     "-: clang.exe!0x1b1025@i a.DLL!0x13c84@r\n"},
    {"ThreadSanitizer",
     "  #0 f /src/a.c:12 (app+0x1234)\n  #1 main <null> (app+0x1235) (BuildId: "
     "9d95f2a8c3b1e4d5f60718293a4b5c6d7e8f9012)\n"
     "  #2 operator new(unsigned long) <null> (libtsan.so.0+0x8bf89)\n",
     "-: app!0x1234@i app!0x1235@i libtsan.so.0!0x8bf89@i\n"},
    {"HarmonyOS",
     "#00 pc 000000000003e88f "
     "/system/lib/ld-musl.so.1(abort+12)(5aa9119f2f1080ede76b0b17fb0103a9)\n"
     "#01 pc 000000000003e890 /system/lib64/libark.so(5aa9119f2f1080ede76b0b17fb0103a9)\n",
     "-: ld-musl.so.1!0x3e88f@i libark.so!0x3e890@i\n"},
    {"Gecko",
     "#01: NS_Process(nsIThread*, bool)[/usr/lib/libxul.so +0x1234]\n"
     "#02: ???[C:\\Program Files\\Firefox\\xul.dll +0x5678]\n#03: f (C:\\src\\a.cpp:12)\n",
     "-: libxul.so!0x1234@i xul.dll!0x5678@r ?!f!0x0@r(C:\\src\\a.cpp:12)\n"},
    {"Chromium on Linux, with lines", "#0 0x55d5e6a0b1f7 base::f() [../../base/a.cc:1047:7]\n",
     "-: ?!base::f()!0x0@i(../../base/a.cc:1047)\n"},
    {"eu-stack", "#0  0x00007f12 poll - /usr/lib/libc.so.6\n#1  0x00007f13 - 1 - /usr/lib/a.so\n",
     "-: libc.so.6!poll!0x0@i ?!0x7f13@r\n"},
    {"a crash report of macOS with an inlined call, and sample",
     "2   My App   0x1049c4c20 main + 33 (a.swift:33) [inlined]\n"
     "    + ! 2573 ???  (in MyApp)  load address 0x104ea0000 + 0x4c20  [0x104ea4c20]\n"
     "    2573 ???  (in MyApp)  load address 0x104ea0000 + 0x4c21  [0x104ea4c21]\n",
     "-: My App!main!0x0@i(a.swift:33) MyApp!0x4c20@r MyApp!0x4c21@r\n"},
    {"Sentry's text",
     "Thread 7748 Crashed:\n"
     "0   a.exe                       0x12a2a3d           crash::f (main.cpp:26)\n"
     "1   a.exe                       0x12a2a3e           [inlined] std::g (string:1)\n"
     "2   <unknown>                   0x7fff              <unknown>\n"
     "3   a.exe                       0x12a2a3d           0x12a0000 + 10813\n"
     "4   KERNEL32.DLL                0x7ffb6c8d7374      BaseThreadInitThunk\n"
     "5 lines of 0x1234 bytes\n",
     "thread 7748: !malformed@380\n"
     "thread 7748: a.exe!crash::f!0x0@i(main.cpp:26) a.exe!std::g!0x0@r(string:1) ?!0x7fff@r "
     "a.exe!0x2a3d@r KERNEL32.DLL!BaseThreadInitThunk!0x0@r\n"},
    {"Swift",
     "0 0x0104ea4c20 f + 12 in MyApp at /a.swift:3:4\n1 [ra] 0x0104ea4c21 g + 1 in MyApp\n",
     "-: MyApp!f!0x0@i(/a.swift:3) MyApp!g!0x0@r\n"},
    {"std::stacktrace of MSVC",
     "0> C:\\src\\a.cpp(12): app!f+0x1E\n1> app!main+0x9\n2> C:\\x\\app+0x1234\n3> "
     "0x7FFB2E1E3C84\n",
     "-: app!f!0x0@i(C:\\src\\a.cpp:12) app!main!0x0@r app!0x1234@r ?!0x7ffb2e1e3c84@r\n"},
    {".NET ahead of time, and with sources",
     "   at App!<BaseAddress>+0x1a2b3c\n   at Program.Main(String[]) + 0x1d\n"
     "   at N.T.M(Int32) in C:\\a b\\a.cs:line 12\n   at N.T.F() + 0x2 in /a.cs:line 3\n",
     "-: App!0x1a2b3c@i ?!Program.Main!0x0@r ?!N.T.M!0x0@r(C:\\a b\\a.cs:12) "
     "?!N.T.F!0x0@r(/a.cs:3)\n"},
    {"Ruby", "/usr/lib/libruby.so.3.0(rb_bug+0x11) [0x7f12] vm_dump.c:758\n",
     "-: libruby.so.3.0!rb_bug!0x0@i(vm_dump.c:758)\n"},
    {"Python's faulthandler",
     "  Binary file \"/usr/bin/python3.14\", at _Py_Dump+0x31 [0x55d5]\n"
     "  Binary file \"/lib/libc.so.6\", at +0x3c050 [0x7f12]\n"
     "  Binary file \"/lib/libm.so.6\" [0x7f13]\n",
     "-: python3.14!_Py_Dump!0x0@i libc.so.6!0x3c050@r ?!0x7f13@r\n"},
    {"Unreal Engine",
     "[2024.01.01-12.00.00:123][178]LogWindows: Error: [Callstack] 0x00007ff75a7eea8f "
     "A-Win64.exe!UnknownFunction []\n"
     "[Callstack] 0x00007ff75a7eea90 Core.dll!FDebug::Fail() [c:\\a.cpp:440]\n"
     "UE4Editor!WinMain() [d:\\b.cpp:200]\n",
     "-: ?!0x7ff75a7eea8f@i Core.dll!FDebug::Fail()!0x0@r(c:\\a.cpp:440) "
     "UE4Editor!WinMain()!0x0@r(d:\\b.cpp:200)\n"},
    {"Unity and Blender",
     "0x00007FFD55D5BE70 (UnityPlayer) UnityMain\n"
     "0x00007FFD55D5BE71 (UnityPlayer) (function-name not available)\n"
     "python311.dll       :0x00007FFFEFBCAB20  PyObject_Call\n"
     "a.pyd               :0x00007FFFEFBCAB21  Symbols not available\n",
     "-: UnityPlayer!UnityMain!0x0@i ?!0x7ffd55d5be71@r python311.dll!PyObject_Call!0x0@r "
     "?!0x7fffefbcab21@r\n"},
    {"AddressSanitizer on Windows, whose offsets have the preferred base in them",
     "    #0 0x7ff6a0001234 in f C:\\a\\m.cpp:12\n"
     "    #6 0x7ff6a0002234  (C:\\a\\app.exe+0x140002234)\n"
     "    #33 0x7ff980bc7033 in BaseThreadInitThunk+0x13 "
     "(C:\\Windows\\System32\\KERNEL32.DLL+0x180017033)\n"
     "    #34 0x7ff982a82650  (C:\\b.dll+0x52650)\n    #35 0x00401234  (C:\\a\\app.exe+0x401234)\n"
     "    #36 0x10001234  (C:\\b.dll+0x10001234)\n    #37 0x77010203  (C:\\n.dll+0x6b810203)\n",
     "-: ?!f!0x0@i(C:\\a\\m.cpp:12) app.exe!0x2234@i KERNEL32.DLL!0x17033@i b.dll!0x52650@i "
     "app.exe!0x1234@i b.dll!0x1234@i n.dll!0x6b810203@i\n"},
    {"AddressSanitizer on macOS",
     "    #0 0x100003f04 in main+0x84 (app:arm64+0x100003f04)\n"
     "    #1 0x1a0b2  (libsystem.dylib:x86_64h+0x1234)\n    #2 0x1  (a:b+0x100000010)\n",
     "-: app!0x3f04@i libsystem.dylib!0x1234@i a:b!0x100000010@i\n"},
    {"LLVM with symbols",
     " #0 0x0000000001a8b1c4 llvm::sys::PrintStackTrace(llvm::raw_ostream&) "
     "/src/lib/Support/Unix/Signals.inc:564:22\n"
     " #1 0x00007ff6bb1b1025 f C:\\a\\b.cpp:12:0\n #2 0x00007ff6bb1b1026 g\n",
     "-: ?!llvm::sys::PrintStackTrace(llvm::raw_ostream&)!0x0@i"
     "(/src/lib/Support/Unix/Signals.inc:564) ?!f!0x0@r(C:\\a\\b.cpp:12) ?!g!0x0@r\n"},
    {"Visual Leak Detector",
     "    c:\\a\\m.cpp (12): app.exe!main() + 0xA bytes\n"
     "    c:\\a\\m.cpp (3): app.exe!f()\n    ntdll.dll!RtlUserThreadStart() + 0x21 bytes\n",
     "-: app.exe!main()!0x0@i(c:\\a\\m.cpp:12) app.exe!f()!0x0@r(c:\\a\\m.cpp:3) "
     "ntdll.dll!RtlUserThreadStart!0x0@r\n"},
    {"Dr. Memory",
     "# 0 replace_malloc               [d:\\drmemory\\alloc.c:2577]\n"
     "# 1 app.exe!main                 [C:\\a\\m.c:12]\n"
     "# 2 KERNEL32.dll!BaseThreadInitThunk+0x13   (0x7648343d <KERNEL32.dll+0x1343d>)\n"
     "# 3 tests in a!0x5\n# 4 see a.exe+0x12\n# 5 a.exe!0x10\n",
     "-: ?!replace_malloc!0x0@i(d:\\drmemory\\alloc.c:2577) app.exe!main!0x0@r(C:\\a\\m.c:12) "
     "KERNEL32.dll!0x1343d@r\n"},
    {"a first frame that no row knows",
     "#0      main (package:app/main.dart:12:5)\n#1      f (package:app/main.dart:3:5)\n",
     "-: !malformed@0\n"},
    {"a place after a line that is no frame is not that of the frame before",
     "   0:     0x7ff6a0001234 - app::f\n   1: app::main\n             at .\\src\\main.rs:5\n",
     "-: !malformed@34\n-: ?!app::f!0x0@i\n"},
    {"Abseil, whose frame has no known size",
     "PC: @     0x7ff6a0001234  (unknown)  f()\n    @     0x7ff6a0002234         32  g()\n",
     "-: ?!f()!0x0@i ?!g()!0x0@r\n"},
    {"Node on Windows, a frame without a name",
     " 1: 00007FF6A0001234 node_api_throw_syntax_error+175871\n 2: 00007FF6A0002234\n",
     "-: ?!node_api_throw_syntax_error!0x0@i ?!0x7ff6a0002234@r\n"},
    {"SOS's clrstack",
     "OS Thread Id: 0x1a2c (0)\n        Child SP               IP Call Site\n"
     "000000E1B2F7E8A8 00007ffe1234abcd [HelperMethodFrame: 000000e1b2f7e8a8] "
     "System.Threading.Thread.SleepInternal(Int32)\n"
     "000000E1B2F7E9A0 00007FFDE1234567 App.Program+<>c.<Main>b__0_0(System.String[]) "
     "[C:\\a\\Program.cs @ 12]\n000000E1B2F7EBC8 00007ffe45678abc [GCFrame: 000000e1b2f7ebc8] \n",
     "thread 0: ?!System.Threading.Thread.SleepInternal!0x0@i "
     "?!App.Program+<>c.<Main>b__0_0!0x0@r(C:\\a\\Program.cs:12)\n"},
    {"and dumpstack",
     "Current frame: ntdll!NtWaitForSingleObject + 0x14\nCurrent frame: app+0x12\n"
     "000000E1B2F7E8A8 00007ffe1234abcd app!f+0x12, calling app!g\n",
     "-: ntdll!NtWaitForSingleObject!0x0@i app!0x12@r app!f!0x0@r\n"},
    {"glog, Abseil and Zig",
     "PC: @     0x7f12ab raise\n    @     0x7f12abcd (unknown)\n    @   00007FF6BB1B1025  f\n"
     "    @     0x55d5e6a0b1f7         64  g()\n"
     "C:\\src\\main.zig:5:7: 0x7ff6bb1b1025 in main (main.exe.obj)\n"
     "???:?:?: 0x7ffb2e1e3c84 in ??? (KERNEL32.DLL)\n",
     "-: ?!raise!0x0@i ?!0x7f12abcd@r ?!f!0x0@r ?!g()!0x0@r "
     "main.exe.obj!main!0x0@r(C:\\src\\main.zig:5) ?!0x7ffb2e1e3c84@r\n"},
    {"Valgrind",
     "==123==    at 0x4C2FB0F: malloc (a.c:299)\n==123==    by 0x4E55B96: f (in /lib/libf.so)\n",
     "-: ?!malloc!0x0@i(a.c:299) libf.so!f!0x0@r\n"},
    {"Visual Studio",
     "app.exe!f()  Line 12 + 0x5 bytes\tC\napp.exe!g(int argc, char * * argv) Line 3\tC++\n"
     "kernel32.dll!@Base@12() \tUnknown\nntdll.dll!00007ffb2e1e3c84()\tUnknown\n",
     "-: app.exe!f()!0x0@i app.exe!g(int argc, char * * argv)!0x0@r "
     "kernel32.dll!@Base@12!0x0@r ?!0x7ffb2e1e3c84@r\n"},
    {"Process Monitor",
     "0\tFLTMGR.SYS\tFltDecode + 0x1c1d\t0xfffff8014f1e555d\tC:\\drivers\\FLTMGR.SYS\n"
     "1\tapp.exe\tapp.exe + 0x1234\t0x7ff6bb1b1234\tC:\\app\\app.exe\n"
     "2\tapp.exe\tmain + 0x14, C:\\a.c(12)\t0x7ff6bb1b1234\tC:\\app\\app.exe\n"
     "\"U 3\",\"app.exe\",\"app.exe + 0x1235\",\"0x7ff6bb1b1235\",\"C:\\app\\app.exe\"\n"
     "\"U 4\",\"ntdll.dll\",\"NtCreateFile + 0x14\",\"0x7ffb2e1e3c84\",\"C:\\ntdll.dll\"\n",
     "-: FLTMGR.SYS!FltDecode!0x0@i app.exe!0x1234@r app.exe!main!0x0@r app.exe!0x1235@r "
     "ntdll.dll!NtCreateFile!0x0@r\n"},
    {"Process Monitor, XML",
     "<stack><frame><depth>0</depth><address>0xfffff8014f1e555d</address><path>C:\\a\\FLTMGR.SYS"
     "</path><location>FLTMGR.SYS + 0x555d</location></frame>\n<frame><depth>1</depth><address>"
     "0x7ff6bb1b1234</address><path>C:\\app.exe</path><location>main + 0x14, C:\\a.c(12)</location>"
     "</frame></stack>",
     "-: FLTMGR.SYS!0x555d@i app.exe!main!0x0@r\n"},
    {"Sysmon",
     "CallTrace: C:\\W\\ntdll.dll+9d4f4|C:\\My App\\a.exe+1234|UNKNOWN(000001E8D8ADB454)\n"
     "C:\\W\\ntdll.dll+9d4f4|C:\\W\\b.dll+2d6de\nC:\\W\\ntdll.dll+9d4f4|hello\n",
     "-: !malformed@117\n-: ntdll.dll!0x9d4f4@i a.exe!0x1234@r ?!0x1e8d8adb454@r "
     "ntdll.dll!0x9d4f4@r b.dll!0x2d6de@r\n"},
    {"offsets without 0x",
     "\t[ 0] 0x7FF6E9D6DDDA     A.exe+0D6DDDA -> 67822+0x13A\tmov ecx, [rax]\n"
     "[1]   0x7FF6E9D6DDDB     (A.exe+D6DDDB)\nntoskrnl.exe+3f5780\n\"a.exe\"+1A2B3C\n"
     "Load C.DLL+1f\nversion.dll+notes\nmain+12\n",
     "-: !malformed@158\n-: !malformed@176\n-: A.exe!0xd6ddda@i A.exe!0xd6dddb@r "
     "ntoskrnl.exe!0x3f5780@r a.exe!0x1a2b3c@r Load C.DLL!0x1f@r\n"},
    {"Delphi: JCL, madExcept, EurekaLog",
     "(000A1234){app.exe     } [004A2234] Unit1.TForm1.Click (Line 12, \"Unit1.pas\" + 3) + $5\n"
     "[004A1234]{app.exe     } Unit1.TForm1.Click (Line 12, \"Unit1.pas\" + 3) + $5\n"
     "[75E1FA27]{KERNEL32.DLL} BaseThreadInitThunk + $17\n"
     "0012ff70 004a1234 +0b4 app.exe      Unit1          12  +3 TForm1.Button1Click\n"
     "0012ff90 75e1fa27 +017 KERNEL32.DLL                       BaseThreadInitThunk\n"
     "|00000002|04     |00000000|004A1234|app.exe |000A1234|Unit1  |TForm1|Click     |12[3]|\n",
     "-: app.exe!0xa2234@i app.exe!Unit1.TForm1.Click!0x0@r(Unit1.pas:12) "
     "KERNEL32.DLL!BaseThreadInitThunk!0x0@r app.exe!TForm1.Button1Click!0x0@r "
     "KERNEL32.DLL!BaseThreadInitThunk!0x0@r app.exe!0xa1234@r\n"},
    {"WhoCrashed", "ntoskrnl.exe (nt+0x3F7D60)\n", "-: ntoskrnl.exe!0x3f7d60@i\n"},
    {"Dr. Mingw and OBS: more addresses before the call site",
     "00401234 00000001 00000002 00000003  app.exe!main  [C:\\a.c @ 12]\n"
     "00007FF6BB1B1025 0000000000000001 0000000000000002 000000000000000A  app.exe!0x1025\n"
     "000000B6F7AFF8B8 00007FFB2E1E3C84 0000000000000001 0000000000000002 0000000000000003 "
     "000000000000000B obs.dll!f+0x12\n02 0133fa38 00000000     0x401234\n",
     "-: app.exe!main!0x0@i(C:\\a.c:12) app.exe!0x1025@r obs.dll!f!0x0@r ?!0x401234@r\n"},
    {"the base between the module and its offset",
     "app.exe (0x7ff6bb1b0000) + 0x1234\napp.exe [0x7ff6bb1b0000] +0x1235\n"
     "app.exe @ 0x7ff6bb1b0000 + 0x1236\n0x7ff6bb1b1234 app.exe 0x7ff6bb1b0000 + 0x1237\n"
     "app.exe (+0x1238)\napp.exe(+0x1239)\n",
     "-: app.exe!0x1234@i app.exe!0x1235@r app.exe!0x1236@r app.exe!0x1237@r app.exe!0x1238@r "
     "app.exe!0x1239@r\n"},
    {"a folder after the frame, and 0X", "a.exe+0x1235 [C:\\app\\a.exe]\nA.EXE+0X1235\n",
     "-: a.exe!0x1235@i A.EXE!0x1235@r\n"},
    {"a source after the frame", "a.exe!f+0x12 [C:\\a.c:3]\n", "-: a.exe!f!0x0@i(C:\\a.c:3)\n"},
    {"Go",
     "goroutine 1 [running]:\nmain.(*T).crash(0xc000012345?)\n\tC:/src/main.go:12\nmain.main()\n"
     "\tC:/src/main.go:15 +0x1d\nruntime.goexit({})\n"
     "\tC:/go/asm_amd64.s:1650 +0x1 fp=0xc000 sp=0xc001 pc=0x45f1\ncreated by main.init in "
     "goroutine 1\n\t/b.go:3 +0x2\n\ngoroutine 7 [select, 3 minutes]:\nmain.f()\n\t/a.go:1 +0x1\n"
     "exit status 2\n",
     "thread 1: ?!main.(*T).crash!0x0@i(C:/src/main.go:12) "
     "?!main.main!0x0@r(C:/src/main.go:15) ?!runtime.goexit!0x0@r(C:/go/asm_amd64.s:1650) "
     "?!main.init!0x0@r(/b.go:3)\nthread 7: !malformed@295\nthread 7: "
     "?!main.f!0x0@i(/a.go:1)\n"},
    {"Apple's report as text: images come last, prose between the stacks is no frame",
     "Process:               My App [123]\nCode Type:             ARM-64\n\n"
     "Application Specific Information:\nabort() called\n\nThread 0 Crashed:\n"
     "0   dyld      0x18f0e3e50 __pthread_kill + 8\n"
     "1   My App    0x100a04f3c 0x100a00000 + 20284\n"
     "2   org.b.kit 0x7fff20001234 0x7fff20000000 + 4660\n3   no frame at all\n\n"
     "Thread 0 crashed with ARM Thread State (64-bit):\n    x0: 0x0   x1: 0x1\n\n"
     "Binary Images:\n"
     "   0x100a00000 -    0x100a0bfff +My App arm64 <0f4a7b5c2d1e3f60718293a4b5c6d7e8> "
     "/A/My App\n"
     "0x7fff20000000 - 0x7fff2003ffff org.b.kit (1.0 - 2) "
     "<3249D99D-0C40-4931-8610-F4E4FB0B6936> /L/Kit\n"
     "           0x0 - 0xffffffffffffffff ??? (*) <00000000-0000-0000-0000-000000000000> "
     "???\n\nVM Region Summary:\n0x100a00000 - 0x100a0bfff other <3249D99D0C4049318610> /A/dyld\n",
     "thread 0: !malformed@277\nthread 0: dyld!__pthread_kill!0x0@i "
     "My App!0x4f3c@r{,0F4A7B5C2D1E3F60718293A4B5C6D7E80} "
     "org.b.kit!0x1234@r{,3249D99D0C4049318610F4E4FB0B69360}\n"},
    {"Console's translation of an .ips",
     "-------\nTranslated Report (Full Report Below)\n-------\n\nIncident Identifier: 1\n"
     "Thread 0:\n0   App 0x5 0x1 + 4\n\nBinary Images:\n"
     "0x1 - 0x9 App arm64 <0f4a7b5c2d1e3f60718293a4b5c6d7e8> /A/App\n\n-----------\nFull "
     "Report\n-----------\n\n{\"app_name\":\"App\"}\n",
     "thread 0: App!0x4@i{,0F4A7B5C2D1E3F60718293A4B5C6D7E80}\n"},
    {"an image whose name begins with another one's",
     "Process: App [1]\nThread 0:\n0   App 0x5 0x1 + 4\n\nBinary Images:\n"
     "0x1 - 0x9 App arm64 <0f4a7b5c2d1e3f60718293a4b5c6d7e8> /A/App\n"
     "0x11 - 0x19 App Framework arm64 <3249D99D0C4049318610F4E4FB0B6936> /A/App Framework\n",
     "thread 0: App!0x4@i{,0F4A7B5C2D1E3F60718293A4B5C6D7E80}\n"},
    {"the same list in a text that is not Apple's",
     "Programs: 1\n0   App 0x5 0x1 + 4\n\nBinary Images:\n"
     "0x1 - 0x9 App arm64 <0f4a7b5c2d1e3f60718293a4b5c6d7e8> /A/App\n",
     "-: !malformed@0\n-: App!0x4@i\n"},
    {"a document with a heading: Apple's .ips",
     "{\"app_name\":\"MyApp\",\"bug_type\":\"309\"}\n{\n \"faultingThread\" : 1,\"threads\" : "
     "[{\"frames\":[{\"imageOffset\":1,\"imageIndex\":0}]},{\"triggered\":true,\"frames\":"
     "[{\"imageOffset\":37908,\"symbol\":\"f\",\"symbolLocation\":8,\"imageIndex\":1},"
     "{\"imageOffset\":19488,\"imageIndex\":0},{\"imageOffset\":7,\"imageIndex\":9}]}],"
     "\"usedImages\":[{\"base\":4371185664,\"size\":16384,\"uuid\":"
     "\"3249d99d-0c40-4931-8610-f4e4fb0b6936\",\"path\":\"/A/MyApp\",\"name\":\"MyApp\"},"
     "{\"base\":6668173312,\"path\":\"/usr/lib/libsystem.dylib\"}]}\n",
     "-: MyApp!0x1@i{,3249D99D0C4049318610F4E4FB0B69360}\n- (crashed): libsystem.dylib!0x9414@i "
     "MyApp!0x4c20@r{,3249D99D0C4049318610F4E4FB0B69360} ?!0x7@r\n"},
    {"Mozilla's stacks, alone and in a ping",
     "{" MOZILLA "}\n{\"payload\":{\"stackTraces\":{" MOZILLA "}}}\n",
     "-: ?!0x77@i\n- (crashed): a.exe!0x1234@i{5AB380779000,3249D99D0C4049318610F4E4FB0B69361} "
     "?!0x77@r\n-: ?!0x77@i\n- (crashed): "
     "a.exe!0x1234@i{5AB380779000,3249D99D0C4049318610F4E4FB0B69361} ?!0x77@r\n"},
    {"Tecken, versions 5 and 4",
     "{\"jobs\":[{\"memoryMap\":[[\"x.pdb\",\"" ID "2\"],[\"n.pdb\",\"" ID "1\"]],\"stacks\":"
     "[[[0,11723767],[1,65802]],[[1,1]]]},{\"memoryMap\":[[\"o.pdb\",\"\"]],\"stacks\":"
     "[[[0,2],[-1,3],[5,4],[\"\",[]],7]]}]}\n"
     "{\"version\":4,\"memoryMap\":[[\"x.pdb\",\"" ID "2\"]],\"stacks\":[[[0,5]]]}\n",
     "-: x.pdb!0xb2e3f7@i{,3249D99D0C4049318610F4E4FB0B69362} "
     "n.pdb!0x1010a@i{,3249D99D0C4049318610F4E4FB0B69361}\n-: "
     "n.pdb!0x1@i{,3249D99D0C4049318610F4E4FB0B69361}\n-: o.pdb!0x2@i ?!0x3@i ?!0x4@i ?!0x0@i "
     "?!0x0@i\n-: x.pdb!0x5@i{,3249D99D0C4049318610F4E4FB0B69362}\n"},
    {"Symbolicator, and images without sizes",
     "{\"stacktraces\":[{\"frames\":[{\"instruction_addr\":\"0x400010\"},{\"instruction_addr\":"
     "\"0x500020\"},{\"instruction_addr\":\"0x10\"}]}],\"modules\":[{\"debug_id\":\"" ID "1\","
     "\"debug_file\":\"C:\\\\b\\\\a.pdb\",\"image_addr\":\"0x400000\"},{\"code_file\":\"/b.so\","
     "\"image_addr\":\"0x500000\",\"image_size\":4096}]}\n",
     "-: a.pdb!0x10@i{,3249D99D0C4049318610F4E4FB0B69361} b.so!0x20@r ?!0x10@r\n"},
    {"Sentry's addresses in an image",
     "{\"exception\":{\"values\":[{\"stacktrace\":{\"frames\":[{\"instruction_addr\":\"0x20\","
     "\"addr_mode\":\"rel:1\"},{\"instruction_addr\":\"0x10\",\"addr_mode\":\"rel:7\"}]}}]},"
     "\"debug_meta\":{\"images\":[{\"code_file\":\"a\",\"image_addr\":\"0x0\"},{\"code_file\":"
     "\"b.exe\",\"debug_id\":\"00000000-0000-0000-0000-000000000000\",\"code_id\":"
     "\"5ab380779000\",\"image_addr\":\"0x400000\"}]}}\n",
     "-: ?!0x10@i b.exe!0x20@r{5AB380779000,}\n"},
    {"the event log in other languages",
     "Fehlerhafter Anwendungsname: a.exe, Version: 16.8.7.0, Zeitstempel: 0x67890000\n"
     "Fehlerhafter Modulname: b.dll, Version: 9.0.225.6610, Zeitstempel: 0x6789558d\n"
     "Ausnahmecode: 0xc0000005\nFehleroffset: 0x000000000000e0a5\n"
     "Fehlerhafte Prozess-ID: 0x3ED10\n"
     "Nom du module d\xC3\xA9"
     "faillant : c.dll, version : 10.0.1.2, horodatage : 0x5632d545\n"
     "Code d\xE2\x80\x99"
     "exception : 0xc0000005\nD\xC3\xA9"
     "calage d\xE2\x80\x99"
     "erreur : 0x71f08\n"
     "\xE9\x94\x99\xE8\xAF\xAF: a.exe\xEF\xBC\x8C\xE7\x89\x88: 1.0.0.0\xEF\xBC\x8C\xE6\x97\xB6: "
     "0x5632d545\n"
     "\xE9\x94\x99\xE8\xAF\xAF: n.dll\xEF\xBC\x8C\xE7\x89\x88: 10.0.1.2\xEF\xBC\x8C\xE6\x97\xB6: "
     "0x5632d545\n"
     "\xE5\xBC\x82: 0xc0000374\n\xE9\x94\x99: 0x20\n",
     "-: b.dll!0xe0a5@i\n-: c.dll!0x71f08@i\n-: n.dll!0x20@i\n"},
    {"lines that only resemble an event",
     "image: a.dll, version: 1.2, base: 0x7ff00000\nsize: 0x1000\nentry: 0x20\n",
     "-: !malformed@45\n-: !malformed@58\n"},
    {"StackWalker, with the base in each line",
     "174B049B (WhatsApp 174A0000): (filename not available) (0): (function-name not available)\n"
     "121D55A2 (mir_app 121C0000): (filename not available) (0): Proto_RegisterModule\n"
     "121D55A2 (mir_app 121E0000): c:\\a.c (3): f\n",
     "-: !malformed@170\n-: WhatsApp!0x1049b@i mir_app!0x155a2@r\n"},
    {"StackWalker, with a list of modules",
     "00007FF607901233 (p): (filename not available): f\n"
     "SymInit: Symbol-SearchPath: '.', symOptions: 530, UserName: 'x'\n"
     "C:\\Program Files\\p.exe:p.exe (00007FF607900000), size: 8192 (result: 0), SymType: "
     "'-exported-', PDB: 'C:\\p.exe', fileVersion: 1.7.3994.0\n"
     "C:\\W\\ntdll.dll:ntdll.dll (00007FF97D0F0000), size: 65536 (result: 0), SymType: 'x'\n"
     "00007FF607901234 (p): (filename not available): (function-name not available)\n"
     "0x00007FF97D0F2345 (ntdll) RtlUserThreadStart\n00007FF607902000 (p): (filename not "
     "available): f\n"
     "SymInit: Symbol-SearchPath: '.'\n0x00007FF97D0F2345 (ntdll) g\n",
     "-: p!f!0x0@i p.exe!0x1234@r ntdll.dll!0x2345@r p!f!0x0@r ntdll!g!0x0@r\n"},
    {"ClickHouse",
     "2023.08.08 05:58:02.282797 [ 340 ] {} <Fatal> BaseDaemon: 15. T<std::t>::w(std::l<v*>) @ "
     "0x000000000ea0704f in /usr/bin/clickhouse\n"
     "{} <Fatal> BaseDaemon: 4. /b/raise.c:51: gsignal @ 0x3efb7 in /usr/lib/libc-2.27.so\n"
     "16. ? @ 0xea0d041 in /usr/bin/clickhouse\n",
     "-: clickhouse!0xea0704f@i libc-2.27.so!0x3efb7@r clickhouse!0xea0d041@r\n"},
    {"Godot",
     "[1] /lib64/libc.so.6(+0x19c30) [0x7f7714186c30] (??:0)\n"
     "[13] /lib64/libc.so.6(main+0x88) [0x7f4a2787e668] (??:0)\n"
     "[0] 7ff7060f837c (main+3a3837c) - Node::set (C:\\node.cpp:1442)\n",
     "-: libc.so.6!0x19c30@i libc.so.6!main!0x0@r main!Node::set!0x0@r(C:\\node.cpp:1442)\n"},
    {"GoldSource and Special K",
     "=>770B0000 001A4000 C:\\W\\ntdll.dll  <==  000E6DC3\n"
     "06/02/2017 16:44:21.297: [ FaultMod ]  * EIP Addr.: KERNELBASE.dll+0000C41Fh\n",
     "-: ntdll.dll!0xe6dc3@i KERNELBASE.dll!0xc41f@r\n"},
    {"Node's segfault-handler", "/x/a.node(+0x2cc1)[0x7f7c345f1cc1]\nnode[0xa1c7fe]\n",
     "-: a.node!0x2cc1@i ?!0xa1c7fe@r\n"},
    {"createdump's crash report",
     "{\"payload\" : {\"protocol_version\" : \"1.0.0\",\"threads\" : [{\"is_managed\" : "
     "\"true\",\"crashed\" : "
     "\"true\",\"native_thread_id\" : \"0x1c\",\"ctx\" : {\"IP\" : \"0x7f12\"},\"stack_frames\" : ["
     "{\"is_managed\" : \"false\",\"module_address\" : \"0x7f1200000000\",\"native_address\" : "
     "\"0x7f12000001f7\",\"native_offset\" : \"0x1f7\",\"unmanaged_name\" : "
     "\"f\",\"native_module\" : "
     "\"libcoreclr.so\"},{\"is_managed\" : \"true\",\"module_address\" : "
     "\"0x7f13\",\"native_address\" : "
     "\"0x7f14\",\"token\" : \"0x6000001\",\"il_offset\" : \"0x5\",\"method_name\" : "
     "\"P.M()\",\"filename\" : "
     "\"app.dll\",\"guid\" : \"3249d99d-0c40-4931-8610-f4e4fb0b6936\"},{\"repeated\" : \"0x9\","
     "\"repeated_frames\" : [{\"is_managed\" : \"true\",\"token\" : \"0x6000002\",\"il_offset\" : "
     "\"0xffffffff\",\"filename\" : \"app.dll\"}]},{\"is_managed\" : \"true\",\"native_address\" : "
     "\"0x77\","
     "\"method_name\" : \"Dynamic()\"},{\"is_managed\" : \"false\",\"native_address\" : "
     "\"0x78\"}]}]}}\n",
     "thread 28 (crashed): libcoreclr.so!0x1f7@i app.dll!0x5@r app.dll!0x0@r ?!Dynamic()!0x77@r "
     "?!0x78@r\n"},
    {"words of logcat and of the journal before a number",
     "01-01 12:00:00.000  1234  1234 F DEBUG   :       #00 pc 0000000000089908  /apex/libc.so "
     "(abort+168)\nI/DEBUG   (  127):     #01 pc 00001234  /system/lib/libfoo.so\n"
     "Jul 09 18:51:51 idpad systemd-coredump[1179149]:      #0  0x00005a4df3d0fdfd raise "
     "(libc.so.6 "
     "+ 0x8c0dfd)\n2024-01-01T00:00:00Z stderr F     #1 0x7f1 in f(int) (/opt/app+0x1234)\n"
     "see issue #12 of f (x)\n",
     "-: libc.so!0x89908@i libfoo.so!0x1234@i\n-: !malformed@339\n-: libc.so.6!0x8c0dfd@i "
     "app!0x1234@i\n"},
    {"Mozilla's signatures",
     "xul.dll@0x1234\nxul.dll@0x1235 | foo\n\xC3\x98 2 \tatio6axx.dll \tatio6axx.dll@0x192b60 "
     "\t\tscan\n",
     "-: xul.dll!0x1234@i xul.dll!0x1235@r atio6axx.dll!0x192b60@r\n"},
    {"Chromium's server",
     "0x00007ff6bb1b1234\t(chrome.dll -logging.cc:851 )\tl::M()\n[0x00007ff6bb1b1235](ntdll.dll + "
     "0x0005aa48 )\tRtlUserThreadStart\n",
     "-: chrome.dll!l::M()!0x0@i(logging.cc:851) ntdll.dll!0x5aa48@r\n"},
    {"SQL Server and MariaDB",
     "00007FFB2E1E3C84 Module(sqldk+0000000000013C84)\n"
     "00007FFB2E1E3C85 Module(KERNEL32+0000000000017034) (BaseThreadInitThunk+0000000000000014)\n"
     "7ff6bb1b1234    mysqld.exe!my_malloc()[my_malloc.c:12]\n",
     "-: sqldk!0x13c84@i KERNEL32!0x17034@r mysqld.exe!my_malloc!0x0@r(my_malloc.c:12)\n"},
    {"a module, then its function", "KERNEL32.DLL  BaseThreadInitThunk+0x14\n",
     "-: KERNEL32.DLL!BaseThreadInitThunk!0x0@i\n"},
    {"spindump",
     "  1000  start + 1903 (dyld + 34000) [0x18f0e7154]\n *1000  ??? (My App + 19488) [0x104]\n",
     "-: dyld!0x84d0@i My App!0x4c20@r\n"},
    {"BlueScreenView, BugSplat, an empty name",
     "Caused By Address : ntoskrnl.exe+3f5780\napp!C::f(0) + 0x12\tc:\\a.cpp(12) + 0xb\n"
     "app.exe! + 0x1234\n0x00401234 (0x00000001 0x00000002) app.exe!main + 0x12 bytes\n",
     "-: ntoskrnl.exe!0x3f5780@i app!C::f(0)!0x0@r(c:\\a.cpp:12) app.exe!0x1234@r "
     "app.exe!main!0x0@r\n"},
    {"addresses of 12 digits, as heap listings have them",
     "7ff6bb1b1234 app+0x0000000000001234\n7ffb2e1e3c84 ntdll!RtlAllocateHeap+0x00000014\n",
     "-: app!0x1234@i ntdll!RtlAllocateHeap!0x0@r\n"},
    {"error reports of the kind BEX, whose offset comes before the code",
     "Event Name: BEX64\nP1: a.exe\nP4: b.dll\nP7: 0000000000074a30\nP8: c0000409\nP9: 5\n"
     "EventType=BEX\nSig[3].Value=c.dll\nSig[6].Name=Exception Offset\nSig[6].Value=00074a31\n"
     "Sig[7].Value=c0000409\nP4: d.dll\nP7: c0000005\nP8: 00002755\n",
     "-: b.dll!0x74a30@i c.dll!0x74a31@i d.dll!0x2755@i\n"},
    {"error reports of managed code: a row of MethodDef and an offset in IL",
     "Event Name: CLR20r3\nP4: App\nP7: 1a\nP8: 5d\nP9: System.NullReferenceException\n"
     "Problem Event Name:\tCLR20r3\nProblem Signature 04:\tLib\nProblem Signature 07:\t2\n"
     "Problem Signature 08:\t3\nP4: d.dll\nP7: c0000005\nP8: 00002755\n",
     "-: App!0x5d@i Lib!0x3@i d.dll!0x2755@i\n"},
    {"the event log as XML, whose data have no names",
     "<EventData>\n<Data>a.exe</Data>\n<Data>1.0.0.0</Data>\n<Data>5ab38077</Data>\n"
     "<Data>b.dll</Data>\n<Data>10.0.19041.1</Data>\n<Data>5ab38078</Data>\n<Data>c0000005</Data>\n"
     "<Data>0000000000002755</Data>\n<Data>1a2c</Data>\n</EventData>\n",
     "-: !malformed@0\n-: !malformed@211\n-: b.dll!0x2755@i\n"},
    {"the same on one line",
     "<Event xmlns='http://x'><System/><EventData><Data>a.exe</Data><Data>1.0</Data><Data>5ab38077"
     "</Data><Data>c.dll</Data><Data>1.0</Data><Data>5ab38078</Data><Data>c0000005</Data><Data>"
     "00002756</Data><Data>1a2c</Data></EventData></Event>\n",
     "-: c.dll!0x2756@i\n"},
    {"data of another event",
     "<EventData>\n<Data>a</Data>\n<Data>b</Data>\n<Data>c</Data>\n<Data>d</Data>\n<Data>e</Data>\n"
     "<Data>f</Data>\n<Data>7</Data>\n<Data>8</Data>\n<Data>9</Data>\n",
     "-: !malformed@0\n"},
    {"lines that begin a thread",
     "Thread 0 main loop (crashed) - tid: 12\n 0  a.exe + 0x1\n\nThread 1 pool-1 - tid: 13\n"
     " 0  b.exe + 0x2\n\nThread 2  - tid: 14\n 0  c.exe + 0x3\nThread 3 x (crashed)\n 0  d.exe + "
     "0x4\n"
     "Call Stack for Thread 24208:\n0x00007FFE0CE240B4 (ntdll) ZwWait\nTID 77:\n"
     "#0  0x00007f1 f - /a.so\nThread 1A2C: (Crashed)\na.dll+0x5\nThread 1A2D:\na.dll+0x6\n"
     "OS Thread Id: 0x1a2c (5)\na.dll+0x7\n",
     "thread 0: a.exe!0x1@i\nthread 1: b.exe!0x2@i\nthread 2: c.exe!0x3@i\nthread 3: "
     "d.exe!0x4@i\nthread 24208: ntdll!ZwWait!0x0@i\nthread 77: a.so!f!0x0@i\nthread 6700: "
     "a.dll!0x5@i\nthread 6701: a.dll!0x6@i\nthread 5: a.dll!0x7@i\n"},
    {"an inlined call by minidump-stackwalk, whose line has no offset",
     " 0  a.exe!f [a.rs : 12 + 0x5]\n 1  a.exe!g [b.rs : 3]\n",
     "-: a.exe!f!0x0@i(a.rs:12) a.exe!g!0x0@r(b.rs:3)\n"},
    {"systemd-coredump, with modules before the stacks",
     "Module /usr/lib/libfoo.so with build-id 9d95f2a8c3b1e4d5f60718293a4b5c6d7e8f9012\n"
     "Module app without build-id.\nModule app from deb app-1.0\nStack trace of thread 12:\n"
     "#0  0x00007f1 raise (libfoo.so + 0x3c2a1)\n#1  0x00007f2 n/a (/usr/bin/app + 0x1234)\n"
     "ELF object binary architecture: AMD x86-64\n",
     "thread 12: libfoo.so!0x3c2a1@i app!0x1234@r\n"},
    {"headings",
     "Stack dump:\n0.\tProgram arguments: clang -cc1 a.c\nSTACK_TEXT:  \nCall Trace:\na.exe+0x1\n",
     "-: a.exe!0x1@i\n"},
    {"functions with blanks, parentheses and brackets before a module without a folder",
     "#3 0x00007f1 std::function<void (int)>::operator()(int) const (libfoo.so + 0x3c2a1)\n"
     "#4 (anonymous namespace)::f(int) <null> (app+0x1235)\n"
     "#5 0x00007f2 f (My App (x86) + 0x1)\n#06: a::operator[](int)[libxul.so +0x1234]\n",
     "-: libfoo.so!0x3c2a1@i app!0x1235@i My App (x86)!0x1@r libxul.so!0x1234@r\n"},
    {"and before a file",
     "0   a.exe    0x12a2a3d    f(std::function<void (int)>) (main (2).cpp:26)\n"
     "a.exe!g(void (*)(int [3])) [C:\\src [x]\\a.c:3]\n",
     "-: a.exe!f(std::function<void (int)>)!0x0@i(main (2).cpp:26) a.exe!g(void (*)(int "
     "[3]))!0x0@r(C:\\src [x]\\a.c:3)\n"},
    {"Visual Studio's mark of the current frame",
     ">\tapp.exe!f() Line 12\tC++\n \tapp.exe!g() Line 3\tC++\n> a label\na!0x1\n",
     "-: app.exe!f()!0x0@i app.exe!g()!0x0@r\na label: a!0x1@i\n"},
    {"what a text before a label stated does not place what is after it",
     "C:\\p.exe:p.exe (00007FF607900000), size: 8192 (result: 0), SymType: 'x'\n"
     "0x00007FF607901234 (p) f\n> x\n0x00007FF607901234 (p) f\n> y\nP4: a.dll\nEvent Name: "
     "CLR20r3\n"
     "P7: 5\n> z\nP8: 6\n",
     "-: p.exe!0x1234@i\nx: p!f!0x0@i\ny:\nz: !malformed@170\nz:\n"},
};

TEST(stack_input_reads_what_tools_print)
{
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        CHECK_STR(stack_text(rows[i].text, strlen(rows[i].text)), rows[i].want);
    }
}

/* A document of 20 MB with 300,000 of each took hours, since each frame looked through all images.
 */
TEST(stack_input_refuses_more_images_than_a_process_has)
{
    enum { IMAGES = LIMIT_MODULES + 1, ROOM = 32 * IMAGES + 256 };
    static const struct {
        const char *name, *head, *image, *want;
        size_t images;
    } cases[] = {
        {"Sentry, as many as there may be",
         "{\"exception\":{\"values\":[{\"stacktrace\":{\"frames\":[{\"instruction_addr\":\"0x7\"}]}"
         "}]"
         "},\"debug_meta\":{\"images\":[{\"code_file\":\"a\"}",
         ",{\"code_file\":\"a\"}", "-: a!0x7@i\n", LIMIT_MODULES - 1},
        {"Sentry, one more",
         "{\"exception\":{\"values\":[{\"stacktrace\":{\"frames\":[{\"instruction_addr\":\"0x7\"}]}"
         "}]"
         "},\"debug_meta\":{\"images\":[{\"code_file\":\"a\"}",
         ",{\"code_file\":\"a\"}", "-: !limit@0\n", LIMIT_MODULES},
        {"Tecken, one more", "{\"stacks\":[[[0,1]]],\"memoryMap\":[[]", ",[]", "-: !limit@0\n",
         LIMIT_MODULES},
    };
    char *text = malloc(ROOM);
    REQUIRE(text != NULL);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        size_t bytes = strlen(cases[i].head);
        memcpy(text, cases[i].head, bytes);
        for (size_t k = 0; k < cases[i].images; k++) {
            memcpy(text + bytes, cases[i].image, strlen(cases[i].image));
            bytes += strlen(cases[i].image);
        }
        bytes += (size_t)snprintf(text + bytes, ROOM - bytes, i < 2 ? "]}}\n" : "]}\n");
        test_row(cases[i].name);
        CHECK_STR(stack_text(text, bytes), cases[i].want);
    }
    free(text);
}
