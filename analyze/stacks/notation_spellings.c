/* Frames as other tools print them, each on a line that is a pattern; the grammar is in
 * stack_input.h. */
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "stacks/notation.h"

/* A pattern of a line, and what the line means. */
enum { PLAIN, INSIDE, CODE, WRAPPED };
static const struct {
    const char *pattern;
    int address; /* INSIDE: of the call instruction, so not to be stepped back once more.  CODE: the
                    offset is one in the code, whose first page has the headers. WRAPPED: the
                    parameters go on in the next line */
} frame_rows[] = {
    /* LLVM and Chromium, which print one blank where sanitizers print two */
    {"#%n 0x%a%1(%m+0x%o)", PLAIN},
    /* sanitizers: a module's offset with or without the function */
    {"#%n 0x%a in %f (%m+0x%o){ (BuildId: %i)}", INSIDE},
    {"#%n 0x%a (%m+0x%o){ (BuildId: %i)}", INSIDE},
    /* LLVM */
    {"#%n 0x%a %f (%m+0x%o)", PLAIN},
    {"0x%a, %m(0x%*) + 0x%o byte(s){, %*}", PLAIN},
    /* sanitizers of threads and of undefined behaviour */
    {"#%n %f <null> (%m+0x%o){ (BuildId: %i)}", INSIDE},
    {"#%n %f %p (%m+0x%o){ (BuildId: %i)}", INSIDE},
    /* debuggerd's tombstones of Android, and those of HarmonyOS */
    {"#%n pc %o %m(%f+%D){(%i)}", INSIDE},
    {"#%n pc %o %m(%i)", INSIDE},
    {"#%n pc %o %m{ (offset 0x%*)}{ (%f+%D)}{ (BuildId: %i)}", INSIDE},
    /* Gecko */
    {"#%n: %f[%m +0x%o]", PLAIN},
    {"#%n: %f (%s)", PLAIN},
    /* gdb */
    {"#%n 0x%a in %f (%*) at %s", PLAIN},
    {"#%n 0x%a in %f (%*) from %m", PLAIN},
    {"#%n 0x%a in %f (%*)", PLAIN},
    {"#%n %f (%*) at %s", PLAIN},
    {"#%n %f (%*) from %m", PLAIN},
    /* cpptrace, whose inlined calls have no address */
    {"#%n {(inlined)}{0x%a} in %f at %s", INSIDE},
    {"#%n {(inlined)}{0x%a} in %f at %m", INSIDE},
    {"#%n (inlined) in %f", INSIDE},
    {"#%n 0x%a at %m", INSIDE},
    /* systemd-coredump */
    {"#%n 0x%a %f (%m + 0x%o)", PLAIN},
    /* sanitizers with symbols; Chromium on Linux */
    {"#%n 0x%a in %f %p", INSIDE},
    {"#%n {0x%a in }%f (", WRAPPED}, /* gdb, where a line is full */
    {"#%n {0x%a in }%f (%*,", WRAPPED},
    {"#%n 0x%a in %f", INSIDE},
    {"#%n 0x%a %f [%s]", PLAIN},
    {"#%n 0x%a %f %p", PLAIN},      /* LLVM with symbols */
    {"#%n 0x%a{ - 1} - %m", PLAIN}, /* eu-stack */
    {"#%n 0x%a{ - 1} %f - %m", PLAIN},
    {"#%n 0x%a %f", PLAIN},
    /* lldb */
    {"{* }frame #%n: 0x%a %m`%f(%*=%*){ + %D} at %s", PLAIN},
    {"{* }frame #%n: 0x%a %m`%f{ + %D}{ at %s}", PLAIN},
    {"{* }frame #%n: 0x%a %m", PLAIN},
    {"{* }frame #%n: 0x%a", PLAIN},
    /* crash reports of macOS and iOS, and backtrace_symbols() there */
    {"%n %m 0x%a 0x%a + %d", PLAIN},
    {"%n %m 0x%a %f + %D{ (%s)}{ [inlined]}", PLAIN},
    {"{%* }%f (%m + %d) [0x%a]", PLAIN},
    {"{%* }??? (in %m) load address 0x%* + 0x%o [0x%a]", PLAIN},
    /* Sentry */
    {"%n %m 0x%a <unknown>", PLAIN},
    {"%n %m 0x%a {[inlined] }%f (%s)", PLAIN},
    {"%n %e 0x%a {[inlined] }%f", PLAIN},
    /* minidump_stackwalk */
    {"%n %m!%f [%F : %L{ + 0x%*}]", PLAIN},
    {"%n %m!%f + %X", PLAIN},
    {"%n %m + 0x%o", PLAIN},
    {"%n 0x%a", PLAIN},
    {"%m!%f+%X [ %F: %L ]", PLAIN}, /* CrashRpt */
    /* Visual Leak Detector */
    {"%F (%L): %m!%f{ + %X}{ bytes}", PLAIN},
    /* Dr. Memory */
    {"# %n %* (0x%a <%m+0x%o>)", PLAIN},
    {"# %n %w!%f [%s]", PLAIN},
    {"# %n %f [%s]", PLAIN},
    /* std::stacktrace of MSVC */
    {"%n> {%F(%L): }%m!%f+%X", PLAIN},
    {"%n> {%F(%L): }%m+0x%o", PLAIN},
    {"%n> 0x%a", PLAIN},
    /* backward-cpp, whose inlined calls have no number */
    {"{#%n }{| }Object \"%m\", at %a{, in %f}", PLAIN},
    {"{#%n }{| }Source \"%F\", line %L, in %f [0x%a]", PLAIN},
    {"{#%n }{| }Source \"%F\", line %L, in %f", PLAIN},
    /* xperf's dumper */
    {"Stack, %n, %n, %n, 0x%a, %m!0x%*", PLAIN},
    {"Stack, %n, %n, %n, 0x%a, %m!%f", PLAIN},
    /* Intel Inspector */
    {"{>}%m!%f - %e:0x%o", PLAIN},
    {"{>}%m!%f - %s", PLAIN},
    /* .NET compiled ahead of time */
    {"at %m!<BaseAddress>+0x%o", PLAIN},
    {"at %f(%*) + %X{ in %F:line %L}", PLAIN},
    {"at %f(%*) ILOffset %* in %F:line %L", PLAIN},
    {"at %f(%*) in %F:line %L", PLAIN},
    /* Mono */
    {"at %f (%*) [0x%*] in <%*", PLAIN},
    {"at %f (%*) [0x%*] in %s", PLAIN},
    {"at %f (%*) <%*> in <%*", PLAIN},
    /* managed code of other kinds */
    {"at %f{ }(%s)", PLAIN},
    {"at %f{ }(%*)", PLAIN},
    /* Rust with RUST_BACKTRACE=full, Node */
    {"%n: 0x%a - %f", PLAIN},
    {"%n: 0x%a %f [%m]", PLAIN},
    {"%n: %a %f+%D", PLAIN},
    {"%n: 0000%a", PLAIN}, /* Node on Windows, where it has no name */
    /* SOS's dumpstack */
    {"Current frame: %m!%f{ }+{ }%X", PLAIN},
    {"Current frame: %m{ }+{ }0x%o", PLAIN},
    /* Swift */
    {"%n {[ra] }0x%a %f + %D in %m{ at %s}", PLAIN},
    /* winedbg; address 0 has no 0x */
    {"{=>}%n 0x%a in %m (+0x%o){ (%*)}", PLAIN},
    {"{=>}%n 0x%a %f+%X(%*) [%s] in %m{ (%*)}", PLAIN},
    {"{=>}%n 0x%a %f(%*) [%s] in %m{ (%*)}", PLAIN},
    {"{=>}%n 0x%a %f+%X{(%*)}{ [%*]} in %m{ (%*)}", PLAIN},
    {"{=>}%n 0x%a %f{(%*)}{ [%*]} in %m{ (%*)}", PLAIN},
    {"{=>}%n 0x%a (0x%*)", PLAIN},
    {"=>%n %a (0x%*)", PLAIN},
    {"=>%* %m <== %o", PLAIN}, /* GoldSource, in its list of modules */
    /* Boost.Stacktrace */
    {"%n# 0x%a in %m", PLAIN},
    {"%n# %f in %m", PLAIN},
    {"%n# %f at %s", PLAIN},
    {"%n# 0x%a", PLAIN},
    {"%n# %f(%*)", PLAIN},
    /* System Informer */
    {"%n, %m!%f+%X{, %*}", PLAIN},
    {"%n, %m+0x%o{, %*}", PLAIN},
    {"%n, 0x%a{, %*}", PLAIN},
    /* backtrace_symbols() of glibc */
    {"%m(+0x%o){ }[0x%a]", PLAIN},
    {"%m(%f+%X){ }[0x%a]", PLAIN},
    {"%m() [0x%a]", PLAIN},
    {"%w[0x%a]", PLAIN},
    {"{%* }%n. {%F:%L: }%f @ 0x%o in %m", PLAIN}, /* ClickHouse */
    {"%m(%f+%X) [0x%a] %s", PLAIN},               /* Ruby */
    {"/%m(%f) %s", PLAIN},                        /* and an inlined call */
    {"%f (in %m) + %D", PLAIN},                   /* atos */
    {"%f (in %m) (%s)", PLAIN},
    {"%a %f+%D (/%m)", PLAIN}, /* bpftrace */
    {"%f+%D (/%m)", PLAIN},
    /* Python */
    {"Binary file \"%m\", at +0x%o [0x%a]", PLAIN},
    {"Binary file \"%m\", at %f+%X [0x%a]", PLAIN},
    {"Binary file \"%m\" [0x%a]", PLAIN},
    /* Unreal Engine: module, its base, an offset */
    {"%w 0x%* + %o", PLAIN},
    {"{%*}{0x%a }%w!UnknownFunction(0x%o)", INSIDE},
    {"{%*}{0x%a }%w!%f(+%X)", PLAIN},
    {"{%*}[Callstack] 0x%a %m!%f []", PLAIN},
    {"{%*}[Callstack] 0x%a %m!%f [%s]", PLAIN},
    /* Chromium's server, SQL Server */
    {"{[}0x%a{]}{ }(%m + 0x%o ){ %*}", PLAIN},
    {"{[}0x%a{]}{ }(%m -%s ) %f", PLAIN},
    {"%a Module(%m+%o){ (%*)}", PLAIN},
    /* StackWalker, also with the base, Unity, Blender */
    {"%a (%m %b): %*", PLAIN},
    {"%a (%m): (filename not available): %f", PLAIN},
    {"0x%a (0x%*) %m!%f + %X{ bytes}", PLAIN},
    {"0x%a (%m) [%s] %f", PLAIN},
    {"0x%a (%m) %f", PLAIN},
    {"0x%a (%w)", PLAIN},
    {"%m :0x%a %f", PLAIN},
    /* glog, Abseil, Zig */
    {"{PC: }@ 0x%a (unknown) %f", PLAIN},
    {"{PC: }@ 0x%a {%n }%f", PLAIN},
    {"{PC: }@ %a {%n }%f", PLAIN},
    {"%s: 0x%a in %f (%m)", PLAIN},
    {"???:?:?: 0x%a in %f (%m)", PLAIN},
    /* Valgrind */
    {"==%n== {at}{by} 0x%a: %f (in %m)", PLAIN},
    {"==%n== {at}{by} 0x%a: %f (%s)", PLAIN},
    /* Process Monitor, as text and as CSV */
    {"{K }{U }%n\t%*\t%e + 0x%o\t0x%a{\t%*}", PLAIN},
    {"{K }{U }%n\t%m\t%f + %X{,%*}\t0x%a{\t%*}", PLAIN},
    {"{K }{U }%n\t<unknown>\t0x%*\t0x%a{\t%*}", PLAIN},
    {"%n %w %e + 0x%o 0x%a{ %*}", PLAIN},
    {"%n %w %f + %X{,%*} 0x%a{ %*}", PLAIN},
    {"\"%*\",\"%*\",\"%e + 0x%o\",\"0x%a\",%*", PLAIN},
    {"\"%*\",\"%m\",\"%f + %X{,%*}\",\"0x%a\",%*", PLAIN},
    {"\"%*\",\"<unknown>\",\"0x%*\",\"0x%a\",%*", PLAIN},
    /* Delphi: JCL, madExcept, EurekaLog */
    {"(%o)%{%m%} [%a] %*", CODE},
    {"[%a]%{%m%} %f (Line %L, \"%F\"%*){ %*}", PLAIN},
    {"[%a]%{%m%} %f{ + $%*}", PLAIN},
    {"{%* }%a +%* %e %* %n +%n %f", PLAIN},
    {"{%* }%a +%* %e %* %f", PLAIN},
    {"{%* }%a +%* %e %f", PLAIN},
    {"|%*|%*|%*|%a{ }|%e{ }|%o{ }|%*", PLAIN},
    {"%e (%*+0x%o)", PLAIN}, /* WhoCrashed */
    /* HotSpot's hs_err, code that it generated or interprets */
    {"J %n{%*} c%n %f (%n bytes) @ 0x%a [%*", PLAIN},
    {"J %n{%*} %f (%n bytes) @ 0x%a [%*", PLAIN},
    {"j %f+%D", PLAIN},
    {"v ~%f 0x%a", PLAIN},
    {"v ~%f", PLAIN},
    {"C 0x%a", PLAIN},
    /* Chromium on Windows, HotSpot's hs_err */
    {"(No symbol) [0x%a]", PLAIN},
    {"%f [0x%a+%D]{ (%s)}", PLAIN},
    {"%m!(No symbol) [{0x}0x%a]", PLAIN},
    {"%m!%f [{0x}0x%a+%*]", PLAIN}, /* with hexadecimal distances */
    {"{%* }[%m+0x%o]{ %*}", PLAIN},
    {"%F (%L): %f", PLAIN}, /* StackWalker, with a line */
    /* Godot */
    {"[%n] %a (%w+%*) - %f (%s)", PLAIN},
    {"[%n] %f (%s)", PLAIN},
};

