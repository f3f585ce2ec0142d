/* twinstack-dbgeng: WinDbg's engine as a reference: it opens the dump, walks and names as WinDbg
 * does. dbgeng.dll is Microsoft's, from the Debugging Tools or their redistributable package; it is
 * loaded from this program's folder.
 *
 * Its interfaces are COM, called by the places of their methods, which never change: an interface
 * that grows gets a new number. The order is that of the header in Microsoft's SDK; mingw-w64's has
 * another, wrong one. */
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include "capture/record.h"
#include "victims/harness/judge/dbghelp_judge.h"

enum { EXIT_NO_ENGINE = 4, WAIT_MS = 60000, NAME_UNITS = 4000, THREADS_MAX = 4096 };
enum { FRAMES_FEW = 1100, FRAMES_MAX = 1 << 17, CONTEXT_BYTES_MAX = 8192 };

/* ---- the interfaces ---- */

typedef struct com {
    void **methods;
} com;

/* COM passes integers and pointers; the calling convention of x64 is one for all functions. */
typedef HRESULT method(com *, ...);
#define CALL(object, place, ...) ((method *)(object)->methods[place])(object, __VA_ARGS__)

enum { /* places */
       CLIENT_END_SESSION = 26,
       CLIENT_SET_OUTPUT = 34,
       CLIENT_OPEN_DUMP = 60,
       CONTROL_WAIT = 93,
       CONTROL_STACK = 171,
       SYMBOLS_MODULE_BY_OFFSET = 15,
       SYMBOLS_MODULE_PARAMETERS = 17,
       SYMBOLS_SET_PATH = 77,
       SYMBOLS_SET_IMAGE_PATH = 80,
       SYMBOLS_MODULE_NAME = 89,
       SYMBOLS_FUNCTION_ENTRY = 104,
       SYMBOLS_NAME = 129,
       SYMBOLS_LINE = 131,
       SPACES_READ = 3,
       ADVANCED_CONTEXT = 3,
       ADVANCED_REQUEST = 5,
       SYSTEM_SET_THREAD = 6,
       SYSTEM_THREAD_COUNT = 9,
       SYSTEM_THREADS = 11,
       SYSTEM_THREAD_OF_ID = 18,
};

enum { REQUEST_EXCEPTION_CONTEXT = 1, REQUEST_EXCEPTION_THREAD = 2, END_PASSIVE = 0 };
#define NO_INLINE_CONTEXT 0xffffffffu
enum { FRAME_TYPE_SHIFT = 8, FRAME_TYPE_INLINE = 2 };

static const GUID id_client = {
    0xe3acb9d7, 0x7ec2, 0x4f0c, {0xa0, 0xda, 0xe8, 0x1e, 0x0c, 0xbb, 0xe6, 0x28}};
static const GUID id_control = {
    0xb2ffe162, 0x2412, 0x429f, {0x8d, 0x1d, 0x5b, 0xf6, 0xdd, 0x82, 0x46, 0x96}};
static const GUID id_symbols = {
    0xc65fa83e, 0x1e69, 0x475e, {0x8e, 0x0e, 0xb5, 0xd7, 0x9e, 0x9c, 0xc1, 0x7e}};
static const GUID id_advanced = {
    0xcba4abb4, 0x84c4, 0x444d, {0x87, 0xca, 0xa0, 0x4e, 0x13, 0x28, 0x67, 0x39}};
static const GUID id_system = {
    0x489468e6, 0x7d0f, 0x4af5, {0x87, 0xab, 0x25, 0x20, 0x74, 0x54, 0xd5, 0x53}};
static const GUID id_spaces = {
    0x88f7dfab, 0x3ea7, 0x4c3a, {0xae, 0xfb, 0xc4, 0xe8, 0x10, 0x61, 0x73, 0xaa}};
static const GUID id_output = {
    0x4bf58045, 0xd654, 0x4c40, {0xb0, 0xaf, 0x68, 0x30, 0x90, 0xf3, 0x56, 0xdc}};
