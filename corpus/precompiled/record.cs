// Runs a program whose output is the moment to ask .NET where its frames are: type.method, token, native offset (of the
// return address, from the method's begin), IL offset, line. frames.txt has the begin of the method added to the offset.
using System.Diagnostics;
using System.Reflection;
using System.Text;

class Recorder : TextWriter
{
    public static readonly HashSet<string> Seen = new();
    public override Encoding Encoding => Encoding.UTF8;

    public override void WriteLine(string? text)
    {
        foreach (StackFrame f in new StackTrace(0, true).GetFrames())
        {
            MethodBase? m = f.GetMethod();
            if (m == null || Path.GetFileName(m.Module.FullyQualifiedName) != "shapes.dll") continue;
            lock (Seen) Seen.Add($"{m.DeclaringType}.{m.Name}\t{m.MetadataToken:x8}\t{f.GetNativeOffset():x}\t{f.GetILOffset():x}\t{f.GetFileLineNumber()}");
        }
    }
}

static class Program
{
    static void Main(string[] words)
    {
        TextWriter output = Console.Out;
        Console.SetOut(new Recorder());
        Assembly.LoadFrom(words[0]).EntryPoint!.Invoke(null, null);
        foreach (string row in Recorder.Seen) output.WriteLine(row);
    }
}