/* Lines that begin the stack of another thread. */
static const char *const start_rows[] = {
    "{* }thread #%n{,%*}{:%*}",
    "Thread %n{ (%*}{ Crashed%*}",
    "Thread %n:%*",
    "Thread %n {%* }- tid: %*", /* minidump-stackwalk, of a thread with a name */
    "Thread %n %* (crashed)",
    "{. }{# }%n Id: %* Suspend: %*",
    "Stack trace of thread %n:",
    "Call Stack for Thread %n:",
    "TID %n:",
    "OS Thread Id: 0x%* (%n)",
    "Thread %a{:}{ (Crashed)}",
    "*----> State Dump for Thread Id 0x%a <----*",
    "{%*, }tid: %n, %*",
    "{main }thread $%a{:}{ (%*}", /* madExcept */
    "main thread ($%a):",
    "Thread 0x%a {[%*] }(most recent call first):", /* Python */
    "Current thread 0x%a {[%*] }(most recent call first):",
    "Stack Trace of Crashed Thread %n:", /* Unity */
    "== Stack trace for thread 0x%a ==", /* CrashRpt */
    "|{*}%w Thread: ID=%n; %*",          /* EurekaLog */
};

/* Lines above the frames of a stack; after others, those of another stack. */
static const char *const heading_rows[] = {
    "RetAddr%*",
    "{# }Call Site",
    "{# }Child-SP%*",
    "{# }ChildEBP%*",
    "Child SP%*",
    "STACK_TEXT:%*",
    "AddrPC%*",
    "Call Trace:",
    "Stack trace (most recent call %*",
    "Stack EIP Arg0%*",
    "Stack, %n, %n, 1, %*",
    "*----> Stack Back Trace <----*",
    "Native frames: (%*",
    "Java frames: (%*",
    "Caused by: %*",
    "Suppressed: %*",
    "--- End of inner exception stack trace ---",
    "Current thread's C stack trace (most recent call first):",
    "\"Frame\",\"Module\",\"Location\",%*",
};

