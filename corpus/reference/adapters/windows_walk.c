/* Walkers of Windows, or of Wine, over the moments of the suite; it speaks the suite's protocol.
 *
 *     windows_walk.exe rtl              RtlVirtualUnwind, in the loop of its page
 *     windows_walk.exe stackwalk [DLL]  StackWalk64 of dbghelp.dll, or of that file
 *
 * A moment is laid out in this process: the images at their base, with RtlAddFunctionTable for
 * their .pdata, the stack at its addresses. Pages without a part of the stack are not readable;
 * bytes around a part, on its page, are 0. A moment whose addresses are taken is unsupported. If
 * the walker reads where nothing is, its walk ends there. xmm registers are 0.
 *
 * Build: x86_64-w64-mingw32-gcc -O2 -o windows_walk.exe windows_walk.c -lversion
 * Seen with: Wine 8.0 of Debian 12, and there with Microsoft's dbghelp.dll 10.0.29507
 * (WINEDLLOVERRIDES='dbghelp=n;dbgcore=n'). Not run on Windows. By hand: (echo
 * '{"hello":1,"suite":"/absolute/folder","edition":""}' grep push/rbx/body/0002
 * moments/x64-push.ndjson) | wine windows_walk.exe rtl */
#include <windows.h>

#include <dbghelp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "windows_contestant.h"

enum { FRAMES_MAX = 64, PARTS_MAX = 64, MODULES_MAX = 16, GRANULE = 0x10000, PAGE = 0x1000 };

struct module {
    char path[1024];
    uint64_t base, size;
    RUNTIME_FUNCTION *table; /* added to the system's list */
};

static struct module modules[MODULES_MAX];
static int module_count;
static uint64_t reserved[PARTS_MAX]; /* granules of the stack */
static int reserved_count;
static struct {
    uint64_t ip, sp;
} frames[FRAMES_MAX];
static volatile int frame_count;

/* Where a fault of the walker continues. */
static CONTEXT before_walk;
static volatile LONG walking, faulted;

static struct {
    BOOL(WINAPI *initialize)(HANDLE, PCSTR, BOOL);
    DWORD64(WINAPI *load)(HANDLE, HANDLE, PCSTR, PCSTR, DWORD64, DWORD, MODLOAD_DATA *, DWORD);
    BOOL(WINAPI *unload)(HANDLE, DWORD64);
    BOOL(WINAPI *walk)(DWORD, HANDLE, HANDLE, STACKFRAME64 *, void *,
                       PREAD_PROCESS_MEMORY_ROUTINE64, PFUNCTION_TABLE_ACCESS_ROUTINE64,
                       PGET_MODULE_BASE_ROUTINE64, PTRANSLATE_ADDRESS_ROUTINE64);
    PFUNCTION_TABLE_ACCESS_ROUTINE64 table;
    PGET_MODULE_BASE_ROUTINE64 base;
} dbghelp;

