/* Splits one physical frame into its logical frames, using dbghelp's inline interface. A query at
 * the byte of the call, not after it, gives the line of the call; StackWalkEx queries the return
 * address and would give the next line. */
#include <stdio.h>
#include <string.h>

#include "victims/harness/judge/dbghelp_judge.h"

/* mingw-w64 10 declares none of these and has no import library for the 32-bit ones. */
static struct {
    DWORD(WINAPI *trace)(HANDLE, DWORD64);
    BOOL(WINAPI *query)(HANDLE, DWORD64, DWORD, DWORD64, DWORD64, LPDWORD, LPDWORD);
    BOOL(WINAPI *name)(HANDLE, DWORD64, ULONG, PDWORD64, PSYMBOL_INFO);
    BOOL(WINAPI *line)(HANDLE, DWORD64, ULONG, DWORD64, PDWORD, PIMAGEHLP_LINE64);
} inlined;

bool judge_open_frames(void)
{
    static const char *const names[] = {"SymAddrIncludeInlineTrace", "SymQueryInlineTrace",
                                        "SymFromInlineContext", "SymGetLineFromInlineContext"};
    FARPROC found[sizeof names / sizeof names[0]];
    HMODULE library = GetModuleHandleW(L"dbghelp.dll");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if ((found[i] = GetProcAddress(library, names[i])) == NULL)
            return false;
    memcpy(&inlined.trace, &found[0], sizeof found[0]);
    memcpy(&inlined.query, &found[1], sizeof found[1]);
    memcpy(&inlined.name, &found[2], sizeof found[2]);
    memcpy(&inlined.line, &found[3], sizeof found[3]);
    return true;
}

/* The frame itself, none that is inlined into it.  Wine gives such frames the context 0x80000000,
 * which Microsoft's dbghelp refuses; both take this one. */
#define REGULAR_CONTEXT 0xffffffffu /* INLINE_FRAME_CONTEXT_IGNORE */

enum { NAME_BYTES = 2000 };

/* Wine's dbghelp prepends the current folder to relative paths in a PDB. */
static const char *without_folder(const char *file)
{
    char folder[JUDGE_PATH_UNITS];
    DWORD length = GetCurrentDirectoryA(sizeof folder, folder);
    if (length == 0 || length >= sizeof folder || strncmp(file, folder, length) != 0 ||
        (file[length] != '\\' && file[length] != '/'))
        return file;
    return file + length + 1;
}

static void add_time(uint64_t start_ns, const struct judge_module *module)
{
    const uint64_t ns = judge_now_ns() - start_ns;
    judge.resolve_ns += ns;
    judge.resolve_system_ns += module != NULL && module->system ? ns : 0;
}

/* Without a PDB dbghelp takes the nearest export, which may be that of another function. */
static bool is_export_only(const struct judge_module *module)
{
    IMAGEHLP_MODULEW64 info = {.SizeOfStruct = sizeof info};
    return module != NULL && SymGetModuleInfoW64(judge.set->process, module->base_va, &info) &&
           info.SymType == SymExport;
}

static void print_logical(uint32_t index, uint32_t depth, uint64_t pc_va, uint64_t lookup_va,
                          DWORD context, const char *found_by)
{
    union {
        SYMBOL_INFO info;
        char room[sizeof(SYMBOL_INFO) + NAME_BYTES];
    } symbol;
    IMAGEHLP_LINE64 line = {.SizeOfStruct = sizeof line};
    DWORD64 distance = 0;
    DWORD line_distance = 0;
    const struct judge_module *module = judge_module_at(lookup_va);

    const uint64_t start_ns = judge_now_ns();
    memset(&symbol, 0, sizeof symbol.info);
    symbol.info.SizeOfStruct = sizeof symbol.info;
    symbol.info.MaxNameLen = NAME_BYTES;
    BOOL named = inlined.name(judge.set->process, lookup_va, context, &distance, &symbol.info);
    BOOL has_line = inlined.line(judge.set->process, lookup_va, context, 0, &line_distance, &line);
    add_time(start_ns, module);

    printf("{\"index\":%u,\"inline_depth\":%u", (unsigned)index, (unsigned)depth);
    judge_print_known("module", module != NULL ? module->name : NULL);
    printf(",\"offset\":\"0x%llx\"",
           (unsigned long long)(module != NULL ? pc_va - module->base_va : pc_va));
    judge_print_known("function", named ? symbol.info.Name : NULL);
    judge_print_known("file", has_line ? without_folder(line.FileName) : NULL);
    if (has_line)
        printf(",\"line\":%lu", line.LineNumber);
    else
        printf(",\"line\":null");
    if (named && is_export_only(module))
        printf(",\"symbols\":\"export\"");
    if (found_by != NULL && depth == 0)
        printf(",\"found_by\":\"%s\"", found_by);
    printf(",\"inlined\":%s}", depth > 0 ? "true" : "false");
}

void judge_print_frame(uint32_t index, uint64_t pc_va, bool is_return, bool first,
                       const char *found_by)
{
    const uint64_t lookup_va = is_return ? pc_va - 1 : pc_va;
    const uint64_t start_ns = judge_now_ns();
    DWORD context = 0, at = 0;
    DWORD count = inlined.trace(judge.set->process, lookup_va);
    if (count != 0 &&
        !inlined.query(judge.set->process, lookup_va, 0, lookup_va, lookup_va, &context, &at))
        count = 0;
    add_time(start_ns, judge_module_at(lookup_va));
    for (DWORD i = 0; i < count; i++, first = false) {
        printf("%s", first ? "" : ",");
        print_logical(index, count - i, pc_va, lookup_va, context + i, found_by);
    }
    printf("%s", first ? "" : ",");
    print_logical(index, 0, pc_va, lookup_va, REGULAR_CONTEXT, found_by);
}