static const GUID id_unknown = {0, 0, 0, {0xc0, 0, 0, 0, 0, 0, 0, 0x46}};

static com *client, *control, *symbols, *advanced, *threads, *spaces;

typedef struct { /* DEBUG_STACK_FRAME_EX */
    ULONG64 pc_va, return_va, frame_va, stack_va, table, parameters[4], reserved[6];
    BOOL is_virtual;
    ULONG number, inline_context, machine;
} engine_frame;

/* ---- what the engine prints while it opens a dump ---- */

enum { HEARD_BYTES = 16384 };
static char heard[HEARD_BYTES];

static HRESULT WINAPI output_query(com *self, const GUID *id, void **out)
{
    *out = NULL;
    if (memcmp(id, &id_output, sizeof *id) != 0 && memcmp(id, &id_unknown, sizeof *id) != 0)
        return E_NOINTERFACE; /* the engine asks for newer ones, and would call them */
    *out = self;
    return S_OK;
}

static ULONG WINAPI output_count(com *self)
{
    (void)self;
    return 1;
}

static HRESULT WINAPI output_text(com *self, ULONG mask, const char *text)
{
    static wchar_t wide[HEARD_BYTES];
    const size_t used = strlen(heard);
    (void)self, (void)mask;
    if (MultiByteToWideChar(CP_ACP, 0, text, -1, wide, HEARD_BYTES) != 0 &&
        WideCharToMultiByte(CP_UTF8, 0, wide, -1, heard + used, (int)(sizeof heard - used), NULL,
                            NULL) == 0)
        heard[used] = 0; /* there is no room */
    return S_OK;
}

static void *output_methods[] = {(void *)output_query, (void *)output_count, (void *)output_count,
                                 (void *)output_text};
static com output = {output_methods};

/* ---- Wine ---- */

/* An image that is not at its preferred address is changed in its view, which Wine 8 refuses for a
 * view that only reads: there the engine gets views of its own. */
typedef LPVOID(WINAPI *map_fn)(HANDLE, DWORD, DWORD, DWORD, SIZE_T);
static map_fn map_view;

static LPVOID WINAPI map_copy(HANDLE mapping, DWORD access, DWORD high, DWORD low, SIZE_T bytes)
{
    LPVOID view =
        access == FILE_MAP_READ ? map_view(mapping, FILE_MAP_COPY, high, low, bytes) : NULL;
    return view != NULL ? view : map_view(mapping, access, high, low, bytes);
}

static void replace_import(HMODULE library, const char *name, void *to, void **before)
{
    char *base = (char *)library;
    const IMAGE_NT_HEADERS *nt =
        (const IMAGE_NT_HEADERS *)(base + ((const IMAGE_DOS_HEADER *)base)->e_lfanew);
    const IMAGE_IMPORT_DESCRIPTOR *from =
        (const IMAGE_IMPORT_DESCRIPTOR *)(base +
                                          nt->OptionalHeader.DataDirectory[1].VirtualAddress);
    for (; from->Name != 0; from++) {
        ULONG_PTR *slot = (ULONG_PTR *)(base + from->FirstThunk);
        const ULONG_PTR *row = (const ULONG_PTR *)(base + from->OriginalFirstThunk);
        for (; from->OriginalFirstThunk != 0 && *row != 0; row++, slot++) {
            DWORD protection;
            if ((LONG_PTR)*row < 0 ||
                strcmp(((const IMAGE_IMPORT_BY_NAME *)(base + *row))->Name, name) != 0 ||
                !VirtualProtect(slot, sizeof *slot, PAGE_READWRITE, &protection))
                continue;
            *before = (void *)*slot;
            *slot = (ULONG_PTR)to;
            VirtualProtect(slot, sizeof *slot, protection, &protection);
        }
    }
}

/* ---- start ---- */

