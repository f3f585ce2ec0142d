// What the managed scenarios do: native code calls the static methods that are named in scenarios.c.
using System;
using System.Collections.Generic;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;
using System.Threading.Tasks;

static class Scenarios
{
    const MethodImplOptions NI = MethodImplOptions.NoInlining;
    const MethodImplOptions AI = MethodImplOptions.AggressiveInlining;
    const string Native = "plugin-managed";

    delegate int Function(int x);
    [DllImport(Native)] static extern int native_call(Function f, int x);
    [DllImport(Native)] static extern int native_crash(int x);
    [DllImport(Native)] static extern int native_wait(int x);
    [DllImport(Native)] static extern int native_busy(int x);
    [DllImport(Native)] static extern int native_snapshot(int what);
    [DllImport(Native)] static extern void native_thread(string role);
    [DllImport(Native)] static extern void native_ready();

    class Item { public Item Next = null; public int Value = 1; }

    static volatile int stop = 0, inside;
    static Item nothing;
    static readonly object first = new object(), second = new object();

    // ---- exceptions

    [MethodImpl(NI)] static int Raise(int x) { if (x >= 0) { Truth.Here(); throw new InvalidOperationException("on purpose"); } return x; }
    [MethodImpl(NI)] static int Middle(int x) { Truth.Here(); int r = Raise(x + 1); Truth.Back(); return r + 1; }
    public static int Throw(int x) { Truth.Here(); int r = Middle(x); Truth.Back(); return r + 1; }

    [MethodImpl(NI)] static int Follow(Item item) { Truth.Here(); int r = item.Next.Value; Truth.Back(); return r; }
    public static int Null(int x) { nothing = new Item(); Truth.Here(); int r = Follow(nothing); Truth.Back(); return r + x; }

    [MethodImpl(NI)] static int Call(int x) { Truth.Here(); int r = native_crash(x); Truth.Back(); return r + 1; }
    public static int NativeCrash(int x) { Truth.Here(); int r = Call(x); Truth.Back(); return r + 1; }

    [MethodImpl(NI)] static int Back(int x) { Truth.Here(); int r = Raise(x); Truth.Back(); return r + 1; }
    public static int Callback(int x) { Function f = Back; Truth.Here(); int r = native_call(f, x); Truth.Back(); GC.KeepAlive(f); return r + 1; }

    [MethodImpl(NI)] static int Deeper(int x) { Truth.Here(); int r = x == 0 ? Raise(x) : Deeper(x - 1); Truth.Back(); return r + 1; }
    public static int Recursion(int x) { Truth.Here(); int r = Deeper(60); Truth.Back(); return r + x; }

    // The JIT puts Inner into Plain, unless inlining is off: then its frame is gone. Both note nothing
    // themselves, to stay small: Outer does it for them.
    static readonly int inner = Truth.Line(); [MethodImpl(AI)] static int Inner(int x) { return Raise(x) + 1; }
    static readonly int plain = Truth.Line(); [MethodImpl(NI)] static int Plain(int x) { return Inner(x) + 2; }
    [MethodImpl(NI)] static int Outer(int x) { Truth.Here(); Truth.Here(method: "Plain", line: plain); Truth.Inlined("Inner", inner); int r = Plain(x); Truth.Back2(); Truth.Back(); return r + 1; }
    public static int Inlined(int x) { Truth.Here(); int r = Outer(x); Truth.Back(); return r + 1; }

    // What the truth states of generic code is what was compiled: all reference types share the code for System.__Canon. .NET Core 3.1 does
    // not say for which types such shared code is.
    static string Shared(string arguments) { return Environment.Version.Major > 3 ? arguments : ""; }
    static readonly string Boxed = "Scenarios/Box`1" + Shared("<System.__Canon>");
    static readonly string Deepest = "Scenarios/Cell`1/Inner`1" + Shared("<Scenarios/Pair`2<long,System.__Canon>,System.DayOfWeek>");

    class Box<T>
    {
        [MethodImpl(NI)] public static int Map<U>(int x) { Truth.Here(Boxed, "Map<int>"); int r = Raise(x); Truth.Back(); return r + typeof(T).Name.Length + typeof(U).Name.Length; }

        [MethodImpl(NI)] public static int Each(int x)
        {
            [MethodImpl(NI)] int Local(int y) { Truth.Here(Boxed, "Each::Local"); int r = Raise(y); Truth.Back(); return r + x; }
            Function lambda = [MethodImpl(NI)] (y) => { Truth.Here(Boxed, "Each::<lambda_1>"); int r = Local(y + typeof(T).Name.Length); Truth.Back(); return r + 1; };
            Truth.Here(Boxed); int sum = lambda(x); Truth.Back(); return sum + 1;
        }
    }
    public static int Lambda(int x) { Truth.Here(); int r = Box<string>.Each(x); Truth.Back(); return r + 1; }

