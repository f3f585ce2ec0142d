/* What tools on Windows print, as their sources and published reports spell it. Most rows are texts
 * that were misread without a word: two stacks as one, an address as an offset, another module. */
#include <string.h>

#include "base/array.h"
#include "stack_text.h"
#include "test.h"

TEST(stacks_that_are_not_one)
{
    static const struct stack_text_row rows[] = {
        {"Process Monitor, XML, two events",
         "<?xml "
         "version=\"1.0\"?><procmon><eventlist><event><Path>C:\\x</Path><stack><frame><depth>0"
         "</depth><address>0x7ff6bb1b1234</address><path>C:\\a b\\app.exe</path><location>app.exe "
         "+ "
         "0x1234</location></frame></stack></event><event><stack><frame><depth>0</depth><address>"
         "0x7ff6bb1b1235</address><path>C:\\app.exe</path><location>app.exe + 0x1235</location>"
         "</frame><frame><depth>1</depth><address>0x1f5b20</address><path></path><location>0x1f5b20"
         "</location></frame></stack></event></eventlist></procmon>",
         "-: app.exe!0x1234@i\n: app.exe!0x1235@i ?!0x1f5b20@r\n"},
        {"texts of exceptions in XML",
         "<e><StackTrace>\n  at A.F()\n  at A.G()\n</StackTrace><inner><StackTrace>\n  at B.F()\n"
         "</StackTrace></inner></e>",
         "-: ?!A.F!0x0@i ?!A.G!0x0@r\n: ?!B.F!0x0@i\n"},
        {"HotSpot, whose frames of Java are listed once more",
         "Native frames: (J=compiled Java code, C=native code)\nC  [foo.dll+0x1234]\n"
         "j  com.x.Main.crash()V+0\nV  [jvm.dll+0x3c1234]\n\n"
         "Java frames: (J=compiled Java code, j=interpreted)\nj  com.x.Main.crash()V+0\n",
         "-: foo.dll!0x1234@i ?!com.x.Main.crash()V!0x0@r jvm.dll!0x3c1234@r\n"
         "-: ?!com.x.Main.crash()V!0x0@i\n"},
        {"Java, and what caused it",
         "\tat com.x.A.f(A.java:7)\n\tat com.x.A.main(A.java:12)\nCaused by: java.lang.Error: x\n"
         "\tat com.x.B.g(B.java:3)\n\t... 2 more\n\tSuppressed: java.lang.Error\n"
         "\t\tat com.x.C.h(C.java:4)\n",
         "-: ?!com.x.A.f!0x0@i(A.java:7) ?!com.x.A.main!0x0@r(A.java:12)\n"
         "-: ?!com.x.B.g!0x0@i(B.java:3)\n-: ?!com.x.C.h!0x0@i(C.java:4)\n"},
        {".NET, an exception in another one",
         "   at A.F() in C:\\a.cs:line 1\n   --- End of inner exception stack trace ---\n"
         "   at B.G() in C:\\b.cs:line 2\n"
         "--- End of stack trace from previous location where exception was thrown ---\n"
         "   at B.H()\n",
         "-: ?!A.F!0x0@i(C:\\a.cs:1)\n-: ?!B.G!0x0@i(C:\\b.cs:2) ?!B.H!0x0@r\n"},
        {"Unity's threads",
         "Stack Trace of Crashed Thread 5678:\n0x00007FFD55D5BE70 (UnityPlayer) UnityMain\n\n"
         "Stacks for Running Threads:\n\nCall Stack for Thread 1234:\n"
         "0x00007FFB2F1E2651 (ntdll) NtWaitForSingleObject\n",
         "thread 5678: UnityPlayer!UnityMain!0x0@i\nthread 1234: "
         "ntdll!NtWaitForSingleObject!0x0@i\n"},
        {"EurekaLog's threads",
         "|Methods |Details|Stack   |Address |Module |Offset  |Unit|Class|Procedure/Method|Line |\n"
         "|*Exception Thread: ID=5460; Parent=0; Priority=0                        |\n"
         "|Class=; Name=MAIN                        |\n|DeadLock=0; Wait Chain=    |\n"
         "|Comment=      |\n|-----------|\n"
         "|7FFFFFFE|03     |00000000|004A1234|app.exe |000A1234|Unit1 |TForm1|f |12[3] |\n"
         "|--------|\n|Running Thread: ID=3788; Parent=4284; Priority=0       |\n"
         "|7FFFFFFE|04     |00000000|77D4C43C|ntdll.dll |0006C43C|ntdll |   |NtWait |  |\n",
         "thread 5460: app.exe!0xa1234@i\nthread 3788: ntdll.dll!0x6c43c@i\n"},
        {"Process Monitor's saved stacks",
         "\"Frame\",\"Module\",\"Location\",\"Address\",\"Path\"\n"
         "\"K 0\",\"FLTMGR.SYS\",\"FltDecode + 0x1c5d\",\"0xfffff8014f1e555d\",\"C:\\FLTMGR.SYS\"\n"
         "\"U 1\",\"<unknown>\",\"0x1f5b20\",\"0x1f5b20\",\"\"\n"
         "\"Frame\",\"Module\",\"Location\",\"Address\",\"Path\"\n"
         "\"K 0\",\"a b.exe\",\"a b.exe + 0x12\",\"0xfffff8014f1e555d\",\"C:\\a b.exe\"\n",
         "-: FLTMGR.SYS!FltDecode!0x0@i ?!0x1f5b20@r\n-: a b.exe!0x12@i\n"},
        {"events in a line each, also of Windows XP and Vista",
         "Faulting application name: app.exe, version: 1.0.0.0, time stamp: 0x5ab38077 Faulting "
         "module name: my a.dll, version: 10.0.1.1, time stamp: 0x12345678 Exception code: "
         "0xc0000005 "
         "Fault offset: 0x0000000000052651 Faulting process id: 0x1a2c\n"
         "Faulting application app.exe, version 1.0.0.0, faulting module msvcp80.dll, version "
         "8.0.50727.6195, fault address 0x000038db.\n"
         "Faulting application vbc.exe, version 8.0.1.2, stamp 4889df5b, faulting module vbc.exe, "
         "version 8.0.1.2, stamp 4889df5b, debug? 0, fault address 0x00004040.\n"
         "Faulting application a.exe, version 1.0.0.0, time stamp 0x49e01f3c, faulting module "
         "ntdll.dll, version 6.0.1.2, time stamp 0x49e03824, exception code 0xc0000005, fault "
         "offset "
         "0x0003b123, process id 0x1234, application start time 0x01c9c3a1b2c3d4e5.\n",
         "-: my a.dll!0x52651@i\n-: msvcp80.dll!0x38db@i\n-: vbc.exe!0x4040@i\n"
         "-: ntdll.dll!0x3b123@i\n"},
    };
    stack_text_check(rows, COUNT_OF(rows));
}