/* Lines that belong to a listing and hold no frame. */
static const char *const passed_rows[] = {
    "WARNING:%*",
    /* minidump_stackwalk, Apple: what is not the stack, and the list of images after it */
    "Operating system: %*",
    "CPU: %*",
    "GPU: %*",
    "Crash reason: %*",
    "Crash address: %*",
    "Process uptime: %*",
    "Loaded modules:",
    "Unloaded modules:",
    "Binary Images:",
    "0x%a - 0x%a %*",
    "%n:%n> %*", /* WinDbg's prompt */
    "*** %*",
    "Memory %*",
    "Found by: %*",
    "No locals.",
    "No symbol table info available.",
    "(lldb)%*",
    "(gdb)%*",
    "Thread %n name:%*",
    "Thread %n %* received signal %*",
    "backtrace:",
    "Backtrace:",
    "stack backtrace:",
    "Stack trace:",
    "Stack dump:",
    "Native stacktrace:",
    "Dumping the backtrace.%*",
    "%o %a [%wFrame: %a]", /* SOS, between managed and native code */
    "%n. Program arguments: %*",
    "Module %m without build-id.",
    "Module %m from %*",
    "ELF object binary architecture: %*",
    "Thread %n crashed with %*",
    "(More stack frames follow...)",
    "%w = %*",
    "--- End of stack trace from previous location%*",
    "... %n more", /* Java: as in the stack before */
    "... %n common frames omitted",
    "Stacks for Running Threads:",
    "[Frames below may be incorrect %*",
    "Frame",
    "[External Code]",
    "[Native to Managed Transition]",
    "[Managed to Native Transition]",
    "[Resuming Async Method]",
    "[Async Call Stack]",
    /* EurekaLog */
    "|Methods %*",
    "|Class=%*",
    "|DeadLock=%*",
    "|Comment=%*",
    "{|}----%*",
    "| |",
};