    struct Pair<A, B> { public A First; public B Second; }
    class Cell<A>
    {
        public class Inner<B>
        {
            [MethodImpl(NI)] public static int Deep<C>(int x) { Truth.Here(Deepest, "Deep<System.Nullable`1<byte>>"); int r = Box<string>.Map<int>(x); Truth.Back(); return r + typeof(C).Name.Length; }
        }
        [MethodImpl(NI)] public static IEnumerable<int> Steps<B>(int x) { Truth.Here("Scenarios/Cell`1<ushort>", "Steps<double>"); int r = Cell<Pair<long, string>>.Inner<DayOfWeek>.Deep<byte?>(x); Truth.Back(); yield return r + typeof(B).Name.Length; }
    }
    public static int Generic(int x) { IEnumerator<int> e = Cell<ushort>.Steps<double>(x).GetEnumerator(); Truth.Here(); e.MoveNext(); Truth.Back(); return e.Current; }

    // Throws in code of the framework, which was compiled before.
    [MethodImpl(NI)] static int Parse(string text) { Truth.Here(); Truth.System(); int r = int.Parse(text); Truth.Back2(); return r + 1; }
    public static int Framework(int x) { Truth.Here(); int r = Parse("not a number"); Truth.Back(); return r + x; }

    // After its first await, the framework calls it on a thread of the pool.
    static async Task<int> Resumes(int x) { await Task.Yield(); native_thread("pool"); Truth.Here(); int r = Spin(x); Truth.Back(); return r; }
    public static int Resumed(int x) { Task<int> t = Resumes(x); native_ready(); Truth.Here(); Truth.System(); int r = t.Result; Truth.Back2(); return r + 1; }

    // Runs synchronously up to its first await, so its frames are those of calls.
    static async Task<int> Later(int x) { Truth.Here(); int r = Hang(x); Truth.Back(); await Task.Yield(); return r; }
    public static int Async(int x) { Truth.Here(); Task<int> t = Later(x); Truth.Back(); return t.Result; }

    static IEnumerable<int> Numbers(int x) { yield return x; Truth.Here(); int r = Raise(x); Truth.Back(); yield return r; }
    public static int Iterator(int x) { int sum = x; IEnumerator<int> e = Numbers(x).GetEnumerator(); e.MoveNext(); sum += e.Current; Truth.Here(); e.MoveNext(); Truth.Back(); return sum; }