/* Some tools print addresses where others print offsets, whatever their size. */
TEST(addresses_that_are_no_offsets)
{
    static const struct stack_text_row rows[] = {
        {"CrashRpt, whose frames without a name have their address",
         "= Error Report = \n\n== Stack trace for thread 0x1a2c ==\n\nFrame\n"
         "app.exe!f+0x12 [ main.cpp: 12 ] \nkernel32.dll!0x7c817077\n"
         "[Frames below may be incorrect and/or missing]\n0x401234\n\n\n"
         "== Stack trace for thread 0x1b2c ==\n\nFrame\nntdll.dll!0x7c90e4f4\n",
         "-: !malformed@0\nthread 6700: app.exe!f!0x0@i(main.cpp:12) ?!0x7c817077@r "
         "?!0x401234@r\nthread 6956: ?!0x7c90e4f4@i\n"},
        {"Dr. Mingw, with the offset and the nearest export",
         "00007FFE282FDF5E 00000000033FEFB8 00000000005F9E80 0000000000000002  nv.dll!0xedf5e "
         "OpenAdapter12+0xe432e\n"
         "00007FFE282FDF5F 00000000033FEFB8 00000000005F9E80 0000000000000002  app.exe!0x1537 "
         "crash+0x17  [C:\\app\\main.cpp @ 12]\n",
         "-: nv.dll!0xedf5e@i app.exe!0x1537@r(C:\\app\\main.cpp:12)\n"},
    };
    stack_text_check(rows, COUNT_OF(rows));
}

