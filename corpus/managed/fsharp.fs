// Shapes of managed code by another compiler. Each asks .NET itself where it is.
module Shapes
open System
open System.Diagnostics
open System.IO
open System.Collections.Generic
open System.Runtime.CompilerServices

type Oracle() =
    static let seen = HashSet<string>()
    static member Tell(trace: StackTrace) =
        for f in trace.GetFrames() do
            let m = f.GetMethod()
            if Object.ReferenceEquals(m.Module, typeof<Oracle>.Module) then
                let file = Path.GetFileName((if isNull (f.GetFileName()) then "-" else f.GetFileName()).Replace('\\', '/'))
                let line = String.Format("0x{0:x8} 0x{1:x} {2}:{3}:{4} {5}.{6}", m.MetadataToken, f.GetILOffset(), file, f.GetFileLineNumber(), f.GetFileColumnNumber(), m.DeclaringType, m.Name)
                if seen.Add line then Console.WriteLine line
    [<MethodImpl(MethodImplOptions.NoInlining)>]
    static member Here() = Oracle.Tell(StackTrace(1, true))

type Shape = Circle of float | Square of int

[<MethodImpl(MethodImplOptions.NoInlining)>]
let area shape =
    match shape with
    | Circle r ->
        Oracle.Here()
        r * r
    | Square s ->
        Oracle.Here()
        float (s * s)

let rec deep n = if n = 0 then (Oracle.Here(); 0) else 1 + deep (n - 1)

let numbers n = seq {
    for i in 0 .. n do
        Oracle.Here()
        yield i }

let later x = async {
    Oracle.Here()
    do! Async.Sleep 1
    Oracle.Here()
    return x }

let tasked (x: int) = task {
    Oracle.Here()
    do! System.Threading.Tasks.Task.Delay 1
    Oracle.Here()
    return x }

let curried a b =
    let inner c =
        Oracle.Here()
        a + c
    List.map (fun v -> Oracle.Here(); inner v) b

[<EntryPoint>]
let main _ =
    printfn "%A" (area (Circle 1.0))
    area (Square 2) |> ignore
    deep 2 |> ignore
    numbers 1 |> Seq.length |> ignore
    later 1 |> Async.RunSynchronously |> ignore
    (tasked 1).Result |> ignore
    curried 1 [1; 2] |> ignore
    try raise (InvalidOperationException "boom") with e -> Oracle.Tell(StackTrace(e, true))
    0
