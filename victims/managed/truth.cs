// The managed side of HERE(): [CallerMemberName] and [CallerLineNumber] state the frame, by stores into
// the shadow stack that victims/victim.h explains.  StackTrace is not asked: it names the wrong line in
// three of five calls of optimised code.
//
//     Truth.Here(); int r = Leaf(x); Truth.Back(); return r + 1;        all on one line
//
// After an exception that a method catches, Truth.To(depth) drops what was left without Back().
using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

static class Truth
{
    const string Native = "plugin-managed";

    [DllImport(Native)] static extern void managed_here(string type, string method, string file, int line, int flags);
    [DllImport(Native)] static extern void managed_back();
    [DllImport(Native)] static extern uint managed_depth();
    [DllImport(Native)] static extern void managed_cut(uint depth);

    // TYPE is written only where the method is not one of Scenarios.
    public static void Here(string type = "Scenarios", [CallerMemberName] string method = null,
                            [CallerFilePath] string file = null, [CallerLineNumber] int line = 0)
    {
        managed_here(type, method, file, line, 0);
    }

    // The same in an expression.
    public static bool HereToo(string type = "Scenarios", [CallerMemberName] string method = null,
                               [CallerFilePath] string file = null, [CallerLineNumber] int line = 0)
    {
        managed_here(type, method, file, line, 0);
        return true;
    }

    // METHOD calls on at LINE, and the JIT puts it into its caller: then the frame is gone.
    public static void Inlined(string method, int line, string type = "Scenarios", [CallerFilePath] string file = null)
    {
        managed_here(type, method, file, line, 1);
    }

    public static int Line([CallerLineNumber] int line = 0) { return line; }

    // Runtime frames, or code made at run time, come next.
    public static void System() { managed_here(null, null, null, 0, 2); }
    public static void Generated() { managed_here(null, null, null, 0, 8); }

    public static void Back() { managed_back(); }
    public static void Back2() { managed_back(); managed_back(); }
    public static uint Depth() { return managed_depth(); }
    public static void To(uint depth) { managed_cut(depth); }
}