    public static int Dynamic(int x)
    {
        var made = new DynamicMethod("Made", typeof(int), new[] { typeof(int) }, typeof(Scenarios).Module, true);
        ILGenerator il = made.GetILGenerator();
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Call, typeof(Scenarios).GetMethod("Middle", BindingFlags.Static | BindingFlags.NonPublic));
        il.Emit(OpCodes.Ldc_I4_1);
        il.Emit(OpCodes.Add);
        il.Emit(OpCodes.Ret);
        var call = (Function)made.CreateDelegate(typeof(Function));
        Truth.Here(); Truth.Generated(); int r = call(x); Truth.Back2(); return r + 1;
    }

    // The filter runs in the first pass, on top of the frames that threw; it hangs there.
    [MethodImpl(NI)] static bool Choose(int x) { Truth.Here(); int r = Hang(x); Truth.Back(); return r > 0; }
    public static int Filter(int x)
    {
        try { Truth.Here(); int r = Raise(x); Truth.Back(); return r; }
        catch (InvalidOperationException) when (Truth.HereToo() && Choose(x)) { return 1; }
    }

    // ---- hangs

    [MethodImpl(NI)] static int Spin(int x) { int n = x; Truth.Here(); while (stop == 0) { n = n * 31 + 7; } Truth.Back(); return n; }
    [MethodImpl(NI)] static int Hang(int x) { native_ready(); Truth.Here(); int r = Spin(x); Truth.Back(); return r + 1; }
    public static int Loop(int x) { Truth.Here(); int r = Hang(x); Truth.Back(); return r + 1; }

    [MethodImpl(NI)] static int Wait(int x) { Truth.Here(); int r = native_wait(x); Truth.Back(); return r + 1; }
    public static int PInvoke(int x) { native_ready(); Truth.Here(); int r = Wait(x); Truth.Back(); return r + 1; }

    [MethodImpl(NI)] static int Take(object one, object other, int x)
    {
        lock (one) { inside++; while (inside < 2) { Thread.Sleep(1); } Truth.Here(); Truth.System(); Monitor.Enter(other); Truth.Back2(); }
        return x;
    }
    static void OtherThread() { native_thread("other"); Truth.Here(); Take(second, first, 0); Truth.Back(); }
    public static int Deadlock(int x) { var t = new Thread(OtherThread); t.Start(); native_ready(); Truth.Here(); int r = Take(first, second, x); Truth.Back(); return r + 1; }

    class Finalized
    {
        ~Finalized() { native_thread("finalizer"); Truth.Here("Scenarios/Finalized", "Finalize"); Hang(1); Truth.Back(); }
    }
    [MethodImpl(NI)] static void Drop() { new Finalized(); }
    public static int Finalizer(int x) { Drop(); GC.Collect(); Truth.Here(); Truth.System(); GC.WaitForPendingFinalizers(); Truth.Back2(); return x; }

    // Another thread collects all the time: the return addresses of this one are redirected while it does.
    static void Collector() { while (stop == 0) { GC.Collect(); Thread.Sleep(0); } }
    public static int Collected(int x) { var t = new Thread(Collector); t.IsBackground = true; t.Start(); Truth.Here(); int r = Hang(x); Truth.Back(); return r + 1; }

    // The innermost frames are the runtime's own: a snapshot needs a seed.
    [MethodImpl(NI)] static int Copy(int x)
    {
        var from = new byte[1 << 20]; var to = new byte[1 << 20];
        Truth.Here(); Truth.System(); while (stop == 0) { Buffer.BlockCopy(from, 0, to, 0, from.Length); } Truth.Back2(); return to[3];
    }
    public static int SeedNeeded(int x) { native_ready(); Truth.Here(); int r = Copy(x); Truth.Back(); return r + 1; }

    // Asks for snapshots by seeds that cannot be right; a calm program.
    public static int BadSeed(int x) { return native_snapshot(x); }

    // ---- what the bench of stops samples

    [MethodImpl(NI)] static int Throws(int x) { while (stop == 0) { x += Caught(x) & 1; } return x; }
    [MethodImpl(NI)] static int Caught(int x) { try { return Quiet(x); } catch (InvalidOperationException) { return x + 1; } }
    [MethodImpl(NI)] static int Quiet(int x) { if (x >= 0) throw new InvalidOperationException("on purpose"); return x; }
    public static int PhaseThrow(int x) { return Throws(0) + 1; }

    [MethodImpl(NI)] static int Compiles(int x)
    {
        while (stop == 0)
        {
            var made = new DynamicMethod("Made", typeof(int), new[] { typeof(int) }, typeof(Scenarios).Module, true);
            ILGenerator il = made.GetILGenerator();
            for (int i = 0; i < 50; i++) { il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Pop); }
            il.Emit(OpCodes.Ldarg_0);
            il.Emit(OpCodes.Ret);
            x += ((Function)made.CreateDelegate(typeof(Function)))(1) & 1;
        }
        return x;
    }
    public static int PhaseJit(int x) { return Compiles(0) + 1; }

    [MethodImpl(NI)] static int Collects(int x) { while (stop == 0) { GC.Collect(); x++; } return x; }
    public static int PhaseCollect(int x) { return Collects(0) + 1; }

    [MethodImpl(NI)] static int Spins(int x) { while (stop == 0) { x = x * 31 + 7; } return x; }
    public static int PhaseSpin(int x) { return Spins(0) + 1; }

    [MethodImpl(NI)] static int Allocates(int x) { var keep = new object[1000]; while (stop == 0) { keep[x++ % 1000] = new byte[1000]; if (x > 1 << 20) x = 0; } return x; }
    public static int PhaseAllocate(int x) { return Allocates(0) + 1; }

    [MethodImpl(NI)] static int Copies(int x) { var a = new byte[1 << 20]; var b = new byte[1 << 20]; while (stop == 0) { Buffer.BlockCopy(a, 0, b, 0, a.Length); } return b[3]; }
    public static int PhaseCopy(int x) { return Copies(0) + 1; }

    [MethodImpl(NI)] static int Blocks(int x) { return native_busy(x) + 1; }
    public static int PhasePInvoke(int x) { return Blocks(0) + 1; }

    public static int PhaseCollected(int x) { var t = new Thread(Collector); t.IsBackground = true; t.Start(); return Spins(0) + 1; }
}
