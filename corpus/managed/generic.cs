// Generic types and methods with state machines, lambdas and local functions in them. A comment at the
// end of a line is the name of what is written there.  Each asks .NET itself where it is.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Runtime.CompilerServices;
using System.Threading.Tasks;

static class Oracle
{
    static readonly HashSet<string> seen = new HashSet<string>();
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Here() { Tell(new StackTrace(1, true)); }
    public static void Tell(StackTrace trace)
    {
        foreach (var f in trace.GetFrames())
        {
            var m = f.GetMethod();
            if (m.Module != typeof(Oracle).Module) continue;
            string line = string.Format("0x{0:x8} 0x{1:x} {2}:{3}:{4} {5}.{6}", m.MetadataToken, f.GetILOffset(),
                Path.GetFileName((f.GetFileName() ?? "-").Replace('\\', '/')), f.GetFileLineNumber(), f.GetFileColumnNumber(), m.DeclaringType, m.Name);
            if (seen.Add(line)) Console.WriteLine(line);
        }
    }
}

class Crate<T>
{
    public static IEnumerable<int> Items(int n) { for (int i = 0; i < n; i++) { Oracle.Here(); yield return i; } } // Crate`1::Items
    public static IEnumerable<U> Pairs<U>(U one) { Oracle.Here(); yield return one; Oracle.Here(); yield return one; } // Crate`1::Pairs
    public static async Task<T> Later(T x) { await Task.Yield(); Oracle.Here(); return x; } // Crate`1::Later
    public static async Task<U> LaterOf<U>(U x) { await Task.Yield(); Oracle.Here(); return x; } // Crate`1::LaterOf
    public static async IAsyncEnumerable<int> Stream(int n) { await Task.Yield(); Oracle.Here(); yield return n; } // Crate`1::Stream

    public static int Each(int x)
    {
        int Local(int y) { Oracle.Here(); return y + x; } // Crate`1::Each::Local
        static int Plain(int y) { Oracle.Here(); return y; } // Crate`1::Each::Plain
        static U Own<U>(U y) { Oracle.Here(); return y; } // Crate`1::Each::Own
        Func<int, int> lambda = y => { Oracle.Here(); return Local(y) + Plain(y) + Own(y); }; // Crate`1::Each::<lambda_3>
        Func<int, int> nothing = y => { Oracle.Here(); return y; }; // Crate`1::Each::<lambda_4>
        return lambda(x) + nothing(x); // Crate`1::Each
    }

    public static int OfMethod<U>(U x)
    {
        Func<U, int> nothing = y => { Oracle.Here(); return 1; }; // Crate`1::OfMethod::<lambda_0>
        Func<int, int> holds = y => { Oracle.Here(); return x.GetHashCode() + y; }; // Crate`1::OfMethod::<lambda_1>
        int Local(U y) { Oracle.Here(); return holds(1); } // Crate`1::OfMethod::Local
        return nothing(x) + Local(x); // Crate`1::OfMethod
    }

    public class Inner<V>
    {
        public static IEnumerable<V> Deep(V x)
        {
            Func<V> f = () => { Oracle.Here(); return x; }; // Crate`1/Inner`1::Deep::<lambda_0>
            Oracle.Here(); yield return f(); // Crate`1/Inner`1::Deep
        }
        public int this[int i] { get { Oracle.Here(); return i; } } // Crate`1/Inner`1::get_Item
        public static V operator +(Inner<V> a, V b) { Oracle.Here(); return b; } // Crate`1/Inner`1::op_Addition
        public event Action Happens { add { Oracle.Here(); } remove { } } // Crate`1/Inner`1::add_Happens
    }
}

static class Program
{
    class Held : IAsyncDisposable
    {
        public async ValueTask DisposeAsync() { await Task.Yield(); Oracle.Here(); } // Program/Held::DisposeAsync
    }

    static async Task Run()
    {
        await foreach (int i in Crate<string>.Stream(2)) { Oracle.Here(); } // Program::Run
        await using var held = new Held(); // Program::Run
        Func<Task> lambda = async () => { await Task.Yield(); Oracle.Here(); }; // Program::Run::<lambda_0>
        await lambda(); // Program::Run
    }

    static void Main() // every line: Program::Main
    {
        foreach (int i in Crate<string>.Items(2)) { }
        foreach (string s in Crate<int>.Pairs("one")) { }
        Crate<int>.Later(1).Wait();
        Crate<int>.LaterOf("x").Wait();
        Crate<string>.Each(1);
        Crate<int>.OfMethod("x");
        foreach (int i in Crate<string>.Inner<int>.Deep(1)) { }
        var inner = new Crate<string>.Inner<int>();
        int v = inner[1] + (inner + 2);
        inner.Happens += () => { };
        Run().Wait();
    }
}