static bool open_engine(void)
{
    WCHAR path[JUDGE_PATH_UNITS];
    HRESULT(WINAPI * create)(const GUID *, com **);
    if (!judge_beside_program(L"dbgeng.dll", path))
        return false;
    HMODULE library = LoadLibraryExW(path, NULL, LOAD_WITH_ALTERED_SEARCH_PATH);
    FARPROC function = library != NULL ? GetProcAddress(library, "DebugCreate") : NULL;
    if (function == NULL)
        return false;
    if (GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "wine_get_version") != NULL)
        replace_import(library, "MapViewOfFile", (void *)map_copy, (void **)&map_view);
    memcpy(&create, &function, sizeof create);
    return create(&id_client, &client) == S_OK && CALL(client, 0, &id_control, &control) == S_OK &&
           CALL(client, 0, &id_symbols, &symbols) == S_OK &&
           CALL(client, 0, &id_advanced, &advanced) == S_OK &&
           CALL(client, 0, &id_system, &threads) == S_OK &&
           CALL(client, 0, &id_spaces, &spaces) == S_OK &&
           CALL(client, CLIENT_SET_OUTPUT, &output) == S_OK;
}

/* ---- folders ---- */

static wchar_t search[JUDGE_FOLDERS * JUDGE_PATH_UNITS];

static void add_folder(const wchar_t *folder, const wchar_t *name)
{
    const size_t used = wcslen(search), units = wcslen(folder) + wcslen(name) + 3;
    if (used + units >= sizeof search / sizeof search[0])
        return;
    swprintf(search + used, units, L"%ls%ls%ls%ls", used > 0 ? L";" : L"", folder,
             name[0] != 0 ? L"\\" : L"", name);
}