static bool is_one_of(struct pattern_text text, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (pattern_length(text) == strlen(words[i]) && pattern_starts(text, words[i]))
            return true;
    return false;
}

/* compiler-rt adds the architecture to a module of macOS; an offset in a program has the base in it
 * that every one has. */
static void take_architecture(struct pattern_match *found)
{
    static const char *const suffixes[] = {":x86_64", ":x86_64h", ":arm64", ":arm64e", ":i386"};
    const uint64_t program_va = 0x100000000, program_end_va = 0x140000000;
    for (size_t i = 0; i < COUNT_OF(suffixes); i++) {
        const char *at = pattern_find_last(found->module, suffixes[i]);
        if (at == NULL || at + strlen(suffixes[i]) != found->module.end)
            continue;
        found->module.end = at;
        if (found->offset >= program_va && found->offset < program_end_va)
            found->offset -= program_va;
        return;
    }
}

/* compiler-rt states the offset in a module of Windows as the address that it has where the file
 * would be loaded by preference. What that is only the file says; these are the linkers' defaults.
 */
static uint64_t without_base(struct pattern_text module, uint64_t address, uint64_t offset)
{
    static const struct {
        const char *suffix;
        uint64_t base_va, end_va;
    } defaults[] = {{".exe", 0x400000, 0x10000000},
                    {".dll", 0x10000000, 0x20000000},
                    {".exe", 0x140000000, 0x180000000},
                    {".dll", 0x180000000, 0x200000000}};
    char suffix[5] = "";
    if (pattern_length(module) >= sizeof suffix)
        memcpy(suffix, module.end - 4, 4);
    for (size_t i = 0; i < COUNT_OF(defaults); i++) {
        const bool is_wide = defaults[i].base_va > UINT32_MAX;
        if (is_wide == (address > UINT32_MAX) && offset >= defaults[i].base_va &&
            offset < defaults[i].end_va && text_equal_nocase(suffix, defaults[i].suffix))
            return offset - defaults[i].base_va;
    }
    return offset;
}