TEST(modules_with_more_around_their_names)
{
    static const struct stack_text_row rows[] = {
        {"WinDbg, of a module that was unloaded",
         "00 000000b6`f7cff8c0 00007ffb`2f1e2651 <Unloaded_foo.dll>+0x1234\n"
         "01 000000b6`f7cff8c8 00007ffb`2f1e2651 <Unloaded_my b.dll>+0x12\n",
         "-: foo.dll!0x1234@i my b.dll!0x12@r\n"},
        {"WinDbg, return addresses alone",
         "0:173> k\nRetAddr               Call Site\n"
         "00000000`557c5820     <Unloaded_a.dll>+0x265fe\n00000000`0000000e     0x8\n"
         "00000000`00000008     app!f+0x12 [c:\\a.c @ 12]\n",
         "-: a.dll!0x265fe@i ?!0x8@r app!f!0x0@r(c:\\a.c:12)\n"},
        {"Process Monitor's tab, a name with a blank",
         "K 0\tFLTMGR.SYS\tFltDecode + 0x1c5d\t0xfffff8014f1e555d\tC:\\FLTMGR.SYS\n"
         "U 1\tMy App.exe\tMy App.exe + 0x1234\t0x7ff6bb1b1234\tC:\\app\\My App.exe\n"
         "2\tMy App.exe\tmain + 0x14, C:\\a b.c(12)\t0x7ff6bb1b1234\tC:\\app\\My App.exe\n"
         "U 3\t<unknown>\t0x1f5b20\t0x1f5b20\t\n",
         "-: FLTMGR.SYS!FltDecode!0x0@i My App.exe!0x1234@r My App.exe!main!0x0@r ?!0x1f5b20@r\n"},
        {"JCL, a name with a blank",
         "(00016A27){my lib.bpl} [75E1FA27] Foo\n(000A1234){app.exe     } [004A2234] Unit1.f\n",
         "-: my lib.bpl!0x17a27@i app.exe!0xa2234@r\n"},
        {"a log whose source is apart from its colon",
         "05-01 12:34:56.789  1234  5678 E app :  1  ntdll.dll + 0x52651\n",
         "-: ntdll.dll!0x52651@i\n"},
    };
    stack_text_check(rows, COUNT_OF(rows));
}

