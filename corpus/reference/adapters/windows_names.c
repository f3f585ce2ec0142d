/* Symbolizers of Windows, or of Wine, over the addresses of the suite that have a PDB; it speaks
 * the suite's protocol.
 *
 *     windows_names.exe dia DLL        Microsoft's DIA, the file msdia140.dll
 *     windows_names.exe dbghelp [DLL]  dbghelp.dll, or that file
 *
 * DIA opens the PDB; dbghelp loads the image, and finds the PDB in its folder. Frames are those of
 * findInlineFramesByRVA and of SymQueryInlineTrace. Of several line records, DIA's first counts.
 * A PDB that is not opened is unsupported.
 *
 * Build: x86_64-w64-mingw32-gcc -O2 -o windows_names.exe windows_names.c -lversion
 * Seen with: msdia140.dll 14.51 and dbghelp.dll 10.0.29507 of Microsoft under Wine 8.0 of Debian 12
 * (WINEDLLOVERRIDES='msdia140,dbghelp,dbgcore=n'), and Wine's dbghelp. Not run on Windows.
 * By hand: (echo '{"hello":1,"suite":"/absolute/folder","edition":""}'
 *           grep clang19-pdb-o2/1002 addresses/clang-pdb-x64.ndjson) |
 *          wine windows_names.exe dbghelp */
#include <windows.h>

#include <dbghelp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "windows_contestant.h"
#include "windows_dia.h"

enum { FRAMES_MAX = 64, NAME_MAX_BYTES = 8192 };

static struct frame {
    char function[NAME_MAX_BYTES], file[NAME_MAX_BYTES]; /* UTF-8; "": not known */
    DWORD line;                                          /* 0: not known */
} frames[FRAMES_MAX];                                    /* innermost first */
static int frame_count;
static char opened[2048]; /* the file that the last question was about */

static void *dia_factory, *dia_source, *dia_session;

static int begin_dia(const char *path)
{
    dia_factory = load_dia(path);
    return dia_factory != NULL;
}

static int open_in_dia(const char *path)
{
    wchar_t wide[sizeof opened];
    release(dia_session);
    release(dia_source);
    dia_session = dia_source = NULL;
    if (MultiByteToWideChar(CP_UTF8, 0, path, -1, wide, sizeof opened) == 0)
        return refuse("a long path:", 0);
    const HRESULT result = open_pdb(dia_factory, wide, &dia_source, &dia_session);
    return result == S_OK || refuse("it does not open the PDB:", (uint32_t)result);
}

/* TEXT to UTF-8, and frees it. */
static void take_text(wchar_t *words, char out[NAME_MAX_BYTES])
{
    out[0] = '\0';
    if (words == NULL)
        return;
    WideCharToMultiByte(CP_UTF8, 0, words, -1, out, NAME_MAX_BYTES, NULL, NULL);
    out[NAME_MAX_BYTES - 1] = '\0';
    free_string(words);
}

static void add_dia_frame(void *symbol, DWORD rva, int is_inlined)
{
    struct frame *f = &frames[frame_count++];
    void *lines = lines_at(dia_session, symbol, rva, is_inlined), *record = NULL, *file = NULL;
    wchar_t *name = NULL;

    CALL(symbol, SYMBOL_NAME, &name);
    take_text(name, f->function);
    name = NULL;
    f->line = 0;
    if (lines != NULL && (record = next_of(lines)) != NULL) {
        CALL(record, LINE_NUMBER, &f->line);
        if (CALL(record, LINE_FILE, &file) == S_OK && file != NULL)
            CALL(file, FILE_NAME, &name);
    }
    take_text(name, f->file);
    release(file);
    release(record);
    release(lines);
}

static void ask_dia(DWORD rva)
{
    void *function = NULL, *inlined = NULL, *one;
    LONG distance = 0;

    if (CALL(dia_session, SESSION_SYMBOL, rva, TAG_FUNCTION, &function, &distance) != S_OK ||
        function == NULL)
        return;
    CALL(dia_session, SESSION_INLINE_FRAMES, function, rva, &inlined);
    while (inlined != NULL && frame_count + 1 < FRAMES_MAX && (one = next_of(inlined)) != NULL) {
        DWORD tag = 0;
        CALL(one, SYMBOL_TAG, &tag); /* the function itself is among them */
        if (tag == TAG_INLINE_SITE)
            add_dia_frame(one, rva, 1);
        release(one);
    }
    add_dia_frame(function, rva, 0);
    release(inlined);
    release(function);
}

/* Wine's SYMOPT_EX_WINE_NATIVE_MODULES: without it, Wine 8 makes Z:\suite\a.c of a PDB's
 * /suite/a.c. */
enum { WINE_NATIVE_MODULES = 1000 };