/* gdb puts the name of an image without symbols before its exports: "KERNEL32!Sleep". */
static void take_image(struct pattern_match *found)
{
    const char *bang = pattern_find(found->function, '!');
    const struct pattern_text image = {found->function.at, bang};
    if (bang == NULL || bang + 1 >= found->function.end || bang[1] == '=' ||
        pattern_find_last(image, "operator") != NULL)
        return;
    for (const char *at = image.at; at < image.end; at++)
        if (strchr(" (<:`", *at) != NULL)
            return;
    found->function.at = bang + 1;
    if (pattern_length(found->module) == 0)
        found->module = image;
}

/* The frame that a matching line states. */
static bool set_matched(struct stack_input *input, struct pattern_match *found, struct frame *out)
{
    enum { PAGE_BYTES = 4096 };
    static const char *const nameless[] = {"??",
                                           "???",
                                           "n/a",
                                           "<unknown>",
                                           "(unknown)",
                                           "UnknownFunction",
                                           "(function-name not available)",
                                           "Symbols not available"};
    take_image(found);
    struct pattern_text module = spelled_trimmed(spelled_base_name(found->module));
    struct pattern_text function = found->function;
    const char *bang = pattern_find_last(module, ".apk!"); /* of a library inside a package */
    if (bang != NULL)
        module.at = bang + 5;
    if (is_one_of(module, nameless, COUNT_OF(nameless)))
        module.end = module.at;
    if (is_one_of(function, nameless, COUNT_OF(nameless)))
        function.end = function.at;
    out->pc_va = found->address;
    if ((found->has_offset && pattern_starts(module, "0x")) ||
        (!found->has_address &&
         (pattern_find_last(function, ": ") != NULL || /* a compiler's words */
          pattern_find_last(found->file, ": ") != NULL)))
        return false;
    if (found->has_address && pattern_length(function) == 0 && found->distance > 0 &&
        found->distance <= UINT32_MAX && found->distance < found->address &&
        (found->address - found->distance) % PAGE_BYTES == 0) {
        found->offset = found->distance; /* of no function: from where the module is loaded */
        found->has_offset = true;
    }
    if (found->has_offset && pattern_length(module) > 0) {
        if (pattern_length(found->identity) == 0)
            return spelled_offset(input, module, found->offset, out);
        out->module = input_identified(input, module.at, pattern_length(module), found->identity.at,
                                       pattern_length(found->identity), NULL, 0);
        out->module_name = out->module != NULL ? out->module->name : NULL;
        out->offset = found->offset;
        return out->module != NULL || spelled_offset(input, module, found->offset, out);
    }
    if (pattern_length(function) > 0) {
        out->file = spelled_keep(input, found->file);
        out->line = (uint32_t)found->line;
        out->symbol_distance = found->distance;
        return spelled_named(input, module, function, out);
    }
    out->offset = found->address;
    if (found->has_address && pattern_length(module) > 0) {
        out->note = NOTE_OTHER;
        out->note_words =
            arena_printf(&input->scratch, "in %.*s; the text does not say where that is loaded",
                         (int)pattern_length(module), module.at);
    }
    return found->has_address;
}