TEST(frames_that_were_lost)
{
    static const struct stack_text_row rows[] = {
        {"Visual Studio, code without lines, and what is no frame",
         ">\tapp.exe!N.T.M(string a, int b) Line 10 + 0x7 bytes\tC#\n"
         " \tapp.exe!N.T.M.AnonymousMethod__0(object o)\tUnknown\tNon-user code. Symbols loaded.\n"
         " \t[External Code]\t\n \t[Native to Managed Transition]\t\n"
         " \tvcruntime140.dll!__FrameHandler4::Catch(_EXCEPTION_RECORD * p)\tC++\n"
         " \tapp.exe!h(int a)\n \t00007ff612341537()\tUnknown\n"
         " \t[Frames below may be incorrect and/or missing, no symbols loaded for a.dll]\t\n"
         " \tf(int * p) Line 12\tC++\n",
         "-: app.exe!N.T.M(string a, int b)!0x0@i app.exe!N.T.M.AnonymousMethod__0!0x0@r "
         "vcruntime140.dll!__FrameHandler4::Catch!0x0@r app.exe!h!0x0@r ?!0x7ff612341537@r "
         "?!f!0x0@r\n"},
        {"Boost, without a module",
         " 0# f(int *) at C:\\a.cpp:12\n 1# 0x00007FF612341537\n 2# crash(int *)\n",
         "-: ?!f(int *)!0x0@i(C:\\a.cpp:12) ?!0x7ff612341537@r ?!crash!0x0@r\n"},
        {"Chromium, whose distances are hexadecimal by now",
         "\tchromedriver!GetHandleVerifier [0x7ff7e21329c5+2ed785]\n"
         "\tchromedriver!GetHandleVerifier [0x0x7ff7e1e5a0d0+14890]\n"
         "\tchromedriver!(No symbol) [0x7ff7e1bbdb2d]\n\tntdll!RtlUser [0x7ff8c17c7c1c+2c]\n",
         "-: chromedriver!GetHandleVerifier!0x0@i chromedriver!GetHandleVerifier!0x0@r "
         "?!0x7ff7e1bbdb2d@r ntdll!RtlUser!0x0@r\n"},
        {"System Informer, with and without more columns",
         "0, ntdll.dll!NtWait+0x14\n1, my app.exe!main+0x12, 0xb6f7aff8b8, 0xb6f7aff8b0\n"
         "2, my app.exe+0x1537, 0xb6f7aff8b8, 0xb6f7aff8b0\n3, 0x7ff612341537\n"
         "0, ntdll.dll!NtDelay+0x14\n",
         "-: ntdll.dll!NtWait!0x0@i my app.exe!main!0x0@r my app.exe!0x1537@r "
         "?!0x7ff612341537@r\n-: ntdll.dll!NtDelay!0x0@i\n"},
        {"Node, functions without a name",
         "Error: x\n    at C:\\app\\a.js:5:1\n    at async Promise.all (index 0)\n"
         "    at async file:///C:/app/b.mjs:7:2\n    at node:internal/main/run:23:47\n"
         "    at Object.f [as g] (C:\\app\\a.js:3:7)\n",
         "-: !malformed@0\n-: ?!<anonymous>!0x0@i(C:\\app\\a.js:5) ?!async Promise.all!0x0@r "
         "?!<anonymous>!0x0@r(file:///C:/app/b.mjs:7) "
         "?!<anonymous>!0x0@r(node:internal/main/run:23) "
         "?!Object.f [as g]!0x0@r(C:\\app\\a.js:3)\n"},
        {"Python's faulthandler",
         "Thread 0x00001a2c (most recent call first):\n"
         "  File \"C:\\Python 3\\threading.py\", line 324 in wait\n\n"
         "Current thread 0x00001b2c [main] (most recent call first):\n"
         "  File \"C:\\a.py\", line 519 in string_at\n  File \"C:\\a.py\", line 3 in <module>\n"
         "Current thread's C stack trace (most recent call first):\n"
         "  Binary file \"C:\\p.dll\", at +0x12 [0x7ff612341537]\n",
         "thread 6700: ?!wait!0x0@i(C:\\Python 3\\threading.py:324)\nthread 6956: "
         "?!string_at!0x0@i(C:\\a.py:519) ?!<module>!0x0@r(C:\\a.py:3)\n-: p.dll!0x12@i\n"},
        {"Python, whose last frame is the innermost one",
         "Traceback (most recent call last):\n  File \"C:\\a.py\", line 3, in <module>\n    f()\n"
         "    ~^^\n  File \"C:\\a.py\", line 1, in f\n    a!0x5 + 1/0\n"
         "ZeroDivisionError: division by zero\n\n"
         "During handling of the above exception, another exception occurred:\n\n"
         "Traceback (most recent call last):\n  File \"C:\\b.py\", line 7, in g\n    x\n",
         "-: !malformed@136\n-: !malformed@173\n-: ?!f!0x0@i(C:\\a.py:1) "
         "?!<module>!0x0@r(C:\\a.py:3)\n-: ?!g!0x0@i(C:\\b.py:7)\n"},
        {".NET in other languages",
         "   bei App.P.Crash(String s) in C:\\my app\\P.cs:Zeile 12.\n   bei App.P.Main()\n"
         "   \xC3\xA0 App.P.F(String s) dans C:\\P.cs:ligne 13\n"
         "   \xE5\x9C\xA8 App.P.G(String s) \xE4\xBD\x8D\xE7\xBD\xAE "
         "C:\\P.cs:\xE8\xA1\x8C\xE5\x8F\xB7 14\n"
         "   \xD0\xB2 App.P.H() \xD0\xB2 C:\\P.cs:\xD1\x81\xD1\x82\xD1\x80 15\n"
         "   en App.P.I() en C:\\P.cs:l\xC3\xADnea 16\n   as App.P.J() or so\n",
         "-: !malformed@247\n-: ?!App.P.Crash!0x0@i(C:\\my app\\P.cs:12) ?!App.P.Main!0x0@r "
         "?!App.P.F!0x0@r(C:\\P.cs:13) ?!App.P.G!0x0@r(C:\\P.cs:14) ?!App.P.H!0x0@r(C:\\P.cs:15) "
         "?!App.P.I!0x0@r(C:\\P.cs:16)\n"},
        {"Qt Creator's stack view",
         "1 crash                   main.cpp 12  0x7ff612341537 \n"
         "2 static int seh_main(int a) exe.inl  288 0x7ff612341600 \n"
         "3 BaseThreadInitThunk     KERNEL32     0x7ffb6c8d7374 \n"
         "4 ??                                   0x7ff6a1b2162f \n... <More>\n"
         "7 lines of 0x123456\n1 g    b.cpp 3 0x7ff612341537 \n5 lines of 0x12\n",
         "-: !malformed@234\n-: ?!crash!0x0@i(main.cpp:12) "
         "?!static int seh_main(int a)!0x0@r(exe.inl:288) KERNEL32!BaseThreadInitThunk!0x0@r "
         "?!0x7ff6a1b2162f@r\n-: !malformed@285\n-: ?!g!0x0@i(b.cpp:3)\n"},
        {"Windows Performance Analyzer's tables",
         "Process,Stack,Count\n"
         "app.exe (1),[Root]/ntdll.dll!RtlUser/my app.exe!V::operator//my app.exe!f<int>,1.5\n"
         "app.exe (1),\"[Root]/app.exe!main/app.exe!f<int,char>/nt.exe!0xfffff80012345678/?\",2\n"
         "app.exe (1),\"[Root],app.exe!main,app.exe!g<int,std::a<int> >,ntdll.dll!Nt\",2\n"
         "[Root]/app.exe!operator</a.dll!x\n[Root]/\n[Root]\n",
         "-: !malformed@0\n"
         "-: my app.exe!f<int>!0x0@i my app.exe!V::operator/!0x0@r ntdll.dll!RtlUser!0x0@r\n"
         "-: ?!?!0x0@i ?!0xfffff80012345678@r app.exe!f<int,char>!0x0@r app.exe!main!0x0@r\n"
         "-: ntdll.dll!Nt!0x0@i app.exe!g<int,std::a<int> >!0x0@r app.exe!main!0x0@r\n"
         "-: !malformed@297\n-: !malformed@305\n"
         "-: a.dll!x!0x0@i app.exe!operator<!0x0@r\n"},
    };
    stack_text_check(rows, COUNT_OF(rows));
}