static uint8_t nibble(char c)
{
    return (uint8_t)(c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
}

/* Frees what the last moment took. */
static void clear(void)
{
    for (int i = 0; i < module_count; i++) {
        if (modules[i].table != NULL)
            RtlDeleteFunctionTable(modules[i].table);
        if (dbghelp.unload != NULL)
            dbghelp.unload(GetCurrentProcess(), modules[i].base);
        VirtualFree((void *)modules[i].base, 0, MEM_RELEASE);
    }
    for (int i = 0; i < reserved_count; i++)
        VirtualFree((void *)reserved[i], 0, MEM_RELEASE);
    module_count = reserved_count = 0;
}

/* Copies the image FILE to M's base, as the loader lays it out, and adds its function table. */
static int lay_out(struct module *m, FILE *file)
{
    static uint8_t data[1 << 20];
    const size_t bytes = fread(data, 1, sizeof data, file);
    const IMAGE_NT_HEADERS64 *pe =
        (const void *)(data + ((const IMAGE_DOS_HEADER *)data)->e_lfanew);
    const IMAGE_SECTION_HEADER *section = IMAGE_FIRST_SECTION(pe);
    const IMAGE_DATA_DIRECTORY *pdata =
        &pe->OptionalHeader.DataDirectory[IMAGE_DIRECTORY_ENTRY_EXCEPTION];
    uint8_t *at =
        VirtualAlloc((void *)m->base, m->size, MEM_RESERVE | MEM_COMMIT, PAGE_EXECUTE_READWRITE);

    if ((uint64_t)at != m->base)
        return refuse("taken address of an image:", m->base);
    memcpy(at, data, pe->OptionalHeader.SizeOfHeaders);
    for (int i = 0; i < pe->FileHeader.NumberOfSections; i++, section++) {
        size_t part = section->SizeOfRawData;
        if (part > section->Misc.VirtualSize)
            part = section->Misc.VirtualSize;
        if (section->PointerToRawData + part <= bytes && section->VirtualAddress + part <= m->size)
            memcpy(at + section->VirtualAddress, data + section->PointerToRawData, part);
    }
    m->table = pdata->Size != 0 ? (RUNTIME_FUNCTION *)(at + pdata->VirtualAddress) : NULL;
    if (m->table != NULL && !RtlAddFunctionTable(m->table, pdata->Size / sizeof *m->table, m->base))
        return refuse("no function table for", m->base);
    if (dbghelp.load != NULL && dbghelp.load(GetCurrentProcess(), NULL, m->path, NULL, m->base,
                                             (DWORD)m->size, NULL, 0) == 0)
        return refuse("SymLoadModuleEx refuses", m->base);
    return 1;
}

static int load_modules(const char *p, const char *end)
{
    for (p = member(p, end, "modules"); (p = strpbrk(p, "{]")) != NULL && *p == '{';
         p = strchr(p, '}')) {
        struct module *m = &modules[module_count];
        char name[512];
        if (module_count == MODULES_MAX || !text(member(p, end, "path"), name, sizeof name))
            return refuse("too many modules:", (uint64_t)module_count);
        *m = (struct module){.base = number(member(p, end, "base")),
                             .size = number(member(p, end, "size"))};
        snprintf(m->path, sizeof m->path, "%.500s/%.500s", folder, name);
        FILE *file = fopen(m->path, "rb");
        if (file == NULL)
            return refuse("no file for the image at", m->base);
        module_count++;
        const int done = lay_out(m, file);
        fclose(file);
        if (!done)
            return 0;
    }
    return 1;
}

/* Makes the page of AT writable; its granule is reserved once. */
static int commit(uint64_t at)
{
    const uint64_t granule = at & ~(uint64_t)(GRANULE - 1);
    int i = 0;
    while (i < reserved_count && reserved[i] != granule)
        i++;
    if (i == PARTS_MAX)
        return refuse("too many parts of the stack:", at);
    if (i == reserved_count) {
        void *got = VirtualAlloc((void *)granule, GRANULE, MEM_RESERVE, PAGE_READWRITE);
        if ((uint64_t)got != granule)
            return refuse("taken address of the stack:", granule);
        reserved[reserved_count++] = granule;
    }
    return VirtualAlloc((void *)(at & ~(uint64_t)(PAGE - 1)), PAGE, MEM_COMMIT, PAGE_READWRITE) !=
           NULL;
}

static int load_stack(const char *p, const char *end)
{
    for (p = member(p, end, "stack"); (p = strpbrk(p, "{]")) != NULL && *p == '{';
         p = strchr(p, '}')) {
        const char *bytes = member(p, end, "bytes");
        uint64_t at = number(member(p, end, "at")), page = 1;
        if (bytes == NULL || *bytes++ != '"')
            return refuse("no bytes at", at);
        for (; *bytes != '"'; bytes += 2, at++) {
            if (page != (at & ~(uint64_t)(PAGE - 1)) && !commit(at))
                return 0;
            page = at & ~(uint64_t)(PAGE - 1);
            *(uint8_t *)at = (uint8_t)(nibble(bytes[0]) << 4 | nibble(bytes[1]));
        }
    }
    return 1;
}

static void load_registers(const char *p, const char *end, CONTEXT *out)
{
    static const char *const names[] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp",
                                        "rsi", "rdi", "r8",  "r9",  "r10", "r11",
                                        "r12", "r13", "r14", "r15", "rip"};
    DWORD64 *integers = &out->Rax;
    memset(out, 0, sizeof *out);
    out->ContextFlags = CONTEXT_CONTROL | CONTEXT_INTEGER;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        integers[i] = number(member(p, end, names[i]));
}

/* False: the walk ends with this frame. */
static int add_frame(uint64_t ip, uint64_t sp)
{
    if (ip == 0 || frame_count == FRAMES_MAX)
        return 0;
    frames[frame_count].ip = ip;
    frames[frame_count].sp = sp;
    frame_count = frame_count + 1;
    return 1;
}

/* Back before the walk, which keeps its frames. */
static LONG CALLBACK on_fault(EXCEPTION_POINTERS *e)
{
    if (!walking || e->ExceptionRecord->ExceptionCode != EXCEPTION_ACCESS_VIOLATION)
        return EXCEPTION_CONTINUE_SEARCH;
    faulted = 1;
    *e->ContextRecord = before_walk;
    return EXCEPTION_CONTINUE_EXECUTION;
}