/* What each of frame_rows needs, found once for all lines. NULL: no memory. */
static const uint64_t *needs_of_rows(struct stack_input *input)
{
    if (input->row_needs == NULL &&
        (input->row_needs = ARENA_ARRAY(&input->arena, COUNT_OF(frame_rows), uint64_t)) != NULL)
        for (size_t i = 0; i < COUNT_OF(frame_rows); i++)
            input->row_needs[i] = pattern_needs(frame_rows[i].pattern);
    return input->row_needs;
}

static bool read_pattern(struct stack_input *input, struct pattern_text r, struct frame *out)
{
    const uint64_t *needs = needs_of_rows(input), marks = pattern_marks(r);
    struct pattern_match found;
    for (size_t i = 0; i < COUNT_OF(frame_rows); i++) {
        if ((needs != NULL && (needs[i] & ~marks) != 0) ||
            !pattern_matches(frame_rows[i].pattern, r, &found))
            continue;
        if (frame_rows[i].address == INSIDE) {
            out->kind = PC_INTERRUPTED;
            take_architecture(&found);
            found.offset = without_base(found.module, found.address, found.offset);
        }
        if (frame_rows[i].address == CODE)
            found.offset += 0x1000;
        if (frame_rows[i].address == WRAPPED)
            input->block = BLOCK_PARAMETERS;
        return set_matched(input, &found, out);
    }
    return false;
}

/* systemd-coredump, before the stacks: "Module NAME with build-id ID". */
static bool read_identity(struct stack_input *input, struct pattern_text r)
{
    struct pattern_match found;
    if (!pattern_matches("Module %m with build-id %i", r, &found))
        return false;
    const struct pattern_text name = spelled_base_name(found.module);
    (void)input_state_module(input, name.at, pattern_length(name), found.identity.at,
                             pattern_length(found.identity), NULL, 0);
    return true;
}

/* StackWalker, as Unity and others have it: "PATH:NAME (BASE), size: BYTES (result: 0), ...",
 * before the frames, which it places. */
static bool read_module(struct stack_input *input, struct pattern_text r)
{
    struct pattern_match found;
    if (pattern_matches("SymInit: %*", r, &found)) { /* of another process */
        input->range_count = input->mapped ? 0 : input->range_count;
        return true;
    }
    if (!pattern_matches("%m (%a), size: %d (result: %*", r, &found))
        return false;
    const char *colon = pattern_find_last(found.module, ":");
    found.module.at = colon != NULL ? colon + 1 : found.module.at;
    const struct module *module =
        input_module(input, found.module.at, pattern_length(found.module));
    if (module != NULL && input_map_module(input, module, found.address, found.offset))
        input->mapped = true;
    return true;
}