static struct {
    BOOL(WINAPI *initialize)(HANDLE, PCSTR, BOOL);
    BOOL(WINAPI *search)(HANDLE, PCSTR);
    DWORD(WINAPI *options)(DWORD);
    DWORD64(WINAPI *load)(HANDLE, HANDLE, PCSTR, PCSTR, DWORD64, DWORD, MODLOAD_DATA *, DWORD);
    BOOL(WINAPI *unload)(HANDLE, DWORD64);
    BOOL(WINAPI *facts)(HANDLE, DWORD64, IMAGEHLP_MODULE64 *);
    DWORD(WINAPI *inlined)(HANDLE, DWORD64);
    BOOL(WINAPI *trace)(HANDLE, DWORD64, DWORD, DWORD64, DWORD64, DWORD *, DWORD *);
    BOOL(WINAPI *symbol)(HANDLE, DWORD64, DWORD64 *, SYMBOL_INFO *);
    BOOL(WINAPI *line)(HANDLE, DWORD64, DWORD *, IMAGEHLP_LINE64 *);
    BOOL(WINAPI *inlined_symbol)(HANDLE, DWORD64, ULONG, DWORD64 *, SYMBOL_INFO *);
    BOOL(WINAPI *inlined_line)(HANDLE, DWORD64, ULONG, DWORD64, DWORD *, IMAGEHLP_LINE64 *);
    DWORD64 base;
} dbghelp;

static int load_dbghelp(const char *path)
{
    HMODULE dll = LoadLibraryExA(path, NULL,
                                 strpbrk(path, "/\\") != NULL ? LOAD_WITH_ALTERED_SEARCH_PATH : 0);
    static const struct {
        const char *name;
        void *to;
    } needs[] = {{"SymInitialize", &dbghelp.initialize},
                 {"SymSetSearchPath", &dbghelp.search},
                 {"SymSetOptions", &dbghelp.options},
                 {"SymLoadModuleEx", &dbghelp.load},
                 {"SymUnloadModule64", &dbghelp.unload},
                 {"SymGetModuleInfo64", &dbghelp.facts},
                 {"SymAddrIncludeInlineTrace", &dbghelp.inlined},
                 {"SymQueryInlineTrace", &dbghelp.trace},
                 {"SymFromAddr", &dbghelp.symbol},
                 {"SymGetLineFromAddr64", &dbghelp.line},
                 {"SymFromInlineContext", &dbghelp.inlined_symbol},
                 {"SymGetLineFromInlineContext", &dbghelp.inlined_line}};
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++) {
        FARPROC address = dll != NULL ? GetProcAddress(dll, needs[i].name) : NULL;
        if (address == NULL)
            return 0;
        memcpy(needs[i].to, &address, sizeof address);
    }
    BOOL(WINAPI * option)(int, BOOL) =
        (BOOL(WINAPI *)(int, BOOL))(void *)GetProcAddress(dll, "SymSetExtendedOption");
    if (option != NULL)
        option(WINE_NATIVE_MODULES, TRUE);
    dbghelp.options(SYMOPT_UNDNAME | SYMOPT_LOAD_LINES | SYMOPT_FAIL_CRITICAL_ERRORS);
    return dbghelp.initialize(GetCurrentProcess(), "", FALSE);
}

static int open_image(const char *path)
{
    IMAGEHLP_MODULE64 facts = {.SizeOfStruct = sizeof facts};
    char place[sizeof opened], *last;

    if (dbghelp.base != 0)
        dbghelp.unload(GetCurrentProcess(), dbghelp.base);
    snprintf(place, sizeof place, "%s", path);
    if ((last = strrchr(place, '\\')) != NULL)
        *last = '\0';
    dbghelp.search(GetCurrentProcess(), place);
    dbghelp.base = dbghelp.load(GetCurrentProcess(), NULL, path, NULL, 0, 0, NULL, 0);
    if (dbghelp.base == 0)
        return refuse("SymLoadModuleEx refuses it:", GetLastError());
    if (!dbghelp.facts(GetCurrentProcess(), dbghelp.base, &facts) ||
        (facts.SymType != SymPdb && facts.SymType != SymDia))
        return refuse("it does not open the PDB: SymType", (uint64_t)facts.SymType);
    return 1;
}