static void walk_rtl(CONTEXT *c)
{
    while (add_frame(c->Rip, c->Rsp)) {
        DWORD64 base, establisher;
        void *data;
        RUNTIME_FUNCTION *entry = RtlLookupFunctionEntry(c->Rip, &base, NULL);
        if (entry != NULL) {
            RtlVirtualUnwind(UNW_FLAG_NHANDLER, base, c->Rip, entry, c, &data, &establisher, NULL);
        } else {
            c->Rip = *(volatile uint64_t *)c->Rsp;
            c->Rsp += 8;
        }
    }
}

static BOOL CALLBACK read_memory(HANDLE process, DWORD64 at, void *out, DWORD bytes, DWORD *done)
{
    SIZE_T got = 0;
    const BOOL good = ReadProcessMemory(process, (const void *)at, out, bytes, &got);
    *done = (DWORD)got;
    return good;
}

static void walk_dbghelp(CONTEXT *c)
{
    STACKFRAME64 f = {.AddrPC = {.Offset = c->Rip, .Mode = AddrModeFlat},
                      .AddrStack = {.Offset = c->Rsp, .Mode = AddrModeFlat},
                      .AddrFrame = {.Offset = c->Rbp, .Mode = AddrModeFlat}};
    while (dbghelp.walk(IMAGE_FILE_MACHINE_AMD64, GetCurrentProcess(), GetCurrentThread(), &f, c,
                        read_memory, dbghelp.table, dbghelp.base, NULL) &&
           add_frame(f.AddrPC.Offset, f.AddrStack.Offset)) {
    }
}

static void answer(const char *end, const char *mode)
{
    char id[256] = "";
    CONTEXT context;
    const char *given = member(line, end, "given");

    (void)text(member(line, end, "id"), id, sizeof id);
    frame_count = 0;
    why[0] = '\0';
    if (given == NULL || strstr(line, "x64") == NULL)
        (void)refuse("only moments of x64", 0);
    else if ((is_of_wine || strcmp(mode, "stackwalk") == 0) &&
             strstr(line, "\"unwind-v3\"") != NULL)
        (void)refuse("it reads no unwind-v3", 0);
    else if (load_modules(given, end) && load_stack(given, end)) {
        load_registers(given, end, &context);
        faulted = 0;
        RtlCaptureContext(&before_walk);
        walking = !faulted;
        if (!faulted && strcmp(mode, "stackwalk") == 0)
            walk_dbghelp(&context);
        else if (!faulted)
            walk_rtl(&context);
        walking = 0;
    }
    clear();
    printf("{\"id\":\"%s\",", id);
    if (why[0] != '\0')
        printf("\"unsupported\":true,\"issue\":null,\"reason\":\"%s\"", why);
    for (int i = 0; why[0] == '\0' && i < frame_count; i++)
        printf("%s{\"ip\":\"0x%llx\",\"sp\":\"0x%llx\"}", i == 0 ? "\"frames\":[" : ",",
               (unsigned long long)frames[i].ip, (unsigned long long)frames[i].sp);
    printf("%s}\n", why[0] == '\0' ? "]" : "");
}

static int load_dbghelp(const char *path)
{
    /* The images of the suite and Microsoft's DLLs have one preferred base: the DLLs are moved. */
    void *base = VirtualAlloc((void *)0x180000000, 1 << 24, MEM_RESERVE, PAGE_NOACCESS);
    HMODULE dll = LoadLibraryExA(path, NULL,
                                 strpbrk(path, "/\\") != NULL ? LOAD_WITH_ALTERED_SEARCH_PATH : 0);
    if (base != NULL)
        VirtualFree(base, 0, MEM_RELEASE);
    static const struct {
        const char *name;
        void *to;
    } needs[] = {
        {"SymInitialize", &dbghelp.initialize},       {"SymLoadModuleEx", &dbghelp.load},
        {"SymUnloadModule64", &dbghelp.unload},       {"StackWalk64", &dbghelp.walk},
        {"SymFunctionTableAccess64", &dbghelp.table}, {"SymGetModuleBase64", &dbghelp.base}};
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++) {
        FARPROC address = dll != NULL ? GetProcAddress(dll, needs[i].name) : NULL;
        if (address == NULL)
            return 0;
        memcpy(needs[i].to, &address, sizeof address);
    }
    return dbghelp.initialize(GetCurrentProcess(), NULL, FALSE);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "", *dll = argc > 2 ? argv[2] : "dbghelp.dll";
    const int stackwalk = strcmp(mode, "stackwalk") == 0;

    if (!stackwalk && strcmp(mode, "rtl") != 0) {
        fputs("usage: windows_walk.exe rtl | stackwalk [DLL]\n", stderr);
        return 2;
    }
    if (stackwalk && !load_dbghelp(dll)) {
        fprintf(stderr, "windows_walk: %s has no StackWalk64\n", dll);
        return 3;
    }
    AddVectoredExceptionHandler(1, on_fault);
    return serve(mode, stackwalk ? dll : "ntdll.dll", "moments.x64", answer);
}