/* A folder, and those in it: a second image of one name is in one of them. */
static void add_folders(const wchar_t *folder)
{
    wchar_t pattern[JUDGE_PATH_UNITS + 4];
    WIN32_FIND_DATAW found;
    add_folder(folder, L"");
    swprintf(pattern, JUDGE_PATH_UNITS + 4, L"%ls\\*", folder);
    HANDLE list = FindFirstFileW(pattern, &found);
    if (list == INVALID_HANDLE_VALUE)
        return;
    do {
        if ((found.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0 && found.cFileName[0] != L'.')
            add_folder(folder, found.cFileName);
    } while (FindNextFileW(list, &found));
    FindClose(list);
}

static void set_paths(void)
{
    search[0] = 0;
    for (int i = 0; i < judge.folder_count; i++) {
        wchar_t full[JUDGE_PATH_UNITS];
        const DWORD length = GetFullPathNameW(judge.folders[i], JUDGE_PATH_UNITS, full, NULL);
        if (length > 0 && length < JUDGE_PATH_UNITS)
            add_folders(full);
    }
    CALL(symbols, SYMBOLS_SET_PATH, search);
    add_folder(L"C:\\windows\\system32", L"");
    wchar_t own[JUDGE_PATH_UNITS];
    if (judge_beside_program(L"", own)) /* Microsoft's DLLs are there: a victim may have had them */
        add_folder(own, L"");
    CALL(symbols, SYMBOLS_SET_IMAGE_PATH, search);
}

/* ---- frames ---- */

static const char *utf8(const wchar_t *text, char *out, int bytes)
{
    if (WideCharToMultiByte(CP_UTF8, 0, text, -1, out, bytes, NULL, NULL) == 0)
        out[0] = 0;
    return out;
}

/* Without a PDB the engine takes the nearest export, which may be that of another function. */
static bool is_export_only(ULONG64 base_va)
{
    struct { /* DEBUG_MODULE_PARAMETERS */
        ULONG64 base_va;
        ULONG bytes, timestamp, checksum, flags, symbol_type, name_bytes[5];
        ULONG64 reserved[2];
    } module;
    enum { SYMBOLS_OF_EXPORTS = 4 };
    return CALL(symbols, SYMBOLS_MODULE_PARAMETERS, (ULONG)1, &base_va, (ULONG)0, &module) ==
               S_OK &&
           module.symbol_type == SYMBOLS_OF_EXPORTS;
}

static bool is_first_frame; /* of a thread */

/* DEPTH 0: the frame itself; above: inlined.  LOOKUP_VA is in the call, not after it. */
static void print_frame(ULONG index, ULONG depth, ULONG64 pc_va, ULONG64 lookup_va, ULONG context,
                        const char *found_by)
{
    static wchar_t name[NAME_UNITS], file[NAME_UNITS], image[NAME_UNITS];
    static char text[3 * NAME_UNITS], module[3 * NAME_UNITS];
    ULONG module_index = 0, size = 0, line = 0;
    ULONG64 base_va = 0, distance = 0;
    const bool in_module = CALL(symbols, SYMBOLS_MODULE_BY_OFFSET, lookup_va, (ULONG)0,
                                &module_index, &base_va) == S_OK;
    image[0] = name[0] = file[0] = 0;
    if (in_module)
        CALL(symbols, SYMBOLS_MODULE_NAME, (ULONG)0, module_index, base_va, image,
             (ULONG)NAME_UNITS, &size);
    const wchar_t *last = wcsrchr(image, L'\\');
    const uint64_t start_ns = judge_now_ns();
    const bool named = SUCCEEDED(
        CALL(symbols, SYMBOLS_NAME, lookup_va, context, name, (ULONG)NAME_UNITS, &size, &distance));
    const bool has_line = SUCCEEDED(CALL(symbols, SYMBOLS_LINE, lookup_va, context, &line, file,
                                         (ULONG)NAME_UNITS, &size, &distance));
    judge.resolve_ns += judge_now_ns() - start_ns;
    const wchar_t *bang = named ? wcschr(name, L'!') : NULL; /* "module!function" */
    printf("%s{\"index\":%lu,\"inline_depth\":%lu", is_first_frame ? "" : ",", index, depth);
    is_first_frame = false;
    judge_print_known(
        "module", in_module ? utf8(last != NULL ? last + 1 : image, module, sizeof module) : NULL);
    printf(",\"offset\":\"0x%llx\"", (unsigned long long)(in_module ? pc_va - base_va : pc_va));
    judge_print_known("function", bang != NULL ? utf8(bang + 1, text, sizeof text) : NULL);
    judge_print_known("file", has_line ? utf8(file, text, sizeof text) : NULL);
    if (has_line)
        printf(",\"line\":%lu", line);
    else
        printf(",\"line\":null");
    if (bang != NULL && is_export_only(base_va))
        printf(",\"symbols\":\"export\"");
    if (found_by != NULL && depth == 0)
        printf(",\"found_by\":\"%s\"", found_by);
    printf(",\"inlined\":%s}", depth > 0 ? "true" : "false");
}

static bool is_inlined(const engine_frame *frame)
{
    return frame->inline_context != NO_INLINE_CONTEXT &&
           (frame->inline_context >> FRAME_TYPE_SHIFT & FRAME_TYPE_INLINE) != 0;
}

/* The innermost frames of the stack that is printed; x86 and other threads: none. */
static struct judge_step steps[JUDGE_STEPS];
static uint32_t step_count;

static bool read_process(uint64_t va, void *to, uint32_t bytes)
{
    ULONG got = 0;
    return CALL(spaces, SPACES_READ, va, to, (ULONG)bytes, &got) == S_OK && got == bytes;
}

/* The entry that the engine gives its walker. */
static void add_step(const engine_frame *frame)
{
    RUNTIME_FUNCTION entry = {0};
    ULONG needed = 0, index = 0;
    ULONG64 base_va = 0;
    if (step_count == JUDGE_STEPS)
        return;
    struct judge_step *step = &steps[step_count++];
    *step = (struct judge_step){.pc_va = frame->pc_va, .sp_va = frame->stack_va};
    if (CALL(symbols, SYMBOLS_MODULE_BY_OFFSET, frame->pc_va, (ULONG)0, &index, &base_va) != S_OK)
        return;
    step->base_va = base_va;
    if (CALL(symbols, SYMBOLS_FUNCTION_ENTRY, frame->pc_va, (ULONG)0, &entry, (ULONG)sizeof entry,
             &needed) != S_OK)
        return;
    step->begin_rva = entry.BeginAddress;
    step->end_rva = entry.EndAddress;
    step->unwind_rva = entry.UnwindData;
}

static void take_steps(const engine_frame *frames, ULONG count, bool crashed)
{
    step_count = 0;
    for (ULONG i = 0; crashed && !judge_is_x86() && i < count; i++)
        if (!is_inlined(&frames[i]))
            add_step(&frames[i]);
}

/* Inlined frames come before the frame that holds them. A return address is looked up one byte
 * earlier, which the engine does not do by itself. */
static void print_frames(const engine_frame *frames, ULONG count, ULONG total, bool seed_is_return)
{
    const ULONG limit = RECORD_FRAMES_HEAD + RECORD_FRAMES_TAIL;
    ULONG index = 0, start = 0;
    for (ULONG i = 0; i < count; i++) {
        if (is_inlined(&frames[i]))
            continue;
        const bool is_return = index > 0 || seed_is_return;
        const bool is_kept =
            total <= limit || index < RECORD_FRAMES_HEAD || index >= total - RECORD_FRAMES_TAIL;
        for (ULONG k = start; is_kept && k <= i; k++)
            print_frame(index, i - k, frames[k].pc_va, frames[k].pc_va - is_return,
                        frames[k].inline_context,
                        step_count == 0 || index > step_count
                            ? NULL
                            : judge_found_by(index > 0 ? &steps[index - 1] : NULL));
        start = i + 1;
        index++;
    }
}

/* The engine writes over the whole array that it gets, and over the context: few frames are asked
 * for first. */
static ULONG walk(const void *context, ULONG bytes, engine_frame *frames)
{
    static __declspec(align(16)) uint8_t copy[CONTEXT_BYTES_MAX];
    const uint64_t start_ns = judge_now_ns();
    ULONG count = 0;
    memcpy(copy, context, bytes);
    CALL(control, CONTROL_STACK, copy, bytes, frames, (ULONG)FRAMES_FEW, NULL, (ULONG)0, (ULONG)0,
         &count);
    if (count >= FRAMES_FEW) {
        memcpy(copy, context, bytes);
        CALL(control, CONTROL_STACK, copy, bytes, frames, (ULONG)FRAMES_MAX, NULL, (ULONG)0,
             (ULONG)0, &count);
    }
    judge.unwind_ns += judge_now_ns() - start_ns;
    return count;
}

static void print_thread(ULONG id, bool crashed, const void *context, ULONG bytes, bool first)
{
    static engine_frame frames[FRAMES_MAX];
    const uint64_t unwind_ns = judge.unwind_ns, resolve_ns = judge.resolve_ns;
    const ULONG count = walk(context, bytes, frames),
                limit = RECORD_FRAMES_HEAD + RECORD_FRAMES_TAIL;
    ULONG total = 0;
    for (ULONG i = 0; i < count; i++)
        total += !is_inlined(&frames[i]);
    printf("%s{\"id\":%lu,\"crashed\":%s,\"left_out\":%lu,\"frames\":[", first ? "" : ",", id,
           crashed ? "true" : "false", total > limit ? total - limit : 0);
    is_first_frame = true;
    take_steps(frames, count, crashed);
    print_frames(frames, count, total, judge_seed_is_return(crashed));
    printf("]");
    if (step_count > 0)
        judge_print_evidence(steps, step_count, read_process);
    printf(",\"times\":{\"unwind_ns\":%llu,\"resolve_ns\":%llu}}",
           (unsigned long long)(judge.unwind_ns - unwind_ns),
           (unsigned long long)(judge.resolve_ns - resolve_ns));
}

static ULONG context_bytes(void)
{
    return judge_is_x86() ? (ULONG)sizeof(WOW64_CONTEXT) : (ULONG)sizeof(CONTEXT);
}

/* The crashed thread, from the context of the exception. Returns its id; false: there is none. */
static bool print_crashed(ULONG *id)
{
    static __declspec(align(16)) uint8_t context[CONTEXT_BYTES_MAX];
    ULONG bytes = 0, size = 0, number = 0;
    if (CALL(advanced, ADVANCED_REQUEST, (ULONG)REQUEST_EXCEPTION_CONTEXT, NULL, (ULONG)0, context,
             (ULONG)sizeof context, &bytes) != S_OK ||
        CALL(advanced, ADVANCED_REQUEST, (ULONG)REQUEST_EXCEPTION_THREAD, NULL, (ULONG)0, id,
             (ULONG)sizeof *id, &size) != S_OK ||
        bytes == 0)
        return false;
    if (CALL(threads, SYSTEM_THREAD_OF_ID, *id, &number) == S_OK)
        CALL(threads, SYSTEM_SET_THREAD, number);
    print_thread(*id, true, context, bytes < context_bytes() ? bytes : context_bytes(), true);
    return true;
}

static void print_threads(void)
{
    static __declspec(align(16)) uint8_t context[CONTEXT_BYTES_MAX];
    static ULONG numbers[THREADS_MAX], ids[THREADS_MAX];
    ULONG count = 0, crashed = 0;
    bool has_crashed = print_crashed(&crashed), first = !has_crashed;
    CALL(threads, SYSTEM_THREAD_COUNT, &count);
    if (count > THREADS_MAX)
        count = THREADS_MAX;
    CALL(threads, SYSTEM_THREADS, (ULONG)0, count, numbers, ids);
    for (ULONG i = 0; i < count; i++) {
        if (has_crashed && ids[i] == crashed)
            continue;
        CALL(threads, SYSTEM_SET_THREAD, numbers[i]);
        if (CALL(advanced, ADVANCED_CONTEXT, context, context_bytes()) != S_OK)
            continue;
        print_thread(ids[i], false, context, context_bytes(), first);
        first = false;
    }
}

/* ---- an answer ---- */

static int answer(const wchar_t *dump, const char **why)
{
    static char reason[256];
    wchar_t full[JUDGE_PATH_UNITS];
    const uint64_t start_ns = judge_now_ns();
    judge.unwind_ns = judge.resolve_ns = 0;
    heard[0] = 0;
    if (!judge_open_dump(dump) ||
        GetFullPathNameW(dump, JUDGE_PATH_UNITS, full, NULL) >= JUDGE_PATH_UNITS) {
        *why = "not a readable minidump";
        return JUDGE_BAD_DUMP;
    }
    set_paths();
    HRESULT result = CALL(client, CLIENT_OPEN_DUMP, full, (ULONG64)0);
    if (result == S_OK)
        result = CALL(control, CONTROL_WAIT, (ULONG)0, (ULONG)WAIT_MS);
    if (result != S_OK) {
        CALL(client, CLIENT_END_SESSION, (ULONG)END_PASSIVE);
        snprintf(reason, sizeof reason, "the engine refuses the dump: 0x%lx", result);
        *why = reason;
        return JUDGE_BAD_DUMP;
    }
    judge.open_ns = judge_now_ns() - start_ns;
    printf("{\"schema_version\":1,\"version\":");
    judge_print_version(L"dbgeng.dll", "dbgeng");
    printf(",\"threads\":[");
    print_threads();
    printf("],\"times\":{\"open_ns\":%llu,\"load_ns\":0,\"unwind_ns\":%llu,\"resolve_ns\":%llu}",
           (unsigned long long)judge.open_ns, (unsigned long long)judge.unwind_ns,
           (unsigned long long)judge.resolve_ns);
    judge_print_known("printed", heard);
    printf("}\n");
    CALL(client, CLIENT_END_SESSION, (ULONG)END_PASSIVE);
    return 0;
}

int wmain(int argc, wchar_t **argv)
{
    if (argc > 1 && !open_engine()) {
        fprintf(stderr, "twinstack-dbgeng: no dbgeng.dll of Microsoft in this program's folder\n");
        return EXIT_NO_ENGINE;
    }
    return judge_main(argc, argv, "twinstack-dbgeng", answer);
}