/* CONTEXT 0: nothing is inlined there. */
static void add_dbghelp_frame(DWORD64 at, DWORD context)
{
    static union {
        SYMBOL_INFO info;
        char bytes[sizeof(SYMBOL_INFO) + NAME_MAX_BYTES];
    } symbol;
    const HANDLE process = GetCurrentProcess();
    struct frame *f = &frames[frame_count++];
    IMAGEHLP_LINE64 row = {.SizeOfStruct = sizeof row};
    DWORD64 after = 0;
    DWORD after_row = 0;

    memset(&symbol, 0, sizeof symbol);
    memset(f, 0, sizeof *f);
    symbol.info.SizeOfStruct = sizeof symbol.info;
    symbol.info.MaxNameLen = NAME_MAX_BYTES;
    if (context == 0 ? dbghelp.symbol(process, at, &after, &symbol.info)
                     : dbghelp.inlined_symbol(process, at, context, &after, &symbol.info))
        snprintf(f->function, sizeof f->function, "%s", symbol.info.Name);
    if (context == 0 ? dbghelp.line(process, at, &after_row, &row)
                     : dbghelp.inlined_line(process, at, context, 0, &after_row, &row)) {
        snprintf(f->file, sizeof f->file, "%s", row.FileName != NULL ? row.FileName : "");
        f->line = row.LineNumber;
    }
}

/* The function itself has the context after those of its inlined calls. */
static void ask_dbghelp(DWORD rva)
{
    const DWORD64 at = dbghelp.base + rva;
    DWORD count = dbghelp.inlined(GetCurrentProcess(), at), context = 0, index = 0;

    if (count != 0 && !dbghelp.trace(GetCurrentProcess(), at, 0, at, at, &context, &index))
        count = 0;
    for (DWORD i = 0; i <= count && i < FRAMES_MAX; i++)
        add_dbghelp_frame(at, context + i);
    if (frames[frame_count - 1].function[0] == '\0' && frames[frame_count - 1].line == 0)
        frame_count--;
}

/* TEXT as JSON; "" is null. */
static void print_text(const char *words)
{
    if (*words == '\0') {
        fputs("null", stdout);
        return;
    }
    putchar('"');
    for (; *words != '\0'; words++)
        if ((unsigned char)*words < ' ')
            printf("\\u%04x", (unsigned char)*words);
        else
            printf(*words == '"' || *words == '\\' ? "\\%c" : "%c", *words);
    putchar('"');
}

static void print_frames(void)
{
    fputs("\"frames\":[", stdout);
    for (int i = 0; i < frame_count; i++) {
        fputs(i == 0 ? "{\"function\":" : ",{\"function\":", stdout);
        print_text(frames[i].function);
        fputs(",\"file\":", stdout);
        print_text(frames[i].file);
        fputs(",\"line\":", stdout);
        if (frames[i].line != 0)
            printf("%lu", frames[i].line);
        else
            fputs("null", stdout);
        printf(",\"inlined\":%s}", i + 1 < frame_count ? "true" : "false");
    }
    putchar(']');
}

/* Opens the file KEY of the question, unless the last one was about it. */
static int open_file(const char *given, const char *end, const char *key, int (*open)(const char *))
{
    char name[512], path[sizeof opened];
    if (!text(member(given, end, key), name, sizeof name))
        return refuse("only symbols in a PDB", 0);
    snprintf(path, sizeof path, "%.1000s/%.500s", folder, name);
    char full[sizeof opened];
    if (GetFullPathNameA(path, sizeof full, full, NULL) == 0)
        return refuse("no path:", GetLastError());
    if (strcmp(full, opened) == 0)
        return 1;
    opened[0] = '\0';
    if (!open(full))
        return 0;
    memcpy(opened, full, sizeof opened);
    return 1;
}

static void answer(const char *end, const char *mode)
{
    const char *given = member(line, end, "given");
    const int is_dia = strcmp(mode, "dia") == 0;
    char id[256] = "", lookup[32] = "";

    (void)text(member(line, end, "id"), id, sizeof id);
    frame_count = 0;
    why[0] = '\0';
    if (given == NULL || strstr(line, "\"addresses.pdb\"") == NULL)
        (void)refuse("only addresses of PDBs", 0);
    else if (open_file(given, end, is_dia ? "symbols" : "image",
                       is_dia ? open_in_dia : open_image)) {
        (void)text(member(given, end, "lookup"), lookup, sizeof lookup);
        const DWORD rva =
            (DWORD)number(member(given, end, "rva")) - (strcmp(lookup, "return") == 0);
        (is_dia ? ask_dia : ask_dbghelp)(rva);
    }
    printf("{\"id\":\"%s\",", id);
    if (why[0] != '\0')
        printf("\"unsupported\":true,\"issue\":null,\"reason\":\"%s\"", why);
    else
        print_frames();
    puts("}");
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "", *dll = argc > 2 ? argv[2] : "dbghelp.dll";
    const int is_dia = strcmp(mode, "dia") == 0;

    if (is_dia ? argc != 3 : strcmp(mode, "dbghelp") != 0) {
        fputs("usage: windows_names.exe dia DLL | dbghelp [DLL]\n", stderr);
        return 2;
    }
    if (!(is_dia ? begin_dia : load_dbghelp)(dll)) {
        fprintf(stderr, "windows_names: %s has not the functions of %s\n", dll, mode);
        return 3;
    }
    return serve(mode, dll, "addresses.pdb", answer);
}