/* Lines of dumps in the issues of MSYS2 and git-for-windows; msys-2.0.dll of the last was at
 * 0x210040000, so that 0x21005fe8e is 0x1fe8e. */
TEST(stackdumps_of_cygwin)
{
    static const struct stack_text_row rows[] = {
        {"11 digits, no module",
         "Frame        Function    Args\n"
         "000FFFF7570  7FEFD011817 (000021E3FF0, 00000000000, 00000413258, 000021E3C30)\n"
         "00000000420  0007729064C (00000000020, 00000000020, 00000000000, 00000000001)\n",
         "-: ?!0x7fefd011817@i ?!0x7729064c@r\n"},
        {"32 bits",
         "Stack trace:\nFrame     Function  Args\n"
         "0100FDF8  765F422C  (765F0000, 00000003, 00000000, D9F89BC4)\n"
         "0100FE58  765F403F  (765F0000, 00000003, 00000000, 007A5FF8)\nEnd of stack trace\n",
         "-: ?!0x765f422c@i ?!0x765f403f@r\n"},
        {"with modules",
         "0007FFFF9E60  00021005FE8E (000210285F68, 00021026AB6E, 000000000000, 0007FFFF8D60) "
         "msys-2.0.dll+0x1FE8E\n"
         "0007FFFF9E60  0002100467F9 (000000000000, 000000000000, 000000000000, 0007FFFF9F38) "
         "msys-2.0.dll+0x67F9\n",
         "-: msys-2.0.dll!0x1fe8e@i msys-2.0.dll!0x67f9@r\n"},
        {"three arguments",
         "0007FFFF9E60  00021005FE8E (000210285F68, 00021026AB6E, 000000000000)\n",
         "-: !malformed@0\n"},
    };
    stack_text_check(rows, COUNT_OF(rows));
}
