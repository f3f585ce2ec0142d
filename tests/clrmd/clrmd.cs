// clrmd.exe DAC: managed frames of a dump by Microsoft's ClrMD and the runtime's own mscordaccore.dll, the second
// judge of managed code. It is an adapter (analyze/engine/README.md):
//
//     TWINSTACK_ADAPTER="clrmd=wine build/clrmd/clrmd.exe Z:\...\mscordaccore.dll" twinstack check CASE
//
// The case comes on standard input; the working folder holds the dump, the assemblies and their portable PDBs. It knows
// managed frames alone, and no method that the JIT put into another one. Nothing of it shares code with twinstack.
using System;
using System.Collections.Generic;
using System.Collections.Immutable;
using System.IO;
using System.Linq;
using System.Reflection.Metadata;
using System.Reflection.Metadata.Ecma335;
using System.Runtime.InteropServices;
using System.Text;
using System.Text.Json;
using System.Text.RegularExpressions;
using Microsoft.Diagnostics.Runtime;

// Images are in the working folder, or beside the DAC: names and types are read from them, since a small dump has none.
class Images : IFileLocator
{
    public string[] Folders;

    string Find(string name)
    {
        string file = Path.GetFileName(name.Replace('\\', '/'));
        return Folders.Select(folder => Path.Combine(folder, file)).FirstOrDefault(File.Exists);
    }
    public string FindPEImage(string name, int stamp, int size, bool check) => Find(name);
    public string FindPEImage(string name, SymbolProperties by, ImmutableArray<byte> id, OSPlatform system, bool check) => Find(name);
    public string FindElfImage(string name, SymbolProperties by, ImmutableArray<byte> id, bool check) => null;
    public string FindMachOImage(string name, SymbolProperties by, ImmutableArray<byte> id, bool check) => null;
}

static class Program
{
    static readonly Dictionary<string, MetadataReader> pdbs = new();

    // The last sequence point at or before the IL offset that is not hidden.
    static (string file, int? line) Place(string module, int token, int il)
    {
        string path = Path.ChangeExtension(Path.GetFileName(module.Replace('\\', '/')), "pdb");
        if (!pdbs.TryGetValue(path, out MetadataReader reader))
        {
            reader = File.Exists(path) ? MetadataReaderProvider.FromPortablePdbStream(File.OpenRead(path)).GetMetadataReader() : null;
            pdbs[path] = reader;
        }
        (string, int?) found = (null, null);
        if (reader == null || il < 0)
            return found;
        var method = ((MethodDefinitionHandle)MetadataTokens.EntityHandle(token)).ToDebugInformationHandle();
        foreach (SequencePoint point in reader.GetMethodDebugInformation(method).GetSequencePoints())
            if (!point.IsHidden && point.Offset <= il)
                found = (reader.GetString(reader.GetDocument(point.Document).Name), point.StartLine);
        return found;
    }

    static readonly Dictionary<string, string> words = new()
    {
        ["System.Boolean"] = "bool", ["System.Char"] = "char", ["System.SByte"] = "sbyte", ["System.Byte"] = "byte", ["System.Int16"] = "short",
        ["System.UInt16"] = "ushort", ["System.Int32"] = "int", ["System.UInt32"] = "uint", ["System.Int64"] = "long", ["System.UInt64"] = "ulong",
        ["System.Single"] = "float", ["System.Double"] = "double",
    };

    // Box`1[[System.Int32, System.Private.CoreLib]].Map[[...]](Int32) as Box`1<int>.Map<...>.
    static string Spell(string text, ref int at)
    {
        var spelt = new StringBuilder();
        while (at < text.Length && !",](".Contains(text[at]))
        {
            if (!text.AsSpan(at).StartsWith("[["))
            {
                spelt.Append(text[at++]);
                continue;
            }
            var arguments = new List<string>();
            for (at++; text[at] == '['; at += text[at + 1] == ',' ? 2 : 1)
            {
                at++;
                arguments.Add(Spell(text, ref at));
                at = text.IndexOf(']', at); // after the assembly
            }
            at++;
            spelt.Append('<').AppendJoin(',', arguments).Append('>');
        }
        string name = spelt.ToString();
        return words.TryGetValue(name, out string word) ? word : name;
    }

    // "A`2<B,C>" as "A`2" and B, C.
    static (string name, List<string> arguments) Apart(string name)
    {
        var arguments = new List<string>();
        if (!name.EndsWith('>'))
            return (name, arguments);
        int depth = 1, at = name.Length - 1, end = at;
        while (depth > 0)
        {
            at--;
            depth += name[at] == '>' ? 1 : name[at] == '<' ? -1 : 0;
            if (depth == 1 && name[at] == ',' || depth == 0)
            {
                arguments.Insert(0, name[(at + 1)..end]);
                end = at;
            }
        }
        return (name[..at], arguments);
    }

    static string Together(IEnumerable<string> arguments) => arguments.Any() ? "<" + string.Join(",", arguments) + ">" : "";