/* "at FILE:LINE" or "from IMAGE" on the line after a function, also after the rest of parameters
 * that gdb wrapped. */
static bool read_where(struct stack_input *input, struct pattern_text r)
{
    static const char *const rows[] = {"at %s", "from /%m", "%*) at %s", "%*) from /%m"};
    const bool wrapped = input->block == BLOCK_PARAMETERS;
    struct frame *last = builder_last(&input->builder);
    struct pattern_match found;
    if (!pattern_matches_any(rows, wrapped ? 4 : 2, r, &found))
        return wrapped && strchr(",)", r.end[-1]) != NULL;
    input->block = wrapped ? BLOCK_NONE : input->block;
    if (last == NULL || input->builder.lost || last->note != NOTE_NAMED_BY_INPUT)
        return true;
    if (last->file == NULL) {
        last->file = spelled_keep(input, found.file);
        last->line = (uint32_t)found.line;
    }
    if (last->module_name == NULL)
        last->module_name = spelled_keep(input, spelled_base_name(found.module));
    return true;
}

/* What follows the words of logcat, journals and the like before "#N 0x..." or "#N pc ..."; without
 * these, LINE. */
static struct pattern_text numbered(struct pattern_text line)
{
    static const char *const rows[] = {"#%n 0x%*", "#%n pc %*"};
    struct pattern_match found;
    const char *mark = pattern_find_last(line, " #");
    const struct pattern_text rest = {mark != NULL ? mark + 1 : line.at, line.end};
    return mark != NULL && pattern_matches_any(rows, COUNT_OF(rows), rest, &found) ? rest : line;
}

static bool starts(const struct stack_input *input, struct pattern_text r, uint64_t *thread)
{
    struct pattern_match found;
    const struct pattern_text rest = numbered(r);
    *thread = NO_THREAD;
    if (rest.at != r.at && pattern_matches("#%n %*", rest, &found))
        return found.number == 0 && input->builder.count > 0;
    if (input->builder.count > 0 &&
        pattern_matches_any(heading_rows, COUNT_OF(heading_rows), r, &found))
        return true;
    if (pattern_matches("Thread %n name:%*", r, &found) ||
        pattern_matches("Thread %n crashed with %*", r, &found) ||
        !pattern_matches_any(start_rows, COUNT_OF(start_rows), r, &found))
        return false;
    *thread = found.has_number ? found.number : found.address;
    return true;
}

static enum line_is read_line(struct stack_input *input, struct pattern_text r, struct frame *out)
{
    struct pattern_match found;
    uint64_t thread;
    if (pattern_matches("#%n <signal handler called>", r, &found)) {
        input->after_signal = true;
        return LINE_NO_FRAME;
    }
    if (pattern_matches("[%n] error(-1): no debug info in %*", r, &found)) { /* Godot */
        out->note = NOTE_OTHER;
        out->note_words = "no address and no name: the program has no debug information";
        return LINE_FRAME;
    }
    if (input->block == BLOCK_PARAMETERS && r.at[0] == '#')
        input->block = BLOCK_NONE;
    if (pattern_matches("== Stack trace for thread 0x%a ==", r, &found))
        input->block = BLOCK_ADDRESSES;
    if (input->block == BLOCK_ADDRESSES && pattern_matches("0x%a", r, &found)) {
        spelled_at(found.address, out);
        return LINE_FRAME;
    }
    if (read_pattern(input, numbered(r), out))
        return LINE_FRAME;
    if (r.at[0] == '#')
        return LINE_UNKNOWN;
    return read_where(input, r) || read_module(input, r) || read_identity(input, r) ||
                   pattern_matches_any(passed_rows, COUNT_OF(passed_rows), r, &found) ||
                   pattern_matches_any(heading_rows, COUNT_OF(heading_rows), r, &found) ||
                   starts(input, r, &thread)
               ? LINE_NO_FRAME
               : LINE_UNKNOWN;
}

const struct notation notation_spellings = {
    .name = "lines of other tools", .line = read_line, .starts = starts};