    // Box`1[[...]].Map[[...]] as Box`1<...>::Map<...>; what the compiler made as what the user wrote: MoveNext of a class, a lambda, a local
    // function. The class that the compiler made has the arguments of the type around it, and then those of the method.
    static string NameOf(ClrMethod method)
    {
        int start = 0, depth = 0, dot = -1;
        string name = Spell(method.Signature, ref start), after = "";
        for (int i = 0; i < name.Length; i++)
        {
            depth += name[i] == '<' ? 1 : name[i] == '>' ? -1 : 0;
            dot = depth == 0 && name[i] == '.' ? i : dot;
        }
        (string type, List<string> ofType) = Apart(name[..dot].TrimEnd('.'));
        (string last, List<string> ofMethod) = Apart(name[(dot + 1)..]);
        Match machine = Regex.Match(type, @"^(.*)\+<(\w+)>d__\d+(?:`\d+)?$");
        if (machine.Success)
            (type, last) = (machine.Groups[1].Value, machine.Groups[2].Value);
        Match part = Regex.Match(last, @"^<(.+)>(?:b__(?:\d+_)?(\d+)|g__(\w+)\|.*)$");
        if (part.Success)
        {
            type = Regex.Replace(type, @"\+<>c[\w`]*$", "");
            last = part.Groups[1].Value;
            after = "::" + (part.Groups[3].Success ? part.Groups[3].Value : $"<lambda_{part.Groups[2].Value}>") + Together(ofMethod);
            ofMethod = new List<string>();
        }
        int own = Regex.Matches(type, @"`(\d+)").Sum(arity => int.Parse(arity.Groups[1].Value));
        name = type + Together(ofType.Take(own)) + "::" + last + Together(ofType.Skip(own).Concat(ofMethod)) + after;
        return name.Replace('+', '/');
    }

    // By the last entry of the map at or before the address that is neither prologue nor epilogue; -1: a small dump has no maps, so
    // there are no lines.
    static int OffsetOf(ClrMethod method, ulong address)
    {
        int found = method.ILOffsetMap.IsEmpty ? -1 : 0;
        foreach (ILToNativeMap entry in method.ILOffsetMap.OrderBy(entry => entry.StartAddress))
            if (entry.ILOffset >= 0 && entry.StartAddress <= address)
                found = entry.ILOffset;
        return found;
    }

    static object Frame(ClrStackFrame frame, int index, bool isCaller)
    {
        ClrMethod method = frame.Method;
        string module = method.Type?.Module?.Name;
        if (module == null || (method.MetadataToken & 0xffffff) == 0) // code that was made at run time
            return new { index, inline_depth = 0, function = method.Name };
        int il = OffsetOf(method, frame.InstructionPointer - (isCaller ? 1u : 0u));
        (string file, int? line) = Place(module, method.MetadataToken, il);
        return new { index, inline_depth = 0, module = Path.GetFileName(module.Replace('\\', '/')), method = $"0x{method.MetadataToken:x}",
                     offset = il < 0 ? null : $"0x{il:x}", function = NameOf(method), file, line };
    }

    // The thread and the address of the dump's exception stream.
    static (uint thread, ulong pc) Fault(string path)
    {
        byte[] file = new byte[4096];
        using FileStream stream = File.OpenRead(path);
        stream.ReadExactly(file, 0, 32);
        int count = BitConverter.ToInt32(file, 8), at = BitConverter.ToInt32(file, 12);
        for (int i = 0; i < count; i++)
        {
            stream.Position = at + i * 12;
            stream.ReadExactly(file, 0, 12);
            if (BitConverter.ToInt32(file, 0) != 6)
                continue;
            stream.Position = BitConverter.ToUInt32(file, 8);
            stream.ReadExactly(file, 0, 32);
            return (BitConverter.ToUInt32(file, 0), BitConverter.ToUInt64(file, 24));
        }
        return (0, 0);
    }

    static object Ask(string dump, string dac)
    {
        (uint suspect, ulong pc) = Fault(dump);
        using DataTarget target = DataTarget.LoadDump(dump);
        target.FileLocator = new Images { Folders = new[] { ".", Path.GetDirectoryName(dac) } };
        if (target.ClrVersions.Length == 0)
            return new { schema_version = 1, error = "there is no runtime in the dump" };
        using ClrRuntime runtime = target.ClrVersions[0].CreateRuntime(dac, false);
        var threads = new List<object>();
        foreach (ClrThread thread in runtime.Threads.OrderBy(thread => thread.OSThreadId != suspect))
        {
            var frames = new List<object>();
            bool isFirst = true;
            foreach (ClrStackFrame frame in thread.EnumerateStackTrace())
            {
                // A return address, unless the thread was stopped or interrupted there.
                bool isCaller = thread.OSThreadId == suspect ? frame.InstructionPointer != pc : !isFirst;
                if (frame.Kind == ClrStackFrameKind.ManagedMethod && frame.Method != null)
                    frames.Add(Frame(frame, frames.Count, isCaller));
                isFirst = false;
            }
            threads.Add(new { id = thread.OSThreadId, crashed = thread.OSThreadId == suspect, left_out = 0, frames });
        }
        string version = $"ClrMD {typeof(DataTarget).Assembly.GetName().Version}, .NET {target.ClrVersions[0].Version}";
        return new { schema_version = 1, version, threads };
    }

    static int Main(string[] words)
    {
        object answer;
        try
        {
            JsonElement files = JsonDocument.Parse(Console.In.ReadLine()).RootElement.GetProperty("files");
            JsonElement dump = files.EnumerateArray().First(file => file.GetProperty("role").GetString() == "dump");
            answer = Ask(dump.GetProperty("path").GetString(), words[0]);
        }
        catch (Exception e)
        {
            answer = new { schema_version = 1, error = e.Message };
        }
        Console.WriteLine(JsonSerializer.Serialize(answer));
        return 0;
    }
}
